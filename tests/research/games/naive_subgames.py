"""Subgames read from the paper (K, Sections 2 to 4) without any sequence form: recursions over nodes.

A class is all nodes that one player cannot tell apart. Everything is ▲'s and in the game's units.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import NO_SLOT, GameTree
from obscuro.search.game import CHANCE, MAX, MIN

Policy = NDArray[np.float64]
Plays = Callable[[int], float]
"""How likely ▲ makes the move to this child."""


def knowledge_set(tree: GameTree[Any], start: Iterable[int], order: int | None) -> set[int]:
    """I^k by Definition 2: nodes over at most k-1 hyperedges, which are both players' classes."""
    inner = [node for node in range(len(tree.states)) if tree.player[node] != TERMINAL]
    classes = defaultdict(set)
    for node in inner:
        for player in (MAX, MIN):
            classes[int(tree.keys[node, player])].add(node)
    found = set(start)
    steps = len(inner) if order is None else order - 1
    for _ in range(steps):
        wider = set(found)
        for node in found:
            wider |= classes[int(tree.keys[node, MAX])] | classes[int(tree.keys[node, MIN])]
        if wider == found:
            break
        found = wider
    return found


def reach(tree: GameTree[Any], policy: Policy, node: int) -> float:
    """What ▲ and chance play towards a node, p(h) x(h)."""
    product = 1.0
    while node:
        parent = int(tree.parent[node])
        if tree.player[parent] == CHANCE:
            product *= tree.chance[node]
        elif tree.player[parent] == MAX:
            product *= policy[tree.slot[node]]
        node = parent
    return product


def children(tree: GameTree[Any], node: int) -> range:
    first = int(tree.first[node])
    return range(first, first + int(tree.degree[node]))


def plays(tree: GameTree[Any], policy: Policy) -> Plays:
    """▲ plays one policy everywhere."""
    return lambda child: float(policy[tree.slot[child]])


def answer(tree: GameTree[Any], mine: Plays, weights: dict[int, float]) -> float:
    """▲'s value below the nodes of a ▼-class, so weighted, if ▼ plays the best it can from there."""
    over = [node for node in weights if tree.player[node] == TERMINAL]
    value = sum(weights[node] * float(tree.payoff[node]) for node in over)
    moves: dict[int, dict[int, float]] = defaultdict(dict)  # by ▼'s action
    passes: dict[int, float] = {}  # after the moves of others
    for node, weight in weights.items():
        for child in children(tree, node):
            if tree.player[node] == MIN:
                moves[int(tree.action[child])][child] = weight
            elif tree.player[node] == MAX:
                passes[child] = weight * mine(child)
            else:
                passes[child] = weight * float(tree.chance[child])
    if moves:
        value += min(_by_class(tree, mine, after) for after in moves.values())
    return value + _by_class(tree, mine, passes)


def action_answer(
    tree: GameTree[Any], mine: Plays, weights: dict[int, float], action: int
) -> float:
    """`answer`, if ▼ plays `action` at its infoset, whose nodes have these weights."""
    after = {
        child: weight
        for node, weight in weights.items()
        for child in children(tree, node)
        if tree.action[child] == action
    }
    return _by_class(tree, mine, after)


def _by_class(tree: GameTree[Any], mine: Plays, weights: dict[int, float]) -> float:
    parts: dict[int, dict[int, float]] = defaultdict(dict)
    for node, weight in weights.items():
        parts[int(tree.keys[node, MIN])][node] = weight
    return sum(answer(tree, mine, part) for part in parts.values())


def groups(tree: GameTree[Any], inside: set[int]) -> list[list[int]]:
    """All nodes of each ▼-class that touches the nodes `inside`."""
    touched = {int(tree.keys[node, MIN]) for node in inside}
    members: dict[int, list[int]] = {key: [] for key in touched}
    for node in range(len(tree.states)):
        key = int(tree.keys[node, MIN])
        if key in touched and tree.player[node] != TERMINAL:
            members[key].append(node)
    return list(members.values())


