"""`obscuro match`, with random players and with the fake engine."""

import json
import re
import sys
from pathlib import Path

import chess.pgn
import pytest
from rich.console import Console

from obscuro.cli import match_command as match
from obscuro.cli.arguments import parse
from obscuro.cli.command_support import CommandError
from obscuro.cli.event_table import MatchTable
from obscuro.matches.event import GameTask
from obscuro.matches.game_workers import LocalWorkers
from obscuro.matches.ray_workers import RayWorkers
from tests.cli.conftest import written

FAKE = f"{sys.executable} -m tests.matches.fake_engine"


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
    assert lines[0].startswith(
        "note: games come in pairs, and the last of 3 has no twin; --games 4"
    )
    assert lines[1].startswith("game 1: random A - random B ")
    assert lines[2].startswith("game 2: random B - random A ")
    assert "random A against random B, 3 games at 1000 ms a move" in lines
    assert any(line.startswith("Elo ") and "95 %, by pairs" in line for line in lines)
    with pgn.open() as stream:
        games = [chess.pgn.read_game(stream) for _ in range(4)]
    assert [game.headers["Round"] for game in games if game is not None] == ["1", "2", "3"]
    assert games[0] is not None and games[0].headers["Variant"] == "Fog of War"


@pytest.mark.parametrize(("games", "notes"), [(1, 0), (2, 0), (3, 1), (10, 0)])
def test_an_odd_game_is_told_unless_it_is_the_only_one(games: int, notes: int) -> None:
    assert len(list(match.unpaired(games))) == notes


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


@pytest.mark.parametrize(
    ("rule", "score", "ending"),
    [("loss", "1/0/1", "no moves left"), ("draw", "0/2/0", "stalemate")],
)
def test_a_side_without_a_move_gets_what_the_flag_says(
    console: Console, tmp_path: Path, rule: str, score: str, ending: str
) -> None:
    """Black's first move, whichever it is, leaves White without one."""
    openings, result, pgn = (tmp_path / name for name in ("openings", "result.json", "games.pgn"))
    openings.write_text("7k/8/8/8/1p6/1P1p4/BP1P4/KRB5 b - - 0 1\n")
    words = ["random", "greedy", "--games", "2", "--openings", str(openings)]
    _, text = run(console, *words, "--stalemate", rule, "--json", str(result), "--pgn", str(pgn))
    assert f"won/drawn/lost {score}" in text
    found = json.loads(result.read_text())
    assert found["stalemate"] == rule
    assert pgn.read_text().count(f'[Termination "{ending}"]') == 2


def test_games_that_an_engine_spoils_are_listed(console: Console) -> None:
    _, text = run(console, f"{FAKE} illegal", "random", "--games", "2", "--movetime", "5")
    assert "score     0 of 2 (0.0%), won/drawn/lost 0/0/2" in text
    assert "irregular game 1: white made the illegal move e2e5" in text


def test_an_engine_that_does_not_start_ends_it_with_one_line(console: Console) -> None:
    with pytest.raises(CommandError, match="exited with code 0"):
        run(console, f"{sys.executable} -c pass", "random")
    assert "Broken off after 0 of 10 games." in written(console)


RANDOM = ["random", "random"]


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
        ([*RANDOM, "--sprt", "elo1=-3"], "--sprt: elo0=0 must be less than elo1=-3"),
        (
            [*RANDOM, "--openings", "/nowhere/book"],
            "--openings: can't read /nowhere/book: No such file",
        ),
        (
            [*RANDOM, "--movetime-a", "5", "--tc-a", "60"],
            "give one of --movetime-a, --tc-a and --nodes-a, no more",
        ),
        ([*RANDOM, "--tc-b", "soon"], "--tc-b: 'soon' is not a clock"),
        ([*RANDOM, "--log", "/nowhere/x.jsonl"], "can't write /nowhere/x.jsonl: No such file"),
        ([*RANDOM, "--json", "/nowhere/x.json"], "can't write /nowhere/x.json"),
        ([*RANDOM, "--log", "README.md"], "README.md is not a journal of games"),
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


# -- journals, results, tests ----------------------------------------------------------------


def files(folder: Path) -> list[str]:
    """The arguments that name a journal, a PGN file and a result."""
    return [
        word
        for flag, name in (("--log", "match.jsonl"), ("--pgn", "games.pgn"), ("--json", "r.json"))
        for word in (flag, str(folder / name))
    ]


def rounds(path: Path) -> list[int]:
    return sorted(int(number) for number in re.findall(r'\[Round "(\d+)"\]', path.read_text()))


def interrupt_after(monkeypatch: pytest.MonkeyPatch, games: int) -> None:
    """Let Ctrl-C come after this number of games."""
    count = 0

    def interrupt(self: MatchTable, task: GameTask, game: object) -> None:
        nonlocal count
        count += 1
        if count == games:
            raise KeyboardInterrupt

    monkeypatch.setattr(MatchTable, "game_ends", interrupt)


