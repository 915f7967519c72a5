from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obscuro.research.games.extensive_form import event, initial_key, mix
from obscuro.search.game import MAX, MIN

words = st.integers(min_value=0, max_value=2**64 - 1)


@given(words, words)
def test_integers_and_arrays_mix_alike(key: int, word: int) -> None:
    pair = mix(np.array([key], np.uint64), np.array([word], np.uint64))
    assert pair.dtype == np.uint64
    assert pair.tolist() == [mix(key, word)]
    assert 0 < mix(key, word) < 2**64


def test_mixing_minds_the_order() -> None:
    assert mix(mix(1, 2), 3) != mix(mix(1, 3), 2)


def test_small_words_do_not_collide() -> None:
    grid = {mix(key, word) for key in range(300) for word in range(300)}
    assert len(grid) == 300 * 300


def test_event_tells_own_action_and_every_part_of_the_observation() -> None:
    plies = [(None, ()), (0, ()), (1, ()), (None, (0,)), (None, (0, 0)), (None, (1, 0)), (0, (-1,))]
    assert len({event(action, seen) for action, seen in plies}) == len(plies)


def test_players_start_with_different_keys() -> None:
    assert initial_key(MAX, (0,)) != initial_key(MIN, (0,))
