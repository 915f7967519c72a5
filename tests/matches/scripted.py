"""Players for tests: one that follows a script, and an engine that chooses at random."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence

import chess
import numpy as np
import numpy.typing as npt

from obscuro.client.move_report import Report
from obscuro.engine.report import Choice, GoLimits, SearchInfo
from obscuro.matches.game_record import OWN_OBSERVATIONS, Forfeit, Turn
from obscuro.matches.time_control import Allowance
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.make import make_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, legal_moves, move_squares, move_to_uci

Words = npt.NDArray[np.uint64]


class Scripted:
    """Plays these moves in order, then resigns.

    pawns: what it says of each move, in its own view; where they end, it says nothing.
    """

    told = OWN_OBSERVATIONS

    def __init__(
        self, moves: Sequence[str], name: str = "script", pawns: Sequence[float] = ()
    ) -> None:
        self.name = name
        self._moves = moves
        self._pawns = pawns
        self._next = 0
        self.heard: list[str] = []
        self.closed = 0

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        self._next = 0
        self.heard = []

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        if self._next == len(self._moves):
            raise Forfeit("resigned")
        turn, self._next = self._next, self._next + 1
        told = Report(centipawns=100 * self._pawns[turn]) if turn < len(self._pawns) else None
        return Turn(self._moves[turn], report=told)

    def after_ply(self, board: FogOfWarBoard) -> None:
        self.heard.append(board.peek().uci())

    def close(self) -> None:
        self.closed += 1


class FakePlayer:
    """Has the interface of the engine's Player. It needs to be told nothing but observations.

    What its last observation shows has the same own moves as the true position, among those to
    squares that it sees: a pawn does not see what blocks it.
    """

    def __init__(self, seed: int = 1, *, wrong: bool = False) -> None:
        self._random = random.Random(seed)
        self._wrong = wrong
        self._side = 0
        self._words: Words | None = None
        self._seen = 0
        self.prepared = False
        self.closed = 0
        self.plies: list[str | None] = []

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        if progress is not None:
            progress("one step")
        self.prepared = True

    def new_game(self, side: int, start: Words) -> None:
        self._side = side
        self._words = start
        self._seen = Observation.of(start, side).seen
        self.plies = []

    def own_move(self, uci: str, observation: Observation | None) -> None:
        assert self._words is not None
        move = find_move(self._words, uci)
        assert move is not None
        self._words = np.array(make_move(tuple(self._words), move), dtype=np.uint64)
        self.plies.append(uci)

    def opponent_move(self, observation: Observation) -> None:
        state = np.uint64(self._side | (observation.en_passant or 0) << 5)
        self._words = np.array([*observation.boards, state], dtype=np.uint64)
        self._seen = observation.seen
        self.plies.append(None)

    def update(self) -> None:
        pass

    def search(
        self, limits: GoLimits, stop: threading.Event, report: Callable[[SearchInfo], None]
    ) -> Choice:
        assert self._words is not None
        moves = sorted(
            move_to_uci(move)
            for move in legal_moves(self._words)
            if self._seen >> move_squares(move)[1] & 1
        )
        move = self._random.choice(moves)
        info = SearchInfo(
            depth=2.5,
            seldepth=4,
            nodes=1234,
            milliseconds=5,
            value=0.1,
            centipawns=60,
            line=[move],
            belief=self.belief_size,
            exact=True,
            sampled=1,
            carried=2,
            infosets=3,
            iterations=4,
            expansions=5,
            evaluations=6,
            gadget="maxmargin",
            policy=[(move, 0.9), (moves[0], 0.1)],
            play=[(move, 1.0)],
        )
        report(info)
        return Choice(move, info=info)

    @property
    def belief_size(self) -> int:
        return 4321

    @property
    def belief_exact(self) -> bool:
        return True

    def belief_contains(self, words: Words) -> bool:
        return not self._wrong

    def close(self) -> None:
        self.closed += 1
