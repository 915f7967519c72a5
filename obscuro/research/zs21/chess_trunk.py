"""Fog of War chess as ZS21 sees it: rules, keys and values by the engine, and forcing moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.engine.chess_game import STATE_WORDS, ChessGame
from obscuro.engine.knowledge import Knowledge
from obscuro.engine.roots import sample_root_states
from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.kernels import kernel
from obscuro.research.zs21.blueprint import CarriedRoots, SolvedTrunk, copy_subtrees
from obscuro.research.zs21.trunk import (
    CHANCE,
    LEAF,
    MAX,
    Floats,
    GrownLeaves,
    Trunk,
    TrunkGame,
    TrunkRoots,
    Words,
)
from obscuro.research.zs21.zs21_constants import CHUNK, INFORMATION_PRICE, LEAST_ROOTS
from obscuro.rules.bits import popcount
from obscuro.rules.layout import PAWNS, WORDS
from obscuro.rules.moves import occupied_squares, pieces_of, side_to_move
from obscuro.rules.position import load
from obscuro.rules.tables import TABLES


class ChessTrunkGame:
    """The game with one evaluator, as `obscuro.engine.chess_game` has it.

    Draw counters are no part of a transposition's identity (K, B.1).
    """

    state_words = STATE_WORDS
    identity_words = WORDS

    def __init__(self, game: ChessGame) -> None:
        self.game = game

    def grow(self, states: Words, keys: Words) -> GrownLeaves:
        """Return the children of leaves uint64[B, 9] with keys uint64[B, 2]; see `TrunkGame`."""
        expansion = self.game.expand(np.ascontiguousarray(states), np.ascontiguousarray(keys))
        return GrownLeaves(
            expansion.player,
            expansion.offsets,
            expansion.states,
            expansion.keys,
            expansion.values.astype(np.float64),
            expansion.terminal.astype(np.bool_),
            forcing_moves(TABLES, states, expansion.offsets, expansion.states),
            np.ones(len(expansion.values)),
        )


def fresh_states(known: Knowledge, held: Words, random: np.random.Generator) -> Words:
    """Draw positions of the belief that become roots beside those that the last trunk holds.

    known: up to date. held: uint64[n, 9], the states of our infoset that the last trunk holds.
    Returns uint64[m, 9]: with them there are `LEAST_ROOTS` in all, if the belief has enough.
    """
    return sample_root_states(known, min(len(known.belief), LEAST_ROOTS) - len(held), held, random)


@kernel
def mark_forcing(tables, parents, offsets, children, forcing):
    """Write which children are reached by a forcing move: bool[N].

    parents: uint64[B, ≥ 8]. offsets: int64[B + 1], where each parent's children start. children:
    uint64[N, ≥ 8]. A check attacks the king, whether its owner sees that or not.
    """
    for index in range(parents.shape[0]):
        pos = load(parents, index)
        mover = side_to_move(pos)
        pieces = popcount(occupied_squares(pos))
        pawns = popcount(pos[PAWNS] & pieces_of(pos, mover))
        for i in range(offsets[index], offsets[index + 1]):
            child = load(children, i)
            forcing[i] = (
                popcount(occupied_squares(child)) < pieces
                or popcount(child[PAWNS] & pieces_of(child, mover)) < pawns
                or king_is_attacked(tables, child, 1 - mover)
            )


def forcing_moves(
    tables: object, parents: np.ndarray, offsets: np.ndarray, children: np.ndarray
) -> np.ndarray:
    """Return which children are reached by a forcing move, bool[N]; see `mark_forcing`."""
    forcing = np.empty(len(children), dtype=np.bool_)
    mark_forcing(tables, parents, offsets, children, forcing)
    return forcing


def plant(
    game: TrunkGame,
    last: SolvedTrunk | None,
    kept: CarriedRoots,
    states: Words,
    keys: Words,
    late: Callable[[], bool],
) -> Trunk:
    """Make the trunk of a turn and expand its roots.

    last, kept: the last trunk and what is kept of it. states, keys: uint64[N, W] and uint64[N, 2],
    other possible states. ▼ is assumed to know each of them (K, D.3). The alternate value of such a
    J is the state's value, at most û. late: asked after each chunk; once it is true no more roots
    are added.
    """
    growths: list[GrownLeaves] = []
    done = 0
    while done < len(states) and not (late() and (done or len(kept.node))):
        chunk = slice(done, done + CHUNK)
        growths.append(game.grow(states[chunk], keys[chunk]))
        done = min(done + CHUNK, len(states))
    values = np.array([value for growth in growths for value in state_values(growth)])
    old = last.trunk.nodes if last is not None else None
    groups = len(kept.alternate)

    def joined(of_kept: Any, of_fresh: Any, dtype: type) -> NDArray[Any]:
        return np.concatenate((np.asarray(of_kept, dtype), np.asarray(of_fresh, dtype)))

    no_states, no_keys = np.zeros((0, game.state_words)), np.zeros((0, 2))
    trunk = Trunk(
        game,
        TrunkRoots(
            states=joined(old.state[kept.node] if old else no_states, states[:done], np.uint64),
            keys=joined(old.key[kept.node] if old else no_keys, keys[:done], np.uint64),
            group=joined(kept.group, np.arange(groups, groups + done), np.int64),
            weight=joined(kept.weight, np.ones(done), np.float64),
            values=joined(old.value[kept.node] if old else [], values, np.float64),
            live=joined(kept.live, np.ones(done), np.bool_),
            alternate=joined(kept.alternate, np.minimum(values, kept.value), np.float64),
        ),
    )
    if last is not None:
        copy_subtrees(last, kept, trunk)
        trunk.carried, trunk.fresh = len(trunk) - done, done
    begin = len(kept.node)
    for growth in growths:
        end = begin + len(growth.player)
        trunk.attach(np.arange(begin, end), growth)
        begin = end
    roots = np.arange(len(kept.node))
    nodes = trunk.nodes
    waiting = roots[(nodes.first[roots] == LEAF) & nodes.live[roots]]
    for begin in range(0, len(waiting), CHUNK):
        trunk.expand(waiting[begin : begin + CHUNK])
        if late():
            break
    return trunk


def state_values(growth: GrownLeaves) -> list[float]:
    """Return the value of each expanded state: that of the mover's best child."""
    found = []
    parts = np.split(growth.values, growth.offsets[1:-1])
    for player, part in zip(growth.player.tolist(), parts, strict=True):
        if player == CHANCE:
            found.append(float(part.mean()))
        else:
            found.append(float(part.max() if player == MAX else part.min()))
    return found


def entropies(trunk: Trunk) -> Floats:
    """Return the entropy of our next observation after each of our actions, in bits: float64[k].

    The live roots that are expanded are taken to be equally likely (K, D.3).
    """
    nodes = trunk.nodes
    roots = np.arange(trunk.roots)
    roots = roots[nodes.live[roots] & (nodes.first[roots] != LEAF)]
    width = int(nodes.degree[roots[0]])
    keys = nodes.key[nodes.first[roots][:, np.newaxis] + np.arange(width), MAX]
    found = np.empty(width)
    for action in range(width):
        _, counts = np.unique(keys[:, action], return_counts=True)
        share = counts / len(roots)
        found[action] = -(share * np.log2(share)).sum()
    return found


def information_price(trunk: Trunk, positions: int) -> Floats:
    """Return what each of our actions costs, float64[k]: 2^(-entropy) · |I| / M (K, D.3).

    positions: |I|. It makes us look around before I grows too large to keep.
    """
    price: Floats = 2.0 ** -entropies(trunk) * positions / INFORMATION_PRICE
    return price
