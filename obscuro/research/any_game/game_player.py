"""A player of any game: it is told what it did and saw, and chooses actions by the search."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from obscuro.research.any_game.histories import HistoryTable
from obscuro.research.any_game.history_belief import HistoryBelief, PlaySettings
from obscuro.research.any_game.turn_tree import HistoryGame, LeafValue, Rollouts, TurnTree
from obscuro.research.games.extensive_form import ExtensiveForm, Observation, mix
from obscuro.research.games.game_tree import GameTree, Strategy
from obscuro.search.choice import purify
from obscuro.search.game import MAX, MIN
from obscuro.search.pace import Limits, Progress
from obscuro.search.parameters import MAX_ACTIONS
from obscuro.search.search import Search

_MEBIBYTE: Final = 1 << 20
_ROOT_SHARE: Final = 0.4  # of a turn's time, at most, goes to the roots


class Decision(NamedTuple):
    """A player's action, and what it comes from."""

    action: int
    policy: dict[int, float]  # what the player drew the action from
    value: float | None  # the player's expected payoff by its search; None if it did not search
    progress: Progress | None  # of the search
    belief: int  # histories in the belief
    exact: bool  # whether these are all


class Told(NamedTuple):
    """What a player is told of one ply. The first one of a line is the start, before any ply."""

    own_action: int | None  # None if someone else moved
    observation: Observation
    moves: bool  # whether the player is to move after it


