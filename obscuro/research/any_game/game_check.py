"""Does a game keep what `ExtensiveForm` promises? A fault is named with a history that shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from obscuro.research.any_game.game_fault import GameFaultError
from obscuro.research.any_game.histories import START, HistoryTable
from obscuro.research.games.extensive_form import TERMINAL, ExtensiveForm, Observation
from obscuro.research.games.information import event, mix
from obscuro.search.game import CHANCE, MAX, MIN

MOST_HISTORIES: Final = 100_000
"""A game with more histories is not walked whole unless the caller asks for it."""
PLAYOUTS: Final = 200
"""Random playouts of a game that is not walked whole."""

MOST_PLIES: Final = 2_000
"""A random playout that is longer is taken for one that never ends."""

_TOLERANCE: Final = 1e-6
_PLAYERS: Final = {MAX: "the first player", MIN: "the second player"}


class GameFacts(NamedTuple):
    """What `check_game` found out about a game without faults."""

    histories: int  # that were looked at
    whole: bool  # whether these are all
    timed: bool  # whether a player to move always knows how many plies were made, as far as seen
    untimed_pair: tuple[list[int], list[int]] | None  # two histories that show that they do not


class _Seen(NamedTuple):
    """What was true where a player first had an infoset, or an information state."""

    number: int
    plies: int
    turn: bool
    actions: tuple[int, ...]
    memory: int


class _Checker:
    """Looks at histories one by one and remembers what it saw in each infoset."""

    def __init__(self, table: HistoryTable) -> None:
        self.table = table
        self.plies = {START: 0}
        self._memory = {START: (0, 0)}  # hashes of both players' own information states and actions
        self.untimed: tuple[list[int], list[int]] | None = None
        self._infosets: list[dict[int, _Seen]] = [{}, {}]
        self._states: list[dict[Observation, _Seen]] = [{}, {}]

    def look(self, number: int) -> Sequence[int]:
        """Check one history; return its actions. Raises GameFaultError."""
        table = self.table
        row = table[number]
        if number != START:
            self.plies[number] = self.plies[row.parent] + 1
            self._memory[number] = self._remembered(number)
        if row.player not in (MAX, MIN, CHANCE, TERMINAL):
            self._fail(f"{row.player!r} is no player", number)
        listed = table.actions(number)
        if listed is None:
            self._fail("the actions must be a sequence, and are None", number)
        actions = tuple(listed)
        if row.player == TERMINAL:
            self._check_end(number, actions)
            return ()
        if not actions:
            self._fail("the game is not over, and nobody has an action", number)
        if len(set(actions)) < len(actions) or min(actions) < 0:
            self._fail(f"actions must differ and be at least 0, not {list(actions)}", number)
        if row.player == CHANCE:
            self._check_chances(number, actions)
        for side in (MAX, MIN):
            self._check_infoset(number, side, actions)
        self._check_apply(number, actions)
        return actions

    def _check_end(self, number: int, actions: Sequence[int]) -> None:
        table = self.table
        if actions:
            self._fail(f"the game is over, and there are the actions {list(actions)}", number)
        table.payoff(number)
        payoffs = getattr(table.game, "payoffs", None)
        if payoffs is not None:
            both = payoffs(table[number].state)
            if abs(sum(both)) > _TOLERANCE:
                self._fail(f"it is not zero-sum: the payoffs are {list(both)}", number)

    def _check_chances(self, number: int, actions: Sequence[int]) -> None:
        chances = self.table.game.chances(self.table[number].state)
        if len(chances) != len(actions):
            self._fail(f"chance has {len(actions)} actions, {len(chances)} probabilities", number)
        if min(chances) < 0 or abs(sum(chances) - 1.0) > _TOLERANCE:
            self._fail(f"chance's probabilities {list(chances)} do not add up to 1", number)

    def _check_apply(self, number: int, actions: tuple[int, ...]) -> None:
        game, state = self.table.game, self.table[number].state
        before = game.player(state)
        game.apply(state, actions[0])
        if game.player(state) != before or tuple(game.actions(state)) != actions:
            self._fail("apply changes the state that it is given; it must return another", number)

    def _check_infoset(self, number: int, side: int, actions: tuple[int, ...]) -> None:
        row, who = self.table[number], _PLAYERS[self.table.person(side)]
        turn = row.player == side
        legal = actions if turn else ()
        seen = _Seen(number, self.plies[number], turn, legal, self._memory[number][side])
        first = self._infosets[side].setdefault(row.keys[side], seen)
        if first.turn != turn:
            self._fail(f"{who} does not know whether it is to move", first.number, number)
        if first.actions != seen.actions:
            self._fail(
                f"{who} has different actions in one infoset, {list(first.actions)} and "
                f"{list(seen.actions)}",
                first.number,
                number,
            )
        if not self.table.cumulative:
            return
        if turn and first.plies != seen.plies and self.untimed is None:
            self.untimed = (self.table.line(first.number), self.table.line(number))
        if getattr(self.table.game, "remembers", False):
            return
        other = self._states[side].setdefault(row.observations[side], seen)
        if other.memory != seen.memory:
            self._fail(
                f"{who} has no perfect recall: it chose differently, or knew something else when "
                "it chose, and its information state is the same",
                other.number,
                number,
            )

    def _remembered(self, number: int) -> tuple[int, int]:
        """Return both players' memory after a history: what each knew when it chose, and what."""
        row = self.table[number]
        above = self.table[row.parent]
        first, second = (
            mix(memory, event(row.action, above.observations[side]))
            if above.player == side
            else memory
            for side, memory in enumerate(self._memory[row.parent])
        )
        return first, second

    def _fail(self, fault: str, *numbers: int) -> None:
        lines = [self.table.line(number) for number in numbers]
        raise GameFaultError(self.table.game.name, fault, *lines)


