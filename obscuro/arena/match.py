"""Matches: many games between two players with colours alternating, and what came of them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import chess

from obscuro.arena.elo import Elo, Tally, pentanomial, trinomial
from obscuro.arena.game_record import Contestant, GameRecord
from obscuro.arena.referee import OnPly, play_game
from obscuro.arena.statistics import Statistics
from obscuro.arena.time_control import TimeControl

MakeContestant = Callable[[], Contestant]
OnGame = Callable[[int, GameRecord], None]


@dataclass
class MatchResult:
    """The games of a match by their numbers, from 0; the first player is White in the even ones."""

    first: str
    second: str
    control: TimeControl
    games: dict[int, GameRecord] = field(default_factory=dict)

    @staticmethod
    def first_color(number: int) -> chess.Color:
        """The colour of the first player in this game."""
        return chess.WHITE if number % 2 == 0 else chess.BLACK

    def tally(self, color: chess.Color | None = None) -> Tally:
        """The first player's results, in all games or those with one colour."""
        return Tally.of(
            [
                game.score(self.first_color(number))
                for number, game in self.games.items()
                if color in (None, self.first_color(number))
            ]
        )

    def elo(self) -> Elo:
        """The first player's advantage; by pairs of games if all are there, else by games."""
        if self.games and all(number ^ 1 in self.games for number in self.games):
            return pentanomial(
                [
                    (
                        game.score(self.first_color(number)),
                        self.games[number + 1].score(self.first_color(number + 1)),
                    )
                    for number, game in self.games.items()
                    if number % 2 == 0
                ]
            )
        return trinomial(self.tally())

    def statistics(self, first: bool) -> Statistics:
        """Of all moves of the first player, or of the second."""
        turns = [
            turn
            for number, game in sorted(self.games.items())
            for turn in game.turns(self.first_color(number) == first)
        ]
        return Statistics.of(turns, self.control.movetime)

    def irregular(self) -> list[tuple[int, GameRecord]]:
        """The games that the rules did not end, by number."""
        return [(n, game) for n, game in sorted(self.games.items()) if not game.regular]


def play_match(
    make_first: MakeContestant,
    make_second: MakeContestant,
    *,
    games: int,
    movetime: int | None = None,
    control: TimeControl | None = None,
    concurrency: int = 1,
    seed: int = 0,
    max_plies: int | None = None,
    on_game: OnGame | None = None,
    on_ply: OnPly | None = None,
    result: MatchResult | None = None,
) -> MatchResult:
    """Play a match; the players are made once for each of the games that run at a time.

    movetime: milliseconds for each move; control: a clock; one of them. Raises ValueError otherwise.
    on_game, on_ply: called after each game and each move, from one thread at a time. result: filled
    as games end, so that the caller has them even if the match is broken off. A KeyboardInterrupt,
    and errors that end a match (EngineError, BeliefError), are raised when all players are closed.
    """
    control = TimeControl.of(movetime, control)
    result = result or MatchResult("", "", control)
    numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(games):
        numbers.put(number)
    lock = threading.Lock()
    broken_off = threading.Event()

    def one_ply(board: object, ply: object) -> None:
        if broken_off.is_set():
            raise _BrokenOff
        if on_ply is not None:
            with lock:
                on_ply(board, ply)  # type: ignore[arg-type]

    def work() -> None:
        with _closing(make_first, make_second) as (first, second):
            while not broken_off.is_set():
                try:
                    number = numbers.get_nowait()
                except queue.Empty:
                    return
                as_white = result.first_color(number) == chess.WHITE
                record = play_game(
                    first if as_white else second,
                    second if as_white else first,
                    control=control,
                    seed=seed + number,
                    max_plies=max_plies,
                    on_ply=one_ply,
                )
                with lock:
                    result.first, result.second = first.name, second.name
                    result.games[number] = record
                    if on_game is not None:
                        on_game(number, record)

    if concurrency <= 1:
        work()
    else:
        _in_threads(work, min(concurrency, games), broken_off)
    return result


class _BrokenOff(Exception):  # noqa: N818
    """Another game has failed, or the user has had enough."""


@contextmanager
def _closing(*makers: MakeContestant) -> Iterator[list[Contestant]]:
    """Make players, and close those that were made."""
    made: list[Contestant] = []
    try:
        for make in makers:
            made.append(make())
        yield made
    finally:
        for contestant in made:
            contestant.close()


def _in_threads(work: Callable[[], None], count: int, broken_off: threading.Event) -> None:
    """Do the work in so many threads; the first failure stops the others after their move."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except _BrokenOff:
            pass
        except BaseException as error:
            failures.append(error)
            broken_off.set()

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        broken_off.set()
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise failures[0]
