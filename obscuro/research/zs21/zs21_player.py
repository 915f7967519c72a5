"""ZS21 as a player of Fog of War chess, on the engine's belief, keys and evaluators.

It takes in what its side saw, and gives out moves. No hidden fact reaches it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from obscuro.engine.chess_game import ChessGame
from obscuro.engine.game_follower import OwnTurn
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Coverage, SearchInfo
from obscuro.engine.roots import root_keys
from obscuro.engine.turn_time import share_of
from obscuro.evaluation.evaluator import Evaluator, EvaluatorFailed
from obscuro.evaluation.scale import centipawns_of_value
from obscuro.players.belief_player import BeliefPlayer
from obscuro.research.zs21.blueprint import SolvedTrunk, keep, nothing_kept
from obscuro.research.zs21.chess_trunk import ChessTrunkGame, fresh_states, information_price, plant
from obscuro.research.zs21.child_search import ChildSearch
from obscuro.research.zs21.deepening import DeepStockfish
from obscuro.research.zs21.trunk import LEAF, MIN, Trunk, Words
from obscuro.research.zs21.turn_search import TurnResult, TurnSearch
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
        self._deep: DeepStockfish | None = None  # the baseline's
        self._value = np.inf  # ours, at the last turn; infinite if nothing was solved

    def new_evaluator(self) -> Evaluator:
        """Make the evaluator that the options name, which may search each child."""
        evaluator = super().new_evaluator()
        return ChildSearch(evaluator) if self.options.integer("child_depth") else evaluator

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Load or compile all kernels and start the evaluators; see `BeliefPlayer`."""
        super().prepare(progress)
        deep = self._deepener()
        if deep is not None:
            with contextlib.suppress(EvaluatorFailed):  # a search warns, and does without
                deep.evaluator.start()

    def close(self) -> None:
        """End all child processes; see `BeliefPlayer`."""
        super().close()
        if self._deep is not None:
            self._deep.evaluator.close()
        self._deep = None

    def choose_move(self, turn: OwnTurn) -> Choice:
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
        self._solved, self.last_search, self._value = None, None, np.inf
        if self._deep is not None:
            self._deep.evaluator.forget()

    def _policy(self, turn: OwnTurn, writer: TurnWriter) -> npt.NDArray[np.float64]:
        """Search; return the probabilities of our moves, float64[k]."""
        deep, deepen = self._deepener(), None
        games = [self.game] if deep is None else [self.game, deep.game]
        deadline, evaluated = turn.deadline, _evaluations(games)
        planting = share_of(deadline, time.monotonic(), PLANTING_SHARE)

        def late() -> bool:
            over = planting is not None and time.monotonic() >= planting
            return over or turn.stop.is_set()

        trunk = self._plant(turn, late)
        if deep is not None:
            deep.game.set_turn(turn.known.side, turn.known.repeated())
            deepen = deep.deepen(trunk, self._value)
        search = TurnSearch(trunk, information_price(trunk, len(turn.known.belief)), deepen)
        self.last_search = search

        def tell(result: TurnResult) -> None:
            turn.tell(writer.write(search, result, _evaluations(games) - evaluated))

        result = search.run(deadline, turn.stop.is_set, turn.limits.nodes, tell)
        self._solved = None if deepen is not None else result.solution
        self._value = result.value if result.solution is not None else np.inf
        if search.failure is not None:
            self.warn(f"zs21 goes on with its last solution: {search.failure}")
        elif result.solution is None:
            self.warn("zs21 had no time to solve a trunk, and plays by plain values")
        return result.policy

    def _deepener(self) -> DeepStockfish | None:
        """Return the baseline's Stockfish, or None for K's agent."""
        if self._deep is None and self.options.flag("baseline"):
            self._deep = DeepStockfish(
                self.options.text("Stockfish") or None,
                self.options.number("tau"),
                self.options.text("Stalemate"),
                self.warn,
            )
        return self._deep

    def _plant(self, turn: OwnTurn, late: Callable[[], bool]) -> Trunk:
        """Make the trunk of this turn, of the last one and of positions of the belief."""
        known, random, last = turn.known, self.random(), self._solved
        kept = nothing_kept() if last is None else keep(last, known.key, random)
        if self._deep is not None:  # a trunk of one ply holds no infoset of ours but its root
            kept = kept._replace(value=self._value)
        if last is None:
            held = np.zeros((0, ChessTrunkGame.state_words), dtype=np.uint64)
        else:
            held = last.trunk.nodes.state[kept.node[kept.live]]
        states = fresh_states(known, held, random)
        keys = root_keys(states, known.key)
        return plant(ChessTrunkGame(self.game), last, kept, states, keys, late)


def _evaluations(games: list[ChessGame]) -> int:
    return sum(game.evaluations for game in games)


class TurnWriter:
    """Writes the reports of one turn.

    last: the last report; None before the first.
    """

    def __init__(self, turn: OwnTurn) -> None:
        self.last: SearchInfo | None = None
        self._turn = turn

    def write(self, search: TurnSearch, result: TurnResult, evaluations: int) -> SearchInfo:
        """Report a search after a round.

        `iterations` are the linear programs solved, `depth` is the mean depth of expanded nodes.
        evaluations: the children evaluated in this turn.
        """
        belief, trunk = self._turn.known.belief, search.trunk
        nodes = trunk.nodes
        expanded = nodes.depth[nodes.first != LEAF]
        policy = [
            (name, float(share))
            for name, share in zip(self._turn.names, result.policy, strict=True)
            if share > 0.0
        ]
        policy.sort(key=lambda pair: -pair[1])
        solution = result.solution
        self.last = SearchInfo(
            depth=float(expanded.mean()) + 1.0,
            seldepth=int(nodes.depth.max()),
            nodes=search.added,
            milliseconds=int((time.monotonic() - self._turn.limits.received) * 1000),
            value=result.value,
            centipawns=centipawns_of_value(result.value, self._turn.tau),
            line=[policy[0][0]],
            belief=len(belief),
            exact=bool(belief.exact),
            sampled=trunk.fresh,
            carried=trunk.carried,
            infosets=len(trunk.tables[0]) + len(trunk.tables[1]),
            iterations=result.programs,
            expansions=result.expansions,
            evaluations=evaluations,
            gadget="maxmargin" if solution is None else solution.profile.gadget,
            roots=int(nodes.live[: trunk.roots].sum()),
            policy=policy,
            play=policy,
        )
        return self.last


def root_coverage(search: TurnSearch, words: Words, in_belief: bool) -> Coverage:
    """Say what a turn's search knew of a position uint64[8] among its roots.

    in_belief: whether the belief holds it. The weight is ▼'s probability of the position's J, which
    is 0 if nothing was solved.
    """
    trunk, solution = search.trunk, search.result.solution
    nodes = trunk.nodes
    roots = np.flatnonzero(nodes.live[: trunk.roots])
    same = roots[(nodes.state[roots, : len(words)] == words).all(axis=1)]
    weight = 0.0
    if solution is not None and len(same):
        y = solution.profile.y[: trunk.groups]
        weight = float(y[nodes.sequence[same, MIN]].sum() / (y.sum() or 1.0))
    return Coverage(
        in_belief,
        in_infoset=bool(len(same)),
        expanded=bool((nodes.first[same] != LEAF).any()),
        weight=weight,
    )
