"""The demo with a stand-in for the engine, and once with the engine itself."""

import argparse
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from obscuro.cli import demo_command as demo
from obscuro.cli.demo_command import verdict
from obscuro.cli.main import main
from obscuro.engine.options import Options
from tests.cli.conftest import written
from tests.matches.scripted import FakePlayer


def arguments(**values: object) -> argparse.Namespace:
    defaults = {"movetime": 7, "evaluator": "stockfish", "seed": 3, "max_moves": 4}
    return argparse.Namespace(**{**defaults, **values})


def run(
    console: Console, stockfish: str | None = "/sf", **values: object
) -> tuple[int, str, Options]:
    given = Options()

    def make(options: Options, warn: Callable[[str], None]) -> FakePlayer:
        nonlocal given
        given = options
        warn("careful")
        return FakePlayer(seed=2)

    code = demo.run(
        arguments(**values), make=make, console=console, find_stockfish=lambda: stockfish
    )
    return code, written(console), given


def test_frames_are_printed_one_below_the_other(console: Console) -> None:
    code, text, options = run(console)
    assert code == 0
    assert "\033" not in text
    assert text.count("what the engine sees") == 1 + 8  # the start, and each ply
    assert max(map(len, text.splitlines())) <= 80
    assert "belief    4,321 positions" in text
    assert "nodes     1,234 (2 carried)" in text
    assert "score     +0.60 pawns" in text
    assert "90.0% ███████████ played" in text
    assert "note: careful" in text
    assert "(stockfish, 7 ms a move)" in text
    assert options.text("Evaluator") == "stockfish"
    assert text.rstrip().endswith("Stopped after 8 plies, without a result.")


def test_the_two_boards_differ_by_the_fog(console: Console) -> None:
    _, text, _ = run(console)
    rows = [line for line in text.splitlines() if line.startswith("8 ")]
    assert rows[0].startswith("8 ░░░░░░░░░░░░░░░░     8 ♜ ♞ ♝ ♛ ♚ ♝ ♞ ♜")


def test_without_stockfish_it_plays_with_material_and_says_so(console: Console) -> None:
    code, text, options = run(console, stockfish=None)
    assert code == 0
    assert options.text("Evaluator") == "material"
    assert "note: no Stockfish found" in text


def test_the_same_seed_shows_the_same_game(console: Console) -> None:
    _, once, _ = run(console, seed=5)
    _, twice, _ = run(console, seed=5)
    assert twice == 2 * once


def test_on_a_terminal_frames_are_drawn_in_place(terminal: Console) -> None:
    code, text, _ = run(terminal)
    assert code == 0
    assert "\033[1A" in text  # the cursor goes up, over the last frame
    assert "careful" in text


def test_a_game_to_its_end_has_a_result(console: Console) -> None:
    _, text, _ = run(console, max_moves=400)
    last = text.rstrip().splitlines()[-1]
    assert last.startswith(("The engine wins in", "The random mover wins in", "A draw in"))


def test_verdicts() -> None:
    from obscuro.matches.referee import play_game  # noqa: PLC0415
    from tests.matches.scripted import Scripted  # noqa: PLC0415

    won = play_game(Scripted(["e2e4", "d1h5", "h5e8"]), Scripted(["f7f6", "a7a6"]), control=1)
    assert verdict(won) == "The engine wins in 3 moves: king captured."
    drawn = play_game(Scripted(["g1f3", "f3g1"] * 4), Scripted(["g8f6", "f6g8"] * 4), control=1)
    assert verdict(drawn) == "A draw in 4 moves: threefold repetition."


def test_the_engine_itself(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("obscuro.belief.belief")
    code = main(["demo", "--evaluator", "material", "--movetime", "50", "--max-moves", "3"])
    text = capsys.readouterr().out
    assert code == 0
    assert "belief" in text
    assert "played" in text
    # The random mover may give its king away in three moves.
    assert re.search("without a result|The engine wins in [23] moves", text.splitlines()[-1])
