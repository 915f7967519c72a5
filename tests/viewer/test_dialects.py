"""Every file of `games/` opens: one game in the dialects of many writers, made by hand.

The players' names are placeholders. Only `python_chess.pgn` has the form of a program that the tests
can run; the others follow what their servers' public code and pages show.
"""

from __future__ import annotations

import gzip
import io
import random
from pathlib import Path

import chess
import chess.pgn
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obscuro.matches.journal import read_journal
from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_file import (
    GameFault,
    GameFileError,
    all_games,
    games_of_bytes,
    kept_text,
    read_game,
)
from obscuro.viewer.move_text import MoveTextError, read_moves

GAMES = Path(__file__).parent / "games"
# En passant, a capture that promotes, both castlings, a choice of two knights, the king's capture.
MOVES = [
    *("e2e4", "d7d5", "e4e5", "f7f5", "e5f6", "b8c6", "f6g7", "d8d6", "g7h8q", "c8g4", "f1e2"),
    *("e8c8", "g1f3", "g4f3", "e1g1", "f3e2", "b1c3", "g8h6", "c3b5", "h6f5", "b5a7", "f5d4"),
    "a7c8",
]
THE_GAME = {
    "figurines.pgn": 1,
    "lichess_like.pgn": 1,
    "lists.jsonl": 3,
    "mistboard_events.jsonl": 1,
    "odd_headers.pgn": 1,
    "old_windows.pgn": 1,
    "pychess.pgn": 1,
    "python_chess.pgn": 1,
    "san.json": 1,
    "server_games.json": 2,
    "uci.json": 1,
    "utf16.pgn": 1,
    "utf8_with_mark.pgn": 1,
    "variants_server_14x14.pgn": 1,
    "variants_server_8x8.pgn": 1,
    "zeros_signs_and_no_headers.pgn": 1,
}
"""Files that hold the game above, and how often."""
OTHERS = {
    "castles_through_attack.pgn",
    "faults.pgn",
    "pinned.pgn",
    "variants_server_resigned.pgn",
}


def names_of(game: chess.pgn.Game) -> list[str]:
    return [move.uci() for move in game.mainline_moves()]


def opened(name: str) -> tuple[list[chess.pgn.Game], list[GameFault]]:
    faults: list[GameFault] = []
    return list(all_games(GAMES / name, faults.append)), faults


def test_no_file_is_without_a_test() -> None:
    assert {path.name for path in GAMES.iterdir()} == {*THE_GAME, *OTHERS}


@pytest.mark.parametrize("name", THE_GAME)
def test_the_same_game_is_read_in_every_dialect(name: str) -> None:
    games, faults = opened(name)
    assert faults == []
    assert [names_of(game) for game in games] == [MOVES] * THE_GAME[name]
    assert {game.headers["Result"] for game in games} == {"1-0"}
    assert all(isinstance(game.board(), FogOfWarBoard) for game in games)


@pytest.mark.parametrize("name", sorted({*THE_GAME, *OTHERS}))
def test_an_upload_of_the_bytes_reads_the_same_games_and_can_be_kept(name: str) -> None:
    games, faults = opened(name)
    data = (GAMES / name).read_bytes()
    for sent in (data, gzip.compress(data)):
        found = games_of_bytes(sent)
        assert [names_of(game) for game in found.games] == [names_of(game) for game in games]
        assert found.faults == [fault.text() for fault in faults]
    for game in games:
        again = chess.pgn.read_game(io.StringIO(kept_text(game)))
        assert again is not None and names_of(again) == names_of(game)


def test_names_and_comments_of_every_language_survive() -> None:
    ((russian,), _), ((western,), _) = opened("utf8_with_mark.pgn"), opened("old_windows.pgn")
    assert russian.headers["White"] == "игрок" and russian.headers["Black"] == "棋手"
    assert opened("utf16.pgn")[0][0].headers["White"] == "игрок"
    assert western.headers["White"] == "joueur-é" and western.headers["Black"] == "Spieler-ß"
    comments = [node.comment for game in (russian, western) for node in game.mainline()]
    assert "слишком рано — 太早了 — 早すぎる — مبكر" in comments
    assert "trop tôt, zu früh, demasiado pronto" in comments


