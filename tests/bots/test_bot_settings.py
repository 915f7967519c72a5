"""Which challenges are accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from obscuro.bots.bot_settings import Policy
from obscuro.bots.events import Challenge, ServerClock

GOOD = Challenge("a", "somebody", False, "fogofwar", False, False, ServerClock(180, 2))


def test_a_good_one() -> None:
    assert Policy().judge(GOOD, 0) is None


@pytest.mark.parametrize(
    ("policy", "challenge", "running", "reason"),
    [
        (Policy(), replace(GOOD, variant="chess"), 0, "variant"),
        (Policy(), replace(GOOD, variant=""), 0, "variant"),
        (Policy(), replace(GOOD, chess960=True), 0, "variant"),
        (Policy(chess960=True), replace(GOOD, chess960=True), 0, None),
        (Policy(chess960=True), GOOD, 0, None),
        (Policy(), replace(GOOD, time=None), 0, "timeControl"),
        (Policy(unlimited=True), replace(GOOD, time=None), 0, None),
        (Policy(), replace(GOOD, time=ServerClock(29, 9)), 0, "tooFast"),
        (Policy(least_base=0), replace(GOOD, time=ServerClock(0, 9)), 0, None),
        (Policy(least_increment=3), GOOD, 0, "tooFast"),
        (Policy(most_base=60), GOOD, 0, "tooSlow"),
        (Policy(most_increment=1), GOOD, 0, "tooSlow"),
        (Policy(rated="rated"), GOOD, 0, "rated"),
        (Policy(rated="casual"), replace(GOOD, rated=True), 0, "casual"),
        (Policy(rated="casual"), GOOD, 0, None),
        (Policy(opponents="human"), replace(GOOD, is_bot=True), 0, "noBot"),
        (Policy(opponents="bot"), GOOD, 0, "onlyBot"),
        (Policy(), GOOD, 1, "later"),
        (Policy(games=2), GOOD, 1, None),
        (Policy(), replace(GOOD, variant="atomic"), 1, "variant"),
    ],
)
def test_reasons(policy: Policy, challenge: Challenge, running: int, reason: str | None) -> None:
    assert policy.judge(challenge, running) == reason
