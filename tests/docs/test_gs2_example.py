"""The example of docs/gs2.md, as it is written there."""

from __future__ import annotations

import pytest

from tests.docs.pages import page


def test_the_example_refines_a_blueprint(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = [block.text for block in page("docs/gs2.md").blocks if block.language == "python"]
    exec(compile(code, "docs/gs2.md", "exec"), {"__name__": "example"})
    before, after = map(float, capsys.readouterr().out.split())
    assert before < after <= 0.0, "the game's value is 0"
