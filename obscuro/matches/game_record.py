"""The parts of a game: contestants, their turns, and the record of the finished game, also as JSON."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import chess
import msgspec

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage
from obscuro.matches.time_control import UNTIMED, Allowance, TimeControl
from obscuro.rules.board import BOARDS, FogOfWarBoard
from obscuro.rules.stalemate import LOSS
from obscuro.rules.starts import board_of, fen_of

OWN_OBSERVATIONS = "own observations"
EVERYTHING = "everything"
"""What a player is told in a game: what its side saw, or the whole game."""


class Forfeit(Exception):  # noqa: N818 - the field calls it a forfeit
    """A player loses by its own failure. The text says why: `died`, `resigned`."""


class LateForfeit(Forfeit):
    """A player loses because it took too long, if the machine did not stand still meanwhile."""


class BeliefError(AssertionError):
    """An engine's exact belief lacks the true position. This is always a bug."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One move of a player.

    uci: the move as the player gave it. seconds: its duration on the referee's clock. report: what
    an engine reported about it. belief_checks: how often, since the player's last turn, the referee
    looked for the true position in the engine's belief and found it. coverage: where the true
    position was in the engine's search; None: the engine was not asked, or did not answer.
    """

    uci: str
    seconds: float = 0.0
    report: Report | None = None
    belief_checks: int = 0
    coverage: Coverage | None = None


class Contestant(Protocol):
    """A player of games under a referee. Calls come from one thread at a time.

    Each method gets the referee's board, which shows everything. A player must not change it, and
    an honest player looks only at what its own side sees.
    """

    @property
    def name(self) -> str:
        """The name for tables and PGN headers."""

    @property
    def told(self) -> str:
        """What the player is told: OWN_OBSERVATIONS or EVERYTHING. It holds from `new_game` on."""

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Prepare to play *color* from this position. Raises EngineError if that fails.

        seed: the game's random seed; a player with its own source of chance may ignore it.
        """

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Choose a move within the time allowed. Raises Forfeit if the player gives no move."""

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Take note of a move by either side after which the game goes on."""

    def close(self) -> None:
        """Release everything, processes above all. A second call does nothing."""


@runtime_checkable
class Interruptible(Protocol):
    """A contestant whose turn any thread may end."""

    def interrupt(self) -> None:
        """End a turn under way at once. The player seems to fail, so its game must not count.

        The player plays no more.
        """


@dataclass(frozen=True, slots=True)
class PlayedPly:
    """One move of a game and the side that made it. san: the move in standard notation."""

    color: chess.Color
    turn: Turn
    san: str


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished game.

    winner: None for a draw. ending: the cause in words, such as `king captured`. regular: whether
    the game ended by the rules, or as both players agree; False after a player's failure, or at the
    limit of moves. controls: the time of each side. opening: the name of the line from which the game
    began; empty for the plain start. told: what each side was told. started: the time of the first
    move, UTC, as ISO 8601.
    """

    white: str
    black: str
    board: FogOfWarBoard  # the final position, with all moves on its stack
    winner: chess.Color | None
    ending: str
    regular: bool = True
    plies: list[PlayedPly] = field(default_factory=list)
    controls: Mapping[chess.Color, TimeControl] = field(
        default_factory=lambda: dict.fromkeys(chess.COLORS, UNTIMED)
    )
    opening: str = ""
    told: Mapping[chess.Color, str] = field(
        default_factory=lambda: dict.fromkeys(chess.COLORS, OWN_OBSERVATIONS)
    )
    started: str = ""

    @property
    def result(self) -> str:
        """The result in PGN's notation."""
        if self.winner is None:
            return "1/2-1/2"
        return "1-0" if self.winner == chess.WHITE else "0-1"

    def score(self, color: chess.Color) -> float:
        """Return the points of *color*: 1, ½ or 0."""
        return 0.5 if self.winner is None else float(self.winner == color)

    def turns(self, color: chess.Color) -> list[Turn]:
        """Return the turns of one side in the order of play."""
        return [ply.turn for ply in self.plies if ply.color == color]


# -- as JSON ----------------------------------------------------------------------------------


def turn_to_json(turn: Turn) -> dict[str, Any]:
    """Return a turn as a JSON object, without what is unknown."""
    data: dict[str, Any] = _known(msgspec.to_builtins(turn))
    if not turn.belief_checks:
        del data["belief_checks"]
    return data


def turn_from_json(data: Mapping[str, Any]) -> Turn:
    """Read what `turn_to_json` wrote. Raises ValueError for anything else."""
    return msgspec.convert(data, Turn)


def _known(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _known(value) if isinstance(value, dict) else value
        for name, value in data.items()
        if value is not None and value != ()
    }


class RecordData(msgspec.Struct, kw_only=True):
    """A game record as JSON has it. Older records do not name the rule of stalemate: it was one.

    start: a FEN. hidden_start: whether neither side knew how the other one began. controls, told: by
    the name of the colour.
    """

    white: str
    black: str
    start: str
    hidden_start: bool = False
    stalemate: str = LOSS
    winner: Literal["white", "black"] | None
    ending: str
    regular: bool
    controls: dict[str, TimeControl]
    opening: str
    told: dict[str, str]
    started: str
    turns: list[dict[str, Any]]

    def record(self) -> GameRecord:
        """Play the moves again. Raises KeyError or ValueError, above all for an illegal move."""
        datetime.datetime.fromisoformat(self.started)
        board = board_of(self.start, BOARDS[self.stalemate])
        board.hidden_start = self.hidden_start
        plies = []
        for each in self.turns:
            turn = turn_from_json(each)
            move = board.parse_uci(turn.uci)
            plies.append(PlayedPly(board.turn, turn, board.san(move)))
            board.push(move)
        return GameRecord(
            white=self.white,
            black=self.black,
            board=board,
            winner=None if self.winner is None else self.winner == "white",
            ending=self.ending,
            regular=self.regular,
            plies=plies,
            controls={color: self.controls[name] for color, name in _COLORS},
            opening=self.opening,
            told={color: self.told[name] for color, name in _COLORS},
            started=self.started,
        )


_COLORS: tuple[tuple[chess.Color, Literal["white", "black"]], ...] = (
    (chess.WHITE, "white"),
    (chess.BLACK, "black"),
)


def record_data(record: GameRecord) -> RecordData:
    """Return a record as JSON has it. Nothing is lost."""
    return RecordData(
        white=record.white,
        black=record.black,
        start=fen_of(record.board.root()),
        hidden_start=record.board.hidden_start,
        stalemate=record.board.stalemate,
        winner=None if record.winner is None else dict(_COLORS)[record.winner],
        ending=record.ending,
        regular=record.regular,
        controls={name: record.controls[color] for color, name in _COLORS},
        opening=record.opening,
        told={name: record.told[color] for color, name in _COLORS},
        started=record.started,
        turns=[turn_to_json(ply.turn) for ply in record.plies],
    )
