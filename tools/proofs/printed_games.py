"""Which rules have the sizes of V's Table 3, and lose with a constant value what V says.

    python -m tools.proofs.printed_games
    python -m tools.proofs.printed_games --games "Leduc poker"

Each candidate is a reading of the rules in V's Appendix C, or of the library that V cites for its
program. Its histories are all nodes of the tree in which both players' simultaneous bids follow one
another, and in Goofspiel the last cards are played out. Its infosets are those of one player. The
trunk is solved by CFR+ with values of 0 at the limit. What it loses is the mean of both players'
exploitability for payoffs in [-1, 1], if they play their best below the limit, and if they play
uniformly there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree, enumerate_game, exploitability, strategy_of
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.games.oshi_zumo import OshiZumo, OshiZumoState
from obscuro.research.value_functions.limited_trunk import (
    LimitedGame,
    LimitedTrunk,
    TrunkExploitability,
)
from obscuro.research.value_functions.random_trunks import DepthLimitedCfr, zero_values
from obscuro.research.value_functions.value_network import goofspiel, leduc, oshi_zumo
from obscuro.search.game import MAX, MIN
from tools.common import given, publish, say, table, tool_parser


class PlayedOn(OshiZumo):
    """Oshi-zumo in which a player without coins bids 0 until both have none.

    Parameters
    ----------
    centre : bool
        Only while the wrestler is in the middle; elsewhere the other player wins at once.

    """

    def __init__(self, *, centre: bool = False) -> None:
        """Note the rules."""
        super().__init__(push_on=not centre)
        self._centre = centre

    def player(self, state: OshiZumoState) -> int:
        """Return who moves: ▲ bids, then ▼."""
        mine, theirs = state.bids
        if len(mine) > len(theirs):
            return MIN
        left = [self.coins - sum(bids) for bids in state.bids]
        place = sum(self.pushes(state))
        decided = self._centre and place != 0 and not all(left)
        over = abs(place) > self.reach or not any(left) or decided
        return TERMINAL if over else MAX


class Candidate(NamedTuple):
    """One reading of a game's rules."""

    game: str
    rules: str
    make: Callable[[], LimitedGame]
    plain: Callable[[], GameTree[Any]] | None = None  # the tree to count; None: that of `make`


class Printed(NamedTuple):
    """What V prints: Table 3, and Section 6.2."""

    histories: int
    infosets: int
    states: int
    constant: float


PRINTED: Final = {
    "Goofspiel": Printed(56_000, 5_000, 9, 0.5),
    "Oshi-zumo": Printed(20_000, 1_600, 17, 0.7),
    "Leduc poker": Printed(61_000, 4_000, 87, 0.2),
}


def _leduc(rules: str, poker: LeducPoker) -> Candidate:
    return Candidate("Leduc poker", rules, lambda: leduc(poker), lambda: enumerate_game(poker))


def _oshi_zumo(rules: str, game: OshiZumo) -> Candidate:
    return Candidate("Oshi-zumo", rules, lambda: oshi_zumo(game, 3))


CANDIDATES: Final = (
    Candidate("Goofspiel", "points, as V words it", lambda: goofspiel(5, 2)),
    Candidate("Goofspiel", "the higher total wins", lambda: goofspiel(5, 2, "win")),
    _oshi_zumo("no coin loses, as V words it", OshiZumo()),
    _oshi_zumo("the same, 5 locations", OshiZumo(reach=2)),
    _oshi_zumo("the same, 17 locations", OshiZumo(reach=8)),
    _oshi_zumo("no coin loses off the centre, else play on", PlayedOn(centre=True)),
    _oshi_zumo("each coin left pushes", OshiZumo(push_on=True)),
    _oshi_zumo("the same, 17 locations", OshiZumo(reach=8, push_on=True)),
    _oshi_zumo("play on until both have no coin", PlayedOn()),
    _leduc("2 raises of 1 size, cards, as V words it", LeducPoker()),
    _leduc("2 raises of 1 size, ranks", LeducPoker(ranks=True)),
    _leduc("2 raises of 2 sizes, ranks", LeducPoker(2, 2, ranks=True)),
    _leduc("3 raises of 1 size, ranks", LeducPoker(3, ranks=True)),
    _leduc("3 raises of 2 sizes, ranks", LeducPoker(3, 2, ranks=True)),
)


def measure(candidate: Candidate, iterations: int) -> dict[str, Any]:
    """Return a candidate's sizes, and what its trunk loses with values of 0."""
    game = candidate.make()
    counted = game.tree if candidate.plain is None else candidate.plain()
    histories, infosets = sizes(counted, last_cards=candidate.game == "Goofspiel")
    solver = DepthLimitedCfr(game, zero_values)
    solver.run(iterations)
    policy = solver.average()
    measured = TrunkExploitability(game.tree, solver.region.slots)
    found = {
        "game": candidate.game,
        "rules": candidate.rules,
        "histories": histories,
        "infosets": infosets,
        "states": len(LimitedTrunk(game).public),
        "best": measured.of(policy),
        "uniform": exploitability(game.tree, strategy_of(game.tree, policy)) * game.tree.game.scale,
    }
    say(str(found))
    return found


def sizes(tree: GameTree[Any], *, last_cards: bool) -> tuple[int, list[int]]:
    """Return how many histories there are, and how many infosets of each player.

    last_cards: both players' only last card is bid at each end of the tree.
    """
    ends = tree.player == TERMINAL
    histories = len(tree.states) + 2 * last_cards * int(ends.sum())
    infosets = [
        int((tree.infosets.player == side).sum())
        + last_cards * len(np.unique(tree.keys[ends, side]))
        for side in (MAX, MIN)
    ]
    return histories, infosets


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the candidates beside what V prints, in Markdown."""
    head = ["game", "rules", "histories", "infosets", "public states"]
    head += ["values of 0, best play below", "uniform play below"]
    rows = []
    for title in dict.fromkeys(each["game"] for each in figures):
        one = PRINTED[title]
        counts = [f"{one.histories:,}", f"{one.infosets:,}", str(one.states)]
        rows.append([title, "V", *counts, f"{one.constant}", ""])
        for each in figures:
            if each["game"] == title:
                infosets = " and ".join(f"{count:,}" for count in dict.fromkeys(each["infosets"]))
                counts = [f"{each['histories']:,}", infosets, str(each["states"])]
                lost = [f"{each[key]:.3f}" for key in ("best", "uniform")]
                rows.append([title, each["rules"], *counts, *lost])
    yield from table(head, rows, "llrrrrr")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.printed_games", __doc__)
    parser.add_argument("--games", nargs="+", choices=PRINTED, default=list(PRINTED))
    parser.add_argument("--iterations", type=int, default=1000, help="in the trunk")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    words = given(words)
    options = make_parser().parse_args(words)
    figures = [
        measure(each, options.iterations) for each in CANDIDATES if each.game in options.games
    ]
    publish(make_parser(), words, options.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
