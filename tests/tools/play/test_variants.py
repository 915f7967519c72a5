"""The comparison of variants by true positions."""

import pytest

from obscuro.engine.options import Options
from obscuro.rules.board import FogOfWarBoard
from tools.play.recorded_games import Judge
from tools.play.variants import gain, main, move_value, render, strategy_value


def row(game, values, belief=20):
    return {"game": game, "side": "white", "ply": 0, "belief": belief, "values": values}


def test_a_strategy_is_worth_the_mean_of_its_moves():
    policy = [("a", 0.6), ("b", 0.39), ("c", 0.01)]
    assert strategy_value(policy, {"a": 1.0, "b": -1.0}) == pytest.approx(0.21 / 0.99)


def test_a_gain_is_paired_and_its_error_counts_sides_of_games():
    rows = [row(1, {"base": [0.1, 0], "x": [0.3, 0]}), row(1, {"base": [0.5, 0], "x": [0.7, 0]})]
    rows += [row(2, {"base": [0.0, 0], "x": [0.0, 0]})]
    # Two samples: the mean's error is that of their sums, with the correction for few samples.
    error = 2 * (2 * (0.2 - 0.4 / 3)) / 3
    assert gain(rows, "x", 0) == f"{100 * 0.4 / 3:+.2f} ± {100 * error:.2f}"
    assert gain(rows, "base", 0) == "+0.00 ± 0.00"


def test_the_table_has_a_row_for_each_variant_and_size():
    rows = [row(1, {"base": [0, 0], "x": [0.1, 0]}), row(2, {"base": [0, 0], "x": [0, 0]}, 900)]
    lines = list(render(rows))
    assert len(lines) == 2 + 3 * 2
    assert lines[3].startswith("| x | all | 2 | 5.00 | +5.00 ±")


@pytest.fixture(scope="module")
def judge():
    options = Options()
    options.set("Evaluator", "material")
    judge = Judge(options, lambda text: None)
    yield judge
    judge.close()


def test_moves_are_judged_by_the_best_reply(judge):
    board = FogOfWarBoard("4k3/8/8/3r4/8/8/3Q4/4K3 w - - 0 1")
    values = {uci: move_value(judge, board, uci) for uci in ("d2d5", "d2d4", "d2e3")}
    assert values["d2d5"] > values["d2e3"] > values["d2d4"]
    assert move_value(judge, FogOfWarBoard("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1"), "e2e8") == 1


def test_a_bad_variant_is_one_line(capsys):
    with pytest.raises(SystemExit):
        main(["games.pgn", "--variant", "x=no_such_key=1"])
    assert "no_such_key" in capsys.readouterr().err.splitlines()[-1]
