"""The manifest, raw files, rendering and remaking of pages, on small pages made for the test."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import chess
import pytest

from obscuro.matches.elo import pentanomial, trinomial
from obscuro.matches.game_record import Turn
from obscuro.matches.pgn import write_pgn
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import TimeControl
from tests.matches.scripted import Scripted
from tools.results import matches, pages, raw, remake
from tools.results.manifest import Loaded, ManifestError, find_function, load
from tools.results.raw import Raw, RawFileError
from tools.results.render import RenderError, join, render_page, wrap_command

MANIFEST = """
[one.runs.run]
command = "python -m tools.proofs.klss_table --games kuhn"
raw = "one/run.json"

[one.sections.tables]
runs = ["run"]
render = "tools.results.benches:render"

[one.by_hand]
stated = "measured by hand, cannot be remade: no tool"
"""
PAGE = """# One

Analysis before.

<!-- begin tables: made by make pages -->
old
<!-- end tables -->

Analysis after.

<!-- by hand stated -->
| a | 1 |
<!-- end stated -->
"""
MEASURED = Raw(
    "python -m tools.proofs.klss_table --games kuhn", "abc", "2026-11-22", "here", {"x": 1}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "manifest.toml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "one.md").write_text(PAGE, encoding="utf-8")
    raw.write(tmp_path / "raw" / "one" / "run.json", MEASURED)
    return tmp_path


def run_pages(folder: Path, *words: str) -> int:
    return pages.main(["--manifest", str(folder / "manifest.toml"), *words])


# -- rendering ----------------------------------------------------------------------------------


def test_only_what_is_between_the_marks_changes(folder: Path) -> None:
    assert run_pages(folder) == 0
    text = (folder / "one.md").read_text(encoding="utf-8")
    before, after = PAGE.split("old\n")
    assert text.startswith(before) and text.endswith(after)
    assert "python -m tools.proofs.klss_table --games kuhn" in text
    assert "2026-11-22, commit abc; here." in text
    assert "| `x` | 1 |" in text


def test_a_second_rendering_changes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_pages(folder, "--check") == 1
    assert "one.md is not what its raw files say" in capsys.readouterr().err
    assert (folder / "one.md").read_text(encoding="utf-8") == PAGE, "--check writes nothing"
    assert run_pages(folder) == 0
    assert run_pages(folder, "--check") == 0


def test_copied_tables_are_shown_with_what_is_known_of_them(folder: Path) -> None:
    cells = {"headings": ["a", "|P|"], "align": "lr", "rows": [["x", "1,000"]]}
    copied = replace(MEASURED, data={"tables": cells}, transcribed_from_page=True, note="Noted.")
    raw.write(folder / "raw" / "one" / "run.json", copied)
    assert run_pages(folder) == 0
    text = " ".join((folder / "one.md").read_text(encoding="utf-8").split())
    assert "the raw figures were not kept. Noted. | a | \\|P\\| | |---|--:| | x | 1,000 |" in text


@pytest.mark.parametrize(
    "old, new, problem",
    [
        ("<!-- end tables -->", "", "marks and manifest differ about tables"),
        ("stated -->", "other -->", "marks and manifest differ about other, stated"),
        ("old\n", "<!-- end -->\n", "another mark within tables"),
        ("old\n", "<!-- end tables -->\n<!-- begin tables -->\n", "there twice"),
    ],
)
def test_marks_that_do_not_fit_are_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, problem: str
) -> None:
    text = PAGE.replace(old, new)
    (folder / "one.md").write_text(text, encoding="utf-8")
    assert run_pages(folder) == 2
    assert problem in capsys.readouterr().err
    assert (folder / "one.md").read_text(encoding="utf-8") == text


def test_copied_and_measured_runs_do_not_mix(folder: Path) -> None:
    text = MANIFEST.replace('runs = ["run"]', 'runs = ["run", "two"]')
    text += '\n[one.runs.two]\ncommand = "obscuro bench belief"\nraw = "one/two.json"\n'
    (folder / "manifest.toml").write_text(text, encoding="utf-8")
    raw.write(folder / "raw/one/two.json", Raw("c", "a", "d", "m", {"tables": {}}, True))
    manifest = load(folder / "manifest.toml")
    with pytest.raises(RenderError, match="run all of run, two"):
        render_page(manifest, manifest.pages["one"])


def test_tables_with_equal_headings_follow_each_other() -> None:
    one = {"headings": ["a", "b"], "align": "lr", "rows": [["1", "2"]]}
    two = {"headings": ["a", "b"], "align": "lr", "rows": [["3", "4"]]}
    assert join(one, two)["rows"] == [["1", "2"], ["3", "4"]]


def test_tables_with_other_headings_stand_side_by_side() -> None:
    one = {"headings": ["a", "b"], "align": "lr", "rows": [["1", "2"]]}
    two = {"headings": ["a", "c"], "align": "lr", "rows": [["1", "4"]]}
    joined = join(one, two)
    assert (joined["headings"], joined["rows"]) == (["a", "b", "c"], [["1", "2", "4"]])
    with pytest.raises(ValueError):
        join(one, {**two, "rows": [["2", "4"]]})


def test_long_commands_are_broken_before_their_options() -> None:
    command = "obscuro match A B " + " ".join(f"--option-a Name{i}=value" for i in range(9))
    lines = list(wrap_command(command))
    assert len(lines) > 1 and all(len(line) <= 100 for line in lines)
    assert all(line.lstrip().startswith("--option-a") for line in lines[1:])
    assert " ".join(line.removesuffix(" \\").strip() for line in lines) == command


# -- the manifest -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, new, problem",
    [
        ("[one.runs.run]", "[one.runs.run", "manifest.toml: "),
        ('raw = "one/run.json"\n', "", r"\[one.runs.run\] lacks raw"),
        ("raw =", "raws =", "'raws' is not one of command, raw, label"),
        ('raw = "one/run.json"', "raw = 3", "raw must be of type str"),
        ('"one/run.json"', '"../run.json"', "raw must be one/NAME.json"),
        ("python -m tools.", "sh -c tools.", "a command is a tool"),
        ('runs = ["run"]', 'runs = ["run", "more"]', "no run more"),
        ('runs = ["run"]', "runs = []", "has no runs"),
        ("render =", "label =", "'label' is not one of"),
        ('render = "tools.results.benches:render"', "", "needs either render or render_runs"),
        ("stated =", "tables =", "rendered and by hand"),
        ("[one.by_hand]", "[one.runs.b]\ncommand = 'obscuro bench'\nraw = 'one/b.json'\n[one.by_hand]",
         "nothing shows the run b"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_manifest_is_said(
    folder: Path, old: str, new: str, problem: str
) -> None:
    (folder / "manifest.toml").write_text(MANIFEST.replace(old, new), encoding="utf-8")
    with pytest.raises(ManifestError, match=problem):
        load(folder / "manifest.toml")


def test_two_runs_do_not_share_a_raw_file(folder: Path) -> None:
    text = MANIFEST.replace('runs = ["run"]', 'runs = ["run", "two"]')
    text += '\n[one.runs.two]\ncommand = "obscuro bench"\nraw = "one/run.json"\n'
    (folder / "manifest.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError, match="run has the raw file"):
        load(folder / "manifest.toml")


@pytest.mark.parametrize(
    "reference", ["tools.nothing:x", "tools.common:nothing", "tools.common:ROOT"]
)
def test_functions_that_are_none_are_refused(reference: str) -> None:
    with pytest.raises(ManifestError):
        find_function(reference)


# -- raw files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_raw_files_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    first = Raw("command", "c", "d", {"cpu": "x"}, {"rows": [[1, 0.5, "ε"], []]}, note="n")
    raw.write(tmp_path / name, first)
    assert raw.load(tmp_path / name) == first
    content = (tmp_path / name).read_bytes()
    raw.write(tmp_path / name, first)
    assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("text", ["", "[]", '{"command": "x"}'])
def test_a_file_that_is_no_raw_file_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(RawFileError, match=r"a\.json"):
        raw.load(tmp_path / "a.json")


def test_saved_figures_say_where_they_are_from(tmp_path: Path) -> None:
    raw.save(tmp_path / "new" / "a.json", "command", [1])
    found = json.loads((tmp_path / "new" / "a.json").read_text())
    assert found["commit"] and found["machine"]["python"] and not found["transcribed_from_page"]


def test_a_command_line_leaves_out_where_the_figures_go() -> None:
    words = ["--games", "2", "--raw", "x.json", "a b"]
    assert raw.command_line("python -m tool", words) == "python -m tool --games 2 'a b'"


# -- matches ------------------------------------------------------------------------------------

WINS = {"1-0": ["e2e4", "f1c4", "d1h5", "h5f7", "f7e8"], "0-1": ["f2f3", "g2g4", "a2a3", "b2b3"]}
LOSES = {"1-0": ["e7e5", "b8c6", "g8f6", "a7a6"], "0-1": ["e7e5", "d8h4", "h4e1"]}


class Named(Scripted):
    """Plays a script under a name."""

    def __init__(self, name: str, moves: list[str]) -> None:
        super().__init__(moves)
        self.name = name

    def choose(self, *arguments: object) -> Turn:
        return Turn(super().choose(*arguments).uci, 0.1)  # type: ignore[arg-type]


def play(
    path: Path, results: list[str], slower: int = 100, nodes: tuple[int, int] | None = None
) -> None:
    """Write games of A against B with these results, A being White in the odd ones.

    slower: B's milliseconds for each move; A has 100. nodes: of A and of B, in place of that.
    """
    with path.open("w", encoding="utf-8") as stream:
        for round_, result in enumerate(results, 1):
            names = ("A", "B") if round_ % 2 else ("B", "A")
            players = Named(names[0], WINS[result]), Named(names[1], LOSES[result])
            times = [TimeControl({"A": 100, "B": slower}[name]) for name in names]
            if nodes is not None:
                limits = dict(zip("AB", nodes, strict=True))
                times = [TimeControl(None, nodes=limits[name]) for name in names]
            controls = dict(zip((chess.WHITE, chess.BLACK), times, strict=True))
            record = play_game(*players, control=controls)
            assert record.result == result
            write_pgn(stream, record, round_=round_)


def test_a_row_is_computed_from_the_games(tmp_path: Path) -> None:
    play(tmp_path / "games.pgn", ["1-0", "0-1", "1-0", "1-0"])
    row = matches.match_of_games(tmp_path / "games.pgn")
    assert (row.time, str(row.tally), row.score) == ("100 ms a move", "3/0/1", 0.75)
    assert row.elo == str(pentanomial([(1.0, 1.0), (1.0, 0.0)]))


def test_players_may_have_different_times(tmp_path: Path) -> None:
    play(tmp_path / "games.pgn", ["1-0", "0-1"], slower=400)
    row = matches.match_of_games(tmp_path / "games.pgn")
    assert row.time == "100 ms a move against 400 ms a move"
    assert str(row.tally) == "2/0/0"


@pytest.mark.parametrize(
    ("nodes", "time"),
    [
        ((2000, 2000), "2,000 nodes a move"),
        ((10000, 2000), "10,000 nodes a move against 2,000 nodes a move"),
    ],
)
def test_players_may_have_nodes_in_place_of_time(
    tmp_path: Path, nodes: tuple[int, int], time: str
) -> None:
    play(tmp_path / "games.pgn", ["1-0", "0-1"], nodes=nodes)
    assert matches.match_of_games(tmp_path / "games.pgn").time == time


def test_odd_games_count_singly(tmp_path: Path) -> None:
    play(tmp_path / "games.pgn", ["1-0", "1-0", "1-0"])
    row = matches.match_of_games(tmp_path / "games.pgn")
    assert str(row.tally) == "2/0/1"
    assert row.elo == str(trinomial(row.tally))


def test_games_of_two_matches_are_refused(tmp_path: Path) -> None:
    play(tmp_path / "games.pgn", ["1-0"])
    text = (tmp_path / "games.pgn").read_text()
    (tmp_path / "games.pgn").write_text(text + text)
    with pytest.raises(RawFileError, match="round 1 is there twice"):
        matches.match_of_games(tmp_path / "games.pgn")
    (tmp_path / "games.pgn").write_text(text + text.replace('"A"', '"C"').replace('"1"', '"2"'))
    with pytest.raises(RawFileError, match="not the games of one match"):
        matches.match_of_games(tmp_path / "games.pgn")


def test_parts_of_a_match_are_one_row(tmp_path: Path) -> None:
    parts = []
    for name, results in (("a", ["1-0", "0-1", "1-0"]), ("b", ["0-1", "1-0"])):
        play(tmp_path / f"{name}.pgn", results)
        parts.append(matches.match_of_games(tmp_path / f"{name}.pgn"))
    row = matches.added(parts)
    assert str(row.tally) == "3/0/2"
    assert sorted(row.scores) == [1, 2, 3, 5, 6]
    assert row.elo == str(trinomial(row.tally))
    with pytest.raises(RawFileError, match="same time"):
        matches.added([parts[0], replace(parts[1], time="another")])


# -- remaking -----------------------------------------------------------------------------------


def test_a_tool_is_run_again_and_its_page_rendered(folder: Path) -> None:
    manifest = (folder / "manifest.toml").read_text(encoding="utf-8")
    manifest = manifest.replace("tools.results.benches", "tools.proofs.klss_table")
    (folder / "manifest.toml").write_text(manifest, encoding="utf-8")
    assert remake.main(["one", "--manifest", str(folder / "manifest.toml")]) == 0
    found = raw.load(folder / "raw" / "one" / "run.json")
    assert found.data[0]["game"] == "kuhn" and found.commit != "abc"
    assert "| Kuhn poker | .0124 | 0.01240 |" in (folder / "one.md").read_text(encoding="utf-8")


def test_games_of_a_match_are_kept(folder: Path) -> None:
    words = ["match", "random", "random", "--games", "2", "--max-moves", "3"]
    assert remake.run_match(words, folder / "raw" / "one" / "m.json") == 0
    found = raw.load(folder / "raw" / "one" / "m.json")
    assert (found.command, found.games) == ("obscuro " + " ".join(words), "m.pgn.gz")
    row = matches.match_row(found, folder / "raw" / "one")
    assert str(row.tally) == "0/2/0"
    assert not (folder / "raw" / "one" / "m.jsonl").exists()


def test_a_match_that_was_broken_off_is_resumed(folder: Path) -> None:
    file = folder / "raw" / "one" / "m.json"
    words = ["match", "random", "random", "--games", "4", "--max-moves", "3"]
    log = str(file.with_suffix(".jsonl"))
    assert subprocess.run([remake.ENGINE, *words, "--log", log], check=False).returncode == 0
    lines = file.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    marked = re.sub(r'"ending":"[^"]*"', '"ending":"kept"', lines[1])
    assert marked != lines[1]
    file.with_suffix(".jsonl").write_text("".join([lines[0], marked]), encoding="utf-8")
    assert remake.run_match(words, file) == 0
    games = gzip.decompress((folder / "raw" / "one" / "m.pgn.gz").read_bytes()).decode()
    assert games.count('[Termination "kept"]') == 1 and games.count("[Result ") == 4


PLANNED = (
    MANIFEST
    + """
