"""Trees of what was played in many games: by the whole position, and by what one side had seen.

A tree has its most frequent branches only: the branch of the most games is followed first, until the
tree has `most` nodes. No belief and no engine takes part.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, TypedDict

import chess
import chess.pgn

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.viewer.game_file import first_board

MOST_NODES = 3_000
"""The most nodes of a tree, unless the caller says otherwise."""
MOST_PLIES = 80
"""No tree is deeper."""
NAMED_GAMES = 3
"""A node of at most this number of games names them."""
USUAL_START = "usual start"
_RESULTS = {"1-0": 0, "1/2-1/2": 1, "0-1": 2}
_NO_RESULT = 3


class PlayedLine(NamedTuple):
    """The opening of a game. result: index of White's wins, draws, Black's wins, no result.

    name: the game for a person. opening: what its writer calls it; may be empty.
    """

    start: FogOfWarBoard
    moves: tuple[chess.Move, ...]
    result: int
    name: str
    opening: str


class ShownBranch(TypedDict):
    """A node as the page reads it.

    label: what leads here. results: White's wins, draws, Black's wins, games without a result.
    turn: whose move it is; None: what the side sees next is chosen here. seen: what White and Black
    see, as observations; the side of a tree alone in its tree. truth: the commonest true placement,
    truths: how many there were, common: how many games had it. last: the move's squares in UCI.
    rest: games that go on from here, and are not followed. games: their names, if they are
    few. below: the most frequent first.
    """

    label: str
    results: list[int]
    turn: str | None
    seen: list[str]
    truth: str
    truths: int
    common: int
    last: str
    rest: int
    games: list[str]
    below: list[ShownBranch]


class ShownTrees(TypedDict):
    """What a page shows: the trees by name, and how they came about."""

    title: str
    games: int
    faults: int
    stopped: str
    most: int
    whole: ShownBranch
    white: ShownBranch
    black: ShownBranch


def played_line(game: chess.pgn.Game, name: str) -> PlayedLine:
    """Return what the trees need of a game of `game_file`."""
    moves = list(game.mainline_moves())
    headers = game.headers
    players = f"{headers['White'][:40]} – {headers['Black'][:40]} {headers['Result']}"
    return PlayedLine(
        first_board(game),
        tuple(moves[:MOST_PLIES]),
        _RESULTS.get(headers["Result"], _NO_RESULT),
        f"{players} ({name})",
        headers.get("Opening", "")[:60],
    )


@dataclass(slots=True, eq=False)
class _Walker:
    """A game on its way down a tree: where it has come to, and what one side saw last."""

    line: PlayedLine
    board: FogOfWarBoard
    seen: tuple[Observation, ...] = ()  # after the side's own move, and after the answer

    @property
    def ply(self) -> int:
        return len(self.board.move_stack)

    @property
    def goes_on(self) -> bool:
        return self.ply < len(self.line.moves)

    def step(self) -> chess.Move:
        move = self.line.moves[self.ply]
        self.board.push(move)
        return move


class _Branch(NamedTuple):
    """Games that came the same way. side: whose tree it is; None: of whole positions."""

    shown: ShownBranch
    walkers: list[_Walker]
    side: chess.Color | None


def tree_of(
    lines: Sequence[PlayedLine],
    side: chess.Color | None,
    most: int = MOST_NODES,
    on_node: Callable[[int], None] = lambda nodes: None,
) -> ShownBranch:
    """Return a tree of games, which are one at least.

    side: two games part where this side moved or saw something else; None: where the moves differ.
    most: nodes. on_node: called with how many nodes there are.
    """
    walkers = [_Walker(line, line.start.copy()) for line in lines]
    root = _branch("", "", walkers, side)
    waiting = [(-len(walkers), 0, root)]
    order, nodes = count(1), 1
    while waiting:
        *_, branch = heapq.heappop(waiting)
        going = [each for each in branch.walkers if each.goes_on]
        if not branch.shown["label"] and len({_start(each) for each in branch.walkers}) > 1:
            groups = _by_start(branch.walkers)
        elif nodes >= most or not going:
            branch.shown["rest"] = len(going)
            continue
        else:
            groups = _groups(branch, going)
        for (label, last), found in sorted(groups.items(), key=lambda item: -len(item[1])):
            below = _branch(label, last, found, side)
            branch.shown["below"].append(below.shown)
            nodes += 1
            # A single game is no statistic: the page names it.
            if len(found) > 1:
                heapq.heappush(waiting, (-len(found), next(order), below))
            else:
                below.shown["rest"] = int(found[0].goes_on)
        on_node(nodes)
    return root.shown


def _branch(label: str, last: str, walkers: list[_Walker], side: chess.Color | None) -> _Branch:
    truths = Counter(each.board.board_fen() for each in walkers)
    truth, common = truths.most_common(1)[0]
    board = next(each.board for each in walkers if each.board.board_fen() == truth)
    results = [0, 0, 0, 0]
    for each in walkers:
        results[each.line.result] += 1
    sides = chess.COLORS if side is None else (side,)
    moves = side is None or board.turn == side
    shown = ShownBranch(
        label=label,
        results=results,
        turn=chess.COLOR_NAMES[board.turn] if moves else None,
        seen=[board.observation(each).text() for each in sides],
        truth=truth,
        truths=len(truths),
        common=common,
        last=last,
        rest=0,
        games=[each.line.name for each in walkers] if len(walkers) <= NAMED_GAMES else [],
        below=[],
    )
    return _Branch(shown, walkers, side)


_Groups = dict[tuple[str, str], list[_Walker]]


def _start(walker: _Walker) -> str:
    return walker.line.start.fen()


def _by_start(walkers: Sequence[_Walker]) -> _Groups:
    """Part games by their start, and name it: by its opening if no other start has that name."""
    starts: dict[str, list[_Walker]] = defaultdict(list)
    for each in walkers:
        starts[_start(each)].append(each)
    names = {fen: found[0].line.opening or fen for fen, found in starts.items()}
    names[chess.STARTING_FEN] = USUAL_START
    used = Counter(names[fen] for fen in starts)
    return {
        (names[fen] if used[names[fen]] == 1 else fen, ""): found for fen, found in starts.items()
    }


def _groups(branch: _Branch, going: Sequence[_Walker]) -> _Groups:
    """Let games go one step on, and part them by what tells them apart."""
    side = branch.side
    if side is None or branch.shown["turn"] is not None:
        groups: _Groups = defaultdict(list)
        for each in going:
            mover, number, board = each.board.turn, each.board.fullmove_number, each.board
            san = board.san(each.line.moves[each.ply]).rstrip("+#")
            each.seen = () if side is None else (board.observation(side),)
            move = each.step()
            if side is not None:
                each.seen = (*each.seen, board.observation(side))
            groups[f"{number}{'.' if mover else '…'} {san}", move.uci()].append(each)
        return groups
    return _by_sight(going, side)


def _by_sight(going: Sequence[_Walker], side: chess.Color) -> _Groups:
    """Let the other side move; part games by what the side saw after its own move and then."""
    parted: dict[Hashable, list[_Walker]] = defaultdict(list)
    for each in going:
        before = each.seen or (each.board.observation(side),)
        each.step()
        each.seen = (*before, each.board.observation(side))
        parted[each.seen].append(each)
    groups: _Groups = {}
    names: Counter[str] = Counter()
    for found in parted.values():
        text = " – ".join(
            change
            for before, after in zip(found[0].seen, found[0].seen[1:], strict=False)
            if (change := change_text(before, after, side))
        )
        text = text or "nothing new"
        names[text] += 1
        groups[text if names[text] == 1 else f"{text} ({names[text]})", ""] = found
        for each in found:
            each.seen = ()
    return groups


def change_text(before: Observation, after: Observation, side: chess.Color) -> str:
    """Say in words what a ply changed for a side: men lost, men seen, squares that it sees or not."""
    parts = []
    old, new = before.board(), after.board()
    lost = old.occupied_co[side] & ~new.occupied_co[side]
    came = new.occupied_co[side] & ~old.occupied_co[side]
    if lost.bit_count() > came.bit_count():
        parts.append(f"lost {_men(old, lost)}")
    found = {
        square: piece
        for square, piece in new.piece_map(mask=new.occupied_co[not side]).items()
        if old.piece_at(square) != piece
    }
    if found:
        parts.append(f"sees {_men(new, chess.SquareSet(found).mask)}")
    if came:  # an own move: what it hides and opens follows from it
        return ", ".join(parts)
    gone = old.occupied_co[not side] & ~new.occupied_co[not side]
    if gone:
        parts.append(f"no longer sees {_men(old, gone)}")
    ways = (("out of sight", before.seen & ~after.seen), ("in sight", after.seen & ~before.seen))
    for words, squares in ways:
        if not parts and squares:
            names = " ".join(chess.square_name(at) for at in chess.scan_forward(squares))
            parts.append(f"{names} {words}")
    return ", ".join(parts)


def _men(board: chess.BaseBoard, mask: chess.Bitboard) -> str:
    """Name the men on some squares: `knight f6, pawn d5`."""
    return ", ".join(
        f"{chess.piece_name(kind)} {chess.square_name(square)}"
        for square in chess.scan_forward(mask)
        if (kind := board.piece_type_at(square)) is not None
    )
