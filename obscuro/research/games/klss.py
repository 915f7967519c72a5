"""Knowledge-limited subgame solving at every infoset of a small game, nested and exact.

Order 1 is 1-KLSS (Zhang and Sandholm 2021), order 2 is 2-KLUSS (`Obscuro, App. C.6`), and order
None is subgame solving with common knowledge. The order limits how many infosets a root may be away
from the current one. In all three variants ▼ first chooses among its infosets at the roots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import (
    NO_INFOSET,
    NO_SLOT,
    GameTree,
    best_response,
    strategy_of,
)
from obscuro.research.games.infoset_hypergraph import KnowledgeGraph
from obscuro.research.games.root_rules import MaxmarginRoot, RootBudget, RootRule, RootView
from obscuro.research.games.sequence_form import (
    SequenceForm,
    SubgameForm,
    SubgameRoots,
    answer_values,
    arrival,
    played_from_roots,
    policy_from,
    row_values,
    subgame_form,
)
from obscuro.research.games.subgame_program import Choice, solve_maxmargin
from obscuro.search.game import MAX, MIN

_REACHED: Final = 1e-12
"""A group with a smaller share of the roots' reach counts as not reached."""

WHOLE_GAME: Final = SubgameRoots(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.bool_))
"""The subgame that is the whole game."""


class Nested(NamedTuple):
    """The result of subgame solving at every infoset, from a blueprint."""

    policy: NDArray[np.float64]  # [S] ▲'s policy; at each infoset the solution found there
    infosets: int  # the number of infosets where ▲ solved a subgame, those it can still reach
    programs: int  # the number of solved programs; infosets with the same subgame share one


class _Solution(NamedTuple):
    """What the next subgame begins with."""

    policy: NDArray[np.float64]  # [S] ▲'s policy, which the solution is a part of
    gift: NDArray[np.float64]  # [N] what ▼ gave up on the way to each node; 0 without Reach


