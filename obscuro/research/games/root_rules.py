"""What the root of a subgame may be: a gadget, a prior over ▼'s infosets, alternate values.

Obscuro has one such root in its search (`search/gadget`). Here each part can be exchanged, and the
subgame is solved exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import GameTree, join_ranges
from obscuro.research.games.sequence_form import (
    SequenceForm,
    SubgameForm,
    SubgameRoots,
    answer_values,
)
from obscuro.research.games.subgame_program import Choice, Tie, solve_maxmargin, solve_soft
from obscuro.search.game import MAX, MIN


class RootView(NamedTuple):
    """What is known of a subgame's G groups before it is solved. Values are ▲'s, of each group."""

    form: SequenceForm
    sub: SubgameForm
    roots: SubgameRoots
    played: NDArray[np.float64]  # [G] ▼'s probability of playing there, y(J)
    alternate: NDArray[np.float64]  # [G] if ▼ responds best to ▲'s strategy so far
    look: NDArray[np.float64]  # [G] if from there on both players saw everything
    gift: NDArray[np.float64]  # [G] what ▼ gave up on the way, per unit of the live roots' reach
    last: NDArray[np.float64]  # [X] ▲'s strategy so far
    mass: NDArray[np.float64] | None = None  # [G] how much Maxmargin counts each; None: all alike

    @property
    def reach(self) -> NDArray[np.float64]:
        """The reach of the live roots of each group by ▲ and chance, float64[G]."""
        return self.sub.weight * self.sub.alive


# -- priors -------------------------------------------------------------------------------------


class Prior(Protocol):
    """A distribution over the groups, α."""

    def __call__(self, view: RootView) -> NDArray[np.float64]:
        """Return α, float64[G], which sums to 1."""
        ...


def even_prior(view: RootView) -> NDArray[np.float64]:
    """Return the same probability for each group, float64[G]."""
    return np.full(view.sub.groups, 1.0 / view.sub.groups)


def mixed_prior(view: RootView) -> NDArray[np.float64]:
    """Return ½ (y(J) / Σ y + 1 / G), float64[G]; 1 / G if ▼ plays to no group (`Obscuro, C.3`)."""
    even = even_prior(view)
    total = view.played.sum()
    return 0.5 * (view.played / total + even) if total > 0.0 else even


def belief_prior(view: RootView) -> NDArray[np.float64]:
    """Return how likely each group is if ▼ plays y: y(J) times the reach of ▲ and chance.

    Returns float64[G]. If ▼ plays to no group, the reach alone counts.
    """
    weight = view.played * view.reach
    weight = weight if weight.sum() > 0.0 else view.reach
    share: NDArray[np.float64] = weight / weight.sum()
    return share


@dataclass(frozen=True)
class ValuePrior:
    """A prior that takes a group for likelier the less it is worth to ▲: exp(−value / T)."""

    temperature: float  # T, for payoffs in [-1, 1]

    def __call__(self, view: RootView) -> NDArray[np.float64]:
        """Return α, float64[G], from ▲'s values under its strategy so far."""
        exponent = -view.alternate * view.form.tree.game.scale / self.temperature
        weight = np.exp(exponent - exponent.max())
        share: NDArray[np.float64] = weight / weight.sum()
        return share


# -- alternate values ---------------------------------------------------------------------------

Alternates = Literal["blueprint", "capped", "look"]
"""What ▼ may leave for.

"blueprint" is what ▲'s strategy so far guarantees at J. "capped" is no more than the mean of these
over the belief, v*. "look" is Obscuro's min{ṽ, v*} for new J, where ṽ sees everything.
"""


def alternate_values(
    view: RootView, alternates: Alternates, reach: bool = False
) -> NDArray[np.float64]:
    """Return the alternate value of each group, float64[G], in the game's units.

    reach: whether ▲ may give back what ▼ gave up on the way, as in Reach subgame solving.
    """
    values = view.alternate
    if alternates != "blueprint":
        least = float(belief_prior(view) @ view.alternate)
        values = np.minimum(view.look if alternates == "look" else values, least)
    if reach:
        values = values - view.gift * view.sub.alive
    return values


