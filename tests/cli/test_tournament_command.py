"""`obscuro tournament`, with random players."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from obscuro.cli import tournament_command as tournament
from obscuro.cli.arguments import parse
from obscuro.cli.command_support import CommandError
from obscuro.client.uci_process import EngineError
from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_workers import LocalWorkers, Played
from tests.cli.conftest import written

FILE = """
name = "Small cup"
games = 4
movetime = 10
max_moves = 20
openings = "none"
anchor = "two"
anchor_rating = 1000
[[player]]
name = "one"
player = "random"
[[player]]
name = "two"
player = "random"
[[player]]
name = "three"
player = "random"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cup.toml"
    path.write_text(FILE)
    return path


class Failing:
    """Workers that fail after some games."""

    def __init__(self, games: int, failure: BaseException) -> None:
        self._games = games
        self._failure = failure

    def __call__(self, concurrency: int, warn: Callable[[str], None]) -> "Failing":
        self._inner = LocalWorkers(concurrency, warn)
        return self

    def run(
        self, event: Event, tasks: Iterable[GameTask], stop: threading.Event
    ) -> Iterator[Played]:
        for number, played in enumerate(self._inner.run(event, tasks, stop)):
            if number == self._games:
                raise self._failure
            yield played


def run(console: Console, *arguments: str | Path) -> tuple[int, str]:
    code = tournament.run(parse(["tournament", *map(str, arguments)]), console=console)
    return code, written(console)


def results(path: Path) -> dict[str, object]:
    data: dict[str, object] = json.loads(path.read_text())
    return data


def test_a_tournament_is_played_and_rated_and_then_stays(console: Console, file: Path) -> None:
    code, text = run(console, file, "--concurrency", "2")
    assert code == 0
    assert text.count("\ngame ") + text.startswith("game ") == 12
    assert "better than next" in text and "White's advantage" in text
    assert f"report: {file.with_suffix('')}/report.html" in text.replace("\n", "")
    directory = file.with_suffix("")
    assert sorted(one.name for one in directory.iterdir()) == [
        "games.pgn", "journal.jsonl", "report.html", "result.json",
    ]  # fmt: skip
    result = results(directory / "result.json")
    assert result["complete"] is True
    assert (result["games_played"], result["reason"]) == (12, "All 12 games are played.")
    assert "Small cup" in (directory / "report.html").read_text()
    before = (directory / "journal.jsonl").read_bytes()
    code, text = run(console, file)
    assert code == 0 and "The journal holds 12 of 12 games." in text
    assert (directory / "journal.jsonl").read_bytes() == before


def test_ctrl_c_keeps_the_games_and_the_same_command_goes_on(console: Console, file: Path) -> None:
    arguments = parse(["tournament", str(file)])
    code = tournament.run(arguments, console=console, make_workers=Failing(5, KeyboardInterrupt()))
    assert code == 130
    assert "Broken off after 5 of 12 games. The same command plays the rest." in written(console)
    directory = file.with_suffix("")
    result = results(directory / "result.json")
    assert result["complete"] is False
    assert result["reason"] == "Broken off after 5 of 12 games: interrupted."
    assert "Broken off after 5 of 12 games: interrupted." in (directory / "report.html").read_text()
    assert tournament.run(arguments, console=console) == 0
    assert "The journal holds 5 of 12 games." in written(console)
    assert results(directory / "result.json")["games_played"] == 12


def test_a_player_that_fails_ends_it_with_one_line(console: Console, file: Path) -> None:
    arguments = parse(["tournament", str(file)])
    with pytest.raises(CommandError, match=r"^it is ill$"):
        tournament.run(
            arguments, console=console, make_workers=Failing(2, EngineError("it is ill"))
        )
    assert "Broken off after 2 of 12 games. The same command plays the rest." in written(console)
    assert results(file.with_suffix("") / "result.json")["games_played"] == 2


def test_a_game_that_the_machine_broke_off_is_played_again(console: Console, file: Path) -> None:
    class Sleepy(LocalWorkers):
        slept = False

        def run(
            self, event: Event, tasks: Iterable[GameTask], stop: threading.Event
        ) -> Iterator[Played]:
            for played in super().run(event, tasks, stop):
                yield played if self.slept else Played(played.task, None, "the machine slept")
                self.slept = True

    arguments = parse(["tournament", str(file)])
    assert tournament.run(arguments, console=console, make_workers=Sleepy) == 0
    assert "game 1 was broken off and is played again: the machine slept" in written(console)
    assert results(file.with_suffix("") / "result.json")["games_played"] == 12


