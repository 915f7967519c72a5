"""The tool that trains networks for a depth limit, from data to the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tools.proofs.value_function_figures import rank_correlation
from tools.proofs.value_functions import checkpoint_epochs, main


@pytest.mark.parametrize(
    ("first", "second", "ranks"),
    [
        ([1, 2, 3], [10, 20, 21], 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([1, 2, 3, 4], [2, 1, 4, 3], 0.6),
    ],
)
def test_rank_correlation(first: list[float], second: list[float], ranks: float) -> None:
    assert rank_correlation(np.array(first), np.array(second)) == pytest.approx(ranks)


@pytest.mark.parametrize("epochs", [1, 2, 16, 17, 60, 1000])
def test_enough_checkpoints_up_to_the_last_epoch(epochs: int) -> None:
    marks = checkpoint_epochs(epochs)
    assert min(marks) == 1 and max(marks) == epochs
    assert len(marks) >= min(epochs, 16)


def test_from_random_trunks_to_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["--folder", str(tmp_path)]
    assert main(["train", "leduc", *folder]) == 2
    assert "run: python -m tools.proofs.value_functions data leduc" in capsys.readouterr().err
    assert main(["data", "leduc", "--strategies", "11", "--bottoms", "3", *folder]) == 0
    few = ["--bottoms", "3", "--iterations", "3", *folder]
    raw = tmp_path / "train.json"
    assert main(["train", "leduc", "--epochs", "3", *few, "--raw", str(raw)]) == 0
    figures = json.loads(raw.read_text())["data"]["figures"]
    assert [each["epoch"] for each in figures["checkpoints"]] == [1, 2, 3]
    assert figures["examples"] == 9 * 30
    assert (tmp_path / "leduc_1.npz").exists()
    assert "| 270 examples | 3 |" in capsys.readouterr().out
    assert main(["exact", "leduc", *few]) == 0
    assert "| Leduc poker | 9,637 | 30 |" in capsys.readouterr().out
