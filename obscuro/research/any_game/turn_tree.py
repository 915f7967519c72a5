"""The subgame of a turn in any game (Obscuro, Fig. 9): what the last tree keeps, and the belief.

Where a player's first turn is near enough to the start, the subgame is the whole game, as both know
the start. Later the last tree's roots move down to the present infoset, and histories of the belief
that the tree lacks become new roots, in each of which ▼ knows the history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from obscuro.research.any_game.histories import START, UNNOTICED, GameFaultError, HistoryTable
from obscuro.research.any_game.history_belief import HistoryBelief
from obscuro.research.games.extensive_form import TERMINAL, ExtensiveForm, mix
from obscuro.search.game import CHANCE, MAX, MIN, Expansion
from obscuro.search.keeping import MAX_ROOT_SHARE, KeptRoots, describe_roots, most_roots
from obscuro.search.search import Search
from obscuro.search.subgame import NewRoots, alternate_values
from obscuro.search.tree import EDGES, LEAF, NODES, OPEN, ROOTS, Tree
from obscuro.search.tree import TERMINAL as NO_LEAF

MOST_FROM_START: Final = 1_000
"""The most histories that are expanded on the way from the start to the first turn."""

_NO_CHANCE: Final = 0.0
_CHUNK: Final = 16  # roots between two looks at the clock
_NOWHERE: Final = 0  # a key that no infoset has: our infoset may lie below the roots


class TurnTree:
    """Builds the subgame of each turn of one player.

    Parameters
    ----------
    search : Search
        The player's search, whose only game is a `HistoryGame` of the table.
    table, belief : HistoryTable, HistoryBelief
        What the player knows.

    """

    def __init__(self, search: Search, table: HistoryTable, belief: HistoryBelief) -> None:
        """Begin a game: the search has no tree."""
        self._search = search
        self._table = table
        self._belief = belief
        self._searched_at: int | None = None  # plies that ▲ had noticed at the last tree's roots

    def build(self, late: Callable[[], bool]) -> None:
        """Make the search's tree the subgame of this turn, which is ▲'s.

        late: returns whether the time for expanding roots is over; asked after each chunk.
        """
        if self._searched_at is None:
            above = self._above_belief()
            if above is not None:
                self._build_whole(above, late)
                self._searched_at = 0
                self._search.note_roots()
                return
        self._build_here(late)
        self._searched_at = self._belief.plies
        self._search.note_roots()

    def _above_belief(self) -> set[int] | None:
        """Return all histories above the belief's; None if the belief is a sample, or too far."""
        found: set[int] = set()
        for number in self._belief.numbers:
            above = self._table[number].parent
            while above >= START and above not in found:
                found.add(above)
                above = self._table[above].parent
            if len(found) > MOST_FROM_START:
                return None
        return found if self._belief.exact else None

    def _build_whole(self, above: set[int], late: Callable[[], bool]) -> None:
        """Build the whole game, and expand it down to our infoset."""
        search, belief = self._search, self._belief
        states = np.array([[START]], np.uint64)
        keys = np.array([self._table[START].keys], np.uint64)
        one = np.ones(1, np.float32)
        new = NewRoots(np.arange(2), states, keys, one, np.zeros(1, np.float32), -one)
        at_start = belief.plies == 0
        root_key = None if at_start else int(keys[0, MAX])
        if root_key == belief.key:
            root_key = _NOWHERE
        search.begin(belief.key, new, [search.expand_roots(states, keys)], root_key=root_key)
        while self._expand_leaves(above):
            pass
        search.expand_our_infoset(_CHUNK, late)

    def _expand_leaves(self, wanted: set[int]) -> bool:
        """Expand the tree's leaves among some histories; return whether there were any."""
        search = self._search
        tree = search.tree
        count = int(tree.counts[EDGES])
        leaves = (tree.edge_child[:count] == LEAF) & (tree.edge_status[:count] == OPEN)
        edges = np.array(
            [edge for edge in np.flatnonzero(leaves) if int(tree.edge_state[edge, 0]) in wanted],
            np.int32,
        )
        if not len(edges):
            return False
        firsts = tree.node_first_edge[: int(tree.counts[NODES])]
        above = (np.searchsorted(firsts, edges, side="right") - 1).astype(np.int32)
        expansion = search.expand_roots(tree.edge_state[edges], tree.edge_keys[edges])
        search.attach(edges, above, expansion)
        return not search.progress.full

    def _build_here(self, late: Callable[[], bool]) -> None:
        """Keep what the old tree knows, and add histories of the belief as new roots."""
        search, belief = self._search, self._belief
        below = self._table.cumulative  # I may lie in several plies
        if below:
            kept = keep_at_any_depth(search, belief.key)
        else:
            kept = search.keep(belief.key, belief.plies - (self._searched_at or 0))
        held = {int(number) for number in kept[:, 0]}
        belief.include(held)
        drawn = belief.sample(min(self._wanted(len(held)), search.most_new_roots), held)
        states = np.array(drawn, np.uint64).reshape(-1, 1)
        keys = self._root_keys(states)
        expansions: list[Expansion] = []
        done = 0
        while done < len(states):
            part = slice(done, done + _CHUNK)
            expansions.append(search.expand_roots(states[part], keys[part]))
            done = min(done + _CHUNK, len(states))
            if late():
                break
        values = _best_of_each(expansions)
        new = NewRoots(
            np.arange(done + 1),
            states[:done],
            keys[:done],
            np.ones(done, np.float32),
            values,
            alternate_values(values, search.last_value),
        )
        search.begin(belief.key, new, expansions, root_key=_NOWHERE if below else None)
        # A new root's alternate value is a few playouts' guess, so ▼ does not choose by it.
        search.gadget.soft[0] *= done / int(search.tree.counts[ROOTS])
        search.expand_our_infoset(_CHUNK, late)

    def _wanted(self, held: int) -> int:
        """Return how many histories to add; a belief that is small enough is wanted whole."""
        parameters = self._search.parameters
        size = parameters.min_infoset_size
        if len(self._belief) <= size:
            return size
        return max(size - held, int(parameters.fresh_share * size))

    def _root_keys(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return both keys of new roots: ▲'s is the present one, ▼'s is new in each."""
        keys = np.empty((len(states), 2), np.uint64)
        keys[:, MAX] = self._belief.key
        salt = np.full(len(states), self._belief.key, np.uint64)
        keys[:, 1 - MAX] = mix(salt, states[:, 0])
        return keys


def _best_of_each(expansions: list[Expansion]) -> NDArray[np.float32]:
    """Return the value of ▲'s best child of each root, float32[n]."""
    return np.array(
        [
            expansion.values[begin:end].max()
            for expansion in expansions
            for begin, end in zip(expansion.offsets, expansion.offsets[1:], strict=False)
        ],
        np.float32,
    )


LeafValue = Callable[[Any], float]
"""A heuristic: the first player's expected payoff in a state, in the game's units."""


class Rollouts:
    """The mean payoff of random playouts; both players and chance are drawn.

    Parameters
    ----------
    game : ExtensiveForm
        The game. If it has a method `playouts(count, seed)`, the function of a state that this
        returns plays instead. A game may well be faster at it, as it need not keep the states in
        between.
    count : int
        Playouts of each state.
    seed : int
        Of the random numbers.

    """

    def __init__(self, game: ExtensiveForm[Any], count: int = 1, seed: int = 1) -> None:
        """Seed the random numbers."""
        self._game = game
        self._count = count
        self._draw = np.random.default_rng(seed).random
        playouts = getattr(game, "playouts", None)
        self._mean: LeafValue = self._play_all if playouts is None else playouts(count, seed)

    def __call__(self, state: Any) -> float:
        """Return the first player's mean payoff, in the game's units.

        Raises GameFaultError if a playout comes to a state where no player has an action.
        """
        return self._mean(state)

    def _play_all(self, state: Any) -> float:
        return sum(self._play_plies(state) for _ in range(self._count)) / self._count

    def _play_plies(self, state: Any) -> float:
        game, draw = self._game, self._draw
        while (mover := game.player(state)) != TERMINAL:
            actions = game.actions(state)
            if not len(actions):
                fault = f"the game is not over, and no player has an action, in the state {state!r}"
                raise GameFaultError(game.name, fault)
            if mover == CHANCE:
                chances = np.cumsum(game.chances(state))
                drawn = np.searchsorted(chances, draw() * chances[-1], "right")
                index = min(int(drawn), len(actions) - 1)
            else:
                index = int(draw() * len(actions))
            state = game.apply(state, actions[index])
        return game.payoff(state)


class HistoryGame:
    """The histories of one table as the search expands them.

    Parameters
    ----------
    table : HistoryTable
        The histories; expanded ones are added.
    leaf_value : callable
        The heuristic; see `rollouts.LeafValue`. What it says is scaled, and cut to [-1, 1].

    """

    state_words: int = 1
    position_words: int = 1

    def __init__(self, table: HistoryTable, leaf_value: LeafValue) -> None:
        """Begin without any value."""
        self.table = table
        self._leaf_value = leaf_value
        self._values: dict[int, float] = {}

    def value(self, number: int) -> float:
        """Return ▲'s value of a history, in [-1, 1]: its payoff, or the heuristic's word."""
        known = self._values.get(number)
        if known is not None:
            return known
        table = self.table
        row = table[number]
        if row.player == TERMINAL:
            value = table.payoff(number)
        else:
            value = table.sign * table.game.scale * self._leaf_value(row.state)
        value = min(1.0, max(-1.0, value))
        self._values[number] = value
        return value

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        """Return all children of B leaves, none of them terminal.

        states: uint64[B, 1], their numbers. keys: uint64[B, 2], to which the children's are chained.
        """
        table = self.table
        leaves = [int(number) for number in states[:, 0]]
        below = [table.children(leaf) for leaf in leaves]
        children = [child for part in below for child in part]
        degree = np.array([len(part) for part in below], np.int64)
        chances: list[float] = []
        for leaf, part in zip(leaves, below, strict=True):
            row = table[leaf]
            dealt = row.player == CHANCE
            chances.extend(table.game.chances(row.state) if dealt else [_NO_CHANCE] * len(part))
        rows = [table[child] for child in children]
        events = np.array([row.events for row in rows], np.uint64).reshape(-1, 2)
        above = np.repeat(keys, degree, axis=0)
        return Expansion(
            player=np.array([table[leaf].player for leaf in leaves], np.int8),
            offsets=np.concatenate(([0], np.cumsum(degree))),
            states=np.array(children, np.uint64)[:, np.newaxis],
            keys=np.where(events == UNNOTICED, above, mix(above, events)),
            values=np.array([self.value(child) for child in children], np.float32),
            terminal=np.array([row.player == TERMINAL for row in rows], np.uint8),
            chance=np.array(chances, np.float32),
        )


# -- games whose players do not know how many plies were made ---------------------------------


def keep_at_any_depth(search: Search, our_key: int) -> NDArray[np.uint64]:
    """Have the next subgame keep all that touches our infoset.

    I and ▼'s J that touch it may lie in several plies, and a history of J may be below another one.
    Then the first histories in J on every path are kept, and I may lie below them. Return the states
    of all histories in the tree that go on and have our key, uint64[n, W].
    """
    tree = search.tree
    if tree.counts[ROOTS] == 0:
        return np.zeros((0, search.state_words), np.uint64)
    search.keep_chosen(untimed_roots(search, our_key))
    return np.array(tree.edge_state[_own_edges(tree, our_key)])


def untimed_roots(search: Search, our_key: int) -> KeptRoots:
    """Choose what to keep, as `keeping.keep_roots` does where all of I lies in one ply."""
    tree = search.tree
    own = _own_edges(tree, our_key)
    keys = list(dict.fromkeys(tree.edge_keys[own, MIN].tolist()))[: most_roots(tree)]
    number_of = {key: number for number, key in enumerate(keys)}
    most = len(tree.edge_value) // MAX_ROOT_SHARE
    found: list[tuple[int, int, int]] = []
    below = np.zeros(int(tree.counts[NODES]), np.bool_)  # nodes under a kept history
    for node in range(int(tree.counts[NODES])):
        first = int(tree.node_first_edge[node])
        edges = np.arange(first, first + int(tree.node_edges[node]))
        children = tree.edge_child[edges]
        if below[node]:
            below[children[children != LEAF]] = True
            continue
        for edge, child in zip(edges.tolist(), children.tolist(), strict=True):
            number = number_of.get(int(tree.edge_keys[edge, MIN]))
            if number is None or tree.edge_status[edge] == NO_LEAF or len(found) == most:
                continue
            if child != LEAF:
                below[child] = True
            found.append((edge, node, number))
    chosen = np.array(found, np.int32).reshape(-1, 3)
    return describe_roots(tree, search.gadget, our_key, *np.ascontiguousarray(chosen.T))


def _own_edges(tree: Tree, our_key: int) -> NDArray[np.int64]:
    """The edges to histories with our key that go on, ascending."""
    count = tree.nodes
    own = tree.edge_keys[:count, MAX] == np.uint64(our_key)
    return np.flatnonzero(own & (tree.edge_status[:count] != NO_LEAF))
