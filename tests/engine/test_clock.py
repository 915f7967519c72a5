import pytest

from obscuro.engine.clock import turn_deadline
from obscuro.engine.report import GoLimits

RECEIVED = 1000.0


def seconds(side: int = 0, overhead: int = 0, **limits: int) -> float:
    deadline = turn_deadline(GoLimits(RECEIVED, **limits), side, overhead)
    assert deadline is not None
    return deadline - RECEIVED


def test_movetime_is_used_whole_but_for_the_overhead():
    assert seconds(movetime=200, overhead=30) == pytest.approx(0.17)


def test_nodes_infinite_and_nothing_have_no_deadline():
    for limits in (
        GoLimits(RECEIVED, nodes=100),
        GoLimits(RECEIVED),
        GoLimits(RECEIVED, wtime=1000, btime=1000, infinite=True),
    ):
        assert turn_deadline(limits, 0, 30) is None


def test_only_our_own_clock_counts():
    assert seconds(side=0, wtime=60_000, btime=1) == seconds(side=1, wtime=1, btime=60_000)


def test_the_last_move_before_the_control_may_use_what_is_left():
    assert seconds(wtime=1000, movestogo=1, overhead=100) == pytest.approx(0.9)


@pytest.mark.parametrize("remaining", [0, 1, 50, 500, 5_000, 180_000])
@pytest.mark.parametrize("increment", [0, 100, 2000])
def test_a_move_never_takes_more_than_the_clock_has(remaining, increment):
    used = seconds(wtime=remaining, winc=increment, overhead=10)
    assert 0 < used <= max(0.01, remaining / 1000)


def test_a_clock_lasts_for_a_long_game():
    remaining = 180_000.0
    for _ in range(150):
        used = seconds(wtime=int(remaining), winc=2000, overhead=30) * 1000
        assert used < remaining
        remaining += 2000 - used
    assert remaining > 2000
