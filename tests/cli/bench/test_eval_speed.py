"""`obscuro bench eval`: what it measures, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import spearmanr

from obscuro.cli.arguments import parse
from obscuro.cli.bench import eval_speed as bench
from obscuro.cli.bench.eval_speed import (
    BareStockfish,
    BenchmarkError,
    agreement,
    bench_positions,
    efficiencies,
    measure_network,
    measure_stockfish,
    nnue_values,
    rank_correlation,
)
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.evaluation.nnue.install import load_networks
from obscuro.evaluation.nnue.network import NetworkError
from obscuro.rules.position import legal_moves, to_fen
from tests.cli.conftest import written
from tests.evaluation.naive import STOCKFISH, needs_stockfish
from tests.well_formed import is_well_formed

KEYS = {
    "stockfish_efficiency", "stockfish_kcps", "stockfish_alone_kcps",
    "stockfish_batch_efficiency", "nnue_searched_kcps", "nnue_static_kcps", "rank_correlation",
    "regret", "material_kcps", "cpu_share", "machine",
}  # fmt: skip


def few() -> bench.Words:
    return bench_positions()[:20]


@needs_stockfish
def test_the_json_has_all_keys_and_the_table_a_line_for_each_number(console: Console) -> None:
    arguments = parse(["bench", "eval", "--json", "--repeat", "2"])
    assert bench.run(arguments, positions=few(), console=console) == 0
    numbers = json.loads(written(console))
    assert numbers.keys() >= KEYS
    assert numbers["stockfish_efficiency"] > 0 and numbers["stockfish_kcps"] > 0
    assert 15 < numbers["stockfish_positions"] <= numbers["positions"] == 20
    assert numbers["repeat"] == 2
    if numbers["nnue_searched_kcps"] is None:
        assert any(reason.startswith("no numbers of the network") for reason in numbers["missing"])
    else:
        assert numbers["nnue_searched_kcps"] > 0 and numbers["nnue_static_kcps"] > 0
        assert 0.5 < numbers["rank_correlation"] <= 1
    bench.print_report(console, numbers)
    text = written(console)
    assert text.isascii()
    for line in ("Stockfish 1", "the process, answers discarded", "efficiency", "material"):
        assert line in text


def test_without_stockfish_its_numbers_are_null(tmp_path: Path, console: Console) -> None:
    arguments = parse(["bench", "eval", "--json", "--repeat", "1"])
    missing = str(tmp_path / "none")
    assert bench.run(arguments, positions=few(), stockfish=missing, console=console) == 0
    numbers = json.loads(written(console))
    assert numbers["stockfish_efficiency"] is None
    assert numbers["rank_correlation"] is None
    assert numbers["material_kcps"] > 0
    assert numbers["missing"][0] == "no numbers of Stockfish: Stockfish is not installed"


def test_what_is_no_stockfish_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "stockfish"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(BenchmarkError):
        measure_stockfish(few(), 1, lambda what, done: None, str(program))


@needs_stockfish
def test_a_bare_client_counts_answers() -> None:
    bare = BareStockfish(STOCKFISH)
    for count in (1, 7, 300):
        bare.run(b"position startpos\ngo depth 1\n" * count, count)
    bare.forget()
    bare.close()


def test_numbers_are_medians_over_rounds() -> None:
    numbers = efficiencies(330, [1.0, 2.0, 1.0], [2.0, 2.0, 8.0], [1.0, 4.0, 1.25])
    assert numbers["stockfish_alone_kcps"] == 0.33
    assert numbers["stockfish_efficiency"] == 0.8
    assert numbers["stockfish_batch_efficiency"] == 0.5


# -- the network ----------------------------------------------------------------------------


def test_the_positions_can_be_evaluated() -> None:
    positions = bench_positions()
    assert len({to_fen(words) for words in positions}) == len(positions) == 400
    for words in positions:
        assert is_well_formed(words)
        assert len(legal_moves(words)) > 0


@pytest.mark.parametrize("seed", range(20))
def test_rank_correlation_is_spearmans(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 9, (2, 30)).astype(np.float32)
    assert rank_correlation(one, other) == pytest.approx(spearmanr(one, other).statistic)


def test_equal_values_have_no_rank_correlation() -> None:
    assert rank_correlation(np.zeros(5), np.arange(5.0)) is None


def test_an_evaluator_agrees_with_itself_and_not_with_its_opposite() -> None:
    positions = bench_positions()[:40]
    values = MaterialEvaluator().evaluate(positions)
    itself = agreement(positions, values, values)
    assert (itself["rank_correlation"], itself["regret"]) == (pytest.approx(1), 0)
    assert itself["slope"] == pytest.approx(1)
    opposite = agreement(positions, values, values._replace(values=-values.values))
    assert opposite["rank_correlation"] == pytest.approx(-1)
    assert opposite["regret"] is not None and opposite["regret"] > 0.1


def test_speeds_of_the_network() -> None:
    try:
        load_networks()
    except NetworkError as error:
        pytest.skip(str(error))
    positions = bench_positions()[:10]
    assert all(speed is not None and speed > 0 for speed in measure_network(positions, 1).values())
    assert np.isfinite(nnue_values(positions).values).all()
