"""What White scores in all recorded games of the engine against itself, and how long they are.

    python -m tools.play.white_score docs/results/raw
    python -m tools.play.white_score games.pgn docs/results/raw/root --player obscuro

Reads PGN files, or all of a folder, compressed or not. It counts games whose players both have the
name that --player says, alone or with a letter (`obscuro A`), whatever their versions and options: a
match between two versions has each with White in half of its games. Games from the plain start and
from a book of openings stand in rows of their own, by the time for a move. Games from any later
position are left out. Obscuro, App. D and E.3: White scored 57.5 % at 5 s a move, and games took 116.6
plies.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import chess.pgn

import obscuro.rules.board  # noqa: F401 - registers the variant for PGN files
from obscuro.matches.elo import Tally, trinomial
from tools.common import given, publish, say, table, tool_parser
from tools.results.matches import SCORES
from tools.results.raw import open_text

BOOK_MOVES = 5
"""A game whose first position has a later move number is from no book of openings."""
SHORT_PLIES = 12
"""Obscuro, E.3: 10 games of 10,000 were no longer, and all ended by a check on an open diagonal."""
PAPER = ("5000 ms, the paper's", "plain start", Tally(4935, 1623, 3442), 116.6, 10)
PLAIN, BOOK = "plain start", "openings"
LIMITS = (50, 200, 1000, 10_000)
"""Milliseconds for a move: rows hold the games up to each."""

Figures = dict[str, Any]


def pgn_files(places: Sequence[Path]) -> list[Path]:
    """Return files, and all PGN files below folders."""
    found = []
    for place in places:
        if place.is_dir():
            found += [*place.rglob("*.pgn"), *place.rglob("*.pgn.gz")]
        else:
            found.append(place)
    return sorted(found)


def games_of(file: Path, player: str) -> Iterator[dict[str, Any]]:
    """Yield the self-play games of a file: White's score, plies, start, milliseconds a move."""
    name = re.compile(rf"{re.escape(player)}( [A-Z])?")
    with open_text(file) as stream:
        while (headers := chess.pgn.read_headers(stream)) is not None:
            both = all(name.fullmatch(headers.get(side, "?")) for side in ("White", "Black"))
            start = start_of(headers)
            times = milliseconds_of(headers)
            if both and start and times and headers["Result"] in SCORES:
                yield {
                    "score": SCORES[headers["Result"]],
                    "plies": int(headers["PlyCount"]),
                    "start": start,
                    "milliseconds": times,
                }


def start_of(headers: chess.pgn.Headers) -> str | None:
    """Return the kind of a game's first position; None for one from no book."""
    if "FEN" not in headers:
        return PLAIN
    return BOOK if int(headers["FEN"].split()[-1]) <= BOOK_MOVES else None


def milliseconds_of(headers: chess.pgn.Headers) -> int | None:
    """Return the time for a move, of the slower player; None for games on a clock."""
    told = [headers[key] for key in ("MoveTime", "WhiteTime", "BlackTime") if key in headers]
    found = [re.fullmatch(r"(\d+) ms", each) for each in told]
    if not told or None in found:
        return None
    return max(int(each[1]) for each in found if each is not None)


def measure(places: Sequence[Path], player: str) -> Figures:
    """Return the counts of all games by start and time, and how many files and games there are."""
    rows: dict[tuple[str, int], dict[str, Any]] = defaultdict(
        lambda: {"scores": {"1": 0, "0.5": 0, "0": 0}, "plies": 0, "short": 0}
    )
    files = 0
    for file in pgn_files(places):
        games = list(games_of(file, player))
        files += bool(games)
        for game in games:
            limit = next((each for each in LIMITS if game["milliseconds"] <= each), None)
            if limit is None:
                continue
            row = rows[game["start"], limit]
            row["scores"][f"{game['score']:g}"] += 1
            row["plies"] += game["plies"]
            row["short"] += game["plies"] <= SHORT_PLIES
        say(f"{file}: {len(games)} games")
    cells = [
        {"start": start, "milliseconds": limit, **row}
        for (start, limit), row in sorted(rows.items())
    ]
    return {"player": player, "files": files, "rows": cells}


def tally_of(row: Figures) -> Tally:
    """Return White's results in a row."""
    scores = row["scores"]
    return Tally(scores["1"], scores["0.5"], scores["0"])


def render(figures: Figures) -> Iterator[str]:
    """Yield the table of White's scores, the paper's last."""
    time, start, tally, plies, short = PAPER
    rows = []
    total = Tally()
    for row in figures["rows"]:
        ours = tally_of(row)
        total += ours
        limit = f"to {row['milliseconds']} ms"
        mean = row["plies"] / ours.games
        rows.append([row["start"], limit, *_cells(ours, mean, row["short"])])
    if total.games:
        count = sum(row["short"] for row in figures["rows"])
        mean = sum(row["plies"] for row in figures["rows"]) / total.games
        rows.append(["all", "", *_cells(total, mean, count)])
    rows.append([start, time, *_cells(tally, plies, short)])
    headings = ["start", "time a move", "games", "White won / drawn / lost", "White's score"]
    headings += ["Elo, 95 %", "plies, mean", f"≤ {SHORT_PLIES} plies"]
    yield from table(headings, rows, "llrrrrrr")
    yield ""
    yield f"{total.games:,} games of {figures['files']} files."


def _cells(tally: Tally, plies: float, short: int) -> list[object]:
    counts = str(tally).replace("/", " / ")
    score = f"{100 * tally.points / tally.games:.1f} %"
    return [f"{tally.games:,}", counts, score, trinomial(tally), f"{plies:.1f}", short]


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.white_score", __doc__)
    parser.add_argument("places", nargs="+", type=Path, metavar="PGN", help="files or folders")
    parser.add_argument("--player", default="obscuro", help="default: obscuro")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Count, and print the table; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    publish(parser, words, told.raw, measure(told.places, told.player), render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
