"""The limits of a search."""

from __future__ import annotations

import chess
import pytest

from obscuro.client.limit import NODES_SECONDS, Limit


@pytest.mark.parametrize(
    ("limit", "command", "words"),
    [
        (Limit(1500), "go movetime 1500", "1.5 s a move"),
        (Limit(nodes=20_000), "go nodes 20000", "20,000 nodes a move"),
        (Limit(1000, 20_000), "go movetime 1000 nodes 20000", "1 s or 20,000 nodes a move"),
        (
            Limit(clocks=(60_000, 500, 1, 2)),
            "go wtime 60000 btime 500 winc 1 binc 2",
            "60 s and 0.5 s on the clocks a move",
        ),
    ],
)
def test_a_limit_as_a_command_and_in_words(limit: Limit, command: str, words: str) -> None:
    assert (limit.command, str(limit)) == (command, words)


def test_what_is_no_limit() -> None:
    for movetime, nodes, clocks in (
        (None, None, None),
        (-1, None, None),
        (None, 0, None),
        (None, None, (-1, 0, 0, 0)),
    ):
        with pytest.raises(ValueError, match=r"limit|at least"):
            Limit(movetime, nodes, clocks)


def test_the_seconds_that_a_search_may_take() -> None:
    clocks = Limit(clocks=(60_000, 50_000, 0, 0))
    assert [clocks.seconds(side) for side in (chess.WHITE, chess.BLACK)] == [60.0, 50.0]
    assert clocks.after(chess.BLACK, 60.0).clocks == (60_000, 0, 0, 0)
    assert clocks.after(chess.WHITE, -1.0) == clocks
    assert Limit(nodes=7).seconds(chess.WHITE) == NODES_SECONDS
