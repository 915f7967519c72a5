"""`obscuro bench belief`: what it measures, and what it prints."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from rich.console import Console

from obscuro.belief import Belief
from obscuro.belief.record import RECORD_WORDS
from obscuro.cli.arguments import parse
from obscuro.cli.bench import belief_speed as belief
from obscuro.cli.bench.belief_speed import (
    CLASSES,
    MeasuredUpdate,
    bytes_per_position,
    class_numbers,
    print_report,
    python_chess_update,
    summary,
)
from obscuro.cli.bench.common import BenchmarkError, progress
from obscuro.cli.bench.recorded import (
    RecordedGame,
    RecordedUpdate,
    new_belief,
    parse_game,
    read_games,
    steps,
    take_in,
)
from obscuro.cli.main import main
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import legal_moves, to_fen
from tests.belief.games import STORIES
from tests.cli.conftest import written
from tests.hanging import HANG_SECONDS

KEYS = {
    "growing_mcps", "filtering_mcps", "threads2_ratio", "million_s", "million_s_2",
    "bytes_per_position", "python_chess_mcps", "cpu_share", "peak_rss_mib", "updates",
    "classes", "machine",
}  # fmt: skip


def smallest() -> list[RecordedGame]:
    """A game with a growing update and one with a filtering one, both cheap."""
    found = []
    for grows in (True, False):
        ways = [
            game.with_updates([update])
            for game in read_games()
            for update in game.updates
            if update.grows == grows
        ]
        found.append(min(ways, key=lambda game: game.updates[0].candidates))
    return found


def made_up(parents: int, positions: int, one: list[float], two: list[float]) -> MeasuredUpdate:
    update = RecordedUpdate(9, parents, positions, 30 * parents)
    return MeasuredUpdate(
        "a game", update, (one, two), weighted=[2 * s for s in one], python_chess=[0.2]
    )


# -- measuring ------------------------------------------------------------------------------


def test_every_run_is_timed_and_nothing_else(
    console: Console,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    games = smallest()
    updated = []

    def after_opponent_move(self: Belief, observation: Observation) -> object:
        updated.append((self._updater.workers.threads, len(self)))
        return update(self, observation)

    update = Belief.after_opponent_move
    monkeypatch.setattr(Belief, "after_opponent_move", after_opponent_move)
    measured = belief.measure(games, repeat=3)
    assert [len(one.runs[0]) for one in measured] == [3, 3]
    assert [len(one.runs[1]) for one in measured] == [3, 3]
    assert [len(one.worked) for one in measured] == [3, 3]
    assert all(seconds > 0 for one in measured for runs in one.runs for seconds in runs)
    for game in games:  # with one thread and two in turn, from the same state
        parents = game.updates[0].parents
        assert [threads for threads, size in updated if size == parents] == [
            1,
            2,
            1,
        ] * 3  # the last one is weighted


def test_an_update_that_is_not_what_was_recorded_is_an_error() -> None:
    game = smallest()[0]
    wrong = game.updates[0]._replace(positions=1)
    with pytest.raises(BenchmarkError, match=r"it must have 1$"):
        belief.measure([game.with_updates([wrong])], repeat=1)


# -- numbers --------------------------------------------------------------------------------


def test_numbers_are_medians_of_medians() -> None:
    measured = [
        made_up(2_000, 3_000, [0.004, 0.003, 0.002], [0.006, 0.006, 0.001]),  # 20, 10 M/s
        made_up(20_000, 30_000, [0.020], [0.012]),  # 30, 50 M/s
        made_up(500_000, 1_200_000, [0.600], [0.400]),  # 25, 37.5 M/s
        made_up(50_000, 50_000, [0.015], [0.010]),  # 100, 150 M/s
    ]
    numbers = summary(measured)
    assert numbers["growing_mcps"] == pytest.approx(25)
    assert numbers["filtering_mcps"] == pytest.approx(100)
    assert numbers["threads2_ratio"] == pytest.approx((5 / 3 + 3 / 2) / 2)
    assert numbers["threads2_ratio_all"] == pytest.approx(1.5)
    assert numbers["million_s"] == pytest.approx(0.5)
    assert numbers["million_s_2"] == pytest.approx(1 / 3)
    assert numbers["python_chess_mcps"] == pytest.approx(0.2)
    assert numbers["updates"] == {"growing": 3, "filtering": 1, "threads2": 2, "million": 1}


def test_every_update_is_in_one_class() -> None:
    sizes = [1_000, 9_999, 10_000, 99_999, 100_000, 2_000_000]
    measured = [made_up(size, size + grows, [1.0], [1.0]) for size in sizes for grows in (0, 1)]
    found = [class_numbers(grows, name, measured) for grows in (True, False) for name in CLASSES]
    assert [(one["updates"], one["kind"]) for one in found] == (
        [(2, "growing")] * 3 + [(2, "filtering")] * 3
    )


@pytest.mark.parametrize(("worked", "busy"), [(0.90, True), (0.99, False)])
def test_a_busy_machine_is_told(console: Console, worked: float, busy: bool) -> None:
    measured = made_up(2_000, 3_000, [1.5, 0.5], [1.0, 1.0])
    measured.worked.extend([1.5 * worked, 0.5 * worked])
    numbers = summary([measured])
    assert numbers["cpu_share"] == pytest.approx(worked)
    print_report(console, numbers)
    text = written(console)
    assert ("The machine was busy: the runs with one thread had 90% of a core" in text) == busy


def test_nothing_measured_is_no_number() -> None:
    numbers = summary([])
    keys = ("growing_mcps", "threads2_ratio", "million_s", "python_chess_mcps", "cpu_share")
    assert all(numbers[key] is None for key in keys)


def test_memory_is_that_of_the_largest_update_to_a_million(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def bytes_per_position(game: RecordedGame, threads: int) -> float:
        asked.append((game.moves, game.updates, threads))
        return 50.0 + threads

    monkeypatch.setattr(belief, "bytes_per_position", bytes_per_position)
    updates = [
        RecordedUpdate(ply, 10**6, positions, 1)
        for ply, positions in enumerate([950_000, 1_100_000, 1_400_000, 1_300_000, 1_900_000])
    ]
    game = RecordedGame("a game", 0, "", tuple("abcde"), tuple(updates))
    assert belief.measure_memory([game], (1, 2)) == {
        "bytes_per_position": 51.0,
        "bytes_per_position_2": 52.0,
    }
    assert asked == [(("a", "b", "c"), (updates[2],), threads) for threads in (1, 2)]
    assert belief.measure_memory([game.with_updates(updates[:1])], (1,)) == {
        "bytes_per_position": None,
        "bytes_per_position_2": None,
    }


# -- memory ---------------------------------------------------------------------------------

GAME = parse_game("small | white | startpos | e2e4 d7d6 | 1:1>13/20")
PEAK = """
import numpy as np
from obscuro.cli.bench import belief_speed as memory

