"""What Stockfish is asked, and what its answers are read as."""

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.scale import value_of_mate, value_of_pawns
from obscuro.evaluation.stockfish.answers import read_lists, read_scores
from obscuro.evaluation.stockfish.requests import (
    REQUEST_BYTES,
    safe_en_passant_square,
    stockfish_can_take,
    write_request,
)
from obscuro.rules.layout import CASTLING_SHIFT, EN_PASSANT_SHIFT, STATE
from obscuro.rules.position import Words, from_fen
from obscuro.rules.tables import TABLES
from tests.evaluation.naive import by_move, game_boards, king_hangs, words_of


def can_take(words: Words) -> bool:
    return bool(stockfish_can_take(TABLES, tuple(words)))


def told_square(fen: str) -> str:
    square = int(safe_en_passant_square(TABLES, tuple(from_fen(fen))))
    return chess.square_name(square) if square else "-"


def test_in_play_the_capturable_king_decides() -> None:
    boards = game_boards(seed=3, count=400)
    answers = [can_take(words) for words in words_of(boards)]
    assert answers == [not king_hangs(board, not board.turn) for board in boards]
    assert True in answers
    assert False in answers


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/8/8/8/8/K7 w - - 0 1",  # a king missing
        "k7/8/8/8/8/8/8/8 w - - 0 1",
        "kk6/8/8/8/8/8/8/K7 w - - 0 1",  # one too many
        "P6k/8/8/8/8/8/8/K7 w - - 0 1",  # a pawn on a back rank
        "7k/8/8/8/8/PP6/PPPPPPPP/K7 w - - 0 1",  # ten pawns
        "7k/8/8/8/8/RRRRRRRR/RRRRRRRR/K7 w - - 0 1",  # seventeen pieces
        "k7/1K6/8/8/8/8/8/8 w - - 0 1",  # kings side by side
    ],
)
def test_no_position_of_chess(fen: str) -> None:
    assert not can_take(from_fen(fen))


def test_castling_rights_must_fit() -> None:
    home = from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert can_take(home)
    for right, fen in enumerate(
        [
            "r3k2r/8/8/8/8/8/8/R3K3 w Qkq - 0 1",
            "r3k2r/8/8/8/8/8/8/4K2R w Kkq - 0 1",
            "r3k3/8/8/8/8/8/8/R3K2R w KQq - 0 1",
            "4k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1",
        ]
    ):
        without = from_fen(fen)
        assert can_take(without)
        without[STATE] |= np.uint64(1 << right) << CASTLING_SHIFT
        assert not can_take(without)
    moved = from_fen("r3k2r/8/8/8/8/8/4K3/R6R w kq - 0 1")
    moved[STATE] |= np.uint64(1) << CASTLING_SHIFT
    assert not can_take(moved)


