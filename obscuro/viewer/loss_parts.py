"""Why a move was a mistake: what it lost, in three parts that add up.

All values are scores that the mover expects, in points of a game, [0, 1]. Three searches of one
engine are behind them: a full one by what the mover knew, a short one by the same, and a full one
from the true position as if both sides knew it. With p the move that was played and v(a) the value of
a move in a search,

    lost       = max(0, v(t) - v(p)) in the true position; t is the better move there
    known      = max(0, v(b) - v(p)) in the full search by what the mover knew; b is the better move
    seen       = v(b) - v(p) in the short search
    unknowable = lost - known
    chosen     = seen, but at least 0 and at most known
    unthought  = known - chosen

`unknowable` is below 0 where the true position was kinder than what the mover had to reckon with. A
short search sees less than the full one for two reasons: it does not hold the positions that refute
the move, or it does not look far enough in them. `held` tells which of the full search's reasons
(`Comparison.reasons`) it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from obscuro.viewer.document import ShownComparison, ShownWhy

DIGITS = 4
_POINTS = 100


class LossParts(NamedTuple):
    """The parts of a loss. lost is the sum of the other three."""

    lost: float
    unknowable: float
    unthought: float
    chosen: float

    @property
    def size(self) -> float:
        """Return what the move lost on the board or by what the mover knew, whatever is more."""
        return max(self.lost, self.unthought + self.chosen)


def loss_of(compared: ShownComparison) -> float:
    """Return what the played move loses against the other one; 0 if the engine prefers it."""
    return max(0.0, compared["better"] - compared["played"])


def split_loss(lost: float, known: float, seen: float) -> LossParts:
    """Split a loss; see the module. Parts are rounded such that they still add up."""
    lost, known = round(lost, DIGITS), round(known, DIGITS)
    chosen = round(min(known, max(0.0, seen)), DIGITS)
    return LossParts(lost, round(lost - known, DIGITS), round(known - chosen, DIGITS), chosen)


class ShortLook(NamedTuple):
    """What a short search says of the move that was played.

    seen: how much it loses against the better move of the full search; below 0 if it is better. held:
    for each reason of the full search, whether the short one weighed the position.
    """

    seen: float
    held: list[bool]


def shown_why(
    played: str, known: ShownComparison, true: ShownComparison, short: ShortLook
) -> ShownWhy:
    """Describe why a move was a mistake.

    played: the move in SAN. known, true: the comparisons by what the mover knew and in the true
    position. short: by what it knew, after a short search.
    """
    parts = split_loss(loss_of(true), loss_of(known), short.seen)
    return ShownWhy(
        lost=parts.lost,
        unknowable=parts.unknowable,
        unthought=parts.unthought,
        chosen=parts.chosen,
        uci=true["uci"],
        san=true["san"],
        held=list(short.held),
        text=_sentences(played, parts, known, true, short.held),
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
            f"Could not know: {unknowable} of them. By all that was seen, the position could have been "
            "another one."
        )
    elif unknowable < 0:
        sentences.append(
            f"Lucky: {-unknowable}. Of the positions that were possible, others punish {played} more."
        )
    if unthought > 0:
        sentence = f"Did not think of it: {unthought}. A short look does not see that much"
        missed = [each for each, here in zip(known["because"], held, strict=True) if not here]
        if missed:
            which = (
                "one of the positions" if len(missed) == 1 else f"{len(missed)} of the positions"
            )
            share = _percent(sum(each["share"] for each in missed))
            sentence += (
                f"; it misses {which} that speak most for {known['san']}, {share} of the weight"
            )
        sentences.append(f"{sentence}.")
    if chosen > 0:
        sentences.append(f"Chose badly: {chosen}. Even a short look prefers {known['san']}.")
    return sentences


def _percent(share: float) -> str:
    return "less than 1 %" if share < 0.01 else f"{share:.0%}".replace("%", " %")
