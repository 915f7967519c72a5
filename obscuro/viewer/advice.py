"""What an engine said of one position, in the form of the page's document."""

from __future__ import annotations

from typing import NamedTuple

import chess

from obscuro.client.move_report import Policy, Report
from obscuro.engine.report import Comparison, Coverage, Reason
from obscuro.matches.pgn import CENTIPAWNS
from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.document import (
    ShownAdvice,
    ShownComparison,
    ShownCoverage,
    ShownOption,
    ShownReason,
)

SHARE_DIGITS, SCORE_DIGITS = 4, 4


class Consultation(NamedTuple):
    """An engine's search for the side to move, and what it answered to questions about it.

    move: the one it chose, in UCI. coverage: of the true position. comparison: of the move that was
    played and another one, in this order. None: there is no answer.
    """

    by: str
    move: str
    report: Report
    seconds: float
    coverage: Coverage | None = None
    comparison: Comparison | None = None


def shown_advice(board: FogOfWarBoard, asked: Consultation) -> ShownAdvice:
    """Describe what an engine said. board: the position; the engine has its side to move.

    Raises ValueError if the engine chose what is no legal move.
    """
    report = asked.report
    move = board.parse_uci(asked.move)
    pawns = None if report.centipawns is None else report.centipawns / CENTIPAWNS
    return ShownAdvice(
        by=asked.by,
        uci=move.uci(),
        san=board.san(move),
        pawns=-pawns if pawns is not None and board.turn == chess.BLACK else pawns,
        policy=shown_options(board, report.policy),
        belief=report.belief,
        belief_exact=report.exact,
        coverage=shown_coverage(asked.coverage),
        seconds=round(asked.seconds, 3),
        nodes=None if report.nodes is None else round(report.nodes),
        depth=report.depth,
        comparison=shown_comparison(board, asked.comparison),
        why=None,
    )


def shown_options(board: FogOfWarBoard, policy: Policy) -> list[ShownOption]:
    """Return a policy, largest share first; what is no legal move in it, or no share, is left out.

    board: the position that the policy is for.
    """
    options = []
    for uci, share in policy:
        try:
            move = board.parse_uci(uci)
        except ValueError:
            continue
        if move and 0.0 < share <= 1.0:
            options.append(
                ShownOption(uci=move.uci(), san=board.san(move), share=round(share, SHARE_DIGITS))
            )
    return sorted(options, key=lambda option: -option["share"])


def shown_coverage(coverage: Coverage | None) -> ShownCoverage | None:
    """Describe what a search knew of the true position; None if it was not told."""
    if coverage is None:
        return None
    return ShownCoverage(
        belief=coverage.in_belief,
        infoset=coverage.in_infoset,
        expanded=coverage.expanded,
        weight=coverage.weight,
    )


def shown_comparison(board: FogOfWarBoard, comparison: Comparison | None) -> ShownComparison | None:
    """Describe the move that was played beside another one, in the scores of the mover.

    board: the position before the move. Raises ValueError if the other move is not legal in it.
    """
    if comparison is None:
        return None
    played, better = comparison.moves
    move = board.parse_uci(better.move)
    return ShownComparison(
        played=score(played.value),
        played_nodes=played.nodes,
        better=score(better.value),
        better_nodes=better.nodes,
        uci=move.uci(),
        san=board.san(move),
        because=[_shown_reason(board, reason) for reason in comparison.reasons],
    )


def _shown_reason(board: FogOfWarBoard, reason: Reason) -> ShownReason:
    placement = reason.fen.split()[0]
    return ShownReason(
        placement=placement,
        fen=reason.fen,
        true=placement == board.board_fen(),
        share=round(reason.share, SHARE_DIGITS),
        played=score(reason.values[0]),
        better=score(reason.values[1]),
    )


def score(value: float) -> float:
    """Turn a value in [-1, 1] into the expected score, in [0, 1]."""
    return round((1.0 + value) / 2.0, SCORE_DIGITS)