MEBIBYTE = 1 << 20
memory.forget_peak()
held = memory.resident()
block = np.ones(64 * MEBIBYTE, dtype=np.uint8)
assert memory.peak() >= held + 60 * MEBIBYTE
del block
assert memory.peak() >= held + 60 * MEBIBYTE
memory.forget_peak()
assert memory.peak() < held + 30 * MEBIBYTE
"""


def test_a_peak_is_seen_and_forgotten() -> None:
    # In a process of its own: other tests leave memory here that the system takes back at any time.
    subprocess.run([sys.executable, "-c", PEAK], check=True, timeout=HANG_SECONDS)


@pytest.mark.slow
def test_measures_in_a_process_of_its_own() -> None:
    game = next(
        game.with_updates([update])
        for game in read_games()
        for update in game.updates
        if 100_000 < update.positions < 200_000
    )
    measured = bytes_per_position(game, threads=1)
    assert RECORD_WORDS * 8 < measured < 1_000


@pytest.mark.slow
def test_a_failure_is_one_line() -> None:
    update = GAME.updates[-1]._replace(positions=7)
    with pytest.raises(BenchmarkError, match=r"failed: .*the belief has \d+ positions") as caught:
        bytes_per_position(GAME.with_updates([update]), threads=1)
    assert "\n" not in str(caught.value)


# -- python-chess ---------------------------------------------------------------------------


@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
@pytest.mark.parametrize("name", STORIES)
def test_python_chess_finds_what_the_belief_finds(name: str, side: int) -> None:
    fen, moves = STORIES[name]
    game = RecordedGame(name, side, fen, tuple(moves.split()), ())
    belief = new_belief(game)
    compared = 0
    for step in steps(game):
        before = belief.positions
        take_in(belief, step)
        if step.move is None and len(before) <= 300:
            boards = [FogOfWarBoard(f"{to_fen(words)} 0 1") for words in before]
            candidates, found = python_chess_update(boards, step.observation, side)
            assert candidates == sum(len(legal_moves(words)) for words in before)
            assert found == {words.tobytes() for words in belief.positions}
            assert [board.move_stack for board in boards] == [[]] * len(boards)
            compared += 1
    assert compared > 0


# -- what is printed ------------------------------------------------------------------------


def test_the_json_has_all_keys_and_the_table_a_row_for_each_class(console: Console) -> None:
    arguments = parse(["bench", "belief", "--json", "--quick"])
    assert belief.run(arguments, games=smallest(), console=console) == 0
    numbers = json.loads(written(console))
    assert numbers.keys() >= KEYS
    assert all(numbers[f"{name}_mcps"] > 0 for name in ("growing", "filtering", "python_chess"))
    assert (numbers["quick"], numbers["repeat"]) == (True, 1)
    assert sum(group["updates"] for group in numbers["classes"]) == 2
    assert numbers["machine"].keys() >= {"cpu", "cores", "numba"}
    print_report(console, numbers)
    text = written(console)
    assert text.isascii() and "bytes a position" in text
    assert all(text.count(f" {row} ") == 2 for row in CLASSES)


def test_progress_is_lines_where_there_is_no_terminal(
    console: Console,
    terminal: Console,
) -> None:
    for shown in (console, terminal):
        with progress(10, shown) as tell:
            tell("loading", 0)
            tell(None, 5)
            tell("game 1 of 2", 5)
    assert written(console) == "loading\ngame 1 of 2\n"
    assert "game 1 of 2" in written(terminal)


def test_an_error_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(arguments: object) -> int:
        raise BenchmarkError("a game, ply 3: the belief has 1 positions, it must have 2")

    monkeypatch.setattr(belief, "run", run)
    assert main(["bench", "belief"]) == 1
    assert capsys.readouterr().err == (
        "obscuro: a game, ply 3: the belief has 1 positions, it must have 2\n"
    )
