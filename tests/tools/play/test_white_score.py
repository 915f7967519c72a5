"""White's score in recorded games: which games count, and in which row."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import rows
from tools.play import white_score
from tools.results import raw

BOOK = '[FEN "rnbqkbnr/pp1ppppp/8/2p5/8/2N5/PPPPPPPP/R1BQKBNR w KQkq - 0 2"]\n'
ENDING = '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 30"]\n'


def game(
    result: str, plies: int, *, players: tuple[str, str] = ("obscuro A", "obscuro B"),
    time: str = '[MoveTime "25 ms"]\n', start: str = "",
) -> str:  # fmt: skip
    white, black = players
    return (
        f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n{start}{time}'
        f'[PlyCount "{plies}"]\n\n{result}\n\n'
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    slow = '[WhiteTime "100 ms"]\n[BlackTime "800 ms"]\n'
    games = [
        game("1-0", 60),
        game("1-0", 12),
        game("0-1", 80),
        game("1/2-1/2", 100, start=BOOK, time=slow),
        game("1-0", 50, start=ENDING),
        game("1-0", 50, players=("obscuro", "zs21")),
        game("1-0", 50, players=("level 1", "level 2")),
        game("1-0", 50, time='[TimeControl "60+0"]\n'),
        game("*", 50),
    ]
    raw.write_bytes(tmp_path / "some.pgn.gz", "".join(games).encode())
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "more.pgn").write_text(game("0-1", 60, players=("obscuro", "obscuro")))
    return tmp_path


def test_games_of_the_engine_against_itself_count_by_start_and_time(folder: Path) -> None:
    figures = white_score.measure([folder], "obscuro")
    found = {
        (row["start"], row["milliseconds"]): (white_score.tally_of(row), row["plies"], row["short"])
        for row in figures["rows"]
    }
    assert figures["files"] == 2
    assert found == {
        ("plain start", 50): (white_score.Tally(2, 0, 2), 60 + 12 + 80 + 60, 1),
        ("openings", 1000): (white_score.Tally(0, 1, 0), 100, 0),
    }


def test_the_table_ends_with_all_games_and_the_papers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "white.json"
    assert white_score.main([str(folder), "--raw", str(file)]) == 0
    found = rows(capsys.readouterr().out)
    assert [row[0] for row in found] == ["openings", "plain start", "all", "plain start"]
    assert found[2][2:5] == ["5", "2 / 1 / 2", "50.0 %"] and found[2][6:] == ["62.4", "1"]
    assert found[3][3:5] == ["4935 / 1623 / 3442", "57.5 %"]
    assert "5 games of 2 files." in list(white_score.render(raw.load(file).data))


def test_without_games_only_the_papers_row_is_there(tmp_path: Path) -> None:
    (row,) = rows("\n".join(white_score.render(white_score.measure([tmp_path], "obscuro"))))
    assert row[1] == "5000 ms, the paper's"
