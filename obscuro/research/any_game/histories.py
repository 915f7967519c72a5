"""The histories of any game, numbered as they are met.

The search holds a number in place of a state. A history has one number, by whichever way it is met.
▲ is the player in `seat`, which searches; ▼ is the other one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from obscuro.research.games.extensive_form import (
    TERMINAL,
    ExtensiveForm,
    Observation,
    event,
    initial_key,
    mix,
)
from obscuro.search.game import CHANCE, MAX, MIN

START: Final = 0
"""The number of the empty history."""
UNNOTICED: Final = 0
"""The event of a ply that a player does not notice; no other event has this number."""

_TOLERANCE: Final = 1e-6
_INTEGERS: Final = (int, np.integer)
_OVER: Final[Observation] = ()
"""Stands for the observations of a terminal state: no player has to tell them apart."""


def is_cumulative(game: ExtensiveForm[Any]) -> bool:
    """Return whether each observation is all that a player knows, its information state.

    Such a game has the attribute `cumulative`, which is true. A ply that changes neither is not
    noticed, so a player need not know how many plies were made. In other games a player notices
    every ply and remembers its observations itself.
    """
    return bool(getattr(game, "cumulative", False))


def noticed(
    own_action: int | None, observation: Observation, before: Observation, cumulative: bool
) -> int:
    """Return one player's event of a ply, or `UNNOTICED`.

    own_action: None if someone else moved. before: the player's observation before the ply.
    """
    if cumulative and own_action is None and observation == before:
        return UNNOTICED
    return event(own_action, observation)


def chained(key: int, happened: int) -> int:
    """Return an information key after an event; `UNNOTICED` does not change it."""
    return key if happened == UNNOTICED else mix(key, happened)


class PlayedHistory(NamedTuple):
    """One history. Columns of pairs are ▲'s and ▼'s."""

    state: Any
    player: int  # MAX, MIN, CHANCE or TERMINAL
    parent: int  # its number; -1 at the start
    action: int  # the one that led here; -1 at the start
    events: tuple[int, int]  # of the ply that led here
    observations: tuple[Observation, Observation]
    keys: tuple[int, int]  # information keys


class HistoryTable:
    """All histories met in one game of one player.

    Parameters
    ----------
    game : ExtensiveForm
        The game.
    seat : int
        `MAX` if ▲ is the first player of the game, `MIN` if it is the second.

    Raises
    ------
    GameFaultError
        If the game's scale is not above 0, or if an observation is not a tuple of integers. The
        methods raise it, too.

    """

    def __init__(self, game: ExtensiveForm[Any], seat: int = MAX) -> None:
        """Begin with the empty history."""
        if not (game.scale > 0 and math.isfinite(game.scale)):
            raise GameFaultError(game.name, f"the scale must be above 0, and is {game.scale}")
        self.game = game
        self.seat = seat
        self.cumulative = is_cumulative(game)
        self.sign = 1.0 if seat == MAX else -1.0
        """Times a payoff of the first player gives ▲'s."""
        start = game.start()
        seen = self._observations(start)
        keys = (initial_key(self.person(MAX), seen[MAX]), initial_key(self.person(MIN), seen[MIN]))
        self._rows = [
            PlayedHistory(start, self._player(start), -1, -1, (UNNOTICED, UNNOTICED), seen, keys)
        ]
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        """Return how many histories have a number."""
        return len(self._rows)

    def __getitem__(self, number: int) -> PlayedHistory:
        """Return a history by its number."""
        return self._rows[number]

    def person(self, side: int) -> int:
        """Return which player of the game is ▲ (`MAX`) or ▼ (`MIN`)."""
        return side if self.seat == MAX else 1 - side

    def actions(self, number: int) -> Sequence[int]:
        """Return the legal actions after a history, or those of chance."""
        return self.game.actions(self._rows[number].state)

    def payoff(self, number: int) -> float:
        """Return ▲'s payoff at the end of a history, scaled to [-1, 1].

        Raises GameFaultError if it is no number, or is not in that range.
        """
        payoff, scale = self.game.payoff(self._rows[number].state), self.game.scale
        if not isinstance(payoff, (int, float, np.number)):
            raise GameFaultError(
                self.game.name, f"the payoff {payoff!r} is not a number", self.line(number)
            )
        scaled = payoff * scale
        if not abs(scaled) <= 1.0 + _TOLERANCE:
            fault = f"the payoff {payoff} times the scale {scale} is not in [-1, 1]"
            raise GameFaultError(self.game.name, fault, self.line(number))
        return self.sign * float(scaled)

    def after(self, number: int, action: int) -> PlayedHistory:
        """Return the history after one more action, which need not have a number."""
        known = self._numbers.get((number, action))
        if known is not None:
            return self._rows[known]
        row = self._rows[number]
        state = self.game.apply(row.state, action)
        player = self._player(state)
        seen = (_OVER, _OVER) if player == TERMINAL else self._observations(state)
        own = [action if row.player == side else None for side in (MAX, MIN)]
        happened = [
            noticed(own[side], seen[side], row.observations[side], self.cumulative)
            for side in (MAX, MIN)
        ]
        keys = (chained(row.keys[MAX], happened[MAX]), chained(row.keys[MIN], happened[MIN]))
        events = (happened[MAX], happened[MIN])
        return PlayedHistory(state, player, number, action, events, seen, keys)

    def number(self, history: PlayedHistory) -> int:
        """Return the number of a history that `after` returned; it gets one if it has none."""
        place = (history.parent, history.action)
        known = self._numbers.setdefault(place, len(self._rows))
        if known == len(self._rows):
            self._rows.append(history)
        return known

    def children(self, number: int) -> list[int]:
        """Return the numbers of all histories with one more action, in the order of the actions."""
        return [self.number(self.after(number, action)) for action in self.actions(number)]

    def line(self, number: int) -> list[int]:
        """Return all actions of a history, chance's included."""
        actions = []
        while number != START:
            row = self._rows[number]
            actions.append(row.action)
            number = row.parent
        return actions[::-1]

    def _player(self, state: Any) -> int:
        player = self.game.player(state)
        return player if player in (CHANCE, TERMINAL) else self.person(player)

    def _observations(self, state: Any) -> tuple[Observation, Observation]:
        first, second = (self.game.observation(state, self.person(side)) for side in (MAX, MIN))
        for seen in (first, second):
            if not isinstance(seen, tuple) or not all(isinstance(n, _INTEGERS) for n in seen):
                fault = f"an observation must be a tuple of integers, and one is {seen!r}"
                raise GameFaultError(self.game.name, fault)
        return first, second


class GameFaultError(ValueError):
    """A game breaks a promise of `ExtensiveForm`, or what a player was told does not fit it.

    fault: what is wrong, in one sentence without its full stop. histories: the actions, chance's
    included, of the history that shows it; two histories where the fault is a difference.
    """

    def __init__(self, name: str, fault: str, *histories: Sequence[int]) -> None:
        """name: of the game."""
        self.fault = fault
        self.histories = tuple(tuple(history) for history in histories)
        shown = " and after ".join(str(list(history)) for history in self.histories)
        super().__init__(f"{name}: {fault}" + (f": after {shown}" if shown else ""))


MOST_HISTORIES: Final = 100_000
"""A game with more histories is not walked whole unless the caller asks for it."""
PLAYOUTS: Final = 200
"""Random playouts of a game that is not walked whole."""

MOST_PLIES: Final = 2_000
"""A random playout that is longer is taken for one that never ends."""

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
            self._fail("the game is not over, and no player has an action", number)
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
