"""The tool that plays OpenSpiel's games, `tools/play/any_game.py`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from obscuro.research.any_game.history_belief import PARAMETERS, PlaySettings
from obscuro.research.games.openspiel import OpenSpielGame
from tools.play import any_game
from tools.play.any_game import (
    IsMcts,
    changed_parameters,
    main,
    measure_exactly,
    measure_ismcts,
    measure_large,
    named_parameters,
    render,
)
from tools.results import raw

QUICK = ["--seconds", "0.01", "--train", "0.01"]


def test_it_plays_all_rivals_and_measures_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kuhn.json"
    words = ["--games", "kuhn", "--number", "2", "--exact", "64", *QUICK, "--raw", str(file)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    stored = raw.load(file).data
    assert [len(each["payoffs"]) for each in stored["matches"]] == [2, 2, 2]
    assert [each["rival"] for each in stored["matches"]] == ["ismcts", "mccfr", "uniform"]
    assert stored["matches"][1]["iterations"] > 0
    (exact,) = stored["exact"]
    assert 0.0 <= exact["exploitability"] <= exact["uniform"]
    assert "\n".join(render(stored)) in printed


def test_worlds_come_from_the_belief_where_openspiel_draws_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--games", "dark_hex", "--rivals", "ismcts", "--number", "2", *QUICK]
    assert main(words) == 0
    assert (
        "| Dark hex 3×3, classical | ismcts | default | 0.01 s | 8 | 2 |" in capsys.readouterr().out
    )


def test_a_match_is_played_at_each_number_of_iterations(tmp_path: Path) -> None:
    file = tmp_path / "hex.json"
    words = ["--games", "dark_hex_2", "--number", "2", "--iterations", "16", "512", "--exact"]
    words += ["--rivals", "ismcts", "mccfr"]
    assert main([*words, "--train", "0.01", "--raw", str(file)]) == 0
    matches = raw.load(file).data["matches"]
    assert [each["limit"]["iterations"] for each in matches] == [16, 512, 16, 512]
    assert [each["iterations"] is None for each in matches] == [True, True, False, False]
    for few, many in (matches[:2], matches[2:]):
        assert 0 < few["expanded"] < many["expanded"]


def test_the_parameters_of_chess_are_played_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for words in ([], ["--chess-settings"]):
        file = tmp_path / f"{len(words)}.json"
        base = ["--games", "kuhn", "--rivals", "--exact", "500", "--raw", str(file)]
        assert main([*base, *words]) == 0
        found.append(raw.load(file).data["exact"][0]["exploitability"])
    assert found[0] < found[1]
    printed = capsys.readouterr().out
    assert "| default | 8 | 500 | 1 |" in printed
    assert "| chess | 8 | 500 | 1 |" in printed


def test_exploitability_is_the_mean_over_seeds() -> None:
    row = {"game": "kuhn", "iterations": 500, "rollouts": 8, "parameters": "default"}
    row |= {"infosets": 12, "uniform": 0.4583}
    rows = [row | {"exploitability": found} for found in (0.01, 0.04)]
    lines = list(render({"matches": [], "exact": rows}))
    cells = "| Kuhn poker | 12 | default | 8 | 500 | 2 | 0.0250 | 0.0100 – 0.0400 | 0.4583 |"
    assert lines[2:] == [f"{cells}  |"]  # older rows have no time
    timed = [row | {"turn": turn} for row, turn in zip(rows, (0.1, 0.2), strict=True)]
    lines = list(render({"matches": [], "exact": timed}))
    assert lines[2:] == [f"{cells} 0.150 |"]


@pytest.mark.parametrize("name", ["kuhn", "liars_dice_3"])
def test_is_mcts_is_less_exploitable_than_uniform_play(name: str) -> None:
    found = measure_ismcts(name, 200, 1)
    assert 0 < found["exploitability"] < found["uniform"] / 2
    assert found["turn"] > 0


def test_a_mean_has_its_error() -> None:
    match = {
        "game": "leduc",
        "rival": "mccfr",
        "payoffs": [1.0, -1.0, 3.0, 1.0],
        "seconds": 0.1,
        "rival_seconds": 0.0,
        "limit": {"seconds": None, "iterations": 1000},
        "rollouts": 8,
        "parameters": "soft_root=1",
        "expanded": 249.6,
        "iterations": 1234,
    }
    lines = list(render({"matches": [match], "exact": []}))
    row = "| Leduc poker | mccfr, 1,234 iterations | soft_root=1 | 1,000 it. | 8 | 4 "
    row += "| +1.000 ± 0.816 | -0.049 | +2.000 | +0.000 "
    assert lines[2:] == [f"{row}| 250 | 0.100 | 0.000 |"]


def test_single_parameters_are_changed_and_named() -> None:
    changed = changed_parameters(PARAMETERS, ["soft_root=0.25", "mixed_prior=1", "max_support=2"])
    assert (changed.soft_root, changed.mixed_prior, changed.max_support) == (0.25, True, 2)
    named = named_parameters(PlaySettings(iterations=1, parameters=changed))
    assert changed_parameters(PARAMETERS, named.split()) == changed
    assert named_parameters(PlaySettings(iterations=1)) == "default"
    with pytest.raises(ValueError, match="no parameter 'soft'"):
        changed_parameters(PARAMETERS, ["soft=1"])


class Slow:
    """A bot of IS-MCTS that takes a second for each simulation, and plays the first action."""

    def __init__(self, clock: list[float], simulations: int) -> None:
        self.clock, self.simulations = clock, simulations

    def step(self, state: Any) -> int:
        self.clock[0] += self.simulations
        return int(state.legal_actions()[0])


def test_is_mcts_keeps_to_the_time_of_all_moves_together(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    made: list[Slow] = []

    def bot(simulations: int, random: object) -> Slow:
        made.append(Slow(clock, simulations if len(made) else 3 * simulations))
        return made[-1]

    monkeypatch.setattr(any_game, "ismcts_in_cpp", bot)
    game = OpenSpielGame("kuhn_poker")
    player = IsMcts(game, lambda: 100.0, resampled=True)
    player.see(game.apply(game.apply(game.start(), 0), 1))
    for _ in range(12):
        player.choose()
    assert player.spent[0] == 300.0  # its speed was not known
    assert sum(player.spent) == pytest.approx(1200, rel=0.1)


def test_a_large_game_is_followed_where_the_search_plays() -> None:
    settings = PlaySettings(iterations=64, memory=4)
    whole = measure_exactly("dark_hex_2", settings, 1)
    met = measure_large("dark_hex_2", settings, 1)
    assert met["exploitability"] == pytest.approx(whole["exploitability"], abs=1e-9)
    assert 0 < met["met"] < whole["infosets"]
    (*_, row) = render({"matches": [], "exact": [met]})
    assert f"| {met['met']} met |" in row


def test_a_best_response_that_does_not_know_the_seed_wins_less() -> None:
    settings = PlaySettings(iterations=64, memory=4)
    name = "abrupt_dark_hex_2"
    known = [measure_exactly(name, settings, seed)["exploitability"] for seed in (1, 2)]
    drawn = measure_large(name, settings, 2)
    assert drawn["seeds"] == 2
    assert drawn["exploitability"] < sum(known) / 2
