"""Self-play games in which the true position is looked for in the beliefs of both sides.

    python -m tools.proofs.belief_selfplay --games 1000

The engine plays itself, by its `material` evaluator, both sides in one process and each in one
thread; several processes play at a time. At each turn of a side, after the belief has been brought up
to date on the clock, the true position is looked for in it. If the belief says that it is exact and
the true position is missing, that is a failure: the exit status is 1, and the report shows the game.
With --patient the belief is brought up to date beside the clock, however long it takes, so that it
stays exact up to --max-positions.

Prints a report in Markdown: how large beliefs became, how long they took, and how much memory. Ctrl-C
prints what there is.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import resource
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from threading import Event
from typing import Any, NamedTuple

import chess
import numpy as np

from obscuro.cli.bench.common import progress
from obscuro.engine.player import Player
from obscuro.engine.turn_time import BELIEF_SHARE, turn_time
from obscuro.machine import usable_cores
from obscuro.matches.game_record import OWN_OBSERVATIONS, Turn
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import Allowance
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from tools.common import (
    INTERRUPTED,
    engine_options,
    find_option,
    given,
    publish,
    say,
    table,
    tool_parser,
)

BOUNDS = (10**4, 10**5, 10**6)
QUANTILES = (0.5, 0.9, 0.99, 0.999, 1.0)
PERCENTS = tuple(f"{100 * quantile:g} %" for quantile in QUANTILES[:-1])
BAR = 50  # characters of the longest bar
BARS_A_DECADE = 2


class Settings(NamedTuple):
    """How games are played."""

    movetime: int  # milliseconds
    overhead: int  # milliseconds
    max_positions: int
    max_plies: int
    seed: int
    patient: bool


class Look(NamedTuple):
    """One turn of one side, when its belief has been brought up to date."""

    before: int  # |P| at the turn before
    size: int
    exact: bool
    there: bool  # whether the true position was in P
    update_seconds: float
    move_seconds: float


class Played(NamedTuple):
    """What came of a game."""

    number: int
    plies: int
    ending: str
    winner: chess.Color | None
    looks: list[Look]
    rebuilds: int
    failures: list[str]
    peak: int  # bytes of memory that its process had at most


# -- playing --------------------------------------------------------------------------------


class WatchedPlayer:
    """The engine as a contestant, whose belief is looked at in each of its turns."""

    told = OWN_OBSERVATIONS

    def __init__(self, settings: Settings) -> None:
        self.name = "obscuro"
        self.looks: list[Look] = []
        self.failures: list[str] = []
        self._settings = settings
        self._color = chess.WHITE
        self._options = engine_options(
            Evaluator="material",
            Threads=1,
            Move_Overhead=settings.overhead,
            Max_Positions=settings.max_positions,
        )
        self._player = Player(self._options, lambda text: None)
        self._player.prepare()

    @property
    def rebuilds(self) -> int:
        """How often the belief was rebuilt in this game."""
        return self._player.belief_rebuilds

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Start afresh."""
        self.looks, self.failures = [], []
        self._color = color
        self._options.set("Seed", str(seed + 1))
        self._player.set_options(self._options)
        self._player.new_game(0 if color == chess.WHITE else 1, from_board(board))

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Update and search as the engine does, on one clock; then look."""
        player, patient = self._player, self._settings.patient
        before = player.belief_size
        begin = time.monotonic()
        limits = allowance.limits(begin)
        side = 0 if self._color == chess.WHITE else 1
        turn = turn_time(limits, side, self._settings.overhead)
        assert turn is not None
        player.update(None if patient else begin + BELIEF_SHARE * (turn.deadline - begin))
        updated = time.monotonic()
        choice = player.search(replace(limits, received=updated) if patient else limits, Event())
        done = time.monotonic()
        seconds = done - (updated if patient else begin)
        look = Look(
            before,
            player.belief_size,
            player.belief_exact,
            player.belief_contains(from_board(board)),
            updated - begin,
            seconds,
        )
        self.looks.append(look)
        if look.exact and not look.there:
            moves = " ".join(move.uci() for move in board.move_stack)
            self.failures.append(
                f"{chess.COLOR_NAMES[self._color]} has lost {board.epd(en_passant='legal')} among "
                f"{look.size:,} positions: position startpos moves {moves}"
            )
        return Turn(choice.move or "(none)", seconds)

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Pass on what this side sees."""
        last_ply(board, self._color).tell(self._player)

    def close(self) -> None:
        """Close the engine."""
        self._player.close()


