"""The engine as a UCI program that plays a given first move as Black, and says so to nobody.

    python -m tools.play.held_engine c7c5
    obscuro match "python -m tools.play.held_engine c7c5" "python -m tools.play.held_engine c7c5" \\
        --openings none

At Black's first decision the strategy is held to the move; the search solves for all else. So Black
goes on from a tree in which it has played that move, while White, who is the plain engine, has to
guess. As White, and from any other start than the usual one, it is the engine. The games of two such
players tell what a first move of Black is worth against an opponent who does not know it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from threading import Event

import chess
import numpy as np

from obscuro.engine.game_follower import Words
from obscuro.engine.options import OPTIONS, Options
from obscuro.engine.player import Player
from obscuro.engine.player_kind import OBSCURO, AnyPlayer, PlayerKind
from obscuro.search.search import Search
from obscuro.search.tree import find_infoset
from obscuro.uci.uci import run as run_uci
from tools.common import given, tool_parser


class FirstMovePlayer(Player):
    """A player whose first move as Black is given, and free from then on. first: the move, in UCI."""

    def __init__(self, options: Options, warn: Callable[[str], None], first: str) -> None:
        super().__init__(options, warn)
        self._first = first
        self._held = False

    def new_game(self, side: int, start: Words) -> None:
        """Start a game; as Black, hold the first move."""
        super().new_game(side, start)
        self._held = side == 1

    def begin_search(self, search: Search, deadline: float | None, stop: Event) -> None:
        """Build the subgame; hold the strategy at our infoset if this is the first decision."""
        super().begin_search(search, deadline, stop)
        names = self.legal_moves()
        if self._held and self._first in names:
            tree = search.tree
            infoset = int(find_infoset(tree, np.uint64(self.knowledge.key)))
            first, count = int(tree.infoset_first[infoset]), int(tree.infoset_actions[infoset])
            assert len(names) == count
            tree.strategy[first : first + count] = [name == self._first for name in names]
            tree.infoset_frozen[infoset] = 1
        self._held = False


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.held_engine", __doc__, stores=False)
    parser.add_argument("move", type=first_move, help="Black's first move, in UCI")
    return parser


def first_move(text: str) -> str:
    """Read a first move of Black. Raises argparse.ArgumentTypeError."""
    board = chess.Board()
    board.push_uci("d2d4")
    if text not in {move.uci() for move in board.legal_moves}:
        raise argparse.ArgumentTypeError(f"{text!r} is no first move of Black")
    return text


def held_kind(first: str) -> PlayerKind:
    """Return the kind of player that begins with this move as Black."""

    def make(options: Options, warn: Callable[[str], None]) -> AnyPlayer:
        return FirstMovePlayer(options, warn, first)

    title = f"Obscuro with 1...{first}"
    return PlayerKind("held", title, OPTIONS, make, title=title, capabilities=OBSCURO.capabilities)


def main(words: Sequence[str] | None = None) -> int:
    """Speak UCI on stdin and stdout; returns the exit code."""
    told = make_parser().parse_args(given(words))
    return run_uci(kind=held_kind(told.move))


if __name__ == "__main__":
    sys.exit(main())
