"""What a player said of its move, in the comment of a PGN file.

A comment is a row of commands, as lichess writes them:

    [%eval 0.34] [%clk 0:09:58.4] [%emt 0:00:00.98] [%belief 312 exact]
    [%coverage belief=1 infoset=1 expanded=0 weight=0.0031] [%nodes 20522] [%depth 4.1]
    [%policy e4d5:0.61 d2d4:0.39]

- eval: pawns, White's view. clk: what the mover's clock shows after the move. emt: the time
  that the move took.
- belief: |P|, and whether it is `exact` or `inexact`. nodes, depth: of the search tree.
- coverage: the fields of `Coverage` that are known.
- policy: the likeliest moves of the solver's strategy.

The reader also takes comments of versions up to 0.2, such as `|P| 12 inexact, nodes 345, depth 4.5,
cp -20, 0.250 s`, where cp is in the mover's view.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import chess

from obscuro.client.move_report import Policy, Report
from obscuro.engine.report import Coverage
from obscuro.matches.game_record import Turn
from obscuro.matches.time_control import MILLISECONDS

CENTIPAWNS = 100
_LIKELIEST = 8
"""So many moves of a policy are written, and none below `_LEAST_SHARE`."""
_LEAST_SHARE = 0.005
_COMMAND = re.compile(r"\[%(\w+)\s+([^\]]*)\]")
_OLD_PARTS = {
    "belief": re.compile(r"\|P\| (\d+)"),
    "nodes": re.compile(r"\bnodes (\d+)"),
    "depth": re.compile(r"\bdepth (\d+(?:\.\d+)?)"),
    "centipawns": re.compile(r"\bcp ([+-]?\d+)"),
}
_OLD_SECONDS = re.compile(r"(\d+\.\d+) s$")
_BELIEF_FIELDS = {"belief": "in_belief", "infoset": "in_infoset", "expanded": "expanded"}


class MoveNotes(NamedTuple):
    """What the comment of a move says. None: it does not say so.

    seconds: the time that the move took. clock: the seconds left on the mover's clock. report: with
    centipawns in the mover's view, as everywhere.
    """

    seconds: float | None = None
    clock: float | None = None
    report: Report | None = None
    coverage: Coverage | None = None


# -- writing --------------------------------------------------------------------------------


def write_comment(turn: Turn, color: chess.Color, clock: float | None = None) -> str:
    """Return the comment of a move; empty if nothing is known of it.

    color: the mover's. clock: the milliseconds left on its clock; None if it has none.
    """
    report = turn.report or Report()
    parts = []
    if report.centipawns is not None:
        sign = 1 if color == chess.WHITE else -1
        parts.append(f"[%eval {sign * report.centipawns / CENTIPAWNS:.2f}]")
    if clock is not None:
        parts.append(f"[%clk {_clock_text(clock / MILLISECONDS)}]")
    if turn.seconds:
        parts.append(f"[%emt {_clock_text(turn.seconds)}]")
    if report.belief is not None:
        word = {True: " exact", False: " inexact", None: ""}[report.exact]
        parts.append(f"[%belief {report.belief}{word}]")
    if turn.coverage is not None:
        parts.append(f"[%coverage {_coverage_text(turn.coverage)}]")
    if report.nodes is not None:
        parts.append(f"[%nodes {report.nodes:.0f}]")
    if report.depth is not None:
        parts.append(f"[%depth {report.depth:g}]")
    policy = [(move, share) for move, share in report.policy[:_LIKELIEST] if share >= _LEAST_SHARE]
    if policy:
        parts.append(f"[%policy {' '.join(f'{move}:{share:.3g}' for move, share in policy)}]")
    return " ".join(parts)


def _clock_text(seconds: float) -> str:
    """Format seconds to the millisecond as `h:mm:ss.ddd`, without zeros at the end."""
    milliseconds = max(round(MILLISECONDS * seconds), 0)
    minutes, rest = divmod(milliseconds, 60_000)
    text = f"{minutes // 60}:{minutes % 60:02}:{rest // 1000:02}"
    return text + (f".{rest % 1000:03}".rstrip("0") if rest % 1000 else "")


def _coverage_text(coverage: Coverage) -> str:
    known = [
        f"{key}={int(value)}"
        for key, name in _BELIEF_FIELDS.items()
        if (value := getattr(coverage, name)) is not None
    ]
    if coverage.weight is not None:
        known.append(f"weight={coverage.weight:.4g}")
    return " ".join(known)


# -- reading --------------------------------------------------------------------------------


def read_comment(text: str, color: chess.Color) -> MoveNotes:
    """Read the comment of a move of *color*. What cannot be read is left out.

    >>> read_comment("[%eval -0.50] [%emt 0:00:01.5]", chess.BLACK).report.centipawns
    50.0
    """
    commands = {name: value.strip() for name, value in _COMMAND.findall(text)}
    if not commands:
        return _read_old(text)
    fields: dict[str, Any] = {}
    pawns = _number(commands.get("eval"))
    if pawns is not None:
        fields["centipawns"] = (1 if color == chess.WHITE else -1) * round(pawns * CENTIPAWNS, 6)
    size, _, kind = commands.get("belief", "").partition(" ")
    if size.isdecimal():
        fields["belief"] = int(size)
        fields["exact"] = {"exact": True, "inexact": False}.get(kind.strip())
    for name in ("nodes", "depth"):
        value = _number(commands.get(name))
        if value is not None:
            fields[name] = value
    policy = _read_shares(commands.get("policy", ""))
    if policy:
        fields["policy"] = policy
    return MoveNotes(
        seconds=_seconds(commands.get("emt")),
        clock=_seconds(commands.get("clk")),
        report=Report(**fields) if fields else None,
        coverage=_read_coverage(commands.get("coverage", "")),
    )


def _read_old(text: str) -> MoveNotes:
    """Read a comment of a version up to 0.2."""
    fields: dict[str, Any] = {
        name: float(match[1])
        for name, pattern in _OLD_PARTS.items()
        if (match := pattern.search(text)) is not None
    }
    if "belief" in fields:
        fields["belief"] = int(fields["belief"])
        fields["exact"] = "inexact" not in text
    seconds = _OLD_SECONDS.search(text)
    return MoveNotes(
        seconds=None if seconds is None else float(seconds[1]),
        report=Report(**fields) if fields else None,
    )


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _seconds(text: str | None) -> float | None:
    """Read `h:mm:ss.ddd`."""
    numbers = [_number(part) for part in (text or "").split(":")]
    if len(numbers) != 3 or None in numbers:
        return None
    hours, minutes, seconds = (number or 0.0 for number in numbers)
    return 3600 * hours + 60 * minutes + seconds


def _pairs(text: str, mark: str) -> list[tuple[str, float]]:
    """Read words such as `weight=0.5`; leave out those that are not."""
    found = []
    for word in text.split():
        key, _, value = word.partition(mark)
        number = _number(value)
        if number is not None:
            found.append((key, number))
    return found


def _read_shares(text: str) -> Policy:
    return tuple(_pairs(text, ":"))


def _read_coverage(text: str) -> Coverage | None:
    known = dict(_pairs(text, "="))
    if "belief" not in known:
        return None
    flags = {name: bool(known[key]) for key, name in _BELIEF_FIELDS.items() if key in known}
    return Coverage(**flags, weight=known.get("weight"))
