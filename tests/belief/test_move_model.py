"""The features of a move against python-chess, one by one."""

import chess
import numpy as np
import pytest

from obscuro.belief.move_model import (
    EVEN_SHARE,
    FEATURES,
    PIECES,
    load_model,
    make_model,
    make_scratch,
    probabilities,
    score_moves,
)
from obscuro.belief.record import known_of, packed
from obscuro.rules.position import from_board, move_to_uci
from obscuro.rules.tables import TABLES
from tests.sizes import quick_among

PAWNS = (0, 1, 3, 3, 5, 9, 0)  # by piece type
NO_SQUARES = np.zeros((PIECES, 64))


def scores(board: chess.Board, model: object, recapture: int = 0) -> dict[str, float]:
    """The score of each move of the side to move, by the kernel."""
    mover = 0 if board.turn else 1
    position = from_board(board)
    known, scratch = known_of(position, 1 - mover), make_scratch()
    record = packed(position.reshape(1, -1), 1 - mover)[0]
    count = score_moves(TABLES, model, known, *record, np.uint64(recapture), scratch)
    names = [move_to_uci(word) for word in scratch.moves[:count]]
    assert len(set(names)) == count
    return dict(zip(names, scratch.scores[:count].tolist(), strict=True))


def loss(value: float, attackers: list[chess.PieceType], defended: bool) -> float:
    """What the cheapest capture costs the piece's side, in pawns."""
    if not attackers:
        return 0
    if not defended:
        return value
    cheapest = min(100 if kind == chess.KING else PAWNS[kind] for kind in attackers)
    return max(value - cheapest, 0)


def naive_features(board: chess.Board, move: chess.Move, recapture: int) -> dict[str, float]:
    """All features of a move, by python-chess's attack tables."""
    us, them = board.turn, not board.turn
    piece = board.piece_type_at(move.from_square)
    assert piece is not None
    found = dict.fromkeys(FEATURES, 0.0)
    if board.is_castling(move):
        found["castles"] = 1
        return found
    reached = chess.SquareSet()
    for square in chess.SquareSet(board.occupied_co[us]):
        reached |= board.attacks(square)
    seen = reached & board.occupied_co[them]

    def by(square: chess.Square, among: chess.SquareSet) -> list[chess.PieceType]:
        kinds = [board.piece_type_at(s) for s in board.attackers(them, square) & among]
        return [kind for kind in kinds if kind is not None]

    everyone = chess.SquareSet(board.occupied_co[them])
    victim = board.piece_type_at(move.to_square)
    if board.is_en_passant(move):
        found["takes_pawn"] = 1
    elif victim is not None:
        found[f"takes_{chess.piece_name(victim)}"] = 1
        found["recaptures"] = float(bool(recapture >> move.to_square & 1))
    if piece != chess.PAWN:
        found[f"moves_{chess.piece_name(piece)}"] = 1
    value = PAWNS[piece]
    if piece != chess.KING:
        found["saves"] = loss(
            value, by(move.from_square, seen), bool(board.attackers(us, move.from_square))
        )
        helpers = board.attackers(us, move.to_square) - chess.SquareSet([move.from_square])
        all_of = loss(value, by(move.to_square, everyone), bool(helpers))
        of_seen = loss(value, by(move.to_square, seen), bool(helpers))
        found["loss_to_seen"], found["loss_to_unseen"] = of_seen, all_of - of_seen
    king = board.king(us)
    assert king is not None
    if piece == chess.KING:
        attackers = board.attackers(them, move.to_square)
    else:
        attackers = board.attackers(them, king)
        if attackers:  # as if nothing were discovered
            attackers -= chess.SquareSet([move.to_square])
            line = [s for s in attackers if chess.SquareSet.between(s, king)]
            sliders = [
                s
                for s in board.attackers(them, king)
                if board.piece_type_at(s) in (chess.BISHOP, chess.ROOK, chess.QUEEN)
            ]
            if len(sliders) == 1 and line:
                between = chess.SquareSet.between(sliders[0], king)
                if move.to_square in between:
                    attackers = chess.SquareSet()
    if attackers:
        found["king_left_to_seen" if attackers & seen else "king_left_to_unseen"] = 1
    if move.promotion:
        best = move.promotion == chess.QUEEN
        found["promotes_to_queen" if best else "promotes_to_other"] = 1
    if piece in (chess.PAWN, chess.KNIGHT):
        empty = chess.Board(None)
        empty.set_piece_at(move.to_square, chess.Piece(piece, us))
        worth = {chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 9}
        if piece == chess.PAWN:
            worth |= {chess.KNIGHT: 3, chess.BISHOP: 3}
        hit = [board.piece_type_at(s) for s in empty.attacks(move.to_square) & seen]
        most = max((worth[kind] for kind in hit if kind in worth), default=0)
        found["threatens"] = most - value if most else 0
    return found


