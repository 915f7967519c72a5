"""An engine looks at a game that is over, turn by turn, with what the side to move knew.

It is told no more than a player is told (`position fog`). The true position comes into a question
only after the search, and the engine does not use the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import chess
import chess.pgn

from obscuro.client.engine import COMPARES, READS_OBSERVATIONS, TELLS_COVERAGE, Engine
from obscuro.client.limit import Limit
from obscuro.client.uci_process import EngineError, UciProcess
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.starts import board_of
from obscuro.viewer.advice import Consultation, score, shown_advice
from obscuro.viewer.document import ShownAdvice, ShownAnalysis, ShownComparison
from obscuro.viewer.game_file import first_board, stalemate_rule
from obscuro.viewer.loss_parts import ShortLook, shown_why
from obscuro.viewer.two_beliefs import goes_on

NEEDED = frozenset({READS_OBSERVATIONS, TELLS_COVERAGE, COMPARES})
"""What an engine must be able to do (docs/protocol.md, "Capabilities")."""

SHORT = 16
"""How many times smaller the search is that stands for a short look."""
_TRIES = 2
_Answer = TypeVar("_Answer")


class AnalysisError(Exception):
    """There can be no analysis of a game or a position. The text is one line for the user."""


def short_limit(limit: Limit) -> Limit:
    """Return the limit of a short look, beside a search of this limit."""
    return Limit(
        movetime=None if limit.movetime is None else max(1, limit.movetime // SHORT),
        nodes=None if limit.nodes is None else max(1, limit.nodes // SHORT),
    )


class Analyst:
    """One engine process, which is started when it is needed and replaced when it dies.

    command: the engine's. options: set at every start. Unless they say otherwise, the Seed is 1, and
    Stalemate is the game's rule (`game_file.stalemate_rule`).
    on_warning: receives the engine's warnings and errors. start: makes the process.

    Any thread may call `close`, one thread at a time the rest.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        limit: Limit,
        options: Mapping[str, str] | None = None,
        on_warning: Callable[[str], None] = lambda text: None,
        start: Callable[[Sequence[str]], UciProcess] = UciProcess,
    ) -> None:
        self.limit = limit
        self._warn = on_warning
        self._closed = threading.Event()
        given = dict(options or {})
        if "seed" not in (name.lower() for name in given):
            given["Seed"] = "1"
        self._engine = Engine(command, given, any_variant=True, on_warning=on_warning, start=start)
        self._name = command[0]

    @property
    def description(self) -> ShownAnalysis:
        """Who analyses, and how; the name is the engine's own once it has run."""
        return ShownAnalysis(by=self._name, limit=str(self.limit))

    def analyse(
        self,
        game: chess.pgn.Game,
        on_ply: Callable[[int, ShownAdvice | None], None] = lambda ply, advice: None,
        cancel: threading.Event | None = None,
    ) -> list[ShownAdvice | None]:
        """Return the engine's advice for each move of a game's main line.

        It is None where the engine failed twice, and from where `cancel` was set, or the analyst
        closed. White's turns come first and then Black's, so that the engine plays one side of one
        game at a time, and keeps its tree from turn to turn.

        on_ply: called after each search, with the number of the move from 0. Raises AnalysisError
        if no engine can be started that is able to do this.
        """
        moves = list(game.mainline_moves())
        found: list[ShownAdvice | None] = [None] * len(moves)
        self._start()
        for side in chess.COLORS:
            board = first_board(game)
            account = Account(board, side)
            for ply, move in enumerate(moves):
                if self._closed.is_set() or (cancel is not None and cancel.is_set()):
                    return found
                if board.turn == side:
                    found[ply] = self._consulted(board, account, move, stalemate_rule(game))
                    on_ply(ply, found[ply])
                board.push(move)
                account.append(board)
        return found

    def explain(
        self,
        game: chess.pgn.Game,
        advice: Sequence[ShownAdvice | None],
        turns: Collection[int],
        on_turn: Callable[[], None] = lambda: None,
        cancel: threading.Event | None = None,
    ) -> list[ShownAdvice | None]:
        """Return the advice of `analyse` with the reasons of some mistakes; see `loss_parts`.

        turns: the moves in question, by number from 0. One that was forced, and one where the engine
        failed twice, gets no reasons. on_turn: called after each of them. Two searches are made for
        each turn: a short one by what the mover knew, `SHORT` times smaller than the limit, and one
        from the true position. Raises AnalysisError if no engine can be started.
        """
        found = list(advice)
        moves = list(game.mainline_moves())
        looks: dict[int, ShortLook] = {}
        boards: dict[int, FogOfWarBoard] = {}
        self._start()

        def over() -> bool:
            return self._closed.is_set() or (cancel is not None and cancel.is_set())

        for side in chess.COLORS:
            board = first_board(game)
            account = Account(board, side)
            for ply, move in enumerate(moves):
                known = found[ply]
                if ply in turns and board.turn == side and known and known["comparison"]:
                    if over():
                        return found
                    look = self._short_look(account, move, known["comparison"], game)
                    if look is not None:
                        looks[ply], boards[ply] = look, board.root()
                        boards[ply].set_fen(board.fen())
                board.push(move)
                account.append(board)
        for ply, look in sorted(looks.items()):
            if over():
                return found
            board, known = boards[ply], found[ply]
            assert known is not None and known["comparison"] is not None
            account = Account(board, board.turn)
            true = self._consulted(board, account, moves[ply], stalemate_rule(game))
            if true is not None and true["comparison"] is not None:
                played = board.san(moves[ply])
                why = shown_why(played, known["comparison"], true["comparison"], look)
                found[ply] = {**known, "why": why}
            on_turn()
        return found

    def advise(self, game: chess.pgn.Game, ply: int) -> ShownAdvice:
        """Return what the engine would play after `ply` plies of a game, for the side to move.

        Raises AnalysisError if there is no such position, if no side can move in it, if the engine
        can't be started, or if it failed twice.
        """
        moves = list(game.mainline_moves())
        if not 0 <= ply <= len(moves):
            raise AnalysisError(f"the game has {len(moves)} plies, and no ply {ply}")
        board = first_board(game)
        for move in moves[:ply]:
            board.push(move)
        if not goes_on(board):
            raise AnalysisError("the game is over in this position")
        self._start()
        account = Account(board, board.turn)
        played = moves[ply] if ply < len(moves) else None
        advice = self._consulted(board, account, played, stalemate_rule(game))
        if advice is None:
            raise AnalysisError(f"{self._name} failed to search this position")
        return advice

    def close(self) -> None:
        """End the engine for good; a search under way fails."""
        self._closed.set()
        self._engine.close(at_once=True)

    def __enter__(self) -> Analyst:
        """Return the analyst itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End the engine."""
        self.close()

    # -- inside -----------------------------------------------------------------------------

    def _start(self) -> None:
        """Start the engine if it does not run. Raises AnalysisError."""
        try:
            self._engine.prepare()
        except EngineError as error:
            raise AnalysisError(f"can't start the engine: {error}") from error
        self._name = self._engine.name
        if lacks := NEEDED - self._engine.capabilities:
            raise AnalysisError(
                f"{self._name} can't analyse: it has no capability {', '.join(sorted(lacks))}"
            )

    def _consulted(
        self, board: FogOfWarBoard, account: Account, played: chess.Move | None, stalemate: str
    ) -> ShownAdvice | None:
        """Let the engine search; start it anew and try again if it fails. None: it failed again.

        account: the mover's. played: the move to compare with others.
        """

        def search() -> ShownAdvice:
            self._engine.prepare()
            self._engine.set_stalemate(stalemate)
            return shown_advice(board, self._searched(board, account, played))

        return self._twice(search, f"{board.fullmove_number}{'.' if board.turn else '...'}")

    def _twice(self, ask: Callable[[], _Answer], where: str) -> _Answer | None:
        """Ask the engine; start it anew and ask again if it fails. None: it failed again."""
        for _ in range(_TRIES):
            try:
                return ask()
            except (EngineError, ValueError) as error:
                self._engine.kill()
                if self._closed.is_set():
                    break
                self._warn(f"error at {where} {error}")
        return None

    def _short_look(
        self,
        account: Account,
        played: chess.Move,
        known: ShownComparison,
        game: chess.pgn.Game,
    ) -> ShortLook | None:
        """Search for a short time; say what the search thinks of the move that was played.

        account: the mover's. known: after the full search. None: the engine failed twice, or needed
        no search.
        """
        fens = [each["fen"] for each in known["because"]]

        def ask() -> ShortLook | None:
            self._engine.prepare()
            self._engine.set_stalemate(stalemate_rule(game))
            self._engine.play(account, short_limit(self.limit))
            found = self._engine.compare(played.uci(), known["uci"])
            if found is None:
                return None
            worth, better = (score(each.value) for each in found.moves)
            answers = [self._engine.coverage(board_of(f"{fen} 0 1")) for fen in fens]
            held = [bool(each is not None and each.in_infoset) for each in answers]
            return ShortLook(better - worth, held)

        return self._twice(ask, "a short search")

    def _searched(
        self, board: FogOfWarBoard, account: Account, played: chess.Move | None
    ) -> Consultation:
        """Search once, and ask about the search. Raises EngineError."""
        engine = self._engine
        if (
            engine.belief(account) is None
        ):  # asked first, so that the search has its time for itself
            raise EngineError(f"{engine.name} does not say how many positions are possible")
        found = engine.play(None, self.limit)
        coverage = engine.coverage(board)
        searched = coverage is None or coverage.in_infoset is not None
        return Consultation(
            self._name,
            found.move,
            found.report,
            found.seconds,
            coverage,
            engine.compare(played.uci()) if searched and played is not None else None,
        )
