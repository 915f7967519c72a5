"""What a server with the lichess bot API says, as typed values.

Reading is tolerant, since servers differ and add fields. A missing field gets a harmless value, and
a message that we don't need becomes None. pychess.org, for example, names a variant in `name` only,
sends a `ping` object where lichess sends an empty line, gives every game the status `started`, and
ends a game by `gameEnd`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import chess

Json = Mapping[str, Any]

FOG_VARIANTS = ("fogofwar", "darkchess")
"""Names of the variant, in lower case, letters and digits only; pychess.org's is `fogofwar`."""
_CHESS960 = "960"  # ends the name of a variant of Chess960

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

UNDERWAY = frozenset({"", "created", "started"})
"""The `status` of a game that goes on; it is empty if the server does not say it."""
WHOLE_SECOND_MS = 1000
LARGEST_NUMBER = 1 << 53
"""Numbers that are larger, or no numbers, are not read: 2⁵³ ms are 285,000 years."""
LONGEST_WORD = 60  # characters of a name; the rest is cut off
NO_CLOCK_MS = 1 << 30
"""A clock that shows this much (12 days) is none: lichess says 2³¹ − 1 if there is no limit."""


@dataclass(frozen=True, slots=True)
class Ping:
    """A sign of life, and nothing else."""


@dataclass(frozen=True, slots=True)
class ServerClock:
    """Seconds on the clock at the start, and seconds added with each move."""

    base: float
    increment: float


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge. time: None if no clock runs. ours: whether we sent it ourselves."""

    id: str
    challenger: str
    is_bot: bool
    variant: str
    chess960: bool
    rated: bool
    time: ServerClock | None
    ours: bool = False

    def __str__(self) -> str:
        """Return the words for it in a log."""
        return f"challenge {self.id} of {self.challenger}"


@dataclass(frozen=True, slots=True)
class ChallengeGone:
    """A challenge was taken back or declined."""

    id: str


@dataclass(frozen=True, slots=True)
class GameStart:
    """A game of ours has begun or goes on. variant: "" if the server does not say it."""

    id: str
    variant: str


@dataclass(frozen=True, slots=True)
class GameEnd:
    """A game is over.

    id: "" on the game's own stream. status, winner: "" and None if the server does not say them.
    """

    id: str = ""
    status: str = ""
    winner: chess.Color | None = None


@dataclass(frozen=True, slots=True)
class GameState:
    """How a game stands. Clocks and increments are milliseconds; None: there is no clock."""

    moves: tuple[str, ...]
    wtime: int | None = None
    btime: int | None = None
    winc: int = 0
    binc: int = 0
    status: str = ""
    winner: chess.Color | None = None
    wdraw: bool = False
    bdraw: bool = False
    wtakeback: bool = False
    btakeback: bool = False

    @property
    def offers(self) -> bool:
        """Whether a side offers a draw or asks to take a move back."""
        return self.wdraw or self.bdraw or self.wtakeback or self.btakeback

    @property
    def over(self) -> bool:
        """Whether the server says that the game has ended."""
        return self.status not in UNDERWAY

    def clock(self, color: chess.Color) -> int | None:
        """Return the milliseconds that a side has left; None without a clock."""
        return self.wtime if color == chess.WHITE else self.btime

    def offers_draw(self, color: chess.Color) -> bool:
        """Return whether a side offers a draw."""
        return self.wdraw if color == chess.WHITE else self.bdraw

    def asks_takeback(self, color: chess.Color) -> bool:
        """Return whether a side asks to take its move back."""
        return self.wtakeback if color == chess.WHITE else self.btakeback


@dataclass(frozen=True, slots=True)
class GameFull:
    """A whole game, the first message on its stream.

    white, black: names and ids, in lower case. start: the FEN that it began from; None: the usual
    start. white_name, black_name: as the players write them. bots: the sides that bots play, as far
    as the server says. chess960: whether the server says that the game is one of Chess960.
    """

    id: str
    variant: str
    white: frozenset[str]
    black: frozenset[str]
    start: str | None
    state: GameState
    white_name: str = ""
    black_name: str = ""
    bots: frozenset[chess.Color] = frozenset()
    chess960: bool = False

    def color_of(self, user: str) -> chess.Color | None:
        """Return the side that an account plays; None if it plays neither."""
        if user.lower() in self.white:
            return chess.WHITE
        return chess.BLACK if user.lower() in self.black else None


@dataclass(frozen=True, slots=True)
class OpponentGone:
    """The other side has left, or is back. claim_in: seconds until we may claim the win."""

    gone: bool
    claim_in: float | None


Event = Ping | Challenge | ChallengeGone | GameStart | GameEnd
GameEvent = Ping | GameFull | GameState | GameEnd | OpponentGone


def parse_event(message: Json, user: str) -> Event | None:
    """Read an object of the event stream; None if we don't need it. user: our own name."""
    challenge, game = _object(message, "challenge"), _object(message, "game")
    match message.get("type"):
        case "ping":
            return Ping()
        case "challenge" if _id(challenge, "id"):
            meant = _names(_object(challenge, "destUser"))
            found = _challenge(challenge, user)
            return found if found.ours or not meant or user.lower() in meant else None
        case "challengeCanceled" | "challengeDeclined" if _id(challenge, "id"):
            return ChallengeGone(_id(challenge, "id"))
        case "gameStart" if _game_id(game):
            return GameStart(_game_id(game), variant_of(game))
        case "gameFinish" | "gameEnd" if _game_id(game):
            return _game_end(game)
    return None


