"""How large the search's trees become in self-play, beside Appendix D of the Obscuro paper.

    python -m tools.speed.search_scale --games 4 --movetime 5000 --evaluator material

The engine plays itself, both sides in this process; only the one whose turn it is thinks. All numbers
are means over all searches of all games. Moves that needed no search (the only one, or the capture of
a king that is certainly there) are left out and counted. Ctrl-C shows what there is. If the raw file
has fewer whole games than are asked for, by the same command, the tool goes on after the last of them.

The paper's 5 s are those of the search alone, on 5 cores; here they are the whole move's, with the
update of the belief in them.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Iterator, Sequence
from statistics import fmean, median
from threading import Event
from typing import Any, NamedTuple

import chess
import numpy as np

from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import SearchInfo
from obscuro.kernels import kernel
from obscuro.machine import usable_cores
from obscuro.matches.game_record import OWN_OBSERVATIONS, Turn
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import Allowance
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from obscuro.search.game import CHANCE
from obscuro.search.tree import LEAF, NO_PARENT, NODES, ROOT_INFOSET, ROOTS, Tree
from tools.common import (
    INTERRUPTED,
    add_at_most,
    add_evaluator,
    add_options,
    engine_options,
    figures_so_far,
    find_option,
    given,
    publish,
    say,
    set_options,
    table,
    tool_parser,
)
from tools.results.render import wrap

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


@kernel
def _reach_weighted_depth(tree: Any) -> Any:
    """Plies to the first leaf in play by the current strategies, times reach; and the reach."""
    nodes = tree.counts[NODES]
    reach = np.zeros(nodes, dtype=np.float64)
    first = tree.infoset_first[ROOT_INFOSET]
    plies = 0.0
    total = 0.0
    for node in range(nodes):
        parent = tree.node_parent[node]
        if parent == NO_PARENT:
            reach[node] = tree.strategy[first + node]
        else:
            reach[node] = reach[parent] * tree.strategy[tree.node_parent_action[node]]
        if reach[node] == 0:
            continue
        edge = tree.node_first_edge[node]
        action = tree.node_first_action[node]
        for k in range(tree.node_edges[node]):
            if tree.edge_child[edge + k] == LEAF:
                weight = reach[node] * tree.strategy[action + k]
                plies += weight * (tree.node_depth[node] + 1)
                total += weight
    return plies, total


def reach_weighted_depth(tree: Tree) -> float:
    """The mean number of plies from the root states to the first leaf, by both sides' strategies.

    The root's choice of J is that of the gadget. Returns 0 where nothing is reached.
    """
    plies, total = _reach_weighted_depth(tree)
    return float(plies / total) if total > 0 else 0.0


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
    reach_depth: float  # plies to the first leaf in play by both sides' strategies
    carried: float  # nodes
    carried_infosets: float
    belief: float  # |P|
    sampled: float
    roots: float  # positions of our infoset that were expanded when the search began
    root_infosets: float  # J
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
    "reach_depth": "depth, weighted by reach",
    "carried": "nodes carried over",
    "carried_infosets": "infosets carried over",
    "belief": "|P|",
    "sampled": "positions added at the root",
    "roots": "positions expanded at the root",
    "root_infosets": "infosets of the other side at the root",
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
    told = OWN_OBSERVATIONS

    def __init__(self, options: Options, looks: list[Look]) -> None:
        self.unsearched = 0
        self._looks = looks
        self._color = chess.WHITE
        self._options = options
        self._player = Player(self._options, say)
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
        reach_depth=reach_weighted_depth(search.tree),
        carried=info.carried,
        carried_infosets=carried_infosets(search.tree, info.expansions),
        belief=info.belief,
        sampled=info.sampled,
        roots=info.roots,
        root_infosets=info.root_infosets,
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


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield what was played, and the table of means beside the paper's, in Markdown."""
    settings = Settings(**figures["settings"])
    games = figures["games"]
    looks = [Look(*each) for each in figures["looks"]]
    yield from wrap(
        f"Played: {len(games)}, at {settings.movetime:,} ms a move, {settings.threads} threads, "
        f"`{settings.evaluator}`, Hash {settings.hash_mib:,} MiB. {len(looks):,} searches; "
        f"{figures['unsearched']:,} moves needed none."
    )
    yield ""
    if games:
        endings = ", ".join(
            f"{game['result']} after {game['plies']} ({game['ending']})" for game in games
        )
        yield from (*wrap(f"Games: {endings}."), "")
    if not looks:
        return
    rows = []
    for name, title in ROWS.items():
        values = [getattr(each, name) for each in looks]
        paper = PAPER.get(name)
        rows.append([title, *averages(values), "" if paper is None else cell(paper)])
    searched = sum(each.seconds for each in looks)
    rate = sum(each.expansions for each in looks) / searched
    rows.append(["expansions a second", cell(rate), "", "", ""])
    if games:
        plies = [float(game["plies"]) for game in games]
        rows.append(["plies a game", *averages(plies), str(PAPER_PLIES)])
    yield from table(
        ["a search", "mean", "median", "largest", "paper's mean, 5 cores"], rows, "lrrrr"
    )


