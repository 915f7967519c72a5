"""Take a text of games apart: PGN of many writers, JSON and JSON lines. No move is read here.

All forms become the same thing, headers and a text of moves. `move_text` reads that.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

VARIANT = "Fog of War"
_LONGEST_HEADER = 64
"""The most lines of one header. Some writers break a position into its ranks."""
_LONGEST_LINE = 10_000
"""The most characters of a line, or of one header, that is read as headers."""
# A stranger's line must not take more time than its length: no two of these repeats meet.
_NAME = r"[A-Za-z0-9][A-Za-z0-9_+#=:-]*"  # of a header
_HEADER = re.compile(rf'\[\s*({_NAME})\s+["“](.*)["”]\s*\]?')
_UNQUOTED = re.compile(rf"\[\s*({_NAME})(\s[^\"%\[\]]*)?\]")
_SEVERAL = re.compile(rf'"\s*\]\s*\[\s*{_NAME}\s+"')
_ONE_OF_SEVERAL = re.compile(rf'\[\s*({_NAME})\s+"(.*?)"\s*\]')
_OPEN_HEADER = re.compile(rf'\[\s*{_NAME}\s+"[^"]*')
_RESULT_LAST = re.compile(r"(?:1-0|0-1|1/2-1/2|\*)\s*")
_GOES_ON = re.compile(r"(?!1\s*\.)\d+\s*\.|[{(;$]|1-0|0-1|1/2|\*")
_BRACES = re.compile(r"[{};]")
_JSON = re.compile(r'\s*(?:\{\s*(?:["}]|$)|\[\s*(?:["\[{\]]|$))')
_NO_WORD = re.compile(r"[\s{}();]")


class RawGame(NamedTuple):
    """A game as it was written.

    fault: why there is none; its moves are empty then. ply: the move that the fault is about, from 1.
    """

    headers: list[tuple[str, str]]
    moves: str
    fault: str | None = None
    ply: int | None = None


def raw_games(lines: Iterable[str]) -> Iterator[RawGame]:
    """Yield the games of a text, given line by line. Only one is held at a time.

    A text that is one JSON value over several lines is read as a whole.
    """
    lines = iter(lines)
    for line in lines:
        if line.strip():
            every = itertools.chain([line], lines)
            yield from _json_games(every) if _JSON.match(line) else _pgn_games(every)


# -- PGN ----------------------------------------------------------------------------------------


class _Splitter:
    """Holds the lines of one game until the next one begins."""

    def __init__(self) -> None:
        self.headers: list[tuple[str, str]] = []
        self.body: list[str] = []
        self.in_comment = False
        self.blank = False  # whether an empty line came after the last line of moves

    def take(self) -> Iterator[RawGame]:
        """Yield the game if there is one, and begin the next."""
        if self.headers or self.body:
            yield RawGame(self.headers, "\n".join(self.body))
        self.__init__()  # type: ignore[misc]

    def add(self, line: str) -> None:
        """Add a line of moves."""
        self.body.append(line)
        self.blank = False
        for mark in _BRACES.findall(line):
            if mark == ";" and not self.in_comment:
                return
            if mark != ";":
                self.in_comment = mark == "{"

    def ends_before(self, line: str) -> bool:
        """Tell whether a line of moves that comes after an empty line begins another game."""
        ended = bool(_RESULT_LAST.search(self.body[-1][-8:]))
        return ended or _GOES_ON.match(line) is None


def _pgn_games(lines: Iterator[str]) -> Iterator[RawGame]:
    game = _Splitter()
    for full in lines:
        line = full.rstrip("\r\n")
        bare = line.strip()
        if game.in_comment and not (game.blank and bare.startswith("[Event ")):
            game.add(line)
            game.blank = not bare
        elif not bare:
            game.blank = bool(game.body)
        elif line[0] == "%":
            continue
        elif bare[0] == "[" and (found := _headers(bare, lines)):
            if game.body or found[0][0] in ("Event", *(name for name, _ in game.headers[:1])):
                yield from game.take()
            game.headers += found
        else:
            if game.blank and game.ends_before(bare):
                yield from game.take()
            game.add(line)
    yield from game.take()


def _headers(line: str, lines: Iterator[str]) -> list[tuple[str, str]]:
    """Return the headers of a line, which may go on in the next lines; empty if it has none."""
    if len(line) > _LONGEST_LINE:
        return []
    if _OPEN_HEADER.fullmatch(line):
        for more in itertools.islice(lines, _LONGEST_HEADER):
            line = f"{line} {more.strip()}"[:_LONGEST_LINE]
            if more.rstrip().endswith("]"):
                break
    if _SEVERAL.search(line):
        return _ONE_OF_SEVERAL.findall(line)
    match = _HEADER.fullmatch(line) or _UNQUOTED.fullmatch(line)
    return [] if match is None else [(match[1], (match[2] or "").strip(" '"))]


# -- JSON ---------------------------------------------------------------------------------------

_MOVES = ("moves", "turns", "plies")
_HEADER_KEYS = {
    "White": ("white", "whiteName", "white_name"),
    "Black": ("black", "blackName", "black_name"),
    "Result": ("result", "winner"),
    "FEN": ("fen", "initialFen", "initial_fen", "startFen", "start"),
    "Variant": ("variant",),
    "Event": ("event",),
    "Site": ("site", "url"),
    "Date": ("date",),
    "Termination": ("termination", "ending", "status"),
    "Opening": ("opening",),
}
_WINNERS = {"white": "1-0", "w": "1-0", "black": "0-1", "b": "0-1", "draw": "1/2-1/2"}
_PROMOTIONS = {"queen": "q", "rook": "r", "bishop": "b", "knight": "n"}


def _json_games(lines: Iterator[str]) -> Iterator[RawGame]:
    """Yield the games of a JSON text: of each line, or of the whole if the first line is no value.

    A text whose lines are the events of one game is one game.
    """
    first = next(lines)
    value, fault = _decoded(first)
    if fault is not None:
        value, fault = _decoded("".join([first, *lines]))
    events: list[Any] = []
    while True:
        if fault is not None:
            yield RawGame([], "", fault)
        elif isinstance(value, dict) and "type" in value and not _has_moves(value):
            events.append(value)
        elif not (isinstance(value, dict) and value.get("kind") in ("event", "fault")):
            yield from _value_games(value)
        line = next((line for line in lines if line.strip()), None)
        if line is None:
            break
        value, fault = _decoded(line)
    if events:
        yield from _value_games({"events": events})


def _decoded(text: str) -> tuple[Any, str | None]:
    try:
        return msgspec.json.decode(text), None
    except (ValueError, RecursionError) as error:
        return None, f"it is no JSON: {' '.join(str(error).split())[:100]}"


def _has_moves(value: Mapping[str, Any]) -> bool:
    return any(key in value for key in (*_MOVES, "pgn", "games", "events", "record"))


def _value_games(value: Any, depth: int = 0) -> Iterator[RawGame]:
    """Yield the games of a JSON value: a game, or a list of games in some wrapping."""
    if isinstance(value, dict):
        yield from _object_games(value, depth)
    elif isinstance(value, list) and value and _is_game(value):
        yield _raw({}, value)
    elif isinstance(value, list) and depth < 4:
        for each in value:
            yield from _value_games(each, depth + 1)
    elif isinstance(value, str) and value.strip():
        yield from raw_games(value.splitlines())
    else:
        yield RawGame([], "", "it is JSON, but no game: a list of moves is missing")


def _object_games(value: dict[str, Any], depth: int) -> Iterator[RawGame]:
    if isinstance(value.get("pgn"), str):
        yield from _pgn_games(iter(value["pgn"].splitlines()))
        return
    for key in ("games", "record"):
        if isinstance(value.get(key), list | dict) and depth < 4:
            yield from _value_games(value[key], depth + 1)
            return
    if isinstance(value.get("events"), list):
        played = [each for each in value["events"] if _type(each) == "move-played"]
        yield _raw(value, [each.get("move") for each in played])
        return
    moves = next((value[key] for key in _MOVES if key in value), None)
    yield _raw(value, moves.split() if isinstance(moves, str) else moves)


def _type(event: Any) -> Any:
    return event.get("type") if isinstance(event, dict) else None


def _is_game(value: Sequence[Any]) -> bool:
    """Tell whether a list holds the moves of one game, and not games; its first item tells it."""
    first = value[0]
    if isinstance(first, str):
        return " " not in first.strip()
    return isinstance(first, dict) and not _has_moves(first) and bool(_move_text(first))


def _raw(game: dict[str, Any], moves: Any) -> RawGame:
    headers = _json_headers(game)
    if not isinstance(moves, list):
        return RawGame(headers, "", "it is JSON, but no game: a list of moves is missing")
    words = []
    for ply, move in enumerate(moves, 1):
        word = _move_text(move)
        if not word or _NO_WORD.search(word):
            shown = move[:40] if isinstance(move, str) else type(move).__name__
            return RawGame(headers, "", f"{shown!r} is no move", ply)
        words.append(word)
    return RawGame(headers, " ".join(words))


def _move_text(move: Any) -> str:
    """Return a move as SAN or UCI; empty if it is none. A move may be an object with its squares."""
    for _ in range(3):
        if isinstance(move, dict):
            move = next((move[key] for key in ("uci", "san", "lan", "move") if key in move), move)
    if isinstance(move, str):
        return move.strip()
    if not isinstance(move, dict):
        return ""
    parts: list[Any] = [move.get("from"), move.get("to"), move.get("promotion") or ""]
    if not all(isinstance(part, str) for part in parts):
        return ""
    start, end, promotion = parts
    return f"{start}{end}{_PROMOTIONS.get(promotion.lower(), promotion)}"


def _json_headers(game: dict[str, Any]) -> list[tuple[str, str]]:
    named: dict[str, str] = {}
    if isinstance(game.get("headers"), dict):
        named |= {str(name): _header_text(value) for name, value in game["headers"].items()}
    players = game.get("players")
    sides = {**game, **players} if isinstance(players, dict) else game
    for header, keys in _HEADER_KEYS.items():
        value = next((sides[key] for key in keys if sides.get(key) not in (None, "")), None)
        if value is not None:
            named[header] = _header_text(value)
    if "Result" in named:
        named["Result"] = _WINNERS.get(named["Result"].lower(), named["Result"])
    return [(name, value) for name, value in named.items() if re.fullmatch(_NAME, name)]


def _header_text(value: Any) -> str:
    """Return a value of JSON as the text of a header; of an object, its name."""
    while isinstance(value, dict):
        value = next(
            (value[key] for key in ("name", "username", "user", "key") if value.get(key)), "?"
        )
    text = str(value) if isinstance(value, str | int | float) else "?"
    return " ".join(text.replace('"', "'").split())[:1000]
