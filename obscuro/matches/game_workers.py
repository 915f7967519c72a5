"""Workers play the games of an event, on this machine or on many."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import chess

from obscuro.client.uci_process import EngineError, MachineFault
from obscuro.matches.builtin_players import Warn
from obscuro.matches.entrant import MakeContestant, make_contestant
from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import Contestant, GameRecord, Interruptible
from obscuro.matches.machine_watch import MachineWatch
from obscuro.matches.openings import PLAIN
from obscuro.matches.referee import OnPly, play_game


class Played(NamedTuple):
    """What became of one task. Exactly one of record and fault is there.

    fault: why the machine broke the game off; such a game is played again.
    """

    task: GameTask
    record: GameRecord | None
    fault: str | None = None


class GameWorkers(Protocol):
    """A crew that plays games, some at the same time."""

    def run(
        self, event: Event, tasks: Iterable[GameTask], stop: threading.Event
    ) -> Iterator[Played]:
        """Play the tasks and yield each when it ends, in any order.

        The workers take a task from the iterable only when one of them is free to play it. They
        take tasks from one thread at a time. After *stop* is set, games that have ended are still
        yielded and those under way are broken off, without a trace. So the caller sets *stop* and
        goes on reading. On KeyboardInterrupt the workers do the same, and raise it at the end.
        Errors that end the event (EngineError, BeliefError) rise after what has ended is yielded.
        """


class Players:
    """The players that one worker keeps from game to game: those of its last task.

    warn: receives the players' warnings. make: makes a player; tests pass their own.
    """

    def __init__(self, warn: Warn, make: MakeContestant = make_contestant) -> None:
        self._warn = warn
        self._make = make
        self._event: Event | None = None
        self._seated: dict[int, Contestant] = {}
        self.interrupted = False

    def seat(self, event: Event, task: GameTask) -> tuple[Contestant, Contestant]:
        """Return White and Black of a game; close the players of earlier games that do not play."""
        wanted = (task.white, task.black)
        if event is not self._event:
            self.close()
            self._event = event
        for index in set(self._seated) - set(wanted):
            self._seated.pop(index).close()
        for index in wanted:
            if index not in self._seated:
                entrant = event.entrants[index]
                self._seated[index] = self._make(entrant, self._warn, event.coverage)
        return self._seated[task.white], self._seated[task.black]

    def interrupt(self) -> None:
        """Break the game off, from any thread. Players that can't be interrupted move once more."""
        self.interrupted = True
        for player in list(self._seated.values()):
            if isinstance(player, Interruptible):
                player.interrupt()

    def close(self) -> None:
        """Close all players. New ones are made when a game needs them."""
        while self._seated:
            self._seated.popitem()[1].close()

    def __enter__(self) -> Players:
        """Return the players themselves."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close all players."""
        self.close()


def play_task(
    event: Event,
    task: GameTask,
    players: Players,
    watch: MachineWatch,
    on_ply: OnPly | None = None,
) -> Played:
    """Play one game. A fault of the machine becomes `Played.fault`, and the players are closed.

    watch: knows whether the machine stood still. Raises EngineError if a player can't be started.
    """
    begin = watch.now()

    def on_late(since: float) -> None:
        watch.check(since)

    try:
        white, black = players.seat(event, task)
        record = play_game(
            white,
            black,
            control={
                chess.WHITE: event.control_of(task.white),
                chess.BLACK: event.control_of(task.black),
            },
            seed=task.seed,
            max_plies=event.max_plies,
            board=task.opening.start(event.stalemate),
            opening="" if task.opening == PLAIN else task.opening.name,
            on_ply=on_ply,
            on_late=on_late,
        )
        return Played(task, record)
    except MachineFault as fault:
        reason = str(fault)
    except EngineError:
        # A player that could not start in time, because nothing moved, may do so later.
        stall = watch.stall_since(begin)
        if stall is None:
            raise
        reason = str(stall)
    except (OSError, MemoryError) as error:
        reason = f"{type(error).__name__}: {error}"
    players.close()
    return Played(task, None, reason)