[one.runs.later]
command = "python -m tools.proofs.klss_table"
raw = "one/later.json"

[one.sections.all]
runs = ["run", "later"]
render_runs = "tests.tools.results.test_results:count_runs"
planned = true

[one.pictures.all]
file = "all.png"
section = "all"
draw = "tests.tools.results.test_results:draw_runs"
"""
)


def count_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Renders a planned section of a test."""
    yield f"runs: {', '.join(each.run.name for each in loaded)}"


def draw_runs(file: Path, loaded: Sequence[Loaded], mark: str) -> None:
    """Draws a picture of a test."""
    file.write_text(f"{len(loaded)} {mark}", encoding="utf-8")


@pytest.fixture
def planned(folder: Path) -> Path:
    (folder / "manifest.toml").write_text(PLANNED, encoding="utf-8")
    marks = "\n<!-- begin all: made by make pages -->\n<!-- end all -->\n"
    (folder / "one.md").write_text(PAGE + marks, encoding="utf-8")
    return folder


def test_a_planned_section_shows_the_runs_that_there_are(planned: Path) -> None:
    page, picture = planned / "one.md", planned / "all.png"
    assert run_pages(planned) == 0
    assert "runs: run\n" in page.read_text(encoding="utf-8")
    assert picture.read_text(encoding="utf-8").startswith("1 raw sha256 ")
    assert run_pages(planned, "--check") == 0
    later = replace(MEASURED, command="python -m tools.proofs.klss_table")
    raw.write(planned / "raw" / "one" / "later.json", later)
    assert run_pages(planned, "--check") == 1, "the page and the picture are old"
    assert run_pages(planned) == 0
    assert "runs: run, later\n" in page.read_text(encoding="utf-8")
    assert picture.read_text(encoding="utf-8").startswith("2 ")


