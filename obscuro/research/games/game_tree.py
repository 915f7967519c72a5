"""The whole tree of a small game, as arrays over all nodes and all infosets.

A level is all nodes of one ply. Node numbers ascend level by level, so a parent comes before its
children. The children of one node are adjacent, in action order. Every player observes every ply,
so an infoset never spans two levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import (
    TERMINAL,
    ExtensiveForm,
    State,
    event,
    initial_key,
    mix,
)
from obscuro.search.game import CHANCE, MAX, MIN

NO_SLOT: Final = -1
"""The slot of an edge that no player chooses."""
NO_INFOSET: Final = -1
"""The infoset of a node where no player moves."""


class Infosets(NamedTuple):
    """The I infosets of the players to move with their S slots, in the order of their first nodes.

    A slot is one action at one infoset. The slots of infoset i are `offsets[i]:offsets[i+1]`.
    """

    player: NDArray[np.int8]  # [I] MAX or MIN
    key: NDArray[np.uint64]  # [I]
    offsets: NDArray[np.int64]  # [I+1]
    action: NDArray[np.int64]  # [S]

    @property
    def owner(self) -> NDArray[np.int8]:
        """Whose slot each is, int8[S]: MAX or MIN."""
        return np.repeat(self.player, np.diff(self.offsets))


class GameTree(NamedTuple, Generic[State]):
    """All N nodes of a game in D levels; node 0 is the start. Payoffs in the game's units."""

    game: ExtensiveForm[State]
    states: list[State]  # [N]
    player: NDArray[np.int8]  # [N] MAX, MIN, CHANCE or TERMINAL
    parent: NDArray[np.int64]  # [N] -1 at the start
    first: NDArray[np.int64]  # [N] the first child
    degree: NDArray[np.int64]  # [N] the number of children
    action: NDArray[np.int64]  # [N] the action that led here, -1 at the start
    chance: NDArray[np.float64]  # [N] its probability if chance played it, else 1
    payoff: NDArray[np.float64]  # [N] ▲'s, 0 before the end
    events: NDArray[np.uint64]  # [N,2] hash of the last ply in the view of ▲ and ▼, 0 at the start
    keys: NDArray[np.uint64]  # [N,2] the information keys of ▲ and ▼
    levels: NDArray[np.int64]  # [D+1] level d is the nodes levels[d]:levels[d+1]
    infoset: NDArray[np.int64]  # [N] of the player to move, or NO_INFOSET
    slot: NDArray[np.int64]  # [N] of the edge that led here, or NO_SLOT
    infosets: Infosets

    def deeper_levels(self) -> list[slice]:
        """Return the node numbers of each level below the start, from the top down."""
        return [slice(begin, end) for begin, end in pairwise(self.levels[1:].tolist())]


def join_ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the integers of n ranges one after another, such as the children of n nodes.

    Range i has `lengths[i]` integers from `starts[i]` on. Both are int64[n]; the result is
    int64[sum of lengths].
    """
    joined: NDArray[np.int64] = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return joined + np.arange(len(joined))


def enumerate_game(game: ExtensiveForm[State]) -> GameTree[State]:
    """Enumerate all nodes and infosets of `game`."""
    states = [game.start()]
    parents, actions, chances, levels = [-1], [-1], [1.0], [0, 1]
    players: list[int] = []
    degrees: list[int] = []
    node = 0
    while node < len(states):  # the loop appends to the list that it walks
        if node == levels[-1]:
            levels.append(len(states))
        state = states[node]
        players.append(game.player(state))
        legal = game.actions(state)
        degrees.append(len(legal))
        states.extend(game.apply(state, action) for action in legal)
        parents.extend([node] * len(legal))
        actions.extend(legal)
        chances.extend(game.chances(state) if players[-1] == CHANCE else [1.0] * len(legal))
        node += 1

    player = np.array(players, np.int8)
    parent = np.array(parents, np.int64)
    degree = np.array(degrees, np.int64)
    first = np.cumsum(degree) - degree + 1
    action = np.array(actions, np.int64)
    payoff = [
        game.payoff(state) if mover == TERMINAL else 0.0
        for state, mover in zip(states, players, strict=True)
    ]
    events = _events(game, states, parents, players, actions)
    keys = np.empty_like(events)
    keys[0] = [initial_key(side, game.observation(states[0], side)) for side in (MAX, MIN)]
    for begin, end in pairwise(levels[1:]):
        keys[begin:end] = mix(keys[parent[begin:end]], events[begin:end])
    infoset, infosets = _number_infosets(player, first, degree, action, keys)
    slot = np.full(len(states), NO_SLOT, np.int64)
    chosen = np.flatnonzero(infoset[parent[1:]] != NO_INFOSET) + 1
    above = parent[chosen]
    slot[chosen] = infosets.offsets[infoset[above]] + chosen - first[above]
    return GameTree(
        game=game,
        states=states,
        player=player,
        parent=parent,
        first=first,
        degree=degree,
        action=action,
        chance=np.array(chances, np.float64),
        payoff=np.array(payoff, np.float64),
        events=events,
        keys=keys,
        levels=np.array(levels, np.int64),
        infoset=infoset,
        slot=slot,
        infosets=infosets,
    )


def _events(
    game: ExtensiveForm[State],
    states: list[State],
    parents: list[int],
    players: list[int],
    actions: list[int],
) -> NDArray[np.uint64]:
    """Hash the ply that led to each node in each player's view, uint64[N, 2]."""
    events = np.zeros((len(states), 2), np.uint64)
    for node in range(1, len(states)):
        mover = players[parents[node]]
        for side in (MAX, MIN):
            own_action = actions[node] if mover == side else None
            events[node, side] = event(own_action, game.observation(states[node], side))
    return events


