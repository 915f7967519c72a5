"""Games as PGN with the variant's name, so that other programs can replay them.

A comment is a row of commands, as lichess writes them:

    [%eval 0.34] [%clk 0:09:58.4] [%emt 0:00:00.98] [%belief 312 exact]
    [%coverage belief=1 infoset=1 expanded=0 weight=0.0031] [%nodes 20522] [%depth 4.1]
    [%policy e4d5:0.61 d2d4:0.39]

- eval: pawns, White's view. clk: what the mover's clock shows after the move. emt: the time
  that the move took.
- belief: |P|, and whether it is `exact` or `inexact`. nodes, depth: of the search tree.
- coverage: the fields of `Coverage` that are known, those of its `RootReport` beside them.
- policy: the likeliest moves of the solver's strategy.

The reader also takes comments of versions up to 0.2, such as `|P| 12 inexact, nodes 345, depth 4.5,
cp -20, 0.250 s`, where cp is in the mover's view.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import chess
import chess.pgn

from obscuro.client.move_report import Policy, Report, root_report
from obscuro.engine.report import Coverage
from obscuro.matches.atomic_file import replacing
from obscuro.matches.event import ArenaError, Event
from obscuro.matches.game_record import GameRecord, Turn
from obscuro.matches.time_control import MILLISECONDS, ChessClock, TimeControl

VARIANT = "Fog of War"
HIDDEN_START = "HiddenStart"
"""The header that says `yes` where neither side knows how the other one began."""
CENTIPAWNS = 100
_LIKELIEST = 8
"""The most moves of a policy that are written; none has a share below `_LEAST_SHARE`."""
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
_FINGERPRINT = re.compile(r'^\[Fingerprint "(\w*)"\]$', re.MULTILINE)
_GAME = re.compile(r"^\[Event ", re.MULTILINE)


# -- a game -----------------------------------------------------------------------------------


def to_pgn(
    record: GameRecord,
    *,
    event: str = "Obscuro arena",
    round_: int | str | None = None,
    fingerprint: str | None = None,
) -> chess.pgn.Game:
    """Convert a record to a game with headers, and a comment on each move.

    round_: for the header `Round`; None writes `?`. fingerprint: of the event, for the header
    `Fingerprint`, by which a file's games are known to belong to a journal.
    """
    game = chess.pgn.Game.from_board(record.board)
    game.headers.update(
        {
            "Event": event,
            "Site": "?",
            "Date": _date(record),
            "Round": str(round_) if round_ is not None else "?",
            "White": record.white,
            "Black": record.black,
            "Result": record.result,
            "Variant": VARIANT,
            **({HIDDEN_START: "yes"} if record.board.hidden_start else {}),
            "PlyCount": str(len(record.plies)),
            "Termination": record.ending,
            **_opening_header(record),
            **time_headers(record),
            "WhiteTold": record.told[chess.WHITE],
            "BlackTold": record.told[chess.BLACK],
        }
    )
    if fingerprint is not None:
        game.headers["Fingerprint"] = fingerprint
    clock = ChessClock(record.controls[chess.WHITE], record.controls[chess.BLACK])
    for node, ply in zip(game.mainline(), record.plies, strict=True):
        clock.press(ply.color, ply.turn.seconds)
        node.comment = write_comment(ply.turn, ply.color, clock.left(ply.color))
    return game


def write_pgn(
    stream: TextIO,
    record: GameRecord,
    *,
    event: str = "Obscuro arena",
    round_: int | str | None = None,
    fingerprint: str | None = None,
) -> None:
    """Append the game to an open file and flush it, so an interrupted match keeps its games."""
    game = to_pgn(record, event=event, round_=round_, fingerprint=fingerprint)
    stream.write(f"{game}\n\n")  # at once, so that Ctrl-C can't come in between
    stream.flush()


def _date(record: GameRecord) -> str:
    """Return the day of the game, UTC."""
    if not record.started:
        return "????.??.??"
    return datetime.datetime.fromisoformat(record.started).strftime("%Y.%m.%d")


def _opening_header(record: GameRecord) -> dict[str, str]:
    return {"Opening": record.opening} if record.opening else {}


def time_headers(record: GameRecord) -> dict[str, str]:
    """Return the headers of the time: `MoveTime`, `MoveNodes` or `TimeControl`, or one for each side.

    `WhiteTime` and `BlackTime` tell the time where the sides differ.
    """
    white, black = record.controls[chess.WHITE], record.controls[chess.BLACK]
    if white != black:
        return {"WhiteTime": _time(white), "BlackTime": _time(black)}
    if white.nodes:
        return {"MoveNodes": _time(white)}
    if white.movetime:
        return {"MoveTime": _time(white)}
    return {"TimeControl": _time(white)} if white.base else {}


def _time(control: TimeControl) -> str:
    if control.nodes is not None:
        return f"{control.nodes} nodes"
    if control.movetime is not None:
        return f"{control.movetime} ms"
    base, increment = (ms / MILLISECONDS for ms in (control.base, control.increment))
    return f"{base:g}+{increment:g}"


# -- the file of an event, derived from its journal ---------------------------------------------


class PgnFileError(ArenaError):
    """A PGN file can't be written. The text is one line for the user; the file is as it was."""


