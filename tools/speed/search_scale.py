"""How large the search's trees become in self-play, beside Appendix D of the Obscuro paper.

    python -m tools.speed.search_scale --games 4 --movetime 5000 --evaluator material --report FILE

The engine plays itself, both sides in this process; only the one whose turn it is thinks. All numbers
are means over all searches of all games. Moves that needed no search (the only one, or the capture of
a king that is certainly there) are left out and counted. Ctrl-C writes what there is.

The paper's 5 s are those of the search alone, on 5 cores; here they are the whole move's, with the
update of the belief in them.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from threading import Event
from typing import NamedTuple

import chess
import numpy as np
from rich.console import Console

from obscuro import __version__
from obscuro.arena.game_record import GameRecord, Turn
from obscuro.arena.referee import play_game
from obscuro.arena.time_control import Allowance
from obscuro.board.position import from_board
from obscuro.engine.options import OPTIONS, Options
from obscuro.engine.player import Player
from obscuro.engine.report import SearchInfo
from obscuro.fog.account import last_ply
from obscuro.fog.board import FogOfWarBoard
from obscuro.search.game import CHANCE
from obscuro.search.tree import NODES, ROOTS, Tree
from tools.play.first_light import machine, table_head

LAST = 0.1  # share of a search's expansions whose depth is told by itself

# Obscuro, Appendix D: means over 1,000 games at 5 s a move on 5 cores.
PAPER = {
    "nodes": 1_070_552,
    "infosets": 14_404,
    "depth": 10.7,
    "carried": 181_421,
    "carried_infosets": 3_162,
    "belief": 17_264,
}
PAPER_PLIES = 116.6


class Settings(NamedTuple):
    """How games are played."""

    movetime: int  # milliseconds
    threads: int
    evaluator: str
    hash_mib: int
    max_plies: int
    seed: int


class Look(NamedTuple):
    """One search, as it ended."""

    nodes: float  # in the tree: carried over, new at the root, and added
    infosets: float
    depth: float  # mean over the expansions of this search, as reported
    last_depth: float  # the same over the last of them
    deepest: float  # of all that were expanded in this search
    carried: float  # nodes
    carried_infosets: float
    belief: float  # |P|
    sampled: float
    added: float  # nodes
    iterations: float
    expansions: float
    evaluations: float
    seconds: float  # of the whole move
    full: float  # 1 where there was no more room


ROWS = {
    "nodes": "nodes in the tree",
    "infosets": "infosets in the tree",
    "depth": "depth, mean over expansions",
    "last_depth": f"depth, over the last {LAST:.0%} of expansions",
    "deepest": "depth of the deepest expansion",
    "carried": "nodes carried over",
    "carried_infosets": "infosets carried over",
    "belief": "|P|",
    "sampled": "positions added at the root",
    "added": "nodes added in the search",
    "iterations": "iterations",
    "expansions": "expansions",
    "evaluations": "children evaluated",
    "seconds": "seconds a move",
    "full": "trees without room (share)",
}


# -- playing --------------------------------------------------------------------------------


class WatchedPlayer:
    """The engine as a contestant, whose tree is looked at after each of its searches."""

    name = "obscuro"

    def __init__(self, settings: Settings, looks: list[Look]) -> None:
        self.unsearched = 0
        self._looks = looks
        self._color = chess.WHITE
        self._options = Options()
        for name, value in (
            ("Evaluator", settings.evaluator),
            ("Threads", settings.threads),
            ("Hash", settings.hash_mib),
        ):
            self._options.set(name, str(value))
        self._player = Player(self._options, lambda text: print(text, file=sys.stderr))
        self._player.prepare()

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Start afresh."""
        self._color = color
        self._options.set("Seed", str(seed + 1))
        self._player.set_options(self._options)
        self._player.new_game(0 if color == chess.WHITE else 1, from_board(board))

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Search, and look at what the search has left."""
        begin = time.monotonic()
        choice = self._player.search(allowance.limits(begin), Event())
        seconds = time.monotonic() - begin
        if choice.info is not None:
            if choice.info.iterations:
                self._looks.append(look(choice.info, self._player, seconds))
            else:
                self.unsearched += 1
        return Turn(choice.move or "(none)", seconds)

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Pass on what this side sees."""
        last_ply(board, self._color).tell(self._player)

    def close(self) -> None:
        """Close the engine."""
        self._player.close()


def look(info: SearchInfo, player: Player, seconds: float) -> Look:
    """What a search has reported, and what its tree says beside that."""
    search = player.equipment.search
    return Look(
        nodes=info.carried + info.sampled + info.nodes,
        infosets=info.infosets,
        depth=info.depth,
        last_depth=last_depth(search.tree, info.expansions),
        deepest=info.seldepth,
        carried=info.carried,
        carried_infosets=carried_infosets(search.tree, info.expansions),
        belief=info.belief,
        sampled=info.sampled,
        added=info.nodes,
        iterations=info.iterations,
        expansions=info.expansions,
        evaluations=info.evaluations,
        seconds=seconds,
        full=float(search.progress.full),
    )


