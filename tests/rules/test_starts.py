"""Starts that one side does not know, and FENs of Chess960."""

import chess
import numpy as np
import pytest

from obscuro.rules.account import Account, start_fen
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_fen, start_words
from obscuro.rules.starts import fen_of, hidden_fen, is_hidden, names_files, possible_starts

HIDDEN = "????????/pppppppp/8/8/8/8/PPPPPPPP/RKBNQBNR w KQkq - 0 1"
HIDDEN_WHITE = "rkbnqbnr/pppppppp/8/8/8/8/PPPPPPPP/???????? w KQkq - 0 1"


def test_all_960_back_ranks_fit_where_nothing_is_seen() -> None:
    for fen, side in ((HIDDEN, chess.WHITE), (HIDDEN_WHITE, chess.BLACK)):
        starts = possible_starts(fen, side)
        assert len(set(starts)) == 960 and all(map(names_files, starts))
        assert start_words(fen, 0 if side else 1).shape == (960, 8)
        assert len({FogOfWarBoard(s, chess960=True).observation(side) for s in starts}) == 1
    assert (start_words(chess.STARTING_FEN, 0) == from_fen(chess.STARTING_FEN)).all()


def test_a_side_is_not_told_a_hidden_start() -> None:
    board = FogOfWarBoard("qrnbnkbr/pppppppp/8/8/8/8/PPPPPPPP/RKBNQBNR w HAhb - 0 1", chess960=True)
    start = fen_of(board)
    assert {start_fen(board, side) for side in (None, *chess.COLORS)} == {start}
    board.hidden_start = True
    board.push_uci("a2a3")
    for each in (board, board.copy(), board.copy(stack=False), board.root()):
        assert each.hidden_start
    assert Account(board, chess.WHITE).start == hidden_fen(board.root(), chess.WHITE) == HIDDEN
    assert Account(board, chess.BLACK).start == HIDDEN_WHITE.replace("rkbnqbnr", "qrnbnkbr")
    assert start_fen(board) == start
    for side in chess.COLORS:
        assert start in possible_starts(hidden_fen(board.root(), side), side)


def test_only_ranks_with_the_pieces_that_are_seen_fit() -> None:
    fen = "r???????/1ppppppp/8/8/8/8/1PPPPPPP/RKBNQBNR w KQkq - 0 1"
    starts = possible_starts(fen, chess.WHITE)
    assert starts and all(start.startswith("r") for start in starts)
    board = FogOfWarBoard("rkbnqbnr/1ppppppp/8/8/8/8/1PPPPPPP/RKBNQBNR w KQkq - 0 1", chess960=True)
    assert fen_of(board) in starts
    unseen = fen.replace("r???????", "????????")
    with pytest.raises(ValueError, match="no start of Chess960 fits"):
        possible_starts(unseen, chess.WHITE)  # White sees a8


@pytest.mark.parametrize(
    "fen",
    [
        HIDDEN_WHITE,  # our own side
        HIDDEN.replace("pppppppp", "?ppppppp"),
        HIDDEN.replace("????????", "???????"),
        HIDDEN.replace("????????", "kk??????"),
        HIDDEN.replace("8/8/8/8", "8/8/8"),
    ],
)
def test_what_is_no_hidden_start(fen: str) -> None:
    assert is_hidden(fen)
    with pytest.raises(ValueError, match=r"rank|fits"):
        possible_starts(fen, chess.WHITE)


def test_rights_of_the_hidden_side_may_be_gone() -> None:
    words = start_words(HIDDEN.replace("KQkq", "KQ"), 0)
    assert len(np.unique(words[:, 7])) == 1
