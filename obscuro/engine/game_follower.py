"""What all players with a belief have in common: one side's game, ply by ply, and its turns.

A subclass says how it chooses one of several moves, and what its last search knew of a position.
"""

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import Buffers
from obscuro.belief.marginals import Marginals, marginals
from obscuro.engine.knowledge import GameError, Knowledge
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Comparison, Coverage, GoLimits, SearchInfo
from obscuro.engine.turn_time import BELIEF_SHARE, TurnTime, share_of, turn_time
from obscuro.evaluation.scale import centipawns_of_value
from obscuro.rules.account import Ply
from obscuro.rules.fen_order import fen_order
from obscuro.rules.layout import STATE
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen, move_to_uci, start_words, to_fen
from obscuro.rules.starts import is_hidden, names_files

Words = npt.NDArray[np.uint64]
Report = Callable[[SearchInfo], None]

MOST_SORTED = 10_000  # positions of a belief that are sorted to list the first ones


class LastTurn(NamedTuple):
    """When our last move was chosen."""

    plies: int  # of the game
    searched: bool  # whether the move needed a search


class OwnTurn(NamedTuple):
    """A turn in which there is a choice.

    known: up to date. names: our moves in UCI, in the generator's order. time: when the turn ends;
    None: it has no limit of time. report: takes a report; None: there is no reader. tau: the pawns
    worth tanh(1).
    """

    known: Knowledge
    names: list[str]
    limits: GoLimits
    time: TurnTime | None
    stop: Event
    report: Report | None
    tau: float

    @property
    def deadline(self) -> float | None:
        """The second of `time.monotonic` at which the turn ends; None without a limit of time."""
        return None if self.time is None else self.time.deadline

    def tell(self, info: SearchInfo) -> None:
        """Give a report to its reader, if there is one."""
        if self.report is not None:
            self.report(info)

    def info(
        self,
        value: float,
        play: list[tuple[str, float]],
        *,
        positions: int = 0,
        evaluations: int = 0,
    ) -> SearchInfo:
        """Return the report of a look one ply ahead.

        value: ours, [-1, 1]. play: moves and their probabilities, the largest first. positions: how
        many of P were looked at. evaluations: children that were evaluated.
        """
        return SearchInfo(
            depth=1,
            seldepth=1,
            nodes=evaluations,
            milliseconds=int((time.monotonic() - self.limits.received) * 1000),
            value=value,
            centipawns=centipawns_of_value(value, self.tau),
            line=[play[0][0]],
            belief=len(self.known.belief),
            exact=bool(self.known.belief.exact),
            sampled=positions,
            carried=0,
            infosets=1,
            iterations=0,
            expansions=positions,
            evaluations=evaluations,
            gadget="none",
            roots=positions,
            policy=play,
            play=play,
        )

    def is_over(self, ahead: float = 0.0) -> bool:
        """Whether the time will be up in `ahead` seconds, or `stop` is set."""
        return self.stop.is_set() or (
            self.deadline is not None and time.monotonic() + ahead >= self.deadline
        )


