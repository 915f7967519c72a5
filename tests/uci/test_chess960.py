"""Chess960 in the protocol: the option, both forms of FEN and of `position`, and hidden starts."""

from __future__ import annotations

import random

import chess
import pytest

from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.starts import fen_of
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import PositionReader, account_position, whole_position
from tests.sizes import quick_among

START = "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w KQkq - 0 1"
SHREDDER = START.replace("KQkq", "EAea")
STANDARD = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
HIDDEN = "????????/pppppppp/8/8/8/8/PPPPPPPP/R1K4R w KQkq - 0 1"


def arguments(command: str) -> str:
    return command.removeprefix("position ")


def random_game(seed: int) -> FogOfWarBoard:
    rng = random.Random(seed)
    board = FogOfWarBoard.from_chess960_pos(rng.randrange(960))
    while board.ply() < 60 and not board.is_game_over():
        moves = list(board.legal_moves)
        castling = [move for move in moves if board.is_castling(move)]
        board.push(rng.choice(castling or moves))
    return board


def test_both_forms_of_rights_are_the_same_start() -> None:
    reader = PositionReader()
    xfen = reader.read(f"fen {START}", chess960=True)
    assert xfen == reader.read(f"fen {SHREDDER}", chess960=True)
    assert xfen == reader.read(f"fen {SHREDDER}")
    assert {"b1e1", "b1a1"} <= set(xfen.moves)
    assert not {"b1e1", "b1a1"} & set(reader.read(f"fen {START}").moves)  # as ever


def test_the_option_decides_how_castling_is_written() -> None:
    reader = PositionReader()
    assert {"e1g1", "e1c1"} <= set(reader.read(f"fen {STANDARD}").moves)
    moves = set(reader.read(f"fen {STANDARD}", chess960=True).moves)
    assert {"e1h1", "e1a1"} <= moves and not {"e1g1", "e1c1"} & moves
    for castling, other, chess960 in (("e1g1", "e1h1", False), ("e1h1", "e1g1", True)):
        reader.read(f"fen {STANDARD} moves {castling}", chess960=chess960)
        with pytest.raises(ProtocolError, match="illegal move"):
            reader.read(f"fen {STANDARD} moves {other}", chess960=chess960)
    assert "e1h1" not in reader.read("startpos", chess960=True).moves


@pytest.mark.parametrize("seed", quick_among(range(40), lambda seed: seed < 10))
def test_both_forms_of_position_tell_the_same(seed: int) -> None:
    board = random_game(seed)
    whole = PositionReader().read(arguments(whole_position(board)))
    told = arguments(account_position(Account(board, board.turn)))
    fog = PositionReader().read(told)
    assert whole.plies == fog.plies and whole.start == fog.start
    assert whole.observation == fog.observation
    if not (whole.over or fog.over):
        assert sorted(whole.moves) == sorted(fog.moves)


def test_a_hidden_start() -> None:
    reader = PositionReader()
    history = reader.read(f"fog white fen {HIDDEN}")
    assert history.start == HIDDEN
    assert {"c1a1", "c1h1"} <= set(history.moves)
    seen = "********/********/********/********/P7/8/1PPPPPPP/R1K4R"
    assert len(reader.read(f"fog white fen {HIDDEN} turns a2a4 {seen}").plies) == 1
    for wrong in (f"fen {HIDDEN}", f"fog black fen {HIDDEN}"):
        with pytest.raises(ProtocolError, match="bad FEN"):
            reader.read(wrong)


def test_the_usual_start_in_chess960_says_so() -> None:
    board = FogOfWarBoard.from_chess960_pos(518)
    assert whole_position(board) == f"position fen {fen_of(board)}"
    assert "HAha" in fen_of(board)
    assert whole_position(FogOfWarBoard()) == "position startpos"
    assert fen_of(FogOfWarBoard()) == chess.STARTING_FEN