class SubgameSolver:
    """Solves ▲'s subgames of one order in one game.

    Parameters
    ----------
    tree : GameTree
        The game.
    floor : float64[S]
        The least probability of each of ▲'s actions. It does not hold at a subgame's first
        infosets.
    order : int or None
        The order k: the live roots are I^k. If k is odd, ▲'s strategy in I^(k+1) outside of I^k is
        frozen (k-KLSS). If k is even, I^(k+1) is left out (k-KLUSS). None: common knowledge.
    rule : RootRule or Choice
        The root. A `Choice` is short for Maxmargin, K's root: how to choose among its optimal
        strategies.
    budget : RootBudget, optional
        Which of ▼'s infosets at the root to leave out; otherwise none.
    before : bool
        Whether the roots are the nodes before ▼'s last move, where that was the last ply. Else ▼'s
        infosets at the root tell its moves apart, those that ▲ has not seen too.

    """

    def __init__(
        self,
        tree: GameTree[Any],
        floor: NDArray[np.float64],
        order: int | None,
        rule: RootRule | Choice,
        budget: RootBudget | None = None,
        *,
        before: bool = False,
    ) -> None:
        """Build the knowledge graph and the sequence form, for any number of blueprints."""
        self._form = SequenceForm(tree)
        self._graph = KnowledgeGraph(tree)
        self._tree, self._floor, self._order = tree, floor, order
        self._rule = MaxmarginRoot(rule) if isinstance(rule, Choice) else rule
        self._budget, self._before = budget, before
        self._look = values_when_all_is_seen(tree)
        self._nothing = np.zeros(len(tree.states))
        mine = tree.infosets.player == MAX
        self._after: dict[int, list[int]] = {}
        for infoset in np.flatnonzero(mine).tolist():
            self._after.setdefault(int(self._form.before[infoset]), []).append(infoset)
        self._nodes: dict[int, NDArray[np.int64]] = {}
        moves = np.flatnonzero(tree.player == MAX)
        order_ = np.argsort(tree.infoset[moves], kind="stable")
        counts = np.bincount(tree.infoset[moves], minlength=len(mine))[mine]
        parts = np.split(moves[order_], np.cumsum(counts)[:-1])
        self._nodes = dict(zip(np.flatnonzero(mine).tolist(), parts, strict=True))

    def roots(self, infoset: int, policy: NDArray[np.float64]) -> SubgameRoots:
        """Return the roots of the subgame of a ▲-infoset that ▲ has reached by `policy`.

        policy: float64[S]. The roots leave out a ▼-infoset if ▲ and chance reach none of its live
        roots.
        """
        graph = self._graph
        inside = self._first(graph.within(self._nodes[infoset], self._order))
        reach = self._form.reach(policy)
        least = _REACHED * reach[inside].sum()
        nodes: list[NDArray[np.int64]] = []
        live: list[NDArray[np.bool_]] = []
        for number in graph.classes(inside, MIN).tolist():
            members = graph.members(number, MIN)
            alive = np.isin(members, inside)
            if reach[members[alive]].sum() > least:
                nodes.append(members)
                live.append(alive)
        sizes = [len(members) for members in nodes]
        return SubgameRoots(
            node=np.concatenate(nodes),
            group=np.repeat(np.arange(len(nodes)), sizes),
            live=np.concatenate(live),
        )

    def _first(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the subgame of these nodes begins, int64[n]."""
        if not self._before:
            return nodes
        above = self._tree.parent[nodes]
        return np.unique(np.where(self._tree.player[above] == MIN, above, nodes))

    def solve(self, infoset: int, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Solve the subgame at `infoset` and return ▲'s new policy, float64[S].

        policy: float64[S], ▲'s policy before.
        """
        start = _Solution(policy, self._gifts_from_start(policy))
        return self._solve_below(*self._kept_roots(infoset, start), start).policy

    def view(
        self,
        roots: SubgameRoots,
        policy: NDArray[np.float64],
        gift: NDArray[np.float64] | None = None,
    ) -> RootView:
        """Return what a rule knows of the groups of `roots`.

        policy: float64[S], of both players. gift: float64[N], of each node; otherwise 0.
        """
        form = self._form
        sub = subgame_form(form, roots, policy)
        weight = form.reach(policy)[roots.node]
        look = np.bincount(roots.group, weight * self._look[roots.node]) / sub.weight
        last = played_from_roots(form, sub, policy)
        alternate = answer_values(form, sub, last)
        given = np.zeros(sub.groups)
        if gift is not None:
            given[roots.group[roots.live]] = gift[roots.node[roots.live]]
        return RootView(form, sub, roots, arrival(form, sub, policy), alternate, look, given, last)

    def _gifts_from_start(self, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gifts in the whole game, float64[N]; 0 if the rule does not ask for them."""
        if not self._rule.reach:
            return self._nothing
        sub = subgame_form(self._form, WHOLE_GAME, policy)
        x = played_from_roots(self._form, sub, policy)
        return gifts_below(self._form, WHOLE_GAME, sub, policy, x, np.zeros(1))

    def _kept_roots(
        self, infoset: int, last: _Solution
    ) -> tuple[SubgameRoots, NDArray[np.float64] | None]:
        """Return the roots of the subgame without what the budget leaves out, and their masses."""
        roots = self.roots(infoset, last.policy)
        if self._budget is None:
            return roots, None
        view = self.view(roots, last.policy, last.gift)
        inside = np.isin(roots.node, self._first(self._nodes[infoset]))
        kept = self._budget.kept(view, np.bincount(roots.group[inside], minlength=view.sub.groups))
        stays = kept[roots.group]
        number = np.cumsum(kept) - 1
        left = SubgameRoots(roots.node[stays], number[roots.group[stays]], roots.live[stays])
        return left, self._budget.mass(view, kept)

    def _solve_below(
        self, roots: SubgameRoots, mass: NDArray[np.float64] | None, last: _Solution
    ) -> _Solution:
        """Solve the subgame below `roots`. mass: float64[G], as `RootView` has it."""
        view = self.view(roots, last.policy, last.gift)._replace(mass=mass)
        x = self._rule.solve(view, self._floor)
        policy = policy_from(self._form, view.sub.infosets, view.sub.slots, x, last.policy)
        if not self._rule.reach:
            return _Solution(policy, self._nothing)
        entered = self._rule.spare(view, x)
        return _Solution(policy, gifts_below(self._form, roots, view.sub, policy, x, entered))

    def solve_everywhere(
        self,
        blueprint: NDArray[np.float64],
        progress: Callable[[int, int], None] | None = None,
        where: NDArray[np.bool_] | None = None,
    ) -> Nested:
        """Solve at every infoset that ▲ can reach, each time from the last solution before it.

        Infosets share one solution if their subgames have the same roots and begin from the same
        solution. With common knowledge, all infosets of a common-knowledge set share one.

        Parameters
        ----------
        blueprint : float64[S]
            ▲'s policy at the start.
        progress : callable, optional
            Called before each infoset with the number of infosets done and of those found waiting.
        where : bool[I], optional
            The infosets at which to solve; at ▲'s others the last policy is played on.

        """
        tree = self._tree
        offsets = tree.infosets.offsets
        played = blueprint.copy()
        solutions = [_Solution(blueprint, self._gifts_from_start(blueprint))]
        shared: dict[tuple[int, bytes], int] = {}
        waiting = [(infoset, 0) for infoset in self._after.get(NO_SLOT, [])]
        done = 0
        while waiting:
            if progress is not None:
                progress(done, len(waiting))
            infoset, before = waiting.pop()
            now = before
            if where is None or where[infoset]:
                roots, mass = self._kept_roots(infoset, solutions[before])
                label = (before, roots.node.tobytes() + roots.live.tobytes())
                if label not in shared:
                    shared[label] = len(solutions)
                    solutions.append(self._solve_below(roots, mass, solutions[before]))
                now = shared[label]
                done += 1
            for slot in range(offsets[infoset], offsets[infoset + 1]):
                played[slot] = solutions[now].policy[slot]
                if played[slot] > 0.0:
                    waiting += [(later, now) for later in self._after.get(slot, [])]
        return Nested(policy=played, infosets=done, programs=len(shared))


class Blueprint(NamedTuple):
    """▲'s least exploitable strategy under a floor, and ▼'s best strategy against such ones."""

    policy: NDArray[np.float64]  # [S] of both players
    value: float  # ▲'s guaranteed value, in the game's units


def least_exploitable(tree: GameTree[Any], floor: NDArray[np.float64], choice: Choice) -> Blueprint:
    """Solve the game in which ▲ plays each action at least with probability `floor`, float64[S].

    If `floor` is 0 the result is an equilibrium with the game's value.
    """
    form = SequenceForm(tree)
    sub = subgame_form(form, WHOLE_GAME, form.uniform())
    solved = solve_maxmargin(form, sub, floor, np.zeros(1), choice, lift=False)
    answered = policy_from(form, sub.answers, sub.rows, solved.y[1:], form.uniform())
    policy = policy_from(form, sub.infosets, sub.slots, solved.x, answered)
    return Blueprint(policy, solved.margin)


def values_when_all_is_seen(tree: GameTree[Any]) -> NDArray[np.float64]:
    """Return ▲'s value of each node, float64[N], in the game's units, if both saw everything."""
    values = tree.payoff.copy()
    for node in range(len(values) - 1, -1, -1):
        below = slice(tree.first[node], tree.first[node] + tree.degree[node])
        if tree.player[node] == MAX:
            values[node] = values[below].max()
        elif tree.player[node] == MIN:
            values[node] = values[below].min()
        elif tree.degree[node]:
            values[node] = tree.chance[below] @ values[below]
    return values


def guaranteed(tree: GameTree[Any], policy: NDArray[np.float64]) -> float:
    """Return ▲'s value under `policy`, float64[S], against a best response, u*(x)."""
    return -best_response(tree, strategy_of(tree, policy), MIN)[0]


def gifts_below(
    form: SequenceForm,
    roots: SubgameRoots,
    sub: SubgameForm,
    policy: NDArray[np.float64],
    x: NDArray[np.float64],
    entered: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the gift at each node below the live roots, float64[N]; elsewhere 0.

    Parameters
    ----------
    form, roots, sub : SequenceForm, SubgameRoots, SubgameForm
        The game, and the subgame that was solved last.
    policy : float64[S]
        ▲'s policy, the solution included.
    x : float64[X]
        The solution.
    entered : float64[G]
        What ▼ gave up by entering each group, per unit of its live roots' reach.

    """
    tree = form.tree
    live = roots.node[roots.live]
    below = np.zeros(len(tree.states), np.bool_)
    below[live] = True
    for level in tree.deeper_levels():
        below[level] |= below[tree.parent[level]]
    given = _given_up(form, sub, np.where(below, form.reach(policy), 0.0), x)
    gift = np.zeros(len(tree.states))
    gift[live] = entered[roots.group[roots.live]]
    at_root = np.zeros(len(tree.states), np.bool_)
    at_root[live] = True
    for level in tree.deeper_levels():
        above = tree.parent[level]
        chosen = np.where(tree.player[above] == MIN, given[tree.slot[level]], 0.0)
        gift[level] += np.where(below[level] & ~at_root[level], gift[above] + chosen, 0.0)
    return gift


def _given_up(
    form: SequenceForm, sub: SubgameForm, reach: NDArray[np.float64], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each of ▼'s slots in the subgame gives up, float64[S]; elsewhere 0.

    reach: float64[N], of ▲ and chance, 0 outside of the live roots' subtrees. x: float64[X].
    """
    tree, offsets = form.tree, form.tree.infosets.offsets
    values = row_values(form, sub, x)[sub.groups :]
    degree = offsets[sub.answers + 1] - offsets[sub.answers]
    begins = np.cumsum(degree) - degree
    worse = values - np.repeat(np.minimum.reduceat(values, begins), degree)
    group = np.zeros(sub.groups + len(sub.rows), np.int64)
    group[: sub.groups] = np.arange(sub.groups)
    for begin, count, follows in zip(
        (begins + sub.groups).tolist(), degree.tolist(), sub.follows.tolist(), strict=True
    ):
        group[begin : begin + count] = group[follows]
    moves = np.flatnonzero(tree.infoset != NO_INFOSET)
    arrived = np.bincount(tree.infoset[moves], reach[moves], minlength=len(offsets) - 1)
    arrived = np.repeat(arrived[sub.answers], degree)
    worse *= sub.weight[group[sub.groups :]]
    given = np.zeros(len(form.infoset_of))
    given[sub.rows] = np.divide(worse, arrived, out=np.zeros_like(worse), where=arrived > 0.0)
    return given
