"""`obscuro match`, with random players and with the fake engine."""

import json
import re
import sys
from pathlib import Path

import chess.pgn
import pytest
from rich.console import Console

from obscuro.arena.event import GameTask
from obscuro.cli import match_command as match
from obscuro.cli.arguments import parse
from obscuro.cli.command_error import CommandError
from obscuro.cli.match_table import MatchTable
from tests.cli.conftest import written

FAKE = f"{sys.executable} -m tests.arena.fake_engine"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


def run(console: Console, *arguments: str) -> tuple[int, str]:
    code = match.run(parse(["match", *arguments]), console=console)
    return code, written(console)


def test_random_against_random(console: Console, tmp_path: Path) -> None:
    pgn = tmp_path / "games.pgn"
    code, text = run(console, "random", "random", "--games", "3", "--pgn", str(pgn))
    assert code == 0
    lines = text.splitlines()
    assert lines[0].startswith("game 1: random A - random B ")
    assert lines[1].startswith("game 2: random B - random A ")
    assert "random A against random B, 3 games at 1000 ms a move" in lines
    assert any(line.startswith("Elo ") and "95 %, by pairs" in line for line in lines)
    with pgn.open() as stream:
        games = [chess.pgn.read_game(stream) for _ in range(4)]
    assert [game.headers["Round"] for game in games if game is not None] == ["1", "2", "3"]
    assert games[0] is not None and games[0].headers["Variant"] == "Fog of War"


def test_an_engine_of_a_command_line(console: Console) -> None:
    code, text = run(
        console, FAKE, "random", "--games", "2", "--movetime", "5", "--max-moves", "10",
        "--option-a", "Move Overhead=7", "--concurrency", "2",
    )  # fmt: skip
    assert code == 0
    name = Path(sys.executable).name
    assert f"{name} against random, 2 games at 5 ms a move" in text
    assert f"{name} a move: mean |P| 2, nodes" in text
    assert "carried 10, iterations 30, expansions 40, evals 50, depth 4.5" in text
    # The fake one's warning is shown once.
    assert text.count("this is a fake") == 1


@pytest.mark.parametrize(("mode", "told"), [("fog", False), ("", True), ("orthodox", True)])
def test_an_engine_that_was_told_everything_is_named(
    console: Console, tmp_path: Path, mode: str, told: bool
) -> None:
    result, pgn = tmp_path / "result.json", tmp_path / "games.pgn"
    _, text = run(
        console, f"{FAKE} {mode}", "random", "--games", "1", "--movetime", "5", "--max-moves", "3",
        "--json", str(result), "--pgn", str(pgn),
    )  # fmt: skip
    name = Path(sys.executable).name
    assert (f"{name} was told everything" in text.splitlines()) == told
    assert "random was told" not in text
    what = "everything" if told else "own observations"
    players = json.loads(result.read_text())["players"]
    assert [player["told"] for player in players] == [what, "own observations"]
    assert f'[WhiteTold "{what}"]' in pgn.read_text()


def test_coverage_is_shown_in_a_table_by_the_size_of_p(console: Console, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    words = [f"{FAKE} fog", "random", "--games", "2", "--movetime", "5", "--max-moves", "3"]
    _, text = run(console, *words, "--json", str(result))
    lines = text.splitlines()
    table = lines.index(
        f"{Path(sys.executable).name}: where the true position was, by the size of P"
    )
    assert lines[table + 1].split()[:2] == ["|P|", "turns"]
    assert lines[table + 2].split() == ["1-16", "6", "1.000", "6", "1.000", "0.000", "0.25000"]
    (rows,) = json.loads(result.read_text())["coverage"].values()
    assert [(row["size"], row["turns"]) for row in rows] == [("1-16", 6), ("all", 6)]


def test_without_coverage_there_is_no_table(console: Console) -> None:
    words = [f"{FAKE} fog", "random", "--games", "1", "--movetime", "5", "--max-moves", "3"]
    assert "true position" not in run(console, *words, "--no-coverage")[1]


def test_games_that_an_engine_spoils_are_listed(console: Console) -> None:
    _, text = run(console, f"{FAKE} illegal", "random", "--games", "2", "--movetime", "5")
    assert "score     0 of 2 (0.0%), won/drawn/lost 0/0/2" in text
    assert "irregular game 1: white made the illegal move e2e5" in text


def test_ctrl_c_gives_the_result_so_far(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: MatchTable, task: GameTask, game: object) -> None:
        if task.number == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(MatchTable, "game_ends", interrupt)
    code, text = run(console, "random", "random", "--games", "99")
    assert code == 130
    assert re.search(r"Broken off after \d+ of 99 games: interrupted\.", text)
    assert re.search(r"\d+ games at 1000 ms a move", text)


def test_an_engine_that_does_not_start_ends_it_with_one_line(console: Console) -> None:
    with pytest.raises(CommandError, match="exited with code 0"):
        run(console, f"{sys.executable} -c pass", "random")
    assert "Broken off after 0 of 10 games: " in written(console)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["random", "no such program"],
            "'no such program' is neither a built-in player (obscuro, ",
        ),
        (["random", "'"], "can't read the command"),
        (["random", "random", "--option-a", "Hash=1"], "Hash"),
        (["obscuro", "random", "--option-a", "Seed"], "--option-a: 'Seed' is not NAME=VALUE"),
        (["obscuro", "random", "--option-a", "Sead=1"], "no such option: 'Sead'"),
        (["obscuro", "random", "--option-a", "Threads=0"], "Threads must be between 1 and 256"),
        (["random", "random", "--pgn", "/nowhere/x.pgn"], "can't write /nowhere/x.pgn: No such"),
        ([FAKE, "random", "--option-a", "Contempt=1"], "has no option 'Contempt'"),
    ],
)
def test_mistakes_are_one_line(console: Console, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        run(console, *arguments, "--games", "1")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_tell_the_players_apart() -> None:
    assert match.names("obscuro", "random") == ("obscuro", "random")
    assert match.names("obscuro", "obscuro") == ("obscuro A", "obscuro B")
    assert match.names("/opt/x/engine --fast", "engine") == ("engine A", "engine B")
