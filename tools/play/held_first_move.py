"""What Black's first moves are worth: searches in which Black's first strategy is held.

    python -m tools.play.held_first_move --searches 5 --movetime 5000

Black's first search solves the whole game from the start (Black can't see White's move). Here it is
run again with the strategy at Black's first decision fixed: to what the paper's program played, to
the paper's moves one by one, and to what the free search comes to here. All else is solved for, so
the value is what Black has left against the best reply to that strategy. docs/results/first_moves.md shows
the table.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any

import chess
import numpy as np

from obscuro.cli.bench.common import progress
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.search.search import Search
from obscuro.search.tree import find_infoset
from tools.common import (
    add_evaluator,
    add_options,
    engine_options,
    given,
    publish,
    say,
    set_options,
    table,
    tool_parser,
)
from tools.play.first_moves import PAPER, first_choice

Row = dict[str, Any]  # one search
Strategy = dict[str, float]  # probabilities by move, in UCI

OPENING = "d2d4"  # White's move; Black doesn't see it
FREE, PAPERS, OWN = "free", "held to the paper's strategy", "held to the free search's strategy"


class HeldPlayer(Player):
    """A player whose first strategy as Black is given and never updated."""

    held: Strategy | None = None

    def begin_search(self, search: Search, deadline: float | None, stop: Event) -> None:
        """Build the subgame, then hold the strategy at our first infoset."""
        super().begin_search(search, deadline, stop)
        if self.held is None:
            return
        tree = search.tree
        infoset = int(find_infoset(tree, np.uint64(self.knowledge.key)))
        first, count = int(tree.infoset_first[infoset]), int(tree.infoset_actions[infoset])
        names = self.legal_moves()
        strategy = np.array([self.held.get(name, 0.0) for name in names], dtype=np.float32)
        assert len(names) == count and strategy.sum() > 0
        tree.strategy[first : first + count] = strategy / strategy.sum()
        tree.infoset_frozen[infoset] = 1


def search(
    options: Options, held: Strategy | None, movetime: int | None, nodes: int | None = None
) -> tuple[float, int, Strategy]:
    """Black's value in [-1, 1], the tree's nodes, and Black's first strategy."""
    player = HeldPlayer(options, say)
    player.held = held
    choice = first_choice(player, OPENING, movetime, nodes)
    assert choice.info is not None
    return choice.info.value, choice.info.nodes, dict(choice.info.policy)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.held_first_move", __doc__)
    parser.add_argument("--searches", type=int, default=5, help="of each strategy")
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds")
    add_evaluator(parser)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of the first searches")
    add_options(parser)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Search and print the table; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    options = engine_options(Evaluator=told.evaluator, Threads=told.threads)
    set_options(parser, options, told.option)
    board = chess.Board()
    board.push_uci(OPENING)
    paper = {
        board.parse_san(san).uci(): percent / 100 for san, percent in PAPER[chess.BLACK].items()
    }
    cases: dict[str, Strategy | None] = {FREE: None, PAPERS: paper}
    cases |= {
        f"always {board.san(chess.Move.from_uci(move))}": {move: 1.0}
        for move in sorted(paper, key=lambda move: -paper[move])
    }
    found: list[Row] = []
    own: dict[str, float] = defaultdict(float)
    with progress(told.searches * (len(cases) + 1)) as tell:

        def search_once(name: str, held: Strategy | None) -> Strategy:
            tell(name, 0)
            value, nodes, policy = search(options, held, told.movetime)
            found.append({"strategy": name, "value": value, "nodes": nodes})
            tell(None, 1)
            return policy

        for number in range(told.searches):
            options.set("Seed", str(told.seed + number))
            for name, held in cases.items():
                policy = search_once(name, held)
                if name == FREE:
                    for move, probability in policy.items():
                        own[move] += probability
            # The strategy of all free searches up to here, the last one's noise averaged out.
            search_once(OWN, dict(own))
    publish(parser, words, told.raw, found, render)
    return 0


def render(found: Sequence[Row]) -> Iterator[str]:
    """Yield the table of all strategies, best first."""
    samples: dict[str, list[Row]] = defaultdict(list)
    for each in found:
        samples[each["strategy"]].append(each)
    rows: list[tuple[float, list[str]]] = []
    for name, searches in samples.items():
        values = [each["value"] for each in searches]
        value = f"{np.mean(values):+.3f} ({min(values):+.3f}, {max(values):+.3f})"
        nodes = np.mean([each["nodes"] for each in searches])
        rows.append((float(np.mean(values)), [name, value, f"{nodes:,.0f}"]))
    rows.sort(key=lambda row: -row[0])
    headings = ["Black's first strategy", "value for Black, mean (least, most)", "nodes"]
    yield from table(headings, [cells for _, cells in rows], "lrr")


if __name__ == "__main__":
    sys.exit(main())