def margins(
    view: RootView, x: NDArray[np.float64], alternate: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return each group's margin under x, float64[G], per unit of its live roots' reach.

    x: float64[X]. alternate: float64[G], as `alternate_values` returns it.
    """
    found: NDArray[np.float64] = (
        answer_values(view.form, view.sub, x) - alternate
    ) / view.sub.alive
    return found


# -- gadgets ------------------------------------------------------------------------------------


class RootRule(Protocol):
    """A gadget with its prior and its alternate values."""

    @property
    def reach(self) -> bool:
        """Whether ▲ may give back what ▼ gave up on the way to the root."""

    def solve(self, view: RootView, floor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ▲'s strategy in the subgame, x, float64[X]. floor: float64[S]."""
        ...

    def spare(self, view: RootView, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what ▼ gives up by entering each group, if ▲ plays x, float64[X].

        Returns float64[G], not negative, per unit of the live roots' reach.
        """
        ...


@dataclass(frozen=True)
class MaxmarginRoot:
    """▼ picks a group, the one with the least margin.

    safe: whether no strategy of ▼ may get ▲ less than under its strategy so far, as in safe KLSS
    (`Obscuro, C.6.5`). It is asked below each group by itself.
    """

    choice: Choice
    alternates: Alternates = "blueprint"
    reach: bool = False
    safe: bool = False

    def solve(self, view: RootView, floor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ▲'s strategy in the subgame, x, float64[X]. floor: float64[S]."""
        alternate = alternate_values(view, self.alternates, self.reach)
        played = view.last if self.safe else None
        return solve_maxmargin(
            *(view.form, view.sub, floor, alternate, self.choice), mass=view.mass, played=played
        ).x

    def spare(self, view: RootView, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much each margin under x exceeds the least one, float64[G]."""
        found = margins(view, x, alternate_values(view, self.alternates, self.reach))
        spared: NDArray[np.float64] = found - found.min()
        return spared


@dataclass(frozen=True)
class SoftRoot:
    """A prior picks the group, and ▼ may leave it with probability 1 − ε; ε = 0 is Resolve."""

    epsilon: float
    prior: Prior = mixed_prior
    tie: Tie = "margins"
    alternates: Alternates = "blueprint"
    reach: bool = False

    def solve(self, view: RootView, floor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ▲'s strategy in the subgame, x, float64[X]. floor: float64[S]."""
        alternate = alternate_values(view, self.alternates, self.reach)
        prior = self.prior(view)
        return solve_soft(view.form, view.sub, floor, alternate, prior, self.epsilon, self.tie)

    def spare(self, view: RootView, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each margin under x that exceeds 0, for which ▼ could have left; float64[G]."""
        found = margins(view, x, alternate_values(view, self.alternates, self.reach))
        return np.maximum(found, 0.0)


# -- the budget ---------------------------------------------------------------------------------


class RootBudget(Protocol):
    """Which groups enter the subgame; nothing holds ▲ to its values in the others."""

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which groups stay, bool[G], one at least.

        here: int64[G], how many roots of each group are nodes of ▲'s infoset.
        """
        ...

    def mass(self, view: RootView, kept: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Return how much the margin of each group that stays counts, float64[kept].

        kept: bool[G]. None, unless a budget says otherwise: all count alike.
        """
        return None


@dataclass(frozen=True)
class LikeliestGroups(RootBudget):
    """Keep the likeliest groups."""

    most: int | None  # None: half of them, rounded up

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which groups stay, bool[G].

        Those that touch ▲'s infoset come first (here: int64[G]). Of these the likeliest come
        first, by α of the paper times the reach of ▲ and chance.
        """
        count = (view.sub.groups + 1) // 2 if self.most is None else self.most
        likely = mixed_prior(view) * view.reach
        order = np.lexsort((np.arange(len(likely)), -likely, here == 0))
        kept = np.zeros(view.sub.groups, np.bool_)
        kept[order[:count]] = True
        return kept


def future_of(tree: GameTree[Any], node: int) -> bytes:
    """Return a description of what may follow a node, equal for transpositions of an infoset of ▲.

    Two nodes of one ▲-infoset are transpositions if the same sequences of actions lead from both to
    the same movers, chances and payoffs, to the same ▲-infosets, and if ▼ can tell the same
    sequences apart below both. What ▼ observes may have other names below the one than below the
    other: K's definition asks for equal observations, but equal names say nothing more to ▼.
    """
    level = np.array([node])
    parts: list[bytes] = []
    while len(level):
        _, first, told = np.unique(tree.keys[level, MIN], return_index=True, return_inverse=True)
        parts += [
            tree.player[level].tobytes(),
            tree.degree[level].tobytes(),
            tree.action[level].tobytes() if parts else b"",
            tree.chance[level].tobytes() if parts else b"",
            tree.payoff[level].tobytes(),
            tree.keys[level, MAX].tobytes(),
            first[told].tobytes(),  # each node's first fellow in its ▼-infoset
        ]
        level = join_ranges(tree.first[level], tree.degree[level])
    return b"|".join(parts)


def transpositions(tree: GameTree[Any], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the futures of the nodes of an infoset of ▲, int64[n]; equal numbers may be merged.

    nodes: int64[n].
    """
    numbers: dict[bytes, int] = {}
    found = [numbers.setdefault(future_of(tree, node), len(numbers)) for node in nodes.tolist()]
    return np.array(found, np.int64)


@dataclass(frozen=True)
class MergedTranspositions(RootBudget):
    """Keep one ▼-infoset for each future that ▲'s infoset has (`K, Algorithm 12`).

    Of several with the same future one is drawn, and the same one again for the same game, subgame
    and seed. It is a budget of the root for 1-KLSS; with other orders `kept` raises ValueError.
    """

    seed: int

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which groups stay, bool[G]. here: int64[G], each group's nodes in ▲'s infoset."""
        roots = view.roots
        if np.any(here != 1) or np.count_nonzero(roots.live) != len(here):
            raise ValueError("transpositions can be merged in 1-KLSS only")
        live = np.flatnonzero(roots.live)
        nodes = roots.node[live][np.argsort(roots.group[live])]
        words = [self.seed, *nodes.tolist()]
        order = np.random.default_rng(words).permutation(len(nodes))
        _, first = np.unique(transpositions(view.form.tree, nodes[order]), return_index=True)
        kept = np.zeros(len(nodes), np.bool_)
        kept[order[first]] = True
        return kept
