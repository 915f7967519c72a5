"""How far apart in knowledge two Fog of War games can be (Obscuro, Fig. 1 and footnote 22).

    python -m tools.proofs.common_knowledge

Two histories are joined when a player cannot tell them apart: the same own moves, and the same
observation after every ply. Over all 197,742 histories of two moves by each side, `1. Nc3 g5
2. Nh3 d5` and `1. Nf3 e5 2. h3 Qh4` are 9 steps apart, and no two connected histories are more
than 10 apart. This finds both numbers, and prints a shortest path. `--raw FILE` stores them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from obscuro.rules.board import FogOfWarBoard
from tools.common import given, publish, say, tool_parser

PLIES = 4
FIGURE_1 = (("Nc3", "g5", "Nh3", "d5"), ("Nf3", "e5", "h3", "Qh4"))
UNREACHED = -1
CENTRE_CANDIDATES = 32
MOST_MOVES = 40
"""More than any position within four plies has."""

Ids = npt.NDArray[np.int64]
Keys = npt.NDArray[np.int64] | npt.NDArray[np.uint64]


class Histories(NamedTuple):
    """All histories of some length, in the order of their moves."""

    moves: Ids  # [n, plies], from | to << 6: within a few plies no pawn promotes
    white: Ids  # [n], White's infoset: 0 … their number - 1
    black: Ids  # [n], Black's

    def find(self, sans: tuple[str, ...]) -> int:
        """Return the number of the history with these moves, in SAN."""
        board = FogOfWarBoard()
        (found,) = np.flatnonzero((self.moves == [_code(board.push_san(s)) for s in sans]).all(1))
        return int(found)

    def text(self, history: int) -> str:
        """Return the moves of a history, as `1. e4 e5 2. Nf3 Nc6`."""
        moves = [chess.Move(int(word) & 63, int(word) >> 6) for word in self.moves[history]]
        return FogOfWarBoard().variation_san(moves)


def _code(move: chess.Move) -> int:
    return move.from_square | move.to_square << 6


def _histories(
    moves: Ids, white: npt.NDArray[np.generic], black: npt.NDArray[np.generic]
) -> Histories:
    """Sort by moves, and number the infosets 0, 1, …"""
    order = np.lexsort(moves.T[::-1])
    numbers = [np.unique(keys[order], return_inverse=True)[1] for keys in (white, black)]
    return Histories(moves[order], *numbers)


# -- played on boards -----------------------------------------------------------------------


@dataclass
class Place:
    """A position, reached by one history or more: what follows and is seen is the same."""

    board: FogOfWarBoard
    sees: dict[chess.Color, Hashable]
    next: list[tuple[int, Place]] = field(default_factory=list)

    @classmethod
    def of(cls, board: FogOfWarBoard) -> Place:
        """Return the place of a board, with what each side sees there."""
        return cls(board, {color: _sight(board, color) for color in chess.COLORS})

    def expand(self, known: dict[Hashable, Place]) -> list[tuple[int, Place]]:
        """Return the moves and where they lead, once for all histories that meet here."""
        if not self.next:
            for move in self.board.legal_moves:
                child = self.board.copy(stack=False)
                child.push(move)
                child.clear_stack()
                name = child.epd(en_passant="xfen")  # all of a position but its counters
                if name not in known:
                    known[name] = Place.of(child)
                self.next.append((_code(move), known[name]))
        return self.next


def _sight(board: FogOfWarBoard, color: chess.Color) -> Hashable:
    seen = board.vision_mask(color)
    pieces = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    return (
        seen,
        *(kind & seen for kind in pieces),
        board.occupied_co[chess.WHITE] & seen,
        board.ep_target(color),
    )


def histories_from_boards(plies: int = PLIES) -> Histories:
    """Play out every history on boards; an infoset is named by all that its player did and saw."""
    infosets: dict[Hashable, int] = {}

    def after(infoset: int, own_move: int | None, sees: Hashable) -> int:
        return infosets.setdefault((infoset, own_move, sees), len(infosets))

    histories: list[tuple[tuple[int, ...], Place, int, int]]
    histories = [((), Place.of(FogOfWarBoard()), -1, -2)]
    for ply in range(plies):
        known: dict[Hashable, Place] = {}
        white_moves = ply % 2 == 0
        histories = [
            (
                (*moves, move),
                child,
                after(white, move if white_moves else None, child.sees[chess.WHITE]),
                after(black, None if white_moves else move, child.sees[chess.BLACK]),
            )
            for moves, place, white, black in histories
            for move, child in place.expand(known)
        ]
    moves, _, white, black = zip(*histories, strict=True)
    return _histories(np.array(moves), np.array(white), np.array(black))


# -- played by the kernels ------------------------------------------------------------------


def histories_from_keys(plies: int = PLIES) -> Histories:
    """Play out every history with the compiled rules; an infoset is an information key."""
    from numba import njit  # noqa: PLC0415

    from obscuro.rules import key as information  # noqa: PLC0415
    from obscuro.rules.layout import MAX_MOVES, WORDS  # noqa: PLC0415
    from obscuro.rules.make import make_move  # noqa: PLC0415
    from obscuro.rules.moves import generate_moves  # noqa: PLC0415
    from obscuro.rules.position import from_board, load, store  # noqa: PLC0415
    from obscuro.rules.tables import TABLES  # noqa: PLC0415
    from obscuro.rules.vision import observation_hash  # noqa: PLC0415

    start_key = information.initial_key
    own, other = information.key_after_own_move, information.key_after_other_move

    @njit
    def first_keys(tables, positions, keys):  # type: ignore[no-untyped-def]
        for side in range(2):
            seen = observation_hash(tables, load(positions, 0), side)
            keys[0, side] = start_key(side, seen)

    @njit
    def expand(tables, positions, keys, mover):  # type: ignore[no-untyped-def]
        room = len(positions) * MOST_MOVES
        parents, words = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        children = np.empty((room, WORDS), dtype=np.uint64)
        child_keys = np.empty((room, 2), dtype=np.uint64)
        moves = np.empty(MAX_MOVES, dtype=np.uint32)
        count = 0
        for parent in range(len(positions)):
            position = load(positions, parent)
            for index in range(generate_moves(tables, position, moves)):
                child = make_move(position, moves[index])
                store(children, count, child)
                parents[count] = parent
                words[count] = moves[index]
                for side in range(2):
                    seen = observation_hash(tables, child, side)
                    key = keys[parent, side]
                    if side == mover:
                        child_keys[count, side] = own(key, moves[index], seen)
                    else:
                        child_keys[count, side] = other(key, seen)
                count += 1
        return parents[:count], words[:count], children[:count], child_keys[:count]

    positions = from_board(FogOfWarBoard())[np.newaxis]  # [n, 8]
    keys = np.zeros((1, 2), dtype=np.uint64)
    first_keys(TABLES, positions, keys)
    moves = np.zeros((1, 0), dtype=np.int64)  # [n, plies so far]
    for ply in range(plies):
        parents, words, positions, keys = expand(TABLES, positions, keys, ply % 2)
        moves = np.column_stack([moves[parents], words & 0xFFF])
    return _histories(moves, keys[:, 0], keys[:, 1])


# -- how far apart --------------------------------------------------------------------------


class KnowledgeGraph:
    """Histories, joined where a player cannot tell them apart.

    A history is an edge between White's infoset and Black's, so the steps between histories are
    counted by searching the infosets breadth first.
    """

    def __init__(self, white: Ids, black: Ids) -> None:
        self.white = np.unique(white, return_inverse=True)[1]  # [n]
        self.black = np.unique(black, return_inverse=True)[1]  # [n]

    def __len__(self) -> int:
        """Return the number of histories."""
        return len(self.white)

    def distances(self, history: int) -> Ids:
        """Return the number of steps from *history* to each: int64[n], `UNREACHED` if none."""
        white_far = np.full(self.white.max() + 1, UNREACHED)
        black_far = np.full(self.black.max() + 1, UNREACHED)
        steps = np.full(len(self), UNREACHED)
        steps[history] = distance = 0
        reached = np.array([history])
        while len(reached):
            white_far[self.white[reached]] = 0
            black_far[self.black[reached]] = 0
            distance += 1
            joined = (white_far[self.white] == 0) | (black_far[self.black] == 0)
            reached = np.flatnonzero(joined & (steps == UNREACHED))
            steps[reached] = distance
        return steps

    def path(self, start: int, end: int) -> list[int]:
        """Return the histories of a shortest path; raises ValueError if there is none."""
        steps = self.distances(end)
        if steps[start] == UNREACHED:
            raise ValueError("the histories are not connected")
        path = [start]
        while path[-1] != end:
            here = path[-1]
            joined = (self.white == self.white[here]) | (self.black == self.black[here])
            path.append(int(np.flatnonzero(joined & (steps == steps[here] - 1))[0]))
        return path

    def components(self) -> Iterator[Ids]:
        """Yield the histories of each connected component, the largest first."""
        label = np.arange(len(self))
        while True:
            before = label
            for ids in (self.white, self.black):
                least = np.full(ids.max() + 1, len(self))
                np.minimum.at(least, ids, label)
                label = least[ids]
            if (label == before).all():
                break
        order = np.argsort(label, kind="stable")
        bounds = np.flatnonzero(np.diff(label[order])) + 1
        yield from sorted(np.split(order, bounds), key=len, reverse=True)

    def eccentricity(self, history: int) -> int:
        """Return the distance to the farthest history that is connected to this one."""
        return int(self.distances(history).max())

    def diameter(self, at_least: int = 0) -> int:
        """Return the longest distance in a connected graph, or *at_least* if that is more.

        Exact, with few searches: histories at most r away from a central one are at most 2r
        apart, so only the outermost need be tried until that is no more than the best found.
        """
        steps = self.distances(0)
        if 2 * steps.max() <= at_least:
            return at_least
        one_end = self.distances(int(steps.argmax()))
        other_end = self.distances(int(one_end.argmax()))
        longest = max(at_least, int(one_end.max()), int(other_end.max()))
        middle = np.argsort(np.maximum(one_end, other_end), kind="stable")[:CENTRE_CANDIDATES]
        centre = min(middle.tolist(), key=self.eccentricity)
        steps = self.distances(centre)
        for radius in range(int(steps.max()), 0, -1):
            for history in np.flatnonzero(steps == radius).tolist():
                if longest >= 2 * radius:
                    return longest
                longest = max(longest, self.eccentricity(history))
        return longest


def longest_distance(histories: Histories) -> int:
    """Return the longest distance between any two connected histories."""
    longest = 0
    for members in KnowledgeGraph(histories.white, histories.black).components():
        graph = KnowledgeGraph(histories.white[members], histories.black[members])
        longest = graph.diameter(at_least=longest)
    return longest


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.common_knowledge", __doc__)
    parser.add_argument("--kernels", action="store_true", help="play with the compiled rules")
    return parser


def measure(histories: Histories) -> dict[str, Any]:
    """Return both numbers, the sizes, and a shortest path between the positions of Fig. 1."""
    graph = KnowledgeGraph(histories.white, histories.black)
    sizes = [len(members) for members in graph.components()]
    path = graph.path(*map(histories.find, FIGURE_1))
    steps = [
        {
            "same_to": "White" if histories.white[before] == histories.white[after] else "Black",
            "history": histories.text(after),
        }
        for before, after in pairwise(path)
    ]
    say("measuring the longest distance")
    return {
        "histories": len(graph),
        "white_infosets": int(histories.white.max()) + 1,
        "black_infosets": int(histories.black.max()) + 1,
        "sets": len(sizes),
        "largest": sizes[0],
        "start": histories.text(path[0]),
        "steps": steps,
        "longest": longest_distance(histories),
    }


def render(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers, and the path from the first position of Fig. 1 to the second."""
    infosets = [f"{figures[f'{side}_infosets']:,} of {side.title()}" for side in ("white", "black")]
    yield f"{figures['histories']:,} histories; infosets: {', '.join(infosets)};"
    yield f"{figures['sets']:,} common-knowledge sets, the largest of {figures['largest']:,} histories."
    yield f"The longest distance between connected histories is {figures['longest']}."
    yield f"The two of Fig. 1 are {len(figures['steps'])} apart:"
    yield ""
    yield "```"
    yield f"  {figures['start']}"
    for step in figures["steps"]:
        yield f"  {step['history']:32} is the same to {step['same_to']}"
    yield "```"


def main(words: Sequence[str] | None = None) -> int:
    """Find both numbers and print them; returns the exit code."""
    words, parser = given(words), make_parser()
    told = parser.parse_args(words)
    say("playing all histories of two moves by each side")
    histories = histories_from_keys() if told.kernels else histories_from_boards()
    publish(parser, words, told.raw, measure(histories), render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