def live_classes(
    tree: GameTree[Any], inside: set[int], policy: Policy
) -> Iterator[tuple[dict[int, float], float]]:
    """The reach of each node of the ▼-classes that ▲ and chance play to `inside` of, and of these."""
    for members in groups(tree, inside):
        weights = {node: reach(tree, policy, node) for node in members}
        live = sum(weight for node, weight in weights.items() if node in inside)
        if live > 0.0:
            yield weights, live


def margins(tree: GameTree[Any], inside: set[int], before: Policy, after: Policy) -> list[float]:
    """u*(x'|J) - u*(x|J) of each J that ▲ and chance play to `inside` of, in units of that."""
    found = []
    for weights, live in live_classes(tree, inside, before):
        values = [answer(tree, plays(tree, policy), weights) for policy in (before, after)]
        found.append((values[1] - values[0]) / live)
    return found


def best_margin(
    tree: GameTree[Any], inside: set[int], policy: Policy, floor: Policy, lifted: set[int]
) -> float:
    """The greatest least margin by a linear program with one variable for each slot and ▼-class.

    ▲ plays `policy` but below the nodes `inside`; `lifted` are the infosets without a floor.
    """
    program = Program()
    least = program.variable(-np.inf)
    for weights, live in live_classes(tree, inside, policy):
        # least * live + alternate <= value
        row = {least: live}
        _add(row, program.class_value(tree, policy, weights, inside), -1.0)
        program.at_most(row, -answer(tree, plays(tree, policy), weights))
    program.share_out(tree)
    for infoset, parent in program.infosets.items():
        for slot in _slots(tree, infoset):
            if floor[slot] > 0.0 and infoset not in lifted:
                program.at_most({program.slots[slot]: -1.0, program.x(parent): floor[slot]}, 0.0)
    return program.greatest(least)


def best_soft(
    tree: GameTree[Any],
    inside: set[int],
    policy: Policy,
    prior: dict[int, float],
    epsilon: float,
    raised: float,
) -> float:
    """The most that ▲ gets if chance deals each J, and ▼ may leave it in 1 - epsilon of all cases.

    prior: by the first node of each ▼-class. ▼ leaves for what `policy` guarantees plus `raised`,
    in units of the reach of the whole class. Values are less that, in units of the reach of the
    nodes `inside`.
    """
    program = Program()
    total = program.variable(-np.inf)
    row = {total: 1.0}
    for weights, live in live_classes(tree, inside, policy):
        value = program.class_value(tree, policy, weights, inside)
        leaves = answer(tree, plays(tree, policy), weights) + raised * sum(weights.values())
        _add(value, {ONE: -leaves})
        stays = program.variable(-np.inf)  # what ▲ gets if ▼ must not leave, and if it may
        may_leave = program.variable(-np.inf)
        bound = {stays: live}
        _add(bound, value, -1.0)
        program.at_most(bound, 0.0)
        program.at_most({may_leave: 1.0, stays: -1.0}, 0.0)
        program.at_most({may_leave: 1.0}, 0.0)
        share = prior[next(iter(weights))]
        _add(row, {stays: -epsilon * share, may_leave: -(1.0 - epsilon) * share})
    program.at_most(row, 0.0)
    program.share_out(tree)
    return program.greatest(total)


def value_when_all_is_seen(tree: GameTree[Any], node: int) -> float:
    """▲'s value of a node if both players see the state."""
    below = [value_when_all_is_seen(tree, child) for child in children(tree, node)]
    if not below:
        return float(tree.payoff[node])
    if tree.player[node] == CHANCE:
        return float(np.dot([tree.chance[child] for child in children(tree, node)], below))
    return max(below) if tree.player[node] == MAX else min(below)


def _slots(tree: GameTree[Any], infoset: int) -> range:
    return range(tree.infosets.offsets[infoset], tree.infosets.offsets[infoset + 1])


ONE = 0
"""The variable that is 1."""
Linear = dict[int, float]
Entry = tuple[int, float, int | None, bool]
"""A node, its weight, the slot that ▲ last played below its root, whether ▲ chooses there."""


