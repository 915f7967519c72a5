"""Generative subgame solving on a few infosets, beside 1-KLSS, in the games of Ge et al. (2023).

    python -m tools.proofs.gs2_table
    python -m tools.proofs.gs2_table --games leduc shedding --iterations 100 --seeds 3
    python -m tools.proofs.gs2_table --games leduc --kinds 1-KLSS "D 3" --visits 10000 100000

A blueprint is the average of CFR after few iterations. From where both players have acted once, a
subgame is solved exactly at every infoset that the searching player can reach, nested, by Maxmargin
and a linear program. Measured is how much less it gets against a best response than the game's value,
in the game's units, in both seats. The kinds of subgames:

    unsafe   the common-knowledge subgame; the opponent's range is the blueprint's, and stays so
    1-KLSS   all of the opponent's infosets J that touch the own one
    D k      of these the k whose alternate values are nearest to those left out (diversity)
    R k      those of k states drawn at random, the mean over the seeds

and, if they are asked for by `--kinds`,

    common knowledge  Maxmargin on the common-knowledge subgame, which is safe
    D k reweighted    a J's margin counts as much as the reach of it and of those it stands for
    D k random ties   of J's with equal values one is drawn, the mean over the seeds
    D k ends          the least and the greatest value are always kept
    D k before        the roots are the nodes before the opponent's last move; also `1-KLSS before`

The floor is what the best play from there on would still lose.

The linear programs are small, so the paper's limit of three seconds never binds. In place of it
`--visits` limits how many nodes CFR+ may visit in a subgame, for 1-KLSS and for blocks. All games
take about an hour on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.cfr import CounterfactualRegret
from obscuro.research.games.extensive_form import ExtensiveForm, Mirrored
from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.generative import DiverseBlock, RandomBlock, both_have_acted
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.infoset_hypergraph import COMMON_KNOWLEDGE
from obscuro.research.games.klss import SubgameSolver, guaranteed, least_exploitable
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.limited_maxmargin import LimitedMaxmargin
from obscuro.research.games.root_rules import RootBudget, RootRule, SoftRoot, belief_prior
from obscuro.research.games.shedding import SheddingGame
from obscuro.research.games.subgame_program import AsSolved, Choice, Margins
from obscuro.search.game import MAX, MIN
from tools.common import given, publish, say, table, tool_parser
from tools.results.manifest import Loaded

ITERATIONS: Final = (10, 100)
SEEDS: Final = 10
SIZES: Final = (1, 3, 10)
LIMITED_SIZES: Final = (3, 10)
ONE_KLSS, UNSAFE, SAFE = "1-KLSS", "unsafe", "common knowledge"
SEATS: Final = ("first", "second")
_LIMIT: Final = ", "  # between a kind and how many nodes it may visit


class Gs2Game(NamedTuple):
    """A game of the table. nodes, infosets: as G prints them; None: not a game of G's."""

    title: str
    make: Callable[[], ExtensiveForm[Any]]
    nodes: int | None
    infosets: int | None
    symmetric: bool  # whether its value is 0 because the seats are alike


GAMES: Final[dict[str, Gs2Game]] = {
    "leduc": Gs2Game("3-rank limit Leduc poker", LeducPoker, 9457, 936, False),
    "liars_dice": Gs2Game("Liar's Dice, 6 sides", lambda: LiarsDice(6), 294883, 24576, False),
    "goofspiel_5": Gs2Game(
        "Goofspiel, 5 cards, random, 3 rounds",
        lambda: Goofspiel(5, "random", 3),
        322656,
        16130,
        True,
    ),
    "goofspiel_10": Gs2Game(
        "Goofspiel, 10 cards, ascending, 3 rounds",
        lambda: Goofspiel(10, "increasing", 3),
        592311,
        1458,
        True,
    ),
    "goofspiel_12": Gs2Game(
        "Goofspiel, 12 cards, ascending, 3 rounds",
        lambda: Goofspiel(12, "increasing", 3),
        1935805,
        2178,
        True,
    ),
    "shedding": Gs2Game("Shedding game, 8 cards", SheddingGame, None, None, False),
}


