"""Players in this process: a random mover, and our engine. `uci_player` has those in processes."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import chess

from obscuro.client.move_report import Report
from obscuro.engine.report import SearchInfo
from obscuro.matches.game_record import OWN_OBSERVATIONS, BeliefError, Turn
from obscuro.matches.time_control import Allowance
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import whole_position

if TYPE_CHECKING:
    from obscuro.engine.player import Player  # loads numba


class RandomPlayer:
    """Plays every legal move with the same probability. It looks at nothing but the legal moves."""

    told = OWN_OBSERVATIONS

    def __init__(self, name: str = "random") -> None:
        self.name = name
        self._random = random.Random(0)

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Start a sequence of random moves that depends on the seed alone."""
        self._random = random.Random(seed)

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Choose a move at once."""
        return Turn(self._random.choice(sorted(move.uci() for move in board.legal_moves)))

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Do nothing: the player remembers nothing."""

    def close(self) -> None:
        """Do nothing: the player holds no resources."""


class InProcessPlayer:
    """Our engine in this process. It learns only what its side sees.

    player: the engine; `close` closes it. check_belief: after every ply of both sides, update the
    belief, look for the true position in it, and raise BeliefError if an exact belief lacks it.
    The clock does not count this time, so the measured times then mean less.
    """

    told = OWN_OBSERVATIONS

    def __init__(
        self, player: Player, *, name: str = "obscuro", check_belief: bool = False
    ) -> None:
        self.name = name
        self.player = player
        self._check_belief = check_belief
        self._color: chess.Color = chess.WHITE
        self._checks = 0

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Start a new game from this position."""
        from obscuro.rules.position import from_board  # noqa: PLC0415 - loads numba

        self._color = color
        self._checks = 0
        self.player.new_game(0 if color == chess.WHITE else 1, from_board(board))

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Search. On Ctrl-C, stop the search first and then raise KeyboardInterrupt."""
        begin = time.monotonic()
        stop = threading.Event()
        reports: list[SearchInfo] = []
        limits = allowance.limits(begin)
        with ThreadPoolExecutor(max_workers=1) as executor:
            future = executor.submit(self.player.search, limits, stop, reports.append)
            try:
                choice = future.result()
            except BaseException:
                stop.set()
                raise
        seconds = time.monotonic() - begin
        info = choice.info or (reports[-1] if reports else None)
        report = Report.of_search(info) if info is not None else None
        checks, self._checks = self._checks, 0
        return Turn(choice.move or "(none)", seconds, report, checks)

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Pass this side's observation to the engine. Raises BeliefError."""
        last_ply(board, self._color).tell(self.player)
        if self._check_belief:
            self._check(board)

    def _check(self, board: FogOfWarBoard) -> None:
        from obscuro.rules.position import from_board  # noqa: PLC0415 - loads numba

        self.player.update()
        if not self.player.belief_exact:
            return
        if not self.player.belief_contains(from_board(board)):
            raise BeliefError(
                f"{self.name} ({chess.COLOR_NAMES[self._color]}) has {self.player.belief_size} "
                f"positions in its belief, but not the true one: {board.epd(en_passant='legal')} "
                f"after {whole_position(board)}"
            )
        self._checks += 1

    def close(self) -> None:
        """Close the engine."""
        self.player.close()
