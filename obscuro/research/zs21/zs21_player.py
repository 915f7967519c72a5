"""ZS21 as a player of Fog of War chess, on the engine's belief, keys and evaluators.

It takes in what its side saw, and gives out moves. No hidden fact reaches it.
"""

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from obscuro.engine.belief_player import BeliefPlayer, OwnTurn
from obscuro.engine.game_follower import Words
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Coverage
from obscuro.engine.root_states import root_keys
from obscuro.engine.turn_time import share_of
from obscuro.research.zs21.blueprint import SolvedTrunk, keep, nothing_kept
from obscuro.research.zs21.chess_trunk import ChessTrunkGame, fresh_states
from obscuro.research.zs21.planting import information_price, plant
from obscuro.research.zs21.trunk import Trunk
from obscuro.research.zs21.turn_search import TurnResult, TurnSearch
from obscuro.research.zs21.turn_writer import TurnWriter, root_coverage
from obscuro.research.zs21.zs21_constants import PLANTING_SHARE


class Zs21Player(BeliefPlayer):
    """Plays one side of one game at a time, in one thread. It needs HiGHS (`highspy`).

    options, warn: see `BeliefPlayer`.

    last_search: the last turn's search, for tests and tools; None before the first.
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        super().__init__(options, warn)
        self.last_search: TurnSearch | None = None
        self._solved: SolvedTrunk | None = None

    def choose(self, turn: OwnTurn) -> Choice:
        """Search for one of several moves.

        Whatever fails, some move is played, and the user is told.
        """
        writer = TurnWriter(turn)
        played = np.full(len(turn.names), 1.0 / len(turn.names))
        try:
            played = self._policy(turn, writer)
        except Exception as error:  # the game must go on
            self.warn(f"zs21 failed and plays any move: {type(error).__name__}: {error}")
            self.forget()
        index = int(self.random().choice(len(played), p=played))
        return Choice(turn.names[index], info=writer.last)

    def covered(self, words: Words, in_belief: bool) -> Coverage:
        """Say what the last search knew of a position uint64[8]. in_belief: whether it is in P."""
        search = self.last_search
        return Coverage(in_belief) if search is None else root_coverage(search, words, in_belief)

    def forget(self) -> None:
        """Drop the tree: the next search begins with positions of the belief alone."""
        self._solved, self.last_search = None, None

    def _policy(self, turn: OwnTurn, writer: TurnWriter) -> npt.NDArray[np.float64]:
        """Search; return the probabilities of our moves, float64[k]."""
        deadline, evaluated = turn.deadline, self.game.evaluations
        planting = share_of(deadline, time.monotonic(), PLANTING_SHARE)

        def late() -> bool:
            over = planting is not None and time.monotonic() >= planting
            return over or turn.stop.is_set()

        trunk = self._plant(turn, late)
        search = TurnSearch(trunk, information_price(trunk, len(turn.known.belief)))
        self.last_search = search

        def tell(result: TurnResult) -> None:
            turn.report(writer.write(search, result, self.game.evaluations - evaluated))

        result = search.run(deadline, turn.stop.is_set, turn.limits.nodes, tell)
        self._solved = result.solution
        if search.failure is not None:
            self.warn(f"zs21 goes on with its last solution: {search.failure}")
        elif result.solution is None:
            self.warn("zs21 had no time to solve a trunk, and plays by plain values")
        return result.policy

    def _plant(self, turn: OwnTurn, late: Callable[[], bool]) -> Trunk:
        """Make the trunk of this turn, of the last one and of positions of the belief."""
        known, random, last = turn.known, self.random(), self._solved
        kept = nothing_kept() if last is None else keep(last, known.key, random)
        if last is None:
            held = np.zeros((0, ChessTrunkGame.state_words), dtype=np.uint64)
        else:
            held = last.trunk.nodes.state[kept.node[kept.live]]
        states = fresh_states(known, held, random)
        keys = root_keys(states, known.key)
        return plant(ChessTrunkGame(self.game), last, kept, states, keys, late)