def test_only_what_no_other_section_needs_may_be_missing(planned: Path) -> None:
    (planned / "raw" / "one" / "run.json").unlink()
    assert run_pages(planned) == 2


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('section = "all"', 'section = "none"', "no section 'none'"),
        ('section = "all"', 'section = "all"\nrun = "run"', "needs either run or section"),
        ('section = "all"\n', "", "needs either run or section"),
        ("render_runs", "render", "is planned, and needs render_runs"),
    ],
    ids=["unknown", "both", "none", "render"],
)
def test_a_planned_section_or_its_picture_may_be_wrong(
    planned: Path, old: str, new: str, fault: str
) -> None:
    file = planned / "manifest.toml"
    file.write_text(PLANNED.replace(old, new), encoding="utf-8")
    with pytest.raises(ManifestError, match=fault):
        load(file)


OTHER = """
[two.runs.away]
command = "python -m tools.proofs.klss_table"
raw = "two/away.json"

[two.sections.away]
runs = ["away"]
render_runs = "tests.tools.results.test_results:count_runs"
"""


def test_a_section_may_read_runs_of_another_page(planned: Path) -> None:
    text = PLANNED.replace("planned = true", 'planned = true\nothers = ["two.away"]')
    (planned / "manifest.toml").write_text(text + OTHER, encoding="utf-8")
    marks = "<!-- begin away: made by make pages -->\n<!-- end away -->\n"
    (planned / "two.md").write_text(marks, encoding="utf-8")
    away = replace(MEASURED, command="python -m tools.proofs.klss_table")
    raw.write(planned / "raw" / "two" / "away.json", away)
    assert run_pages(planned) == 0
    assert "runs: run, away\n" in (planned / "one.md").read_text(encoding="utf-8")