class Solving(NamedTuple):
    """One kind of subgame solving. rule, order, before: as `SubgameSolver` takes them."""

    rule: RootRule | Choice
    order: int | None
    budgets: list[RootBudget | None]  # one, or one for each seed
    before: bool = False


def kinds(seeds: int) -> dict[str, Solving]:
    """Return all kinds without a limit, in the order of the table."""
    found = {
        UNSAFE: Solving(SoftRoot(1.0, belief_prior, "as solved"), COMMON_KNOWLEDGE, [None]),
        ONE_KLSS: Solving(Margins(), 1, [None]),
    }
    for size in SIZES:
        found[f"D {size}"] = Solving(Margins(), 1, [DiverseBlock(size)])
    for size in SIZES:
        drawn: list[RootBudget | None] = [RandomBlock(size, seed) for seed in range(1, seeds + 1)]
        found[f"R {size}"] = Solving(Margins(), 1, drawn)
    found[SAFE] = Solving(Margins(), COMMON_KNOWLEDGE, [None])
    for size in SIZES:
        found[f"D {size} reweighted"] = Solving(Margins(), 1, [DiverseBlock(size, reweight=True)])
    for size in SIZES:
        tied: list[RootBudget | None] = [
            DiverseBlock(size, seed=seed) for seed in range(1, seeds + 1)
        ]
        found[f"D {size} random ties"] = Solving(Margins(), 1, tied)
    for size in SIZES:
        found[f"D {size} ends"] = Solving(Margins(), 1, [DiverseBlock(size, ends=True)])
    found[f"{ONE_KLSS} before"] = Solving(Margins(), 1, [None], before=True)
    for size in SIZES:
        found[f"D {size} before"] = Solving(Margins(), 1, [DiverseBlock(size)], before=True)
    return found


USUAL: Final = [name for name in kinds(1) if name != SAFE and len(name.split()) < 3]
"""The kinds that are measured unless the command line names some."""


def limited(visits: Sequence[int]) -> dict[str, Solving]:
    """Return 1-KLSS and blocks with so many nodes visited in a subgame at most."""
    found = {}
    for most in visits:
        rule = LimitedMaxmargin(most)
        found[f"{ONE_KLSS}{_LIMIT}{most:,}"] = Solving(rule, 1, [None])
        for size in LIMITED_SIZES:
            found[f"D {size}{_LIMIT}{most:,}"] = Solving(rule, 1, [DiverseBlock(size)])
    return found


