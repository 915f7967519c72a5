"""Matches: many games between two players with alternating colours, and their results."""

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
    """The games of a match by number, from 0. The first player is White in the even games."""

    first: str
    second: str
    control: TimeControl
    games: dict[int, GameRecord] = field(default_factory=dict)

    @staticmethod
    def first_color(number: int) -> chess.Color:
        """Return the colour of the first player in this game."""
        return chess.WHITE if number % 2 == 0 else chess.BLACK

    def tally(self, color: chess.Color | None = None) -> Tally:
        """Count the first player's results, in all games or in those with one colour."""
        return Tally.of(
            [
                game.score(self.first_color(number))
                for number, game in self.games.items()
                if color in (None, self.first_color(number))
            ]
        )

    def elo(self) -> Elo:
        """Estimate the first player's advantage, from pairs of games if no pair is incomplete."""
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
        """Compute the statistics of all moves of the first player, or of the second."""
        turns = [
            turn
            for number, game in sorted(self.games.items())
            for turn in game.turns(self.first_color(number) == first)
        ]
        return Statistics.of(turns, self.control.movetime)

    def irregular(self) -> list[tuple[int, GameRecord]]:
        """Return the games that the rules did not end, each with its number."""
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
    """Play a match and return its result.

    Each of the *concurrency* threads makes one pair of players and plays games with it.

    movetime: milliseconds for each move. control: a clock. The caller gives one of the two.
    on_game, on_ply: called after each game and each move, from one thread at a time. result: the
    object to fill as games end, so that the caller has them even if the match is interrupted.

    Raises ValueError unless exactly one of movetime and control is given. KeyboardInterrupt and
    the errors that end a match (EngineError, BeliefError) rise after all players are closed.
    """
    control = TimeControl.of(movetime, control)
    result = result or MatchResult("", "", control)
    numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(games):
        numbers.put(number)
    lock = threading.Lock()
    aborted = threading.Event()

    def one_ply(board: object, ply: object) -> None:
        if aborted.is_set():
            raise _MatchAborted
        if on_ply is not None:
            with lock:
                on_ply(board, ply)  # type: ignore[arg-type]

    def work() -> None:
        with _contestants(make_first, make_second) as (first, second):
            while not aborted.is_set():
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
        _run_in_threads(work, min(concurrency, games), aborted)
    return result


class _MatchAborted(Exception):  # noqa: N818
    """Another game has failed, or the user has interrupted the match."""


@contextmanager
def _contestants(*makers: MakeContestant) -> Iterator[list[Contestant]]:
    """Make the players, and close at the end those that could be made."""
    made: list[Contestant] = []
    try:
        for make in makers:
            made.append(make())
        yield made
    finally:
        for contestant in made:
            contestant.close()


def _run_in_threads(work: Callable[[], None], count: int, aborted: threading.Event) -> None:
    """Call *work* in *count* threads; the first failure stops the others after their move."""
    failures: list[BaseException] = []

    def work_until_failure() -> None:
        try:
            work()
        except _MatchAborted:
            pass
        except BaseException as error:
            failures.append(error)
            aborted.set()

    threads = [threading.Thread(target=work_until_failure) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        aborted.set()
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise failures[0]
