"""An engine's answer to `compare`, read from its lines (docs/protocol.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from obscuro.engine.report import ComparedMove, Comparison, Reason

_MOVE = "info string compare "
_REASON = "info string because fen "
_FEN_FIELDS = 4
_PAIR = 2


def read_comparison(lines: Sequence[str]) -> Comparison | None:
    """Read the lines of an answer; None if they are none. What cannot be read is left out."""
    moves = [
        move
        for line in lines
        if line.startswith(_MOVE) and (move := _read_move(line.removeprefix(_MOVE).split()))
    ]
    if len(moves) != _PAIR:
        return None
    names = (moves[0].move, moves[1].move)
    reasons = [
        reason
        for line in lines
        if line.startswith(_REASON)
        and (reason := _read_reason(line.removeprefix(_REASON).split(), names))
    ]
    return Comparison((moves[0], moves[1]), tuple(reasons))


def _read_move(words: list[str]) -> ComparedMove | None:
    said = dict(zip(words[1::2], words[2::2], strict=False))
    try:
        value, probability = _share(said["value"]), _share(said["policy"])
        return ComparedMove(words[0], value, probability, int(said["nodes"]))
    except (KeyError, ValueError):
        return None


def _read_reason(words: list[str], names: tuple[str, str]) -> Reason | None:
    fen, rest = words[:_FEN_FIELDS], words[_FEN_FIELDS:]
    said = dict(zip(rest[::2], rest[1::2], strict=False))
    try:
        values = (_share(said[names[0]]), _share(said[names[1]]))
        return Reason(" ".join(fen), _share(said["share"]), values)
    except (KeyError, ValueError):
        return None


def _share(text: str) -> float:
    """Read a number in [-1, 1]. Raises ValueError."""
    number = float(text)
    if not math.isfinite(number) or abs(number) > 1:
        raise ValueError(f"{text} is not in [-1, 1]")
    return number
