"""FogOfWarBoard: its rules against the slow reference, and as a board of python-chess."""

from __future__ import annotations

import copy
import doctest
import io
import random
import subprocess
import sys

import chess
import chess.engine
import chess.pgn
import chess.svg
import chess.variant
import pytest

import obscuro.rules.board
from obscuro.rules.board import BOARDS, DrawnStalemateBoard, FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board
from tests import reference

TRICKY_FENS = [
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",  # castling on all sides
    "r3k2r/8/4R3/8/8/4r3/8/R3K2R b KQkq - 0 1",  # out of check
    "rn2k1nr/8/8/8/8/8/8/R2QK1NR w KQkq - 0 1",  # paths that are not empty
    "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",  # en passant
    "4k3/8/8/1PpP4/8/8/8/4K3 w - c6 0 1",  # en passant from both sides
    "4k3/8/8/K1pP3r/8/8/8/8 w - c6 0 1",  # en passant that would expose the king
    "4k3/8/8/8/2pP4/8/8/4K3 w - - 0 1",  # a push long ago
    "4k3/8/8/3P4/8/8/8/4K3 w - c6 0 1",  # an en passant square with no pawn behind it
    "1n1k3r/P1P3P1/8/8/8/8/p1p3p1/1N1K3R w - - 0 1",  # promotions
    "4k3/8/8/8/8/8/4q3/4K3 w - - 0 1",  # kings in check
    "4k3/4Q3/8/8/8/8/8/4K3 w - - 0 1",  # a king to capture
    "8/8/8/8/8/p7/P7/K1k5 b - - 0 1",
    "7k/7p/7P/8/8/p7/P7/K7 w - - 0 1",
]


def play(*sans: str, fen: str = chess.STARTING_FEN) -> FogOfWarBoard:
    board = FogOfWarBoard(fen)
    for san in sans:
        board.push_san(san)
    return board


def names(squares: chess.SquareSet) -> set[str]:
    return {chess.square_name(square) for square in squares}


# -- against the reference ------------------------------------------------------------------


def assert_as_reference(plain: chess.Board) -> None:
    board = FogOfWarBoard(plain.fen(en_passant="fen"))
    fen = board.fen()
    if all(board.king(color) is not None for color in chess.COLORS):
        expected = sorted(move.uci() for move in reference.fog_moves(plain))
        assert sorted(move.uci() for move in board.legal_moves) == expected, fen
    for color in chess.COLORS:
        assert board.vision(color) == reference.vision(plain, color), fen
        assert board.fog_fen(color) == reference.observation_text(plain, color), fen


@pytest.mark.parametrize("fen", TRICKY_FENS)
def test_tricky_positions_agree_with_the_reference(fen: str) -> None:
    assert_as_reference(chess.Board(fen))


@pytest.mark.parametrize("seed", range(6))
def test_random_games_agree_with_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    fen = chess.STARTING_FEN if seed % 2 else rng.choice(TRICKY_FENS)
    for plain in reference.random_game(rng, fen):
        assert_as_reference(plain)


def test_board_played_move_by_move_stays_with_the_reference() -> None:
    for seed in range(8):
        board = FogOfWarBoard()
        for plain in reference.random_game(random.Random(seed), plies=120):
            if plain.move_stack:
                board.push(plain.peek())
            assert board.fen(en_passant="fen") == plain.fen(en_passant="fen")
            assert board.is_game_over() or reference.goes_on(plain)


def test_observation_is_what_the_kernels_observe() -> None:
    for seed in range(4):
        for plain in reference.random_game(random.Random(seed), plies=60):
            board = FogOfWarBoard(plain.fen())
            for side, color in enumerate((chess.WHITE, chess.BLACK)):
                assert board.observation(color) == Observation.of(from_board(board), side)


def perft(board: FogOfWarBoard, depth: int) -> int:
    if depth == 1:
        return board.legal_moves.count()
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += perft(board, depth - 1)
        board.pop()
    return nodes


def test_perft_counts_moves_into_check() -> None:
    # At depth 4, 461 more than the 197,281 of chess.
    assert [perft(FogOfWarBoard(), depth) for depth in (1, 2, 3, 4)] == [20, 400, 8902, 197742]


# -- moves ----------------------------------------------------------------------------------