class GameFollower(ABC):
    """Plays one side of one game at a time, and answers questions about it: an `AnyPlayer`.

    warn: called with one line for each thing that a user should know.

    options: those that count (`Options.effective`). last_turn: None if no question can be asked.
    chess960: whether the king castles to its rook's square in this game's moves.
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        self.options = options.effective()
        self.warn = warn
        self.last_turn: LastTurn | None = None
        self._known: Knowledge | None = None
        self._seed = 1
        self.chess960 = False

    # -- what a subclass adds --------------------------------------------------------------------

    @abstractmethod
    def choose(self, turn: OwnTurn) -> Choice:
        """Choose one of several moves, none of which captures the king for certain."""

    @property
    @abstractmethod
    def last_value(self) -> float:
        """Our value when the last move was chosen, [-1, 1]; 0 if there was none."""

    def forced_info(self, turn: OwnTurn, name: str, value: float) -> SearchInfo:
        """Return the report of a move that needs no thought. value: ours, [-1, 1]."""
        return turn.info(value, [(name, 1.0)])

    @abstractmethod
    def covered(self, words: Words, in_belief: bool) -> Coverage:
        """Say what the last search knew of a position uint64[8]. in_belief: whether it is in P."""

    def follow(
        self,
        side: int,
        start: Words,
        *,
        threads: int,
        buffers: Buffers,
        lost_place: Callable[[], None],
        tell_rebuilds: bool = True,
        weighted: bool = False,
    ) -> None:
        """Take up a new game, for `new_game`. The last one ends, and its memory is free.

        start: uint64[8] or uint64[n, 8], as in `new_game`. tell_rebuilds: whether the user
        should know that the belief was rebuilt. The rest is as in `Knowledge`.
        """
        self._seed = self.options.integer("Seed") or time.time_ns() & 0x7FFFFFFF or 1
        self.last_turn = None
        self.chess960 = False
        if self._known is not None:
            self._known.release()
        self._known = Knowledge(
            side,
            start,
            max_positions=self.options.integer("Max Positions"),
            threads=threads,
            seed=self._seed,
            buffers=buffers,
            warn=self.warn if tell_rebuilds else lambda text: None,
            lost_place=lost_place,
            weighted=weighted,
        )

    # -- the game --------------------------------------------------------------------------------

    @abstractmethod
    def new_game(self, side: int, start: Words) -> None:
        """Start a game in which we play `side` (0 = White).

        start: uint64[8], a position that both sides know; or uint64[n, 8], all in which our side
        must think that the game may have begun.
        """

    def new_game_from_fen(self, side: int, fen: str) -> None:
        """Start a game as `new_game` does, from a FEN without counters.

        It may leave open how the other side began, see `start_words`. If it names castling rights
        by files, in all moves of the game the king castles to its rook's square.
        """
        self.new_game(side, start_words(fen, side))
        self.chess960 = is_hidden(fen) or names_files(fen)

    def own_move(self, uci: str, observation: Observation | None) -> None:
        """Queue our move `uci` and what we saw after it (None: we were not told)."""
        self.knowledge.queue(Ply(uci, observation))

    def opponent_move(self, observation: Observation) -> None:
        """Queue what we saw after a move of the other side."""
        self.knowledge.queue(Ply(None, observation))

    def update(self, deadline: float | None = None) -> None:
        """Bring the belief up to date; a search does it by itself. See `Knowledge.update`."""
        self.knowledge.update(deadline)

    def ponder(self, stop: Event) -> None:
        """Use the other side's time: see `Knowledge.expect`. Ends soon after `stop` is set."""
        self.knowledge.update(None, stop)
        self.knowledge.expect(stop)

    # -- the turn --------------------------------------------------------------------------------

    def search(self, limits: GoLimits, stop: Event, report: Report | None = None) -> Choice:
        """Choose a move; blocks until a limit is reached or `stop` is set.

        report: called now and then, and once at the end. The choice holds no move if there is none,
        or if `stop` is set before the belief is up to date. Raises GameError if what was told does
        not fit, or if it is not our turn.
        """
        self.last_turn = None
        known = self.knowledge
        planned = turn_time(limits, known.side, self.options.integer("Move Overhead"))
        deadline = None if planned is None else planned.deadline
        if not known.update(share_of(deadline, limits.received, BELIEF_SHARE), stop):
            return Choice(None)
        if int(known.any_position()[STATE]) & 1 != known.side:
            raise GameError("it is not our side's turn")
        moves = known.legal_moves()
        if not len(moves):
            return Choice(None)
        names = [move_to_uci(move, chess960=self.chess960) for move in moves]
        turn = OwnTurn(known, names, limits, planned, stop, report, self.options.number("tau"))
        forced = known.forced_move(moves)
        if forced is None:
            choice = self.choose(turn)
        else:
            index, captures_king = forced
            value = 1.0 if captures_king else self.last_value
            info = self.forced_info(turn, names[index], value)
            turn.tell(info)
            choice = Choice(names[index], info=info)
        self.last_turn = LastTurn(known.plies, searched=forced is None)
        return choice

    # -- questions -------------------------------------------------------------------------------

    @property
    def seed(self) -> int:
        """The seed of all random numbers of this game: the option `Seed`, or from the clock."""
        return self._seed

    @property
    def knowledge(self) -> Knowledge:
        """What our side knows of the game. Raises GameError before the first game."""
        if self._known is None:
            raise GameError("no game has been started")
        return self._known

    @property
    def belief_size(self) -> int:
        """The number of possible positions."""
        return len(self.knowledge.belief)

    @property
    def belief_exact(self) -> bool:
        """Whether the belief holds exactly the positions that fit all that was seen."""
        return bool(self.knowledge.belief.exact)

    def belief_fens(self, count: int) -> dict[str, float | None]:
        """`count` positions of the belief, as FENs without counters, with their probabilities.

        The most likely ones come first. Without weights the first ones in sorted order come, and
        None for each; of more than MOST_SORTED positions it is a sample that comes, sorted.
        """
        belief = self.knowledge.belief
        weights = belief.weights
        if not count:
            return {}
        if weights is None:
            # P is in random order. To sort a large one takes long.
            wanted = len(belief) if len(belief) <= MOST_SORTED else count
            positions = belief.first_positions(wanted)
            return dict.fromkeys(map(to_fen, positions[fen_order(positions)[:count]]))
        least = np.sort(weights)[-count:][:1]
        rows = np.flatnonzero(weights >= least)
        positions, shares = belief.positions[rows], weights[rows]
        order = fen_order(positions)
        order = order[np.argsort(-shares[order], kind="stable")[:count]]
        return {
            to_fen(position): share / len(belief)
            for position, share in zip(positions[order], shares[order].tolist(), strict=True)
        }

    def marginals(self) -> Marginals:
        """How likely each enemy piece is on each square, as far as the belief is up to date."""
        return marginals(self.knowledge.belief)

    def belief_contains(self, words: Words) -> bool:
        """Bring the belief up to date; return whether it holds a position uint64[8]."""
        self.update()
        return bool(self.knowledge.belief.contains(words))

    def coverage(self, words: Words) -> Coverage:
        """Say what the last search knew of a position uint64[8]. The question changes nothing.

        Raises GameError if no move was chosen in this game, or if the belief has gone on since.
        """
        turn = self._last_turn()
        in_belief = bool(self.knowledge.belief.contains(words))
        return self.covered(words, in_belief) if turn.searched else Coverage(in_belief)

    def compare(self, move: str, other: str | None = None) -> Comparison | None:
        """Say what the last search thinks of two of our moves. The question changes nothing.

        move: in UCI. other: None for the move that the search prefers to all but `move`. Returns
        None for a player that keeps no tree. Raises GameError as `coverage`, if the move needed no
        search, or if one of the two was no move of ours.
        """
        if not self._last_turn().searched:
            raise GameError("the last move needed no search")
        return self.compared(move, other)

    def compared(self, move: str, other: str | None) -> Comparison | None:
        """Say what the last search thinks of two moves, as `compare` does; None: there is no tree.

        A subclass that keeps a tree overrides this.
        """
        return None

    def coverage_of_fen(self, fen: str) -> Coverage:
        """Say what the last search knew of a position; see `coverage`."""
        return self.coverage(from_fen(fen))

    def _last_turn(self) -> LastTurn:
        turn, known = self.last_turn, self.knowledge
        if turn is None:
            raise GameError("there is no search to ask about")
        if turn.plies != known.plies:
            raise GameError("the game has gone on since the last search")
        return turn

    def random(self) -> np.random.Generator:
        """A generator for this turn: the same for the same seed and information key."""
        material = f"{self._seed} {self.knowledge.key}".encode()
        digest = hashlib.blake2b(material, digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest, "little"))