class Program:
    """A linear program that is written while walking."""

    def __init__(self) -> None:
        self.lower = [1.0]
        self.rows: list[tuple[Linear, float]] = []
        self.equations: list[tuple[Linear, float]] = [({ONE: 1.0}, 1.0)]
        self.slots: dict[int, int] = {}  # the variable of each of ▲'s slots
        self.infosets: dict[int, int | None] = {}  # the slot before each of ▲'s infosets

    def variable(self, lower: float) -> int:
        self.lower.append(lower)
        return len(self.lower) - 1

    def at_most(self, row: Linear, bound: float) -> None:
        self.rows.append((row, bound))

    def equal(self, row: Linear, value: float) -> None:
        self.equations.append((row, value))

    def x(self, slot: int | None) -> int:
        """The variable that says how often ▲ has played `slot`."""
        if slot is None:
            return ONE
        if slot not in self.slots:
            self.slots[slot] = self.variable(0.0)
        return self.slots[slot]

    def class_value(
        self, tree: GameTree[Any], policy: Policy, weights: dict[int, float], inside: set[int]
    ) -> Linear:
        """`answer` for a whole ▼-class, whose nodes have these weights; ▲ chooses below `inside`."""
        start: list[Entry] = [(node, each, None, node in inside) for node, each in weights.items()]
        return self.answer(tree, policy, start)

    def share_out(self, tree: GameTree[Any]) -> None:
        """▲ plays each of its infosets' slots as often, together, as the slot before them."""
        for infoset, parent in self.infosets.items():
            shares = {self.slots[slot]: 1.0 for slot in _slots(tree, infoset)}
            self.equal({**shares, self.x(parent): -1.0}, 0.0)

    def answer(self, tree: GameTree[Any], policy: Policy, nodes: list[Entry]) -> Linear:
        """What ▼'s best answer leaves ▲ below the nodes of one ▼-class, as an upper bound."""
        total: Linear = {}
        moves: dict[int, list[Entry]] = defaultdict(list)
        passes: list[Entry] = []
        for node, weight, slot, live in nodes:
            mover = tree.player[node]
            if mover == TERMINAL:
                _add(total, {self.x(slot): weight * float(tree.payoff[node])})
            if mover == MAX and live:
                self.infosets[int(tree.infoset[node])] = slot
            for child in children(tree, node):
                edge = int(tree.slot[child])
                if mover == MIN:
                    moves[int(tree.action[child])].append((child, weight, slot, live))
                elif mover == MAX and live:
                    passes.append((child, weight, edge, live))
                    self.x(edge)
                else:
                    factor = tree.chance[child] if edge == NO_SLOT else policy[edge]
                    passes.append((child, weight * float(factor), slot, live))
        _add(total, self._by_class(tree, policy, passes))
        if moves:
            value = self.variable(-np.inf)
            _add(total, {value: 1.0})
            for after in moves.values():
                row = {value: 1.0}
                _add(row, self._by_class(tree, policy, after), -1.0)
                self.at_most(row, 0.0)
        return total

    def _by_class(self, tree: GameTree[Any], policy: Policy, nodes: list[Entry]) -> Linear:
        parts: dict[int, list[Entry]] = defaultdict(list)
        for entry in nodes:
            parts[int(tree.keys[entry[0], MIN])].append(entry)
        total: Linear = {}
        for part in parts.values():
            _add(total, self.answer(tree, policy, part))
        return total

    def greatest(self, variable: int) -> float:
        """The greatest value of a variable."""
        size = len(self.lower)
        objective = np.zeros(size)
        objective[variable] = -1.0
        at_most, bounds = _dense(self.rows, size)
        equal, values = _dense(self.equations, size)
        limits = [(low, None) for low in self.lower]
        result = linprog(objective, at_most, bounds, equal, values, limits, "highs")
        assert result.status == 0, result.message
        return -float(result.fun)


def _add(total: Linear, more: Linear, factor: float = 1.0) -> None:
    for variable, value in more.items():
        total[variable] = total.get(variable, 0.0) + factor * value


def _dense(
    rows: list[tuple[Linear, float]], size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    matrix = np.zeros((len(rows), size))
    for number, (row, _) in enumerate(rows):
        for variable, value in row.items():
            matrix[number, variable] = value
    return matrix, np.array([value for _, value in rows])
