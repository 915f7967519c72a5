"""A file of games gives the game that was asked for, or one line that says why not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_file import (
    GameFileError,
    TextLimits,
    all_games,
    games_of_bytes,
    games_of_text,
    read_game,
)
from tests.viewer.recorded import SHORT_GAME, game_of

PLAIN = "1. e4 e5 2. Nf3 *\n"


def refusal(text: str, folder: Path, number: int = 1) -> str:
    """The message, which is one line."""
    with pytest.raises(GameFileError) as caught:
        game_of(text, folder, number)
    (line,) = str(caught.value).splitlines()
    return line.replace(f"{folder}/", "")


def test_games_are_counted_from_one(tmp_path: Path) -> None:
    text = f"{SHORT_GAME}\n{PLAIN}"
    assert game_of(text, tmp_path).headers["White"] == "A & <b>B</b>"
    assert len(list(game_of(text, tmp_path, 2).mainline())) == 3


def test_all_games_come_in_their_order_up_to_one_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(f"{SHORT_GAME}\n{PLAIN}\n1. e4 e5 2. Ke3 *\n", encoding="utf-8")
    games = all_games(path)
    assert len(list(next(games).mainline())) == 5
    assert len(list(next(games).mainline())) == 3
    with pytest.raises(GameFileError, match="game 3 of"):
        next(games)
    path.write_text("", encoding="utf-8")
    with pytest.raises(GameFileError, match="holds no game"):
        list(all_games(path))


@pytest.mark.parametrize("variant", ["Fog of War", "fogofwar", "Dark chess", None])
def test_the_variant_may_have_any_of_its_names_or_none(tmp_path: Path, variant: str | None) -> None:
    header = f'[Variant "{variant}"]\n\n' if variant else ""
    game = game_of(f"{header}1. e4 f6 2. Qh5 a6 3. Qxe8 1-0\n", tmp_path)
    board = game.end().board()
    assert isinstance(board, FogOfWarBoard)
    assert board.is_variant_end()


@pytest.mark.parametrize("result", ["0-0", "e2e4", "[x", ""])
def test_a_result_that_is_none_does_not_become_a_move_when_the_game_is_written(
    result: str,
) -> None:
    (game,) = games_of_text(f'[White "a"]\n[Result "{result}"]\n\n1. e4 f6 2. Nf3 *\n').games
    (again,) = games_of_text(str(game)).games
    assert list(again.mainline_moves()) == list(game.mainline_moves())


def test_a_game_may_begin_anywhere(tmp_path: Path) -> None:
    game = game_of('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"]\n\n7... Ke7 8. e4 *\n', tmp_path)
    assert [node.move.uci() for node in game.mainline()] == ["e8e7", "e2e4"]


@pytest.mark.parametrize("rights", ["KQkq", "EAea"])
def test_a_game_of_chess960_is_read(tmp_path: Path, rights: str) -> None:
    start = f"rk2r3/8/8/8/8/8/8/RK2R3 w {rights} - 0 1"
    for moves in ("1. O-O O-O-O 2. Rfd1", "1. b1e1 b8a8 2. f1d1"):
        for variant in ("Fog of War", "Fog of War Chess960"):
            text = f'[Variant "{variant}"]\n[SetUp "1"]\n[FEN "{start}"]\n\n{moves} *\n'
            played = game_of(text, tmp_path)
            assert [move.uci() for move in played.mainline_moves()] == ["b1e1", "b8a8", "f1d1"]


def test_a_game_without_moves_is_a_game(tmp_path: Path) -> None:
    assert game_of('[White "A"]\n[Result "*"]\n\n*\n', tmp_path).is_end()


def test_an_illegal_move_is_named_with_its_game(tmp_path: Path) -> None:
    text = refusal(f"{PLAIN}\n1. e4 e5 2. Ke3 *\n", tmp_path, 2)
    assert text.startswith("game 2 of games.pgn, ply 3: 'Ke3'")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "games.pgn holds no game"),
        ("\n\n", "games.pgn holds no game"),
        ("no game at all\n", "game 1 of games.pgn: it has neither headers nor moves"),
        ("1. e4 -- *\n", "ply 2: '--' is a null move"),
        ('[Variant "Atomic"]\n\n1. e4 *\n', "its variant is 'Atomic', not 'Fog of War'"),
        ('[Variant "Wobble"]\n\n1. e4 *\n', "unsupported variant: Wobble"),
        ('[FEN "8/8/nonsense"]\n\n1. e4 *\n', "expected 8 rows"),
        ('[FEN "8/8/8/8/8/8/8/K7 w - - 0 1"]\n\n1. Ka2 *\n', "can't be played"),
    ],
)
def test_what_is_no_game_of_ours_is_refused_in_a_line(
    tmp_path: Path, text: str, fault: str
) -> None:
    assert fault in refusal(text, tmp_path)


def test_a_number_that_nobody_reads_is_left_out(tmp_path: Path) -> None:
    game = game_of(f"{PLAIN}\n1. e4 ${'9' * 5000} e5 $7 *\n", tmp_path, 2)
    assert [node.nags for node in game.mainline()] == [set(), {7}]


def test_a_number_past_the_last_game_is_refused(tmp_path: Path) -> None:
    assert refusal(PLAIN, tmp_path, 2) == "games.pgn has 1 game, and no game 2"
    assert refusal(f"{PLAIN}\n{PLAIN}", tmp_path, 9) == "games.pgn has 2 games, and no game 9"


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.pgn"):
        with pytest.raises(GameFileError, match=f"can't read {path}"):
            read_game(path)


def test_bytes_that_are_no_text_stop_nobody(tmp_path: Path) -> None:
    path = tmp_path / "old.pgn"
    path.write_bytes(b'\xef\xbb\xbf[White "Andr\xe9"]\n\n1. e4 *\n')
    assert read_game(path).headers["White"] == "Andr\xe9"


def test_a_compressed_file_is_read_and_a_broken_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn.gz"
    packed = gzip.compress(f"{SHORT_GAME}\n{PLAIN}".encode())
    path.write_bytes(packed)
    assert len(list(read_game(path, 2).mainline())) == 3
    assert len(list(all_games(path))) == 2
    path.write_bytes(packed[:40])
    with pytest.raises(GameFileError, match=r"can't read .*games.pgn.gz: \w+"):
        list(all_games(path))


def test_whether_a_file_is_compressed_is_told_by_its_bytes_and_not_by_its_name(
    tmp_path: Path,
) -> None:
    plain, packed = tmp_path / "games.pgn.gz", tmp_path / "games.pgn"
    plain.write_bytes(PLAIN.encode())
    packed.write_bytes(gzip.compress(PLAIN.encode()))
    for path in (plain, packed):
        assert len(list(read_game(path).mainline())) == 3


def test_what_unpacks_into_too_much_is_refused() -> None:
    bomb = gzip.compress(b" " * (1 << 20))
    with pytest.raises(GameFileError, match="more than 1,000 characters when unpacked"):
        games_of_bytes(bomb, TextLimits(unpacked=1000))
    with pytest.raises(GameFileError, match="can't be read"):
        games_of_bytes(bomb[:40])


def test_a_text_gives_its_games_and_says_what_is_wrong_with_others() -> None:
    text = '\ufeff[Variant "Atomic"]\n\n1. e4 *\n\n1. d4 (1. c4) d5 *\n\n1. e5 *\n'
    games, faults = games_of_text(text)
    assert [[move.uci() for move in game.mainline_moves()] for game in games] == [["d2d4", "d7d5"]]
    assert len(games[0].variations) == 1  # side lines are not read
    assert faults[0] == "game 1: its variant is 'Atomic', not 'Fog of War'"
    assert faults[1].startswith("game 3, ply 1: 'e5'")


def test_only_so_many_games_of_a_text_are_read() -> None:
    games, faults = games_of_text("1. e4 *\n\n" * 5, TextLimits(games=3))
    assert (len(games), faults) == (3, [])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "the text holds no game"),
        ("\n" * 1000, "the text holds no game"),
        ("Nf3 Nf6 Ng1 Ng8 " * 10_000, "a line has more than 100,000 characters"),
        ("Nf3 Nf6 Ng1 Ng8\n" * 10_000, "game 1: too long"),
        ("Nf3 Nf6 Ng1 Ng8\n" * 300, "it has 1,200 plies, and the most is 600"),
        ("1. e4 " + "{}" * 30_000, "game 1: too long"),
        ('{"moves": 5}', "game 1: it is JSON, but no game"),
        ("<script>alert(1)</script>", "neither headers nor moves"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "can't be played"),
    ],
)
def test_a_text_that_cannot_be_shown_is_refused(text: str, fault: str) -> None:
    with pytest.raises(GameFileError, match=fault):
        games_of_text(text)


def test_a_bracket_too_many_is_no_crash(tmp_path: Path) -> None:
    assert "ply 2: 'Qa1'" in refusal("1. e4 Qa1 ) e5 Nf3 *", tmp_path)
