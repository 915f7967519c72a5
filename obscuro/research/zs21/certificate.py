"""Proof that a profile solves a trunk's gadget: a lower and an upper bound on the objective.

Both come from the nodes themselves, without reduction and without the linear program.
"""

from __future__ import annotations

import numpy as np

from obscuro.research.zs21.blueprint import BestAnswers, SolvedTrunk, solved_nodes
from obscuro.research.zs21.trunk import Floats, leaves_of
from obscuro.research.zs21.trunk_game import MAX, MIN


def margins(solution: SolvedTrunk) -> Floats:
    """Return the margin of each J if ▼ plays a best response to x: float64[G]."""
    trunk = solution.trunk
    answers = BestAnswers(solution, solved_nodes(solution))
    some = np.zeros(trunk.groups, dtype=np.int64)
    some[trunk.nodes.sequence[: trunk.roots, MIN]] = np.arange(trunk.roots)
    return answers.value[answers.place[some]] - trunk.alternate


def guaranteed(solution: SolvedTrunk, price: Floats) -> float:
    """Return the objective that x reaches against every y. price: float64[k]."""
    found, profile = margins(solution), solution.profile
    least = found.min() if profile.gadget == "maxmargin" else np.minimum(found, 0.0).mean()
    first = int(solution.trunk.tables[MAX].first[0])
    return float(least - profile.x[first : first + len(price)] @ price)


def bound(solution: SolvedTrunk, price: Floats) -> float:
    """Return the objective that no x exceeds against y. price: float64[k]."""
    trunk, y = solution.trunk, solution.profile.y
    nodes, table = solved_nodes(solution), trunk.tables[MAX]
    leaves = leaves_of(nodes)
    at = nodes.sequence[leaves]
    gain = np.bincount(
        at[:, MAX],
        nodes.weight[leaves] * nodes.value[leaves] * y[at[:, MIN]],
        minlength=table.size,
    ).astype(np.float64)
    first = table.first
    if len(price):
        root = slice(int(first[0]), int(first[0]) + len(price))
        gain[root] = gain[root] - price
    # Infosets were found from the top down.
    for begin, degree, parent in zip(
        first[::-1].tolist(), table.degree[::-1].tolist(), table.parent[::-1].tolist(), strict=True
    ):
        gain[parent] += gain[begin : begin + degree].max()
    return float(gain[0] - y[: trunk.groups] @ trunk.alternate)
