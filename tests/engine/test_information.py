"""What a move tells us, by kernels and by plain Python, and its way into the search."""

from __future__ import annotations

import math
from collections import Counter
from threading import Event

import numpy as np
import pytest

from obscuro.engine.information import LOOKED_AT, REPLIES, information_gain, remaining_bits
from obscuro.engine.player import Player
from obscuro.rules.layout import KINGS, MAX_MOVES
from obscuro.rules.make import make_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen, legal_moves
from obscuro.rules.tables import TABLES
from obscuro.search.tree import find_infoset

from .given_options import options
from .test_player import go, tell

GAME = "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6"
NEVER = Event()


def player_in_fog(**values: object) -> Player:
    player = Player(options(**values), lambda text: None)
    tell(player, 0, GAME)
    player.update()
    return player


def has_king(position: np.ndarray, side: int) -> bool:
    colour = position[6] if side == 0 else ~position[6]
    return bool(position[KINGS] & colour)


def naive_bits(positions: np.ndarray, move: int, side: int) -> float:
    """See `remaining_bits`, of one move."""
    looks: Counter[tuple[str, str]] = Counter()
    for position in positions:
        child = np.array(make_move(tuple(position), np.uint32(move)), dtype=np.uint64)
        if not has_king(child, 1 - side):
            continue
        before = Observation.of(child, side).text()
        for reply in legal_moves(child):
            after = np.array(make_move(tuple(child), reply), dtype=np.uint64)
            if has_king(after, side):
                looks[before, Observation.of(after, side).text()] += 1
    total = sum(looks.values())
    return sum(n * math.log2(n) for n in looks.values()) / total if total else 0.0


def bits_of(positions: np.ndarray, side: int = 0, room: int = 100_000) -> np.ndarray:
    moves = legal_moves(positions[0])
    bits = np.full(len(moves), -1, dtype=np.float32)
    scratch = np.zeros(MAX_MOVES, np.uint32), np.zeros(room, np.uint64)
    remaining_bits(TABLES, positions, moves, side, *scratch, bits)
    return bits


def test_bits_are_those_of_plain_python() -> None:
    player = player_in_fog()
    belief = player.knowledge.belief
    positions = belief.sample(7, np.random.default_rng(1))
    bits = bits_of(positions)
    for move, found in zip(player.knowledge.legal_moves(), bits, strict=True):
        assert found == pytest.approx(naive_bits(positions, int(move), 0), abs=1e-5)
    assert np.ptp(bits) > 0.5
    player.close()


def test_a_move_that_takes_the_king_leaves_nothing_to_know() -> None:
    position = from_fen("4k3/8/8/8/8/8/8/4R2K w - - 0 1").reshape(1, 8)
    moves = legal_moves(position[0])
    bits = bits_of(position)
    taken = [not has_king(np.array(make_move(tuple(position[0]), m)), 1) for m in moves]
    assert sum(taken) == 1
    assert bits[taken].tolist() == [0]
    assert (bits[np.logical_not(taken)] > 0).all()


def test_continuations_without_room_are_left_out() -> None:
    player = player_in_fog()
    positions = player.knowledge.belief.sample(LOOKED_AT, np.random.default_rng(1))
    assert (bits_of(positions, room=5) <= math.log2(5)).all()
    assert np.array_equal(bits_of(positions, room=LOOKED_AT * REPLIES), bits_of(positions))
    player.close()


def test_a_gain_is_at_most_nothing_and_the_same_each_time() -> None:
    player = player_in_fog()
    gain = information_gain(player.knowledge)
    assert gain.max() == 0 and gain.min() < -1
    assert len(gain) == len(player.knowledge.legal_moves())
    assert np.array_equal(gain, information_gain(player.knowledge))
    player.close()


def test_what_is_certain_leaves_nothing_to_gain() -> None:
    player = Player(options(), lambda text: None)
    tell(player, 0, "")
    player.update()
    assert not information_gain(player.knowledge).any()
    player.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_search_prefers_moves_that_tell_much_and_says_what_they_are_worth(threads: int) -> None:
    told: list[float] = []
    values: list[float] = []
    for pawns in (0, 5):
        player = player_in_fog(information_gain=pawns, Threads=threads)
        choice = player.search(go(nodes=3000), NEVER)
        assert choice.info is not None
        search = player.equipment.search
        own = int(find_infoset(search.tree, search.our_key))
        gain = information_gain(player.knowledge)
        assert search.tree.infoset_actions[own] == len(gain)
        first = int(search.tree.infoset_first[own])
        told.append(float(search.tree.strategy[first : first + len(gain)] @ gain))
        values.append(choice.info.value)
        player.close()
    assert told[1] > told[0] + 0.3
    assert values[1] < values[0]