def parse_game_event(message: Json) -> GameEvent | None:
    """Read an object of a game's stream; None if we don't need it."""
    match message.get("type"):
        case "ping":
            return Ping()
        case "gameFull":
            return _game_full(message)
        case "gameState":
            return _state(message)
        case "gameEnd" | "gameFinish":
            return _game_end(_object(message, "game"))
        case "opponentGone":
            return OpponentGone(_flag(message, "gone"), _number(message, "claimWinInSeconds"))
    return None


def variant_of(holder: Json) -> str:
    """Return the variant of a game or challenge, in lower case, letters and digits only.

    The `960` of a variant of Chess960 is left out.
    """
    variant = holder.get("variant")
    name = variant if isinstance(variant, str) else ""
    if isinstance(variant, Mapping):
        name = _text(variant, "key") or _text(variant, "name")
    return re.sub(r"[^a-z0-9]", "", name.lower()).removesuffix(_CHESS960)


def _is_chess960(holder: Json) -> bool:
    """Tell whether a game or challenge is one of Chess960: a flag says so, or the variant's name."""
    variant = holder.get("variant")
    names = variant.values() if isinstance(variant, Mapping) else [variant]
    return _flag(holder, "chess960") or any(
        isinstance(name, str) and name.rstrip().endswith(_CHESS960) for name in names
    )


def _challenge(challenge: Json, user: str) -> Challenge:
    challenger = _object(challenge, "challenger")
    time = _object(challenge, "timeControl")
    clock = None
    if time.get("type", "clock") == "clock" and "limit" in time:
        clock = ServerClock(_seconds(time, "limit"), _seconds(time, "increment"))
    name = _word(challenger, "name") or _word(challenger, "id")
    return Challenge(
        id=_id(challenge, "id"),
        challenger=name,
        is_bot=_text(challenger, "title") == "BOT",
        variant=variant_of(challenge),
        chess960=_is_chess960(challenge),
        rated=_flag(challenge, "rated"),
        time=clock,
        ours=challenge.get("direction") == "out" or user.lower() in _names(challenger),
    )


def _game_full(message: Json) -> GameFull:
    players = {color: _object(message, chess.COLOR_NAMES[color]) for color in chess.COLORS}
    white, black = players[chess.WHITE], players[chess.BLACK]
    return GameFull(
        id=_id(message, "id"),
        variant=variant_of(message),
        white=_names(white),
        black=_names(black),
        start=_start(_text(message, "initialFen")),
        state=_state(_object(message, "state")),
        white_name=_word(white, "name"),
        black_name=_word(black, "name"),
        bots=frozenset(
            color for color, player in players.items() if _text(player, "title") == "BOT"
        ),
        chess960=_is_chess960(message),
    )


def _state(state: Json) -> GameState:
    return GameState(
        moves=tuple(_text(state, "moves").split()),
        wtime=_clock(state, "wtime"),
        btime=_clock(state, "btime"),
        winc=_increment(state, "winc"),
        binc=_increment(state, "binc"),
        status=_word(state, "status"),
        winner=_winner(state),
        wdraw=_flag(state, "wdraw"),
        bdraw=_flag(state, "bdraw"),
        wtakeback=_flag(state, "wtakeback"),
        btakeback=_flag(state, "btakeback"),
    )


def _game_end(game: Json) -> GameEnd:
    status = _word(_object(game, "status"), "name") or _word(game, "status")
    return GameEnd(_game_id(game), status, _winner(game))


def _winner(holder: Json) -> chess.Color | None:
    return {"white": chess.WHITE, "black": chess.BLACK}.get(_text(holder, "winner"))


def _clock(state: Json, key: str) -> int | None:
    milliseconds = _number(state, key)
    if milliseconds is None or milliseconds >= NO_CLOCK_MS:
        return None
    return max(0, round(milliseconds))


def _increment(state: Json, key: str) -> int:
    """Read an increment of whole seconds: lichess sends it in ms, pychess.org in seconds."""
    number = max(0, round(_number(state, key) or 0))
    return number * WHOLE_SECOND_MS if number < WHOLE_SECOND_MS else number


def _start(fen: str) -> str | None:
    """Read the start of a game; None for the usual one, which some servers write as a FEN."""
    if fen.lower() in ("", "startpos") or fen.split()[:4] == chess.STARTING_FEN.split()[:4]:
        return None
    return fen


def _names(player: Json) -> frozenset[str]:
    names = (_word(player, key).lower() for key in ("id", "name", "username"))
    return frozenset(name for name in names if name)


def _game_id(game: Json) -> str:
    return _id(game, "gameId") or _id(game, "id")


def _object(message: Json, key: str) -> Json:
    value = message.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(message: Json, key: str) -> str:
    value = message.get(key)
    return value if isinstance(value, str) else ""


def _word(message: Json, key: str) -> str:
    """Read a name that others choose, so that it is fit for our logs."""
    text = _text(message, key)[:LONGEST_WORD]
    return "".join(character if character.isprintable() else "?" for character in text)


def _id(message: Json, key: str) -> str:
    """Read an id, which becomes a part of an address; "" if it is not fit for that."""
    text = _text(message, key)
    return text if _ID.fullmatch(text) else ""


def _number(message: Json, key: str) -> float | None:
    """Read a number; None if it is none, or larger than anything that a server means."""
    value = message.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) <= LARGEST_NUMBER else None  # false for NaN too


def _seconds(time: Json, key: str) -> float:
    """Read a time of a challenge: 0 if it is not there, endless if it can't be read."""
    if time.get(key) is None:
        return 0.0
    number = _number(time, key)
    return math.inf if number is None else float(number)


def _flag(message: Json, key: str) -> bool:
    """Read a truth value, which some servers write as text."""
    value = message.get(key)
    return value.lower() == "true" if isinstance(value, str) else bool(value)
