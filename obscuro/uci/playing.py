"""The player behind the front end, and the threads that prepare it and work for it.

A failure in here becomes one line for the user, and the game goes on.
"""

import gc
import queue
import random
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

import chess

from obscuro.engine.options import Options
from obscuro.engine.player_kind import AnyPlayer, PlayerKind
from obscuro.engine.report import SearchInfo
from obscuro.uci.channel import Output
from obscuro.uci.order import SearchOrder
from obscuro.uci.positions import KING_CAPTURED, History
from obscuro.uci.printing import (
    MATED,
    belief_lines,
    belief_size_text,
    bestmove_line,
    board_lines,
    comparison_lines,
    coverage_line,
    info_lines,
    marginal_lines,
)

Job = Callable[[], None]


class Worker:
    """Does jobs in the order of their posting, in a thread of its own. Jobs must not raise."""

    def __init__(self, last: Job) -> None:
        """Start the thread. last: the job that ends it."""
        self._last = last
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def post(self, job: Job) -> None:
        """Queue a job; does not wait for it."""
        self._jobs.put(job)

    def end(self, seconds: float) -> bool:
        """Queue the last job and wait at most `seconds`; return whether all jobs are done."""
        self._jobs.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        self._last()


POLL_SECONDS = 0.01


class Preparation:
    """One call of `Player.prepare`, which may compile for minutes. It starts at once.

    stage: what is being done now, in words for the user.
    """

    def __init__(self, prepare: Callable[[Callable[[str], None]], None]) -> None:
        self.stage = ""
        self._prepare = prepare
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="preparation", daemon=True)
        self._thread.start()

    def wait(self, given_up: Callable[[], bool], tell: Callable[[str], None]) -> bool:
        """Wait for the end; return whether it came before given_up() was true.

        tell: receives the stage now and then. Raises what the preparation has raised.
        """
        while self._thread.is_alive():
            tell(self.stage)
            if given_up():
                return False
            self._thread.join(POLL_SECONDS)
        if self._error is not None:
            raise self._error
        return True

    def _run(self) -> None:
        try:
            self._prepare(self._note)
            # numba keeps 10⁵ objects. Without this, the garbage collector goes over all of them,
            # which takes longer than a move may be late.
            gc.collect()
            gc.freeze()
        except BaseException as error:
            self._error = error

    def _note(self, stage: str) -> None:
        self.stage = stage


TICK_SECONDS = 1.0
"""Between two signs of life. GUIs are promised one every 5 s, and the compiler can keep Python from
saying it for seconds."""