def test_moving_into_check_and_leaving_a_pin_are_legal() -> None:
    board = FogOfWarBoard("4r2k/8/8/8/8/8/4N3/4K2r w - - 0 1")
    assert chess.Move.from_uci("e2c3") in board.legal_moves
    assert chess.Move.from_uci("e1f1") in board.legal_moves
    assert not board.is_check()
    assert not board.is_checkmate()
    assert not board.checkers()
    assert board.is_valid()


@pytest.mark.parametrize("attacker", ["e8", "f8", "g8"])
def test_castling_ignores_attacks(attacker: str) -> None:
    board = FogOfWarBoard("8/k7/8/8/8/8/8/4K2R w K - 0 1")
    board.set_piece_at(chess.parse_square(attacker), chess.Piece.from_symbol("r"))
    board.push_san("O-O")
    assert board.board_fen().endswith("/5RK1")


@pytest.mark.parametrize("blocker", ["b1", "c1", "d1"])
def test_castling_needs_an_empty_path(blocker: str) -> None:
    board = FogOfWarBoard("8/k7/8/8/8/8/8/R3K3 w Q - 0 1")
    assert chess.Move.from_uci("e1c1") in board.legal_moves
    board.set_piece_at(chess.parse_square(blocker), chess.Piece.from_symbol("n"))
    assert chess.Move.from_uci("e1c1") not in board.legal_moves