class GamePlayer:
    """Plays one seat of a game. It learns of a game only what `observe` tells.

    Parameters
    ----------
    game : ExtensiveForm
        The game.
    settings : PlaySettings
        How it thinks.
    leaf_value : callable, optional
        A heuristic for states that are not terminal: the first player's expected payoff, in the
        game's units. Without one, random playouts value a leaf.

    """

    def __init__(
        self,
        game: ExtensiveForm[Any],
        settings: PlaySettings,
        leaf_value: LeafValue | None = None,
    ) -> None:
        """Begin a game as the first player, with the seed 1."""
        self.game = game
        self.settings = settings
        self._leaf_value = leaf_value
        self.new_game(MAX, 1)

    def new_game(self, seat: int, seed: int) -> None:
        """Begin a game. seat: `MAX` for the first player, `MIN` for the second."""
        settings = self.settings
        self._seed = seed
        self._table = HistoryTable(self.game, seat)
        self._belief = HistoryBelief(self._table, settings.most_histories, seed)
        leaf_value = self._leaf_value or Rollouts(self.game, settings.rollouts, seed)
        self._search = Search(
            [HistoryGame(self._table, leaf_value)],
            settings.parameters,
            settings.memory * _MEBIBYTE,
            seed=seed,
        )
        self._tree = TurnTree(self._search, self._table, self._belief)

    @property
    def belief(self) -> HistoryBelief:
        """All histories that the player thinks possible."""
        return self._belief

    def observe(self, own_action: int | None, observation: Observation) -> None:
        """Take in one ply: what the player did, or None, and what it then saw.

        Raises GameFaultError if no history of the game fits all that was told.
        """
        self._belief.observe(own_action, observation)

    def choose(self) -> int:
        """Return an action. Raises ValueError if it is not this player's turn."""
        return self.decide().action

    def decide(self) -> Decision:
        """Return an action with its reasons. Raises ValueError if it is not this player's turn."""
        begin = time.monotonic()
        belief = self._belief
        number = belief.numbers[0]
        if self._table[number].player != MAX:
            raise ValueError(f"{self.game.name}: it is not the player's turn")
        actions = self._table.actions(number)
        if len(actions) > MAX_ACTIONS:
            raise ValueError(f"{self.game.name}: more than {MAX_ACTIONS} actions in one infoset")
        if len(actions) == 1:
            policy, value, progress = np.ones(1), None, None
        else:
            progress = self._searched(begin)
            policy = self._policy(progress, len(actions))
            value = progress.value / self.game.scale
        random = np.random.default_rng([self._seed, mix(belief.key, self._seed)])
        index = int(random.choice(len(actions), p=policy))
        return Decision(
            actions[index],
            dict(zip(actions, policy.tolist(), strict=True)),
            value,
            progress,
            len(belief),
            belief.exact,
        )

    def _searched(self, begin: float) -> Progress:
        """Build the subgame of this turn and search it."""
        settings = self.settings
        seconds = settings.seconds
        deadline = None if seconds is None else begin + seconds
        self._tree.build(_late(None if seconds is None else begin + _ROOT_SHARE * seconds))
        limits = Limits(deadline, settings.nodes, iterations=settings.iterations)
        return self._search.run(limits, threading.Event())

    def _policy(self, progress: Progress, actions: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the distribution to draw from; uniform if no history of the infoset is expanded."""
        if len(progress.policy) != actions:
            return np.full(actions, 1.0 / actions)
        parameters = self.settings.parameters
        return purify(
            progress.policy,
            progress.stable,
            progress.resolve,
            parameters.max_support,
            parameters.purification,
        )


def _late(deadline: float | None) -> Callable[[], bool]:
    """Return a function that tells whether a time of `time.monotonic` is over."""
    return lambda: deadline is not None and time.monotonic() >= deadline


def played_strategy(
    tree: GameTree[Any],
    player: GamePlayer,
    seed: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> Strategy:
    """Return what a player would play in both seats, {information key: probabilities}.

    Parameters
    ----------
    tree : GameTree
        The enumerated game, whose players always know how many plies were made.
    player : GamePlayer
        The player, without a limit of time.
    seed : int
        Of the player.
    report : callable, optional
        Called after each line with how many infosets are done, of how many.

    Raises
    ------
    ValueError
        If the player has a limit of time.

    """
    refuse_clock(player)
    found: dict[int, list[float]] = {}
    for seat in (MAX, MIN):
        for node in _last_turns(tree, seat):
            if int(tree.keys[node, seat]) in found:
                continue
            _follow(tree, player, seat, node, seed, found)
            if report is not None:
                report(len(found), len(tree.infosets.key))
    return found


def refuse_clock(player: GamePlayer) -> None:
    """Raise ValueError if a player has a limit of time, by which it may play differently each time."""
    if player.settings.seconds is not None:
        raise ValueError("a player with a limit of time plays no fixed strategy")


def decisions(player: GamePlayer, seat: int, seed: int, line: Iterable[Told]) -> Iterator[Decision]:
    """Let a player follow a line in a new game, and yield what it decides at each of its turns."""
    player.new_game(seat, seed)
    for number, told in enumerate(line):
        if number:
            player.observe(told.own_action, told.observation)
        if told.moves:
            yield player.decide()


def _last_turns(tree: GameTree[Any], seat: int) -> list[int]:
    """Return the nodes where a seat moves, the deepest first."""
    nodes: list[int] = np.flatnonzero(tree.player == seat)[::-1].tolist()
    return nodes


def _follow(
    tree: GameTree[Any],
    player: GamePlayer,
    seat: int,
    node: int,
    seed: int,
    found: dict[int, list[float]],
) -> None:
    """Tell the player the line to a node where it moves, and note what it plays on the way."""
    line = [node]
    while tree.parent[line[-1]] >= 0:
        line.append(int(tree.parent[line[-1]]))
    line.reverse()
    keys = [int(tree.keys[number, seat]) for number in line if tree.player[number] == seat]
    told = [_told(tree, number, seat) for number in line]
    for key, decision in zip(keys, decisions(player, seat, seed, told), strict=True):
        found.setdefault(key, list(decision.policy.values()))


def _told(tree: GameTree[Any], node: int, seat: int) -> Told:
    """Return what a seat is told of the ply that led to a node."""
    parent = tree.parent[node]
    own = parent >= 0 and tree.player[parent] == seat
    return Told(
        int(tree.action[node]) if own else None,
        tree.game.observation(tree.states[node], seat),
        bool(tree.player[node] == seat),
    )