class Ticker:
    """While its `with` block runs, says every `seconds` what is being done."""

    def __init__(self, say: Callable[[str], None], seconds: float = TICK_SECONDS) -> None:
        self._say = say
        self._seconds = seconds
        self._what = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)

    def tell(self, what: str) -> None:
        """Note what is being done now."""
        self._what = what

    def _run(self) -> None:
        begin = time.monotonic()
        while not self._over.wait(self._seconds):
            what = f": {self._what}" if self._what else ""
            self._say(f"info string getting ready, {time.monotonic() - begin:.0f} s so far{what}")

    def __enter__(self) -> "Ticker":
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the thread."""
        self._over.set()
        self._thread.join()


Answer = TypeVar("Answer")


class Playing:
    """One player, made when it is first needed and made anew after a failure.

    One thread calls its methods, except where they say otherwise. tick_seconds: see `Ticker`.
    """

    def __init__(
        self,
        output: Output,
        options: Options,
        kind: PlayerKind,
        tick_seconds: float = TICK_SECONDS,
    ) -> None:
        self._output = output
        self._options = options
        self._kind = kind
        self._tick_seconds = tick_seconds
        self._player: AnyPlayer | None = None
        self._told: History | None = None  # what the player knows of the game
        self._ready = False  # whether this player is prepared
        self._compiled = False  # whether some player was prepared, so that all is compiled
        self._preparation: Preparation | None = None  # of this player; no one else uses it then
        self._prepared_with = options  # the options that the last preparation began with
        self._ready_since = 0.0  # the `time.monotonic` second when the last preparation ended
        self._awaited: SearchOrder | None = None  # a search that waits for the present job
        self._readyoks_owed = 0  # how many `readyok`s are still to be said

    # -- the jobs ---------------------------------------------------------------------------

    def set_options(self, options: Options) -> None:
        """Use these options from now on."""
        self._options = options
        self._ready = False
        if self._player is not None and self._preparation is None:
            with self._failing("setoption"):
                self._player.set_options(options)

    def forget(self) -> None:
        """Forget the game."""
        self._told = None

    def await_search(self, order: SearchOrder) -> None:
        """Note that this search waits for the present job. Any thread may call this."""
        self._awaited = order

    def prepare(self) -> None:
        """Get ready to search at once, then say `readyok`.

        If the clock of a waiting search runs out, that search comes first.
        """
        with self._failing("getting ready"):
            if self._prepared(self._awaited_is_overdue) is None:
                self._readyoks_owed += 1
                return
        self._output.lines("readyok")

    def search(self, order: SearchOrder) -> None:
        """Search, and say `bestmove` as soon as it may be said."""
        if self._awaited is order:
            self._awaited = None
        move: str | None = None
        ponder: str | None = None
        with self._failing("search") as failed:
            move, ponder = self._choose(order)
        if failed:
            move = any_move(order.history)
        order.start()
        order.wait_to_answer()
        self._answer(order, move, ponder)
        owed, self._readyoks_owed = self._readyoks_owed, 0
        for _ in range(owed):
            self.prepare()

    def ponder(self, history: History | None, stop: threading.Event) -> None:
        """Use the other side's time after a history until `stop` is set. None: do nothing."""
        if history is None or history.over is not None or stop.is_set():
            return
        if not self._compiled or self._preparation is not None:
            return
        with self._failing("pondering"):
            player = self._player_now()
            self._tell(player, history)
            player.ponder(stop)

    def show(self, history: History) -> None:
        """Answer `d`."""
        self._output.lines(*board_lines(history))
        if history.over is not None:
            return
        with self._failing("d"):
            player = self._updated(history)
            if player.belief_size is not None:
                self._output.lines(belief_size_text(player.belief_size, player.belief_exact))

    def belief(self, history: History, count: int) -> None:
        """Answer `belief`."""
        if history.over is not None:
            self._output.lines(*belief_lines(0, True, {}))
            return
        with self._failing("belief"):
            player = self._updated(history)
            size, exact = player.belief_size, player.belief_exact
            if size is None:
                self._output.error(f"belief: the player {self._kind.name} keeps no belief")
                return
            self._output.lines(*belief_lines(size, exact, player.belief_fens(count)))

    def marginals(self, history: History) -> None:
        """Answer `marginals`: how likely each enemy piece is on each square."""
        if history.over is not None:
            self._output.error(f"marginals: the game is over: {history.over}")
            return
        with self._failing("marginals"):
            found = self._updated(history).marginals()
            if found is None:
                self._output.error(f"marginals: the player {self._kind.name} keeps no belief")
                return
            self._output.lines(*marginal_lines(found))

    def coverage(self, fen: str) -> None:
        """Answer `coverage`: what the player's last search knew of a position.

        The player is told nothing: it is asked, and keeps nothing of the question.
        """
        self._ask(
            "coverage",
            lambda player: player.coverage_of_fen(fen),
            lambda coverage: [coverage_line(coverage)],
            "keeps no belief",
        )

    def compare(self, move: str, other: str | None) -> None:
        """Answer `compare`: what the player's last search thinks of two moves of its side."""
        self._ask(
            "compare",
            lambda player: player.compare(move, other),
            comparison_lines,
            "keeps no tree",
        )

    def close(self) -> None:
        """Release the player and its child processes."""
        player, self._player = self._player, None
        self._preparation = None
        self._told, self._ready = None, False
        if player is not None:
            with self._failing("leaving"):
                player.close()

    # -- inside -----------------------------------------------------------------------------

    def _ask(
        self,
        command: str,
        question: Callable[[AnyPlayer], Answer | None],
        lines: Callable[[Answer], list[str]],
        lack: str,
    ) -> None:
        """Ask the player about its last search, and print the answer or one line of error.

        question: returns None if the player can't answer. lines: of an answer. lack: why a player
        can't answer, in words that follow its name.
        """
        from obscuro.engine.knowledge import GameError  # noqa: PLC0415 - loads numba

        player = self._player
        if player is None or self._told is None or self._preparation is not None:
            self._output.error(f"{command}: there is no search to ask about")
            return
        with self._failing(command):
            try:
                answer = question(player)
            except GameError as error:
                self._output.error(f"{command}: {error}")
                return
            if answer is None:
                self._output.error(f"{command}: the player {self._kind.name} {lack}")
                return
            self._output.lines(*lines(answer))

    def _choose(self, order: SearchOrder) -> tuple[str | None, str | None]:
        """Return the move to play and one to ponder on; None, None if there is no move to play."""
        history = order.history
        if history.over is not None:
            if history.over == KING_CAPTURED and history.our_turn:
                self._output.lines(MATED)
            return None, None
        if not history.our_turn:
            self._output.error(f"go: it is not {chess.COLOR_NAMES[history.side]}'s turn")
            return None, None
        ready = self._compiled and self._preparation is None
        player = self._player_now() if ready else self._prepared(order.overdue)
        if player is None:
            self._output.warning("still compiling; this move is played without a search")
            return any_move(history), None
        order.ready_since(self._ready_since)
        self._tell(player, history)

        def report(info: SearchInfo) -> None:
            if not order.done:
                self._output.lines(*info_lines(info, order.show_wdl))
                order.note_report(info)

        order.start()
        order.begin(lambda: self._answer(order, late_move(order)))
        choice = player.search(order.limits(), order.stop, report)
        if choice.move is None and order.stop.is_set():  # before the belief was up to date
            return any_move(history), None
        if choice.info is not None and choice.info != order.last:
            report(choice.info)
        if choice.move not in history.moves:
            raise RuntimeError(f"the engine chose {choice.move}, which is not legal")
        return choice.move, choice.ponder

    def _answer(self, order: SearchOrder, move: str | None, ponder: str | None = None) -> None:
        """Say `bestmove`, unless it was said before. Any thread may call this."""
        if order.finish():  # before `bestmove`, so that its reader finds no search under way
            order.move = move
            self._output.lines(bestmove_line(move, ponder))

    def _player_now(self) -> AnyPlayer:
        if self._player is None:
            self._player = self._kind.make(self._options, self._output.warning)
        return self._player

    def _prepared(self, given_up: Callable[[], bool] = lambda: False) -> AnyPlayer | None:
        """Return the player, ready to search at once; None if given_up() became true before.

        The user is told now and then that this takes a while.
        """
        while self._player is None or not self._ready:
            player = self._player_now()
            if self._preparation is None:
                self._preparation = Preparation(player.prepare)
                self._prepared_with = self._options
            try:
                with self._ticker() as ticker:
                    if not self._preparation.wait(given_up, ticker.tell):
                        return None
            except BaseException:
                self._preparation = None
                raise
            self._preparation = None
            self._ready_since = time.monotonic()
            self._compiled = True
            self._ready = self._prepared_with is self._options
            self._output.fact("evaluator", player.evaluator)
            if not self._ready:  # the options have changed meanwhile
                player.set_options(self._options)
        return self._player_now()

    def _awaited_is_overdue(self) -> bool:
        """Return whether the waiting search, if any, has no time left to wait."""
        order = self._awaited
        return order is not None and order.overdue()

    def _updated(self, history: History) -> AnyPlayer:
        """Return the player with its belief brought up to the end of this history."""
        if self._preparation is not None:
            self._prepared()
        with self._ticker() as ticker:
            ticker.tell("belief")
            player = self._player_now()
            self._tell(player, history)
            player.update()
        return player

    def _ticker(self) -> Ticker:
        return Ticker(self._output.lines, self._tick_seconds)

    def _tell(self, player: AnyPlayer, history: History) -> None:
        """Tell the player the plies that it does not know: of its game, or all of another game."""
        if history is self._told:
            return
        earlier, self._told = self._told, None  # set again when every ply is told
        if earlier is not None and history.continues(earlier):
            new = history.plies[len(earlier.plies) :]
        else:
            player.new_game_from_fen(0 if history.side == chess.WHITE else 1, history.start)
            self._output.fact("seed", player.seed)
            new = history.plies
        for ply in new:
            ply.tell(player)
        self._told = history

    # -- failures ---------------------------------------------------------------------------

    @contextmanager
    def _failing(self, what: str) -> Iterator[list[str]]:
        """Turn an exception into one line. It yields a list that is not empty after a failure.

        A failure leaves the player in an unknown state, so the player is released.
        """
        failed: list[str] = []
        try:
            yield failed
        except Exception as error:
            failed.append(what)
            reason = str(error) or type(error).__name__
            self._output.failure(f"{what} failed, {reason}", traceback.format_exc())
            self.close()


def late_move(order: SearchOrder) -> str | None:
    """Return a move for a search that is late: one of its last report, else any move."""
    if order.last is None or not order.last.play:
        return any_move(order.history)
    moves, probabilities = zip(*order.last.play, strict=True)
    move: str = random.choices(moves, probabilities)[0]
    return move


def any_move(history: History) -> str | None:
    """Return a legal move without a search: the king's capture if there is one, else any."""
    enemy_king = history.observation.board().king(not history.side)
    for uci in history.moves:
        if chess.Move.from_uci(uci).to_square == enemy_king:
            return uci
    return random.choice(history.moves) if history.moves else None
