"""Folding, and what it leaves."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.zs21 import gadget_program
from obscuro.research.zs21.gadget_program import (
    OPEN,
    GadgetProgram,
    Reduction,
    entries_of,
    reduce_trunk,
    summed,
)
from obscuro.research.zs21.trunk import MAX, MIN, Trunk

from ..games.conftest import tree_of
from .small_games import random_trunk, whole_game

GAMES = ("kuhn", "goofspiel_increasing", "matching_pennies")
every_game = pytest.mark.parametrize("name", GAMES)


def unfolded(trunk: Trunk) -> Reduction:
    """The trunk with all infosets open."""
    open_ = [np.full(len(table), OPEN) for table in trunk.tables]
    return Reduction(summed(entries_of(trunk), trunk.tables[MIN].size), (open_[0], open_[1]))


@pytest.mark.parametrize("seed", range(4))
def test_folding_changes_no_value(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trunk, _ = random_trunk(seed)
    folded = GadgetProgram(trunk, np.zeros(0))
    monkeypatch.setattr(gadget_program, "reduce_trunk", unfolded)
    whole = GadgetProgram(trunk, np.zeros(0))
    value = whole.solve("maxmargin").value
    assert folded.solve("maxmargin").value == pytest.approx(value, abs=1e-9)
    assert folded.size.entries < whole.size.entries


@every_game
def test_open_infosets_can_not_be_folded(name: str) -> None:
    trunk = whole_game(tree_of(name))
    reduction = reduce_trunk(trunk)
    for player in (MAX, MIN):
        table, choice = trunk.tables[player], reduction.choice[player]
        infoset_of = table.infoset_of()
        followed = set(table.parent[choice == OPEN].tolist())
        for infoset in np.flatnonzero(choice == OPEN).tolist():
            if player == MAX and table.depth[infoset] == 0:
                continue
            own = infoset_of[reduction.entries.sequence[player]] == infoset
            others = set(reduction.entries.sequence[1 - player][own].tolist())
            slots = np.flatnonzero(infoset_of == infoset).tolist()
            assert len(others) > 1 or followed & set(slots)


@every_game
def test_nothing_is_left_of_folded_infosets(name: str) -> None:
    trunk = whole_game(tree_of(name))
    reduction = reduce_trunk(trunk)
    for player in (MAX, MIN):
        infoset_of = trunk.tables[player].infoset_of()
        at = infoset_of[reduction.entries.sequence[player]]
        assert (reduction.choice[player][at[at >= 0]] == OPEN).all()
