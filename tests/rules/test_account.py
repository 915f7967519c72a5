"""One side's account of a game, against the plain reference and against what is hidden."""

from __future__ import annotations

import random
import subprocess
import sys

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.rules.account import Account, Ply, last_ply, play_move, plies
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from tests import reference
from tests.uci.games import FENS, look_alikes, random_moves

GAMES = st.tuples(st.sampled_from(FENS), st.integers(0, 10**6))
SEEN = Observation.parse("8/8/8/8/8/8/8/8")


class Notes:
    """Writes down what a player is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str | None, Observation | None]] = []

    def own_move(self, uci: str, observation: Observation | None) -> None:
        self.heard.append((uci, observation))

    def opponent_move(self, observation: Observation) -> None:
        self.heard.append((None, observation))


def played(fen: str, seed: int, length: int = 30) -> FogOfWarBoard:
    board = FogOfWarBoard(fen)
    for move in random_moves(seed, length, fen):
        board.push_uci(move)
    return board


@pytest.mark.parametrize("fen", FENS)
@pytest.mark.parametrize("side", chess.COLORS)
def test_an_account_is_what_the_reference_shows(fen: str, side: chess.Color) -> None:
    for seed in range(3):
        referee = FogOfWarBoard(fen)
        account = Account(referee, side)
        for plain in reference.random_game(random.Random(seed), fen, 50):
            if plain.move_stack:
                move = plain.peek()
                referee.push(move)
                ply = account.append(referee)
                assert ply.move == (move.uci() if plain.turn != side else None)
                assert ply.observation == account.observation
            assert account.observation.text() == reference.observation_text(plain, side)
        assert len(account.plies) == len(referee.move_stack) > 0


@given(GAMES)
def test_no_move_of_the_other_side_and_no_unseen_piece_comes_in(game: tuple[str, int]) -> None:
    board = played(*game)
    replayed = board.root()
    for ply_white, ply_black, move in zip(
        plies(board, chess.WHITE), plies(board, chess.BLACK), board.move_stack, strict=True
    ):
        mover = replayed.turn
        replayed.push(move)
        for side, ply in ((chess.WHITE, ply_white), (chess.BLACK, ply_black)):
            assert ply.move == (move.uci() if side == mover else None)
            assert ply.observation is not None
            seen = reference.vision(chess.Board(replayed.fen(en_passant="fen")), side)
            assert ply.observation.seen == int(seen)
            assert not any(mask & ~int(seen) for mask in ply.observation.boards)


def test_games_that_look_the_same_have_one_account() -> None:
    accounts = []
    for moves in look_alikes(6):
        board = FogOfWarBoard()
        for move in moves:
            board.push_uci(move)
        accounts.append(Account(board, chess.WHITE).plies)
    assert accounts[0] == accounts[1]


@given(GAMES)
def test_an_account_begun_late_is_the_one_kept_from_the_start(game: tuple[str, int]) -> None:
    board = played(*game)
    before = board.fen()
    for side in chess.COLORS:
        kept = Account(board.root(), side)
        replayed = board.root()
        for move in board.move_stack:
            replayed.push(move)
            assert kept.append(replayed) == last_ply(replayed, side)
        late = Account(board, side)
        assert (late.plies, late.observation) == (kept.plies, kept.observation)
    assert board.fen() == before


def test_a_ply_that_is_not_the_next_is_refused() -> None:
    board = FogOfWarBoard()
    account = Account(board, chess.WHITE)
    with pytest.raises(ValueError, match="ply 0 of a game can't follow ply 0"):
        account.append(board)
    board.push_uci("e2e4")
    account.append(board)
    with pytest.raises(ValueError, match="ply 1 of a game can't follow ply 1"):
        account.append(board)
    assert len(account.plies) == 1


def test_a_board_without_a_ply_has_no_last_one() -> None:
    with pytest.raises(IndexError):
        last_ply(FogOfWarBoard(), chess.WHITE)


@given(GAMES)
def test_both_players_are_told_their_own_side_of_a_move(game: tuple[str, int]) -> None:
    board = played(*game)
    white, black = Notes(), Notes()
    replayed = board.root()
    for move in board.move_stack:
        play_move(replayed, move.uci(), [white, black])
    assert replayed == board
    assert white.heard == list(plies(board, chess.WHITE))
    assert black.heard == list(plies(board, chess.BLACK))


def test_a_move_that_is_not_legal_is_told_to_nobody() -> None:
    board, players = FogOfWarBoard(), [Notes(), Notes()]
    with pytest.raises(ValueError, match="illegal uci"):
        play_move(board, "e2e5", players)
    assert board == FogOfWarBoard()
    assert not any(player.heard for player in players)


def test_an_observation_after_an_own_move_may_be_missing_and_no_other() -> None:
    notes = Notes()
    Ply("e2e4", None).tell(notes)
    Ply(None, SEEN).tell(notes)
    assert notes.heard == [("e2e4", None), (None, SEEN)]
    with pytest.raises(ValueError, match="always told"):
        Ply(None, None).tell(notes)


def test_no_compiled_code_is_loaded_for_an_account() -> None:
    program = (
        "import sys, chess\n"
        "from obscuro.rules.account import Account\n"
        "from obscuro.rules.board import FogOfWarBoard\n"
        "board = FogOfWarBoard()\n"
        "board.push_uci('e2e4')\n"
        "(ply,) = Account(board, chess.BLACK).plies\n"
        "assert ply.observation.parse(ply.observation.text()) == ply.observation\n"
        "assert not {'numba', 'numpy'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
