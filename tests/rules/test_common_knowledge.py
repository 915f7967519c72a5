"""Who can tell what apart: Obscuro, Fig. 1 and footnote 22, on boards and on information keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.proofs.common_knowledge import (
    FIGURE_1,
    UNREACHED,
    Histories,
    KnowledgeGraph,
    histories_from_boards,
    histories_from_keys,
    longest_distance,
    measure,
    render,
)


@pytest.fixture(scope="module")
def on_boards() -> Histories:
    return histories_from_boards()


@pytest.fixture(scope="module")
def on_keys() -> Histories:
    return histories_from_keys()


def test_two_moves_by_each_side_make_197742_histories(on_keys: Histories) -> None:
    assert len(on_keys.moves) == 197_742
    assert len(np.unique(on_keys.moves, axis=0)) == 197_742


def test_the_positions_of_figure_1_are_nine_apart(on_keys: Histories) -> None:
    start, end = map(on_keys.find, FIGURE_1)
    assert on_keys.text(start) == "1. Nc3 g5 2. Nh3 d5"
    assert on_keys.text(end) == "1. Nf3 e5 2. h3 Qh4"
    assert KnowledgeGraph(on_keys.white, on_keys.black).distances(start)[end] == 9


def test_connected_histories_are_at_most_ten_apart(on_keys: Histories) -> None:
    found = measure(on_keys)
    assert found["longest"] == 10
    text = "\n".join(render(found))
    assert "distance between connected histories is 10." in text
    assert "The two of Fig. 1 are 9 apart:" in text
    assert text.count("is the same to") == 9 and "  1. Nc3 g5 2. Nh3 d5\n" in text


@pytest.mark.slow
def test_information_keys_tell_apart_what_the_boards_do(
    on_boards: Histories, on_keys: Histories
) -> None:
    assert (on_boards.moves == on_keys.moves).all()
    for by_board, by_key in [(on_boards.white, on_keys.white), (on_boards.black, on_keys.black)]:
        pairs = np.unique(np.column_stack([by_board, by_key]), axis=0)
        assert len(pairs) == by_board.max() + 1 == by_key.max() + 1


def test_a_side_knows_its_own_moves(on_keys: Histories) -> None:
    for infosets, own in ((on_keys.white, [0, 2]), (on_keys.black, [1, 3])):
        moves = on_keys.moves[:, own]
        known = np.unique(np.column_stack([infosets, moves]), axis=0)
        assert len(known) == infosets.max() + 1


# -- the search itself, against the definition ----------------------------------------------


def all_distances(graph: KnowledgeGraph) -> np.ndarray:
    """Distances between all pairs of histories, by Floyd and Warshall."""
    white, black = graph.white, graph.black
    joined = (white[:, None] == white) | (black[:, None] == black)
    distance = np.where(joined, 1, 10**6)
    np.fill_diagonal(distance, 0)
    for via in range(len(graph)):
        distance = np.minimum(distance, distance[:, via, None] + distance[via])
    return np.where(distance >= 10**6, UNREACHED, distance)


histories = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=25)


@given(histories)
def test_distances_paths_and_diameter_are_those_of_the_definition(
    pairs: list[tuple[int, int]],
) -> None:
    white, black = np.array(pairs).T
    graph = KnowledgeGraph(white, black)
    expected = all_distances(graph)
    for start in range(len(graph)):
        assert (graph.distances(start) == expected[start]).all()
        for end in np.flatnonzero(expected[start] != UNREACHED):
            path = graph.path(start, int(end))
            assert len(path) - 1 == expected[start, end]
            assert (path[0], path[-1]) == (start, end)
    moves = np.zeros((len(pairs), 0), dtype=np.int64)
    assert longest_distance(Histories(moves, white, black)) == expected.max()
    assert sum(map(len, graph.components())) == len(graph)


def test_a_path_between_histories_that_are_not_connected_is_refused() -> None:
    with pytest.raises(ValueError, match="not connected"):
        KnowledgeGraph(np.array([0, 1]), np.array([0, 1])).path(0, 1)
