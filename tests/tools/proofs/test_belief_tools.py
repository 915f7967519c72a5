"""The tools that follow many games with beliefs: what they report, and that they can fail."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from obscuro.engine.player import Player
from obscuro.kernel_warmup import load_kernels
from tests.belief.comparison import DifferenceError
from tools.proofs import belief_reference, belief_selfplay
from tools.results import raw


def run(tool: ModuleType, *arguments: str) -> int:
    code: int = tool.main(["--processes", "1", *arguments])
    return code


# -- against the reference ----------------------------------------------------------------------

FEW = ("--games", "1", "--limit", "5", "--alone", "1", "--largest", "200")


def test_all_kinds_of_games_are_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(belief_reference, "LONGEST", dict.fromkeys(belief_reference.LONGEST, 8))
    assert run(belief_reference, *FEW) == 0
    rows = {
        cells[1]: cells[2:]
        for line in capsys.readouterr().out.splitlines()
        if len(cells := [cell.strip() for cell in line.split("|")]) > 5
    }
    for kind in ("random", "engine", "rare"):
        games, updates, equal = (int(cell) for cell in rows[kind][:3])
        assert games == 1 and updates >= equal > 3
    assert rows["all"][0] == "3"


def test_an_engine_game_is_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belief_reference, "LONGEST", {"engine": 6})
    assert belief_reference.engine_game(5) == belief_reference.engine_game(5)


def test_a_difference_is_printed_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compare_game(*arguments: object, **options: object) -> object:
        raise DifferenceError("there is one")

    monkeypatch.setattr(belief_reference, "compare_game", compare_game)
    assert run(belief_reference, *FEW, "--kinds", "rare", "--seed", "7") == 1
    said = capsys.readouterr().out
    assert said.startswith("rare game 7, there is one\n")
    assert said.endswith("Differences: 2.\n")


def test_recorded_games_are_followed_for_their_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("obscuro.cli.bench.recorded")
    file = tmp_path / "games.txt"
    file.write_text(
        "one | white | startpos | e2e4 h7h6 g1f3 a7a5 | 1:1>17/20\n"
        "other | black | 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 | e2e4 e8e7 | 0:1>5/7\n"
    )
    assert run(belief_reference, "--recorded", str(file)) == 0
    row = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("| recorded |"))
    assert row.startswith("| recorded | 2 | 6 | 0 |")


# -- self-play ----------------------------------------------------------------------------------


def self_play(*arguments: str) -> int:
    few = ("--games", "2", "--movetime", "5", "--max-plies", "8", "--max-positions", "1000")
    return run(belief_selfplay, *few, *arguments)


@pytest.mark.parametrize("mode", [(), ("--patient",)])
def test_self_play_reports_every_look(
    mode: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "new" / "games.json"
    assert self_play(*mode, "--raw", str(file)) == 0
    text = capsys.readouterr().out
    games = raw.load(file).data["games"]
    plies = sum(game["plies"] for game in games)  # 16, unless a king was captured before
    assert sum(len(game["looks"]) for game in games) == plies > 8
    assert "| games | 2 |" in text
    assert f"| looks (turns of either side) | {plies} |" in text
    assert "FAILURE" not in text
    assert ("beside the clock" in text) == bool(mode)
    shown = "\n".join(belief_selfplay.render(raw.load(file).data))
    assert shown == text.rstrip("\n"), "a page shows what was printed"


def test_a_lost_position_fails_and_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Player, "belief_contains", lambda player, words: False)
    assert self_play("--patient") == 1
    report, said = capsys.readouterr()
    shown = "game 2: black has lost "
    assert shown in report and shown in said
    assert "position startpos moves" in report


def test_a_position_that_a_sample_lacks_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Player, "belief_contains", lambda player, words: False)
    monkeypatch.setattr(Player, "belief_exact", False)
    assert self_play() == 0
    report = capsys.readouterr().out
    assert "| true position in P while exact | 0 of 0 |" in report
    assert re.search(r"true position in P while not exact \| 0 of [1-9]", report)


def test_an_error_in_a_game_fails_and_the_next_one_is_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Getting ready plays a trial game, in which nothing is to be broken.
    load_kernels(lambda options: Player(options, lambda text: None), lambda text: None)
    update, broken = Player.update, []

    def fail_once(player: Player, deadline: float | None = None) -> None:
        update(player, deadline)
        if not broken:
            broken.append(player)
            raise RuntimeError("broken on purpose")

    monkeypatch.setattr(Player, "update", fail_once)
    assert self_play() == 1
    text = capsys.readouterr().out
    assert "broken on purpose" in text
    looks = re.search(r"looks \(turns of either side\) \| (\d+) ", text)
    assert looks is not None and 1 <= int(looks[1]) <= 8, "those of the second game"


def test_bars_say_how_often() -> None:
    bars = list(belief_selfplay.histogram([1, 1, 2, 50, 50, 50, 50]))
    assert [line.split()[:2] for line in bars] == [["1", "3"], ["3", "0"], ["10", "0"], ["32", "4"]]
    assert len(bars[3].split()[2]) == belief_selfplay.BAR
