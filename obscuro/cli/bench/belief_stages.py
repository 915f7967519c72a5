"""The time of a belief update by stages.

A belief counts the seconds of its successive stages: generation (which includes the test),
deduplication, and ordering the result. The test decides in a few operations whether a position can
have any successor that fits. A separate kernel times the test alone.
"""

from __future__ import annotations

import time

from obscuro.belief.belief import Belief
from obscuro.belief.fit import requirements_of
from obscuro.belief.record import known_after_other_move
from obscuro.belief.successors import opponent_task, test_parents
from obscuro.rules.observation import Observation


def stage_seconds(belief: Belief) -> dict[str, float]:
    """Return the seconds that the belief's updates have spent in each stage so far."""
    return dict(belief.stage_seconds)


def test_seconds(belief: Belief, observation: Observation) -> float:
    """Measure the seconds to test all positions before an update; the belief does not change."""
    known = known_after_other_move(belief.known, observation)
    if known is None:
        return 0.0
    task = opponent_task(belief.known, known, *requirements_of(observation, belief.side))
    if task is None:
        return 0.0
    begin = time.perf_counter()
    test_parents(belief.records, 0, len(belief), task)
    return time.perf_counter() - begin
