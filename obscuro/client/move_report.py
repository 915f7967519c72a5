"""An engine's report on one of its moves, read from its `info` lines or converted in process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obscuro.engine.report import SearchInfo

Policy = tuple[tuple[str, float], ...]

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
    of the other side at the root. depth: the mean depth. centipawns: the score in the mover's view.
    policy: the solver's strategy at the root infoset. play: the distribution from which the engine
    drew its move. Both are pairs of UCI move and probability, the largest first.
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
    policy: Policy = field(default=())
    play: Policy = field(default=())

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
        return cls(
            depth=info.depth,
            nodes=info.nodes,
            milliseconds=info.milliseconds,
            centipawns=info.centipawns,
            belief=info.belief,
            exact=info.exact,
            sampled=info.sampled,
            carried=info.carried,
            infosets=info.infosets,
            iterations=info.iterations,
            expansions=info.expansions,
            evaluations=info.evaluations,
            gadget=info.gadget,
            roots=info.roots,
            root_infosets=info.root_infosets,
            policy=tuple(info.policy),
            play=tuple(info.play),
        )


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
        if word == "score" and words[index + 1] == "cp" and index + 2 < len(words):
            name, value = "centipawns", _number(words[index + 2])
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
