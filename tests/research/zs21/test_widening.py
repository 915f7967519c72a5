"""Which leaves a round expands, against a reading of the rules node by node."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.zs21 import turn_search
from obscuro.research.zs21.gadget_program import Gadget, GadgetProgram, LateError, Profile
from obscuro.research.zs21.trunk import LEAF, MAX, MIN, Trunk
from obscuro.research.zs21.turn_search import Round, TurnSearch, leaves_to_expand
from tools.proofs.zs21_agent import broken_in_round

from .small_games import random_trunk


def allowed(trunk: Trunk, profile: Profile, depth: int) -> set[int]:
    """All leaves that the rules tell a round to expand, one of equally interesting ones aside."""
    nodes = trunk.nodes
    found = set()
    for parent in np.flatnonzero(nodes.first != LEAF).tolist():
        children = range(nodes.first[parent], nodes.first[parent] + nodes.degree[parent])
        x = {n: profile.x[nodes.sequence[n, MAX]] > 0 for n in (parent, *children)}
        y = {n: profile.y[nodes.sequence[n, MIN]] > 0 for n in (parent, *children)}
        open_ = [
            n
            for n in children
            if nodes.first[n] == LEAF
            and nodes.live[n]
            and not nodes.terminal[n]
            and (x[n] or y[n])
            and (nodes.depth[n] <= depth or (x[n] and y[n]))
        ]
        if x[parent] and y[parent]:
            found |= set(open_)
        elif open_:
            sign = 1.0 if nodes.player[parent] == MAX else -1.0
            found.add(max(open_, key=lambda n: (nodes.forcing[n], sign * nodes.value[n])))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_a_round_expands_what_the_rules_name(seed: int) -> None:
    trunk, profile = random_trunk(seed)
    for depth in (1, 3, 5):
        chosen = leaves_to_expand(trunk, profile, depth)
        assert len(set(chosen.tolist())) == len(chosen)
        assert set(chosen.tolist()) == allowed(trunk, profile, depth)
        done = Round(profile, len(trunk), depth, chosen)
        assert broken_in_round(trunk, done) == []


def test_what_both_play_to_comes_first() -> None:
    trunk, profile = random_trunk(3)
    chosen = leaves_to_expand(trunk, profile, 5)
    at = trunk.nodes.sequence[chosen]
    both = (profile.x[at[:, MAX]] > 0) & (profile.y[at[:, MIN]] > 0)
    assert 0 < both.sum() < len(both)
    assert both[: both.sum()].all()


def test_the_proof_finds_a_leaf_that_no_rule_names() -> None:
    trunk, profile = random_trunk(5)
    nodes = trunk.nodes
    leaves = np.flatnonzero((nodes.first == LEAF) & (nodes.parent >= 0))
    wrong = np.setdiff1d(leaves, sorted(allowed(trunk, profile, 4)))
    broken = broken_in_round(trunk, Round(profile, len(trunk), 4, wrong))
    # Of equally interesting leaves the proof takes any; forcing and value tie nowhere here.
    assert len(broken) == len(wrong) > 0


class Clock:
    """Time that passes only in programs, a second in each."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_a_turn_goes_on_until_a_program_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    solve = GadgetProgram.solve

    def slowly(self: GadgetProgram, gadget: Gadget, deadline: float | None = None) -> Profile:
        clock.now += 1.0
        if deadline is not None and clock.now > deadline:
            raise LateError
        return solve(self, gadget)

    monkeypatch.setattr(turn_search, "time", clock)
    monkeypatch.setattr(GadgetProgram, "solve", slowly)
    trunk, _ = random_trunk(3)
    width = int(trunk.tables[MAX].degree[0])
    search = TurnSearch(trunk, np.zeros(width))
    result = search.run(4.3, lambda: False)
    assert clock.now == 5.0  # the last program was late
    assert result.programs == 4
