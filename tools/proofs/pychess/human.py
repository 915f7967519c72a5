"""A scripted human on the server's websockets, as a browser would be: lobby, board, buttons."""

from __future__ import annotations

import contextlib
import json
import random
import re
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from http.cookies import SimpleCookie
from typing import Any

import chess
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import ClientConnection, connect

from tools.proofs.pychess.processes import NotAsExpectedError, until

Said = Mapping[str, Any]

ANSWER_SECONDS = 20.0
"""The longest that the bot may take for what it is waited for."""
ONLINE_SECONDS = 60.0
"""The longest that the bot may be away after the server was."""
KNOCK_SECONDS = 0.5
"""The server takes 80 requests in 30 s from one address, and refuses more."""
PATIENCE_SECONDS = 2.0
"""The longest that the server takes for what it answers at all."""
PING_SECONDS = 5.0
STARTED = -1
"""The server's status of a game that goes on. A greater one is an end, a smaller one a beginning."""
STATUS = {
    0: "aborted",
    1: "mate",
    2: "resigned",
    3: "no move",
    5: "draw",
    6: "time",
    7: "left",
    10: "illegal move",
    12: "king taken",
}
CALM = {
    chess.WHITE: "a2a3 h2h3 b2b3 g2g3 c2c3 b1d2 a1a2 h1h2 a2a1 h2h1 b3b4 a3a4",
    chess.BLACK: "a7a6 h7h6 b7b6 g7g6 c7c6 b8d7 a8a7 h8h7 a7a8 h7h8 b6b5 a6a5",
}
"""Moves that attack nothing, tried in this order."""


class Socket:
    """A websocket whose messages are all kept. A thread reads them and answers for the browser."""

    def __init__(self, url: str, cookie: str) -> None:
        """Connect. Raises OSError or WebSocketException."""
        self._opened = contextlib.ExitStack()
        self._connection: ClientConnection = self._opened.enter_context(
            connect(
                url.replace("http", "ws", 1),
                additional_headers={"Cookie": cookie},
                open_timeout=ANSWER_SECONDS,
                ping_interval=None,  # the server has a ping of its own
            )
        )
        self.heard: list[Said] = []
        self.closed = False
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._ping, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(WebSocketException, OSError):
            for text in self._connection:
                if text != "/n":
                    self.heard.append(json.loads(text))
        self.closed = True

    def _ping(self) -> None:
        with contextlib.suppress(WebSocketException, OSError):
            while not self.closed:
                self._connection.send("/n")
                time.sleep(PING_SECONDS)

    def send(self, kind: str, **fields: object) -> None:
        """Send a message. Raises NotAsExpectedError if the connection is gone."""
        try:
            self._connection.send(json.dumps({"type": kind, **fields}))
        except WebSocketException as error:
            raise NotAsExpectedError(f"the human's connection is gone: {error}") from None

    def ask_until_answered(self, kind: str, fields: Mapping[str, object], answer: str) -> None:
        """Send a message again and again until there is an answer.

        The server says nothing to who challenges a bot that is not online. Raises
        NotAsExpectedError.
        """
        deadline = time.monotonic() + ONLINE_SECONDS
        while time.monotonic() < deadline:
            self.send(kind, **fields)
            with contextlib.suppress(NotAsExpectedError):
                self.wait(answer, seconds=PATIENCE_SECONDS)
                return
        raise NotAsExpectedError(f"the server does not answer to `{kind}`")

    def wait(
        self,
        kind: str,
        such: Callable[[Said], bool] = lambda said: True,
        *,
        after: int = 0,
        seconds: float = ANSWER_SECONDS,
    ) -> Said:
        """Return the first message of a kind, of those after the first *after* ones, when it comes.

        Raises NotAsExpectedError after *seconds*.
        """
        found: list[Said] = []

        def is_there() -> bool:
            found[:] = [
                said for said in self.heard[after:] if said.get("type") == kind and such(said)
            ]
            return bool(found)

        until(is_there, seconds, f"the server's `{kind}`")
        return found[0]

    def close(self) -> None:
        """Close the connection."""
        self._opened.close()