def _number_infosets(
    player: NDArray[np.int8],
    first: NDArray[np.int64],
    degree: NDArray[np.int64],
    action: NDArray[np.int64],
    keys: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], Infosets]:
    """Number the infosets in the order of their first nodes, and copy these nodes' actions.

    Returns the infoset of each node, int64[N], and the infosets.
    """
    infoset = np.full(len(player), NO_INFOSET, np.int64)
    numbers: dict[int, int] = {}
    leads: list[int] = []
    actions: list[int] = []
    offsets = [0]
    for node in np.flatnonzero((player == MAX) | (player == MIN)).tolist():
        number = numbers.setdefault(int(keys[node, player[node]]), len(numbers))
        infoset[node] = number
        if number == len(leads):
            leads.append(node)
            actions.extend(action[first[node] : first[node] + degree[node]].tolist())
            offsets.append(len(actions))
    return infoset, Infosets(
        player=player[leads],
        key=np.array(list(numbers), np.uint64),
        offsets=np.array(offsets, np.int64),
        action=np.array(actions, np.int64),
    )


def check(tree: GameTree[State]) -> None:
    """Raise AssertionError unless the tree has every property that `ExtensiveForm` promises."""
    n = len(tree.states)
    nodes = np.arange(n)
    assert np.all(tree.parent < nodes), "parents come first"
    assert np.array_equal(np.repeat(nodes, tree.degree), tree.parent[1:]), "children adjoin"
    assert np.array_equal(tree.degree == 0, tree.player == TERMINAL), "the end has no actions"
    assert np.all(np.abs(tree.payoff * tree.game.scale) <= 1.0), "scaled payoffs in [-1, 1]"
    assert np.all(tree.keys != 0), "0 is no key"
    assert len(np.unique(tree.keys, axis=0)) == n, "the pair of keys identifies a node"
    assert not np.intersect1d(tree.keys[:, MAX], tree.keys[:, MIN]).size, "players share no key"
    totals = np.bincount(tree.parent[1:], weights=tree.chance[1:], minlength=n)
    assert np.allclose(totals[tree.player == CHANCE], 1.0, atol=1e-12), "chances add up to 1"

    level = np.searchsorted(tree.levels, nodes, side="right")
    for side in (MAX, MIN):
        last_slot = _last_own_slot(tree, side)
        known: dict[int, tuple[int, bool, list[int], int]] = {}
        for node in nodes.tolist():
            turn = bool(tree.player[node] == side)
            first, degree = tree.first[node], tree.degree[node]
            actions = tree.action[first : first + degree].tolist() if turn else []
            seen = (int(level[node]), turn, actions, int(last_slot[node]))
            assert known.setdefault(int(tree.keys[node, side]), seen) == seen, (
                "equal keys: same ply, same turn and actions, same last own action"
            )


def _last_own_slot(tree: GameTree[State], side: int) -> NDArray[np.int64]:
    """Return the slot of the last action of `side` before each node, int64[N], or NO_SLOT."""
    last = np.full(len(tree.states), NO_SLOT, np.int64)
    for level in tree.deeper_levels():
        above = tree.parent[level]
        last[level] = np.where(tree.player[above] == side, tree.slot[level], last[above])
    return last


Strategy = Mapping[int, Sequence[float] | NDArray[np.floating[Any]]]
"""The mover's information key to the probabilities of its actions, in canonical order.

No two players share a key, so one mapping can hold the strategies of both.
"""

_TOLERANCE = 1e-3
"""How far the sum of probabilities may be from 1, as they may have single precision."""


