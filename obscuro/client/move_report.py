"""What an engine says of its search, and its answers to questions, read from its lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

import chess

from obscuro.engine.report import (
    ComparedMove,
    Comparison,
    Coverage,
    Reason,
    RootReport,
    SearchInfo,
)
from obscuro.rules.observation import PLANES

Policy = tuple[tuple[str, float], ...]

_COVERAGE = "info string coverage "
_COMPARE = "info string compare "
_BECAUSE = "info string because fen "
_MARGINALS = "info string marginals "
_FLAGS = {"true": True, "false": False}
_MATE_CENTIPAWNS = 10_000.0
_INFO_NUMBERS = {"depth": "depth", "nodes": "nodes", "time": "milliseconds"}
_BELIEF_NUMBERS = {
    "sampled": "sampled",
    "carried": "carried",
    "infosets": "infosets",
    "iterations": "iterations",
    "expansions": "expansions",
    "evals": "evaluations",
    "roots": "roots",
    "J": "root_infosets",
}


@dataclass(frozen=True, slots=True)
class Report:
    """The last values that an engine reported in one search. None: it did not report the value.

    belief: |P|, the number of positions that fit the engine's observations. exact: whether P holds
    all of them. nodes: the size of the tree. carried: how many of these nodes come from earlier
    searches. roots: how many positions were expanded when the search began. root_infosets: J, those
    of the other side at the root. depth: the mean depth. centipawns: the score in the mover's view,
    10,000 for a mate. policy: the solver's strategy at the root infoset. play: the distribution from
    which the engine drew its move. Both are pairs of UCI move and probability, the largest first.
    """

    depth: float | None = None
    nodes: float | None = None
    milliseconds: float | None = None
    centipawns: float | None = None
    belief: int | None = None
    exact: bool | None = None
    sampled: float | None = None
    carried: float | None = None
    infosets: float | None = None
    iterations: float | None = None
    expansions: float | None = None
    evaluations: float | None = None
    gadget: str | None = None
    roots: float | None = None
    root_infosets: float | None = None
    policy: Policy = ()
    play: Policy = ()

    def with_line(self, line: str) -> Report:
        """Return the report updated by one `info` line; unreadable parts are ignored.

        >>> Report().with_line("info string belief 42 exact true carried 7").belief
        42
        """
        words = line.split()
        if words[:1] != ["info"]:
            return self
        if words[1:2] != ["string"]:
            return replace(self, **_info_fields(words[1:]))
        kind, rest = "".join(words[2:3]), words[3:]
        if kind == "policy":
            return replace(self, policy=_read_policy(rest))
        if kind == "play":
            return replace(self, play=_read_policy(rest))
        # `info string belief size …` and `… fen …` answer the command `belief`, not `go`.
        if kind == "belief" and rest and rest[0].isdigit():
            return replace(self, **_belief_fields(rest))
        return self

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> Report:
        """Read a report from all lines of one search."""
        report = cls()
        for line in lines:
            report = report.with_line(line)
        return report

    @classmethod
    def of_search(cls, info: SearchInfo) -> Report:
        """Convert the report of an engine in this process."""
        report = cls(**{each.name: getattr(info, each.name) for each in fields(cls)})
        return replace(report, policy=tuple(info.policy), play=tuple(info.play))


@dataclass(frozen=True, slots=True)
class BeliefAnswer:
    """An engine's answer to `belief`.

    size: |P|, how many positions are possible. exact: whether these are all. fens: the positions
    asked for, as FENs without counters. shares: how likely each of them is, in [0, 1], the largest
    first; empty if the engine does not know it.
    """

    size: int
    exact: bool
    fens: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()


def read_belief(lines: Iterable[str]) -> BeliefAnswer | None:
    """Read the answer to `belief`; None if there is none."""
    answer, fens, shares = None, list[str](), list[float]()
    for words in map(str.split, lines):
        if words[:3] != ["info", "string", "belief"]:
            continue
        if words[3:4] == ["fen"]:
            fens.append(" ".join(words[4:8]))
            share = _number(_pairs(words[8:]).get("share", ""))
            shares += [] if share is None else [share]
        elif words[3:4] == ["size"] and len(words) == 7 and words[4].isdigit():
            answer = BeliefAnswer(int(words[4]), words[6] == "true")
    if answer is None:
        return None
    known = tuple(shares) if len(shares) == len(fens) else ()
    return replace(answer, fens=tuple(fens), shares=known)


@dataclass(frozen=True, slots=True)
class MarginalsAnswer:
    """An engine's answer to `marginals`: how likely each enemy piece is on each square, [0, 1].

    Both map `any`, `pawn` … `king` to 64 probabilities, from a1 and b1 to h8. even: all possible
    positions count alike. weighted: each counts by how plausibly the opponent has played; None if
    the engine does not weigh them.
    """

    even: Mapping[str, tuple[float, ...]]
    weighted: Mapping[str, tuple[float, ...]] | None = None


def read_marginals(lines: Iterable[str]) -> MarginalsAnswer | None:
    """Read the answer to `marginals`; None if there is none."""
    views: dict[str, dict[str, tuple[float, ...]]] = {"even": {}, "weighted": {}}
    for line in lines:
        if line.startswith(_MARGINALS):
            view, piece, *numbers = line.removeprefix(_MARGINALS).split()
            shares = [_number(number) for number in numbers]
            if view in views and piece in PLANES and len(shares) == len(chess.SQUARES):
                views[view][piece] = tuple(share or 0.0 for share in shares)
    even, weighted = views["even"], views["weighted"]
    if len(even) != len(PLANES):
        return None
    return MarginalsAnswer(even, weighted if len(weighted) == len(PLANES) else None)


def read_coverage(lines: Iterable[str]) -> Coverage | None:
    """Read the answer to `coverage`; None if there is none.

    >>> read_coverage(["info string coverage belief true search none"])
    Coverage(in_belief=True, in_infoset=None, expanded=None, weight=None, rank=None, root=None)
    """
    line = next((line for line in lines if line.startswith(_COVERAGE)), "")
    said = _pairs(line.removeprefix(_COVERAGE).split())
    in_belief = _FLAGS.get(said.get("belief", ""))
    if in_belief is None:
        return None
    return Coverage(
        in_belief,
        _FLAGS.get(said.get("infoset", "")),
        _FLAGS.get(said.get("expanded", "")),
        _number(said.get("weight", "")),
        _number(said.get("rank", "")),
        root_report({name: _number(text) for name, text in said.items()}),
    )


def root_report(said: Mapping[str, float | None]) -> RootReport | None:
    """Return the report that holds these figures by their names; None if some are missing."""
    known = {field.name: said.get(field.name) for field in fields(RootReport)}
    needed = [known[field.name] for field in fields(RootReport) if field.default is MISSING]
    return None if None in needed else RootReport(**known)  # type: ignore[arg-type]


def read_comparison(lines: Sequence[str]) -> Comparison | None:
    """Read the answer to `compare`; None if there is none. What cannot be read is left out."""
    moves = [
        move
        for line in lines
        if line.startswith(_COMPARE) and (move := _read_move(line.removeprefix(_COMPARE).split()))
    ]
    if len(moves) != 2:
        return None
    first, second = moves
    reasons = [
        reason
        for line in lines
        if line.startswith(_BECAUSE)
        and (reason := _read_reason(line.removeprefix(_BECAUSE).split(), first.move, second.move))
    ]
    return Comparison((first, second), tuple(reasons))


def _read_move(words: list[str]) -> ComparedMove | None:
    said = _pairs(words[1:])
    try:
        value, probability = _share(said["value"]), _share(said["policy"])
        return ComparedMove(words[0], value, probability, int(said["nodes"]))
    except (KeyError, ValueError):
        return None


def _read_reason(words: list[str], first: str, second: str) -> Reason | None:
    fen, said = words[:4], _pairs(words[4:])
    try:
        values = (_share(said[first]), _share(said[second]))
        return Reason(" ".join(fen), _share(said["share"]), values)
    except (KeyError, ValueError):
        return None


def _share(text: str) -> float:
    """Read a number in [-1, 1]. Raises ValueError."""
    number = float(text)
    if not math.isfinite(number) or abs(number) > 1:
        raise ValueError(f"{text} is not in [-1, 1]")
    return number


def _pairs(words: list[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=False))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _info_fields(words: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for index, word in enumerate(words[:-1]):
        if word in ("pv", "string"):
            break
        name = _INFO_NUMBERS.get(word)
        if word == "score" and index + 2 < len(words):
            name, value = "centipawns", _number(words[index + 2])
            if words[index + 1] == "mate" and value is not None:
                value = math.copysign(_MATE_CENTIPAWNS, value)
        else:
            value = _number(words[index + 1])
        if name is not None and value is not None:
            fields[name] = value
    return fields


def _belief_fields(words: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {"belief": int(words[0])}
    for key, text in zip(words[1::2], words[2::2], strict=False):
        if key == "exact":
            fields["exact"] = text == "true"
        elif key == "gadget":
            fields["gadget"] = text
        elif key in _BELIEF_NUMBERS and (value := _number(text)) is not None:
            fields[_BELIEF_NUMBERS[key]] = value
    return fields


def _read_policy(words: list[str]) -> Policy:
    policy = []
    for move, text in zip(words[::2], words[1::2], strict=False):
        probability = _number(text)
        if probability is not None:
            policy.append((move, probability))
    return tuple(policy)
