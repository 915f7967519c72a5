"""How an update's time divides into stages.

A belief counts the seconds of the stages that follow each other: generation, with the test in it,
deduplication, and putting the result in order. The test alone, which decides with a few operations
whether a position can have a successor that fits at all, is timed beside it by a kernel of its own.
This is the one part of the benchmark that looks inside a belief.
"""

from __future__ import annotations

import time

from obscuro.belief.belief import Belief
from obscuro.belief.record import known_after_other_move
from obscuro.belief.successors import opponent_task, test_parents
from obscuro.fog.observation import Observation


def stage_seconds(belief: Belief) -> dict[str, float]:
    """The seconds that the belief's updates have spent in each stage so far."""
    return dict(belief.stage_seconds)


def test_seconds(belief: Belief, observation: Observation) -> float:
    """The seconds that it takes to test all positions before an update; P stays as it is."""
    known = known_after_other_move(belief._known, observation)
    if known is None:
        return 0.0
    task = opponent_task(belief._known, known, *belief._requirements(observation))
    if task is None:
        return 0.0
    begin = time.perf_counter()
    test_parents(belief._records, 0, len(belief), task)
    return time.perf_counter() - begin
