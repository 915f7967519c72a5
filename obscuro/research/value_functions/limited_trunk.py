"""A trunk: the game down to a depth limit, the public states there, and both players' ranges.

Kovařík et al., *Value functions for depth-limited solving in zero-sum imperfect-information games*
(V), Definitions 4.2 and 4.29.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.kernels import kernel
from obscuro.research.games.extensive_form import TERMINAL, Mirrored
from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.klss import least_exploitable
from obscuro.research.games.subgame_program import AsSolved
from obscuro.search.game import CHANCE, MAX, MIN

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class LimitedGame(NamedTuple):
    """A game with a depth limit, and how its public states and ranges are told.

    public: what both players know in a state at the limit, as small numbers, such as who won
    each round. private: what one player alone knows: its own cards, and its own hidden actions.
    """

    tree: GameTree[Any]
    level: int  # the plies above the limit
    public: Callable[[Any], Sequence[int]]
    private: Callable[[Any, int], Hashable]


class LimitedTrunk:
    """The nodes at the limit that are no ends, in public states and in infosets of both players.

    Attributes
    ----------
    leaves : int64[l]
        The nodes.
    state : int64[l]
        The public state of each, from 0.
    public : int64[m, o]
        The public observations of each public state.
    infoset : [int64[l], int64[l]]
        For ▲ and ▼: the row of each node's infoset in a range of its public state.
    width : (int, int)
        For ▲ and ▼: how many private sequences there are, the length of a range.

    Raises
    ------
    ValueError
        If a public state and a private sequence do not tell infosets apart exactly.

    """

    def __init__(self, game: LimitedGame) -> None:
        """Number public states and private sequences in the order of the nodes."""
        tree = game.tree
        begin, end = tree.levels[game.level], tree.levels[game.level + 1]
        nodes = np.arange(begin, end)
        self.game = game
        self.leaves: Indices = nodes[tree.player[nodes] != TERMINAL]
        states = [tree.states[node] for node in self.leaves.tolist()]
        publics: dict[tuple[int, ...], int] = {}
        self.state: Indices = np.array(
            [publics.setdefault(tuple(game.public(state)), len(publics)) for state in states],
            np.int64,
        )
        self.public: Indices = np.array(list(publics), np.int64).reshape(len(publics), -1)
        self.infoset: list[Indices] = []
        width = []
        for side in (MAX, MIN):
            rows: dict[Hashable, int] = {}
            found = [rows.setdefault(game.private(state, side), len(rows)) for state in states]
            self.infoset.append(np.array(found, np.int64))
            width.append(len(rows))
            self._check(side)
        self.width = width[0], width[1]

    def _check(self, side: int) -> None:
        keys = self.game.tree.keys[self.leaves, side].tolist()
        told = list(zip(self.state.tolist(), self.infoset[side].tolist(), strict=True))
        pairs = set(zip(keys, told, strict=True))
        if not len(pairs) == len(set(keys)) == len(set(told)):
            raise ValueError("public and private observations do not tell the infosets apart")

    def ranges(self, reach: Floats) -> list[Floats]:
        """Return ▲'s and ▼'s ranges: each player's own reach of its infosets, float64[m, width].

        reach: float64[N, 3]. Where a public state has no infoset with a private sequence it is 0.
        """
        found = []
        for side in (MAX, MIN):
            one = np.zeros((len(self.public), self.width[side]))
            one[self.state, self.infoset[side]] = reach[self.leaves, side]
            found.append(one)
        return found

    def counterfactual(self, values: Floats, reach: Floats, side: int) -> Floats:
        """Return a player's counterfactual values of its infosets, float64[m, width].

        values: float64[l], of the nodes, in the player's view. reach: float64[N, 3]. It is the sum
        over an infoset's nodes, each times the reach of it by all but the player.
        """
        others = reach[self.leaves, 1 - side] * reach[self.leaves, CHANCE]
        found = np.zeros((len(self.public), self.width[side]))
        np.add.at(found, (self.state, self.infoset[side]), others * values)
        return found

    def history_values(self, counterfactual: Floats, reach: Floats, side: int) -> Floats:
        """Return values of the nodes, float64[l], whose infosets have these values (Remark 4.31).

        counterfactual: float64[m, width]. All nodes of an infoset get the same one; 0 where the
        others do not reach it.
        """
        ones = np.ones(len(self.leaves))
        mass = self.counterfactual(ones, reach, side)
        mean = np.where(mass > 0.0, counterfactual / np.where(mass > 0.0, mass, 1.0), 0.0)
        found: Floats = mean[self.state, self.infoset[side]]
        return found


class TrunkExploitability:
    """Measures trunk strategies of one game exactly, by linear programs.

    The exploitability of a player's trunk strategy is the game's value less the value of the game
    in which the strategy is fixed in the trunk and the player chooses anew below.

    Parameters
    ----------
    tree : GameTree
        The game.
    slots : int64[r]
        The slots of both players in the trunk.

    """

    def __init__(self, tree: GameTree[Any], slots: NDArray[np.int64]) -> None:
        """Compute the game's value."""
        self._trees = {MAX: tree, MIN: enumerate_game(Mirrored(tree.game))}
        owner = tree.infosets.owner
        inside = np.zeros(len(owner), np.bool_)
        inside[slots] = True
        self._fixed = {side: inside & (owner == side) for side in (MAX, MIN)}
        self._scale = tree.game.scale
        self.value = self._guaranteed(MAX, np.zeros(len(owner)))

    def of(self, policy: Floats) -> float:
        """Return the mean of both players' exploitability, for payoffs in [-1, 1].

        policy: float64[S]; only the trunk's part counts.
        """
        lost = 0.0
        for side, sign in ((MAX, 1.0), (MIN, -1.0)):
            floor = np.where(self._fixed[side], policy, 0.0)
            lost += sign * self.value - self._guaranteed(side, floor)
        return lost / 2 * self._scale

    def _guaranteed(self, side: int, floor: Floats) -> float:
        """Return a player's value of the game if it plays each action at least so often."""
        return least_exploitable(self._trees[side], floor, AsSolved("highs-ipm")).value


