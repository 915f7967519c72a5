"""Play Leduc poker and Goofspiel with networks at the leaves, beside the search with playouts.

    python -m tools.proofs.network_in_play leduc
    python -m tools.proofs.network_in_play goofspiel --iterations 250 --seeds 1

The search of any game plays with so many `--iterations` of its solver a turn, and values its leaves by
random playouts, by a network, by what the network learned from, or as 0. The network's lesson is what
each history is worth if both players go on by the average strategies of CFR+
(`research/value_functions/history_values`); some histories are kept from it.

Continual resolving (`research/value_functions/resolving`) needs V's network of both ranges, the one
that `tools.proofs.value_functions train` stored for the game. Beside it stand values of 0 and solved
bottoms.

All players have fixed strategies, so everything is exact: exploitability, the mean of both players'
loss, and what a strategy wins against the search with playouts, over all deals and in both seats: with
as many iterations and the same seed, or for continual resolving with the last ones. Payoffs are in
[-1, 1].
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from obscuro.research.any_game.game_player import GamePlayer, played_strategy
from obscuro.research.any_game.history_belief import PlaySettings
from obscuro.research.any_game.turn_tree import LeafValue
from obscuro.research.games.game_tree import (
    GameTree,
    Strategy,
    expected_value,
    exploitability,
    policy_of,
    strategy_of,
)
from obscuro.research.value_functions.continuations import node_values
from obscuro.research.value_functions.history_values import LearnedValues, learn_values
from obscuro.research.value_functions.limited_trunk import LimitedGame, LimitedTrunk, RegionCfr
from obscuro.research.value_functions.random_trunks import (
    SolvedBottoms,
    ValueFunction,
    zero_values,
)
from obscuro.research.value_functions.resolving import resolving_policy
from obscuro.research.value_functions.value_network import (
    DOMAINS,
    NetworkShape,
    NetworkValues,
    ValueNetwork,
)
from obscuro.search.game import MAX
from tools.common import given, publish, say, table, tool_parser
from tools.proofs.value_functions import FOLDER
from tools.results.manifest import Loaded

SOLVED: Final = 1000  # iterations of CFR+: the lesson's, a trunk's and a bottom's
BOTTOMS: Final = 100  # of each solved bottom that is asked in a trunk
SHAPE: Final = NetworkShape(3, 128)
EPOCHS: Final = 200
HELD: Final = 0.2
ITERATIONS: Final = (100, 400)
SEEDS: Final = (1, 2, 3)
PLAYOUTS: Final = "the search, playouts"


class Taught(NamedTuple):
    """What a network learned of a game, and what it was shown."""

    lesson: dict[Any, float]  # of each state, the first player's value
    learned: LearnedValues


def teach(tree: GameTree[Any]) -> Taught:
    """Solve a game, and fit a network to the values of its histories."""
    region = RegionCfr(tree, (0, len(tree.levels) - 1))
    region.iterate(None, SOLVED)
    values = node_values(tree, region.average())
    learned = learn_values(tree, values, SHAPE, epochs=EPOCHS, held_share=HELD)
    say(f"{learned.unexplained:.2%} unexplained of the values of {learned.held:,} histories")
    return Taught(dict(zip(tree.states, values.tolist(), strict=True)), learned)


def won_by(tree: GameTree[Any], ours: Strategy, theirs: Strategy) -> float:
    """Return what one strategy wins against another, the mean of both seats, in [-1, 1]."""
    first = tree.infosets.owner == MAX
    mine, other = policy_of(tree, ours), policy_of(tree, theirs)
    as_first, as_second = (
        expected_value(tree, strategy_of(tree, np.where(first, *pair)))
        for pair in ((mine, other), (other, mine))
    )
    return (as_first - as_second) / 2 * tree.game.scale


class Measured:
    """The figures of one game, row by row."""

    def __init__(self, tree: GameTree[Any]) -> None:
        self.tree = tree
        self.rows: list[dict[str, Any]] = []
        self.rival: Strategy = {}  # the search with playouts

    def add(self, player: str, strategy: Strategy, seconds: float, **kind: int) -> None:
        """Measure one strategy. seconds: of the processor, for all of it."""
        row: dict[str, Any] = {
            "player": player,
            **kind,
            "lost": exploitability(self.tree, strategy) * self.tree.game.scale,
            "won": won_by(self.tree, strategy, self.rival),
            "seconds": seconds,
        }
        say(str(row))
        self.rows.append(row)


def measure_search(
    measured: Measured, taught: Taught, iterations: Sequence[int], seeds: Sequence[int]
) -> None:
    """Measure the search with each kind of leaf."""
    leaves: dict[str, LeafValue | None] = {
        PLAYOUTS: None,
        "the search, a network of histories": taught.learned.values,
        "the search, what the network learned from": taught.lesson.__getitem__,
        "the search, values of 0": lambda state: 0.0,
    }
    tree = measured.tree
    for wanted in iterations:
        for seed in seeds:
            for name, leaf in leaves.items():
                begin = time.process_time()
                player = GamePlayer(tree.game, PlaySettings(iterations=wanted), leaf)
                played = played_strategy(tree, player, seed)
                seconds = time.process_time() - begin
                if name == PLAYOUTS:
                    measured.rival = played
                measured.add(name, played, seconds, iterations=wanted, seed=seed)


def measure_resolving(measured: Measured, game: LimitedGame, network: ValueNetwork) -> None:
    """Measure continual resolving with each value function."""
    functions: dict[str, ValueFunction] = {
        "V's network": NetworkValues(network, LimitedTrunk(game)),
        "values of 0": zero_values,
        "solved bottoms": SolvedBottoms(game, BOTTOMS),
    }
    for name, values in functions.items():
        begin = time.process_time()
        policy = resolving_policy(game, values, SOLVED, SOLVED)
        seconds = time.process_time() - begin
        measured.add(f"continual resolving, {name}", strategy_of(game.tree, policy), seconds)


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the table of one game, in Markdown."""
    yield from _render([figures])


