"""Slow oracles in plain Python and double precision: PCFR+ with its gadgets, averages, subgames."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from obscuro.search.gadget import Gadget
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.tree import INFOSETS, LEAF, NO_PARENT, NODES, ROOT_INFOSET, TERMINAL, Tree


class History(NamedTuple):
    """One history of a tree, a leaf or not, with the way to it."""

    edge: int
    path: tuple[tuple[int, int], ...]  # (node, number of the action) from the chance node down
    children: tuple[History, ...]

    @property
    def ply(self) -> int:
        return len(self.path) - 1


def read_histories(tree: Tree) -> list[History]:
    """The root states, with all that is below them."""

    def read(node: int, path: tuple[tuple[int, int], ...]) -> Iterator[History]:
        first = int(tree.node_first_edge[node])
        for k in range(int(tree.node_edges[node])):
            here = (*path, (node, k))
            child = int(tree.edge_child[first + k])
            below = () if child == LEAF else tuple(read(child, here))
            yield History(first + k, here, below)

    roots = [node for node in range(int(tree.counts[NODES])) if tree.node_parent[node] == NO_PARENT]
    return [history for root in roots for history in read(root, ())]


def all_histories(tree: Tree) -> list[History]:
    found: list[History] = []
    queue = read_histories(tree)
    while queue:
        history = queue.pop()
        found.append(history)
        queue.extend(history.children)
    return found


@dataclass
class Infoset:
    """One infoset: what its regret minimizer remembers."""

    player: int
    strategy: list[float]
    frozen: bool
    regret: list[float] = field(default_factory=list)
    cfv: list[float] = field(default_factory=list)  # counterfactual values, the player's view
    reach: float = 0.0  # of the others, in the last visit


class NaivePcfr:
    """PCFR+ of a tree by recursion (Obscuro, Figs. 10 and 11), starting from its present state.

    `prune`: leave out histories that the other side does not play to.
    """

    def __init__(self, tree: Tree, gadget: Gadget, prune: bool = True) -> None:
        self.tree = tree
        self.prune = prune
        self.infosets: dict[int, Infoset] = {}
        for i in range(int(tree.counts[INFOSETS])):
            first, count = int(tree.infoset_first[i]), int(tree.infoset_actions[i])
            strategy, regret = (
                array[first : first + count].astype(float).tolist()
                for array in (tree.strategy, tree.regret)
            )
            player, frozen = int(tree.infoset_player[i]), bool(tree.infoset_frozen[i])
            self.infosets[i] = Infoset(player, strategy, frozen, regret, [0.0] * count)
        self.values: dict[int, float] = {}  # by edge, of the last walk that came by
        self.alternate: list[float] = gadget.alternate.astype(float).tolist()
        self.prior: list[float] = gadget.prior.astype(float).tolist()
        self.root_values: list[float] = gadget.value.astype(float).tolist()
        self.enter: list[float] = gadget.enter.astype(float).tolist()
        self.enter_regret: list[list[float]] = gadget.enter_regret.astype(float).tolist()
        self.margin: list[float] = gadget.margin.astype(float).tolist()
        self.margin_regret: list[float] = gadget.margin_regret.astype(float).tolist()
        self.p_max = float(gadget.p_max[0])
        self.soft = float(gadget.soft[0])
        self.sums: dict[int, list[float]] = defaultdict(list)

    def iterate(self) -> None:
        for player in (MAX, MIN):
            self.update(player)
        self.update_gadgets()

    def update(self, player: int) -> None:
        self.walk_all(player)
        for i in self.visited:
            infoset = self.infosets[i]
            if not infoset.frozen:
                infoset.strategy = predictive_rm_plus(infoset.strategy, infoset.regret, infoset.cfv)

    def walk_all(self, player: int) -> None:
        """Values and counterfactual values for `player`; notes the visited infosets."""
        self.visited: set[int] = set()
        for j in range(len(self.alternate)):
            reach = self.infosets[ROOT_INFOSET].strategy[j] if player == MAX else 1.0
            if reach > 0 or not self.prune:
                self.root_values[j] = self.walk(player, j, reach)

    def walk(self, player: int, node: int, reach: float) -> float:
        """▲'s value of a node that the others reach with probability `reach`."""
        tree = self.tree
        i = int(tree.node_infoset[node])
        infoset = self.infosets[i]
        mine = infoset.player == player
        if mine and i not in self.visited:
            self.visited.add(i)
            infoset.cfv = [0.0] * len(infoset.cfv)
            infoset.reach = 0.0
        if mine:
            infoset.reach += reach
        total = 0.0
        for k, probability in enumerate(infoset.strategy):
            edge = int(tree.node_first_edge[node]) + k
            below = reach if mine else reach * probability
            if below == 0 and self.prune:
                continue
            child = int(tree.edge_child[edge])
            if child != LEAF:
                self.values[edge] = self.walk(player, child, below)
            value = self.values.get(edge, float(tree.edge_value[edge]))
            total += probability * value
            if mine:
                infoset.cfv[k] += reach * (value if player == MAX else -value)
        return total

    def update_gadgets(self) -> None:
        """PRM+ of Resolve and of Maxmargin, and their mixture."""
        worth = [a - v for a, v in zip(self.alternate, self.root_values, strict=True)]
        for j, w in enumerate(worth):
            enter = self.enter[j]
            self.enter[j] = predictive_rm_plus([enter, 1 - enter], self.enter_regret[j], [w, 0.0])[
                0
            ]
        self.margin = predictive_rm_plus(self.margin, self.margin_regret, worth)
        self.p_max = max(self.enter)
        self.infosets[ROOT_INFOSET].strategy = [
            (1 - self.soft) * (self.p_max * prior * enter + (1 - self.p_max) * margin)
            + self.soft * prior
            for prior, enter, margin in zip(self.prior, self.enter, self.margin, strict=True)
        ]

    def add_to_average(self, weight: float) -> None:
        """Add weight · own reach · strategy at each infoset once, along any of its histories."""
        added: set[int] = set()

        def walk(node: int, reach: dict[int, float]) -> None:
            i = int(self.tree.node_infoset[node])
            infoset = self.infosets[i]
            if i not in added and infoset.player != CHANCE:
                added.add(i)
                sums = self.sums[i] or [0.0] * len(infoset.strategy)
                own = weight * reach[infoset.player]
                self.sums[i] = [s + own * p for s, p in zip(sums, infoset.strategy, strict=True)]
            for k, probability in enumerate(infoset.strategy):
                child = int(self.tree.edge_child[int(self.tree.node_first_edge[node]) + k])
                if child != LEAF:
                    below = dict(reach)
                    below[infoset.player] *= probability
                    walk(child, below)

        for j, chosen in enumerate(self.infosets[ROOT_INFOSET].strategy):
            walk(j, {MAX: 1.0, MIN: chosen, CHANCE: 1.0})


