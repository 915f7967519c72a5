"""Openings: every form of a line, every mistake, and the book of the package."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.matches.openings import (
    PLAIN,
    Opening,
    OpeningsError,
    default_openings,
    openings_named,
    parse_openings,
    read_openings,
)
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.starts import fen_of, hidden_fen, possible_starts
from tools.record.choose_openings import largest_gain

PAWN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


def one(line: str) -> Opening:
    (opening,) = parse_openings(line, "book")
    return opening


@pytest.mark.parametrize(
    ("line", "name", "moves"),
    [
        ("ruy: e2e4 e7e5 g1f3", "ruy", ("e2e4", "e7e5", "g1f3")),
        ("ruy: 1. e4 e5 2. Nf3", "ruy", ("e2e4", "e7e5", "g1f3")),
        ("1.e4 e5 2.Nf3 # a comment", "e2e4 e7e5 g1f3", ("e2e4", "e7e5", "g1f3")),
        ("plain start:", "plain start", ()),
    ],
)
def test_lines_of_moves(line: str, name: str, moves: tuple[str, ...]) -> None:
    assert one(line) == Opening(name, chess.STARTING_FEN, moves)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (PAWN, PAWN),
        ('4k3/8/8/8/8/8/4P3/4K3 w - - id "pawn";', "pawn"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - -", "4k3/8/8/8/8/8/4P3/4K3 w - -"),
        (f"pawn: {PAWN}", "pawn"),
    ],
)
def test_positions(line: str, name: str) -> None:
    assert one(line) == Opening(name, PAWN, ())


def test_a_game_begins_where_the_line_ends_without_its_moves() -> None:
    board = one("e4 d5 exd5").start()
    assert isinstance(board, FogOfWarBoard)
    assert board.move_stack == []
    assert board.fen() == "rnbqkbnr/ppp1pppp/8/3P4/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2"
    assert PLAIN.start().fen() == FogOfWarBoard().fen()


def test_a_double_push_can_still_be_captured_in_passing() -> None:
    board = one("e4 a6 e5 d5").start()
    assert chess.Move.from_uci("e5d6") in board.legal_moves


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("e2e4\nx: e2e5", "book, line 2: 'e2e5' is not a legal move after 0 plies"),
        ("e4 e5 Ke3", "book, line 1: 'Ke3' is not a legal move after 2 plies"),
        ("e4 0000", "book, line 1: '0000' is not a legal move after 1 plies"),
        ("f3 e5 g4 Qh4 a3 Qxe1", "book, line 1: the game is over at the end of the line"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "is not a position of Fog of War chess"),
        ("9/8/8/8/8/8/8/4K3 w - - 0 1", "book, line 1: "),
        ("# nothing\n\n", "book has no openings"),
    ],
)
def test_mistakes_are_one_line(text: str, message: str) -> None:
    with pytest.raises(OpeningsError) as caught:
        parse_openings(text, "book")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(OpeningsError, match=r"^can't read .*No such file"):
        read_openings(tmp_path / "book")
    (tmp_path / "book").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OpeningsError, match="is not a text file of openings"):
        read_openings(tmp_path / "book")


def test_what_the_command_line_names(tmp_path: Path) -> None:
    (tmp_path / "book").write_text("e4\nd4\n")
    assert openings_named("none") == [PLAIN]
    assert len(openings_named("default")) > 20
    assert len(openings_named(str(tmp_path / "book"))) == 2


@given(st.text())
def test_any_text_is_openings_or_one_line(text: str) -> None:
    try:
        openings = parse_openings(text, "book")
    except OpeningsError as error:
        assert "\n" not in str(error)
    else:
        assert all(opening.start().outcome() is None for opening in openings)


OPENINGS = default_openings()


def test_there_are_enough_openings_for_a_long_match() -> None:
    assert 60 <= len(OPENINGS) <= 100


def test_names_and_positions_differ() -> None:
    positions = {opening.start().epd(en_passant="legal") for opening in OPENINGS}
    assert len(positions) == len(OPENINGS)
    assert len({opening.name for opening in OPENINGS}) == len(OPENINGS)


def test_a_line_is_short_and_legal() -> None:
    for opening in OPENINGS:
        assert 2 <= len(opening.moves) <= 6
        board = FogOfWarBoard()
        for text in opening.moves:
            assert chess.Move.from_uci(text) in board.legal_moves
            board.push_uci(text)
        assert not board.is_game_over(), opening.name


def test_both_sides_have_all_pieces_and_no_king_is_attacked() -> None:
    for opening in OPENINGS:
        board = opening.start()
        for color in chess.COLORS:
            own = chess.popcount(board.occupied_co[color])
            assert own >= 15  # a pawn may be gone
            king = board.king(color)
            assert king is not None and not board.is_attacked_by(not color, king), opening.name


def test_no_side_can_win_more_than_a_pawn_at_once() -> None:
    for opening in OPENINGS:
        assert largest_gain(opening.start()) <= 1, opening.name


def test_chess960_is_all_its_starts() -> None:
    openings = openings_named("chess960")
    assert len({opening.fen for opening in openings}) == 960
    for opening in openings[::97]:
        board = opening.start()
        assert board.chess960 and board.is_valid()
        assert board.chess960_pos() == int(opening.name.split()[1])
    assert all(move.uci() != "e1g1" for move in openings[518].start().legal_moves)
    (line,) = parse_openings("rk2r3/8/8/8/8/8/8/RK2R3 w EAea - 0 1", "book")
    assert chess.Move.from_uci("b1e1") in line.start().legal_moves


def test_drafts_hide_one_of_the_960_starts_of_each_side() -> None:
    book = openings_named("draft")
    assert len(book) == len({opening.fen for opening in book}) == 960
    assert book == openings_named("draft")
    blacks = set()
    for opening in book[::60]:
        start = opening.start()
        white, black = map(int, opening.name.split()[1].split("-"))
        blacks.add(black)
        halves = [
            chess.Board.from_chess960_pos(number).fen().split()[0] for number in (black, white)
        ]
        assert start.board_fen() == halves[0].partition("/")[0] + halves[1][halves[1].index("/") :]
        assert start.hidden_start and start.chess960
        for side in chess.COLORS:
            starts = possible_starts(hidden_fen(start, side), side)
            assert len(starts) == 960 and fen_of(start) in starts
    assert len(blacks) > 8
    assert not any(opening.start().hidden_start for opening in openings_named("chess960")[:3])
