"""Replay recorded games: did the search think of the true position, and was its value right?

    python -m tools.play.replay games.pgn --side obscuro --movetime 300 --option Threads=1

GAMES is a file of `obscuro match --pgn` or `--log`. The engine follows each game as one side saw it
and searches at each of that side's turns; the recorded move is then played whatever it chose. The
first table says, by the size of P, how often the true position was in P, at the root of the search
(I), and expanded there, and its weight (docs/arena.md#coverage). The second one compares the search's
value with the value of the true position and with the result of the game.

The value of a true position is that of its best child, as the evaluator sees it and as the search
values a new root. All values are in the view of the side that is followed, from -1 to 1. Moves that
needed no search are left out of the second table. ± is a standard error; the turns of one side of a
game count as one sample. Only the search is timed: the belief is brought up to date before its clock
begins. Ctrl-C shows what there is.

With `--other-seed` a second search follows each turn. A third table says how often both prefer the
same move, how likely it is, and how far apart the strategies are: half the sum of the differences of
all probabilities.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from statistics import fmean
from typing import Any

import chess

from obscuro.cli.bench.common import progress
from obscuro.client.move_report import Report
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import Coverage, GoLimits
from obscuro.evaluation.scale import TAU, value_of_pawns
from obscuro.matches.coverage_table import coverage_rows, size_name, size_names
from obscuro.matches.pgn import CENTIPAWNS
from tools.common import publish, say, table
from tools.play.recorded_games import (
    BOTH,
    FiledGame,
    FollowedTurn,
    Judge,
    Row,
    Side,
    by_nodes,
    by_time,
    collect,
    follow,
    load_games,
    prepared,
    read_arguments,
    replay_parser,
    replay_words,
)
from tools.results.manifest import Loaded

ALL = "all"
_COVERED = ("in_belief", "in_infoset", "expanded", "weight")
_SHAPE = ("roots", "J", "depth")


# -- measuring --------------------------------------------------------------------------------


def replay_side(
    player: Player,
    judge: Judge,
    game: FiledGame,
    side: chess.Color,
    limits: Callable[[int], GoLimits],
    other: Player | None = None,
) -> Iterator[Row]:
    """Yield the figures of each turn of one side of a game; see `describe`.

    limits: as in `follow`. other: one that differs only in its seed, for the agreement of both.
    """
    others = itertools.repeat(None) if other is None else follow(other, game, side, limits)
    for turn, again in zip(follow(player, game, side, limits), others, strict=False):
        value = judge.value(turn.words, player.knowledge)
        yield {
            "game": game.number,
            "side": chess.COLOR_NAMES[side],
            "player": game.names[side],
            **describe(turn),
            **({} if again is None else agreement(turn, again)),
            "true_value": value,
            "result": game.result(side),
        }


def agreement(turn: FollowedTurn, again: FollowedTurn) -> Row:
    """Compare two searches of one turn; empty if it needed none.

    top_share: the probability of the move that the first one prefers. same_top: whether the second
    one prefers it, too. distance: half the sum of the differences of all probabilities.
    """
    one, two = dict(turn.info.policy), dict(again.info.policy)
    if turn.coverage.in_infoset is None or not one or not two:
        return {}
    tops = [max(sorted(each), key=each.__getitem__) for each in (one, two)]
    moves = {*one, *two}
    return {
        "top_share": one[tops[0]],
        "same_top": tops[0] == tops[1],
        "distance": sum(abs(one.get(move, 0) - two.get(move, 0)) for move in moves) / 2,
    }


def describe(turn: FollowedTurn) -> Row:
    """Return what the search of a turn said, and what it knew of the true position.

    share: of the recorded move in the solver's strategy. roots: distinct positions of our infoset
    that were expanded when the search began. J: infosets of the other side at the root. A move that
    needed no search has no coverage but `in_belief`, and neither roots nor J.
    """
    info, coverage = turn.info, turn.coverage
    row: Row = {
        "ply": turn.ply,
        "fen": turn.board.fen(),
        "belief": info.belief,
        "exact": info.exact,
        "in_belief": coverage.in_belief,
        "searched": coverage.in_infoset is not None,
        "move": turn.move.uci(),
        "chosen": turn.choice.move,
        "share": dict(info.policy).get(turn.move.uci(), 0.0),
        "value": info.value,
    }
    if not row["searched"]:
        return row
    return row | {
        "in_infoset": coverage.in_infoset,
        "expanded": coverage.expanded,
        "weight": coverage.weight,
        "roots": info.roots,
        "J": info.root_infosets,
        "sampled": info.sampled,
        "carried": info.carried,
        "nodes": info.nodes,
        "iterations": info.iterations,
        "expansions": info.expansions,
        "depth": info.depth,
        "seldepth": info.seldepth,
        "gadget": info.gadget,
    }


def clustered(differences: Sequence[tuple[object, float]]) -> tuple[float, float | None]:
    """Return the mean of numbers and its standard error; None with fewer than two samples.

    differences: of each turn, the sample that it belongs to and the number. Turns of one sample
    depend on each other.
    """
    mean = fmean(number for _, number in differences)
    sums: dict[object, float] = {}
    for sample, number in differences:
        sums[sample] = sums.get(sample, 0.0) + number - mean
    samples = len(sums)
    if samples < 2:
        return mean, None
    square = sum(each**2 for each in sums.values()) * samples / (samples - 1)
    return mean, math.sqrt(square) / len(differences)


def stated(differences: Sequence[tuple[object, float]], digits: int) -> str:
    """Return the mean with its sign, and the standard error if there is one; see `clustered`."""
    mean, error = clustered(differences)
    return f"{mean:+.{digits}f}" + ("" if error is None else f" ± {error:.{digits}f}")


# -- tables -----------------------------------------------------------------------------------


def by_size(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield the turns of each size of P that has some, and all of them at the end."""
    for name in size_names():
        found = [row for row in rows if size_name(row["belief"]) == name]
        if found:
            yield name, found
    yield ALL, list(rows)


