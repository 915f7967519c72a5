"""The trunk at the start of a turn: what the last one keeps, and positions of the belief."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.research.zs21.blueprint import CarriedRoots, SolvedTrunk, copy_subtrees
from obscuro.research.zs21.trunk import LEAF, Floats, Trunk, TrunkRoots
from obscuro.research.zs21.trunk_game import CHANCE, MAX, GrownLeaves, TrunkGame, Words
from obscuro.research.zs21.zs21_constants import CHUNK, INFORMATION_PRICE


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
    values = np.array([value for growth in growths for value in _values(growth)])
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


def _values(growth: GrownLeaves) -> list[float]:
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
