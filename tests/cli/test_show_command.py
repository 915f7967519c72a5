"""`obscuro show` from the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import chess.pgn
import pytest
from rich.console import Console

from obscuro.cli.arguments import parse
from obscuro.cli.main import main
from obscuro.cli.show_command import run
from obscuro.viewer.browser_parts.parts import MissingPartsError
from obscuro.viewer.game_facts import FogFacts, game_facts
from obscuro.viewer.opening_tree import PlayedLine, played_line
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
    assert "mistakes" in written(terminal)
    assert "2... a6: On the board a6 lost" in " ".join(written(console).split())


def test_the_data_alone_goes_into_a_file_of_that_name(games: Path, console: Console) -> None:
    target = games.with_name("game.json")
    assert (
        run(parse(["show", str(games), "--game", "2", "--out", str(target)]), console=console) == 0
    )
    document = json.loads(target.read_text(encoding="utf-8"))
    assert [move["san"] for move in document["moves"]] == ["e4", "f6", "Qh5", "a6", "Qxe8#"]


def test_a_report_has_all_games_and_names_those_that_cannot_be_read(
    games: Path, console: Console, terminal: Console
) -> None:
    games.write_text(f"1. e4 Sf6 *\n\n{TWO_GAMES}\n\n" + "1. e5 *\n\n" * 12, encoding="utf-8")
    target = games.with_name("report.html")
    words = ["show", str(games), "--report", str(target)]
    assert run(parse(words), console=console, errors=terminal) == 0
    assert "report.html: 2 games; 13 can't be read" in written(console).replace("\n", "")
    told = written(terminal)
    assert "game 1, ply 2: 'Sf6' is no move" in told and "and 3 more" in told
    page = target.read_text(encoding="utf-8")
    assert "All 2 games" in page and "game 15, ply 1" in page
    assert "<td>3</td>" in page  # games keep their numbers of the file


def test_a_report_can_have_the_engines_verdicts(
    games: Path, console: Console, terminal: Console
) -> None:
    target = games.with_name("report.html")
    options = [f"--option={text}" for text in ("Evaluator=material", "Threads=1", "Hash=16")]
    words = ["show", str(games), "--report", str(target), "--nodes", "400", *options]
    assert run(parse(words), console=console, errors=terminal) == 0
    assert "report.html: 2 games, " in written(console).replace("\n", "")
    page = target.read_text(encoding="utf-8")
    assert "400 nodes a move" in page and "Game 2, 2... a6" in page


def test_ctrl_c_keeps_the_report_so_far(
    games: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(game: object, number: int) -> FogFacts:
        if number == 2:
            raise KeyboardInterrupt
        return game_facts(game, number)  # type: ignore[arg-type]

    monkeypatch.setattr("obscuro.cli.file_report_command.game_facts", interrupted)
    target = games.with_name("report.html")
    assert run(parse(["show", str(games), "--report", str(target)]), console=console) == 0
    assert "1 game; broken off" in " ".join(written(console).split())
    assert "Broken off after 1 game;" in target.read_text(encoding="utf-8")


def test_the_explorer_takes_files_and_folders_and_names_what_cannot_be_read(
    games: Path, console: Console, terminal: Console
) -> None:
    folder = games.parent / "more" / "inside"
    folder.mkdir(parents=True)
    with gzip.open(folder / "packed.pgn.gz", "wt", encoding="utf-8") as file:
        file.write(SHORT_GAME)
    (folder / "bad.pgn").write_text("1. e5 *\n\n1. d4 *\n", encoding="utf-8")
    (folder / "empty.json").write_text("", encoding="utf-8")
    (folder / "notes.txt").write_text("1. c4 *\n", encoding="utf-8")
    target = games.with_name("openings.html")
    words = ["show", str(games), str(folder.parent), "--explorer", str(target)]
    assert run(parse(words), console=console, errors=terminal) == 0
    assert "openings.html: 4 games; 2 can't be read" in written(console).replace("\n", "")
    said = " ".join(written(terminal).split())
    assert "bad.pgn, ply 1: 'e5' can't be played" in said and "empty.json holds no game" in said
    page = target.read_text(encoding="utf-8")
    assert "Openings of games.pgn, more" in page and "packed.pgn.gz, game 1" in page


def test_ctrl_c_keeps_the_explorer_so_far(
    games: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(game: chess.pgn.Game, name: str) -> PlayedLine:
        if name.endswith("game 2"):
            raise KeyboardInterrupt
        return played_line(game, name)

    monkeypatch.setattr("obscuro.cli.explorer_command.played_line", interrupted)
    target = games.with_name("openings.html")
    assert run(parse(["show", str(games), "--explorer", str(target)]), console=console) == 0
    assert "1 game; broken off after 1 game" in " ".join(written(console).split())


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["games.pgn", "--explorer", "none/e.html"], "can't write none/e.html: No such file"),
        (["none.pgn", "--explorer", "e.html"], "can't read none.pgn: No such file"),
        (["games.pgn", "--explorer", "e.html", "--nodes"], "--explorer takes no --nodes"),
        (["games.pgn", "bad.pgn"], "only --explorer takes several files"),
        (["folder", "--explorer", "e.html"], "folder has no file whose name ends in .pgn, .json"),
        (["games.pgn", "--option", "Threads=1"], "--option is for the engine of --analyse MS"),
        (["games.pgn", "--report", "r.html", "--game", "1"], "--report is about all games"),
        (["games.pgn", "--report", "none/r.html"], "can't write none/r.html: No such file"),
        (["bad.pgn", "--report", "r.html"], "no game of bad.pgn can be read"),
        (["none.pgn", "--report", "r.html"], "can't read none.pgn: No such file"),
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
    Path("folder").mkdir()
    usage = "--option" in words or {"--game", "--report"} <= set(words)
    usage |= {"--explorer", "--nodes"} <= set(words) or words == ["games.pgn", "bad.pgn"]
    assert main(["show", *words]) == (2 if usage else 1)
    out, err = capsys.readouterr()
    assert out == ""
    *faults, line = err.splitlines()
    assert len(faults) == (words[:2] == ["bad.pgn", "--report"])
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
