"""Files of samples in the manifest: who makes them, who reads them, and when they are collected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.results import remake
from tools.results.manifest import Manifest, ManifestError, load

COLLECT = "obscuro learn collect games.pgn --out docs/results/raw/one/samples.npz"
CHECK = "obscuro learn check docs/results/raw/one/samples.npz"


def manifest(folder: Path, collect: str = COLLECT, check: str = CHECK) -> Manifest:
    (folder / "manifest.toml").write_text(
        f"""
[one.data.samples]
command = "{collect}"
file = "one/samples.npz"
[one.runs.check]
command = "{check}"
raw = "one/check.json"
[one.sections.check]
runs = ["check"]
render = "tools.results.learned:render_models"
""",
        encoding="utf-8",
    )
    return load(folder / "manifest.toml")


def test_a_file_of_samples_has_a_command_and_a_place(tmp_path: Path) -> None:
    found = manifest(tmp_path)
    data = found.pages["one"].data["samples"]
    assert found.data_file(data) == tmp_path / "raw" / "one" / "samples.npz"
    assert data.words[:3] == ["obscuro", "learn", "collect"]


@pytest.mark.parametrize(
    ("collect", "check", "fault"),
    [
        ("obscuro match a b", CHECK, "a command is `obscuro learn collect ` to the file"),
        (COLLECT.replace("samples", "others"), CHECK, "to the file"),
        (COLLECT, "obscuro learn check others.npz", "no run reads one/samples.npz"),
        (COLLECT, "obscuro learn fit others.npz", "`bench` or `learn check`"),
    ],
)
def test_a_wrong_command_is_refused(tmp_path: Path, collect: str, check: str, fault: str) -> None:
    with pytest.raises(ManifestError, match=fault):
        manifest(tmp_path, collect, check)


def test_samples_are_collected_where_their_file_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []

    def told(words: Sequence[str], *more: Path) -> int:
        called.append(" ".join(words[:2]))
        return int(words[1] == "collect" and "fails" in called)

    monkeypatch.setattr(remake, "run_collect", told)
    monkeypatch.setattr(remake, "run_benchmark", told)
    found = manifest(tmp_path)
    run = found.pages["one"].runs["check"]
    assert remake.remake(found, run) == 0
    data = found.data_file(found.pages["one"].data["samples"])
    data.parent.mkdir(parents=True)
    data.touch()
    assert remake.remake(found, run) == 0
    assert called == ["learn collect", "learn check", "learn check"]
    data.unlink()
    called.append("fails")
    assert remake.remake(found, run) == 1
    assert called[-2:] == ["fails", "learn collect"]
