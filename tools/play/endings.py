"""Play won endings: does the side that ought to win do so before the fifty moves are over?

    python -m tools.play.endings KQK KRK KPK two_up --games 50 --movetime 1000

Starts are drawn by lot (`tools/play/won_starts.py`). Both sides know the start, and the strong side
has either colour in turn. Each start is played once, the kinds in turn, so that a broken-off run has
as many of each. With --log JOURNAL the same command plays the rest later. --strong and --weak name
the players, as `obscuro match` does; --option sets an option of both.

The table says how many games the strong side won, drew and lost, how they ended, and how long the won
ones took. With --raw FILE the games go beside that file, as PGN. Ctrl-C shows what there is.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from io import StringIO
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import chess

from obscuro.cli.bench.common import progress
from obscuro.matches.builtin_players import check_entrant
from obscuro.matches.event import ArenaError, Entrant, Event, GameTask
from obscuro.matches.game_record import GameRecord
from obscuro.matches.game_workers import LocalWorkers
from obscuro.matches.journal import Journal
from obscuro.matches.pgn import write_pgn
from obscuro.matches.play_event import EventResult, play_event
from obscuro.matches.time_control import TimeControl
from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_file import GameFileError
from tools.common import (
    INTERRUPTED,
    ROOT,
    add_options,
    engine_options,
    given,
    publish,
    say,
    set_options,
    table,
    tool_parser,
)
from tools.play.recorded_games import Judge, load_games
from tools.play.won_starts import KINDS, TWO_UP, WonStart, bare_starts, rich_starts
from tools.results.manifest import Loaded
from tools.results.raw import write_bytes

STRONG, WEAK = 0, 1
"""The entrants: who ought to win, and who not."""
MAX_PLIES = 600
RECORDED = tuple(
    ROOT / "docs" / "results" / "raw" / "root" / f"{name}_909392b.pgn.gz"
    for name in ("default", "joint", "threads", "batch_4", "root")
)
"""Where the positions of `two_up` come from unless --from says so."""
WON, DRAWN, LOST = 1.0, 0.5, 0.0
HUNTS = ("KQK", "KRK")
"""The endings in which all is a hunt for the lone king. The picture shows a game of each."""


# -- the games --------------------------------------------------------------------------------


def draw_starts(
    kinds: Sequence[str], count: int, seed: int, files: Sequence[Path]
) -> list[WonStart]:
    """Draw so many starts of each kind; the kinds take turns.

    files: of recorded games, for `two_up`. Raises ValueError or GameFileError.
    """
    drawn: list[list[WonStart]] = []
    for kind in kinds:
        if kind == TWO_UP:
            games = [game for file in files for game in load_games(file)]
            with closing(Judge(engine_options(), say)) as judge:
                drawn.append(rich_starts(count, seed, games, judge))
        else:
            drawn.append(bare_starts(kind, count, seed))
    return [start for turn in zip(*drawn, strict=True) for start in turn]


def make_event(
    starts: Sequence[WonStart], players: Sequence[str], options: Mapping[str, str], movetime: int
) -> Event:
    """Return the event in which each start is played once.

    players: of the strong and of the weak side. options: of both. Raises ValueError.
    """
    names = ("strong", "weak")
    entrants = tuple(
        Entrant(name, player, options) for name, player in zip(names, players, strict=True)
    )
    for entrant in entrants:
        check_entrant(entrant)
    numbers: Counter[str] = Counter()
    tasks: list[GameTask] = []
    for start in starts:
        numbers[start.kind] += 1
        white, black = (STRONG, WEAK) if start.strong == chess.WHITE else (WEAK, STRONG)
        task = len(tasks)
        tasks.append(
            GameTask(task, white, black, start.opening(numbers[start.kind]), task + 1, task)
        )
    return Event("Won endings", entrants, tuple(tasks), TimeControl(movetime), MAX_PLIES)


def figures_of(start: WonStart, record: GameRecord) -> dict[str, Any]:
    """Return what is kept of a game.

    score: the strong side's points. turns: of each ply, the move, |P| and the centipawns of the
    mover's search; None where it made no report.
    """
    reports = [ply.turn.report for ply in record.plies]
    return {
        "kind": start.kind,
        "fen": start.board.fen(),
        "strong": chess.COLOR_NAMES[start.strong],
        "score": record.score(start.strong),
        "ending": record.ending,
        "regular": record.regular,
        "turns": [
            [ply.turn.uci, *((report.belief, report.centipawns) if report else (None, None))]
            for ply, report in zip(record.plies, reports, strict=True)
        ],
    }


# -- the table --------------------------------------------------------------------------------


def render(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each kind, and a line for each game that was not won."""
    games = figures["games"]
    if not games:
        yield "No games were played."
        return
    headings = ["ending", "games", "won", "drawn", "lost", "how the others ended"]
    headings += ["plies of won games: median", "nine tenths", "most"]
    cells = []
    for kind in KINDS:
        found = [game for game in games if game["kind"] == kind]
        if found:
            cells.append([kind, len(found), *_cells(found)])
    yield from table(headings, cells, "lrrrrlrrr")