def policy_of(tree: GameTree[State], strategy: Strategy) -> NDArray[np.float64]:
    """Return the probability of every slot under `strategy`, float64[S].

    At infosets that `strategy` lacks the policy is uniform. Keys of other games are ignored.
    Probabilities are divided by their sum.

    Raises
    ------
    ValueError
        If an infoset has the wrong number of probabilities, if one of them is negative, or if their
        sum is not about 1.

    """
    offsets = tree.infosets.offsets
    counts = np.diff(offsets)
    policy = np.repeat(1.0 / counts, counts)
    for i, key in enumerate(tree.infosets.key.tolist()):
        if key not in strategy:
            continue
        probabilities = np.asarray(strategy[key], np.float64)
        if probabilities.shape != (counts[i],):
            raise ValueError(f"infoset {key:016x} has {counts[i]} actions: {probabilities}")
        total = float(probabilities.sum())
        if not (abs(total - 1.0) <= _TOLERANCE and np.all(probabilities >= 0.0)):
            raise ValueError(f"infoset {key:016x}: not a distribution: {probabilities}")
        policy[offsets[i] : offsets[i + 1]] = probabilities / total
    return policy


def strategy_of(tree: GameTree[State], policy: NDArray[np.float64]) -> dict[int, list[float]]:
    """Convert `policy`, float64[S], to a mapping from information key to probabilities."""
    offsets = tree.infosets.offsets.tolist()
    return {
        key: policy[offsets[i] : offsets[i + 1]].tolist()
        for i, key in enumerate(tree.infosets.key.tolist())
    }


def expected_value(tree: GameTree[State], strategy: Strategy) -> float:
    """Return ▲'s expected payoff, u(x, y), if both players play `strategy`."""
    likelihood = _edge_probabilities(tree, strategy)
    values = tree.payoff.copy()
    for level in reversed(tree.deeper_levels()):
        np.add.at(values, tree.parent[level], likelihood[level] * values[level])
    return float(values[0])


def best_response(
    tree: GameTree[State], strategy: Strategy, player: int
) -> tuple[float, dict[int, list[float]]]:
    """Compute a best response of `player` to the other player's part of `strategy`.

    Returns
    -------
    value : float
        The value of the best response, in the view of `player`.
    response : {information key: probabilities}
        A pure best response of `player`. Among equally good actions it plays the first.

    """
    likelihood = _edge_probabilities(tree, strategy)
    sign = 1.0 if player == MAX else -1.0
    reach = _reach_without(tree, likelihood, player)
    values = sign * tree.payoff
    offsets = tree.infosets.offsets
    slot_values = np.zeros(offsets[-1])  # counterfactual values
    policy = np.zeros(offsets[-1])
    for level in reversed(tree.deeper_levels()):
        parent, slot = tree.parent[level], tree.slot[level]
        own = tree.player[parent] == player
        np.add.at(slot_values, slot[own], (reach[level] * values[level])[own])
        for i in np.unique(tree.infoset[parent[own]]):
            choices = slice(offsets[i], offsets[i + 1])
            policy[offsets[i] + np.argmax(slot_values[choices])] = 1.0
        weight = likelihood[level].copy()
        weight[own] = policy[slot[own]]
        np.add.at(values, parent, weight * values[level])
    response = {
        int(tree.infosets.key[i]): policy[offsets[i] : offsets[i + 1]].tolist()
        for i in np.flatnonzero(tree.infosets.player == player)
    }
    return float(values[0]), response


def nash_gap(tree: GameTree[State], strategy: Strategy) -> float:
    """Return what both players together gain by best responses (NashConv); 0 in equilibrium."""
    return best_response(tree, strategy, MAX)[0] + best_response(tree, strategy, MIN)[0]


def exploitability(tree: GameTree[State], strategy: Strategy) -> float:
    """Return half of the Nash gap: the strategy's mean loss to a best response."""
    return nash_gap(tree, strategy) / 2


def _edge_probabilities(tree: GameTree[State], strategy: Strategy) -> NDArray[np.float64]:
    """Return the probability of the action that led to each node, float64[N]."""
    policy = policy_of(tree, strategy)
    chosen = tree.slot != NO_SLOT
    likelihood = tree.chance.copy()
    likelihood[chosen] = policy[tree.slot[chosen]]
    return likelihood


def _reach_without(
    tree: GameTree[State], likelihood: NDArray[np.float64], player: int
) -> NDArray[np.float64]:
    """Return the reach of each node by all but `player`, float64[N]."""
    reach = np.ones(len(tree.states))
    for level in tree.deeper_levels():
        parent = tree.parent[level]
        others = np.where(tree.player[parent] == player, 1.0, likelihood[level])
        reach[level] = reach[parent] * others
    return reach
