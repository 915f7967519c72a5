"""What the comment on a move tells of the mover's choice, from whichever program wrote it."""

from __future__ import annotations

import re
from typing import NamedTuple

import chess.pgn

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage
from obscuro.evaluation.scale import EVALUATION_LIMIT, centipawns_of_value
from obscuro.matches.pgn import CENTIPAWNS, read_comment

_COMMAND = re.compile(r"\[%[^\]]*\]")
_MATE = centipawns_of_value(EVALUATION_LIMIT)  # lichess writes `#3` in place of pawns


class Remark(NamedTuple):
    """What is known of a choice. None: the file does not say so.

    pawns: the mover's evaluation, in White's view. seconds: time for the move. clock: seconds left.
    text: what a person or another program wrote besides.
    """

    pawns: float | None
    seconds: float | None
    clock: float | None
    report: Report
    coverage: Coverage | None
    text: str


def read_remark(node: chess.pgn.ChildNode) -> Remark:
    """Read the comment on a move. What cannot be read in it is left out."""
    mover = not node.turn()
    notes = read_comment(node.comment, mover)
    commands = _COMMAND.search(node.comment)
    understood = commands is None and notes.report is not None
    score = node.eval()
    return Remark(
        pawns=_pawns(notes.report, mover)
        if score is None
        else score.white().score(mate_score=_MATE) / CENTIPAWNS,
        seconds=notes.seconds,
        clock=notes.clock,
        report=notes.report or Report(),
        coverage=notes.coverage,
        text="" if understood else " ".join(_COMMAND.sub(" ", node.comment).split()),
    )


def _pawns(report: Report | None, mover: bool) -> float | None:
    """Return a report's evaluation in White's view."""
    if report is None or report.centipawns is None:
        return None
    return (1 if mover else -1) * report.centipawns / CENTIPAWNS
