"""Proof that a profile solves a trunk's gadget: a lower and an upper bound on the objective.

Both come from the nodes themselves, without reduction and without the linear program.
"""

from __future__ import annotations

import numpy as np

from obscuro.zs21.blueprint import BestAnswers, SolvedTrunk, solved_nodes
from obscuro.zs21.gadget_program import Profile
from obscuro.zs21.trunk import Floats, Trunk, leaves_of
from obscuro.zs21.trunk_game import MAX, MIN


def margins(trunk: Trunk, profile: Profile) -> Floats:
    """Return the margin of each J if ▼ plays a best response to x: float64[G]."""
    solution = SolvedTrunk(trunk, profile, len(trunk))
    answers = BestAnswers(solution, solved_nodes(solution))
    some = np.zeros(trunk.groups, dtype=np.int64)
    some[trunk.nodes.sequence[: trunk.roots, MIN]] = np.arange(trunk.roots)
    return answers.value[answers.place[some]] - trunk.alternate


def cost(trunk: Trunk, x: Floats, price: Floats) -> float:
    """Return what ▲'s actions at the roots cost. price: float64[k]."""
    first = int(trunk.tables[MAX].first[0])
    return float(x[first : first + len(price)] @ price)


def guaranteed(trunk: Trunk, profile: Profile, price: Floats) -> float:
    """Return the objective that x reaches against every y. price: float64[k]."""
    found = margins(trunk, profile)
    least = found.min() if profile.gadget == "maxmargin" else np.minimum(found, 0.0).mean()
    return float(least) - cost(trunk, profile.x, price)


def bound(trunk: Trunk, profile: Profile, price: Floats) -> float:
    """Return the objective that no x exceeds against y. price: float64[k]."""
    nodes, table, y = trunk.nodes, trunk.tables[MAX], profile.y
    leaves = leaves_of(nodes)
    at = nodes.sequence[leaves]
    gain = np.bincount(
        at[:, MAX],
        nodes.weight[leaves] * nodes.value[leaves] * y[at[:, MIN]],
        minlength=table.size,
    ).astype(np.float64)
    if len(price):
        root = slice(int(table.first[0]), int(table.first[0]) + len(price))
        gain[root] = gain[root] - price
    # Infosets were found from the top down.
    for first, degree, parent in zip(
        table.first[::-1].tolist(),
        table.degree[::-1].tolist(),
        table.parent[::-1].tolist(),
        strict=True,
    ):
        gain[parent] += gain[first : first + degree].max()
    return float(gain[0] - y[: trunk.groups] @ trunk.alternate)