def _cells(games: Sequence[Mapping[str, Any]]) -> list[object]:
    scores = Counter(game["score"] for game in games)
    causes = Counter(
        ("lost, " if game["score"] == LOST else "") + game["ending"]
        for game in games
        if game["score"] != WON
    )
    plies = [len(game["turns"]) for game in games if game["score"] == WON]
    tenths = quantiles(plies, n=10, method="inclusive")[-1] if len(plies) > 1 else None
    return [
        *(scores[score] for score in (WON, DRAWN, LOST)),
        ", ".join(f"{cause} {count}" for cause, count in causes.most_common()) or "-",
        f"{median(plies):.0f}" if plies else "-",
        "-" if tenths is None else f"{tenths:.0f}",
        max(plies, default="-"),
    ]


def render_hunts(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield how lone kings fell, and how many squares they might have been on; see `HUNTS`."""
    headings = ["ending", "won", "the king stepped into an attack", "it stood attacked before"]
    headings += ["strong side's P: median", "nine tenths", "most"]
    cells = []
    for kind in HUNTS:
        won = [game for game in figures["games"] if game["kind"] == kind and game["score"] == WON]
        if not won:
            continue
        attacked = sum(map(stood_attacked, won))
        sizes = [size for game in won for size in _sizes(game)]
        tenths = quantiles(sizes, n=10, method="inclusive")[-1] if len(sizes) > 1 else sizes[0]
        cells.append([kind, len(won), len(won) - attacked, attacked])
        cells[-1] += [f"{median(sizes):.0f}", f"{tenths:.0f}", max(sizes)]
    yield from table(headings, cells, "lrrrrrr")


def stood_attacked(game: Mapping[str, Any]) -> bool:
    """Return whether the king of the weak side stood attacked before its last move.

    game: the figures of a game that the strong side won by capturing the king.
    """
    board = FogOfWarBoard(game["fen"])
    for uci, *_ in game["turns"][:-2]:
        board.push_uci(uci)
    weak = game["strong"] != chess.COLOR_NAMES[chess.WHITE]
    king = board.king(weak)
    return king is not None and board.is_attacked_by(not weak, king)


def _sizes(game: Mapping[str, Any]) -> list[int]:
    """Return |P| at the strong side's turns."""
    first = chess.Board(game["fen"]).turn == (game["strong"] == chess.COLOR_NAMES[chess.WHITE])
    return [size for _, size, _ in game["turns"][0 if first else 1 :: 2] if size is not None]


# -- the picture ------------------------------------------------------------------------------


def hunt_of(games: Sequence[Mapping[str, Any]], kind: str) -> Mapping[str, Any]:
    """Return the won game of a kind at nine tenths of their lengths: a long hunt, not the longest.

    Raises ValueError if there is none.
    """
    won = [game for game in games if game["kind"] == kind and game["score"] == WON]
    if not won:
        raise ValueError(f"no {kind} was won")
    won.sort(key=lambda game: len(game["turns"]))
    return won[len(won) * 9 // 10]


def draw(file: Path, loaded: Loaded, mark: str) -> None:
    """Draw a hunt of each kind in `HUNTS`: |P| of both sides, and what the strong side expects.

    mark: kept in the file. Raises ImportError without matplotlib.
    """
    import matplotlib as mpl  # noqa: PLC0415 - an extra

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    plots, panels = plt.subplots(2, len(HUNTS), figsize=(9, 5), sharex="col", layout="constrained")
    for column, kind in enumerate(HUNTS):
        game = hunt_of(loaded.raw.data["games"], kind)
        start = chess.Board(game["fen"])
        sides = {"strong side": [], "lone king": []}  # type: dict[str, list[tuple[int, int]]]
        pawns: list[tuple[int, float]] = []
        for ply, (_, size, centipawns) in enumerate(game["turns"]):
            mover = start.turn == (ply % 2 == 0)
            strong = chess.COLOR_NAMES[mover] == game["strong"]
            if size is not None:
                sides["strong side" if strong else "lone king"].append((ply, size))
            if strong and centipawns is not None and ply < len(game["turns"]) - 1:
                pawns.append((ply, centipawns / 100))
        above, below = panels[0][column], panels[1][column]
        for name, points in sides.items():
            above.plot(*zip(*points, strict=True), marker=".", label=name)
        above.set_yscale("log")
        above.set_title(f"{kind}: {game['fen'].split()[0]}", fontsize=8)
        below.plot(*zip(*pawns, strict=True), marker=".", color="black")
        below.set_xlabel("ply")
    panels[0][0].set_ylabel("positions possible, |P|")
    panels[1][0].set_ylabel("strong side's value, pawns")
    panels[0][0].legend(fontsize=8)
    plots.savefig(file, dpi=110, metadata={"Description": mark})
    plt.close(plots)


# -- running ----------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.endings", __doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}; default all")
    parser.add_argument("--games", type=int, default=50, metavar="N", help="of each kind")
    parser.add_argument("--movetime", type=int, default=1000, metavar="MS", help="for each move")
    parser.add_argument("--concurrency", type=int, default=1, metavar="N", help="games at a time")
    parser.add_argument("--seed", type=int, default=1, help="of the starts")
    parser.add_argument("--strong", default="obscuro", metavar="PLAYER", help="who ought to win")
    parser.add_argument("--weak", default="obscuro", metavar="PLAYER", help="the other side")
    parser.add_argument("--log", type=Path, metavar="JOURNAL", help="keep the games, and go on")
    parser.add_argument(
        "--from",
        dest="files",
        type=Path,
        nargs="+",
        default=RECORDED,
        metavar="GAMES",
        help=f"files of recorded games, for {TWO_UP}",
    )
    add_options(parser)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play, and print the table; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    kinds = told.kinds or list(KINDS)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or len(set(kinds)) < len(kinds):
        parser.error(f"kinds are {', '.join(KINDS)}, each once")
    for name in ("games", "movetime", "concurrency"):
        if getattr(told, name) <= 0:
            parser.error(f"--{name}: must be above 0")
    set_options(parser, engine_options(), told.option)
    options = dict(text.split("=", 1) for text in told.option)
    try:
        starts = draw_starts(kinds, told.games, told.seed, told.files)
        event = make_event(starts, (told.strong, told.weak), options, told.movetime)
        result = _play(event, told)
    except (ValueError, GameFileError, ArenaError) as error:
        parser.error(str(error))
    played = [(number, result.games[number]) for number in sorted(result.games)]
    figures = {"games": [figures_of(starts[number], game) for number, game in played]}
    games: str | None = None
    if told.raw is not None:
        games = _write_games(told.raw, event, played)
    publish(parser, _without_log(words), told.raw, figures, render, games=games)
    if result.failure is None:
        return 0
    if isinstance(result.failure, KeyboardInterrupt):
        return INTERRUPTED
    say(f"endings: {result.failure}")
    return 1


def _play(event: Event, told: argparse.Namespace) -> EventResult:
    """Play what the journal does not hold yet. Raises ArenaError."""

    def one_game(task: GameTask, game: GameRecord) -> None:
        points = game.score(task.white == STRONG)
        say(f"{task.opening.name}: {points:g}, {game.ending}, {len(game.plies)} plies")
        tell(None, 1)

    with ExitStack() as stack:
        tell = stack.enter_context(progress(len(event.tasks)))
        journal = stack.enter_context(Journal.open(told.log, event)) if told.log else None
        if journal is not None:
            tell(None, len(journal.games))
        return play_event(event, LocalWorkers(told.concurrency, say), journal, on_game=one_game)


def _write_games(raw: Path, event: Event, played: Sequence[tuple[int, GameRecord]]) -> str:
    """Write the games as compressed PGN beside a raw file, and return the file's name."""
    text = StringIO()
    for number, game in played:
        write_pgn(text, game, event=event.name, round_=number + 1)
    name = raw.name.partition(".")[0] + ".pgn.gz"
    raw.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(raw.parent / name, text.getvalue().encode())
    return name


def _without_log(words: Sequence[str]) -> list[str]:
    """Return the command line without `--log JOURNAL`: it says nothing of the games."""
    kept = list(words)
    if "--log" in kept:
        place = kept.index("--log")
        del kept[place : place + 2]
    return kept


if __name__ == "__main__":
    sys.exit(main())
