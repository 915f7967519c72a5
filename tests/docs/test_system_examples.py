"""The examples of the pages on the other papers' systems, as they are written there."""

from __future__ import annotations

import pytest

from tests.docs.pages import page


def test_the_example_refines_a_blueprint(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = printed("docs/gs2.md", capsys)
    assert before < after <= 0.0, "the game's value is 0"


def test_the_example_solves_a_trunk(capsys: pytest.CaptureFixture[str]) -> None:
    zero, exact = printed("docs/value_functions.md", capsys)
    assert zero == pytest.approx(0.25, abs=0.01)
    assert exact == pytest.approx(0.0004, abs=0.0001)


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> list[float]:
    """Return the numbers that a page's example prints."""
    (code,) = [block.text for block in page(name).blocks if block.language == "python"]
    exec(compile(code, name, "exec"), {"__name__": "example"})
    return [float(word) for word in capsys.readouterr().out.split()]
