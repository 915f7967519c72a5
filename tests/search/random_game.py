"""A game made of random numbers, with hidden moves, chance and many histories in an infoset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import mix
from obscuro.search.game import CHANCE, MAX, MIN, Expansion
from obscuro.search.subgame import NewRoots

OUR_KEY: Final = 12345
"""▲'s key in the root states that are in its own infoset."""

_SEEN, _END, _VALUE, _FAILS = range(1, 5)


class RandomGame:
    """Everything follows from hashes. A state is the hash of the history, and its ply.

    The players move by turns as `movers` says. The one who moves has up to `max_actions` actions;
    the others are shown one bit of where the move led, and chance's moves show both players a bit.
    """

    state_words: int = 2
    position_words: int = 2

    def __init__(
        self,
        seed: int,
        *,
        plies: int = 8,
        movers: tuple[int, ...] = (MAX, MIN, MAX, CHANCE, MIN),
        max_actions: int = 3,
    ) -> None:
        self.seed = seed
        self.plies = plies
        self.movers = movers
        self.max_actions = max_actions

    def mover(self, ply: int) -> int:
        return self.movers[ply % len(self.movers)]

    def value(self, state: int) -> float:
        return mix(mix(self.seed, state), _VALUE) / 2**63 - 1

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        players: list[int] = []
        offsets = [0]
        child_states: list[tuple[int, int]] = []
        child_keys: list[tuple[int, int]] = []
        chances: list[float] = []
        for (state, ply), own_keys in zip(states.tolist(), keys.tolist(), strict=True):
            mover = self.mover(ply)
            players.append(mover)
            knows = own_keys[mover] if mover != CHANCE else state
            count = 1 + mix(self.seed, knows) % self.max_actions
            for action in range(count):
                child = mix(mix(self.seed, state), action)
                child_states.append((child, ply + 1))
                child_keys.append(
                    (
                        self._chain(own_keys[MAX], child, action, mover, MAX),
                        self._chain(own_keys[MIN], child, action, mover, MIN),
                    )
                )
            weights = [mix(mix(self.seed, state), 64 + a) % 5 + (a == 0) for a in range(count)]
            chances.extend(w / sum(weights) if mover == CHANCE else 0.0 for w in weights)
            offsets.append(len(child_states))
        return self._expansion(players, offsets, child_states, child_keys, chances)

    def _expansion(
        self,
        players: list[int],
        offsets: list[int],
        child_states: list[tuple[int, int]],
        child_keys: Sequence[Sequence[int]],
        chances: list[float],
    ) -> Expansion:
        return Expansion(
            player=np.array(players, np.int8),
            offsets=np.array(offsets, np.int64),
            states=np.array(child_states, np.uint64).reshape(-1, 2),
            keys=np.array(child_keys, np.uint64).reshape(-1, 2),
            values=np.array([self.value(state) for state, _ in child_states], np.float32),
            terminal=np.array([self._ends(*child) for child in child_states], np.uint8),
            chance=np.array(chances, np.float32),
        )

    def roots(
        self, infosets: int, histories: int, rng: np.random.Generator, ply: int = 0
    ) -> NewRoots:
        """`infosets` of ▼'s with 1 to `histories` states each; three in four are in our infoset."""
        sizes = rng.integers(1, histories + 1, infosets)
        total = int(sizes.sum())
        states = [(int(rng.integers(1, 2**63)), ply) for _ in range(total)]
        ours = [OUR_KEY if rng.random() < 0.75 else 999 for _ in range(total)]
        ours[0] = OUR_KEY
        theirs = np.repeat(rng.integers(1, 2**63, infosets), sizes)
        weights = np.concatenate([rng.dirichlet(np.ones(size)) for size in sizes])
        return NewRoots(
            offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            states=np.array(states, np.uint64),
            keys=np.stack((np.array(ours, np.uint64), theirs.astype(np.uint64)), axis=1),
            weights=weights.astype(np.float32),
            values=np.array([self.value(state) for state, _ in states], np.float32),
            alternate=rng.uniform(-0.4, 0.4, infosets).astype(np.float32),
        )

    def _ends(self, state: int, ply: int) -> bool:
        return ply >= self.plies or mix(mix(self.seed, state), _END) % 16 == 0

    def _chain(self, key: int, child: int, action: int, mover: int, player: int) -> int:
        if mover == player:
            return mix(key, action + 1)
        shown = mix(mix(self.seed, child), _SEEN + 16 * player) % 4 == 0
        return mix(mix(key, 0), int(shown))


class UntimedRandomGame(RandomGame):
    """A random game whose players do not know how many plies were made.

    Half of all actions fail: their player notices, the other one does not, and it tries again. An
    action that succeeds shows the other player one bit. So a ▼-infoset lies in several plies, some
    of its histories below others, and so does ▲'s. The second word of a state is twice its ply, plus 1
    if it is ▼'s turn.
    """

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        players: list[int] = []
        offsets = [0]
        child_states: list[tuple[int, int]] = []
        child_keys: list[list[int]] = []
        for (state, clock), own_keys in zip(states.tolist(), keys.tolist(), strict=True):
            mover = clock % 2
            players.append(mover)
            for action in range(1 + mix(self.seed, own_keys[mover]) % self.max_actions):
                child = mix(mix(self.seed, state), action)
                fails = mix(child, _FAILS) % 2
                below = list(own_keys)
                below[mover] = mix(mix(own_keys[mover], action + 1), fails)
                if not fails:
                    below[1 - mover] = mix(own_keys[1 - mover], mix(child, _SEEN) % 4 // 3)
                child_keys.append(below)
                turn = mover if fails else 1 - mover
                child_states.append((child, clock - mover + 2 + turn))
            offsets.append(len(child_states))
        no_chance = [0.0] * len(child_states)
        return self._expansion(players, offsets, child_states, child_keys, no_chance)
