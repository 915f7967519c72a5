"""The time of one program of each kind of subgame solving, at the largest infoset of a game.

    python -m tools.proofs.gs2_times
    python -m tools.proofs.gs2_times --games liars_dice goofspiel_10 --seat second

Ge et al. (2023) print such times for one infoset of Liar's Dice with seven sides. Here it is the
infoset with most nodes below it, of those where both players have acted once and that the searching
player's blueprint reaches. A program is built and solved once, without a choice among its optimal
strategies. What is built once for a game is not counted. Times are the processor's.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from obscuro.research.games.cfr import CounterfactualRegret
from obscuro.research.games.extensive_form import Mirrored
from obscuro.research.games.game_tree import enumerate_game
from obscuro.research.games.generative import DiverseBlock, both_have_acted
from obscuro.research.games.infoset_hypergraph import COMMON_KNOWLEDGE
from obscuro.research.games.klss import SubgameSolver
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.root_rules import (
    MaxmarginRoot,
    RootBudget,
    RootRule,
    SoftRoot,
    belief_prior,
)
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.research.games.subgame_program import AsSolved, Method
from obscuro.search.game import MAX
from tools.common import given, publish, say, table, tool_parser
from tools.proofs.gs2_table import GAMES, ONE_KLSS, SEATS, UNSAFE, Gs2Game

LARGEST: Final = "liars_dice_7"
TIMED: Final[dict[str, Gs2Game]] = {
    **GAMES,
    LARGEST: Gs2Game("Liar's Dice, 7 sides", lambda: LiarsDice(7), 1605591, 114688, False),
}
PRINTED: Final = {(LARGEST, UNSAFE): 122, (LARGEST, ONE_KLSS): 41, (LARGEST, "D 3"): 10}
"""The seconds that G prints, on another machine."""


class Timed:
    """One kind of subgame solving. order: as `SubgameSolver` takes it."""

    def __init__(self, rule: RootRule, order: int | None, budget: RootBudget | None) -> None:
        """Keep what makes a solver."""
        self.rule, self.order, self.budget = rule, order, budget


def kinds(method: Method) -> dict[str, Timed]:
    """Return the kinds that G times."""
    maxmargin = MaxmarginRoot(AsSolved(method))
    return {
        UNSAFE: Timed(SoftRoot(1.0, belief_prior, "as solved"), COMMON_KNOWLEDGE, None),
        ONE_KLSS: Timed(maxmargin, 1, None),
        "D 3": Timed(maxmargin, 1, DiverseBlock(3)),
    }


def measure(name: str, seat: str, iterations: int, method: Method) -> dict[str, Any]:
    """Solve one subgame of each kind in one game."""
    game = TIMED[name].make()
    tree = enumerate_game(game if seat == SEATS[0] else Mirrored(game))
    say(f"{name}: {len(tree.states)} nodes")
    blueprint = CounterfactualRegret(tree)
    blueprint.run(iterations)
    policy = blueprint.average()
    form = SequenceForm(tree)
    moves = np.flatnonzero(tree.player == MAX)
    reached = form.reach(policy)[moves] > 0.0
    below = np.bincount(
        tree.infoset[moves], form.subtree_sizes[moves] * reached, len(tree.infosets.key)
    )
    infoset = int(np.argmax(np.where(both_have_acted(tree), below, 0.0)))
    figures: dict[str, Any] = {
        "game": name,
        "seat": seat,
        "nodes": len(tree.states),
        "infosets": len(tree.infosets.key),
        "states": int(np.count_nonzero(tree.infoset == infoset)),
        "kinds": {},
    }
    for kind, timed in kinds(method).items():
        solver = SubgameSolver(tree, np.zeros(len(policy)), timed.order, timed.rule, timed.budget)
        roots = solver.roots(infoset, policy)
        live = roots.live
        if timed.budget is not None:
            inside = tree.infoset[roots.node] == infoset
            here = np.bincount(roots.group[inside], minlength=int(roots.group.max()) + 1)
            live = live & timed.budget.kept(solver.view(roots, policy), here)[roots.group]
        begin = time.process_time()
        solver.solve(infoset, policy)
        seconds = time.process_time() - begin
        figures["kinds"][kind] = {
            "groups": len(np.unique(roots.group[live])),
            "nodes": int(form.subtree_sizes[roots.node[live]].sum()),
            "seconds": seconds,
        }
        say(f"{name}, seat {seat}: {kind} {seconds:.2f} s")
    return figures


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of the page, in Markdown."""
    rows = []
    for each in figures:
        least = each["kinds"]["D 3"]["seconds"]
        printed = PRINTED.get((each["game"], "D 3"))
        for kind, found in each["kinds"].items():
            seconds = PRINTED.get((each["game"], kind))
            theirs = ["–", "–"]
            if seconds is not None and printed is not None:
                theirs = [str(seconds), f"{seconds / printed:.1f}"]
            rows.append(
                [
                    TIMED[each["game"]].title,
                    SEATS.index(each["seat"]) + 1,
                    kind,
                    f"{found['groups']:,}",
                    f"{found['nodes']:,}",
                    f"{found['seconds']:.2f}",
                    f"{found['seconds'] / least:.1f}",
                    *theirs,
                ]
            )
    head = ["game", "seat", "kind", "J's", "nodes below", "s", "times D 3", "s: G", "times D 3: G"]
    yield from table(head, rows, "lrl" + "r" * 6)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.gs2_times", __doc__)
    parser.add_argument("--games", nargs="+", choices=TIMED, default=[LARGEST], metavar="GAME")
    parser.add_argument("--seat", choices=SEATS, default=SEATS[0])
    parser.add_argument("--iterations", type=int, default=10, metavar="T", help="of the blueprint")
    parser.add_argument(
        "--method", choices=["highs-ds", "highs-ipm"], default="highs-ds", help="of Maxmargin"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    words = given(words)
    options = make_parser().parse_args(words)
    figures = [
        measure(name, options.seat, options.iterations, options.method) for name in options.games
    ]
    publish(make_parser(), words, options.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
