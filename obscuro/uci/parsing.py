"""Reading the arguments of commands. These are pure functions; they raise only ProtocolError."""

import re
from dataclasses import dataclass

import chess

from obscuro.engine.report import GoLimits


class ProtocolError(ValueError):
    """A line can't be read or carried out; the text is one line for the user."""


NUMBER = re.compile(r"-?[0-9]{1,15}")
LARGEST_NUMBER = 10**15 - 1
LISTED_BY_DEFAULT = 10
"""How many positions `belief` lists without a number."""
MOST_COMPARED = 2

# Keywords of `go` that take a whole number, and the least number that makes sense. GUIs send a
# clock below zero when a flag has fallen; it counts as zero.
_LEAST = {
    "wtime": -LARGEST_NUMBER,
    "btime": -LARGEST_NUMBER,
    "winc": 0,
    "binc": 0,
    "movestogo": 0,
    "movetime": 0,
    "nodes": 1,
    "depth": 1,
    "mate": 1,
}
_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][nbrq]?|0000")
_SETOPTION = re.compile(r"name\s+(?P<name>\S.*?)(?:\s+value(?:\s+(?P<value>.*))?)?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PositionArguments:
    """The arguments of `position`.

    side: whose account it is (`position fog`); None for a whole game. fen: None for startpos.
    tokens: the moves; for `position fog` the side's moves and observations.
    """

    side: chess.Color | None
    fen: str | None
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Go:
    """The arguments of `go`. ignored: the words that have no effect here."""

    limits: GoLimits
    ponder: bool = False
    depth: int | None = None
    ignored: tuple[str, ...] = ()


def parse_position(text: str) -> PositionArguments:
    """Read what follows `position`, in either form. It does not look into FEN, moves and turns."""
    tokens = text.split()
    side: chess.Color | None = None
    keyword = "moves"
    if tokens[:1] == ["fog"]:
        keyword = "turns"
        names = {"white": chess.WHITE, "black": chess.BLACK}
        if len(tokens) < 2 or tokens[1] not in names:
            raise ProtocolError(f"position fog: white or black must follow{_not(tokens[1:])}")
        side = names[tokens[1]]
        tokens = tokens[2:]
    cut = tokens.index(keyword) if keyword in tokens else len(tokens)
    start, rest = tokens[:cut], tokens[cut + 1 :]
    if start[:1] == ["fen"]:
        return PositionArguments(side, " ".join(start[1:]), tuple(rest))
    if start[:1] != ["startpos"]:
        raise ProtocolError(f"position: startpos or fen must follow{_not(start)}")
    if len(start) > 1:
        raise ProtocolError(f"position: {keyword} must follow startpos{_not(start[1:])}")
    return PositionArguments(side, None, tuple(rest))


def parse_go(text: str, received: float) -> Go:
    """Read what follows `go`. received: the `time.monotonic` second at which it came in."""
    tokens = text.split()
    numbers: dict[str, int] = {}
    flags: set[str] = set()
    ignored: list[str] = []
    at = 0
    while at < len(tokens):
        word = tokens[at]
        at += 1
        if word in _LEAST:
            if at == len(tokens):
                raise ProtocolError(f"go: {word} needs a number")
            numbers[word] = _number(f"go: {word}", tokens[at], _LEAST[word])
            at += 1
        elif word in ("infinite", "ponder"):
            flags.add(word)
        else:
            ignored.append(word)
            while word == "searchmoves" and at < len(tokens) and _MOVE.fullmatch(tokens[at]):
                at += 1
    depth = numbers.pop("depth", None)
    if numbers.pop("mate", None) is not None:
        ignored.append("mate")
    for clock in ("wtime", "btime"):
        if clock in numbers:
            numbers[clock] = max(numbers[clock], 0)
    limits = GoLimits(received, infinite="infinite" in flags, **numbers)
    return Go(limits, "ponder" in flags, depth, tuple(ignored))


def parse_setoption(text: str) -> tuple[str, str]:
    """Read what follows `setoption`: the option's name and its value, "" if there is none."""
    match = _SETOPTION.fullmatch(text.strip())
    if match is None:
        raise ProtocolError("setoption: name <name> [value <value>] must follow")
    name, value = match["name"], match["value"] or ""
    if not (name.isprintable() and value.isprintable()):
        raise ProtocolError("setoption: there are characters in it that can't be printed")
    return name, value


def parse_belief(text: str) -> int:
    """Read what follows `belief`: how many positions to list."""
    tokens = text.split()
    if not tokens:
        return LISTED_BY_DEFAULT
    if len(tokens) > 1:
        raise ProtocolError("belief: one number may follow")
    return _number("belief:", tokens[0], 0)


def parse_compare(text: str) -> tuple[str, str | None]:
    """Read what follows `compare`: a move, and maybe another one."""
    tokens = text.split()
    if not 1 <= len(tokens) <= MOST_COMPARED:
        raise ProtocolError("compare: one or two moves must follow")
    for token in tokens:
        if not _MOVE.fullmatch(token):
            raise ProtocolError(f"compare: {token!r} is not a move, such as e2e4 or e7e8q")
    return tokens[0], tokens[1] if len(tokens) > 1 else None


def _number(what: str, token: str, least: int) -> int:
    """Read a whole number of at least `least`; what: the beginning of the error's text."""
    if not NUMBER.fullmatch(token):
        raise ProtocolError(f"{what} must be a whole number of at most 15 digits, not {token!r}")
    number = int(token)
    if number < least:
        raise ProtocolError(f"{what} must be at least {least}, not {number}")
    return number


def _not(tokens: list[str]) -> str:
    return f", not {tokens[0]!r}" if tokens else ""
