"""Is ZS21's growing of a trunk sound? Grow one from the start of small games until nothing is left.

    python -m tools.proofs.trunk_soundness
    python -m tools.proofs.trunk_soundness --games kuhn leduc

K (D.2): if a round expands no node, "then an equilibrium of the full game has been found". Each game
is solved and expanded by turns, by the code of a turn in chess, from a trunk that ends at ▲'s first
choice. Leaves that end no game are worth 0. The table tells how much of the game was expanded by then,
and how far from an equilibrium the strategies are in the whole game: the sum of what both could gain.
The exit code is 1 if one is not an equilibrium.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.game_tree import GameTree, enumerate_game, nash_gap, strategy_of
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.research.zs21.gadget_program import Profile
from obscuro.research.zs21.trunk import LEAF, MAX, Trunk
from obscuro.research.zs21.turn_search import TurnSearch
from tests.research.zs21.small_games import expand_level, whole_game
from tools.common import given, publish, table, tool_parser

GAMES = ("kuhn", "goofspiel_increasing", "matching_pennies", "leduc")
GAP = 1e-6
"""For payoffs in [-1, 1]."""


class Grown(NamedTuple):
    """One game. Nodes are those that do not end the game."""

    game: str
    nodes: int
    expanded: int
    in_tree: int  # nodes of the trunk, the ends of the game included
    rounds: int
    gap: float  # payoffs in [-1, 1]
    seconds: float


def grow(name: str) -> Grown:
    """Grow a trunk until nothing is left to expand."""
    tree = enumerate_game(CATALOG[name].make())
    begin = time.monotonic()
    trunk = whole_game(tree, plies=1)
    while not len(trunk.tables[MAX].degree):  # chance deals first
        expand_level(trunk)
    search = TurnSearch(trunk, np.zeros(int(trunk.tables[MAX].degree[0])))
    found = search.run(None, lambda: False)
    if found.solution is None or search.failure is not None:
        raise RuntimeError(f"{name}: {search.failure}")
    policy = policy_in(tree, trunk, found.solution.profile)
    return Grown(
        name,
        int(np.count_nonzero(tree.degree)),
        int(np.count_nonzero(trunk.nodes.first != LEAF)),
        len(trunk),
        found.rounds,
        nash_gap(tree, strategy_of(tree, policy)) * tree.game.scale,
        time.monotonic() - begin,
    )


def policy_in(tree: GameTree[Any], trunk: Trunk, profile: Profile) -> NDArray[np.float64]:
    """Return both players' policy in the whole game, float64[S]; even where nobody plays to."""
    policy, nodes = SequenceForm(tree).uniform(), trunk.nodes
    for node in np.flatnonzero(nodes.first != LEAF).tolist():
        player = int(nodes.player[node])
        if player not in (0, 1):
            continue
        plan = (profile.x, profile.y)[player]
        children = slice(nodes.first[node], nodes.first[node] + nodes.degree[node])
        shares = plan[nodes.sequence[children, player]]
        if shares.sum() > 0.0:
            slots = tree.slot[nodes.state[children, -1].astype(np.int64)]
            policy[slots] = shares / shares.sum()
    return policy


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table, in Markdown."""
    head = ["game", "nodes with children", "expanded", "share", "rounds", "gap"]
    rows = []
    for each in (Grown(**figure) for figure in figures):
        counts = [f"{each.nodes:,}", f"{each.expanded:,}", f"{each.expanded / each.nodes:.0%}"]
        rows.append([f"`{each.game}`", *counts, each.rounds, f"{max(each.gap, 0.0):.7f}"])
    yield from table(head, rows, "lrrrrr")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.trunk_soundness", __doc__)
    parser.add_argument("--games", nargs="+", choices=CATALOG, default=list(GAMES), metavar="GAME")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Grow, print, and store; returns the exit code."""
    words = given(words)
    options = make_parser().parse_args(words)
    grown = []
    for name in options.games:
        grown.append(grow(name))
        print(grown[-1], flush=True)
    publish(make_parser(), words, options.raw, [each._asdict() for each in grown], render)
    return int(any(each.gap > GAP for each in grown))


if __name__ == "__main__":
    sys.exit(main())
