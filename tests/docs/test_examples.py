"""The Python examples of the pages print what they should, as they are written there."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from typing import Any

import chess.engine
import pytest

from obscuro.rules.board import FogOfWarBoard
from tests.docs.pages import ROOT, page

PLIES = 3
Print = Callable[..., list[str]]


def examples(name: str) -> list[str]:
    """Return a page's blocks of Python."""
    return [block.text for block in page(name).blocks if block.language == "python"]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Print:
    """Run an example of a page, the only one unless `number` is given; return its lines."""

    def run(name: str, number: int | None = None, names: dict[str, Any] | None = None) -> list[str]:
        if number is None:
            (code,) = examples(name)
        else:
            code = examples(name)[number]
        exec(compile(code, name, "exec"), {} if names is None else names)
        return capsys.readouterr().out.splitlines()

    return run


def test_a_game_of_ones_own_is_checked_solved_and_played(printed: Print) -> None:
    (code,) = examples("docs/research/any_game.md")
    assert len([line for line in code.splitlines() if line.strip()]) <= 60
    facts, solved, played = printed("docs/research/any_game.md", names={"__name__": "example"})
    assert "whole=True" in facts
    value, exploitability = map(float, solved.split()[:2])
    assert value == pytest.approx(0.5, abs=0.01)
    assert exploitability < 0.01
    assert re.search(r"payoff=-?[01]\.0", played)


CLIENT = (
    ("1",),
    ("None 4",),
    ("20 True 2", "True", "True", "True True"),
    ("2",),
    ("can't run no-such-engine",),
)


@pytest.mark.parametrize("number", range(len(CLIENT)))
def test_the_client_finds_moves_and_beliefs(printed: Print, number: int) -> None:
    assert len(examples("docs/client.md")) == len(CLIENT)
    lines = printed("docs/client.md", number)
    assert len(lines) == len(CLIENT[number])
    assert all(word in line for word, line in zip(CLIENT[number], lines, strict=True))


OPENSPIEL = (
    (r"\[-1\.0, 1\.0\]", r"\[-1\.0, 1\.0\]"),
    (r"\[-?\d+\.0, -?\d+\.0\]", r"\[\(0, .*\)\] [01]"),
)


@pytest.mark.parametrize("number", range(len(OPENSPIEL)))
def test_bots_play_in_openspiel(printed: Print, number: int) -> None:
    pytest.importorskip("pyspiel")
    assert len(examples("docs/openspiel.md")) == len(OPENSPIEL)
    lines = printed("docs/openspiel.md", number)
    for pattern, line in zip(OPENSPIEL[number], lines, strict=True):
        assert re.fullmatch(pattern, line)


def test_the_engine_plays_in_pettingzoo(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspiel")
    pytest.importorskip("shimmy")
    pytest.importorskip("pettingzoo")
    program = ROOT / "docs" / "examples" / "openspiel" / "pettingzoo_match.py"
    monkeypatch.setattr(sys, "argv", [str(program), "--games", "2", "--nodes", "100"])
    runpy.run_path(str(program), run_name="__main__")
    *games, points = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in games] == [
        f"game {number + 1}: the engine is player {number}" for number in range(2)
    ]
    assert points == "2 of 2"


def test_an_independent_program_analyses_a_game(printed: Print) -> None:
    imported = re.findall(r"^(?:import|from) (\w+)", examples("docs/analyse.md")[0], re.MULTILINE)
    assert imported == ["json", "subprocess", "sys"]
    size, worst, code = printed("docs/analyse.md", 0)
    assert size == "20 positions are possible"
    assert worst in ("d1h5 lost most", "h5f7 lost most")
    assert code == "exit code 0"


def test_the_client_of_the_analysis_analyses_games(printed: Print) -> None:
    assert printed("docs/analyse.md", 1) == ["[0, 1, 2, 3, 4, 5] 20", "True 3", "6 0"]


def test_klss_harms_the_blueprint_everywhere_and_not_where_it_is_safe(printed: Print) -> None:
    blueprint, everywhere, safe = map(float, " ".join(printed("docs/research/klss.md")).split())
    assert everywhere < blueprint < safe


def test_gs2_refines_a_blueprint(printed: Print) -> None:
    before, after = map(float, " ".join(printed("docs/research/gs2.md")).split())
    assert before < after <= 0.0, "the game's value is 0"


def test_a_trunk_is_solved(printed: Print) -> None:
    assert len(examples("docs/research/value_functions.md")) == 3
    zero, exact = map(float, " ".join(printed("docs/research/value_functions.md", 0)).split())
    assert zero == pytest.approx(0.25, abs=0.01)
    assert exact == pytest.approx(0.0004, abs=0.0001)


def test_continuation_strategies_leave_less_to_exploit(printed: Print) -> None:
    one, two, three = map(float, printed("docs/research/value_functions.md", 1))
    assert one == pytest.approx(0.047, abs=0.005)
    assert max(two, three) < 0.002


def test_a_value_function_plays_by_continual_resolving(printed: Print) -> None:
    zero, exact = map(float, printed("docs/research/value_functions.md", 2))
    assert (zero, exact) == pytest.approx((0.28, 0.01), abs=0.005)


def test_the_readmes_engine_plays(printed: Print, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = chess.engine.Limit
    # A few plies by nodes stand for a game of a second a move.
    monkeypatch.setattr(chess.engine, "Limit", lambda time: limit(nodes=20))
    monkeypatch.setattr(FogOfWarBoard, "is_game_over", lambda board: len(board.move_stack) >= PLIES)
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {"__name__": "example"}
    *seen, result = " ".join(printed("README.md", names=names)).split()
    board = names["board"]
    assert len(board.move_stack) == PLIES
    assert seen[-1] == board.fog_fen(chess.WHITE)
    assert (len(seen), result) == (PLIES, "*")
