"""One turn of ZS21: build the trunk, then solve and expand it by turns (K, Sec. 5 and Alg. 15)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from obscuro.research.zs21.blueprint import SolvedTrunk
from obscuro.research.zs21.gadget_program import (
    GadgetProgram,
    LateError,
    Profile,
    Size,
    SolverError,
)
from obscuro.research.zs21.trunk import LEAF, MAX, MIN, Floats, Integers, Trunk
from obscuro.research.zs21.zs21_constants import (
    CHUNK,
    LEAST_BUILDS,
    MOST_NODES,
    ROUND_PACE,
    ROUND_SHARE,
    SOLVING_TIME,
    SUPPORT,
)

Deepen = Callable[[float, Callable[[], bool]], int]


class TurnResult(NamedTuple):
    """What a turn's search found so far."""

    policy: Floats  # [k] over our actions, sums to 1
    value: float  # ▲'s value where ▼ plays to, [-1, 1]
    solution: SolvedTrunk | None
    rounds: int  # solutions of the growing trunk
    programs: int  # linear programs solved
    size: Size | None  # of the last one
    expansions: int


class Round(NamedTuple):
    """What one round expanded, for tests and tools."""

    profile: Profile  # the solution that it follows
    size: int  # nodes in the trunk before it
    depth: int  # the round's limit of depth
    leaves: Integers  # [B] the leaves expanded


class TurnSearch:
    """Solves and expands a trunk until the time is over.

    trunk: its roots are expanded. price: float64[k], what each of our actions costs. deepen: if it
    is there, the trunk does not grow: this makes its values better instead, until a second of
    `time.monotonic`, or until stopped. It returns the number of values made better, 0 if the time
    was too short for all of them, which then stay as they were.

    rounds: those that expanded something. seconds: spent in each step so far. failure: why HiGHS
    failed, if it did; the result then is that of the round before.
    """

    def __init__(self, trunk: Trunk, price: Floats, deepen: Deepen | None = None) -> None:
        self.trunk = trunk
        self._deepen = deepen
        self._deepened = 0
        self.failure: str | None = None
        self.rounds: list[Round] = []
        self.seconds = dict.fromkeys(("build", "solve", "choose", "expand", "deepen"), 0.0)
        self._price = price
        self._building = 0.0  # seconds that the last program took to build
        self._resolve = False
        self._planted = len(trunk)
        self._result = TurnResult(_plain_policy(trunk), 0.0, None, 0, 0, None, 0)

    @property
    def result(self) -> TurnResult:
        """What has been found so far."""
        return self._result

    @property
    def added(self) -> int:
        """The nodes that this search has added, or whose values it has made better."""
        return len(self.trunk) - self._planted + self._deepened

    def run(
        self,
        deadline: float | None,
        is_stopped: Callable[[], bool],
        nodes: int | None = None,
        report: Callable[[TurnResult], None] | None = None,
    ) -> TurnResult:
        """Search until a second of `time.monotonic`, until stopped, or until `nodes` are added.

        Ends early if nothing is left to expand. report: called after each round.
        """
        most = MOST_NODES - self._planted
        limit = most if nodes is None else min(nodes, most)
        depth = 1
        while True:
            begin = time.monotonic()
            try:
                profile = self._solve(deadline)
            except LateError:
                return self._result
            except SolverError as error:
                self.failure = str(error)
                return self._result
            solving = time.monotonic() - begin
            if report is not None:
                report(self._result)
            left = np.inf if deadline is None else deadline - time.monotonic()
            if left < LEAST_BUILDS * self._building or is_stopped() or self.added >= limit:
                return self._result
            room = left - SOLVING_TIME * solving
            if self._deepen is not None:
                begin = time.monotonic()
                deeper = self._deepen(begin + room, is_stopped)
                self.seconds["deepen"] += time.monotonic() - begin
                if not deeper:
                    return self._result
                self._deepened += deeper
                continue
            leaves, depth = self._choose(profile, depth)
            if not len(leaves):
                return self._result
            size = len(self.trunk)
            room = left - SOLVING_TIME * solving
            end = time.monotonic() + min(room, max(ROUND_SHARE * left, ROUND_PACE * solving))

            def is_late(end: float = end) -> bool:
                return is_stopped() or time.monotonic() >= end

            done = self._expand(leaves, limit, is_late)
            self.rounds.append(Round(profile, size, depth, leaves[:done]))
            depth += 1

    def _choose(self, profile: Profile, depth: int) -> tuple[Integers, int]:
        """Return the leaves to expand, and the limit of depth: the next one that holds any."""
        begin = time.monotonic()
        leaves = leaves_to_expand(self.trunk, profile, depth)
        deepest = int(self.trunk.nodes.depth.max())
        while not len(leaves) and depth < deepest:
            depth += 1
            leaves = leaves_to_expand(self.trunk, profile, depth)
        self.seconds["choose"] += time.monotonic() - begin
        return leaves, depth

    def _expand(self, leaves: Integers, limit: int, is_late: Callable[[], bool]) -> int:
        """Expand leaves until it is late or `limit` nodes are added; return how many."""
        start, done = time.monotonic(), 0
        while done < len(leaves):
            chunk = leaves[done : done + CHUNK]
            self.trunk.expand(chunk)
            done += len(chunk)
            if self.added >= limit or is_late():
                break
        self._result = self._result._replace(expansions=self._result.expansions + done)
        self.seconds["expand"] += time.monotonic() - start
        return done

    def _solve(self, deadline: float | None) -> Profile:
        """Solve the trunk by the gadget that fits (K, Alg. 15, 23-29). Raises LateError."""
        begin = time.monotonic()
        last = self._result.solution
        guess = None if last is None else last.profile.x
        program = GadgetProgram(self.trunk, self._price, guess)
        built = time.monotonic()
        self._building = built - begin
        self.seconds["build"] += self._building
        profile = program.solve("resolve" if self._resolve else "maxmargin", deadline)
        solved = 1
        negative = profile.margin < -SUPPORT
        if negative != self._resolve:
            self._resolve = negative
            profile = program.solve("resolve" if negative else "maxmargin", deadline)
            solved = 2
        self.seconds["solve"] += time.monotonic() - built
        table, old = self.trunk.tables[MAX], self._result
        first, width = int(table.first[0]), int(table.degree[0])
        self._result = TurnResult(
            profile.x[first : first + width],
            _value(self.trunk, profile),
            SolvedTrunk(self.trunk, profile, len(self.trunk)),
            old.rounds + 1,
            old.programs + solved,
            program.size,
            old.expansions,
        )
        return profile


