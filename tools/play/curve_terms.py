"""What fog adds to pawns: terms that a player would name, fitted to the results of games together.

A term is a count in the view of the side to move, and its weight is in pawns. The curve is
tanh((p + Σ weight · term) / τ).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obscuro.evaluation.scale import TAU
from tools.play.curve_fit import Fit, Floats, Form, Mask, fit, held_out
from tools.play.turn_values import Turns, pawns_of

Terms = dict[str, Floats]
"""Float[turns] by the name of the term."""

_EVEN = 256  # at a |P| of so many positions the terms of P are 0


def fog_terms(turns: Turns) -> Terms:
    """Return the terms that the search could count at a leaf."""
    seen, unseen = turns.seen_attackers > 0, turns.unseen_attackers > 0
    columns = {
        "to be on the move": np.ones(len(turns.game)),
        "each piece or pawn that the enemy does not see": turns.covered,
        "each piece or pawn of the enemy that is not seen": turns.hidden,
        "own king attacked by an unseen piece": unseen,
        "own king attacked, attackers seen": seen & ~unseen,
        "each own rook or queen attacked by an unseen piece": turns.unseen_major,
        "each own knight or bishop attacked by an unseen piece": turns.unseen_minor,
    }
    return {name: column.astype(np.float64) for name, column in columns.items()}


def belief_terms(turns: Turns) -> Terms:
    """Return the terms of both sides' P, which a leaf does not have: doublings of |P|.

    The enemy's P is that of the turn before. What is not known counts as no term.
    """
    own = np.log2(np.where(turns.belief > 0, turns.belief, _EVEN) / _EVEN)
    enemy = np.zeros(len(own))
    follows = np.flatnonzero((np.diff(turns.game) == 0) & (np.diff(turns.ply) == 1)) + 1
    enemy[follows] = own[follows - 1]
    return {"each doubling of its own P": own, "each doubling of the enemy's P": enemy}


def fit_terms(turns: Turns, terms: Terms) -> tuple[Fit, Floats]:
    """Fit τ and all weights; return them, and the loss of each turn [n] on held-out games."""
    table = np.stack([pawns_of(turns.leaf), *terms.values()], axis=1)
    form = _form(list(terms))
    results = turns.result.astype(np.float64)

    def learn(known: Mask) -> _Foretold:
        return _Foretold(fit(form, table[known], results[known], turns.game[known]), table)

    return fit(form, table, results, turns.game), held_out(learn, results, turns.game)


class _Foretold:
    """What a fit foretells of turns."""

    def __init__(self, fitted: Fit, table: Floats) -> None:
        self._fitted = fitted
        self._table = table

    def __call__(self, asked: Mask) -> Floats:
        return self._fitted.curve(self._table[asked])


def _form(names: Sequence[str]) -> Form:
    """Return the form of pawns and terms [n, 1 + k]; its parameters are τ and the weights."""
    return Form(
        "tanh((p + terms) / τ)",
        (TAU, *[0.0] * len(names)),
        (float("inf"),) * (1 + len(names)),
        lambda a, table: np.tanh((table[:, 0] + table[:, 1:] @ a[1:]) / a[0]),
    )