def random_boards(seed: int, plies: int):
    """Boards of a random game without check, and the square of the last capture."""
    rng = np.random.default_rng(seed)
    board, recapture = chess.Board(), 0
    for _ in range(plies):
        moves = [m for m in board.pseudo_legal_moves if _goes_on(board, m)]
        if not moves:
            return
        yield board, recapture
        move = moves[rng.integers(len(moves))]
        recapture = chess.BB_SQUARES[move.to_square] if board.is_capture(move) else 0
        board.push(move)


def _goes_on(board: chess.Board, move: chess.Move) -> bool:
    return board.piece_type_at(move.to_square) != chess.KING


@pytest.mark.parametrize("seed", quick_among(range(30), lambda seed: seed < 2))
def test_features_agree_with_python_chess(seed):
    alone = {
        name: make_model({n: float(n == name) for n in FEATURES}, NO_SQUARES) for name in FEATURES
    }
    for number, (board, recapture) in enumerate(random_boards(seed, 160)):
        if number % 3:
            continue
        found = {name: scores(board, model, recapture) for name, model in alone.items()}
        castling = {m for m in found["castles"] if found["castles"][m]}
        for uci in found["castles"]:
            move = chess.Move.from_uci(uci)
            if uci in castling:
                continue
            wanted = naive_features(board, move, recapture)
            assert {name: found[name][uci] for name in FEATURES} == wanted, (board.fen(), uci)


@pytest.mark.parametrize("seed", quick_among(range(30), lambda seed: seed < 2))
def test_moves_are_all_pseudo_legal_ones(seed):
    model = make_model(dict.fromkeys(FEATURES, 0.0), NO_SQUARES)
    for board, _ in random_boards(100 + seed, 160):
        plain = {m.uci() for m in board.pseudo_legal_moves if not board.is_castling(m)}
        found = set(scores(board, model))
        assert plain <= found
        # Castling needs the right and an empty path only.
        assert all(
            board.piece_type_at(chess.parse_square(m[:2])) == chess.KING for m in found - plain
        )


def test_piece_squares_are_seen_from_the_mover():
    squares = NO_SQUARES.copy()
    squares[1, chess.F3], squares[1, chess.G1] = 2, 5
    model = make_model(dict.fromkeys(FEATURES, 0.0), squares)
    board = chess.Board()
    assert scores(board, model)["g1f3"] == -3
    board.push_uci("e2e4")
    assert scores(board, model)["g8f6"] == -3
    assert scores(board, model)["b8c6"] == 0


def test_probabilities_are_a_softmax_with_an_even_share():
    drawn = np.random.default_rng(1).normal(size=30).astype(np.float32) * 3
    wanted = np.exp(drawn - drawn.max())
    wanted = (1 - EVEN_SHARE) * wanted / wanted.sum() + EVEN_SHARE / 30
    found = drawn.copy()
    probabilities(load_model(), found, 30)
    assert found == pytest.approx(wanted, rel=3e-5)
    assert found.sum() == pytest.approx(1, rel=3e-5)


def test_fitted_model_prefers_what_players_prefer():
    model = load_model()
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    by_score = scores(board, model)
    assert max(by_score, key=by_score.__getitem__) == "e4d5"
    king = scores(chess.Board("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1"), model)
    assert min(king, key=king.__getitem__) != "e1e2"
