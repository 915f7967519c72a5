"""Why a move was a mistake: what it lost, in three parts that add up.

All values are scores that the mover expects, in points of a game, [0, 1]. Three searches of one
engine are behind them: one by what the mover knew, a short one by the same, and one from the true
position as if both sides knew it. With v the value of the better move and w that of the played one,

    lost       = max(0, v - w) in the true position
    known      = max(0, v - w) by what the mover knew
    unknowable = lost - known
    unthought  = known * (sum of d_h over the positions h that the short search does not hold)
                       / (sum of d_h over all of them)
    chosen     = known - unthought

The positions h are the reasons of the full search (`Comparison.reasons`): those that speak most for
the better move. d_h is how much h adds to the difference: its share of the weight, times v - w in it.
`unknowable` is below 0 where the true position was kinder than what the mover had to reckon with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from obscuro.viewer.document import ShownComparison, ShownReason, ShownWhy

DIGITS = 4
_POINTS = 100


class LossParts(NamedTuple):
    """The parts of a loss. lost is the sum of the other three."""

    lost: float
    unknowable: float
    unthought: float
    chosen: float


def loss_of(compared: ShownComparison) -> float:
    """Return what the played move loses against the other one; 0 if the engine prefers it."""
    return max(0.0, compared["better"] - compared["played"])


def split_loss(lost: float, known: float, reasons: Sequence[tuple[float, bool]]) -> LossParts:
    """Split a loss; see the module.

    reasons: for each position its d_h, above 0, and whether the short search held it. Parts are
    rounded such that they still add up.
    """
    total = sum(difference for difference, _ in reasons)
    missed = sum(difference for difference, held in reasons if not held)
    lost, known = round(lost, DIGITS), round(known, DIGITS)
    unthought = round(known * missed / total, DIGITS) if total > 0 else 0.0
    return LossParts(lost, round(lost - known, DIGITS), unthought, round(known - unthought, DIGITS))


def difference(reason: ShownReason) -> float:
    """Return d_h of a position: how much it adds to what the played move loses."""
    return reason["share"] * (reason["better"] - reason["played"])


def shown_why(
    played: str, known: ShownComparison, true: ShownComparison, held: Sequence[bool]
) -> ShownWhy:
    """Describe why a move was a mistake.

    played: the move in SAN. known, true: the comparisons by what the mover knew and in the true
    position. held: for each reason of `known`, whether the short search held the position.
    """
    reasons = known["because"]
    loss = loss_of(known)
    weighed = [(difference(each), here) for each, here in zip(reasons, held, strict=True)]
    parts = split_loss(loss_of(true), loss, weighed if loss else [])
    return ShownWhy(
        lost=parts.lost,
        unknowable=parts.unknowable,
        unthought=parts.unthought,
        chosen=parts.chosen,
        uci=true["uci"],
        san=true["san"],
        held=list(held),
        text=_sentences(played, parts, known, true, held),
    )


def _sentences(
    played: str,
    parts: LossParts,
    known: ShownComparison,
    true: ShownComparison,
    held: Sequence[bool],
) -> list[str]:
    """Say the parts in words; one that rounds to no point of 100 is left out."""
    lost, unknowable, unthought, chosen = (round(_POINTS * part) for part in parts)
    if lost > 0:
        sentences = [f"On the board {played} lost {lost} of 100 points; {true['san']} kept them."]
    else:
        sentences = [f"On the board {played} lost nothing."]
    if unknowable > 0:
        sentences.append(
            f"You could not know {unknowable} of them: by all that you saw, the position could have "
            "been another one."
        )
    elif unknowable < 0:
        sentences.append(
            f"You were lucky by {-unknowable}: of the positions that were possible, others punish "
            f"{played} more."
        )
    if unthought > 0:
        missed = [each for each, here in zip(known["because"], held, strict=True) if not here]
        share = sum(each["share"] for each in missed)
        positions = (
            "a position that was" if len(missed) == 1 else f"{len(missed)} positions that were"
        )
        sentences.append(
            f"You did not think of {unthought}: {positions} possible, with {_percent(share)} of the "
            f"weight, and that a short look does not find, {'speaks' if len(missed) == 1 else 'speak'} "
            f"for {known['san']}."
        )
    if chosen > 0:
        sentences.append(
            f"You chose badly by {chosen}: {known['san']} was better in positions that even a short "
            "look finds."
        )
    return sentences


def _percent(share: float) -> str:
    return "less than 1 %" if share < 0.01 else f"{share:.0%}".replace("%", " %")
