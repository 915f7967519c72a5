"""Compare the rules with OpenSpiel's ``dark_chess``, on random games and on given ones.

    python -m tools.proofs.compare_openspiel --positions 100000 --pgn games.pgn

After every ply the moves, what both sides see, their castling rights and the result are compared,
of `DrawnStalemateBoard` and of the compiled kernels, because a side without a move draws there. On a
`FogOfWarBoard` the same position must be a loss. OpenSpiel departs from the rules in one point, which
is counted apart; any other difference is an error, and the exit status is 1:

- after a side's own double push it shows that side the squares passed over and left, and names the
  former as the en passant square, if another pawn of its own stands diagonally behind it and the
  other side can capture; on the edge, a pawn at the other end of the board can count as that one.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.pgn
import pyspiel

from obscuro.cli.bench.common import progress
from obscuro.rules.board import DrawnStalemateBoard, FogOfWarBoard
from obscuro.rules.observation import Observation
from tools.common import given, tool_parser
from tools.proofs.random_games import OPENINGS, Choose, random_mover, replay

OWN_DOUBLE_PUSH = "en passant square shown after own double push"
OWN_DOUBLE_PUSH_OVER_THE_EDGE = "the same for a pawn beyond the edge of the board"
OVER_THE_EDGE = {chess.H3: chess.A3, chess.A6: chess.H6}
"""En passant squares, and where one step diagonally off the board ends in OpenSpiel's array."""


@dataclass
class Tally:
    """What was compared, and what differed."""

    games: int = 0
    positions: int = 0
    observations: int = 0
    moves: int = 0
    stalemates: int = 0
    known: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def error(self, kind: str, detail: str) -> None:
        """Count a difference, and keep the first of its kind as an example."""
        self.errors[kind] += 1
        self.examples.setdefault(kind, detail)

    def report(self) -> str:
        """Return the counts in lines."""
        lines = [
            f"{self.games:,} games, {self.positions:,} positions, {self.moves:,} moves, "
            f"{self.observations:,} observations compared, {self.stalemates:,} sides without a move"
        ]
        lines += [f"known difference: {kind}: {n:,}" for kind, n in self.known.items()]
        lines += [
            f"ERROR: {kind}: {n:,}, first: {self.examples[kind]}" for kind, n in self.errors.items()
        ]
        return "\n".join([*lines, f"{self.errors.total():,} other differences"])


class OpenSpielMoves:
    """Translate OpenSpiel's actions, which it names in SAN only.

    An action stands for the same squares in every position, so each is read once a side.
    """

    def __init__(self) -> None:
        self._squares: dict[tuple[bool, int], chess.Move] = {}

    def __call__(self, state: pyspiel.State, board: FogOfWarBoard) -> dict[chess.Move, int]:
        """Return the legal moves of *state*, which is the position of *board*."""
        moves = {}
        for action in state.legal_actions():
            name = (board.turn, action)
            if name not in self._squares:
                move = board.parse_san(state.action_to_string(state.current_player(), action))
                if move.promotion == chess.QUEEN:  # the same action as of any other piece there
                    move.promotion = None
                self._squares[name] = move
            move = self._squares[name]
            last_rank = chess.square_rank(move.to_square) in (0, 7)
            if last_rank and board.piece_type_at(move.from_square) == chess.PAWN:
                move = chess.Move(move.from_square, move.to_square, move.promotion or chess.QUEEN)
            moves[move] = action
        return moves


class Kernels:
    """The compiled rules, following a game move by move beside the board."""

    def __init__(self, board: FogOfWarBoard) -> None:
        from obscuro.rules import position  # noqa: PLC0415

        self._position = position
        self.words = position.from_board(board)

    def compare(self, board: FogOfWarBoard, tally: Tally) -> None:
        """Compare moves and observations of both sides with the board's; count differences."""
        from obscuro.rules.tables import TABLES  # noqa: PLC0415
        from obscuro.rules.vision import vision  # noqa: PLC0415

        if list(self.words) != list(self._position.from_board(board)):
            tally.error("kernel position", f"{board.fen()} is {self._position.to_fen(self.words)}")
        if not board.is_variant_end():
            ours = sorted(map(self._position.move_to_uci, self._position.legal_moves(self.words)))
            if ours != sorted(move.uci() for move in board.legal_moves):
                tally.error("kernel moves", f"{board.fen()}: {ours}")
        for side, color in enumerate((chess.WHITE, chess.BLACK)):
            if int(vision(TABLES, tuple(self.words), side)) != board.vision_mask(color):
                tally.error("kernel vision", f"{board.fen()} side {side}")
            if Observation.of(self.words, side) != board.observation(color):
                tally.error("kernel observation", f"{board.fen()} side {side}")

    def push(self, move: chess.Move) -> None:
        """Make a move."""
        from obscuro.rules.make import make_move  # noqa: PLC0415

        word = self._position.find_move(self.words, move.uci())
        if word is not None:
            self.words[:] = make_move(tuple(self.words), word)