def test_castling_is_read_in_both_notations() -> None:
    board = FogOfWarBoard("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    for text, uci in [("e1g1", "e1g1"), ("e1h1", "e1g1"), ("e1c1", "e1c1"), ("e1a1", "e1c1")]:
        move = board.parse_uci(text)
        assert board.uci(move) == uci
        assert board.is_castling(move)


def test_no_move_is_legal_once_a_king_is_captured() -> None:
    board = play("e4", "f6", "Qh5", "a6", "Qxe8#")
    assert not any(board.legal_moves)
    assert not board.is_legal(chess.Move.from_uci("a6a5"))
    board.pop()
    assert chess.Move.from_uci("h5e8") in board.legal_moves


# -- the end of the game --------------------------------------------------------------------


@pytest.mark.parametrize("winner", chess.COLORS)
def test_capturing_the_king_wins(winner: chess.Color) -> None:
    board = FogOfWarBoard("4k3/4Q3/8/8/8/8/4q3/4K3 w - - 0 1")
    board.turn = winner
    board.push_san("Qxe8" if winner == chess.WHITE else "Qxe1")
    assert board.is_variant_end()
    assert board.is_variant_loss()
    assert board.outcome() == chess.Outcome(chess.Termination.VARIANT_LOSS, winner)
    assert board.result() == ("1-0" if winner == chess.WHITE else "0-1")
    assert board.is_valid()


@pytest.mark.parametrize("winner", chess.COLORS)
def test_a_side_without_a_move_loses(winner: chess.Color) -> None:
    board = FogOfWarBoard("8/8/8/8/8/p1p5/ppPp4/kn2K3 w - - 0 1")
    if winner == chess.BLACK:
        board = board.mirror()
    san = "Kd1#" if winner == chess.WHITE else "Kd8#"
    winning = board.parse_san(san)
    assert board.san(winning) == san
    board.push(winning)
    assert board.is_stalemate()
    assert not board.is_variant_end()
    assert board.outcome() == chess.Outcome(chess.Termination.VARIANT_LOSS, winner)


@pytest.mark.parametrize("side", chess.COLORS)
def test_a_side_without_a_move_draws_where_the_rule_says_so(side: chess.Color) -> None:
    board: FogOfWarBoard = DrawnStalemateBoard("8/8/8/8/8/p1p5/ppPp4/kn2K3 w - - 0 1")
    if side == chess.BLACK:
        board = board.mirror()
    san = "Kd1" if side == chess.WHITE else "Kd8"
    move = board.parse_san(san)
    assert board.san(move) == san
    board.push(move)
    assert not board.is_variant_loss() and not any(board.legal_moves)
    assert board.outcome() == chess.Outcome(chess.Termination.STALEMATE, None)
    assert board.is_game_over() and board.result() == "1/2-1/2"
    board.pop()
    assert board.outcome() is None


def test_a_captured_king_loses_where_stalemate_is_a_draw() -> None:
    board = DrawnStalemateBoard("k6R/8/8/8/8/8/8/K7 w - - 0 1")
    board.push_san("Rxa8")
    assert board.outcome() == chess.Outcome(chess.Termination.VARIANT_LOSS, chess.WHITE)


def test_copies_and_roots_keep_the_rule() -> None:
    board = DrawnStalemateBoard("8/8/8/8/8/p1p5/ppPp4/kn2K3 w - - 0 1")
    board.push_san("Kd1")
    for again in (board.copy(), board.copy(stack=False), board.mirror()):
        assert again.outcome() == chess.Outcome(chess.Termination.STALEMATE, None)
    assert board.root().stalemate == "draw"


def test_names_of_the_variant_lead_to_the_rule_of_the_papers() -> None:
    assert chess.variant.find_variant("fogofwar") is FogOfWarBoard
    assert {rule: board.stalemate for rule, board in BOARDS.items()} == {
        "loss": "loss",
        "draw": "draw",
    }


def test_a_move_into_check_is_a_move() -> None:
    assert FogOfWarBoard("k7/p7/P7/8/8/8/8/1R5K b - - 0 1").outcome() is None


def test_bare_kings_play_on() -> None:
    board = FogOfWarBoard("4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    assert not board.is_insufficient_material()
    assert board.outcome() is None
    for color in chess.COLORS:
        assert not board.has_insufficient_material(color)


def test_third_occurrence_of_a_position_is_a_draw_without_a_claim() -> None:
    board = play("Nf3", "Nf6", "Ng1", "Ng8", "Nf3", "Nf6", "Ng1")
    assert board.outcome() is None
    assert not board.can_claim_draw()  # though the next move can repeat
    board.push_san("Ng8")
    assert board.outcome() == chess.Outcome(chess.Termination.THREEFOLD_REPETITION, None)
    assert board.result() == "1/2-1/2"


def test_lost_castling_right_makes_another_position() -> None:
    shuffle = ["Rg1", "Rg8", "Rh1", "Rh8"]
    board = play(*shuffle * 2, fen="4k2r/8/8/8/8/8/8/4K2R w Kk - 0 1")
    assert board.outcome() is None  # the first occurrence had the rights
    board = play(*shuffle * 2, *shuffle, fen="4k2r/8/8/8/8/8/8/4K2R w Kk - 0 1")
    assert board.is_repetition(3)


def test_repetition_counts_en_passant_only_where_it_can_be_captured() -> None:
    shuffle = ["Nf6", "Nf3", "Ng8", "Ng1"]
    assert play("e4", *shuffle * 2).is_repetition(3)
    with_capture = FogOfWarBoard("rnbqkbnr/ppp1pppp/8/8/3p4/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    with_capture.push_san("e4")
    for san in shuffle * 2:
        with_capture.push_san(san)
    assert not with_capture.is_repetition(3)


def test_en_passant_that_exposes_the_king_makes_another_position() -> None:
    # Pinned along the rank: chess would say that no capture is possible.
    board = FogOfWarBoard("4k3/2p5/8/K2P3r/8/8/8/6N1 b - - 0 1")
    board.push_san("c5")
    for san in ["Nf3", "Kd8", "Ng1", "Ke8"] * 2:
        board.push_san(san)
    assert not board.is_repetition(3)
    for san in ["Nf3", "Kd8", "Ng1", "Ke8"]:
        board.push_san(san)
    assert board.is_repetition(3)


def test_fifty_moves_are_a_draw_without_a_claim() -> None:
    board = FogOfWarBoard("4k3/8/8/8/8/8/8/R3K3 w - - 98 80")
    board.push_san("Ra2")
    assert board.outcome(claim_draw=True) is None
    board.push_san("Kf8")
    assert board.outcome() == chess.Outcome(chess.Termination.FIFTY_MOVES, None)


def test_capturing_the_king_takes_precedence_over_fifty_moves() -> None:
    board = FogOfWarBoard("4k3/8/8/8/8/8/4R3/4K3 w - - 99 80")
    board.push_san("Rxe8")
    assert board.outcome() == chess.Outcome(chess.Termination.VARIANT_LOSS, chess.WHITE)


# -- validity -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "status"),
    [
        (chess.STARTING_FEN, chess.STATUS_VALID),
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", chess.STATUS_VALID),  # can take the king
        ("8/8/8/8/8/8/8/4Kk2 w - - 0 1", chess.STATUS_VALID),
        ("8/8/8/8/8/8/8/4RK2 b - - 0 1", chess.STATUS_VALID),  # has taken the king
        ("8/8/8/8/8/8/8/4RK2 w - - 0 1", chess.STATUS_NO_BLACK_KING),
        ("8/8/8/8/8/8/8/3KKR2 b - - 0 1", chess.STATUS_NO_BLACK_KING | chess.STATUS_TOO_MANY_KINGS),
        ("4k3/8/8/8/8/8/8/3KKR2 b - - 0 1", chess.STATUS_TOO_MANY_KINGS),
        ("4k3/8/8/8/8/8/8/P3K3 w - - 0 1", chess.STATUS_PAWNS_ON_BACKRANK),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", chess.STATUS_BAD_CASTLING_RIGHTS),
        ("4k3/8/8/3P4/8/8/8/4K3 w - c6 0 1", chess.STATUS_INVALID_EP_SQUARE),
    ],
)
def test_status_judges_by_the_rules_of_the_variant(fen: str, status: chess.Status) -> None:
    board = FogOfWarBoard(fen)
    assert board.status() == status
    assert board.is_valid() == (status == chess.STATUS_VALID)


def test_empty_board_is_over_and_breaks_nothing() -> None:
    board = FogOfWarBoard(None)
    assert board.outcome() == chess.Outcome(chess.Termination.VARIANT_DRAW, None)
    assert not board.vision(chess.WHITE)
    assert board.fog_fen(chess.BLACK) == "/".join(["*" * 8] * 8)


# -- vision ---------------------------------------------------------------------------------


def test_a_side_sees_the_same_squares_whoever_is_to_move() -> None:
    board = play("e4", "e5", "Nf3")
    for color in chess.COLORS:
        before = board.vision(color)
        board.push(chess.Move.null())
        assert board.vision(color) == before


def test_blocked_pawn_does_not_see_its_blocker() -> None:
    board = FogOfWarBoard("4k3/8/8/4p3/4P3/8/8/K7 w - - 0 1")
    assert names(board.vision(chess.WHITE)) == {"e4", "a1", "a2", "b1", "b2"}
    assert "e4" not in names(board.vision(chess.BLACK))


def test_pawn_sees_past_a_free_square_only_from_its_home_rank() -> None:
    board = FogOfWarBoard("k7/8/4n3/8/8/4P3/3P4/K7 w - - 0 1")
    assert {"d3", "d4", "e4"} <= names(board.vision(chess.WHITE))
    assert "e5" not in names(board.vision(chess.WHITE))
    board = FogOfWarBoard("k7/8/8/8/4n3/8/4P3/K7 w - - 0 1")
    assert names(board.vision(chess.WHITE)) == {"a1", "a2", "b1", "b2", "e2", "e3"}


def test_pawn_sees_a_diagonal_only_with_something_to_capture() -> None:
    board = FogOfWarBoard("k7/8/8/3n4/4P3/8/8/K7 w - - 0 1")
    seen = names(board.vision(chess.WHITE))
    assert "d5" in seen
    assert "f5" not in seen


def test_en_passant_shows_the_square_and_the_pawn_to_its_capturer_only() -> None:
    board = play("e4", "a6", "e5", "d5")
    assert {"d6", "d5"} <= names(board.vision(chess.WHITE))
    assert board.ep_target(chess.WHITE) == chess.D6
    assert board.ep_target(chess.BLACK) is None
    assert board.fog_fen(chess.WHITE).endswith(",d6")
    assert "," not in board.fog_fen(chess.BLACK)
    board.push_san("a3")
    assert not {"d6", "d5"} & names(board.vision(chess.WHITE))


def test_double_push_next_to_no_pawn_shows_nothing() -> None:
    board = play("e4", "d5")
    assert board.ep_square == chess.D6
    assert board.ep_target(chess.WHITE) is None
    assert "d6" not in names(board.vision(chess.WHITE))
    assert "," not in board.fog_fen(chess.WHITE)


def test_a_side_without_its_king_still_sees() -> None:
    board = play("e4", "f6", "Qh5", "a6", "Qxe8")
    assert board.piece_at(chess.E8) in board.fogged(chess.BLACK).piece_map().values()
    assert "e8" in names(board.vision(chess.BLACK))  # the bishop could recapture


def test_fogged_board_holds_the_seen_pieces_only() -> None:
    board = play("e4", "d5")
    assert board.fogged(chess.WHITE).board_fen() == "8/8/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR"
    assert "<svg" in chess.svg.board(board.fogged(chess.WHITE))


# -- as a board of python-chess -------------------------------------------------------------


def test_san_round_trips_through_random_games() -> None:
    for seed in range(6):
        board = FogOfWarBoard()
        for plain in reference.random_game(random.Random(100 + seed), plies=80):
            if plain.move_stack:
                board.push(plain.peek())
            sans = {board.san(move): move for move in board.legal_moves}
            assert len(sans) == board.legal_moves.count()
            for san, move in sans.items():
                assert board.parse_san(san) == move


def test_san_tells_pieces_apart_by_pseudo_legal_moves() -> None:
    # The knight on e2 is pinned: chess would write Nc3 for the other.
    board = FogOfWarBoard("4r2k/8/8/8/8/8/4N3/1N2K3 w - - 0 1")
    assert board.san(chess.Move.from_uci("b1c3")) == "Nbc3"
    with pytest.raises(chess.AmbiguousMoveError):
        board.parse_san("Nc3")


def test_san_marks_the_winning_move_and_no_check() -> None:
    board = FogOfWarBoard("4k3/8/8/8/8/8/7Q/4K3 w - - 0 1")
    assert board.san(chess.Move.from_uci("h2e2")) == "Qe2"
    board = FogOfWarBoard("4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1")
    assert board.san(chess.Move.from_uci("e2e8")) == "Qxe8#"
    assert board.parse_san("Qxe8") == chess.Move.from_uci("e2e8")


def test_copies_keep_rules_and_history() -> None:
    board = play("e4", "e5", "Nf3")
    for duplicate in (board.copy(), copy.copy(board), copy.deepcopy(board)):
        assert type(duplicate) is FogOfWarBoard
        assert duplicate == board
        assert duplicate.move_stack == board.move_stack
    assert board.root() == FogOfWarBoard()
    assert board.mirror().vision(chess.BLACK) == board.vision(chess.WHITE).mirror()
    assert FogOfWarBoard() != chess.Board()


@pytest.mark.parametrize("name", ["Fog of War", "fogofwar", "darkchess", "dark chess"])
def test_the_variant_is_found_by_name(name: str) -> None:
    assert chess.variant.find_variant(name) is FogOfWarBoard


def test_pgn_round_trips() -> None:
    board = play("e4", "f6", "Qh5", "a6", "Qxe8")
    text = str(chess.pgn.Game.from_board(board))
    assert '[Variant "Fog of War"]' in text
    assert '[Result "1-0"]' in text
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    assert type(game.board()) is FogOfWarBoard
    assert game.end().board() == board


def test_pgn_from_a_position_with_a_king_to_capture_round_trips() -> None:
    board = play("Qe7", "Kxe7", "Kd2", fen="4k3/8/3Q4/8/8/8/8/4K3 w - - 3 9")
    game = chess.pgn.read_game(io.StringIO(str(chess.pgn.Game.from_board(board))))
    assert game is not None
    assert not game.errors
    assert game.end().board() == board


SCRIPTED_ENGINE = """
import sys
for line in sys.stdin:
    line = line.strip()
    if line == "uci":
        print("option name UCI_Variant type combo default chess var chess var fogofwar")
        print("uciok")
    elif line == "isready":
        print("readyok")
    elif line.startswith(("position", "setoption")):
        print("info string", line)
    elif line.startswith("go"):
        print("info depth 1 score cp 0 pv e2e8")
        print("bestmove e2e8")
    elif line == "quit":
        break
    sys.stdout.flush()
"""


def test_python_chess_drives_an_engine_with_the_board() -> None:
    board = play(
        "Qe2", "Kf8", "Qe3", "Ke8", "Qe2", "Kf8", "Kd1", "Ke8", fen="4k3/8/8/8/8/8/8/3QK3 w - - 0 1"
    )
    with chess.engine.SimpleEngine.popen_uci([sys.executable, "-c", SCRIPTED_ENGINE]) as engine:
        played = engine.play(board, chess.engine.Limit(time=1), info=chess.engine.INFO_ALL)
    assert played.move == chess.Move.from_uci("e2e8")
    board.push(played.move)
    assert board.result() == "1-0"


def test_importing_the_rules_loads_no_compiler() -> None:
    code = (
        "import sys, obscuro.rules, obscuro.rules.board; obscuro.rules.FogOfWarBoard;"
        "sys.exit('numba' in sys.modules or 'numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fig'"):
        obscuro.rules.fig  # noqa: B018


def test_examples_in_the_documentation_hold() -> None:
    result = doctest.testmod(obscuro.rules.board)
    assert result.attempted
    assert not result.failed