def averages(values: Sequence[float]) -> list[str]:
    """Return the mean, the median and the largest, as cells."""
    return [cell(fmean(values)), cell(median(values)), cell(max(values))]


def cell(value: float) -> str:
    """A number for a table: small ones with two digits after the point, large ones without."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}" if value >= 1 else f"{value:.2f}"


# -- running --------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.search_scale", __doc__)
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds a move")
    parser.add_argument("--threads", type=int, default=min(2, usable_cores()))
    add_evaluator(parser)
    parser.add_argument("--hash", type=int, default=find_option("Hash").default, help="MiB a side")
    parser.add_argument("--max-plies", type=int, default=600, help="longest game")
    parser.add_argument("--seed", type=int, default=1)
    add_at_most(parser, "games")
    add_options(parser)
    return parser


def whole_games(
    figures: dict[str, Any] | None, wanted: int
) -> tuple[list[Look], list[dict[str, Any]], int]:
    """Return the searches and games so far, and the moves without a search.

    Searches of a game that was broken off are dropped. Where no game is missing, nothing is kept.
    """
    games = [] if figures is None else [each for each in figures["games"] if "searches" in each]
    if figures is None or not games or len(games) >= wanted:
        return [], [], 0
    looks = [Look(*each) for each in figures["looks"][: games[-1]["searches"]]]
    return looks, games, games[-1]["unsearched"]


def main(words: Sequence[str] | None = None) -> int:
    """Play, and print the report; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    settings = Settings(
        told.movetime, told.threads, told.evaluator, told.hash, told.max_plies, told.seed
    )
    options = engine_options(Evaluator=told.evaluator, Threads=told.threads, Hash=told.hash)
    set_options(parser, options, told.option)
    looks, games, unsearched = whole_games(figures_so_far(parser, words, told.raw), told.games)
    last = min(told.games, len(games) + (told.at_most or told.games))
    players = (WatchedPlayer(copy.copy(options), looks), WatchedPlayer(copy.copy(options), looks))
    code = 0
    try:
        for number in range(len(games), last):
            record = play_game(
                *players,
                control=settings.movetime,
                seed=settings.seed + number,
                max_plies=settings.max_plies,
            )
            plies = len(record.board.move_stack)
            counts = {
                "searches": len(looks),
                "unsearched": unsearched + sum(player.unsearched for player in players),
            }
            games.append(
                {"result": record.result, "plies": plies, "ending": record.ending, **counts}
            )
            nodes = fmean(each.nodes for each in looks) if looks else 0.0
            say(
                f"game {number + 1} of {told.games}: {record.result}, {plies} plies, "
                f"{record.ending}; {nodes:,.0f} nodes"
            )
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        for player in players:
            player.close()
    figures = {
        "settings": settings._asdict(),
        "games": games,
        "unsearched": unsearched + sum(player.unsearched for player in players),
        "looks": [list(each) for each in looks],
    }
    publish(parser, words, told.raw, figures, render)
    return code


if __name__ == "__main__":
    sys.exit(main())
