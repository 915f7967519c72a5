"""A server that speaks the lichess bot API over real HTTP, with one bot account, and faults to order.

Two dialects: `lichess` as its API is documented, `pychess` as the real server of pychess.org differs
from it (docs/bridge.md has the list). By hand:

    python -m tests.bots.server [--port 8123] [--dialect pychess] [--games 3]

challenges the bot again and again and plays random moves.
"""

from __future__ import annotations

import argparse
import json
import queue
import random
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import chess

from obscuro.rules.board import FogOfWarBoard
from tests.hanging import HANG_SECONDS

TOKEN = "secret-token-of-the-tests"
BOT = "Obscuro-Bot"
PING_SECONDS = 0.1
"""In the dialect `pychess` the server takes as long to notice that a stream was closed."""
LOOK_SECONDS = 0.05
"""How often to look for what nobody tells the server, as that the bridge has closed a game."""
PING = b'{"type":"ping"}\n'
CAPABILITIES_HEADER = "X-PyChess-Bot-Capabilities"

Dialect = Literal["lichess", "pychess"]
Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """What was asked of the server. port: the client's, by which its connections are told apart."""

    method: str
    path: str
    form: dict[str, str]
    agent: str
    capabilities: str | None = None
    port: int = 0


@dataclass(frozen=True)
class Fault:
    """What happens to a request in place of an answer, or to its answer.

    status: answered so. lost: the request is done, but its answer never comes. drop: neither.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    lost: bool = False
    drop: bool = False


class Cut:
    """Ends a stream: after half a line, or cleanly."""

    def __init__(self, half: bytes = b"") -> None:
        self.half = half


class Feed:
    """Streams of one kind that are open: each gets every line.

    keeps: what is said while nobody listens is kept for the next stream, as pychess.org does.
    """

    def __init__(self, keeps: bool = False) -> None:
        self.queues: list[queue.SimpleQueue[bytes | Cut]] = []
        self.kept: list[bytes] = []
        self._keeps = keeps

    def send(self, item: bytes | Cut) -> None:
        if self._keeps and not self.queues and isinstance(item, bytes):
            self.kept.append(item)
        for one in self.queues:
            one.put(item)

    def say(self, message: Json) -> None:
        self.send(line(message))


class ServerGame:
    """A game between the bot and an opponent who is moved by hand, or by chance."""

    def __init__(
        self,
        server: BotServer,
        name: str,
        bot: chess.Color,
        fen: str | None = None,
        clock: int | None = 60_000,
        chance: random.Random | None = None,
    ) -> None:
        self.id = name
        self.bot = bot
        self.board = FogOfWarBoard(fen or chess.STARTING_FEN)
        self.fen = fen
        self.clock = clock
        self.increment = 2000
        self.status = "started"
        self.winner: str | None = None
        self.extra: Json = {}
        self.challenge: Json = {}
        self.most_plies = 40
        self.feed = Feed(keeps=server.dialect == "pychess")
        self.said: list[Json] = []
        self._server = server
        self._chance = chance

    @property
    def moves(self) -> list[str]:
        return [move.uci() for move in self.board.move_stack]

    def full(self) -> Json:
        bot, other = {"id": BOT.lower(), "name": BOT}, {"id": "guest", "name": "Guest"}
        variant = {"key": "fogofwar", "name": "Fog of War"}
        start = self.fen or "startpos"
        if self._server.dialect == "pychess":
            bot, other, variant = {"name": BOT}, {"name": "Guest"}, {"name": "fogofwar"}
            start = self.fen or chess.STARTING_FEN
        white, black = (bot, other) if self.bot == chess.WHITE else (other, bot)
        return {
            "type": "gameFull",
            "id": self.id,
            "variant": variant,
            "white": white,
            "black": black,
            "initialFen": start,
            "createdAt": 1,
            "state": self.state(),
        }

    def state(self) -> Json:
        unit = 1000 if self._server.dialect == "pychess" else 1
        state: Json = {
            "type": "gameState",
            "moves": " ".join(self.moves),
            "winc": self.increment // unit,
            "binc": self.increment // unit,
            "status": "started" if self._server.dialect == "pychess" else self.status,
        }
        if self.clock is not None:
            state |= {"wtime": self.clock, "btime": self.clock}
        if self.winner is not None and self._server.dialect == "lichess":
            state["winner"] = self.winner
        return state | self.extra

    # -- what happens, all under the server's lock ---------------------------------------------

    def play(self, uci: str) -> None:
        """The opponent moves."""
        with self._server.news:
            assert self.board.turn != self.bot, "it is the bot's turn"
            self._move(uci)

    def take_bot_move(self, uci: str) -> str | None:
        """The bot moves; return what is wrong about it."""
        if self._server.dialect == "pychess":
            if not self._takes_as_pychess_does(uci):
                return None
        elif self.status != "started" or self.board.turn != self.bot:
            return "Not your turn, or game already over"
        try:
            self._move(uci)
        except ValueError:
            return f"Piece can't move so: {uci}"
        if self._chance is not None and self.status == "started":
            self._move(self._chance.choice(sorted(map(str, self.board.legal_moves))))
        return None

    def _takes_as_pychess_does(self, uci: str) -> bool:
        """Return whether a move counts. The answer is 200 in any case; an illegal move loses."""
        out_of_turn = self.status != "started" or self.board.turn != self.bot
        if out_of_turn or uci in self.moves[-1:]:
            return False
        if uci in map(str, self.board.legal_moves):
            return True
        self._over("invalidMove", not self.bot)
        return False

    def take_back(self) -> None:
        """The opponent takes its last move back; on pychess.org nobody asks or tells the bot."""
        with self._server.news:
            assert len(self.moves) >= 2
            for _ in range(2 if self.board.turn != self.bot else 1):
                self.board.pop()
            self._server.news.notify_all()

    def _move(self, uci: str) -> None:
        self.board.push_uci(uci)
        if self.board.outcome() is not None:
            winner = self.board.outcome().winner  # type: ignore[union-attr]
            self._over("variantEnd" if winner is not None else "draw", winner)
        elif len(self.board.move_stack) >= self.most_plies:
            self._over("draw", None)
        else:
            self.feed.say(self.state())
        self._server.news.notify_all()

    def end(self, status: str, winner: chess.Color | None) -> None:
        """The game ends by something else than a move."""
        with self._server.news:
            self._over(status, winner)

    def _over(self, status: str, winner: chess.Color | None) -> None:
        self.status = status
        self.winner = None if winner is None else chess.COLOR_NAMES[winner]
        if self._server.dialect == "lichess":
            self.feed.say(self.state())
            self.feed.send(Cut())
            game = {"id": self.id, "gameId": self.id, "status": {"name": status}}
            self._server.events.say({"type": "gameFinish", "game": game})
        else:
            self.feed.say({"type": "gameEnd", "game": {"id": self.id}})
        self._server.news.notify_all()

    def drop(self, half: bytes = b"") -> None:
        """The connection of the game's streams is lost, maybe in the middle of a line."""
        with self._server.news:
            self.feed.send(Cut(half))
            self.feed.queues.clear()


