"""Two of our moves beside each other after a search: their values, and where the difference lies."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from obscuro.engine.knowledge import GameError
from obscuro.engine.report import ComparedMove, Comparison, Reason
from obscuro.rules.layout import WORDS
from obscuro.rules.position import to_fen
from obscuro.search.root_values import RootValues

MOST_REASONS = 5
LEAST_PART = 0.02
"""A position is no reason if it adds less than this part of what all of them add."""


def compare(known: RootValues, names: Sequence[str], move: str, other: str | None) -> Comparison:
    """Compare two moves; other: None for the one that the search prefers to all but `move`.

    names: our moves in UCI, in the order of the generator; there are two at least. Raises GameError
    if a move is not among them.
    """
    first = _index(names, move)
    means = known.means()
    second = _preferred(known, means, first) if other is None else _index(names, other)
    return Comparison(
        (
            _compared(known, means, names, first),
            _compared(known, means, names, second),
        ),
        tuple(_reasons(known, first, second)),
    )


def _index(names: Sequence[str], move: str) -> int:
    if move not in names:
        raise GameError(f"{move} was not one of our moves in the last search")
    return names.index(move)


def _preferred(known: RootValues, means: npt.NDArray[np.float64], but: int) -> int:
    """The likeliest move except one; where several are alike, the one of the highest value."""
    order = np.lexsort((means, known.policy))
    return int(order[order != but][-1])


def _compared(
    known: RootValues, means: npt.NDArray[np.float64], names: Sequence[str], index: int
) -> ComparedMove:
    return ComparedMove(
        names[index],
        float(np.clip(means[index], -1.0, 1.0)),
        float(known.policy[index]),
        int(known.nodes[index]),
    )


def _reasons(known: RootValues, first: int, second: int) -> list[Reason]:
    """The positions that speak most for the better of two moves; see `Comparison`.

    Several histories may be one position. It counts once, with the mean of their values.
    """
    positions, members = np.unique(known.states[:, :WORDS], axis=0, return_inverse=True)
    members = members.reshape(-1)
    shares = np.bincount(members, known.weights)
    pair = [
        np.bincount(members, known.weights * known.values[:, index]) for index in (first, second)
    ]
    difference = pair[1] - pair[0]
    if difference.sum() < 0:
        difference = -difference
    order = np.argsort(-difference, kind="stable")[:MOST_REASONS]
    least = LEAST_PART * difference[difference > 0].sum()
    return [
        Reason(
            to_fen(positions[i]),
            float(shares[i]),
            (float(pair[0][i] / shares[i]), float(pair[1][i] / shares[i])),
        )
        for i in order
        if difference[i] > 0 and difference[i] >= least
    ]