def session_cookie(name: str) -> str:
    """Return the cookie of a browser in which somebody is logged in (aiohttp_session)."""
    session = {"created": int(time.time()), "session": {"user_name": name}}
    cookie: SimpleCookie = SimpleCookie()
    cookie["AIOHTTP_SESSION"] = json.dumps(session)
    return cookie.output(header="").strip()


class Human:
    """Somebody who is logged in on the server."""

    def __init__(self, url: str, name: str, bot: str) -> None:
        self._url = url
        self.bot = bot
        self._cookie = session_cookie(name)
        self.games: list[HumanGame] = []
        self._open: list[Socket] = []

    def challenge(
        self, colour: str, *, minutes: float = 0.5, increment: int = 1, fen: str = ""
    ) -> str:
        """Challenge the bot and return the game's name. colour: the human's, `w` or `b`.

        Raises NotAsExpectedError.
        """
        lobby = self.socket("/wsl")
        wish = {
            "profileid": self.bot,
            "variant": "fogofwar",
            "fen": fen,
            "color": colour,
            "minutes": minutes,
            "increment": increment,
            "byoyomiPeriod": 0,
            "day": 0,
            "rated": False,
            "chess960": False,
            "target": "BOT_challenge",
        }
        lobby.ask_until_answered("create_bot_challenge", wish, "bot_challenge_created")
        name = str(lobby.wait("bot_challenge_created")["gameId"])
        lobby.close()
        return name

    def play(self, colour: str, **options: Any) -> HumanGame:
        """Challenge the bot and sit down at the board when it has accepted."""
        return self.sit_down(self.challenge(colour, **options), colour == "w")

    def sit_down(self, name: str, colour: chess.Color) -> HumanGame:
        """Open the board of a game when there is one. Raises NotAsExpectedError."""
        found: list[Socket] = []

        def is_there() -> bool:
            with contextlib.suppress(InvalidHandshake):
                found.append(self.socket(f"/wsr/{name}"))
            return bool(found)

        until(is_there, ONLINE_SECONDS, "the game", KNOCK_SECONDS)
        self.games.append(HumanGame(self, name, found[0], colour))
        return self.games[-1]

    def page(self, path: str) -> str:
        """Return a page of the server as this human sees it. Raises OSError."""
        request = urllib.request.Request(self._url + path, headers={"Cookie": self._cookie})
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            return str(answer.read().decode("utf-8", "replace"))

    def socket(self, path: str) -> Socket:
        """Open a websocket as this human. Raises OSError or WebSocketException."""
        self._open.append(Socket(self._url + path, self._cookie))
        return self._open[-1]

    def leave(self) -> None:
        """Close all connections."""
        for each in self._open:
            with contextlib.suppress(Exception):
                each.close()


