"""The durations of tests, read from pytest's report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.results import raw, test_times

REPORT = """<testsuites><testsuite name="pytest" tests="3" time="4.5">
<testcase classname="tests.web.test_board" name="test_a" time="3.04"/>
<testcase classname="tests.web.test_board.TestMore" name="test_b[1]" time="0.5"/>
<testcase classname="tests.test_house" name="test_c" time="4.0"><skipped/></testcase>
</testsuite></testsuites>"""


def test_folders_and_tests_are_in_the_order_of_their_times(tmp_path: Path) -> None:
    report, stored = tmp_path / "report.xml", tmp_path / "times.json"
    report.write_text(REPORT, encoding="utf-8")
    assert test_times.main(["--report", str(report), "--raw", str(stored)]) == 0
    figures = raw.load(stored).data
    assert figures["wall"] == 4.5
    assert figures["folders"] == [["tests", 1, 4.0], ["tests/web", 2, 3.5]]
    assert figures["slowest"] == [
        ["tests.test_house::test_c", 4.0],
        ["tests.web.test_board::test_a", 3.0],
        ["tests.web.test_board.TestMore::test_b[1]", 0.5],
    ]


def test_a_missing_report_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert test_times.main(["--report", str(tmp_path / "none.xml")]) == 1
    assert "make test" in capsys.readouterr().err
