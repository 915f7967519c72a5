"""The examples of docs/client.md, as they are written there."""

from __future__ import annotations

import pytest

from tests.docs.pages import page

EXAMPLES = [block.text for block in page("docs/client.md").blocks if block.language == "python"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, ("1",)),
        (1, ("None 4",)),
        (2, ("20 True 2", "True", "True")),
        (3, ("2",)),
        (4, ("can't run no-such-engine",)),
    ],
)
def test_an_example_prints_what_it_should(
    number: int, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(EXAMPLES[number], "docs/client.md", "exec"), {"__name__": "example"})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(words)
    assert all(word in line for word, line in zip(words, lines, strict=True))


def test_every_example_is_run() -> None:
    assert len(EXAMPLES) == 5
