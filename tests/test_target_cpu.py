"""The processor that kernels are compiled for: this machine's, or a level that many machines have."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import llvmlite.binding as llvm
import pytest
from numba.core import config

from obscuro import kernel_cache
from obscuro.target_cpu import LEVELS, target_cpu

V3 = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    """Forget what was found, before and after a test."""
    target_cpu.cache_clear()
    yield
    target_cpu.cache_clear()


def set_target(patch: pytest.MonkeyPatch, name: str | None, features: str | None) -> None:
    patch.setattr(config, "CPU_NAME", name)
    patch.setattr(config, "CPU_FEATURES", features)


def test_it_is_this_machine_unless_another_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    set_target(monkeypatch, None, None)
    name, features = target_cpu()
    assert name == llvm.get_host_cpu_name()
    assert features == {each for each, has in llvm.get_host_cpu_features().items() if has}


def test_a_level_has_its_features_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    set_target(monkeypatch, "x86-64-v3", "")
    name, features = target_cpu()
    assert name == "x86-64-v3" and "bmi2" in features and "avx2" in features
    assert not [each for each in features if each.startswith("avx512")]
    assert LEVELS["x86-64-v2"] < LEVELS["x86-64-v3"] < LEVELS["x86-64-v4"]


def test_features_may_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    set_target(monkeypatch, "generic", "+avx2,-bmi2")
    assert target_cpu() == ("generic", frozenset({"avx2"}))


def test_a_name_without_features_has_those_of_this_machine_as_numba_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_target(monkeypatch, "x86-64-v3", None)
    name, features = target_cpu()
    assert name == "x86-64-v3"
    assert features == {each for each, has in llvm.get_host_cpu_features().items() if has}


def test_kernels_of_a_level_are_found_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    set_target(monkeypatch, "x86-64-v3", "")
    here = kernel_cache.facts()
    monkeypatch.setattr(llvm, "get_host_cpu_name", lambda: "another")
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: {"avx512f": True})
    target_cpu.cache_clear()
    assert kernel_cache.facts() == here
    set_target(monkeypatch, None, None)
    target_cpu.cache_clear()
    assert kernel_cache.facts() != here


@pytest.mark.slow
def test_kernels_of_a_level_use_nothing_that_it_lacks() -> None:
    code = (
        "from obscuro.evaluation.nnue.dense import AVAILABLE, CHOSEN\n"
        "from obscuro.search.rows import LANES\n"
        "from obscuro.rules.bits import HAS_FAST_PEXT\n"
        "print(CHOSEN, LANES, HAS_FAST_PEXT, *AVAILABLE)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | V3,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["avx2", "8", "True", "avx2", "plain"]
