"""The matches of the paper: their commands, the blocks that they are played in, and their files."""

from __future__ import annotations

import argparse
import importlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import chess.pgn
import pytest

from obscuro.cli.arguments import build_parser
from obscuro.engine.options import SEARCH_KEYS, Options
from obscuro.matches.elo import Tally
from obscuro.search.parameters import SearchParameters
from tests.sizes import quick_among
from tools.common import INTERRUPTED, ROOT
from tools.play import paper_experiments, paper_matches, paper_series
from tools.play.paper_experiments import (
    ABLATIONS,
    EXPERIMENTS,
    MEASUREMENTS,
    OBSCURO,
    PAPER_RULES,
    RANDOM,
    Contender,
    Experiment,
    as_options,
    percent,
)
from tools.play.paper_matches import STORE
from tools.play.paper_series import MatchBlock, MatchSeries, ToolSeries
from tools.results import raw

QUICK = Experiment("quick", "ablations", "quick", Contender(RANDOM), Contender(RANDOM), 6)
OTHER = QUICK._replace(name="other", games=4)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two experiments between random players; returns where their files go."""
    monkeypatch.setattr(paper_matches, "EXPERIMENTS", {"quick": QUICK, "other": OTHER})
    monkeypatch.setattr(paper_matches, "MEASUREMENTS", {})
    monkeypatch.setattr(paper_matches, "STORE", tmp_path / "raw")
    return tmp_path


def play(folder: Path, *words: str) -> int:
    return paper_matches.main([*words, "--folder", str(folder / "begun"), "--concurrency", "1"])


def series_in(folder: Path) -> MatchSeries:
    return MatchSeries.of(QUICK, None, 1, folder / "raw")


def told_of(experiment: Experiment, **settings: int) -> argparse.Namespace:
    words = experiment.command(4, **settings)
    assert words[0] == "obscuro"
    return build_parser().parse_args(words[1:])


# -- the experiments ----------------------------------------------------------------------------


def test_the_papers_rules_are_every_option_of_the_search_with_the_papers_values() -> None:
    options = Options()
    for name, value in as_options(PAPER_RULES).items():
        assert options.set(name, value) == name
    ours = {"edges_per_expansion", "iterations_per_expansion"}  # a balance that the paper has not
    keys = {key.name for key in SEARCH_KEYS} - {"eval_cache"}
    balance = {name: Options().integer(name) for name in ours}
    expected = SearchParameters(
        fresh_share=0.0, max_kept_infosets=0, puct_least_variance=0.0, **balance
    )
    assert options.search_parameters() == expected
    assert keys - ours == PAPER_RULES.keys() - {"Evaluator"}


def test_the_algorithms_page_has_the_papers_rules() -> None:
    text = (ROOT / "docs" / "algorithm.md").read_text(encoding="utf-8")
    _, _, part = text.partition("## The rules of the paper")
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|", part, re.MULTILINE)
    assert {name: value for name, value, _ in rows} == PAPER_RULES
    for name, _, default in rows:
        assert str(Options().get(name)).lower() == default.lower()


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_each_match_is_a_command_of_the_program(experiment: Experiment) -> None:
    told = told_of(experiment, seed=5)
    assert (told.games, told.seed, told.concurrency) == (4, 5, 1)
    assert (told.first, told.second) == (experiment.first.player, experiment.second.player)
    for texts, side in ((told.option_a, experiment.first), (told.option_b, experiment.second)):
        given = dict(text.split("=", 1) for text in texts)
        assert given.items() >= as_options(side.options).items()
        if side.player == OBSCURO:
            options = Options()
            for name, value in given.items():
                options.set(name, value)
            assert options.integer("Threads") == side.threads


def test_an_ablation_turns_off_what_it_is_named_after_and_nothing_else() -> None:
    for name, switches in ABLATIONS.items():
        for rules, whole in (("paper", PAPER_RULES), ("default", {})):
            experiment = EXPERIMENTS[f"ablation-{name}-{rules}"]
            assert experiment.first.options == whole
            assert experiment.second.options == {**whole, **switches}


def test_each_time_of_the_scaling_is_twice_the_one_before() -> None:
    times = [
        (told.movetime_a, told.movetime_b)
        for told in (told_of(each) for each in EXPERIMENTS.values() if each.group == "scaling")
    ]
    assert times[0] == (124, 62) and times[-1] == (16_000, 8_000)
    assert all(slow == 2 * quick for slow, quick in times)


def test_a_first_move_is_played_by_both_from_the_plain_start() -> None:
    told = told_of(EXPERIMENTS["first-move-c5"])
    assert told.first == told.second == "python -m tools.play.held_engine c7c5"
    assert told.openings == "none"


def test_scores_are_rounded_as_in_the_paper() -> None:
    assert percent(Tally(834, 33, 133)) == "85.1 %"  # 85.05
    assert percent(Tally(787, 63, 150)) == "81.9 %"  # 81.85
    assert percent(Tally(4535, 1583, 3882)) == "53.3 %"
    assert percent(Tally(0, 1, 0)) == "50.0 %"


def test_slow_games_come_in_small_blocks() -> None:
    experiment = EXPERIMENTS["self-play"]
    sizes = [experiment.block(milliseconds) for milliseconds in (10, 25, 100, 500, 12_000)]
    assert sizes == [80, 80, 20, 4, 2]
    assert EXPERIMENTS["random"].block(None) == 80, "random moves take no time"
    assert EXPERIMENTS["scaling-8"].block(None) == 2


# -- blocks and files ---------------------------------------------------------------------------


@pytest.mark.slow
def test_blocks_join_to_one_match_and_the_same_command_goes_on(quick: Path) -> None:
    file = quick / "raw" / "quick.json"
    assert play(quick, "quick", "--block", "2", "--games", "4") == 0
    first = raw.load(file)
    assert first.command == "python -m tools.play.paper_matches quick"
    assert [block["first"] for block in first.data["blocks"]] == [1, 3]
    assert play(quick, "quick", "--block", "2") == 0
    found = raw.load(file)
    assert found.data["blocks"][:2] == first.data["blocks"]
    assert [block["first"] for block in found.data["blocks"]] == [1, 3, 5]
    assert found.games == "quick.pgn.gz"
    with raw.open_text(file.parent / found.games) as stream:
        text = stream.read()
    assert re.findall(r'\[Round "(\d+)"\]', text) == ["1", "2", "3", "4", "5", "6"]
    assert len(set(re.findall(r'\[Fingerprint "(\w+)"\]', text))) == 3
    assert "%policy" not in text
    assert not list((quick / "begun").iterdir())
    assert {each.name for each in file.parent.iterdir()} == {"quick.json", "quick.pgn.gz"}


@pytest.mark.slow
def test_a_block_is_the_match_that_the_program_plays(quick: Path) -> None:
    assert play(quick, "quick", "--block", "2", "--games", "4") == 0
    words = QUICK.command(2, seed=3)
    pgn = quick / "again.pgn"
    engine = ROOT / "engine_bin" / "obscuro"
    subprocess.run([engine, *words[1:], "--pgn", pgn], check=True, capture_output=True)
    with raw.open_text(quick / "raw" / "quick.pgn.gz") as stream:
        played = [chess.pgn.read_game(stream) for _ in range(4)]
    with pgn.open(encoding="utf-8") as stream:
        again = [chess.pgn.read_game(stream) for _ in range(2)]
    assert [moves(game) for game in played[2:]] == [moves(game) for game in again]


def moves(game: chess.pgn.Game | None) -> list[chess.Move]:
    assert game is not None
    return list(game.mainline_moves())


def test_slow_games_do_not_keep_the_others_waiting(tmp_path: Path) -> None:
    words = ["scaling-1", "scaling-8", "self-play", "scale", "--concurrency", "1"]
    told = paper_matches.make_parser().parse_args([*words, "--folder", str(tmp_path)])
    order = []
    for name in ("self-play", "scaling-1", "scale", "scaling-8"):
        series = [each for each in paper_matches.chosen(told) if each.name not in order]
        series = [each._replace(file=tmp_path / f"{each.stem}.json") for each in series]
        block, _ = paper_matches.next_block(series, told, {}, None)
        assert block is not None and block.series.name == name
        order.append(name)


def test_an_old_commits_engine_is_a_worktree_with_our_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@b"]
        command = ["git", "-C", str(tmp_path), *identity, *words]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    for text in ("old", "new"):
        (tmp_path / "file").write_text(text)
        git("add", "file")
        git("commit", "-qm", text)
    monkeypatch.setattr(paper_series, "ROOT", tmp_path)
    old = git("rev-parse", "--short", "HEAD~")
    folder = tmp_path / "build" / "engines" / old
    paper_series.build_engine(old)
    (folder / ".venv").unlink()  # as after an interruption
    paper_series.build_engine(old)
    assert (folder / "file").read_text() == "old"
    assert (folder / ".venv").resolve() == Path(sys.prefix).resolve()


def test_no_block_begins_that_would_end_too_late(
    quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(quick, "--hours", "0.0001") == 0
    assert "no time is left for a block of quick, other" in capsys.readouterr().err
    assert not (quick / "raw").exists()


def test_a_block_that_was_broken_off_is_the_first_to_go_on(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = []

    def break_off(command: Sequence[str]) -> int:
        commands.append(list(command))
        journal = Path(command[command.index("--log") + 1])
        journal.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(paper_series, "run", break_off)
    assert play(quick, "other", "--block", "2") == INTERRUPTED
    assert play(quick, "--block", "4") == INTERRUPTED
    assert commands[0] == commands[1]
    assert not (quick / "raw").exists()


def test_a_journal_whose_games_are_in_the_files_is_deleted(quick: Path) -> None:
    assert play(quick, "quick", "--block", "2", "--games", "2") == 0
    stale = quick / "begun" / "quick-1-2.jsonl"
    stale.touch()
    block = series_in(quick).next_block(None, 4, quick / "begun")
    assert (block.first, block.size, block.is_begun) == (3, 4, False)
    assert not stale.exists()


def test_a_match_that_fails_is_told_and_the_others_are_played(
    quick: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = QUICK._replace(first=Contender("no-such-engine"))
    monkeypatch.setattr(paper_matches, "EXPERIMENTS", {"quick": broken, "other": OTHER})
    assert play(quick, "--games", "2") == 1
    assert "failed: quick" in capsys.readouterr().err
    assert (quick / "raw" / "other.json").exists()


def test_a_block_that_lacks_games_changes_no_file(quick: Path) -> None:
    series = series_in(quick)
    block = MatchBlock(series, 1, 4, quick / "journal")
    with pytest.raises(raw.RawFileError, match="rounds"):
        block.add('[Round "1"]\n[Round "2"]\n', 1)
    assert not series.file.exists() and not series.games_file.exists()


def test_another_time_has_files_and_a_command_of_its_own() -> None:
    klss, scaling = EXPERIMENTS["ablation-klss-paper"], EXPERIMENTS["scaling-0.25"]
    full = MatchSeries.of(klss, 5000, 5, STORE)
    assert full.file.name == "ablation_klss_paper_5000ms_5t.json"
    assert full.command.endswith("ablation-klss-paper --movetime 5000 --threads 5")
    told = build_parser().parse_args(klss.command(2, milliseconds=5000, threads=5)[1:])
    assert told.movetime == 5000 and "Threads=5" in told.option_a and "Hash=4096" in told.option_b
    usual = MatchSeries.of(klss, None, 1, STORE)
    assert MatchSeries.of(klss, klss.milliseconds, 1, STORE) == usual
    usual = MatchSeries.of(scaling, None, 1, STORE)
    assert MatchSeries.of(scaling, 5000, 1, STORE) == usual, "it has times of its own"


def test_measurements_are_commands_of_their_tools() -> None:
    for measurement in MEASUREMENTS.values():
        series = ToolSeries.of(measurement, STORE)
        module, *words = measurement.words
        parser = importlib.import_module(module).make_parser()
        told = parser.parse_args([*words, "--at-most", str(measurement.block)])
        assert told.at_most == measurement.block and told.threads == measurement.cores
        assert measurement.wanted == (told.searches if "searches" in told else told.games)
        assert series.command.startswith(parser.prog)


def test_what_needs_more_cores_is_left_out(
    quick: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = QUICK._replace(first=Contender(RANDOM, threads=4096))
    monkeypatch.setattr(paper_matches, "EXPERIMENTS", {"quick": wide})
    assert play(quick) == 0
    assert "quick is left out: it needs 4096 cores" in capsys.readouterr().err


@pytest.mark.parametrize(
    "trap",
    quick_among(["", "trap '' INT; "], bool),
    ids=["plain", "Ctrl-C ignored"],
)
def test_term_ends_the_match_and_keeps_what_it_has_played(tmp_path: Path, trap: str) -> None:
    command = ["sh", "-c", trap + 'exec "$@"', "sh", sys.executable, "-m"]
    command += ["tools.play.paper_matches", "random", "--concurrency", "1"]
    command += ["--folder", str(tmp_path), "--raw", str(tmp_path / "random.json")]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("*.jsonl")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, said
    assert "broken off; the same command goes on" in said
    assert list(tmp_path.glob("random-1-*.jsonl")) and not (tmp_path / "random.json").exists()


# -- what is printed ----------------------------------------------------------------------------


def test_the_list_has_the_result_and_the_command_of_the_papers_size(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert paper_matches.main(["--list", "ablation-klss-default"]) == 0
    said = capsys.readouterr().out
    assert "the paper: 58.0 %" in said
    assert "ablation-klss-default --movetime 5000 --threads 5 --games 1000" in said
    assert "obscuro match obscuro obscuro --games 1000" in said


@pytest.mark.parametrize(
    "words", [["no-such-name"], ["--block", "3"], ["--raw", "x.json"]], ids=str
)
def test_a_wrong_command_line_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        paper_matches.main(words)
    assert left.value.code == 2


def test_every_experiment_of_the_paper_is_there() -> None:
    results = [each.paper for each in EXPERIMENTS.values() if each.group == "scaling"]
    assert results == list(paper_experiments.SCALING_RESULTS.values())
    assert all(tally.games == 10_000 for tally in results if tally is not None)
    assert len([each for each in EXPERIMENTS.values() if each.group == "ablations"]) == 12