class TreeEdges(NamedTuple):
    """The arrays of a `GameTree` that the kernels walk on."""

    player: NDArray[np.int8]
    first: Indices
    degree: Indices
    slot: Indices
    chance: Floats


@kernel
def _spread(begin, end, edges, policy, reach):
    """Carry the reach of ▲, ▼ and chance, [N, 3], from the nodes of a range to their children."""
    for node in range(begin, end):
        mover, first = edges.player[node], edges.first[node]
        for child in range(first, first + edges.degree[node]):
            for k in range(3):
                reach[child, k] = reach[node, k]
            if mover == CHANCE:
                reach[child, CHANCE] *= edges.chance[child]
            else:
                reach[child, mover] *= policy[edges.slot[child]]


@kernel
def _gather(begin, end, edges, policy, reach, learner, values, gains):
    """Bring the learner's values [N] up from the children, and count its actions' values [S].

    gains: counterfactual values of the learner's actions; they must be 0 before.
    """
    other = 1 - learner
    for node in range(end - 1, begin - 1, -1):
        if edges.degree[node] == 0:
            continue
        mover, first = edges.player[node], edges.first[node]
        value = 0.0
        for child in range(first, first + edges.degree[node]):
            if mover == CHANCE:
                value += edges.chance[child] * values[child]
            else:
                value += policy[edges.slot[child]] * values[child]
            if mover == learner:
                gains[edges.slot[child]] += reach[node, other] * reach[node, CHANCE] * values[child]
        values[node] = value


@kernel
def _learn(infosets, nodes, offsets, reach, learner, gains, regret, total, policy, weight):
    """Update regrets, the average's total and the policy at the learner's infosets.

    nodes: one of each infoset. weight: of this iteration in the average.
    """
    for at in range(infosets.shape[0]):
        infoset, own = infosets[at], reach[nodes[at], learner]
        begin, end = offsets[infoset], offsets[infoset + 1]
        mean = 0.0
        for k in range(begin, end):
            mean += policy[k] * gains[k]
            total[k] += weight * own * policy[k]
        mass = 0.0
        for k in range(begin, end):
            regret[k] = max(regret[k] + gains[k] - mean, 0.0)
            mass += regret[k]
        for k in range(begin, end):
            policy[k] = regret[k] / mass if mass > 0.0 else 1.0 / (end - begin)


@kernel
def _iterate(
    count,
    done,
    begin,
    end,
    edges,
    payoff,
    above,
    infosets,
    nodes,
    offsets,
    reach,
    values,
    gains,
    regret,
    total,
    policy,
):
    """Run `count` iterations after `done` of them; see `RegionCfr.iterate`.

    payoff: of the nodes from `begin` on. infosets, nodes: of ▲ and of ▼; see `_learn`.
    """
    for iteration in range(done + 1, done + count + 1):
        for learner in range(2):
            for root in range(above.shape[0]):
                for k in range(3):
                    reach[begin + root, k] = 1.0 if k == learner else above[root, k]
            _spread(begin, end, edges, policy, reach)
            sign = 1.0 if learner == MAX else -1.0
            for k in range(payoff.shape[0]):
                values[begin + k] = sign * payoff[k]
            gains[:] = 0.0
            _gather(begin, end, edges, policy, reach, learner, values, gains)
            _learn(
                infosets[learner],
                nodes[learner],
                offsets,
                reach,
                learner,
                gains,
                regret,
                total,
                policy,
                float(iteration),
            )