def compare_game(
    fen: str,
    choose: Choose,
    tally: Tally,
    moves: OpenSpielMoves,
    *,
    kernels: bool,
) -> None:
    """Play one game from *fen* in all implementations, comparing every position of it.

    It ends with the game, or when *choose* has no further move.
    """
    state = pyspiel.load_game("dark_chess", {"fen": fen}).new_initial_state()
    board = DrawnStalemateBoard(fen)
    compiled = Kernels(board) if kernels else None
    tally.games += 1
    while True:
        tally.positions += 1
        if compiled is not None:
            compiled.compare(board, tally)
        for color in chess.COLORS:
            compare_observation(state, board, color, tally)
        if not compare_outcome(state, board, tally):
            return
        theirs = moves(state, board)
        ours = set(board.legal_moves)
        tally.moves += len(ours)
        if theirs.keys() != ours:
            tally.error("moves", f"{board.fen()}: {theirs.keys() ^ ours}")
            return
        move = choose(board)
        if move is None:
            return
        state.apply_action(theirs[move])
        if compiled is not None:
            compiled.push(move)
        board.push(move)


def compare_outcome(state: pyspiel.State, board: FogOfWarBoard, tally: Tally) -> bool:
    """Compare how the game stands; return whether both say that it goes on."""
    outcome = board.outcome()
    if outcome is None and not state.is_terminal():
        return True
    points = {None: 0.0, chess.WHITE: 1.0, chess.BLACK: -1.0}
    ours = "goes on" if outcome is None else points[outcome.winner]
    # OpenSpiel's player 0 is Black.
    theirs = state.returns()[1] if state.is_terminal() else "goes on"
    if board.is_stalemate():
        tally.stalemates += 1
        usual = FogOfWarBoard(board.fen()).outcome()
        if usual is None or usual.winner != (not board.turn):
            tally.error("stalemate", f"{board.fen()}: {usual} by the usual rule")
    if ours != theirs:
        tally.error("result", f"{board.fen()}: {ours}, OpenSpiel {theirs}")
    return False


def compare_observation(
    state: pyspiel.State, board: FogOfWarBoard, color: chess.Color, tally: Tally
) -> None:
    """Compare what *color* sees; OpenSpiel tells it as a FEN."""
    tally.observations += 1
    text = state.observation_string(1 if color == chess.WHITE else 0)
    placement, _, castling, ep = text.split()[:4]
    theirs = placement if ep == "-" else f"{placement},{ep}"
    ours = board.fog_fen(color).replace("*", "?")
    if theirs != ours:
        slip = openspiel_slip(board, color)
        if slip is not None and theirs == slip[1]:
            tally.known[slip[0]] += 1
        else:
            tally.error("observation", f"{board.fen()}: {ours}, OpenSpiel {theirs}")
    wanted = "KQ" if color == chess.WHITE else "kq"
    rights = "".join(letter for letter in board.castling_xfen() if letter in wanted) or "-"
    if rights != castling and not board.is_variant_end():
        tally.error("castling rights", f"{board.fen()}: {rights}, OpenSpiel {castling}")


def openspiel_slip(board: FogOfWarBoard, color: chess.Color) -> tuple[str, str] | None:
    """Return what OpenSpiel wrongly shows to *color* after its own double push, and its kind."""
    square = board.ep_square
    if square is None or board.turn == color:
        return None
    own_pawns = board.pawns & board.occupied_co[color]
    seen = board.vision_mask(color)
    if chess.BB_PAWN_ATTACKS[not color][square] & own_pawns:
        came_from = square + (-8 if color == chess.WHITE else 8)
        seen |= chess.BB_SQUARES[square] | chess.BB_SQUARES[came_from]
        kind = OWN_DOUBLE_PUSH
    elif own_pawns & chess.BB_SQUARES[OVER_THE_EDGE.get(square, square)]:
        kind = OWN_DOUBLE_PUSH_OVER_THE_EDGE
    else:
        return None
    return kind, Observation.on(board, seen, square).text().replace("*", "?")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.compare_openspiel", __doc__, stores=False)
    parser.add_argument("--positions", type=int, default=100_000, help="of random games, at least")
    parser.add_argument("--pgn", type=Path, nargs="*", default=[], help="games to replay as well")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-kernels", action="store_true", help="only the board")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Compare, and print what was compared; returns the exit code."""
    args = make_parser().parse_args(given(words))

    tally, moves, rng = Tally(), OpenSpielMoves(), random.Random(args.seed)
    kernels = not args.no_kernels
    for path in args.pgn:
        with path.open() as file:
            while game := chess.pgn.read_game(file):
                chosen = replay(game.mainline_moves())
                compare_game(game.board().fen(), chosen, tally, moves, kernels=kernels)
    replayed = tally.positions
    with progress(args.positions) as tell:
        while (compared := tally.positions - replayed) < args.positions:
            compare_game(rng.choice(OPENINGS), random_mover(rng), tally, moves, kernels=kernels)
            tell(None, tally.positions - replayed - compared)
    print(tally.report())
    return 1 if tally.errors else 0


if __name__ == "__main__":
    sys.exit(main())