class PgnFile:
    """Receives the games of one event, each once. Round n is game n - 1.

    `PgnFile.append` adds to whatever the file holds. `PgnFile.derive` makes the file anew from the
    games of a journal, and goes on from there.
    """

    def __init__(self, path: Path, event: Event, stream: TextIO) -> None:
        self._path = path
        self._event = event
        self._fingerprint = event.fingerprint()
        self._stream = stream

    @classmethod
    def append(cls, path: Path, event: Event) -> PgnFile:
        """Open the file to add games to it. Raises PgnFileError."""
        try:
            return cls(path, event, path.open("a", encoding="utf-8"))
        except OSError as error:
            raise _unwritable(path, error) from None

    @classmethod
    def derive(cls, path: Path, event: Event, games: Mapping[int, GameRecord]) -> PgnFile:
        """Write these games, and no others, into the file in place of what it holds.

        The old file stays until the new one is complete. A file with games of another event is
        never replaced, nor any file if there are no games yet. Raises PgnFileError.
        """
        _check_is_ours(path, event, bool(games))
        try:
            with replacing(path) as stream:
                file = cls(path, event, stream)
                for number in sorted(games):
                    file.add(number, games[number])
        except OSError as error:
            raise _unwritable(path, error) from None
        return file

    def add(self, number: int, game: GameRecord) -> None:
        """Append a game. Raises PgnFileError."""
        try:
            write_pgn(
                self._stream,
                game,
                event=self._event.name,
                round_=number + 1,
                fingerprint=self._fingerprint,
            )
        except OSError as error:
            raise _unwritable(self._path, error) from None

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._stream.close()

    def __enter__(self) -> PgnFile:
        """Return the file itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file."""
        self.close()


def _check_is_ours(path: Path, event: Event, resumes: bool) -> None:
    """Raise PgnFileError if the file holds what must not be replaced."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(path, error) from None
    prints = _FINGERPRINT.findall(text)
    games = len(_GAME.findall(text))
    ours = resumes and len(prints) == games and set(prints) <= {event.fingerprint()}
    if text.strip() and (games == 0 or not ours):
        raise PgnFileError(
            f"{path} holds other games; with a journal it would be written anew, so name another "
            "file"
        )


def _unwritable(path: Path, error: OSError) -> PgnFileError:
    return PgnFileError(f"can't write {path}: {error.strerror or error}")


# -- comments of moves --------------------------------------------------------------------------


class MoveNotes(NamedTuple):
    """What the comment of a move says. None: it does not say so.

    seconds: the time that the move took. clock: the seconds left on the mover's clock. report: with
    centipawns in the mover's view, as everywhere.
    """

    seconds: float | None = None
    clock: float | None = None
    report: Report | None = None
    coverage: Coverage | None = None


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
    if coverage.rank is not None:
        known.append(f"rank={coverage.rank:g}")
    if coverage.root is not None:
        root = asdict(coverage.root)
        known += [f"{name}={value:.4g}" for name, value in root.items() if value is not None]
    return " ".join(known)


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
    weight, rank = known.get("weight"), known.get("rank")
    return Coverage(**flags, weight=weight, rank=rank, root=root_report(known))