def render_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield one table for the games of several runs."""
    yield from _render([each.raw.data for each in loaded])


def _render(games: Sequence[dict[str, Any]]) -> Iterator[str]:
    rows = []
    for figures in games:
        title = DOMAINS[figures["game"]].title
        kinds: dict[tuple[str, int | None], list[dict[str, Any]]] = {}
        for row in figures["rows"]:
            kinds.setdefault((row["player"], row.get("iterations")), []).append(row)
        for (player, iterations), alike in kinds.items():
            lost, won = ([row[key] for row in alike] for key in ("lost", "won"))
            rows.append(
                [
                    *(title, player),
                    *(("", "") if iterations is None else (f"{iterations:,}", str(len(alike)))),
                    f"{np.mean(lost):.4f}",
                    f"{min(lost):.4f} to {max(lost):.4f}" if len(lost) > 1 else "",
                    "" if player == PLAYOUTS else f"{np.mean(won):+.4f}",
                    f"{np.mean([row['seconds'] for row in alike]):.0f}",
                ]
            )
        rows.append([title, "uniform play", "", "", f"{figures['uniform']:.4f}", "", "", ""])
    head = ["game", "player", "iterations a turn", "seeds", "exploitability", "least to greatest"]
    yield from table([*head, "wins against playouts", "seconds"], rows, "llrrrrrr")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.network_in_play", __doc__)
    parser.add_argument("game", choices=DOMAINS)
    parser.add_argument("--iterations", type=int, nargs="+", default=list(ITERATIONS), metavar="N")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="of the search")
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="of V's networks; GAME_1.npz is taken"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store; returns the exit code."""
    words = given(words)
    told = make_parser().parse_args(words)
    file = told.folder / f"{told.game}_1.npz"
    if not file.exists():
        say(f"there is no {file}; run: python -m tools.proofs.value_functions train {told.game}")
        return 2
    game = DOMAINS[told.game].make()
    taught = teach(game.tree)
    measured = Measured(game.tree)
    measure_search(measured, taught, told.iterations, told.seeds)
    measure_resolving(measured, game, ValueNetwork.load(file))
    learned = taught.learned
    figures = {
        "game": told.game,
        "infosets": len(game.tree.infosets.key),
        "learned": learned.learned,
        "held": learned.held,
        "unexplained": learned.unexplained,
        "uniform": exploitability(game.tree, {}) * game.tree.game.scale,
        "rows": measured.rows,
    }
    publish(make_parser(), words, told.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