def test_the_same_command_resumes(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["random", "greedy", "--games", "8", "--max-moves", "8", *files(tmp_path)]
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3)
        code, text = run(console, *command)
    assert code == 130
    assert "Broken off after 3 of 8 games: interrupted." in text
    assert "The same command plays the rest." in text
    result = json.loads((tmp_path / "r.json").read_text())
    assert (result["complete"], result["reason"]) == (False, "interrupted")
    assert (result["games_played"], result["games_agreed"]) == (3, 8)

    code, text = run(console, *command)
    assert code == 0
    assert "The journal holds 3 of 8 games." in text
    assert rounds(tmp_path / "games.pgn") == list(range(1, 9))
    result = json.loads((tmp_path / "r.json").read_text())
    assert (result["complete"], result["reason"]) == (True, "all games are played")
    assert [game["round"] for game in result["games"]] == list(range(1, 9))
    assert result["wins"] + result["draws"] + result["losses"] == 8
    assert sum(result["pairs"]["counts"]) == 4
    assert [player["name"] for player in result["players"]] == ["random", "greedy"]

    code, text = run(console, *command)
    assert (code, rounds(tmp_path / "games.pgn")) == (0, list(range(1, 9)))


def test_a_match_that_is_not_finished_says_so_without_a_journal_too(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(monkeypatch, 1)
    code, text = run(console, "random", "random", "--games", "4", "--max-moves", "5")
    assert code == 130
    assert "Broken off after 1 of 4 games: interrupted." in text
    assert "1 game at 1000 ms a move" in text
    assert "The same command" not in text


def test_a_sequential_test_ends_the_match_and_says_that_the_estimate_is_biased(
    console: Console, tmp_path: Path
) -> None:
    # The second player never makes a legal move, so the first wins every game.
    command = [
        "random", f"{FAKE} illegal", "--movetime", "5", "--openings", "none",
        "--sprt", "elo0=0", "elo1=300", *files(tmp_path),
    ]  # fmt: skip
    code, text = run(console, *command)
    assert code == 0
    assert "H1 accepted: an advantage of 300 Elo explains the games better" in text
    assert "the Elo estimate is biased away from 0" in text
    result = json.loads((tmp_path / "r.json").read_text())
    assert (result["complete"], result["reason"]) == (True, "SPRT accepted H1")
    assert result["sprt"]["accepted"] == "H1"
    assert result["sprt"]["llr"] > result["sprt"]["upper"]
    assert result["games_agreed"] == 10_000
    played = result["games_played"]
    assert played < 100
    run(console, *command)
    assert json.loads((tmp_path / "r.json").read_text())["games_played"] == played


def test_each_player_may_have_its_own_time(console: Console) -> None:
    code, text = run(
        console, "random", "random", "--games", "2", "--max-moves", "3",
        "--movetime-a", "50", "--tc-b", "60+0.5",
    )  # fmt: skip
    assert code == 0
    assert "2 games at 50 ms a move against 60+0.5 s" in text


def test_openings_of_a_file_are_played(console: Console, tmp_path: Path) -> None:
    book, pgn = tmp_path / "book.txt", tmp_path / "games.pgn"
    book.write_text("italian: e4 e5 Nf3 Nc6 Bc4\n")
    run(
        console, "random", "random", "--games", "2", "--max-moves", "3",
        "--openings", str(book), "--pgn", str(pgn),
    )  # fmt: skip
    assert pgn.read_text().count('[Opening "italian"]') == 2


def test_a_log_with_a_pgn_file_of_other_games_is_refused(console: Console, tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text('[Event "Wijk aan Zee"]\n\n1. e4 *\n')
    with pytest.raises(CommandError, match="holds other games"):
        run(console, "random", "random", "--games", "1", *files(tmp_path))


# -- who plays the games --------------------------------------------------------------------

MATCH = ["match", "obscuro", "random", "--games", "2", "--option-a", "Threads=2"]


def crew(*words: str) -> object:
    arguments = parse([*MATCH, *words])
    return match.crew_maker(arguments, match.make_event(arguments))(1, print)


def test_a_cluster_plays_if_an_address_is_given() -> None:
    assert isinstance(crew(), LocalWorkers)
    assert isinstance(crew("--ray", "auto"), RayWorkers)
    assert isinstance(crew("--ray", "auto", "--cores-per-game", "4"), RayWorkers)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ray", "somewhere"], "is not auto, local, HOST:PORT"),
        (["--cores-per-game", "2"], "--cores-per-game needs --ray"),
        (["--ray", "auto", "--cores-per-game", "1"], "has Threads 2, but a game has 1"),
    ],
)
def test_a_cluster_that_cannot_play_is_refused_at_once(words: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        crew(*words)
