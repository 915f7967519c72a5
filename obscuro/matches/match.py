"""What the games of a match say: scores, pairs, Elo, and the sequential test."""

from __future__ import annotations

from collections.abc import Mapping

import chess

from obscuro.matches.elo import Elo, Tally, pentanomial, trinomial
from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import GameRecord
from obscuro.matches.sprt import PAIR_SCORES, SequentialTest
from obscuro.matches.statistics import Statistics

FIRST, SECOND = 0, 1


class MatchResult:
    """The games between entrants 0 and 1 of an event, from the first one's view.

    games: by number, in the order in which they ended. pairs: the first player's two results in
    each complete pair, in the order in which the pairs were completed. test: the sequential test of
    these pairs; None if the event has none.
    """

    def __init__(self, event: Event, games: Mapping[int, GameRecord] | None = None) -> None:
        """Take the games that are there already."""
        self.event = event
        self.games: dict[int, GameRecord] = {}
        self.pairs: list[tuple[float, float]] = []
        self.test = None if event.sprt is None else SequentialTest(event.sprt)
        self._single: dict[int, float] = {}  # games without their twin: pair to score
        self._tallies = dict.fromkeys(chess.COLORS, Tally())  # by the first player's colour
        self._pair_counts = [0] * len(PAIR_SCORES)
        for number, game in (games or {}).items():
            self.add(event.tasks[number], game)

    def add(self, task: GameTask, game: GameRecord) -> str | None:
        """Take a game that has ended. Return why the match ends now; None if it goes on."""
        self.games[task.number] = game
        score, color = self.score(task.number), self.first_color(task.number)
        self._tallies[color] += Tally.of([score])
        if task.pair in self._single:
            pair = (self._single.pop(task.pair), score)
            self.pairs.append(pair)
            self._pair_counts[PAIR_SCORES.index(sum(pair) / 2)] += 1
            if self.test is not None:
                self.test.add(sum(pair) / 2)
        else:
            self._single[task.pair] = score
        if self.test is None or self.test.accepted is None:
            return None
        return f"SPRT accepted {self.test.accepted}"

    @property
    def first(self) -> str:
        """The name of the first player."""
        return self.event.entrants[FIRST].name

    @property
    def second(self) -> str:
        """The name of the second player."""
        return self.event.entrants[SECOND].name

    def first_color(self, number: int) -> chess.Color:
        """Return the colour of the first player in this game."""
        return self.event.tasks[number].white == FIRST

    def score(self, number: int) -> float:
        """Return the first player's points in this game."""
        return self.games[number].score(self.first_color(number))

    def tally(self, color: chess.Color | None = None) -> Tally:
        """Count the first player's results, in all games or in those with one colour."""
        if color is None:
            return self._tallies[chess.WHITE] + self._tallies[chess.BLACK]
        return self._tallies[color]

    def pair_counts(self) -> list[int]:
        """Count the pairs by their score, the mean of two results: 0, ¼, ½, ¾ and 1."""
        return list(self._pair_counts)

    def elo(self) -> Elo:
        """Estimate the first player's advantage, from complete pairs if there are any.

        A game without its twin then counts in the score only.
        """
        return pentanomial(self.pairs) if self.pairs else trinomial(self.tally())

    def statistics(self, entrant: int) -> Statistics:
        """Compute the statistics of all moves of entrant 0 or 1."""
        turns = [
            turn
            for number, game in sorted(self.games.items())
            for turn in game.turns(self._color(number, entrant))
        ]
        return Statistics.of(turns, self.event.control_of(entrant).movetime)

    def told(self, entrant: int) -> str:
        """Return what entrant 0 or 1 was told in the games; empty without games."""
        found = {game.told[self._color(n, entrant)] for n, game in self.games.items()}
        return ", ".join(sorted(found))

    def irregular(self) -> list[tuple[int, GameRecord]]:
        """Return the games that the rules did not end, each with its number."""
        return [(n, game) for n, game in sorted(self.games.items()) if not game.regular]

    def _color(self, number: int, entrant: int) -> chess.Color:
        return self.first_color(number) == (entrant == FIRST)
