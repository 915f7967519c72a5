"""`obscuro show` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from obscuro.cli.arguments import parse
from obscuro.cli.main import main
from obscuro.cli.show_command import run
from obscuro.viewer.browser_parts.parts import MissingPartsError
from tests.cli.conftest import written
from tests.viewer.recorded import SHORT_GAME

TWO_GAMES = f"1. e4 e5 *\n\n{SHORT_GAME}"


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.pgn"
    path.write_text(TWO_GAMES, encoding="utf-8")
    return path


def test_the_page_is_written_beside_the_games(
    games: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(games)]) == 0
    assert main(["show", str(games), "--game", "2"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"{games.with_name('games.html')}: ? - ? *, 1 move",
        f'{games.with_name("games-2.html")}: A & <b>B</b> - C \\" D 1-0, 3 moves',
    ]
    assert err == ""
    assert "A &amp; &lt;b&gt;B" in games.with_name("games-2.html").read_text(encoding="utf-8")


def test_the_page_may_go_elsewhere_and_beliefs_may_be_samples(
    games: Path, console: Console
) -> None:
    target = games.with_name("other.html")
    words = ["show", str(games), "--game", "2", "--out", str(target), "--max-positions", "2"]
    assert run(parse(words), console=console) == 0
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "2 moves" not in written(console)
    assert "beliefs are samples (--max-positions)" in " ".join(written(console).split())


def test_a_terminal_shows_how_far_it_is(games: Path, console: Console, terminal: Console) -> None:
    assert run(parse(["show", str(games)]), console=console, errors=terminal) == 0
    assert "3/3" in written(terminal)
    assert "plies" not in written(console)


def test_an_engine_analyses_the_game(games: Path, console: Console, terminal: Console) -> None:
    options = [f"--option={text}" for text in ("Evaluator=material", "Threads=1", "Hash=16")]
    words = ["show", str(games), "--game", "2", "--analyse", "40", *options]
    assert run(parse(words), console=console, errors=terminal) == 0
    assert "analysis" in written(terminal) and "5/5" in written(terminal)
    assert "failed" not in written(console)
    page = games.with_name("games-2.html").read_text(encoding="utf-8")
    assert '"limit":"0.04 s a move"' in page and '"because":[{' in page


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["games.pgn", "--option", "Threads=1"], "--option is for the engine of --analyse MS"),
        (["games.pgn", "--analyse", "9", "--option", "Threads=x"], "Threads"),
        (["games.pgn", "--analyse", "9", "--option", "Depth=3"], "Depth"),
        (["games.pgn", "--game", "3"], "games.pgn has 2 games, and no game 3"),
        (["none.pgn"], "can't read none.pgn: No such file or directory"),
        (["games.pgn", "--out", "none/page.html"], "can't write none/page.html: No such file"),
        (["bad.pgn"], "game 1 of bad.pgn, ply 1: 'e5' can't be played"),
    ],
)
def test_mistakes_are_one_line(
    games: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    fault: str,
) -> None:
    monkeypatch.chdir(games.parent)
    Path("bad.pgn").write_text("1. e5 *\n", encoding="utf-8")
    assert main(["show", *words]) == (2 if "--option" in words else 1)
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("obscuro: ") and fault in line


def test_without_the_browser_parts_a_line_says_how_to_get_them(
    games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> str:
        raise MissingPartsError(f"the browser part {name} is missing; run this")

    monkeypatch.setattr("obscuro.viewer.html_page.read_part", missing)
    assert main(["show", str(games)]) == 1
    assert capsys.readouterr().err.startswith("obscuro: the browser part uplot.")
    assert not games.with_name("games.html").exists()