def last_depth(tree: Tree, expansions: int) -> float:
    """The mean depth of the children of a search's last expansions; nodes are stored in their order."""
    nodes = int(tree.counts[NODES])
    count = max(1, round(LAST * expansions))
    return float(tree.node_depth[max(nodes - count, 0) : nodes].mean()) + 1


def carried_infosets(tree: Tree, expansions: int) -> int:
    """How many infosets the nodes have that were there before the first expansion."""
    first, end = int(tree.counts[ROOTS]), int(tree.counts[NODES]) - expansions
    players = tree.node_player[first:end]
    return len(np.unique(tree.node_infoset[first:end][players != CHANCE]))


# -- the report -----------------------------------------------------------------------------


def report(
    games: Sequence[GameRecord],
    looks: Sequence[Look],
    unsearched: int,
    settings: Settings,
    words: Sequence[str],
) -> Iterator[str]:
    """Yield the lines of the report, in Markdown."""
    yield from ("# Size of the search in self-play", "")
    yield (
        f"Obscuro {__version__} against itself: {len(games)} games at {settings.movetime:,} ms a "
        f"move, {settings.threads} threads, values by `{settings.evaluator}`, Hash "
        f"{settings.hash_mib:,} MiB. {len(looks):,} searches; {unsearched:,} moves needed none."
    )
    yield from ("", "Made by", "", "```")
    yield " ".join(["python -m tools.speed.search_scale", *words])
    yield from ("```", "", *(f"- {fact}" for fact in machine()), "")
    if games:
        plies = [len(game.board.move_stack) for game in games]
        endings = ", ".join(
            f"{game.result} after {n} ({game.ending})" for game, n in zip(games, plies, strict=True)
        )
        yield from (f"Games: {endings}.", "")
    if not looks:
        return
    yield from table_head(["a search", "mean", "median", "largest", "paper's mean, 5 cores"])
    for name, title in ROWS.items():
        values = [getattr(each, name) for each in looks]
        cells = [cell(fmean(values)), cell(median(values)), cell(max(values))]
        paper = PAPER.get(name)
        escaped = title.replace("|", "\\|")
        yield f"| {escaped} | {' | '.join(cells)} | {'' if paper is None else cell(paper)} |"
    searched = sum(each.seconds for each in looks)
    rate = sum(each.expansions for each in looks) / searched
    yield f"| expansions a second | {cell(rate)} | | | |"
    if games:
        cells = [cell(fmean(plies)), cell(median(plies)), cell(max(plies)), str(PAPER_PLIES)]
        yield f"| plies a game | {' | '.join(cells)} |"


def cell(value: float) -> str:
    """A number for a table: small ones with two digits after the point, large ones without."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}" if value >= 1 else f"{value:.2f}"


# -- running --------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Play, and write the report; returns the exit code."""
    words = sys.argv[1:] if words is None else words
    arguments = parse_arguments(words)
    settings = Settings(
        arguments.movetime,
        arguments.threads,
        arguments.evaluator,
        arguments.hash,
        arguments.max_plies,
        arguments.seed,
    )
    console = Console(stderr=True, highlight=False, markup=False)
    looks: list[Look] = []
    games: list[GameRecord] = []
    players = (WatchedPlayer(settings, looks), WatchedPlayer(settings, looks))
    code = 0
    try:
        for number in range(arguments.games):
            record = play_game(
                *players,
                movetime=settings.movetime,
                seed=settings.seed + number,
                max_plies=settings.max_plies,
            )
            games.append(record)
            plies = len(record.board.move_stack)
            nodes = fmean(each.nodes for each in looks) if looks else 0.0
            console.print(
                f"game {number + 1} of {arguments.games}: {record.result}, {plies} plies, "
                f"{record.ending}; {nodes:,.0f} nodes",
                soft_wrap=True,
            )
    except KeyboardInterrupt:
        code = 130
    finally:
        for player in players:
            player.close()
    unsearched = sum(player.unsearched for player in players)
    text = "\n".join(report(games, looks, unsearched, settings, words))
    if arguments.report is None:
        print(text)
    else:
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        arguments.report.write_text(text + "\n", encoding="utf-8")
        console.print(f"{arguments.report} is written.", soft_wrap=True)
    return code


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    options = {option.name: option for option in OPTIONS}
    evaluator, memory = options["Evaluator"], options["Hash"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds a move")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--evaluator", choices=evaluator.choices, default=evaluator.default)
    parser.add_argument("--hash", type=int, default=memory.default, help="MiB of each side")
    parser.add_argument("--max-plies", type=int, default=600, help="longest game")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, metavar="FILE", help="default: print it")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
