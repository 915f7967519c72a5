"""Who is connected with whom, against paths found one by one."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obscuro.matches.rating import connected_groups, loose_players, tiers

PLAYERS = 6
Game = tuple[int, int, float]
GAMES = st.lists(
    st.tuples(
        st.integers(0, PLAYERS - 1), st.integers(0, PLAYERS - 1), st.sampled_from([0.0, 0.5, 1.0])
    ).filter(lambda game: game[0] != game[1]),
    max_size=10,
)


def arrays(games: list[Game]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    white, black, scores = zip(*games, strict=True) if games else ((), (), ())
    return np.array(white, int), np.array(black, int), np.array(scores, float)


def is_path(steps: set[tuple[int, int]], begin: int, end: int) -> bool:
    """Whether steps lead from one player to another, by a search of its own."""
    seen, pending = {begin}, [begin]
    while pending:
        here = pending.pop()
        fresh = {there for start, there in steps if start == here} - seen
        seen |= fresh
        pending.extend(fresh)
    return end in seen


@given(GAMES)
def test_groups_are_players_with_a_path_of_meetings(games: list[Game]) -> None:
    white, black, _ = arrays(games)
    groups = connected_groups(white, black, PLAYERS)
    steps = {(one, two) for a, b, _ in games for one, two in ((a, b), (b, a))}
    for one, two in itertools.combinations(range(PLAYERS), 2):
        assert (groups[one] == groups[two]) == is_path(steps, one, two)


@given(GAMES)
def test_tiers_are_players_with_points_both_ways(games: list[Game]) -> None:
    found = tiers(*arrays(games), PLAYERS)
    steps = {(a, b) for a, b, score in games if score > 0}
    steps |= {(b, a) for a, b, score in games if score < 1}
    for one, two in itertools.combinations(range(PLAYERS), 2):
        both = is_path(steps, one, two) and is_path(steps, two, one)
        assert (found[one] == found[two]) == both


def test_groups_count_in_the_order_of_their_players() -> None:
    white, black = np.array([4, 3, 2, 0]), np.array([3, 2, 5, 1])
    assert connected_groups(white, black, 7).tolist() == [0, 0, 1, 1, 1, 1, 2]
    assert connected_groups(white[:0], black[:0], 0).tolist() == []


def test_a_player_in_the_middle_can_be_loose() -> None:
    # 0 and 1 beat each other and all others; 2 beats 3 alone. 4 and 5 never met them.
    games = [(0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0), (3, 1, 0.0), (2, 3, 1.0), (4, 5, 0.5)]
    white, black, scores = arrays(games)
    groups = connected_groups(white, black, 6)
    found = tiers(white, black, scores, 6)
    assert found.tolist() == [0, 0, 1, 2, 3, 3]
    assert loose_players(groups, found).tolist() == [False, False, True, True, False, False]
