"""Tables of matches, each row computed from the games of one `obscuro match`.

`make results` keeps the games of a match as PGN beside its raw file. For a match whose games were
not kept, the raw file holds what its page said: `wins`, `draws`, `losses`, `elo` as printed there,
`time` and, where it was told, `at_once`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import chess.pgn

import obscuro.rules.board  # noqa: F401 - registers the variant for PGN files
from obscuro.matches.elo import Elo, Tally, pentanomial, trinomial
from tools.common import table
from tools.results.manifest import Loaded
from tools.results.raw import Raw, RawFileError, open_text
from tools.results.render import origins

SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


@dataclass(frozen=True)
class MatchRow:
    """What a table says of one match, from the first player's view.

    scores: in each game by its round, as far as the games were kept.
    """

    time: str
    tally: Tally
    elo: str
    scores: Mapping[int, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The share of the points that the first player took."""
        return self.tally.points / self.tally.games

    def white_tally(self) -> Tally:
        """Return White's results; the first player is White in the odd rounds."""
        return Tally.of([each if n % 2 else 1 - each for n, each in self.scores.items()])

    def interval(self) -> Elo:
        """Return the difference in Elo by pairs of games, 1 and 2, 3 and 4, if all pairs are there.

        Else it is by games.
        """
        scores = self.scores
        if scores and all(
            (number + 1 if number % 2 else number - 1) in scores for number in scores
        ):
            return pentanomial([(scores[n], scores[n + 1]) for n in scores if n % 2])
        return trinomial(self.tally)


def match_of_games(path: Path) -> MatchRow:
    """Compute a row from a PGN file of `obscuro match`. Raises RawFileError.

    The first player is White in the odd rounds.
    """
    scores: dict[int, float] = {}
    names: set[frozenset[str]] = set()
    times: set[str] = set()
    with open_text(path) as stream:
        while (headers := chess.pgn.read_headers(stream)) is not None:
            if headers["Result"] not in SCORES or not headers["Round"].isdigit():
                raise RawFileError(f"{path}: a game without a result or a round")
            number = int(headers["Round"])
            if number in scores:
                raise RawFileError(f"{path}: round {number} is there twice")
            white = SCORES[headers["Result"]]
            scores[number] = white if number % 2 else 1 - white
            names.add(frozenset((headers["White"], headers["Black"])))
            times.add(_time(headers, bool(number % 2)))
    if len(names) != 1 or len(times) != 1:
        raise RawFileError(f"{path}: not the games of one match")
    row = MatchRow(times.pop(), Tally.of(list(scores.values())), "", scores)
    return replace(row, elo=str(row.interval()))


def _time(headers: chess.pgn.Headers, first_is_white: bool) -> str:
    """Describe the time of both players, the first one's in front if they differ."""
    if "WhiteTime" in headers:
        times = [_described(headers[name]) for name in ("WhiteTime", "BlackTime")]
        return " against ".join(times if first_is_white else times[::-1])
    for name in ("MoveTime", "MoveNodes", "TimeControl"):
        if name in headers:
            return _described(headers[name])
    return "no limit"


def _described(time: str) -> str:
    if time.endswith(" nodes"):
        return f"{int(time.split(maxsplit=1)[0]):,} nodes a move"
    return f"{time} a move" if time.endswith("ms") else f"{time} s"


def match_row(raw: Raw, folder: Path) -> MatchRow:
    """Compute a match's row from its games, or take it from what was copied. Raises RawFileError."""
    if raw.games is not None:
        return match_of_games(folder / raw.games)
    data = raw.data
    try:
        tally = Tally(data["wins"], data["draws"], data["losses"])
        return MatchRow(data["time"], tally, data["elo"])
    except (KeyError, TypeError) as error:
        raise RawFileError(f"{raw.command}: neither games nor counts ({error!r})") from None


def added(rows: Sequence[MatchRow]) -> MatchRow:
    """Return the row of all games of several matches of the same players. Raises RawFileError.

    Such matches are one that was played in parts, each with its own seed.
    """
    if len(rows) == 1:
        return rows[0]
    if len({row.time for row in rows}) != 1 or not all(row.scores for row in rows):
        raise RawFileError("matches with one label need the same time, and their games")
    scores: dict[int, float] = {}
    for row in rows:
        after = max(scores, default=0)
        after += after % 2  # odd rounds stay odd
        scores |= {after + number: score for number, score in row.scores.items()}
    whole = MatchRow(rows[0].time, Tally.of(list(scores.values())), "", scores)
    return replace(whole, elo=str(whole.interval()))


def render_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield a table with a row for each match, and where its games are.

    Runs with the same label make one row.
    """
    headings = ["match", "time", "games", "won / drawn / lost", "score", "Elo, 95 %", "games kept"]
    labels: dict[str, list[Loaded]] = {}
    for each in loaded:
        labels.setdefault(each.run.title, []).append(each)
    cells = []
    for label, parts in labels.items():
        row = added([match_row(part.raw, part.folder) for part in parts])
        tally = str(row.tally).replace("/", " / ")
        kept = [f"[PGN](raw/{each.run.page}/{each.raw.games})" for each in parts if each.raw.games]
        score = f"{row.tally.points:g} ({100 * row.score:.1f} %)"
        first = [label, row.time, row.tally.games, tally, score, row.elo]
        cells.append([*first, ", ".join(kept) or "no"])
    yield from table(headings, cells, "llrrrrl")


def render_planned(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield what made the matches, and their table; of matches that are to come, only that."""
    if not loaded:
        yield "Not yet played."
        return
    yield from origins(loaded)
    yield from render_runs(loaded)