class BotServer:
    """The server. Start it by `serving`.

    news: the lock of all state, notified of every change. requests: all that came. faults: what
    happens to the next requests whose path ends, or begins, so. challenges: those not answered yet.
    """

    game_kind: type[ServerGame] = ServerGame

    def __init__(self, dialect: Dialect = "lichess", port: int = 0) -> None:
        self.dialect = dialect
        self.news = threading.Condition(threading.RLock())
        self.requests: list[Request] = []
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.events = Feed(keeps=dialect == "pychess")
        self.games: dict[str, ServerGame] = {}
        self.pending: dict[str, ServerGame] = {}
        self.declined: dict[str, str] = {}
        self.title: str | None = "BOT"
        self.mute = False  # whether it loses the event that tells of an accepted game
        self.conflicts = 0  # streams broken off, since the game had another
        self.ping_seconds = PING_SECONDS
        self._http = _HttpServer(("127.0.0.1", port), _Handler)
        self._http.bot_server = self
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._serial = 0

    def start(self) -> None:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        with self.news:
            self.events.send(Cut())
            for game in self.games.values():
                game.feed.send(Cut())
        self._http.shutdown()
        self._http.server_close()

    # -- for tests ----------------------------------------------------------------------------

    def fail(self, path: str, *faults: Fault) -> None:
        """Let the next requests to a path, or to all that contain the text, go wrong."""
        with self.news:
            self.faults[path].extend(faults)

    def new_game(self, bot: chess.Color = chess.WHITE, **values: Any) -> ServerGame:
        """Begin a game without a challenge, and without a word."""
        with self.news:
            self._serial += 1
            game = self.game_kind(self, f"game{self._serial:04}", bot, **values)
            self.games[game.id] = game
        return game

    def announce(self, game: ServerGame) -> None:
        """Tell of a game that it has begun."""
        with self.news:
            self.events.say(self._start(game))

    def challenge(
        self, *, over: Json | None = None, bot: chess.Color = chess.WHITE, **values: Any
    ) -> str:
        """Challenge the bot; over: what differs in the event. Returns the id of the later game."""
        with self.news:
            game = self.new_game(bot, **values)
            del self.games[game.id]
            self.pending[game.id] = game
            game.challenge = {
                "id": game.id,
                "challenger": {"id": "guest", "name": "Guest", "rating": 1500, "title": ""},
                "variant": {"key": "fogofwar"},
                "rated": False,
                "timeControl": {"type": "clock", "limit": 60, "increment": 2},
                "color": "random",
            } | (over or {})
            self.events.say({"type": "challenge", "challenge": game.challenge})
        return game.id

    def happens(self, what: Callable[[], Any], seconds: float) -> Any:
        """Wait until something is so, of this server or its client; return it, or what is false."""
        end = time.monotonic() + seconds
        with self.news:
            while not (found := what()) and time.monotonic() < end:
                self.news.wait(LOOK_SECONDS)
            return found

    def until(self, what: Callable[[], Any], seconds: float = HANG_SECONDS) -> Any:
        """Wait until something is so; return it."""
        found = self.happens(what, seconds)
        assert found, f"it never happened; {self.requests[-5:]}"
        return found

    def game(self, name: str) -> ServerGame:
        """Wait for a game to begin."""
        self.until(lambda: name in self.games)
        return self.games[name]

    def rematch(self, game: ServerGame) -> ServerGame:
        """The opponent wants to play again: a game begins without a challenge."""
        with self.news:
            again = self.new_game(not game.bot, fen=game.fen, clock=game.clock)
            self.announce(again)
        return again

    def restart(self) -> None:
        """All connections break; the server forgets what waited, and tells what it has kept."""
        with self.news:
            games = [game for game in self.games.values() if game.status == "started"]
            for feed in (self.events, *(game.feed for game in games)):
                feed.send(Cut(b'{"ty'))
                feed.queues.clear()
                feed.kept.clear()
            for game in games:
                self.announce(game)
                game.feed.say(game.full())

    def count(self, end: str) -> int:
        """Return how many requests had a path that ends so."""
        with self.news:
            return sum(request.path.endswith(end) for request in self.requests)

    # -- for the handlers -----------------------------------------------------------------------

    def _start(self, game: ServerGame) -> Json:
        if self.dialect == "pychess":
            return {"type": "gameStart", "game": {"id": game.id, "skill_level": "6"}}
        variant = {"key": "fogofwar"}
        return {"type": "gameStart", "game": {"id": game.id, "gameId": game.id, "variant": variant}}

    def greeting(self) -> list[bytes]:
        """What a new event stream begins with: the games going on, the challenges still open.

        On pychess.org: what was said while nobody listened, and the games with a move.
        """
        games = [game for game in self.games.values() if game.status == "started"]
        if self.dialect == "pychess":
            kept, self.events.kept = self.events.kept, []
            begun = [game for game in games if game.moves and not game.feed.queues]
            return [*kept, *(line(self._start(game)) for game in begun)]
        return [
            *(line(self._start(game)) for game in games),
            *(line({"type": "challenge", "challenge": g.challenge}) for g in self.pending.values()),
        ]

    def fault(self, path: str) -> Fault | None:
        for key, faults in self.faults.items():
            if faults and key in path:
                return faults.popleft()
        return None

    def answer(self, method: str, path: str, form: dict[str, str]) -> tuple[int, Any]:
        """Do what a short request asks for; the answer is JSON, or a text as it is."""
        parts = path.strip("/").split("/")[1:]
        match parts:
            case ["account"] if method == "GET":
                account = {"id": BOT.lower(), "username": BOT, "title": self.title}
                return 200, {key: value for key, value in account.items() if value is not None}
            case ["challenge", name, "accept"] if name in self.pending:
                game = self.games[name] = self.pending.pop(name)
                if not self.mute:
                    self.events.say(self._start(game))
            case ["challenge", name, "decline"] if name in self.pending:
                del self.pending[name]
                self.declined[name] = form.get("reason", "")
            case ["bot", "game", name, "move", move] if name in self.games:
                wrong = self.games[name].take_bot_move(move)
                if wrong is not None:
                    return 400, {"error": wrong}
            case ["account", "playing"] if method == "GET":
                return 200, {"nowPlaying": []}
            case ["bot", "game", name, "chat"] if name in self.games:
                self.games[name].said.append({"room": form["room"], "text": form["text"]})
            case ["bot", "game", name, "resign"] if (
                name in self.games and self.dialect == "pychess"
            ):
                self.games[name].status = "resign"  # and nobody is told
            case ["bot", "game", name, "abort" | "resign" as how] if name in self.games:
                game = self.games[name]
                if game.status != "started":
                    return 400, {"error": "This game is over"}
                game.end(
                    {"abort": "aborted"}.get(how, how), not game.bot if how == "resign" else None
                )
            case ["bot", "game", name, "draw" | "takeback", "yes" | "no" as word] if (
                name in self.games and self.dialect == "lichess"
            ):
                game = self.games[name]
                game.extra = {}
                if word == "yes":
                    game.end("draw", None)
            case _:
                return 404, {"error": "Not found."}
        return 200, {"ok": True}


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    bot_server: BotServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients may leave as they like


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer is two writes
    server: _HttpServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        server = self.server.bot_server
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length).decode()
        url = urlsplit(self.path)
        form = {key: values[0] for key, values in parse_qs(f"{url.query}&{data}").items()}
        path = url.path
        with server.news:
            agent = self.headers.get("User-Agent", "")
            capabilities = self.headers.get(CAPABILITIES_HEADER)
            port = self.client_address[1]
            server.requests.append(Request(self.command, path, form, agent, capabilities, port))
            fault = server.fault(path)
            server.news.notify_all()
        if fault is not None and fault.drop:
            self.close_connection = True
            return
        if fault is not None and fault.status:
            self._answer(fault.status, fault.body.encode(), fault.headers)
            return
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._answer(401, b'{"error": "No such token"}')
            return
        if "/stream/" in path:
            if path.endswith("/event") and server.dialect == "pychess":
                wrong = wrong_capabilities(self.headers.get(CAPABILITIES_HEADER))
                if wrong is not None:
                    self._answer(400, wrong.encode(), {"Content-Type": "text/plain"})
                    return
            self._stream(server, path)
            return
        with server.news:
            status, answer = server.answer(self.command, path, form)
            server.news.notify_all()
        if fault is not None and fault.lost:
            self.close_connection = True
            return
        self._answer(status, (answer if isinstance(answer, str) else json.dumps(answer)).encode())

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | (headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, server: BotServer, path: str) -> None:
        with server.news:
            name = path.rsplit("/", 1)[1]
            if name == "event":
                feed, first = server.events, server.greeting()
            elif name in server.games:
                game = server.games[name]
                feed, first = game.feed, [*game.feed.kept, line(game.full())]
                game.feed.kept.clear()
                if server.dialect == "pychess":
                    first.append(PING)
                if game.status != "started" and server.dialect == "lichess":
                    first.append(b"")  # the stream of a finished game ends
            else:
                self._answer(404, b'{"error": "Not found."}')
                return
            conflict = server.dialect == "pychess" and name != "event" and bool(feed.queues)
            lines: queue.SimpleQueue[bytes | Cut] = queue.SimpleQueue()
            for item in first:
                lines.put(item or Cut())
            if conflict:
                server.conflicts += 1
            else:
                feed.queues.append(lines)
            server.news.notify_all()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if conflict:  # the error comes where a chunk should be
            self.close_connection = True
            self.wfile.write(b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
            return
        try:
            if not self._write_lines(server, lines):
                self.close_connection = True
        finally:
            with server.news:
                if lines in feed.queues:
                    feed.queues.remove(lines)
                server.news.notify_all()

    def _write_lines(self, server: BotServer, lines: queue.SimpleQueue[bytes | Cut]) -> bool:
        """Write what comes; return whether the stream has an end, so that the connection is good."""
        ping = PING if server.dialect == "pychess" else b"\n"
        while True:
            try:
                item = lines.get(timeout=server.ping_seconds)
            except queue.Empty:
                item = ping
            if self._client_is_gone():
                return False  # and what was to be said is lost
            if isinstance(item, Cut):
                self._chunk(item.half)  # half a line is not followed by the chunk that ends all
                return not item.half
            self._chunk(item)

    def _client_is_gone(self) -> bool:
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def wrong_capabilities(text: str | None) -> str | None:
    """Return what pychess.org finds wrong about the header of an event stream; None if nothing."""
    if text is None:
        return f"Missing required {CAPABILITIES_HEADER} header."
    try:
        said = json.loads(text)
    except ValueError:
        return "Invalid BOT capability header."
    if not isinstance(said, dict) or said.get("version") != 1:
        return "Unsupported BOT capability version."
    if "fogofwar" not in said.get("variants", []):
        return "BOT does not advertise any PyChess-supported variants."
    return None


def line(message: Json) -> bytes:
    """Return a message as a stream has it."""
    return json.dumps(message).encode() + b"\n"


@contextmanager
def serving(dialect: Dialect = "lichess", port: int = 0) -> Iterator[BotServer]:
    """Run a server."""
    server = BotServer(dialect, port)
    server.start()
    try:
        yield server
    finally:
        server.close()


def challenge_by_hand(server: BotServer, index: int) -> str | None:
    """Challenge the bot once it is there; return the game, None if it isn't accepted."""
    with server.news:
        while not server.events.queues:
            server.news.wait(1.0)
        name = server.challenge(bot=index % 2 == 0, chance=random.Random(index))
        while name in server.pending:
            server.news.wait(1.0)
        if name in server.games:
            return name
        print(f"declined: {server.declined.get(name)}", flush=True)
        server.news.wait(1.0)  # it may not have heard yet that the last game is over
        return None


def main() -> None:
    """Serve by hand."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--dialect", choices=("lichess", "pychess"), default="pychess")
    parser.add_argument("--games", type=int, default=3)
    arguments = parser.parse_args()
    with serving(arguments.dialect, arguments.port) as server:
        print(f"OBSCURO_BOT_TOKEN={TOKEN} obscuro bridge --url {server.url}", flush=True)
        for index in range(arguments.games):
            while (name := challenge_by_hand(server, index)) is None:
                pass
            game = server.games[name]
            if game.bot == chess.BLACK:
                game.play("e2e4")
            with server.news:
                while game.status == "started":
                    server.news.wait(1.0)
            print(f"{name}: {game.status} {game.winner or ''} {' '.join(game.moves)}", flush=True)


if __name__ == "__main__":
    main()