class HumanGame:
    """A game from the human's chair. Plies count from the start position of the game."""

    def __init__(self, human: Human, name: str, socket: Socket, colour: chess.Color) -> None:
        self.human = human
        self.name = name
        self.colour = colour
        self.socket = socket
        self._random = random.Random(1)
        self._begin()

    def _begin(self) -> None:
        self.send("ready")
        self.look()

    def sit_down_again(self) -> None:
        """Connect anew, as a browser does after the connection broke."""
        self.socket = self.human.sit_down(self.name, self.colour).socket

    def send(self, kind: str, **fields: object) -> None:
        """Press a button of the board."""
        self.socket.send(kind, gameId=self.name, **fields)

    # -- the board --------------------------------------------------------------------------

    def look(self) -> Said:
        """Ask for the board and return it."""
        count = len(self.socket.heard)
        self.send("board")
        return self.socket.wait("board", after=count)

    @property
    def board(self) -> Said:
        """The last board that came."""
        boards = [said for said in list(self.socket.heard) if said.get("type") == "board"]
        return boards[-1]

    @property
    def over(self) -> bool:
        """Whether the server has said that the game is over."""
        return any(
            said.get("type") in ("board", "gameEnd") and said["status"] > STARTED
            for said in list(self.socket.heard)
        )

    @property
    def result(self) -> str:
        """How the game stands on the server: `1-0 resigned`, or `*` while it goes on."""
        board = self.look()
        status = STATUS.get(board["status"], f"status {board['status']}")
        return f"{board['result']} {status}" if board["status"] > STARTED else "*"

    @property
    def our_turn(self) -> bool:
        """Whether the human has to move, by the last board."""
        return bool(self.board["tp"] != self.human.bot)

    def wait_for_ply(self, ply: int, seconds: float = ANSWER_SECONDS) -> None:
        """Wait until this many plies have been played. Raises NotAsExpectedError."""
        until(
            lambda: self.over or self.board["ply"] >= ply, seconds, f"ply {ply} of game {self.name}"
        )
        if self.over and self.board["ply"] < ply:
            raise NotAsExpectedError(f"the game was over before ply {ply}: {self.result}")

    # -- moves ------------------------------------------------------------------------------

    def move(self, uci: str) -> bool:
        """Make a move; return whether the server took it."""
        before, count = self.board["ply"], len(self.socket.heard)
        self.send("move", move=uci, clocks=self.board["clocks"], ply=before + 1)
        return bool(self.socket.wait("board", after=count)["ply"] > before)

    def calm_move(self, avoid: str = "") -> str:
        """Make the first of the calm moves that the server takes, and return it.

        Raises NotAsExpectedError.
        """
        for uci in CALM[self.colour].split():
            if uci != avoid and self._is_seen(uci) and self.move(uci):
                return uci
        raise NotAsExpectedError("the human has no calm move left")

    def random_move(self) -> None:
        """Make any move. Raises NotAsExpectedError."""
        moves = [move.uci() for move in self._seen().pseudo_legal_moves]
        self._random.shuffle(moves)
        for uci in moves:
            if self._is_seen(uci) and self.move(uci):
                return
        raise NotAsExpectedError("the server takes no move of the human")

    def _squares(self) -> str:
        """Return the 64 squares as the human sees them, a8 first; `*` is hidden, `.` is empty."""
        placement = str(self.board["fen"]).split()[0].replace("/", "")
        return re.sub(r"\d", lambda digit: "." * int(digit[0]), placement)

    def _is_seen(self, uci: str) -> bool:
        """Whether the human sees his piece, and where it goes: whoever can go there sees it."""
        squares = self._squares()
        origin, target = (chess.parse_square(uci[i : i + 2]) ^ 56 for i in (0, 2))
        return squares[origin] not in "*." and squares[target] != "*"

    def _seen(self) -> chess.Board:
        board = chess.Board(None)
        for place, symbol in enumerate(self._squares()):
            if symbol not in "*.":
                board.set_piece_at(place ^ 56, chess.Piece.from_symbol(symbol))
        board.turn = self.colour
        return board

    def exchange(self, count: int = 1) -> None:
        """Let both sides move this many times, the human first; wait for his turn before."""
        for _ in range(count):
            self.wait_for_turn()
            ply = self.board["ply"]
            self.calm_move()
            self.wait_for_ply(ply + 2)

    def wait_for_turn(self, seconds: float = ANSWER_SECONDS) -> None:
        """Wait until the human has to move. Raises NotAsExpectedError."""
        until(lambda: self.our_turn or self.over, seconds, f"the bot's move in game {self.name}")
        if self.over:
            raise NotAsExpectedError(f"the game was over before its time: {self.result}")

    # -- buttons ----------------------------------------------------------------------------

    def take_back(self) -> int:
        """Take back, and return the ply of the board that comes."""
        count = len(self.socket.heard)
        self.send("takeback")
        self.socket.wait("board", lambda said: bool(said.get("takeback")), after=count)
        return int(self.look()["ply"])

    def resign(self) -> None:
        """Resign, and wait until the server knows."""
        self.send("resign")
        self.socket.wait("gameEnd")

    def chat(self) -> list[str]:
        """Return what the bot has said in the chat."""
        said = [each for each in list(self.socket.heard) if each.get("type") == "roundchat"]
        return [str(each["message"]) for each in said if each.get("user") == self.human.bot]
