"""The fuzzer, `tools/proofs/fuzz.py`: its targets take their seeds, and it finds what is planted."""

from __future__ import annotations

import itertools
import json
import logging
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from obscuro.web.web_limits import WebLimits
from tests.sizes import quick_among
from tools.proofs import fuzz
from tools.proofs.fuzz import TARGETS, Watch, made_up, main
from tools.proofs.fuzz_targets import Target


@pytest.fixture(autouse=True)
def logging_goes_on() -> Iterator[None]:
    """Targets switch all logs off, for their process; other tests read them."""
    yield
    logging.disable(logging.NOTSET)


KERNELS = "fog"
"""The target that compiles kernels where they are not kept."""


@pytest.mark.parametrize("name", quick_among(TARGETS, lambda name: name != KERNELS))
def test_a_target_reads_its_seeds_and_what_is_made_of_them(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    try_one = target.start(tmp_path)
    seeds = [text.encode() for text in target.seeds()]
    for data in itertools.islice(made_up(seeds, [], random.Random(1)), len(seeds) + 20):
        try_one(data)


def test_rematches_do_not_use_up_the_unfinished_games_of_a_visitor(tmp_path: Path) -> None:
    try_one = TARGETS["socket"].start(tmp_path)
    for _ in range(WebLimits().visitor_games + 2):
        try_one(b'{}\n{"type":"resign"}\n{"type":"rematch"}')


def planted(data: bytes) -> None:
    if data.startswith(b"bad"):
        raise KeyError("planted")


def figures(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "figures.json").read_bytes())
    return found


def test_a_fault_is_kept_once_and_does_not_end_the_run(tmp_path: Path) -> None:
    watch = Watch(planted, tmp_path, 60.0)
    for data in (b"good", b"bad one", b"bad two", b"good"):
        watch(data)
    watch.tell()
    (finding,) = figures(tmp_path)["findings"]  # type: ignore[misc]
    assert finding["kind"] == "error"
    assert "KeyError" in finding["what"]
    assert Path(finding["file"]).read_bytes() == b"bad one"
    assert watch.runs == 4


def test_an_input_that_hangs_is_broken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(data: bytes) -> None:
        while data == b"endless":
            pass

    monkeypatch.setattr(fuzz, "HANG_SECONDS", 0.01)
    watch = Watch(endless, tmp_path, 60.0)
    for data in (b"endless", b"good"):
        watch(data)
    watch.tell()
    (finding,) = figures(tmp_path)["findings"]  # type: ignore[misc]
    assert finding["kind"] == "hang" and "on a processor" in finding["what"]
    assert "in endless" in finding["trace"]
    assert watch.runs == 2


def test_what_fails_in_a_thread_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)

    def try_one(data: bytes) -> None:
        thread = threading.Thread(target=lambda: planted(data))
        thread.start()
        thread.join()

    watch = Watch(try_one, tmp_path, 60.0)
    for data in (b"good", b"bad one", b"good"):
        watch(data)
    watch.tell()
    (finding,) = figures(tmp_path)["findings"]  # type: ignore[misc]
    assert finding["what"].startswith("in a thread: KeyError")
    assert Path(finding["file"]).read_bytes() == b"bad one"


def test_a_slow_input_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "MOST_SECONDS", 0.0)
    watch = Watch(lambda data: sorted(range(1000)), tmp_path, 60.0)
    watch(b"slow")
    watch.tell()
    assert figures(tmp_path)["findings"][0]["kind"] == "slow"  # type: ignore[index]


def test_a_fault_is_in_the_table_and_in_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = {"kind": "error", "what": "KeyError in a.py:1", "trace": "", "input": "bad"}

    def run(name: str, *arguments: object, **options: object) -> dict[str, object]:
        faults = [finding] if name == "toml" else []
        return {"target": name, "guided": False, "runs": 7, "seconds": 60, "findings": faults}

    monkeypatch.setattr(fuzz, "fuzz", run)
    assert main(["log", "toml", "--at-once", "2"]) == 1
    assert (
        "2 targets, 14 inputs, 2 minutes, 0 of them on a processor; 1 faults."
        in capsys.readouterr().out
    )
    assert main(["log"]) == 0


def test_one_input_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = Target("what is planted", lambda folder: planted, lambda: ["good"])
    monkeypatch.setattr(fuzz, "TARGETS", {"planted": target})
    file = tmp_path / "input"
    file.write_bytes(b"good")
    assert main(["planted", "--input", str(file)]) == 0
    file.write_bytes(b"bad")
    with pytest.raises(KeyError):
        main(["planted", "--input", str(file)])


@pytest.mark.parametrize("words", [["nothing"], ["toml", "--seconds", "0"], ["--input", "x"]])
def test_what_can_not_be_done_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2


@pytest.mark.slow
def test_a_process_of_its_own_fuzzes_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = tmp_path / "fuzz.json"
    words = ["toml", "log", "--seconds", "3", "--plain", "--raw", str(raw)]
    assert main(words) == 0
    for each in json.loads(raw.read_bytes())["data"]:
        assert each["runs"] > 100
        assert each["before"]["rss"] > 0
        assert each["findings"] == []