def test_no_castling_right_of_chess960_is_told() -> None:
    out = np.zeros(2 * REQUEST_BYTES, dtype=np.uint8)
    for fen, rights in (
        ("1rk2r2/8/8/8/8/8/8/1RK2R2 w FBfb - 0 1", b"-"),
        ("r3k2r/8/8/8/8/8/8/1RK2R2 w FBha - 0 1", b"-"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", b"KQkq"),
    ):
        words = from_fen(fen)
        assert can_take(words)
        end = write_request(TABLES, tuple(words), False, out, 0)
        assert out[:end].tobytes().split()[4] == rights


def test_en_passant_square_must_fit() -> None:
    pushed = from_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")
    assert can_take(pushed)
    for fen in (
        "4k3/8/8/4P3/8/8/8/4K3 w - - 0 1",  # no pawn to capture
        "4k3/3p4/8/3pP3/8/8/8/4K3 w - - 0 1",  # it can't have come from there
        "4k3/8/8/3p4/8/8/8/4K3 w - - 0 1",  # nothing to capture with
        "4k3/8/8/3pP3/8/8/8/4K3 b - - 0 1",  # the wrong side
    ):
        words = from_fen(fen)
        words[STATE] |= np.uint64(chess.D6) << EN_PASSANT_SHIFT
        assert not can_take(words)


def test_en_passant_is_told_only_where_it_leaves_the_king_safe() -> None:
    assert told_square("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1") == "d6"
    assert told_square("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1") == "-"
    # In check by a knight before the push: capturing does not help.
    assert told_square("4k3/8/8/3pP3/8/3n4/8/4K3 w - d6 0 1") == "-"
    # Pinned; but the other pawn is free.
    assert told_square("4k2b/8/8/3pP3/8/8/1K6/8 w - d6 0 1") == "-"
    assert told_square("4k2b/8/8/2PpP3/8/8/1K6/8 w - d6 0 1") == "d6"


SHORT = "8/8/8/8/8/8/P6k/K7 w - - 0 1"  # a2a3, a2a4, a1b1, a1b2
FORMATS = {
    "8 (2018)": """\
info depth 1 seldepth 1 multipv 1 score cp 120 nodes 65 nps 32500 tbhits 0 time 2 pv a2a4 h2g3
info depth 1 seldepth 1 multipv 2 score cp -45 nodes 65 nps 32500 tbhits 0 time 2 pv a1b2
bestmove a2a4 ponder h2g3
""",
    "15.1": """\
info string NNUE evaluation using nn-ad9b42354671.nnue enabled
info depth 1 seldepth 1 multipv 1 score cp 120 nodes 5 nps 5000 hashfull 0 tbhits 0 time 1 pv a2a4
info depth 1 seldepth 1 multipv 2 score cp -45 nodes 5 nps 5000 hashfull 0 tbhits 0 time 1 pv a1b2
bestmove a2a4
""",
    "with win, draw and loss": """\
info depth 1 seldepth 2 multipv 1 score cp 120 wdl 300 690 10 nodes 5 nps 5000 time 1 pv a2a4 h2g3
info depth 1 seldepth 2 multipv 2 score cp -45 wdl 3 900 97 nodes 5 nps 5000 time 1 pv a1b2
bestmove a2a4 ponder h2g3
""",
    "17": """\
info string Available processors: 0-1
info string Using 1 thread
info string NNUE evaluation using nn-1111cefa1111.nnue (133MiB, (22528, 3072, 15, 32, 1))
info string pv a1b1 score cp 7
info depth 1 seldepth 3 multipv 1 score cp 120 nodes 5 nps 5000 hashfull 0 tbhits 0 time 1 pv a2a4
info depth 1 currmove a2a3 currmovenumber 2
info depth 1 seldepth 3 multipv 2 score cp -45 nodes 5 nps 5000 hashfull 0 tbhits 0 time 1 pv a1b2
bestmove a2a4
""",
    "several depths": """\
info depth 1 seldepth 1 multipv 1 score cp 1 nodes 5 time 1 pv a1b2
info depth 1 seldepth 1 multipv 2 score cp 2 nodes 5 time 1 pv a2a4
info depth 2 seldepth 1 multipv 1 score cp 120 nodes 5 time 1 pv a2a4
info depth 2 seldepth 1 multipv 2 score cp -45 nodes 5 time 1 pv a1b2
bestmove a2a4
""",
    "carriage returns": """\
info depth 1 multipv 1 score cp 120 pv a2a4\r
info depth 1 multipv 2 score cp -45 pv a1b2\r
bestmove a2a4\r
""",
}


def bytes_of(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def read_one(text: str, fen: str = SHORT) -> tuple[int, dict[str, float]]:
    """The number of answers read for one position, and the values given to its moves."""
    children = expand(words_of([chess.Board(fen)]), find_mates=False)
    read = read_lists(
        bytes_of(text),
        np.zeros(1, dtype=np.int64),
        np.full(1, 0.01),
        children.offsets,
        children.moves,
        np.isnan(children.values),
        6.0,
        children.values,
    )
    values = {move: value for move, (value, _) in by_move(children, 0).items()}
    return read, {move: value for move, value in values.items() if not np.isnan(value)}


def pawns(amount: float) -> np.float32:
    return np.float32(value_of_pawns(amount, 6.0))


@pytest.mark.parametrize("text", FORMATS.values(), ids=FORMATS.keys())
def test_formats_of_several_versions(text: str) -> None:
    assert read_one(text) == (1, {"a2a4": pawns(1.2), "a1b2": pawns(-0.45)})


def test_mates() -> None:
    text = (
        "info depth 1 multipv 1 score mate 3 pv a2a4\n"
        "info depth 1 multipv 2 score mate -2 pv a1b2\n"
        "bestmove a2a4\n"
    )
    expected = {"a2a4": np.float32(value_of_mate(3)), "a1b2": np.float32(value_of_mate(-2))}
    assert read_one(text) == (1, expected)


def test_promotions_are_told_apart() -> None:
    text = "".join(
        f"info depth 1 multipv {k} score cp {100 * k} pv a7a8{piece}\n"
        for k, piece in enumerate("nbrq", 1)
    )
    _, values = read_one(text + "bestmove a7a8q\n", "8/P7/8/8/8/8/7k/K7 w - - 0 1")
    assert values == {f"a7a8{piece}": pawns(k) for k, piece in enumerate("nbrq", 1)}


def test_a_bound_counts_only_without_an_exact_score() -> None:
    text = (
        "info depth 1 multipv 1 score cp 100 lowerbound pv a2a4\n"
        "info depth 1 multipv 2 score cp 200 pv a1b2\n"
        "info depth 1 multipv 2 score cp 300 upperbound nodes 3 pv a1b2\n"
        "info depth 1 multipv 3 score cp 50 upperbound pv a2a3\n"
        "info depth 1 multipv 3 score cp 400 pv a2a3\n"
        "bestmove a2a4\n"
    )
    assert read_one(text) == (1, {"a2a4": pawns(1), "a1b2": pawns(2), "a2a3": pawns(4)})


def test_no_legal_move_is_an_answer_without_values() -> None:
    assert read_one("info depth 0 score mate 0\nbestmove (none)\n") == (1, {})


@pytest.mark.parametrize(
    "text",
    [
        "info depth 1 multipv 1 score cp 1 pv h7h8\nbestmove a2a4\n",
        "info depth 1 multipv 1 score cp 1 pv a2a4\nbestmove e2e4\n",
        "info depth 1 multipv 1 score cp 1 pv a2a4\nbestmove\n",
        "info depth 1 multipv 1 score cp 1 pv a2a4\nbestmove a2a4x\n",
    ],
)
def test_an_answer_to_another_position_is_refused(text: str) -> None:
    assert read_one(text)[0] == -1


@pytest.mark.parametrize(
    "line",
    [
        "info depth 1 score cp pv a2a4",
        "info depth 1 score cp 1x pv a2a4",
        "info depth 1 score cp 99999999999999999999 pv a2a4",
        "info depth 1 score",
        "info depth 1 score cp - pv a2a4",
        "info depth 1 score cp 5",
        "info depth 1 score cp 5 pv",
        "info depth 1 score cp 5 pv a2",
        "information depth 1 score cp 5 pv a2a4",
        "",
        "info",
    ],
)
def test_lines_that_say_nothing_are_skipped(line: str) -> None:
    assert read_one(f"{line}\nbestmove a2a4\n") == (1, {})


WORDS = "info score cp mate -1 33 pv a2a4 h9h9 bestmove string (none) lowerbound multipv ü a7a8q -"
TOKENS = st.sampled_from([*WORDS.split(), "9" * 30, "\n", "\r", "\x00"])


@given(st.lists(TOKENS, max_size=60), st.booleans())
def test_nonsense_does_no_harm(tokens: list[str], spaced: bool) -> None:
    text = (" " if spaced else "").join(tokens)
    read, values = read_one(text)
    assert read in {-1, 0, 1}
    assert all(-1 < value < 1 for value in values.values())
    scores = np.full(1, np.nan, dtype=np.float32)
    assert read_scores(bytes_of(text), np.zeros(1, np.int64), np.full(1, 0.01), 6.0, scores) in {
        -1,
        0,
        1,
    }


def test_single_scores_are_the_other_sides() -> None:
    text = (
        "info depth 1 seldepth 1 score cp 50 nodes 3 pv e2e4\n"
        "info depth 1 seldepth 1 score cp 100 nodes 3 pv e2e4\n"
        "bestmove e2e4\n"
        "info depth 0 score mate 0\n"
        "bestmove (none)\n"
        "info depth 1 score cp 10 upperbound pv e2e4\n"
        "bestmove e2e4\n"
    )
    values = np.full(5, np.nan, dtype=np.float32)
    asked = np.array([3, 0, 4])
    assert read_scores(bytes_of(text), asked, np.full(3, 0.01), 6.0, values) == 3
    expected = np.array([-value_of_mate(0), np.nan, np.nan, -pawns(1), -pawns(0.1)])
    np.testing.assert_array_equal(values, expected.astype(np.float32))


def test_a_single_answer_without_a_score_is_refused() -> None:
    values = np.full(2, np.nan, dtype=np.float32)
    text = "info depth 1 score cp 1 pv e2e4\nbestmove e2e4\nbestmove e2e4\n"
    assert read_scores(bytes_of(text), np.arange(2), np.full(2, 0.01), 6.0, values) == -1


def test_requests_hold_the_position() -> None:
    out = np.zeros(REQUEST_BYTES, dtype=np.uint8)
    for board in game_boards(seed=4, count=300):
        if king_hangs(board, not board.turn):
            continue
        end = write_request(TABLES, tuple(words_of([board])[0]), True, out, 0)
        new_game, position, go = bytes(out[:end]).decode().splitlines()
        assert (new_game, go) == ("ucinewgame", "go depth 1")
        fields = position.removeprefix("position fen ").split()
        expected = board.fen(en_passant="legal").split()
        assert fields == [*expected[:4], "0", "1"]


def test_the_longest_request_fits() -> None:
    crowded = "r1b1k1nr/p1p1p1p1/1p1p1p1p/n1q1b1P1/1N1P1P1P/P1P1P1PP/1B1P1Q1N/R3K2R b KQkq - 0 1"
    out = np.zeros(1000, dtype=np.uint8)
    end = write_request(TABLES, tuple(words_of([chess.Board(crowded)])[0]), True, out, 0)
    assert end < REQUEST_BYTES - 10


def test_lists_of_a_batch_go_to_their_positions() -> None:
    boards = [chess.Board(SHORT), chess.Board(), chess.Board(SHORT)]
    children: ChildValues = expand(words_of(boards), find_mates=False)
    text = (
        "info depth 1 multipv 1 score cp 100 pv a2a4\nbestmove a2a4\n"
        "info depth 1 multipv 1 score cp 200 pv a2a4\nbestmove a2a4\n"
    )
    wanted = np.isnan(children.values)
    asked = np.array([2, 1])
    read = read_lists(
        bytes_of(text),
        asked,
        np.full(2, 0.01),
        children.offsets,
        children.moves,
        wanted,
        6.0,
        children.values,
    )
    assert read == 2
    assert np.isnan(by_move(children, 0)["a2a4"][0])
    assert by_move(children, 1)["a2a4"][0] == pawns(2)
    assert by_move(children, 2)["a2a4"][0] == pawns(1)