class RegionCfr:
    """CFR+ with alternating updates and linear averaging on the levels of one region.

    Parameters
    ----------
    tree : GameTree
        The game.
    levels : (int, int)
        The first level of the region, and the first one below it whose nodes are only valued.

    """

    def __init__(self, tree: GameTree[Any], levels: tuple[int, int]) -> None:
        """Number the region's infosets."""
        self._tree = tree
        self._edges = TreeEdges(tree.player, tree.first, tree.degree, tree.slot, tree.chance)
        bounds = tree.levels
        first, below = levels
        self.roots = slice(int(bounds[first]), int(bounds[first + 1]))
        self.begin, self.end = int(bounds[first]), int(bounds[below])
        last = min(below + 1, len(bounds) - 1)
        self.leaves = slice(self.end, int(bounds[last]))
        inner = np.arange(self.begin, self.end)
        moves = [inner[tree.player[inner] == side] for side in (MAX, MIN)]
        found = [np.unique(tree.infoset[own], return_index=True) for own in moves]
        self._infosets = tuple(infosets for infosets, _ in found)
        self._nodes = tuple(own[at] for own, (_, at) in zip(moves, found, strict=True))
        slots = len(tree.infosets.action)
        degrees = np.diff(tree.infosets.offsets)
        self._uniform = np.repeat(1.0 / degrees, degrees)
        self._gains = np.zeros(slots)
        self._reach = np.ones((len(tree.states), 3))
        self._ones = np.ones((self.roots.stop - self.roots.start, 3))
        self._values = np.zeros(len(tree.states))
        self.restart()

    @property
    def slots(self) -> NDArray[np.int64]:
        """The slots of the region's infosets, int64[r]."""
        offsets = self._tree.infosets.offsets
        found = [
            np.arange(offsets[infoset], offsets[infoset + 1])
            for infosets in self._infosets
            for infoset in infosets.tolist()
        ]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def restart(self) -> None:
        """Forget all regrets, and begin with the uniform policy."""
        self.policy = self._uniform.copy()
        self._regret = np.zeros_like(self._uniform)
        self._total = np.zeros_like(self._uniform)
        self.iterations = 0

    def average(self) -> Floats:
        """Return the average policy, float64[S]; elsewhere, and where never reached, uniform."""
        offsets = self._tree.infosets.offsets
        sums = np.add.reduceat(self._total, offsets[:-1]).repeat(np.diff(offsets))
        return np.where(sums > 0.0, self._total / np.where(sums > 0.0, sums, 1.0), self._uniform)

    def reach(self, above: Floats | None, policy: Floats) -> Floats:
        """Return each player's and chance's reach of the nodes, float64[N, 3], under a policy.

        above: float64[r, 3], the reach of the region's first nodes; None: 1. The array is used again
        by the next call.
        """
        self._reach[self.roots] = 1.0 if above is None else above
        _spread(self.begin, self.end, self._edges, policy, self._reach)
        return self._reach

    def values(self, reach: Floats, policy: Floats, learner: int, below: Floats | None) -> Floats:
        """Return the nodes' values in the learner's view, float64[N], under a policy.

        reach: as `reach` returned it. below: the values of the leaves, float64[l], in the learner's
        view; None: there are none but ends. It counts the actions' values for `learn`.
        """
        tree = self._tree
        sign = 1.0 if learner == MAX else -1.0
        stop = self.leaves.stop
        self._values[self.begin : stop] = sign * tree.payoff[self.begin : stop]
        if below is not None:
            self._values[self.leaves] = below
        self._gains[:] = 0.0
        _gather(
            self.begin, self.end, self._edges, policy, reach, learner, self._values, self._gains
        )
        return self._values

    def iterate(self, above: Floats | None, count: int = 1) -> None:
        """Run iterations on a region whose leaves are ends, ▲'s update before ▼'s.

        above: float64[r, 3], the reach of the region's first nodes; None: 1. A player's average
        weighs its policies by its reach within the region: above it, the reach is the same for all
        iterations, and where it is 0 the average would say nothing of what is best there.
        """
        tree = self._tree
        _iterate(
            count,
            self.iterations,
            self.begin,
            self.end,
            self._edges,
            tree.payoff[self.begin : self.leaves.stop],
            self._ones if above is None else above,
            self._infosets,
            self._nodes,
            tree.infosets.offsets,
            self._reach,
            self._values,
            self._gains,
            self._regret,
            self._total,
            self.policy,
        )
        self.iterations += count

    def learn(self, reach: Floats, learner: int) -> None:
        """Update one player's strategy by what the last `values` counted under `policy`.

        reach: float64[N, 3], as `reach` returned it.
        """
        _learn(
            self._infosets[learner],
            self._nodes[learner],
            self._tree.infosets.offsets,
            reach,
            learner,
            self._gains,
            self._regret,
            self._total,
            self.policy,
            float(self.iterations + 1),
        )
