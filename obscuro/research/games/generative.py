"""Generative subgame solving, GS2: a 1-KLSS subgame on a few of ▼'s infosets (`G, Section 4`).

G is Ge et al., *Efficient Subgame Refinement for Extensive-form Games* (2023). A block is a
set of whole ▼-infosets J that touch ▲'s infoset I. GS2 builds the gadget on the block alone, so
nothing holds ▲ to its values at the J's that were left out. There are two ways to make a block of
the wanted size: at random, and such that the alternate values of what is left out are near to
those of what stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import NO_SLOT, GameTree
from obscuro.research.games.root_rules import RootBudget, RootView
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.search.game import MAX, MIN
from obscuro.search.k_centre import k_centres, nearest

_LEAST_SHARE: Final = 1e-6


@dataclass(frozen=True)
class RandomBlock(RootBudget):
    """GS2-R: the ▼-infosets of `size` states of I, drawn without replacement (`G, Eq. 2`).

    The same states are drawn again for the same game, subgame and seed.
    """

    size: int
    seed: int

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which groups stay, bool[G]. here: int64[G], each group's states in I."""
        group_of = np.repeat(np.arange(len(here)), here)
        drawn = _generator(self.seed, view, here).permutation(len(group_of))[: self.size]
        kept = np.zeros(len(here), np.bool_)
        kept[group_of[drawn]] = True
        return kept


@dataclass(frozen=True)
class DiverseBlock(RootBudget):
    """GS2-D: the block whose alternate values are nearest to those left out (`G, Eq. 3`).

    With two players it is the k-centre problem on a line. Of equal values the likeliest J by ▲ and
    chance stays. Where fewer than `size` suffice, those farthest from all others join them.

    With `reweight` a J's margin counts as much as ▲ and chance reach it and the J's that it stands
    for, those left out to whose values its value is nearest. Otherwise all margins count alike.
    With `seed` one of equal values is drawn, again the same for the same game and subgame. With
    `ends` the least and the greatest value stay, and then again and again what is farthest from all
    that do: G's "uniformly distributed in range [min, max]".
    """

    size: int
    reweight: bool = False
    seed: int | None = None
    ends: bool = False

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which groups stay, bool[G]. here: int64[G], each group's states in I."""
        if self.seed is None:
            order = np.argsort(-view.reach, kind="stable")
        else:
            order = _generator(self.seed, view, here).permutation(len(here))
        values = view.alternate[order]
        if self.ends:
            chosen = [int(values.argmin()), int(values.argmax())][: min(self.size, len(values))]
        else:
            chosen = k_centres(values, self.size).tolist()
        chosen += islice(_farthest(values, chosen), self.size - len(chosen))
        kept = np.zeros(len(values), np.bool_)
        kept[order[chosen]] = True
        return kept

    def mass(self, view: RootView, kept: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Return what share of the reach each group that stays stands for, float64[kept].

        kept: bool[G]. A share below a millionth counts as one, for the linear program's sake. None
        without `reweight`.
        """
        if not self.reweight:
            return None
        stays = np.flatnonzero(kept)
        shares = np.bincount(nearest(view.alternate, stays), view.reach, len(kept))[stays]
        found: NDArray[np.float64] = np.maximum(shares / shares.sum(), _LEAST_SHARE)
        return found


def _generator(seed: int, view: RootView, here: NDArray[np.int64]) -> np.random.Generator:
    """Return a generator for one subgame, whose shape is part of the seed.

    Otherwise all draws would be alike. here: int64[G], each group's states in I.
    """
    return np.random.default_rng([seed, int(here.sum()), *view.sub.slots[:8].tolist()])


def _farthest(values: NDArray[np.float64], chosen: list[int]) -> Iterator[int]:
    """Yield the number that is farthest from all that are chosen, again and again."""
    distance = np.abs(values[:, np.newaxis] - values[chosen][np.newaxis, :]).min(axis=1)
    distance[chosen] = -1.0
    while distance.max() >= 0.0:
        found = int(np.argmax(distance))
        yield found
        distance = np.minimum(distance, np.abs(values - values[found]))
        distance[found] = -1.0
        distance[chosen] = -1.0
        chosen = [*chosen, found]


def both_have_acted(tree: GameTree[Any]) -> NDArray[np.bool_]:
    """Return at which infosets each player has acted at least once before, bool[I].

    G's experiments solve from there on, and play the blueprint before.
    """
    form = SequenceForm(tree)
    acted = (form.last[:, MAX] != NO_SLOT) & (form.last[:, MIN] != NO_SLOT)
    found = np.ones(len(tree.infosets.key), np.bool_)
    moves = np.flatnonzero(tree.infoset >= 0)
    np.logical_and.at(found, tree.infoset[moves], acted[moves])
    return found