def render(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield both tables."""
    rows = figures["turns"]
    if not rows:
        yield "No turns were replayed."
        return
    yield from _coverage_table(rows)
    yield ""
    yield from _calibration_table([row for row in rows if row["searched"]])
    compared = [row for row in rows if "same_top" in row]
    if compared:
        yield ""
        yield from _agreement_table(compared)


def render_recorded(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield what the searches of recorded matches told of their turns: a row by player and |P|."""
    cells = []
    for each in loaded:
        told: dict[str, list[tuple[int | None, Coverage]]] = {}
        for game, mover, report, coverage in _turns_told(each):
            if coverage is not None:
                belief = None if report is None else report.belief
                told.setdefault(game.names[mover], []).append((belief, coverage))
        for name, turns in sorted(told.items()):
            for row in coverage_rows(turns):
                figures = [_figure(getattr(row, key), digits) for key, digits in _RECORDED.values()]
                cells.append([name, row.size, row.turns, *figures])
    headings = ["player", "|P|", "turns", *_RECORDED]
    yield from table(headings, cells, "ll" + "r" * (len(headings) - 2))


def _turns_told(
    each: Loaded,
) -> Iterator[tuple[FiledGame, chess.Color, Report | None, Coverage | None]]:
    """Yield each turn of a match, with its mover and what the mover told of it."""
    for game in load_games(each.folder / str(each.raw.games)):
        movers = itertools.cycle((game.start.turn, not game.start.turn))
        for mover, report, coverage in zip(movers, game.reports, game.coverages, strict=False):
            yield game, mover, report, coverage


def render_promised(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield what the searches of recorded matches promised beside the results: a row by |P|.

    Both players' turns are in it. A turn without a size of P or a score is left out.
    """
    rows = [
        {
            "game": (each.run.name, game.number),
            "side": mover,
            "belief": report.belief,
            "value": value_of_pawns(report.centipawns / CENTIPAWNS, TAU),
            "mean": None if coverage is None or coverage.root is None else coverage.root.mean,
            "result": game.result(mover),
        }
        for each in loaded
        for game, mover, report, coverage in _turns_told(each)
        if report is not None and report.belief is not None and report.centipawns is not None
    ]
    cells = []
    for name, found in by_size(rows):
        close = [row for row in found if abs(row["value"]) < _CLOSE]
        known = [row for row in found if row["mean"] is not None]
        differences = [(found, "value"), (close, "value"), (known, "mean")]
        cells.append(
            [name, len(found)]
            + [_mean(found, key, 3) for key in ("value", "result")]
            + [_difference(each, "result", key) if each else "-" for each, key in differences]
        )
    headings = ["|P|", "turns", "value", "result", "result - value", "the same, near 0"]
    yield from table([*headings, "result - mean"], cells, "l" + "r" * len(headings))


_CLOSE = 0.2
"""Nearer to 0 than this, a value promises no winner."""
_RECORDED = {
    "in P": ("in_belief", 3),
    "in I": ("in_infoset", 3),
    "expanded": ("expanded", 3),
    "ln weight": ("log_weight", 2),
    "rank": ("rank", 0),
    "p_max": ("p_max", 2),
    "entered": ("entered", 3),
    "fresh": ("fresh", 2),
    "v*": ("star", 2),
    "mean": ("mean", 2),
    "slack": ("slack", 2),
    "gap": ("gap", 4),
}
"""What a table of recorded matches shows of a `CoverageRow`, by heading: the field, its digits."""


def _figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _coverage_table(rows: Sequence[Row]) -> Iterator[str]:
    headings = ["|P|", "turns", "searched", "in P", "in I", "expanded", "weight", "roots", "J"]
    cells = []
    for name, found in by_size(rows):
        searched = [row for row in found if row["searched"]]
        cells.append(
            [name, len(found), len(searched)]
            + [_mean(found if key == "in_belief" else searched, key, 3) for key in _COVERED[:3]]
            + [_mean(searched, "weight", 5)]
            + [_mean(searched, key, 1) for key in _SHAPE]
        )
    yield from table([*headings, "depth"], cells, "l" + "r" * len(headings))


def _calibration_table(rows: Sequence[Row]) -> Iterator[str]:
    headings = ["|P|", "turns", "games", "search", "truth", "result", "search - truth"]
    headings += ["search - result", "truth - result"]
    cells = []
    for name, found in by_size(rows):
        if not found:
            continue
        games = {(row["game"], row["side"]) for row in found}
        cells.append(
            [name, len(found), len(games)]
            + [f"{fmean(row[key] for row in found):+.3f}" for key in _VALUES]
            + [_difference(found, first, second) for first, second in _PAIRS]
        )
    yield from table(headings, cells, "l" + "r" * (len(headings) - 1))


def _agreement_table(rows: Sequence[Row]) -> Iterator[str]:
    headings = ["|P|", "turns", "same top", "its share", f"below {_UNSURE}", "distance"]
    cells = []
    for name, found in by_size(rows):
        unsure = fmean(row["top_share"] < _UNSURE for row in found)
        means = [_mean(found, key, 3) for key in ("same_top", "top_share")]
        cells.append([name, len(found), *means, f"{unsure:.3f}", _mean(found, "distance", 3)])
    yield from table(headings, cells, "l" + "r" * (len(headings) - 1))


_UNSURE = 0.6
"""A move with a smaller share than this is one of several."""
_VALUES = ("value", "true_value", "result")
_PAIRS = (("value", "true_value"), ("value", "result"), ("true_value", "result"))


def _mean(rows: Sequence[Mapping[str, Any]], key: str, digits: int) -> str:
    return f"{fmean(row[key] for row in rows):,.{digits}f}" if rows else "-"


def _difference(rows: Sequence[Mapping[str, Any]], first: str, second: str) -> str:
    return stated([((row["game"], row["side"]), row[first] - row[second]) for row in rows], 3)


# -- running ----------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = replay_parser("tools.play.replay", __doc__, 300)
    parser.add_argument(
        "--side", default=BOTH, help="whose turns: a player's name, white, black or both"
    )
    parser.add_argument("--nodes", type=int, metavar="N", help="nodes a search, in place of a time")
    parser.add_argument(
        "--other-seed", type=int, metavar="SEED", help="search each turn again with this seed"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Replay, and print both tables; returns the exit code."""
    words = replay_words(words)
    parser = make_parser()
    told, sides, options = read_arguments(parser, words, "side")

    def limits(ply: int) -> GoLimits:
        return by_time(told.movetime) if told.nodes is None else by_nodes(told.nodes)

    rows, code = collect(_measure(sides, options, limits, told.other_seed))
    publish(parser, words, told.raw, {"turns": rows}, render)
    return code


def _measure(
    sides: Sequence[Side], options: Options, limits: Callable[[int], GoLimits], seed: int | None
) -> Iterator[Row]:
    """Yield the turns of all sides. seed: of the second search; None: there is none."""
    with ExitStack() as stack:
        player, judge = stack.enter_context(prepared(options))
        other = None
        if seed is not None:
            seeded = options.copy()
            seeded.set("Seed", str(seed))
            other = stack.enter_context(closing(Player(seeded, say)))
            other.prepare()
        tell = stack.enter_context(progress(len(sides)))
        for game, side in sides:
            tell(f"game {game.number}, {game.names[side]} ({chess.COLOR_NAMES[side]})", 0)
            yield from replay_side(player, judge, game, side, limits, other)
            tell(None, 1)


if __name__ == "__main__":
    sys.exit(main())
