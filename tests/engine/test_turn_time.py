import pytest

from obscuro.engine.report import GoLimits
from obscuro.engine.turn_time import INCREMENT_SHARE, turn_time

RECEIVED = 1000.0


def seconds(side: int = 0, overhead: int = 0, **limits: int) -> float:
    turn = turn_time(GoLimits(RECEIVED, **limits), side, overhead)
    assert turn is not None
    return turn.deadline - RECEIVED


def longest(side: int = 0, overhead: int = 0, **limits: int) -> float:
    turn = turn_time(GoLimits(RECEIVED, **limits), side, overhead)
    assert turn is not None
    return turn.latest - RECEIVED


def test_movetime_is_used_whole_but_for_the_overhead():
    assert seconds(movetime=200, overhead=30) == pytest.approx(0.17)


def test_nodes_infinite_and_nothing_have_no_deadline():
    for limits in (
        GoLimits(RECEIVED, nodes=100),
        GoLimits(RECEIVED),
        GoLimits(RECEIVED, wtime=1000, btime=1000, infinite=True),
    ):
        assert turn_time(limits, 0, 30) is None


def test_only_our_own_clock_counts():
    assert seconds(side=0, wtime=60_000, btime=1) == seconds(side=1, wtime=1, btime=60_000)


def test_the_last_move_before_the_control_may_use_what_is_left():
    assert seconds(wtime=1000, movestogo=1, overhead=100) == pytest.approx(0.9)


@pytest.mark.parametrize("side", [0, 1])
def test_a_share_of_our_own_increment_is_added(side):
    clocks = {"wtime": 60_000, "btime": 60_000}
    ours, theirs = (("winc", "binc"), ("binc", "winc"))[side]
    plain = seconds(side=side, **clocks)
    assert seconds(side=side, **clocks, **{ours: 1000}) == pytest.approx(plain + INCREMENT_SHARE)
    assert seconds(side=side, **clocks, **{theirs: 1000}) == plain


@pytest.mark.parametrize("remaining", [0, 1, 50, 500, 5_000, 180_000])
@pytest.mark.parametrize("increment", [0, 100, 2000])
def test_a_move_never_takes_more_than_the_clock_has(remaining, increment):
    used = seconds(wtime=remaining, winc=increment, overhead=10)
    most = longest(wtime=remaining, winc=increment, overhead=10)
    assert 0 < used <= most <= max(0.01, remaining / 1000)


@pytest.mark.parametrize("use", [seconds, longest])
@pytest.mark.parametrize("increment", [0, 100, 2000])
def test_a_clock_lasts_for_a_long_game(use, increment):
    """Also if every single move takes as long as an unsettled one may."""
    remaining = 60_000.0
    played = 0
    while played < 200:
        used = use(wtime=int(remaining), winc=increment, overhead=30) * 1000
        if remaining < 40:  # lost without an increment, whatever is done
            break
        assert used < remaining
        remaining += increment - used
        played += 1
    assert played > 60
    assert remaining > 100 or increment == 0


def test_movetime_leaves_nothing_to_decide_and_a_clock_does():
    for limits, flexible in (({"movetime": 500}, False), ({"wtime": 60_000}, True)):
        turn = turn_time(GoLimits(RECEIVED, **limits), 0, 30)
        assert turn is not None and turn.flexible == flexible