def check_game(
    game: ExtensiveForm[Any],
    most_histories: int = MOST_HISTORIES,
    playouts: int = PLAYOUTS,
    seed: int = 1,
) -> GameFacts:
    """Check a game: the whole of it where it is small, else random playouts.

    Parameters
    ----------
    game : ExtensiveForm
        The game. If it has a method `payoffs(state)` that returns both players' payoffs, these must
        add up to 0. If it is cumulative (`histories.is_cumulative`), information states are checked
        for perfect recall, unless it has the attribute `remembers`, which is true: then a player
        remembers what its information states forget.
    most_histories : int
        The game is walked whole if it has no more histories than that.
    playouts, seed : int
        How many games are played at random otherwise, and the seed of their random numbers.

    Raises
    ------
    GameFaultError
        If the game breaks a promise. The error holds the history, or the two, that show it.

    """
    checker = _Checker(HistoryTable(game))
    whole = all(looked <= most_histories for looked in _walk(checker, most_histories))
    if not whole:
        checker = _Checker(HistoryTable(game))
        random = np.random.default_rng(seed)
        for _ in range(playouts):
            _play_out(checker, random)
    return GameFacts(len(checker.plies), whole, checker.untimed is None, checker.untimed)


def _walk(checker: _Checker, most: int) -> Iterator[int]:
    """Look at all histories, level by level; yield how many there are as far as is known."""
    pending = [START]
    for number in pending:  # the loop appends to the list that it walks
        if checker.look(number):
            pending.extend(checker.table.children(number))
        yield len(pending)
        if len(pending) > most:
            return


def _play_out(checker: _Checker, random: np.random.Generator) -> None:
    """Look at the histories of one random game."""
    number = START
    while actions := checker.look(number):
        if checker.plies[number] >= MOST_PLIES:
            fault = f"a random playout is not over after {MOST_PLIES} plies, which begin so"
            raise GameFaultError(checker.table.game.name, fault, checker.table.line(number)[:20])
        action = actions[int(random.integers(len(actions)))]
        number = checker.table.number(checker.table.after(number, action))
