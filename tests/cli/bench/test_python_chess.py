"""The comparison with python-chess is fair only if it finds what the belief finds."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.cli.bench import python_chess
from obscuro.cli.bench.belief_steps import new_belief, steps, take_in
from obscuro.cli.bench.recorded import RecordedGame
from obscuro.rules.position import legal_moves
from tests.belief.games import STORIES


@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
@pytest.mark.parametrize("name", STORIES)
def test_finds_what_the_belief_finds(name: str, side: int) -> None:
    fen, moves = STORIES[name]
    game = RecordedGame(name, side, fen, tuple(moves.split()), ())
    belief = new_belief(game)
    compared = 0
    for step in steps(game):
        before = belief.positions
        take_in(belief, step)
        if step.move is None and len(before) <= 300:
            boards = python_chess.boards_of(before)
            candidates, found = python_chess.update(boards, step.observation, side == 0)
            assert candidates == sum(len(legal_moves(words)) for words in before)
            expected = {python_chess.key(b) for b in python_chess.boards_of(belief.positions)}
            assert found == expected
            assert [board.move_stack for board in boards] == [[]] * len(boards)
            compared += 1
    assert compared > 0


def test_speed_is_candidates_by_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 12.0])
    monkeypatch.setattr(python_chess.time, "perf_counter", lambda: next(clock))
    game = RecordedGame("one move", 0, STORIES["castling through and out of attack"][0], (), ())
    positions = new_belief(game).positions
    observation = next(steps(game._replace(moves=("e1g1",)))).observation
    speed = python_chess.candidates_per_second(np.repeat(positions, 3, axis=0), observation, 0)
    assert speed == 3 * len(legal_moves(positions[0])) / 2.0