def predictive_rm_plus(
    strategy: list[float], regret: list[float], utility: list[float]
) -> list[float]:
    """R ← [R + r]⁺ in place; the next strategy ∝ [R + r]⁺, uniform if that is 0."""
    expected = sum(p * u for p, u in zip(strategy, utility, strict=True))
    instant = [u - expected for u in utility]
    regret[:] = [max(r + i, 0.0) for r, i in zip(regret, instant, strict=True)]
    predicted = [max(r + i, 0.0) for r, i in zip(regret, instant, strict=True)]
    total = sum(predicted)
    return [p / total if total > 0 else 1 / len(predicted) for p in predicted]


@dataclass
class KeptInfoset:
    """A ▼-infoset J that the next subgame keeps, and its histories."""

    edges: list[int]
    weights: list[float]
    reach: float
    value: float
    gift: float


class NaiveSubgame:
    """What the next subgame keeps of a tree (Obscuro, Fig. 9 and C.2), read off its definition.

    depth: None in a game whose players do not know it. Then a history is left out if it goes on
    from another one that is in any of the infosets.
    """

    def __init__(self, tree: Tree, our_key: int, depth: int | None) -> None:
        self.tree = tree
        self.histories = all_histories(tree)
        self.by_edge = {history.edge: history for history in self.histories}
        alive = [
            h
            for h in self.histories
            if depth in (None, h.ply) and tree.edge_status[h.edge] != TERMINAL
        ]
        theirs = {self.key(h, MIN) for h in alive if self.key(h, MAX) == our_key}
        touching = [h for h in alive if self.key(h, MIN) in theirs]
        self.below = self._those_below(touching)
        members: dict[int, list[History]] = defaultdict(list)
        for history in touching:
            if history.edge not in self.below:
                members[self.key(history, MIN)].append(history)
        self.infosets = {key: self._describe(each) for key, each in members.items()}

    def _those_below(self, histories: list[History]) -> set[int]:
        """The edges of those among some histories that go on from another one of them."""
        edges = {history.edge for history in histories}
        return {
            history.edge
            for history in histories
            if any(
                int(self.tree.node_first_edge[node]) + action in edges
                for node, action in history.path[:-1]
            )
        }

    def key(self, history: History, player: int) -> int:
        return int(self.tree.edge_keys[history.edge, player])

    def _describe(self, members: list[History]) -> KeptInfoset:
        reaches = [self.reach(h.path, MAX) * self.reach(h.path, CHANCE) for h in members]
        total = sum(reaches)
        weights = [r / total if total > 0 else 1 / len(members) for r in reaches]
        chosen = self._probability(ROOT_INFOSET, members[0].path[0][0])
        return KeptInfoset(
            edges=[h.edge for h in members],
            weights=weights,
            reach=max(chosen * self.reach(h.path, MIN) for h in members),
            value=sum(w * self.value(h) for w, h in zip(weights, members, strict=True)),
            gift=self.gift(members[0]),
        )

    def _probability(self, infoset: int, action: int) -> float:
        return float(self.tree.strategy[int(self.tree.infoset_first[infoset]) + action])

    def reach(self, path: tuple[tuple[int, int], ...], player: int) -> float:
        """The product of the probabilities of a player's own actions."""
        product = 1.0
        for node, action in path:
            if self.tree.node_player[node] == player:
                product *= self._probability(int(self.tree.node_infoset[node]), action)
        return product

    def value(self, history: History) -> float:
        """▲'s value under the present strategies."""
        if not history.children:
            return float(self.tree.edge_value[history.edge])
        node = history.children[0].path[-1][0]
        infoset = int(self.tree.node_infoset[node])
        return sum(
            self._probability(infoset, k) * self.value(child)
            for k, child in enumerate(history.children)
        )

    def gift(self, history: History) -> float:
        """Σ [u_▼(J') − u_▼(J'a')]⁺ over ▼'s decisions on the way, conditional on reaching J'."""
        total = 0.0
        for node, action in history.path:
            if self.tree.node_player[node] != MIN:
                continue
            infoset = int(self.tree.node_infoset[node])
            values = self._conditional_values(infoset)
            if values is not None:
                expected = sum(self._probability(infoset, k) * v for k, v in enumerate(values))
                total += max(expected - values[action], 0.0)
        return total

    def _conditional_values(self, infoset: int) -> list[float] | None:
        """u_▼(J', a) for each a; None where ▲ and chance do not play to J'."""
        count = int(self.tree.infoset_actions[infoset])
        sums, total = [0.0] * count, 0.0
        for history in self.histories:
            node, action = history.path[-1]
            if self.tree.node_infoset[node] == infoset:
                before = history.path[:-1]
                reach = self.reach(before, MAX) * self.reach(before, CHANCE)
                sums[action] -= reach * self.value(history)
                total += reach if action == 0 else 0.0
        return [s / total for s in sums] if total > 0 else None
