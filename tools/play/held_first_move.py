"""What Black's first moves are worth: searches in which Black's first strategy is held.

    python -m tools.play.held_first_move --searches 5 --movetime 5000

Black's first search solves the whole game from the start (Black can't see White's move). Here it is
run again with the strategy at Black's first decision fixed: to what the paper's program played, to
the paper's moves one by one, and to what the free search comes to here. All else is solved for, so
the value is what Black has left against the best reply to that strategy. The table goes to
docs/results/first_moves.md.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from threading import Event

import chess
import numpy as np
from rich.progress import track

from obscuro.engine.options import OPTIONS, Options
from obscuro.engine.player import Player
from obscuro.search.search import Search
from obscuro.search.tree import find_infoset
from tools.play.first_moves import PAPER, first_choice

Strategy = dict[str, float]  # probabilities by move, in UCI

OPENING = "d2d4"  # White's move; Black doesn't see it
FREE, PAPERS, OWN = "free", "held to the paper's strategy", "held to the free search's strategy"


class HeldPlayer(Player):
    """A player whose first strategy as Black is given and never updated."""

    held: Strategy | None = None

    def build_subgame(self, search: Search, deadline: float | None, stop: Event) -> None:
        super().build_subgame(search, deadline, stop)
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


def search(options: Options, held: Strategy | None, movetime: int) -> tuple[float, int, Strategy]:
    """Black's value in [-1, 1], the tree's nodes, and Black's first strategy."""
    player = HeldPlayer(options, lambda text: print(text, file=sys.stderr))
    player.held = held
    choice = first_choice(player, OPENING, movetime)
    assert choice.info is not None
    return choice.info.value, choice.info.nodes, dict(choice.info.policy)


def main(words: Sequence[str] | None = None) -> int:
    """Search and print the table; returns the exit code."""
    arguments = parse_arguments(words)
    options = Options()
    options.set("Evaluator", arguments.evaluator)
    options.set("Threads", str(arguments.threads))
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
    values: dict[str, list[float]] = defaultdict(list)
    nodes: dict[str, list[int]] = defaultdict(list)
    own: dict[str, float] = defaultdict(float)
    for number in track(range(arguments.searches), description="searching"):
        options.set("Seed", str(arguments.seed + number))
        for name, held in cases.items():
            value, count, policy = search(options, held, arguments.movetime)
            values[name].append(value)
            nodes[name].append(count)
            if name == FREE:
                for move, probability in policy.items():
                    own[move] += probability
        # The strategy of all free searches up to here, the last one's noise averaged out.
        value, count, _ = search(options, dict(own), arguments.movetime)
        values[OWN].append(value)
        nodes[OWN].append(count)
    print("\n".join(report(values, nodes)))
    return 0


def report(values: dict[str, list[float]], nodes: dict[str, list[int]]) -> list[str]:
    """The table, as lines of Markdown, best first."""
    lines = [
        "| Black's first strategy | value for Black, mean (least, most) | nodes |",
        "|---|--:|--:|",
    ]
    for name in sorted(values, key=lambda name: -np.mean(values[name])):
        sample = values[name]
        lines.append(
            f"| {name} | {np.mean(sample):+.3f} ({min(sample):+.3f}, {max(sample):+.3f}) "
            f"| {np.mean(nodes[name]):,.0f} |"
        )
    return lines


def parse_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    evaluator = next(option for option in OPTIONS if option.name == "Evaluator")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--searches", type=int, default=5, help="of each strategy")
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds")
    parser.add_argument("--evaluator", choices=evaluator.choices, default=evaluator.default)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of the first searches")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