def test_a_run_of_another_page_brings_all_with_its_label(planned: Path) -> None:
    text = PLANNED.replace("planned = true", 'planned = true\nothers = ["two.away"]')
    two = OTHER.replace('runs = ["away"]', 'runs = ["away", "more", "apart"]')
    two = two.replace("[two.runs.away]", '[two.runs.away]\nlabel = "row"')
    for name, label in (("more", "row"), ("apart", "another")):
        two += f'\n[two.runs.{name}]\ncommand = "obscuro bench"\nraw = "two/{name}.json"\n'
        two += f'label = "{label}"\n'
    (planned / "manifest.toml").write_text(text + two, encoding="utf-8")
    manifest = load(planned / "manifest.toml")
    page = manifest.page("one")
    read = manifest.runs_of(page, page.sections["all"])
    assert [run.name for run in read] == ["run", "later", "away", "more"]


def test_a_run_of_another_page_must_exist(planned: Path) -> None:
    text = PLANNED.replace("planned = true", 'planned = true\nothers = ["two.gone"]')
    (planned / "manifest.toml").write_text(text + OTHER, encoding="utf-8")
    with pytest.raises(ManifestError, match=r"all: no run two\.gone"):
        load(planned / "manifest.toml")


def test_commands_are_listed_and_not_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["one", "--manifest", str(folder / "manifest.toml"), "--section", "tables", "--list"]
    assert remake.main(words) == 0
    assert "1 of 1: run, shown by tables" in capsys.readouterr().err
    assert raw.load(folder / "raw" / "one" / "run.json") == MEASURED


def test_a_command_that_fails_leaves_its_raw_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MANIFEST.replace("--games kuhn", "--games chess")
    (folder / "manifest.toml").write_text(text, encoding="utf-8")
    assert remake.main(["one", "--manifest", str(folder / "manifest.toml")]) == 1
    assert "failed: run" in capsys.readouterr().err
    assert raw.load(folder / "raw" / "one" / "run.json") == MEASURED


@pytest.mark.parametrize("words", [["other"], ["one", "--section", "other"], []])
def test_unknown_pages_and_sections_are_refused(folder: Path, words: list[str]) -> None:
    assert remake.main([*words, "--manifest", str(folder / "manifest.toml")]) == 2
