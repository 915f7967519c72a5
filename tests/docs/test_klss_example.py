"""The example of docs/klss.md, as it is written there."""

from __future__ import annotations

import pytest

from tests.docs.pages import page


def test_the_example_harms_the_blueprint_everywhere_and_not_where_it_is_safe(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (code,) = [block.text for block in page("docs/klss.md").blocks if block.language == "python"]
    exec(compile(code, "docs/klss.md", "exec"), {"__name__": "example"})
    blueprint, everywhere, safe = map(float, capsys.readouterr().out.split())
    assert everywhere < blueprint < safe