def measure(
    name: str,
    seat: str,
    iterations: Sequence[int],
    measured: Mapping[str, Solving],
    *,
    simultaneous: bool = False,
    everywhere: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield the figures of one game and seat, one for each blueprint.

    simultaneous: whether the blueprint's CFR updates both players at once. everywhere: whether
    subgames are solved from the first infoset on.
    """
    known = GAMES[name]
    game = known.make()
    tree = enumerate_game(game if seat == SEATS[0] else Mirrored(game))
    floor = np.zeros(len(tree.infosets.action))
    value = 0.0
    if not known.symmetric:
        value = least_exploitable(tree, floor, AsSolved("highs-ipm")).value

    def lost(policy: NDArray[np.float64]) -> float:
        return value - guaranteed(tree, policy)

    where = None if everywhere else both_have_acted(tree)
    sizes = {
        "nodes": len(tree.states),
        "infosets": len(tree.infosets.key),
        "largest": largest_infoset(tree),
    }
    blueprint = CounterfactualRegret(tree, simultaneous=simultaneous)
    for count in sorted(iterations):
        blueprint.run(count - blueprint.iterations)
        policy = blueprint.average()
        figures: dict[str, Any] = {
            "game": name,
            "seat": seat,
            "iterations": count,
            **sizes,
            "value": value,
            "blueprint": lost(policy),
            "floor": value - best_later(tree, policy, where),
            "kinds": {},
        }
        for kind, solving in measured.items():
            after, seconds, programs = [], 0.0, 0
            for budget in solving.budgets:
                solver = SubgameSolver(
                    tree, floor, solving.order, solving.rule, budget, before=solving.before
                )
                begin = time.process_time()
                nested = solver.solve_everywhere(policy, where=where)
                seconds += time.process_time() - begin
                programs += nested.programs
                after.append(lost(nested.policy))
            figures["kinds"][kind] = {"after": after, "seconds": seconds, "programs": programs}
            say(f"{name}, seat {seat}, T = {count}: {kind} {np.mean(after):.4f} ({seconds:.0f} s)")
        yield figures


def best_later(
    tree: GameTree[Any], policy: NDArray[np.float64], where: NDArray[np.bool_] | None
) -> float:
    """Return the most that ▲ can guarantee if it plays `policy` but at the infosets `where`.

    policy: float64[S]. where: bool[I]; None: everywhere.
    """
    free = np.repeat(
        np.ones(len(tree.infosets.key), np.bool_) if where is None else where,
        np.diff(tree.infosets.offsets),
    )
    return least_exploitable(tree, np.where(free, 0.0, policy), AsSolved("highs-ipm")).value


def largest_infoset(tree: GameTree[Any]) -> int:
    """Return how many of the opponent's infosets touch the infoset of ▲ that touches most."""
    nodes = np.flatnonzero(tree.player == MAX)
    pairs = np.unique(
        np.stack([tree.infoset[nodes].astype(np.uint64), tree.keys[nodes, MIN]]), axis=1
    )
    return int(np.bincount(pairs[0].astype(np.int64)).max())


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the tables of the page, in Markdown."""
    head = ["game", "nodes: G", "here", "infosets: G", "here", "largest, seat 1", "seat 2"]
    rows = []
    for name, known in GAMES.items():
        ours = [each for each in figures if each["game"] == name]
        if not ours:
            continue
        largest = {each["seat"]: f"{each['largest']:,}" for each in ours}
        printed = [f"{n:,}" if n is not None else "–" for n in (known.nodes, known.infosets)]
        sizes = [f"{ours[0][key]:,}" for key in ("nodes", "infosets")]
        cells = [printed[0], sizes[0], printed[1], sizes[1]]
        rows.append([known.title, *cells, *(largest.get(seat, "") for seat in SEATS)])
    yield from table(head, rows, "lrrrrrr")
    yield ""
    names = list(dict.fromkeys(kind for each in figures for kind in each["kinds"]))
    in_order = sorted(figures, key=lambda one: list(GAMES).index(one["game"]))
    exact = [name for name in names if _LIMIT not in name]
    head = ["game", "seat", "T", "blueprint", "floor", *exact, "s a program: 1-KLSS", "D 3"]
    rows = []
    for each in in_order:
        cells = [_cell(each["kinds"].get(kind), each["blueprint"]) for kind in exact]
        times = [_seconds(each["kinds"].get(kind)) for kind in (ONE_KLSS, "D 3")]
        rows.append([*_blueprint(each), *cells, *times])
    yield from table(head, rows, "l" + "r" * (len(head) - 1))
    if len(exact) == len(names):
        return
    yield ""
    limits = list(dict.fromkeys(name.split(_LIMIT)[1] for name in names if _LIMIT in name))
    of_limits = [ONE_KLSS, *(f"D {size}" for size in LIMITED_SIZES)]
    head = ["game", "seat", "T", "blueprint", "floor", "nodes visited", *of_limits]
    rows = []
    for each in in_order:
        for limit in limits:
            found = [each["kinds"].get(f"{kind}{_LIMIT}{limit}") for kind in of_limits]
            cells = [_cell(one, each["blueprint"]) for one in found]
            rows.append([*_blueprint(each), limit, *cells])
    yield from table(head, rows, "l" + "r" * (len(head) - 1))


class Bar(NamedTuple):
    """What a kind may lose in Goofspiel, or must, as a share of what another loses."""

    seat: str
    iterations: int
    kind: str
    other: str  # a kind, `BLUEPRINT`, or `FLOOR`
    bound: float
    at_least: bool = False


BLUEPRINT: Final = "blueprint"
FLOOR: Final = "floor"
BARS: Final = (
    Bar(SEATS[0], 100, "D 3", ONE_KLSS, 1.35),
    Bar(SEATS[0], 100, "D 3", BLUEPRINT, 0.9),
    Bar(SEATS[1], 30, "D 10", FLOOR, 1.05),
    Bar(SEATS[1], 30, "R 3", BLUEPRINT, 1.0, at_least=True),
)
"""What this project had set itself before it measured."""


def render_bars(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield a table of `BARS` and what these runs reached, in Markdown."""
    rows = []
    for bar in BARS:
        sign = "≥" if bar.at_least else "≤"
        text = f"seat {SEATS.index(bar.seat) + 1}, T = {bar.iterations}: {bar.kind} {sign} "
        text += f"{bar.bound:g} × {bar.other}"
        for run in loaded:
            updates = "simultaneous" if "--simultaneous" in run.run.command else "alternating"
            for each in run.raw.data:
                share = _share(each, bar)
                if share is not None:
                    reached = share >= bar.bound if bar.at_least else share <= bar.bound
                    title = GAMES[each["game"]].title
                    rows.append(
                        [text, title, updates, f"{share:.2f}", "yes" if reached else "**no**"]
                    )
    yield from table(["bar", "game", "blueprint's updates", "here", "reached"], rows, "lllrl")


def _share(figures: dict[str, Any], bar: Bar) -> float | None:
    """Return a kind's mean loss as a share of another's; None: not measured, or not asked for."""
    known = {kind: float(np.mean(found["after"])) for kind, found in figures["kinds"].items()}
    known |= {each: figures[each] for each in (BLUEPRINT, FLOOR) if each in figures}
    if (figures["seat"], figures["iterations"]) != (bar.seat, bar.iterations):
        return None
    if not figures["game"].startswith("goofspiel") or not {bar.kind, bar.other} <= known.keys():
        return None
    return known[bar.kind] / known[bar.other]


def _blueprint(found: dict[str, Any]) -> list[str]:
    """Write the first cells of a row: the game, the seat, T, what the blueprint loses, the floor."""
    title, seat = GAMES[found["game"]].title, SEATS.index(found["seat"]) + 1
    least = f"{found['floor']:.4f}" if "floor" in found else ""
    return [title, str(seat), str(found["iterations"]), f"{found['blueprint']:.4f}", least]


def _cell(found: dict[str, Any] | None, blueprint: float) -> str:
    """Write the mean loss, with its error if there are several; bold where below the blueprint."""
    if found is None:
        return ""
    after = np.array(found["after"])
    text = f"{max(after.mean(), 0.0):.4f}"
    if len(after) > 1:
        text += f" ± {after.std(ddof=1) / np.sqrt(len(after)):.4f}"
    return f"**{text}**" if after.mean() < blueprint else text


def _seconds(found: dict[str, Any] | None) -> str:
    if found is None or not found["programs"]:
        return ""
    return f"{found['seconds'] / found['programs']:.3f}"


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.gs2_table", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES), metavar="GAME")
    parser.add_argument("--seats", nargs="+", choices=SEATS, default=list(SEATS))
    parser.add_argument("--iterations", nargs="+", type=int, default=list(ITERATIONS), metavar="T")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of the random blocks")
    parser.add_argument("--kinds", nargs="+", choices=list(kinds(1)), default=USUAL, metavar="KIND")
    parser.add_argument(
        "--visits", nargs="+", type=int, default=[], help="nodes in a subgame: add limited rows"
    )
    parser.add_argument(
        "--simultaneous", action="store_true", help="the blueprint's CFR updates both at once"
    )
    parser.add_argument("--everywhere", action="store_true", help="solve from the first infoset on")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    words = given(words)
    options = make_parser().parse_args(words)
    known = kinds(options.seeds)
    measured = {kind: known[kind] for kind in known if kind in options.kinds}
    measured |= limited(options.visits)
    figures: list[dict[str, Any]] = []
    for name in options.games:
        for seat in options.seats:
            figures += measure(
                name,
                seat,
                options.iterations,
                measured,
                simultaneous=options.simultaneous,
                everywhere=options.everywhere,
            )
    publish(make_parser(), words, options.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