def test_a_killed_tournament_has_a_report_of_what_was_played(console: Console, file: Path) -> None:
    class Killed(BaseException):
        """Ends the program at once, as SIGKILL does."""

    def killed(concurrency: int, warn: Callable[[str], None]) -> LocalWorkers:
        raise Killed

    with pytest.raises(Killed):
        tournament.run(parse(["tournament", str(file)]), console=console, make_workers=killed)
    directory = file.with_suffix("")
    state = "Under way or broken off: 0 of 12 games were played so far."
    assert results(directory / "result.json")["reason"] == state
    assert state in (directory / "report.html").read_text()
    assert run(console, file)[0] == 0


def test_the_report_is_made_again_from_the_journal(console: Console, file: Path) -> None:
    run(console, file)
    directory = file.with_suffix("")
    report, pgn = (directory / "report.html").read_text(), (directory / "games.pgn").read_text()
    for name in ("report.html", "games.pgn"):
        (directory / name).unlink()
    code, text = run(console, "--report", directory)
    assert code == 0
    assert "+1000" in text  # the anchor
    assert (directory / "report.html").read_text() == report
    assert (directory / "games.pgn").read_text() == pgn
    (directory / "result.json").unlink()
    run(console, "--report", directory)
    assert "The mean of the ratings is 0." in (directory / "report.html").read_text()


def test_the_report_of_an_unfinished_tournament_says_so(console: Console, file: Path) -> None:
    with pytest.raises(CommandError):
        tournament.run(
            parse(["tournament", str(file)]),
            console=console,
            make_workers=Failing(3, EngineError("it is ill")),
        )
    code, text = run(console, "--report", file.with_suffix(""))
    assert code == 0
    state = "Under way or broken off: 3 of 12 games were played so far."
    assert state in text
    assert state in (file.with_suffix("") / "report.html").read_text()


def test_results_may_go_elsewhere(console: Console, file: Path, tmp_path: Path) -> None:
    assert run(console, file, "--out", tmp_path / "deep" / "down")[0] == 0
    assert (tmp_path / "deep" / "down" / "report.html").exists()
    bare = file.rename(file.with_name("cup"))  # without a suffix: a directory beside it
    assert run(console, bare)[0] == 0
    assert (bare.with_name("cup.results") / "report.html").exists()


def test_another_tournament_does_not_spoil_the_first(console: Console, file: Path) -> None:
    run(console, file)
    before = (file.with_suffix("") / "result.json").read_bytes()
    file.write_text(FILE.replace("games = 4", "games = 6"))
    with pytest.raises(CommandError, match="belongs to another event"):
        run(console, file)
    assert (file.with_suffix("") / "result.json").read_bytes() == before


def test_the_live_table_shows_who_leads(file: Path) -> None:
    console = Console(force_terminal=True, width=100, record=True, quiet=False, markup=False)
    assert tournament.run(parse(["tournament", str(file)]), console=console) == 0
    text = console.export_text()
    assert "better than next" in text and "12 of 12 games" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a tournament file, or a directory with --report"),
        (["x.toml", "--report", "x"], "name a tournament file, or a directory with --report"),
        (["nowhere.toml"], "can't read nowhere.toml: No such file"),
        (["--report", "/nowhere"], "can't read /nowhere/journal.jsonl: No such file"),
        (["FILE", "--out", "/dev/null/x"], "can't make /dev/null/x: Not a directory"),
    ],
)
def test_mistakes_are_one_line(
    console: Console, file: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(CommandError) as caught:
        run(console, *(str(file) if one == "FILE" else one for one in arguments))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_files_are_one_line(console: Console, file: Path) -> None:
    run(console, file)
    directory = file.with_suffix("")
    (directory / "result.json").write_text('{"anchor": {"player": "nobody", "elo": 0}}')
    with pytest.raises(CommandError, match=r"result\.json is damaged; delete it"):
        run(console, "--report", directory)
    (directory / "journal.jsonl").write_text("hello\n")
    with pytest.raises(CommandError, match="is not a journal"):
        run(console, "--report", directory)
    with pytest.raises(CommandError, match="is not a journal"):
        run(console, file)