@functools.cache
def players(settings: Settings) -> tuple[WatchedPlayer, WatchedPlayer]:
    """Two players, made once in a process."""
    return WatchedPlayer(settings), WatchedPlayer(settings)


def play(number: int, settings: Settings) -> Played:
    """Play one game; an error in it is a failure."""
    both = players(settings)
    board = FogOfWarBoard()
    ending, winner, errors = "error", None, []
    try:
        record = play_game(
            *both,
            control=settings.movetime,
            seed=settings.seed + number,
            max_plies=settings.max_plies,
            board=board,
        )
        ending, winner = record.ending, record.winner
    except Exception:
        errors.append(f"{traceback.format_exc()} after {board.epd()}")
    failures = [failure for player in both for failure in player.failures[:1]]
    return Played(
        number,
        len(board.move_stack),
        ending,
        winner,
        [look for player in both for look in player.looks],
        sum(player.rebuilds for player in both),
        [f"game {number + 1}: {failure}" for failure in failures + errors],
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def play_all(games: int, processes: int, settings: Settings) -> Iterator[Played]:
    """Yield the games as they end."""
    if processes == 1:
        for number in range(games):
            yield play(number, settings)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as executor:
        futures = [executor.submit(play, number, settings) for number in range(games)]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            executor.shutdown(cancel_futures=True)


# -- the report -----------------------------------------------------------------------------


def to_figures(games: Sequence[Played], settings: Settings) -> dict[str, Any]:
    """Return games as they are stored; `games_of` is the way back."""
    return {
        "settings": settings._asdict(),
        "games": [
            {**game._asdict(), "looks": [list(look) for look in game.looks]} for game in games
        ],
    }


def games_of(figures: Mapping[str, Any]) -> list[Played]:
    """Return games as they were before they were stored."""
    return [
        Played(**{**game, "looks": [Look(*look) for look in game["looks"]]})
        for game in figures["games"]
    ]


def looks_of(games: Iterable[Played]) -> list[Look]:
    """Return all looks of some games."""
    return [look for game in games for look in game.looks]


def render(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the whole report, in Markdown: failures first, then all tables."""
    games, settings = games_of(figures), Settings(**figures["settings"])
    hurry = "beside the clock" if settings.patient else "on the clock"
    yield (
        f"{len(games):,} games at {settings.movetime} ms a move, values by `material`, one thread, "
        f"at most {settings.max_positions:,} positions, the belief brought up to date {hurry}."
    )
    for failure in [failure for game in games for failure in game.failures]:
        yield from ("", f"FAILURE: {failure}")
    if looks_of(games):
        for part in (render_summary, render_sizes, render_turns, render_times, render_overruns):
            yield ""
            yield from part(figures)


def render_summary(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of everything together."""
    games = games_of(figures)
    looks = looks_of(games)
    exact = [look for look in looks if look.exact]
    inexact = [look for look in looks if not look.exact]
    score = sum(0.5 if game.winner is None else float(game.winner) for game in games)
    slowest = max(looks, key=lambda look: look.update_seconds)
    found = sum(look.there for look in exact)
    kept = sum(look.there for look in inexact)
    all_sizes = [look.size for look in looks]
    rows = {
        "games": f"{len(games):,}",
        "plies a game": f"{sum(game.plies for game in games) / len(games):.1f}",
        "White's score": f"{100 * score / len(games):.1f} %",
        "looks (turns of either side)": f"{len(looks):,}",
        "exact": f"{len(exact):,} ({percent(len(exact), len(looks))})",
        "true position in P while exact": f"{found:,} of {len(exact):,}",
        "true position in P while not exact": f"{kept:,} of {len(inexact):,}",
        "rebuilds": f"{sum(game.rebuilds for game in games):,}, in "
        f"{sum(game.rebuilds > 0 for game in games):,} games",
        "mean / median / largest |P|": f"{np.mean(all_sizes):,.0f} / "
        f"{np.median(all_sizes):,.0f} / {max(all_sizes):,}",
        "longest update": f"{1000 * slowest.update_seconds:,.1f} ms, |P| from "
        f"{slowest.before:,} to {slowest.size:,}",
        "largest memory of a process (two engines)": f"{max(game.peak for game in games) / 2**20:,.0f} MiB",
    }
    yield from table(["", ""], rows.items())


def render_sizes(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of how often P passed certain sizes."""
    games = games_of(figures)
    count = len(looks_of(games))
    rows = []
    for bound in BOUNDS:
        turns = sum(look.size > bound for game in games for look in game.looks)
        within = sum(any(look.size > bound for look in game.looks) for game in games)
        shares = percent(turns, count), percent(within, len(games))
        rows.append([f"{bound:,}", f"{turns:,} ({shares[0]})", f"{within:,} ({shares[1]})"])
    yield from table(["|P| above", "turns", "games"], rows)


def render_turns(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield bars of how many turns there were with beliefs of each size."""
    yield from ("```", *histogram([look.size for look in looks_of(games_of(figures))]), "```")


def histogram(numbers: list[int]) -> Iterator[str]:
    """Yield bars of how many numbers lie in each part of a decade."""
    bins = np.floor(np.log10(np.maximum(numbers, 1)) * BARS_A_DECADE).astype(int)
    counts = np.bincount(bins)
    for part, count in enumerate(counts.tolist()):
        bar = "█" * round(BAR * count / int(counts.max())) or ("▏" if count else "")
        yield f"{10 ** (part / BARS_A_DECADE):>11,.0f} {count:>8,} {bar}"


def render_times(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of how long updates took, in milliseconds, by the size of P."""
    looks = looks_of(games_of(figures))
    rows = []
    lowest = 0
    for bound in (*BOUNDS, sys.maxsize):
        group = [look for look in looks if lowest <= max(look.before, look.size) < bound]
        if group:
            values = [1000 * look.update_seconds for look in group]
            cells = [f"{value:,.1f}" for value in np.quantile(values, QUANTILES)]
            rows.append([f"from {lowest:,}", f"{len(group):,}", *cells])
        lowest = bound
    headings = ["larger |P|, before or after", "turns", *PERCENTS, "longest, ms"]
    yield from table(headings, rows)


def render_overruns(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of by how much moves overran their time, in milliseconds."""
    looks = looks_of(games_of(figures))
    movetime = figures["settings"]["movetime"]
    overruns = [1000 * look.move_seconds - movetime for look in looks]
    late = sum(overrun > 0 for overrun in overruns)
    cells = [f"{value:,.1f}" for value in np.quantile(overruns, QUANTILES)]
    row = [f"{late:,} ({percent(late, len(looks))})", *cells]
    yield from table(["late", *PERCENTS, "most, ms"], [row])


def percent(part: int, whole: int) -> str:
    """A share for a table."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


# -- running --------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.belief_selfplay", __doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--movetime", type=int, default=20, help="milliseconds a move")
    parser.add_argument("--overhead", type=int, default=0, help="milliseconds kept back of these")
    parser.add_argument("--max-positions", type=int, default=find_option("Max Positions").default)
    parser.add_argument("--max-plies", type=int, default=600, help="longest game")
    parser.add_argument("--patient", action="store_true", help="update beside the clock")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=usable_cores())
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play, and print the report; returns the exit status."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    settings = Settings(
        told.movetime, told.overhead, told.max_positions, told.max_plies, told.seed, told.patient
    )
    games: list[Played] = []
    try:
        with progress(told.games) as tell:
            for game in play_all(told.games, told.processes, settings):
                games.append(game)
                tell(None, 1)
                for failure in game.failures:
                    say(failure)
                if len(games) % 50 == 0:
                    tell(f"{len(games)} of {told.games} games", 0)
    except KeyboardInterrupt:
        say("broken off")
    games.sort()
    publish(parser, words, told.raw, to_figures(games, settings), render)
    if any(game.failures for game in games):
        return 1
    return 0 if len(games) == told.games else INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
