"""The network's numbers in `obscuro bench eval`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from obscuro.cli.bench.eval_nnue import (
    agreement,
    bench_positions,
    measure_nnue,
    nnue_values,
    rank_correlation,
)
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.evaluation.nnue.install import load_networks
from obscuro.evaluation.nnue.network import NetworkError
from obscuro.rules.position import is_well_formed, legal_moves, to_fen

pytestmark = pytest.mark.xdist_group("timing")


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
    assert (itself.rank_correlation, itself.regret) == (pytest.approx(1), 0)
    assert itself.slope == pytest.approx(1)
    opposite = agreement(positions, values, values._replace(values=-values.values))
    assert opposite.rank_correlation == pytest.approx(-1)
    assert opposite.regret is not None and opposite.regret > 0.1


def test_speeds_of_the_network() -> None:
    try:
        load_networks()
    except NetworkError as error:
        pytest.skip(str(error))
    positions = bench_positions()[:10]
    speed = measure_nnue(positions, repeats=1)
    assert speed.searched_kcps > 0 and speed.static_kcps > 0
    assert np.isfinite(nnue_values(positions).values).all()
