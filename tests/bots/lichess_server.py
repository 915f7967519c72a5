"""The test server with what lichess-bot asks beyond the bridge: account, chat, takebacks, PGN.

Its answers have the fields that lichess-bot reads, as lichess sends them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import chess
import chess.pgn

from tests.bots.server import BOT, TOKEN, BotServer, Cut, Json, ServerGame

OPPONENT = "Guest"


class LichessGame(ServerGame):
    """A game in which the opponent can also ask for a takeback or a draw, and talk.

    chats: the bot's lines, each after its room. takebacks: the bot's answers to requests. No clock
    runs.
    """

    def __init__(self, server: BotServer, name: str, bot: chess.Color, **values: Any) -> None:
        super().__init__(server, name, bot, **values)
        self.chats: list[tuple[str, str]] = []
        self.takebacks: list[str] = []
        self.most_plies = 400

    def full(self) -> Json:
        return super().full() | {
            "speed": "blitz",
            "perf": {"name": "Fog of War"},
            "rated": False,
            "createdAt": 1_700_000_000_000,
            "clock": {"initial": self.clock, "increment": self.increment},
        }

    def begin(self) -> None:
        """Make the opponent's first move, if it has White."""
        if self.bot == chess.BLACK:
            self.play("e2e4")

    def play_on(self, chance: random.Random) -> None:
        """Let the opponent answer every further move of the bot by chance."""
        with self._server.news:
            self._chance = chance

    def say(self, text: str, room: str = "player") -> None:
        """The opponent writes a line."""
        self.feed.say({"type": "chatLine", "room": room, "username": OPPONENT, "text": text})

    def offer(self, what: str) -> None:
        """The opponent asks for a "takeback", or offers a "draw"."""
        self.extra = {f"{chess.COLOR_NAMES[not self.bot][0]}{what}": True}
        self.feed.say(self.state())

    def take_bot_move(self, uci: str, *, draw: bool = False) -> str | None:
        """The bot moves, and maybe offers or takes a draw; return what is wrong about the move."""
        offered = self.extra.get(f"{chess.COLOR_NAMES[not self.bot][0]}draw")
        self.extra = {}
        wrong = super().take_bot_move(uci)
        if wrong is None and draw and offered and self.status == "started":
            self.end("draw", None)
        return wrong

    def undo(self, plies: int, *, told: bool) -> None:
        """Take moves back as the server likes, and tell the bot of it or not."""
        with self._server.news:
            for _ in range(plies):
                self.board.pop()
            if told:
                self.feed.say(self.state())

    def answer_takeback(self, word: str) -> None:
        """The bot agrees ("yes") or refuses: the opponent then has the move that it wants back."""
        self.extra = {}
        self.takebacks.append(word)
        if word == "yes":
            for _ in range(2 if self.board.turn != self.bot else 1):
                self.board.pop()
        self.feed.say(self.state())

    def pgn(self) -> str:
        """Return the game as a server exports it."""
        game = chess.pgn.Game.from_board(self.board)
        game.headers["White"], game.headers["Black"] = (
            (BOT, OPPONENT) if self.bot == chess.WHITE else (OPPONENT, BOT)
        )
        return str(game)


class LichessServer(BotServer):
    """A server for lichess-bot, with one bot account."""

    game_kind = LichessGame

    def lichess_game(self, name: str) -> LichessGame:
        """Wait for a game to begin; return it."""
        game = self.game(name)
        assert isinstance(game, LichessGame)
        return game

    def challenge(
        self, *, over: Json | None = None, bot: chess.Color = chess.WHITE, **values: Any
    ) -> str:
        """Challenge the bot as lichess does; see `BotServer.challenge`."""
        lichess = {
            "perf": {"name": "Fog of War"},
            "speed": "blitz",
            "finalColor": chess.COLOR_NAMES[not bot],
            "destUser": {"id": BOT.lower(), "name": BOT, "title": "BOT"},
        }
        return super().challenge(over=lichess | (over or {}), bot=bot, **values)

    def outage(self) -> None:
        """Break the connections of all streams at once, in mid-line."""
        with self.news:
            self.events.send(Cut(b'{"type":'))
            for game in self.games.values():
                game.feed.send(Cut(b'{"type":'))

    def answer(self, method: str, path: str, form: dict[str, str]) -> tuple[int, Any]:
        """Do what a short request asks for."""
        match path.strip("/").split("/"):
            case ["api", "token", "test"]:
                return 200, {TOKEN: {"scopes": "bot:play", "userId": BOT.lower(), "expires": None}}
            case ["api", "account", "playing"]:
                return 200, {"nowPlaying": list(self._playing())}
            case ["api", "users", "status"]:
                return 200, [{"id": BOT.lower(), "name": BOT, "online": True}]
            case ["game", "export", name] if name in self.games:
                return 200, self.lichess_game(name).pgn()
            case ["api", "bot", "game", name, "chat"] if name in self.games:
                self.lichess_game(name).chats.append((form["room"], form["text"]))
                return 200, {"ok": True}
            case ["api", "bot", "game", name, "takeback", word] if name in self.games:
                self.lichess_game(name).answer_takeback(word)
                return 200, {"ok": True}
            case ["api", "bot", "game", name, "move", move] if name in self.games:
                game = self.lichess_game(name)
                wrong = game.take_bot_move(move, draw=form.get("offeringDraw") == "true")
                return (200, {"ok": True}) if wrong is None else (400, {"error": wrong})
        return super().answer(method, path, form)

    def _playing(self) -> Iterator[Json]:
        for game in self.games.values():
            if game.status == "started":
                yield {
                    "gameId": game.id,
                    "opponent": {"id": OPPONENT.lower(), "username": OPPONENT},
                    "speed": "blitz",
                    "isMyTurn": game.board.turn == game.bot,
                }


@contextmanager
def lichess_serving() -> Iterator[LichessServer]:
    """Run a server for lichess-bot."""
    server = LichessServer()
    server.start()
    try:
        yield server
    finally:
        server.close()
