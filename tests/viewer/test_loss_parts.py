"""A loss falls into three parts that add up, and the sentences say what the parts are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.viewer.document import ShownComparison, ShownReason
from obscuro.viewer.loss_parts import LossParts, ShortLook, loss_of, shown_why, split_loss

scores = st.floats(0, 1)


def reason(share: float, played: float, better: float) -> ShownReason:
    placement = "4k3/8/8/8/8/8/8/4K3"
    return ShownReason(
        placement=placement,
        fen=f"{placement} w - -",
        true=False,
        share=share,
        played=played,
        better=better,
    )


def compared(played: float, better: float, *because: ShownReason) -> ShownComparison:
    return ShownComparison(
        played=played,
        played_nodes=9,
        better=better,
        better_nodes=9,
        uci="g1f3",
        san="Nf3",
        because=list(because),
    )


@pytest.mark.parametrize(
    ("lost", "known", "seen", "parts"),
    [
        # Nothing but the true position told it.
        (0.4, 0.0, 0.0, LossParts(0.4, 0.4, 0.0, 0.0)),
        # A short look sees all of it.
        (0.4, 0.4, 0.4, LossParts(0.4, 0.0, 0.0, 0.4)),
        # It sees nothing, or takes the move for the better one.
        (0.4, 0.4, 0.0, LossParts(0.4, 0.0, 0.4, 0.0)),
        (0.4, 0.4, -0.2, LossParts(0.4, 0.0, 0.4, 0.0)),
        # It sees a part, or more than there is.
        (0.5, 0.4, 0.3, LossParts(0.5, 0.1, 0.1, 0.3)),
        (0.5, 0.4, 0.9, LossParts(0.5, 0.1, 0.0, 0.4)),
        # The board was kinder than what was to be feared.
        (0.0, 0.2, 0.2, LossParts(0.0, -0.2, 0.0, 0.2)),
    ],
)
def test_what_the_parts_are(lost: float, known: float, seen: float, parts: LossParts) -> None:
    assert split_loss(lost, known, seen) == pytest.approx(parts)


@given(scores, scores, st.floats(-1, 1))
def test_the_parts_add_up(lost: float, known: float, seen: float) -> None:
    parts = split_loss(lost, known, seen)
    assert parts.lost == pytest.approx(parts.unknowable + parts.unthought + parts.chosen, abs=1e-9)
    assert parts.lost == pytest.approx(lost, abs=1e-4)
    assert parts.unthought >= 0 and parts.chosen >= 0
    assert parts.unthought + parts.chosen == pytest.approx(known, abs=1e-4)


def test_a_move_that_the_engine_prefers_loses_nothing() -> None:
    assert loss_of(compared(0.7, 0.6)) == 0 and loss_of(compared(0.5, 0.75)) == 0.25


def test_the_sentences_name_every_part_with_its_moves_and_positions() -> None:
    known = compared(0.3, 0.6, reason(0.2, 0.1, 0.9), reason(0.05, 0.0, 0.8))
    true: ShownComparison = {**compared(0.1, 0.6), "uci": "e1f1", "san": "Kf1"}
    why = shown_why("Qh5", known, true, ShortLook(0.24, [True, False]))
    assert (why["lost"], why["unknowable"]) == (0.5, 0.2)
    assert why["unthought"] == pytest.approx(0.06) and why["chosen"] == pytest.approx(0.24)
    assert (why["uci"], why["san"], why["held"]) == ("e1f1", "Kf1", [True, False])
    assert why["text"] == [
        "On the board Qh5 lost 50 of 100 points; Kf1 kept them.",
        "Could not know: 20 of them. By all that was seen, the position could have been another one.",
        "Did not think of it: 6. A short look does not see that much; it misses one of the positions "
        "that speak most for Nf3, 5 % of the weight.",
        "Chose badly: 24. Even a short look prefers Nf3.",
    ]


def test_luck_is_called_luck() -> None:
    known = compared(0.3, 0.6, reason(0.2, 0.1, 0.9))
    why = shown_why("Qh5", known, compared(0.5, 0.4), ShortLook(0.3, [True]))
    assert why["text"][0] == "On the board Qh5 lost nothing."
    assert why["text"][1].startswith("Lucky: 30.")
    assert why["unknowable"] == -0.3 and why["chosen"] == 0.3
