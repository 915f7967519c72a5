"""What a game in the browser is started with; reads and checks a browser's wishes."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

import chess
import msgspec

from obscuro.matches.time_control import MILLISECONDS, TimeControl
from obscuro.rules.board import BOARDS, FogOfWarBoard
from obscuro.rules.stalemate import LOSS, STALEMATES
from obscuro.rules.starts import STARTS, board_of, fen_of
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import start_board
from obscuro.viewer.game_file import MOST_MOVE_NUMBER
from obscuro.web.play.player_notes import ColorName, color_name
from obscuro.web.web_limits import BAD_REQUEST, WebError
from obscuro.web.web_requests import read_wish

MOST_FEN = 100
LEAST_BASE, MOST_BASE = 5.0, 10_800.0
"""Seconds on a clock."""
MOST_INCREMENT = 180.0
LEAST_MOVE, MOST_MOVE = 0.05, 60.0
"""Seconds for an engine's move."""
UNTIMED_MOVE = TimeControl(1000)
"""What the engine takes for a move where the player chose no time."""
TIME_PRESETS = tuple(
    {"name": f"{base // 60} + {increment}", "base": base, "increment": increment}
    for base, increment in ((180, 2), (300, 3), (600, 5), (900, 10))
)
MOVE_PRESETS = (1, 2, 5)
"""The times that the form offers, in seconds."""

_COLORS: dict[str, chess.Color] = {"white": chess.WHITE, "black": chess.BLACK}
_MoveSeconds = Annotated[float, msgspec.Meta(ge=LEAST_MOVE, le=MOST_MOVE)]
_BaseSeconds = Annotated[float, msgspec.Meta(ge=LEAST_BASE, le=MOST_BASE)]
_IncrementSeconds = Annotated[float, msgspec.Meta(ge=0.0, le=MOST_INCREMENT)]


@dataclass(frozen=True, slots=True)
class GameSetup:
    """What a game is started with.

    human: the person's side; None: two engines play. levels: of each engine's strength; None: full.
    control: clocks, or the time of an engine's move; a person has no limit then. start: the FEN,
    complete; both sides know it.
    """

    human: chess.Color | None
    control: TimeControl
    levels: Mapping[chess.Color, int | None]
    start: str = chess.STARTING_FEN
    takebacks: bool = False
    stalemate: str = LOSS

    @property
    def engines(self) -> tuple[chess.Color, ...]:
        """The sides that an engine plays."""
        return tuple(color for color in chess.COLORS if color != self.human)

    def board(self) -> FogOfWarBoard:
        """Return a new board at the start of the game."""
        return board_of(self.start, BOARDS[self.stalemate])

    def turned(self) -> GameSetup:
        """Return the setup of a rematch: the sides change."""
        human = None if self.human is None else not self.human
        levels = {color: self.levels[not color] for color in chess.COLORS}
        return replace(self, human=human, levels=levels)

    def to_json(self) -> dict[str, Any]:
        """Return the setup as a JSON object."""
        return {
            "human": None if self.human is None else color_name(self.human),
            "control": asdict(self.control),
            "levels": {color_name(color): self.levels[color] for color in chess.COLORS},
            "start": self.start,
            "takebacks": self.takebacks,
            "stalemate": self.stalemate,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GameSetup:
        """Read what `to_json` wrote."""
        return cls(
            **{
                **data,
                "human": None if data["human"] is None else _COLORS[data["human"]],
                "control": TimeControl(**data["control"]),
                "levels": {_COLORS[name]: level for name, level in data["levels"].items()},
            }
        )


class _TimeWish(msgspec.Struct, forbid_unknown_fields=True):
    """Either the seconds of an engine's move, or clocks."""

    move: _MoveSeconds | None = None
    base: _BaseSeconds | None = None
    increment: _IncrementSeconds | None = None

    def control(self) -> TimeControl:
        """Return the time control. Raises WebError."""
        match self.move, self.base, self.increment:
            case float(move), None, None:
                return TimeControl(round(MILLISECONDS * move))
            case None, float(base), float(increment):
                return TimeControl(
                    None, round(MILLISECONDS * base), round(MILLISECONDS * increment)
                )
        raise _bad('time is null, {"move": s} or {"base": s, "increment": s}')


class _GameWish(msgspec.Struct, forbid_unknown_fields=True):
    """The wish for a game against the engine."""

    color: ColorName | Literal["random"] = "white"
    time: _TimeWish | None = None
    level: int | None = None
    fen: str | None = None
    takebacks: bool = False
    stalemate: str = LOSS
    chess960: bool = False


class _MatchWish(msgspec.Struct, forbid_unknown_fields=True):
    """The wish to watch two engines play."""

    white: int | None = None
    black: int | None = None
    move: _MoveSeconds = 1.0
    fen: str | None = None
    stalemate: str = LOSS
    chess960: bool = False


def read_game(text: bytes, levels: Collection[int], chance: random.Random) -> GameSetup:
    """Read the wish for a game against the engine. levels: that there are. Raises WebError."""
    wish = read_wish(text, _GameWish)
    is_random = wish.color == "random"
    human = chance.choice(chess.COLORS) if is_random else _COLORS[wish.color]
    return GameSetup(
        human=human,
        control=UNTIMED_MOVE if wish.time is None else wish.time.control(),
        levels={human: None, not human: _checked_level(wish.level, levels)},
        start=_checked_start(wish, chance),
        takebacks=wish.takebacks,
        stalemate=wish.stalemate,
    )


def read_match(text: bytes, levels: Collection[int], chance: random.Random) -> GameSetup:
    """Read the wish to watch two engines play. levels: that there are. Raises WebError."""
    wish = read_wish(text, _MatchWish)
    return GameSetup(
        human=None,
        control=TimeControl(round(MILLISECONDS * wish.move)),
        levels={
            chess.WHITE: _checked_level(wish.white, levels),
            chess.BLACK: _checked_level(wish.black, levels),
        },
        start=_checked_start(wish, chance),
        stalemate=wish.stalemate,
    )


def _bad(text: str) -> WebError:
    return WebError(BAD_REQUEST, text)


def _checked_level(level: int | None, levels: Collection[int]) -> int | None:
    if level is not None and level not in levels:
        raise _bad("there is no such level")
    return level


def _checked_start(wish: _GameWish | _MatchWish, chance: random.Random) -> str:
    """Return the whole FEN of a start from which the game can go on. Raises WebError.

    A wish for Chess960 without a FEN gets a random start.
    """
    fen, stalemate = wish.fen, wish.stalemate
    if stalemate not in STALEMATES:
        raise _bad(f"stalemate is {' or '.join(STALEMATES)}")
    if not fen and wish.chess960:
        return fen_of(FogOfWarBoard.from_chess960_pos(chance.randrange(STARTS)))
    if not fen:
        return chess.STARTING_FEN
    if len(fen) > MOST_FEN:
        raise _bad(f"a FEN has at most {MOST_FEN} characters")
    try:
        board = start_board(fen, chess960=wish.chess960)
    except ProtocolError as error:
        raise _bad(str(error)) from None
    if board.fullmove_number > MOST_MOVE_NUMBER:
        raise _bad(f"the number of the first move is at most {MOST_MOVE_NUMBER}")
    start = fen_of(board)
    if board_of(start, BOARDS[stalemate]).outcome() is not None:
        raise _bad("the game is over in this position")
    return start
