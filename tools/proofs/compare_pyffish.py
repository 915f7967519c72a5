"""Compare the rules with pyffish, by which pychess judges its games, on random games.

    make setup
    python -m tools.proofs.compare_pyffish --games 1000

pyffish is Fairy-Stockfish as a Python module. Its variant is told here by the rules that pychess has
for Fog of War: a king without check, whose capture wins. After every ply the legal moves are
compared, and how the game ends, in the order in which pychess looks: no legal move, then threefold
repetition and fifty moves. Each game is judged twice: a side without a move draws, as on pychess
(`PychessBoard`), and it loses, as in the papers (`FogOfWarBoard`). What each side sees is compared too,
with the FEN that pychess shows to it. Any difference is an error, and the exit status is 1.

In half of the games the sides often take moves back, so that positions repeat. --chess960 starts each
game from a random start of Chess960, without pawns in every third one, so that castling comes soon.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

import chess

from obscuro.cli.bench.common import progress
from obscuro.rules.board import BOARDS, FogOfWarBoard, PychessBoard
from obscuro.rules.stalemate import DRAW
from tools.common import given, tool_parser
from tools.proofs.random_games import OPENINGS, Choose, random_mover, shuffler

if find_spec("pyffish") is not None:
    import pyffish

_KING_WITHOUT_CHECK = {
    "king": "-",
    "commoner": "k",
    "castlingKingPiece": "k",
    "extinctionPieceTypes": "k",
    "extinctionValue": "loss",
}
_VARIANTS = {rule: f"fogofwar{rule}" for rule in BOARDS}
KING, NO_MOVE, COUNTED = "king captured", "no move", "repetition or fifty moves"
"""How a game ends. pyffish does not tell the last two kinds of draw apart."""

Ending = tuple[str, bool | None]
"""How the game ended, and who won: WHITE, BLACK, or None for a draw."""


@dataclass
class Agreement:
    """What was compared, and what differed."""

    games: int = 0
    positions: int = 0
    moves: int = 0
    views: int = 0
    unseen_victims: int = 0
    castlings: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def report(self) -> str:
        """Return the counts in lines, with the first differences."""
        endings = ", ".join(f"{kind} {count:,}" for kind, count in sorted(self.endings.items()))
        return "\n".join(
            [
                f"{self.games:,} games, {self.positions:,} positions, {self.moves:,} moves compared, "
                f"{self.castlings:,} of them castling",
                f"{self.views:,} views, {self.unseen_victims:,} of them with a pawn that could be "
                "captured en passant and is not seen",
                f"ended by: {endings or 'nothing'}",
                *(f"ERROR: {error}" for error in self.errors[:10]),
                f"{len(self.errors):,} differences",
            ]
        )


def tell_rules() -> None:
    """Tell pyffish the variant, once for each rule of stalemate."""
    rules = "\n".join(f"{name} = {value}" for name, value in _KING_WITHOUT_CHECK.items())
    pyffish.load_variant_config(
        "\n".join(
            f"[{variant}:chess]\n{rules}\nstalemateValue = {rule}\n"
            for rule, variant in _VARIANTS.items()
        )
    )


def their_endings(
    start: str, played: list[str], turn: chess.Color, can_move: bool, chess960: bool
) -> dict[str, Ending | None]:
    """Judge a game as pychess does, by each rule of stalemate; None while it goes on.

    turn: the side to move. can_move: whether pyffish knows a legal move.
    """
    games = {rule: (variant, start, played, chess960) for rule, variant in _VARIANTS.items()}
    if can_move:  # the rules agree; pyffish takes milliseconds for a question
        drawn, value = pyffish.is_optional_game_end(*games[DRAW])
        return dict.fromkeys(games, (COUNTED, _winner(value, turn)) if drawn else None)
    captured, _ = pyffish.is_immediate_game_end(*games[DRAW])
    kind = KING if captured else NO_MOVE
    return {rule: (kind, _winner(pyffish.game_result(*game), turn)) for rule, game in games.items()}


def _winner(value: int, turn: chess.Color) -> bool | None:
    """Return who has won. value: in the view of the side to move."""
    return None if value == 0 else turn == (value > 0)


def our_ending(board: FogOfWarBoard) -> Ending | None:
    """Return how the game on a board has ended; None while it goes on."""
    outcome = board.outcome()
    if outcome is None:
        return None
    if board.is_variant_end():
        return KING, outcome.winner
    return COUNTED if any(board.legal_moves) else NO_MOVE, outcome.winner


def compare_game(start: str, choose: Choose, found: Agreement, *, chess960: bool = False) -> None:
    """Play one game and compare every position of it. It ends with the game, or by *choose*."""
    kinds = {**BOARDS, DRAW: PychessBoard}
    boards = {rule: board(start, chess960=chess960) for rule, board in kinds.items()}
    drawn, played = boards[DRAW], list[str]()
    found.games += 1
    while True:
        found.positions += 1
        legal = set(pyffish.legal_moves(_VARIANTS[DRAW], start, played, chess960))
        theirs = their_endings(start, played, drawn.turn, bool(legal), chess960)
        ours = {rule: our_ending(board) for rule, board in boards.items()}
        if ours != theirs:
            found.errors.append(f"{drawn.fen()}: {ours}, pyffish {theirs}")
        moves = {move.uci() for move in drawn.legal_moves}
        found.moves += len(moves)
        found.castlings += sum(map(drawn.is_castling, drawn.legal_moves))
        if moves != legal:
            found.errors.append(f"{drawn.fen()}: moves {' '.join(sorted(moves ^ legal))}")
            return
        if not drawn.is_variant_end():
            compare_views(drawn, found)
        ended = ours[DRAW]
        if ended is not None:
            found.endings[ended[0]] += 1
            return
        move = choose(drawn)
        if move is None:
            return
        played.append(move.uci())
        for board in boards.values():
            board.push(move)


def compare_views(board: FogOfWarBoard, found: Agreement) -> None:
    """Compare what each side sees with the FEN that pychess shows to it."""
    for color in chess.COLORS:
        found.views += 1
        observation = board.observation(color)
        if board.ep_target(color) is not None and observation.en_passant is None:
            found.unseen_victims += 1
        ours, theirs = (
            _cells(observation.text().split(",")[0]),
            _cells(shown_by_pychess(board, color)),
        )
        if ours != theirs:
            name = chess.COLOR_NAMES[color]
            found.errors.append(f"{board.fen()}: {name} sees {ours}, pychess shows {theirs}")


def shown_by_pychess(board: chess.Board, color: chess.Color) -> str:
    """Return the placement that pychess shows to a side, with `*` for each unseen square.

    As its server does, this asks for the view of the side to move, and tells no castling right of
    the other side.
    """
    placement, _, rights, *rest = board.fen().split()
    side = "w" if color == chess.WHITE else "b"
    rights = "".join(right for right in rights if right.isupper() == color) or "-"
    fen = " ".join((placement, side, rights, *rest))
    return str(pyffish.get_fog_fen(fen, _VARIANTS[DRAW], board.chess960)).split()[0]


def _cells(placement: str) -> str:
    """Return a placement with a `.` for each empty square."""
    return re.sub(r"\d", lambda run: "." * int(run[0]), placement)


def random_start(rng: random.Random) -> str:
    """Return the X-FEN of a random start of Chess960; every third one is without pawns."""
    board = FogOfWarBoard.from_chess960_pos(rng.randrange(960))
    if rng.randrange(3) == 0:
        board.set_piece_map({s: p for s, p in board.piece_map().items() if p.piece_type > 1})
        board.set_castling_fen("KQkq")
    return board.fen()


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.compare_pyffish", __doc__, stores=False)
    parser.add_argument("--games", type=int, default=1000, help="default: 1000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chess960", action="store_true", help="from random starts of Chess960")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Compare, and print what was compared; returns the exit code, 2 without pyffish."""
    args = make_parser().parse_args(given(words))
    if find_spec("pyffish") is None:
        print("compare_pyffish: needs pyffish; run: make setup", file=sys.stderr)
        return 2
    tell_rules()
    found, rng = Agreement(), random.Random(args.seed)
    with progress(args.games) as tell:
        for number in range(args.games):
            choose = shuffler(rng) if number % 2 else random_mover(rng)
            start = random_start(rng) if args.chess960 else rng.choice(OPENINGS)
            compare_game(start, choose, found, chess960=args.chess960)
            tell(None, 1)
    print(found.report())
    return 1 if found.errors else 0


if __name__ == "__main__":
    sys.exit(main())
