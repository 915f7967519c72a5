"""`obscuro learn` from the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from obscuro.cli import learn_command
from obscuro.cli.arguments import parse
from obscuro.cli.command_support import CommandError
from obscuro.cli.learn_command import run
from obscuro.cli.main import INTERRUPTED, main
from obscuro.evaluation.fog_values.value_file import read_fog_values
from obscuro.evaluation.nnue.leaf_values import LeafValuer
from obscuro.learn.collecting import seen_samples
from obscuro.learn.filed_games import FiledGame
from obscuro.learn.samples import Samples, read_samples, write_samples
from tests.cli.conftest import written
from tests.evaluation.nnue import made_up
from tests.learn.made_samples import known_weights, sample_file
from tests.tools.play.lost_games import WORDS, write_games


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that needs no Stockfish."""
    monkeypatch.setattr(learn_command, "LeafValuer", lambda: LeafValuer(made_up.network()))


@pytest.fixture
def games(tmp_path: Path) -> Path:
    return write_games(tmp_path / "games.pgn")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "made.npz"
    write_samples(path, sample_file(noise=0.01))
    return path


def collect(games: Path, out: Path, *words: str) -> int:
    told = ["learn", "collect", str(games), "--out", str(out), *words]
    return run(parse(told), console=Console(quiet=True))


def test_solved_positions_are_collected(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "data.npz"
    assert collect(games, out, "--nodes", "400", "--every", "1", *WORDS) == 0
    found = read_samples(out)
    assert len(found.followed) == 2 and len(found.samples.leaf) > 10
    assert found.origin["network"] == "a given network"
    search = found.origin["search"]
    assert search["nodes"] == 400 and search["options"]["Evaluator"] == "material"
    assert search["options"]["Threads"] == search["options"]["Seed"] == "1"


def test_ctrl_c_keeps_what_there_is_and_the_same_command_goes_on(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = tmp_path / "whole.npz", tmp_path / "data.npz"
    assert collect(games, whole, "--no-search") == 0
    asked: list[int] = []

    def interrupted(leaf_values: LeafValuer, game: FiledGame) -> Samples:
        asked.append(game.number)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return seen_samples(leaf_values, game)

    monkeypatch.setattr(learn_command, "seen_samples", interrupted)
    assert collect(games, out, "--no-search") == INTERRUPTED
    assert len(read_samples(out).followed) == 1
    assert collect(games, out, "--no-search") == 0
    assert asked == [1, 2, 2]
    assert read_samples(out).fingerprint == read_samples(whole).fingerprint
    assert collect(games, out, "--no-search") == 0 and len(asked) == 3


def test_samples_of_another_search_are_not_mixed_in(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "data.npz"
    assert collect(games, out, "--no-search") == 0
    with pytest.raises(CommandError, match="collected by another engine, network or search"):
        collect(games, out, "--nodes", "400", *WORDS)


def test_weights_are_fitted_and_checked(data: Path, tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=160)
    out = tmp_path / "values.json"
    assert run(parse(["learn", "fit", str(data), "--ridge", "0", "--out", str(out)])) == 0
    values = read_fog_values(out)
    assert values.weights == pytest.approx(known_weights(), abs=0.05)
    assert values.data["fingerprint"] == sample_file(noise=0.01).fingerprint
    assert values.data["target"] == "search" and values.data["games"] == 20
    assert run(parse(["learn", "check", str(data), "--values", str(out)]), console=console) == 0
    text = written(console)
    for part in ("Held-out games", "all features", "tens of squares seen", "true positions only"):
        assert part in text


def test_figures_are_printed_as_json_and_drawn(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture, wide = tmp_path / "check.png", Console(file=(tmp_path / "out").open("w"), width=80)
    words = ["learn", "check", str(data), "--target", "results", "--json", "--plot", str(picture)]
    assert run(parse(words), console=wide) == 0
    wide.file.close()
    figures = json.loads((tmp_path / "out").read_text(encoding="utf-8"))
    assert figures["target"] == "results" and figures["positions"] == 400
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["collect", "none.pgn", "--out", "x.npz"], "can't read none.pgn"),
        (["fit", "none.npz", "--out", "x.json"], "can't read none.npz: No such file"),
        (["fit", "games.pgn", "--out", "x.json"], "games.pgn is no file of `obscuro learn"),
        (["fit", "made.npz"], "--out says where to write the weights; give it"),
        (["fit", "made.npz", "--model", "network", "--out", "x"], "takes no --out"),
        (["fit", "made.npz", "--out", "no/folder.json"], "can't write no/folder.json"),
        (["check", "made.npz", "--values", "none.json"], "none.json: No such file"),
        (["collect", "games.pgn", "--out", "no/x.npz", "--no-search"], "can't write no/x.npz"),
        (["collect", "games.pgn", "--out", "x.npz", "--option", "X=1"], "X"),
    ],
)
def test_a_mistake_is_one_clear_line(
    words: list[str],
    fault: str,
    games: Path,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(data.parent)
    assert main(["learn", *words]) == 1
    lines = capsys.readouterr().err.splitlines()
    said = [line for line in lines if line.startswith("obscuro: ")]
    assert len(said) == 1 and fault in said[0]
