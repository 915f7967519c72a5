"""The search of any game with a network at its leaves, against the same search with playouts.

    python -m tools.proofs.network_play
    python -m tools.proofs.network_play --games goofspiel --iterations 64 --seeds 1

A network is trained on solved bottoms below random trunks. Each player then plays all infosets of the
game once, in both seats, by so many iterations of the search in each turn. What it would play is a
strategy: its exploitability is exact, and so is what one wins against the other, which is the mean of
all games that they could play. Both are for payoffs in [-1, 1]; a match is the mean of both seats.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from obscuro.research.any_game.game_player import GamePlayer, played_strategy
from obscuro.research.any_game.history_belief import PlaySettings
from obscuro.research.games.game_tree import (
    GameTree,
    Strategy,
    expected_value,
    exploitability,
    policy_of,
    strategy_of,
)
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.value_functions.limited_trunk import LimitedGame, LimitedTrunk
from obscuro.research.value_functions.network_leaves import NetworkLeaves
from obscuro.research.value_functions.random_trunks import make_examples
from obscuro.research.value_functions.value_network import (
    NetworkShape,
    NetworkValues,
    goofspiel,
    leduc,
    losses,
    train,
)
from obscuro.search.game import MAX
from tools.common import given, publish, say, table, tool_parser
from tools.results.manifest import Loaded


class PlayedGame(NamedTuple):
    """A game of the table."""

    title: str
    make: Callable[[], LimitedGame]


GAMES: Final = {
    "leduc": PlayedGame("Leduc poker, after the first round", lambda: leduc(LeducPoker())),
    "goofspiel": PlayedGame("Goofspiel, 4 cards, after one round", lambda: goofspiel(4, 1)),
}
SHAPE: Final = NetworkShape(3, 100)
STRATEGIES: Final = 200
BOTTOMS: Final = 100
EPOCHS: Final = 30
TRUNK: Final = 200
HELD_OUT: Final = 20
"""So many random trunks are not learned from."""


def measure(name: str, iterations: Sequence[int], seeds: Sequence[int]) -> dict[str, Any]:
    """Train a network for one game, and return what both players lose and win."""
    game = GAMES[name].make()
    trunk = LimitedTrunk(game)
    examples = make_examples(game, STRATEGIES, BOTTOMS, np.random.default_rng(1))
    held = np.arange(len(examples.state)) < HELD_OUT * len(trunk.public)
    *_, network = train(trunk, examples.where(~held), SHAPE, epochs=EPOCHS)
    found: dict[str, Any] = {
        "game": name,
        "unexplained": losses(network, trunk, examples.where(held)).unexplained,
        "rows": [],
    }
    tree = game.tree
    for wanted in iterations:
        settings = PlaySettings(iterations=wanted)
        for seed in seeds:
            leaves = NetworkLeaves(game, NetworkValues(network, trunk), TRUNK, seed)
            players = GamePlayer(tree.game, settings), GamePlayer(tree.game, settings, leaves)
            playouts, asked = (played_strategy(tree, each, seed) for each in players)
            row = {
                "iterations": wanted,
                "seed": seed,
                "playouts": exploitability(tree, playouts) * tree.game.scale,
                "network": exploitability(tree, asked) * tree.game.scale,
                "match": match(tree, asked, playouts),
            }
            say(f"{name}: {row}")
            found["rows"].append(row)
    return found


def match(tree: GameTree[Any], one: Strategy, other: Strategy) -> float:
    """Return what the first strategy wins against the second, the mean of both seats."""
    first = np.repeat(tree.infosets.player, np.diff(tree.infosets.offsets)) == MAX
    mine, theirs = policy_of(tree, one), policy_of(tree, other)
    as_first = expected_value(tree, strategy_of(tree, np.where(first, mine, theirs)))
    as_second = expected_value(tree, strategy_of(tree, np.where(first, theirs, mine)))
    return (as_first - as_second) / 2 * tree.game.scale


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the means over seeds, and the range of the match, in Markdown."""
    head = ["game", "unexplained", "iterations", "seeds", "playouts lose", "network loses"]
    rows = []
    for each in figures:
        for wanted in dict.fromkeys(row["iterations"] for row in each["rows"]):
            own = [row for row in each["rows"] if row["iterations"] == wanted]
            won = [row["match"] for row in own]
            lost = [np.mean([row[key] for row in own]) for key in ("playouts", "network")]
            cells = [GAMES[each["game"]].title, f"{100 * each['unexplained']:.1f} %"]
            cells += [str(wanted), str(len(own)), *(f"{value:.4f}" for value in lost)]
            rows.append([*cells, f"{np.mean(won):+.4f}", f"{min(won):+.4f} to {max(won):+.4f}"])
    yield from table([*head, "network against playouts", "by seed"], rows, "lrrrrrrr")


def render_together(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield one table for several runs."""
    yield from render([figures for each in loaded for figures in each.raw.data])


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.network_play", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES), metavar="GAME")
    parser.add_argument("--iterations", nargs="+", type=int, default=[32, 128], metavar="N")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    words = given(words)
    options = make_parser().parse_args(words)
    figures = [measure(name, options.iterations, options.seeds) for name in options.games]
    publish(make_parser(), words, options.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