def _plain_policy(trunk: Trunk) -> Floats:
    """Return the policy without a solution: the best action by the mean of its values."""
    nodes = trunk.nodes
    roots = np.arange(trunk.roots)
    roots = roots[nodes.live[roots] & (nodes.first[roots] != LEAF)]
    width = int(nodes.degree[roots[0]])
    means = nodes.value[nodes.first[roots][:, np.newaxis] + np.arange(width)].mean(axis=0)
    policy = np.zeros(width)
    policy[int(np.argmax(means))] = 1.0
    return policy


def _value(trunk: Trunk, profile: Profile) -> float:
    """Return ▲'s value where ▼ enters; if it never does, the mean of the alternate values."""
    nodes = trunk.nodes
    x, y = profile.x, profile.y
    roots = np.flatnonzero(nodes.live[: trunk.roots])
    total = float((nodes.weight[roots] * y[nodes.sequence[roots, MIN]]).sum())
    if total <= 0.0:
        return float(trunk.alternate.mean())
    leaves = np.flatnonzero((nodes.first == LEAF) & nodes.live)
    at = nodes.sequence[leaves]
    reach = nodes.weight[leaves] * x[at[:, MAX]] * y[at[:, MIN]]
    return float((reach * nodes.value[leaves]).sum() / total)


def leaves_to_expand(trunk: Trunk, profile: Profile, depth: int) -> Integers:
    """Return the leaves that a round expands, int64[B], the most promising first.

    A leaf qualifies if it is not terminal, at least one player plays to it, and it lies at most at
    `depth`, or both players play to it. Where both play to its parent all such children are
    expanded, elsewhere the most interesting one: forcing moves first, then by the mover's value.
    """
    nodes = trunk.nodes
    leaves = np.flatnonzero(
        (nodes.first == LEAF) & ~nodes.terminal & nodes.live & (nodes.parent >= 0)
    )
    x = profile.x[nodes.sequence[:, MAX]] > 0.0
    y = profile.y[nodes.sequence[:, MIN]] > 0.0
    both = x & y
    parent = nodes.parent[leaves]
    open_ = (x[leaves] | y[leaves]) & (both[leaves] | (nodes.depth[leaves] <= depth))
    leaves, parent = leaves[open_], parent[open_]
    value = nodes.value[leaves]
    value = np.where(nodes.player[parent] == MAX, value, -value)
    # By parent, forcing moves first, then the best for the mover.
    order = np.lexsort((-value, ~nodes.forcing[leaves], parent))
    leaves, parent = leaves[order], parent[order]
    first = np.ones(len(leaves), dtype=np.bool_)
    first[1:] = parent[1:] != parent[:-1]
    chosen = both[parent] | first
    leaves, first = leaves[chosen], first[chosen]
    return leaves[np.lexsort((~first, ~both[leaves]))]
