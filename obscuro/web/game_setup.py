"""What a game in the browser is started with; reads and checks a browser's wishes."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import chess

from obscuro.matches.time_control import MILLISECONDS, TimeControl
from obscuro.rules.board import BOARDS, FogOfWarBoard
from obscuro.rules.stalemate import LOSS, STALEMATES
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import start_board
from obscuro.web.player_notes import color_name
from obscuro.web.web_error import BAD_REQUEST, WebError

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

_COLORS = {"white": chess.WHITE, "black": chess.BLACK}


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
        return BOARDS[self.stalemate](self.start)

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
            human=None if data["human"] is None else _COLORS[data["human"]],
            control=TimeControl(**data["control"]),
            levels={_COLORS[name]: level for name, level in data["levels"].items()},
            start=data["start"],
            takebacks=data["takebacks"],
            stalemate=data["stalemate"],
        )


def read_game(data: object, levels: Collection[int], chance: random.Random) -> GameSetup:
    """Read the wish for a game against the engine. levels: that there are. Raises WebError."""
    wish = _wish(data, {"color", "time", "level", "fen", "takebacks", "stalemate"})
    color = wish.get("color", "white")
    if color not in (*_COLORS, "random"):
        raise _bad("color is white, black or random")
    level = _level(wish.get("level"), levels)
    human = chance.choice(chess.COLORS) if color == "random" else _COLORS[color]
    return GameSetup(
        human=human,
        control=_control(wish.get("time")),
        levels={human: None, not human: level},
        start=_start(wish.get("fen"), stalemate := _stalemate(wish)),
        takebacks=_flag(wish, "takebacks"),
        stalemate=stalemate,
    )


def read_match(data: object, levels: Collection[int]) -> GameSetup:
    """Read the wish to watch two engines play. levels: that there are. Raises WebError."""
    wish = _wish(data, {"white", "black", "move", "fen", "stalemate"})
    seconds = _number(wish.get("move", 1), "move", LEAST_MOVE, MOST_MOVE)
    return GameSetup(
        human=None,
        control=TimeControl(round(MILLISECONDS * seconds)),
        levels={color: _level(wish.get(name), levels) for name, color in _COLORS.items()},
        start=_start(wish.get("fen"), stalemate := _stalemate(wish)),
        stalemate=stalemate,
    )


# -- the parts of a wish --------------------------------------------------------------------


def _bad(text: str) -> WebError:
    return WebError(BAD_REQUEST, text)


def _wish(data: object, known: set[str]) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _bad("a JSON object is needed")
    if data.keys() - known:
        raise _bad(f"the only fields are {', '.join(sorted(known))}")
    return data


def _control(time: object) -> TimeControl:
    if time is None:
        return UNTIMED_MOVE
    if isinstance(time, dict) and time.keys() == {"move"}:
        seconds = _number(time["move"], "time.move", LEAST_MOVE, MOST_MOVE)
        return TimeControl(round(MILLISECONDS * seconds))
    if isinstance(time, dict) and time.keys() == {"base", "increment"}:
        base = _number(time["base"], "time.base", LEAST_BASE, MOST_BASE)
        increment = _number(time["increment"], "time.increment", 0, MOST_INCREMENT)
        return TimeControl(None, round(MILLISECONDS * base), round(MILLISECONDS * increment))
    raise _bad('time is null, {"move": s} or {"base": s, "increment": s}')


def _number(value: object, name: str, least: float, most: float) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
        return float(value)
    raise _bad(f"{name} is a number of seconds from {least:g} to {most:g}")


def _level(value: object, levels: Collection[int]) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value not in levels:
        raise _bad("there is no such level")
    return value


def _flag(wish: dict[str, Any], name: str) -> bool:
    value = wish.get(name, False)
    if not isinstance(value, bool):
        raise _bad(f"{name} is true or false")
    return value


def _stalemate(wish: dict[str, Any]) -> str:
    value = wish.get("stalemate", LOSS)
    if value not in STALEMATES:
        raise _bad(f"stalemate is {' or '.join(STALEMATES)}")
    return str(value)


def _start(fen: object, stalemate: str) -> str:
    """Return the whole FEN of a start from which the game can go on."""
    if fen is None or fen == "":
        return chess.STARTING_FEN
    if not isinstance(fen, str) or len(fen) > MOST_FEN:
        raise _bad(f"a FEN has at most {MOST_FEN} characters")
    try:
        start = start_board(fen).fen()
    except ProtocolError as error:
        raise _bad(str(error)) from None
    if BOARDS[stalemate](start).outcome() is not None:
        raise _bad("the game is over in this position")
    return start
