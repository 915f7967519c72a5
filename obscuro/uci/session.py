"""A dialogue with a GUI: each line that comes in is read and carried out."""

import threading
import traceback
from collections.abc import Callable

from obscuro.engine.options import OptionError, Options
from obscuro.engine.player_kind import PlayerKind
from obscuro.uci.channel import Output
from obscuro.uci.order import SearchOrder
from obscuro.uci.parsing import (
    ProtocolError,
    parse_belief,
    parse_compare,
    parse_go,
    parse_setoption,
)
from obscuro.uci.playing import TICK_SECONDS, Job, Playing, Worker
from obscuro.uci.positions import History, PositionReader, start_board, start_text
from obscuro.uci.printing import help_lines, uci_lines


class Session:
    """The state of a dialogue. kind: who plays.

    `handle` never blocks for long. What takes time is a job for another thread, which does jobs in
    the order of their commands.

    A command that changes the game, the options or the search ends a running search first; this
    search still says its `bestmove`. `d`, `belief` and `marginals` are answered after a running
    search.
    """

    def __init__(
        self, output: Output, kind: PlayerKind, tick_seconds: float = TICK_SECONDS
    ) -> None:
        self._output = output
        self._options = Options(kind.options)
        self._positions = PositionReader()
        self._history = self._positions.read("startpos")
        self._order: SearchOrder | None = None  # the last search
        self._stop_pondering = threading.Event()  # ends the last pondering
        self._received = 0.0
        self._playing = Playing(output, self._options.copy(), kind, tick_seconds)
        self._worker = Worker(last=self._playing.close)
        self._commands: dict[str, Callable[[str], None]] = {
            "uci": lambda text: output.lines(*uci_lines(kind)),
            "isready": self._isready,
            "ucinewgame": self._ucinewgame,
            "setoption": self._setoption,
            "position": self._position,
            "go": self._go,
            "stop": self._stop,
            "ponderhit": self._ponderhit,
            "d": self._d,
            "belief": self._belief,
            "marginals": self._marginals,
            "coverage": self._coverage,
            "compare": self._compare,
            "debug": lambda text: None,
            "register": lambda text: None,  # a command of UCI; there is nothing to register
            "help": lambda text: output.lines(*help_lines()),
        }

    def handle(self, line: str, received: float) -> bool:
        """Carry out a line; return False for `quit`. Never raises.

        received: the `time.monotonic` second at which the line came in.
        """
        name, *rest = line.split(maxsplit=1)[:2] or [""]
        self._received = received
        if name == "quit":
            return False
        if not name:
            return True
        command = self._commands.get(name)
        if command is None:
            self._output.error(f"unknown command {line.strip()}")
            return True
        try:
            command(rest[0] if rest else "")
        except (ProtocolError, OptionError) as error:
            self._output.error(str(error))
        except Exception as error:
            reason = str(error) or type(error).__name__
            self._output.failure(f"{name} failed, {reason}", traceback.format_exc())
        return True

    def end(self, seconds: float) -> bool:
        """End the search and release everything; return whether that took at most `seconds`."""
        self._end_search()
        return self._worker.end(seconds)

    def close_now(self) -> None:
        """End child processes even during a job; for a process that is about to end."""
        self._playing.close()

    # -- the commands -----------------------------------------------------------------------

    def _isready(self, text: str) -> None:
        order = self._order
        if order is not None and order.when_started(lambda: self._output.lines("readyok")):
            return
        self._post(self._playing.prepare)

    def _ucinewgame(self, text: str) -> None:
        self._end_search()
        self._history = self._positions.read("startpos")
        self._post(self._playing.forget)

    def _setoption(self, text: str) -> None:
        options = self._options.copy()
        name = options.set(*parse_setoption(text))
        self._end_search()
        if options.get(name) == self._options.get(name):
            return
        self._options = options
        self._post(lambda: self._playing.set_options(options))

    def _position(self, text: str) -> None:
        history = self._positions.read(text, chess960=self._flag("UCI_Chess960"))
        self._end_search()
        self._history = history
        if self._flag("Ponder") and not history.our_turn:
            self._ponder(lambda: history)

    def _go(self, text: str) -> None:
        go = parse_go(text, self._received)
        for word in go.ignored:
            self._output.warning(f"go: {word} is not supported")
        self._end_search()
        overhead = "Move Overhead"
        order = SearchOrder(
            self._history,
            go,
            self._options.integer(overhead) if overhead in self._options else 0,
            self._flag("UCI_ShowWDL"),
        )
        self._order = order
        self._playing.await_search(order)
        self._post(lambda: self._playing.search(order))
        if self._flag("Ponder"):
            after = self._positions.anticipation()
            self._ponder(lambda: after(order.move) if order.move else None)

    def _stop(self, text: str) -> None:
        self._end_search()

    def _ponderhit(self, text: str) -> None:
        if self._order is not None:
            self._order.ponderhit(self._received)

    def _d(self, text: str) -> None:
        history = self._history
        self._post(lambda: self._playing.show(history))

    def _belief(self, text: str) -> None:
        history, count = self._history, parse_belief(text)
        self._post(lambda: self._playing.belief(history, count))

    def _marginals(self, text: str) -> None:
        history = self._history
        self._post(lambda: self._playing.marginals(history))

    def _coverage(self, text: str) -> None:
        fen = start_text(start_board(text, chess960=self._flag("UCI_Chess960")))
        self._refuse_during_search("coverage")
        self._post(lambda: self._playing.coverage(fen))

    def _compare(self, text: str) -> None:
        move, other = parse_compare(text)
        self._refuse_during_search("compare")
        self._post(lambda: self._playing.compare(move, other))

    def _refuse_during_search(self, command: str) -> None:
        """Raise ProtocolError for a command that asks about the last search, which still runs."""
        if self._order is not None and not self._order.done:
            raise ProtocolError(f"{command}: a search is under way")

    def _flag(self, name: str) -> bool:
        """Return whether an option is on; False for a player without it."""
        return name in self._options and self._options.flag(name)

    def _post(self, job: Job) -> None:
        """Queue a job and end pondering."""
        self._stop_pondering.set()
        self._worker.post(job)

    def _ponder(self, history: Callable[[], History | None]) -> None:
        """Queue pondering as the last job. history: called when the job begins."""
        self._stop_pondering.set()
        stop = self._stop_pondering = threading.Event()
        self._worker.post(lambda: self._playing.ponder(history(), stop))

    def _end_search(self) -> None:
        self._stop_pondering.set()
        if self._order is not None:
            self._order.end()