def test_comments_signs_and_clocks_are_kept_and_side_lines_are_not() -> None:
    (game,), _ = opened("python_chess.pgn")
    nodes = list(game.mainline())
    assert nodes[0].comment == "a comment over two lines"
    assert nodes[1].nags == {6} and nodes[9].nags == {13}
    assert nodes[5].comment == "the rest of the line 3... e5"
    assert all(len(node.variations) <= 1 for node in [game, *nodes])
    (game,), _ = opened("zeros_signs_and_no_headers.pgn")
    assert {ply: node.nags for ply, node in enumerate(game.mainline(), 1) if node.nags} == {
        3: {chess.pgn.NAG_SPECULATIVE_MOVE},
        4: {chess.pgn.NAG_DUBIOUS_MOVE},
        13: {chess.pgn.NAG_GOOD_MOVE},
        22: {chess.pgn.NAG_BLUNDER},
    }
    (game,), _ = opened("lichess_like.pgn")
    first = game.next()
    assert first is not None and first.clock() == 179


def test_the_seats_of_a_server_are_the_two_sides() -> None:
    (game,), _ = opened("variants_server_14x14.pgn")
    assert (game.headers["White"], game.headers["Black"]) == ("player-a", "player-b")


def test_who_resigns_loses() -> None:
    (game,), faults = opened("variants_server_resigned.pgn")
    assert faults == [] and names_of(game) == ["e2e4", "d7d5", "e4e5"]
    assert game.headers["Result"] == "1-0"


def test_a_king_castles_through_attack_and_by_any_of_its_names() -> None:
    games, faults = opened("castles_through_attack.pgn")
    assert faults == []
    assert [names_of(game)[0] for game in games] == ["e1g1", "e1c1", "e1c1"]


def test_a_knight_that_chess_would_pin_needs_no_name() -> None:
    (game,), faults = opened("pinned.pgn")
    assert faults == [] and names_of(game) == ["g1e2", "e8d7"]


def test_what_is_wrong_is_told_by_game_and_ply_and_the_rest_opens() -> None:
    games, faults = opened("faults.pgn")
    assert [names_of(game) for game in games] == [["d2d4", "d7d5"], ["e2e4"], ["c2c4", "c7c5"]]
    assert [fault.text() for fault in faults] == [
        "game 1, ply 3: 'Ke3' can't be played here",
        "game 3, ply 2: 'Sf6' is no move",
        "game 4, ply 6: 'b6' comes after the capture of a king",
        "game 5, ply 5: 'Nd2' may be f3d2 or b1d2",
        "game 6: its variant is 'Atomic', not 'Fog of War'",
        "game 8: Fog of War chess can't be played from the position '8/8/8/8/8/8/8/8 w - - 0 1'",
        "game 9, ply 3: '--' is a null move, which the rules do not know",
        "game 10, ply 2: a side line is not closed",
    ]


def test_a_journal_of_a_match_is_read_with_its_reports() -> None:
    path = Path(__file__).parents[1] / "matches" / "old_journal.jsonl"
    game = read_game(path)
    (record,) = read_journal(path).games.values()
    assert names_of(game) == [move.uci() for move in record.board.move_stack]
    assert "[%belief 2 inexact]" in game.variations[0].comment
    (told,) = games_of_bytes(path.read_bytes()).games
    assert names_of(told) == names_of(game) and told.headers["Result"] == "0-1"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{}", "game 1: it is JSON, but no game: a list of moves is missing"),
        ("[[5]]", "game 1: it is JSON, but no game: a list of moves is missing"),
        ('["e4", 5]', "game 1, ply 2: 'int' is no move"),
        ('{"moves": ["e4", null]}', "game 1, ply 2: 'NoneType' is no move"),
        ('{"moves": ["e4", "e5 (a)"]}', "game 1, ply 2: 'e5 (a)' is no move"),
        ('["e4", "e5"', "game 1: it is no JSON: Input data was truncated"),
        ("[" * 100_000, "game 1: it is no JSON"),
        ('["e4"]\n["e5"]\n["d4"]', "game 2, ply 1: 'e5' can't be played here"),
        ('[StartFen4 "R-0,1"]\n\n1. e4', "game 1: its header StartFen4 is 'R-0,1'"),
    ],
)
def test_a_fault_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "games"
    path.write_text(text, encoding="utf-8")
    faults: list[GameFault] = []
    list(all_games(path, faults.append))
    (line,) = [each.text() for each in faults]
    assert line.startswith(fault) and len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("1. e4 e5 2. Nf3 *\n\n1. d4 *", [3, 1]),
        ("1. e4 e5\n\n2. Nf3\n\n1. d4", [3, 1]),
        ('[Event "a"]\n[Event "b"]\n\n1. e4', [0, 1]),
        ('[White "a"]\n\n[Black "b"]\n\n1. e4\n[White "c"]\n1. d4 d5', [1, 2]),
        ('1. e4 {open\n\n[Event "b"]\n\n1. d4 d5', [1, 2]),
        ('1. e4 {a } ; } e5 ; { to the end\nd5 2. d4 *\n\n[Event "b"]\n1. c4', [3, 1]),
        ("e2e4 e7e5\n\nd2d4", [2, 1]),
    ],
)
def test_games_part_where_they_should(tmp_path: Path, text: str, moves: list[int]) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text, encoding="utf-8")
    assert [len(names_of(game)) for game in all_games(path)] == moves


def test_random_games_are_read_as_python_chess_writes_them_and_in_the_long_form() -> None:
    for seed in range(30):
        chance, board = random.Random(seed), FogOfWarBoard()
        sans, longs = [], []
        while not board.is_game_over() and len(sans) < 120:
            move = chance.choice(list(board.legal_moves))
            sans.append(board.san(move))
            piece = board.piece_at(move.from_square)
            letter = "" if piece is None or piece.piece_type == chess.PAWN else piece.symbol()
            longs.append(letter.upper() + move.uci())
            board.push(move)
        for words in (sans, longs):
            game, start = chess.pgn.Game(), FogOfWarBoard()
            read_moves(game, " ".join(words), start)
            assert list(game.mainline_moves()) == board.move_stack


def test_words_before_a_move_are_refused_and_words_behind_the_last_are_not() -> None:
    game = chess.pgn.Game()
    read_moves(game, "1. e4 e5 White offered a draw", FogOfWarBoard())
    assert len(names_of(game)) == 2
    with pytest.raises(MoveTextError, match="'offered' is no move"):
        read_moves(chess.pgn.Game(), "1. e4 offered e5", FogOfWarBoard())


CORPUS = [path.read_bytes() for path in sorted(GAMES.iterdir())]


@given(
    st.sampled_from(CORPUS),
    st.lists(
        st.tuples(st.integers(0, 3000), st.integers(0, 3000), st.binary(max_size=8)), max_size=6
    ),
)
@example(b'[FEN "8/8"]\n\n1. e4', [(2, 0, b"\xb9")])
@settings(max_examples=100, deadline=None)
def test_no_bytes_do_anything_but_open_or_say_why(
    data: bytes, edits: list[tuple[int, int, bytes]]
) -> None:
    for start, length, new in edits:
        data = data[:start] + new + data[start + length % 40 :]
    try:
        found = games_of_bytes(data)
    except GameFileError as error:
        assert len(str(error).splitlines()) == 1
        return
    assert all(len(fault.splitlines()) == 1 for fault in found.faults)
    for game in found.games:
        assert game.end().board().move_stack == list(game.mainline_moves())


@pytest.mark.parametrize(
    "text",
    [
        '["' + " " * 90_000,
        "[a" + " " * 90_000 + "b",
        '[a "' + " " * 90_000 + "x",
        '[a "b"' + " " * 90_000 + "x",
        '[a "' * 20_000,
        "1. e4 " + "+" * 90_000 + "x e5",
        "1. e4 " + "!" * 90_000 + "x e5",
        "1. e4 " + "(" * 90_000,
        "{" * 90_000,
        '{"moves": ' + '{"move": ' * 900 + "1" + "}" * 901,
        '{"white": ' + '{"name": ' * 900 + "1" + "}" * 901,
    ],
)
def test_a_line_takes_no_more_time_than_its_length(text: str) -> None:
    """The test has no clock: before, some of these took minutes."""
    with pytest.raises(GameFileError):
        games_of_bytes(text.encode())
