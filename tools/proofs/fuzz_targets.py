"""What `tools.proofs.fuzz` feeds: the readers of everything that a stranger or a broken file says.

Each target starts the real code and returns a function of one input. The function returns if the
input was read, or refused in the words meant for it. Whatever it raises is a finding.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import chess.pgn
import httpx

from obscuro.bots.bot_client import EventStream
from obscuro.bots.bot_settings import GameSettings, Policy
from obscuro.bots.events import Challenge, Ping, parse_event, parse_game_event
from obscuro.bots.game_log import to_pgn as bot_pgn
from obscuro.bots.game_messages import (
    Connected,
    Finish,
    LookBack,
    Message,
    Resync,
    Send,
    Sent,
    Thought,
)
from obscuro.bots.server_game import ServerGame
from obscuro.cli.bridge_file import file_words
from obscuro.cli.bridge_file import template as bridge_template
from obscuro.cli.command_support import CommandError
from obscuro.client.engine import PlayResult, Think
from obscuro.client.uci_process import EngineError
from obscuro.engine.options import OptionError, Options
from obscuro.engine.player_kind import OBSCURO
from obscuro.matches.game_workers import Played
from obscuro.matches.journal import Journal, JournalError, read_journal
from obscuro.matches.log_replay import Replay
from obscuro.matches.pgn import to_pgn
from obscuro.matches.play_event import play_event
from obscuro.matches.players import RandomPlayer
from obscuro.matches.tournament_file import TournamentFileError, parse_tournament
from obscuro.players.roster import player_kind
from obscuro.rules.observation import Observation
from obscuro.uci.channel import Output
from obscuro.uci.log import Log, read_sessions
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import PositionReader, start_board
from obscuro.uci.session import Session
from obscuro.viewer.game_file import GameFileError, games_of_bytes, games_of_text
from obscuro.web.web_limits import WebLimits
from obscuro.web.web_server import make_app
from tests.matches.events import match_event, scripted_workers
from tests.uci.games import FENS, random_moves, turns_of

TryOne = Callable[[bytes], None]
PATIENCE_SECONDS = 100.0
"""Something hangs if it says nothing for this long; the machine may be busy."""
COMPILING_SECONDS = 900.0
DEEP = 5000
"""Brackets, or digits, in a seed: more than Python reads."""
MOST_LINES = 64
"""The most lines of an input that a target reads one by one."""


class Target(NamedTuple):
    """What is fed, and with what to begin.

    about: what is read. start: given an empty folder, returns the function of one input. seeds:
    inputs to begin with. guided: whether coverage may guide it; compiled kernels can't be observed.
    """

    about: str
    start: Callable[[Path], TryOne]
    seeds: Callable[[], Sequence[str]]
    guided: bool = True


def _lines(data: bytes) -> list[str]:
    return data.decode(errors="replace").splitlines()[:MOST_LINES]


# -- the protocol ---------------------------------------------------------------------------


class _Listener(Output):
    """Takes what a session says. A failure in here is a finding; an error told to the user is not."""

    def __init__(self) -> None:
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        super().__init__(self._nowhere, Log(None), lambda: None)
        self.failed: list[str] = []
        self.ready = threading.Event()

    def lines(self, *lines: str) -> None:
        for line in lines:
            if "\n" in line:
                raise AssertionError(f"not one line: {line!r}")
        super().lines(*lines)
        if "readyok" in lines:
            self.ready.set()

    def failure(self, what: str, details: str) -> None:
        super().failure(what, details)
        self.failed.append(details)

    def check(self) -> None:
        """Raise AssertionError if something has failed."""
        failed, self.failed = self.failed, []
        if failed:
            raise AssertionError(failed[0])

    def close(self) -> None:
        os.close(self._nowhere)


def _start_protocol(folder: Path) -> TryOne:
    """Whole dialogues, with a player that needs no kernels."""
    kind = player_kind("random")

    def try_one(data: bytes) -> None:
        output = _Listener()
        session = Session(output, kind)
        try:
            for line in _lines(data):
                if not session.handle(line, 0.0):
                    break
            if not session.end(PATIENCE_SECONDS):
                raise AssertionError("the session does not end")
            output.check()
        finally:
            output.close()
            gc.unfreeze()  # a session freezes what there is at its start; a process has only one

    return try_one


def _protocol_seeds() -> list[str]:
    return [
        "uci\nisready\nsetoption name UCI_Variant value fogofwar\nsetoption name Seed value 5\nd",
        "position startpos moves e2e4 e7e5 g1f3\ngo movetime 1\nbelief 3\nd",
        "position fen r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1 moves e5d6 e8g8 e1c1\ngo nodes 5",
        "position fog white startpos turns e2e4 -\ngo wtime 60000 btime 60000 winc 10 movestogo 9",
        "go ponder movetime 100\nponderhit\ngo infinite\nstop\ngo nodes 5 searchmoves e2e4 mate 3",
        "coverage r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6\ncompare e2e4 d2d4\nhelp\nucinewgame\nquit",
    ]


def _start_position(folder: Path) -> TryOne:
    """The readers of `position` and `setoption`, with every option of the engine."""

    def read(line: str, positions: PositionReader, options: Options) -> None:
        name, _, text = line.partition(" ")
        if name == "setoption":
            option, _, value = text.partition(" value ")
            options.set(option, value)
            options.search_parameters()
            return
        if name == "coverage":
            start_board(text)
            return
        history = positions.read(text)
        if PositionReader().read(text) != history:
            raise AssertionError("read line by line the game is another one")
        if Observation.parse(written := history.observation.text()) != history.observation:
            raise AssertionError(f"{written} does not say {history.observation}")
        if history.our_turn and history.over is None and not history.moves:
            raise AssertionError("the game goes on without a move")

    def try_one(data: bytes) -> None:
        positions, options = PositionReader(), Options()
        for line in _lines(data):
            try:
                read(line, positions, options)
            except (ProtocolError, OptionError) as error:
                if not str(error):
                    raise AssertionError("an error without a word") from error

    return try_one


def _position_seeds() -> list[str]:
    games = [(fen, random_moves(number, 24, fen)) for number, fen in enumerate(FENS)]
    whole = [f"position fen {fen} moves {' '.join(moves)}" for fen, moves in games]
    return [
        *whole,
        *_fog_seeds(),
        "setoption Move Overhead value 50\nsetoption Evaluator value nnue\nsetoption Hash value 1",
        "coverage r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6",
    ]


def _start_fog(folder: Path) -> TryOne:
    """The engine itself: its belief and a search, after an account that may be impossible."""
    output = _Listener()
    session = Session(output, OBSCURO)

    def say(*lines: str, patience: float = PATIENCE_SECONDS) -> None:
        output.ready.clear()
        for line in (*lines, "isready"):
            session.handle(line, 0.0)
        if not output.ready.wait(patience):
            raise AssertionError("the engine hangs")
        output.check()

    for name, value in (
        ("Evaluator", "material"),
        ("Threads", "1"),
        ("Hash", "16"),
        ("Max Positions", "2000"),
        ("Seed", "1"),
    ):
        session.handle(f"setoption name {name} value {value}", 0.0)
    say("position startpos", "go nodes 1", patience=COMPILING_SECONDS)

    def try_one(data: bytes) -> None:
        say("ucinewgame")
        for line in _lines(data)[:4]:
            if line.startswith("position fog "):
                say(line, "belief 2", "go nodes 1")

    return try_one


def _fog_seeds() -> list[str]:
    seeds = []
    for number, fen in enumerate(FENS):
        for side in chess.COLORS:
            turns = turns_of(side, random_moves(number, 10, fen), fen)
            start = "startpos" if fen == chess.STARTING_FEN else f"fen {fen}"
            seeds.append(f"position fog {chess.COLOR_NAMES[side]} {start} turns {' '.join(turns)}")
    return seeds


# -- files ----------------------------------------------------------------------------------


def _start_pgn(folder: Path) -> TryOne:
    """A file of games that a stranger uploads: what is accepted can be opened, and uploaded again."""
    web = _WebApp(folder)

    def try_one(data: bytes) -> None:
        try:
            found = games_of_bytes(data)
        except GameFileError as error:
            if len(str(error).splitlines()) != 1:
                raise AssertionError(f"not one line: {error}") from error
            found = None
        status, body = web.request("POST", "/api/files", data)
        if (status == 201) != (found is not None):
            raise AssertionError(f"{status}: {body[:200]!r}")
        if found is None:
            return
        for game, told in zip(found.games, json.loads(body)["games"], strict=True):
            status, text = web.request("GET", f"/api/games/{told['game']}/pgn")
            if status != 200:
                raise AssertionError(f"an accepted game can't be opened: {status} {text[:200]!r}")
            again = games_of_text(text.decode()).games[0]
            if list(again.mainline_moves()) != list(game.mainline_moves()):
                raise AssertionError("an accepted game is another one when it is opened")

    return try_one


_LONG_FORM = """\
[Variant "FFA"]
[RuleVariants "EnPassant FogOfWar"]
[StartFen4 "2PC"]

1. h5-h7 .. g10-g8
2. h7xg8 .. Qg11xg8+
3. R
"""


def _pgn_seeds() -> list[str]:
    seeds = []
    for number, fen in enumerate(FENS):
        board = start_board(fen)
        for uci in random_moves(number, 20, fen):
            board.push_uci(uci)
        game = chess.pgn.Game.from_board(board)
        game.headers.update({"White": "a", "Black": "b", "Result": "1-0", "Variant": "Fog of War"})
        game.end().comment = "[%eval 0.3] [%clk 0:00:10] a comment"
        seeds.append(f"{game}\n\n")
    seeds += ['["e4","e5"]\n{"white":"a","moves":"d4 d5","winner":"white"}\n', _LONG_FORM]
    return [*seeds, "1. e4 $1 (1. d4 d5) e5 ; to the end\n2. Nf3 {a} *\n\n" + seeds[0]]


def _start_journal(folder: Path) -> TryOne:
    """Journals of matches: read, resumed, and their games written as PGN."""
    path = folder / "match.jsonl"

    def try_one(data: bytes) -> None:
        path.write_bytes(data)
        try:
            store = read_journal(path)
            for number, record in store.games.items():
                str(to_pgn(record, round_=number + 1))
            with Journal.open(path, store.event) as journal:
                if journal.games.keys() != store.games.keys():
                    raise AssertionError("the journal resumed has other games")
        except JournalError as error:
            if len(str(error).splitlines()) != 1:
                raise AssertionError(f"not one line: {error}") from error

    return try_one


def _journal_seeds() -> list[str]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "match.jsonl"
        event = match_event(2)
        with Journal.open(path, event) as journal:
            play_event(event, scripted_workers(RandomPlayer), journal)
            journal.add(Played(event.tasks[0], None, "the machine failed"))
        text = path.read_text(encoding="utf-8")
    return [text, text[: len(text) // 2]]


class _QuickProcess:
    """Stands for an engine's process: it answers at once."""

    name = "quick"
    options = dict.fromkeys(("Seed", "Threads", "Hash"), "")

    def __init__(self) -> None:
        self._said: list[str] = []

    def set_option(self, name: str, value: str) -> None:
        """Take an option."""

    def wait_ready(self) -> list[str]:
        """Return warnings."""
        return []

    def send(self, line: str) -> None:
        """Answer a command."""
        command = line.split(maxsplit=1)[0]
        self._said += {"go": ["bestmove e2e4"], "isready": ["readyok"]}.get(command, [])

    def lines(self, patience: float, awaited: str) -> Iterable[str]:
        """Yield the answers. Raises EngineError if there is none."""
        if not self._said:
            raise EngineError("the engine says nothing")
        yield self._said.pop(0)


def _start_log(folder: Path) -> TryOne:
    """Logs of sessions, replayed."""

    def try_one(data: bytes) -> None:
        for session in read_sessions(_lines(data)):
            process: Any = _QuickProcess()
            try:
                list(Replay(session, process, wait=lambda seconds: None).run())
            except EngineError as error:
                if len(str(error).splitlines()) != 1:
                    raise AssertionError(f"not one line: {error}") from error

    return try_one


def _log_seeds() -> list[str]:
    said = [
        ("#", "log 1"),
        ("#", "option Threads = 1"),
        ("#", "option Seed = 0"),
        (">", "setoption name Hash value 16"),
        (">", "isready"),
        ("<", "readyok"),
        (">", "position startpos moves e2e4 e7e5"),
        (">", "go nodes 1000"),
        ("#", "seed 1234"),
        ("<", "info string warning the time is short"),
        ("<", "bestmove e2e4"),
        (">", "go infinite"),
        (">", "stop"),
        ("<", "bestmove d2d4 ponder e7e5"),
        ("!", "Traceback (most recent call last):"),
        (">", "quit"),
    ]
    return ["".join(f"21:03:{n:02}.120 {mark} {text}\n" for n, (mark, text) in enumerate(said))]


def _start_toml(folder: Path) -> TryOne:
    """Tournament files, and the bridge's file. Each text is read as both."""
    path = folder / "bridge.toml"

    def try_one(data: bytes) -> None:
        path.write_bytes(data)
        for read in (
            lambda: parse_tournament(data.decode(errors="replace"), folder / "tournament.toml"),
            lambda: file_words(path),
        ):
            try:
                read()
            except (TournamentFileError, CommandError) as error:
                if len(str(error).splitlines()) != 1:
                    raise AssertionError(f"not one line: {error}") from error

    return try_one


def _toml_seeds() -> list[str]:
    return [
        'name = "a"\nformat = "gauntlet"\nchallengers = ["x"]\ngames = 4\nmovetime = 100\nseed = 3\n'
        'openings = "none"\nmax_moves = 50\nstalemate = "draw"\nanchor = "y"\nanchor_rating = 10.5\n'
        '[[player]]\nname = "x"\nplayer = "random"\nmovetimes = [10, 20]\n'
        '[[player]]\nname = "y"\nplayer = "greedy"\noptions = { Seed = 1 }\ntc = "10+0.1"\n',
        'games = 2\ntc = "60+0.5"\nconcurrency = 2\ncoverage = false\nopenings = "default"\n'
        '[[player]]\nplayer = "random"\n[[player]]\nplayer = "obscuro"\nnodes = 100\n',
        re.sub("^#(?=[a-z_]+ = )", "", bridge_template(), flags=re.MULTILINE),
        f"games = {'[' * DEEP}",
        f"games = {'9' * DEEP}",
    ]


# -- a server's events ----------------------------------------------------------------------


def _start_events(folder: Path) -> TryOne:
    """What a server with the bot API says, on both streams, and the game that comes of it."""
    policy = Policy(games=2)

    def carry_out(game: ServerGame, message: Message, now: float) -> None:
        waiting = [message]
        for _ in range(MOST_LINES):
            if not waiting:
                return
            for action in game.handle(waiting.pop(0), now):
                match action:
                    case Think():
                        waiting.append(Thought(action.number, action.moves[0], 10))
                    case Send():
                        waiting.append(Sent(action.number, action.move))
                    case Resync() | LookBack():
                        waiting.append(Connected())
                    case Finish() if game.view is not None:
                        game.summary(action.verdict)
                        str(bot_pgn(game.view, game.log, action.verdict))

    def try_one(data: bytes) -> None:
        game = ServerGame("game0001", "Bot", GameSettings())
        carry_out(game, Connected(), 0.0)
        now = itertools.count(1.0, 7.0)
        response = httpx.Response(200, stream=httpx.ByteStream(data))
        for said in itertools.islice(EventStream(response, "the stream"), MOST_LINES):
            event = Ping() if said is None else parse_event(said, "Bot")
            if isinstance(event, Challenge):
                policy.judge(event, 1)
            news = Ping() if said is None else parse_game_event(said)
            if news is not None:
                carry_out(game, news, next(now))

    return try_one


def _event_seeds() -> list[str]:
    def text(*messages: Mapping[str, object] | None) -> str:
        return "".join("\n" if each is None else f"{json.dumps(each)}\n" for each in messages)

    def state(*moves: str, **more: object) -> dict[str, object]:
        clocks = {"wtime": 60_000, "btime": 59_000, "winc": 2000, "binc": 2000}
        return {"type": "gameState", "moves": " ".join(moves), "status": "started"} | clocks | more

    challenge = {
        "id": "abcd1234",
        "challenger": {"id": "guest", "name": "Guest", "rating": 1500, "title": "BOT"},
        "variant": {"key": "fogOfWar"},
        "rated": False,
        "timeControl": {"type": "clock", "limit": 60, "increment": 2},
    }
    full = {
        "type": "gameFull",
        "id": "game0001",
        "variant": {"name": "Fog of War"},
        "white": {"id": "bot", "name": "Bot"},
        "black": {"id": "guest", "name": "Guest", "title": "BOT"},
        "initialFen": "startpos",
    }
    over = {"game": {"id": "game0001", "status": {"name": "resign"}, "winner": "white"}}
    gone = {"type": "opponentGone", "gone": True, "claimWinInSeconds": 8}
    return [
        text(
            {"type": "challenge", "challenge": challenge},
            {"type": "gameStart", "game": {"gameId": "game0001", "variant": {"key": "fogofwar"}}},
            {"type": "gameFinish", **over},
            {"type": "challengeCanceled", "challenge": {"id": "abcd1234"}},
            {"type": "ping"},
        ),
        text(
            full | {"state": state()},
            None,
            state("e2e4", "e7e5", bdraw=True),
            state("e2e4", "e7e5", "g1f3", "b8c6", btakeback="true"),
            gone,
            state("e2e4", "e7e5", status="resign", winner="black"),
            {"type": "gameEnd", **over},
        ),
        text(
            full | {"white": full["black"], "black": full["white"], "state": state("e2e4")},
            state("e2e4", "e7e5", "e1e2"),
            state("e2e4"),
            None,
        ),
    ]


# -- the web server -------------------------------------------------------------------------


class _FirstMove:
    """Stands for an engine: it plays the first move there is."""

    def __init__(self) -> None:
        self.on_warning: Callable[[str], None] = lambda text: None

    def configure(self, options: Mapping[str, str]) -> None:
        """Take options."""

    def prepare(self) -> None:
        """Get ready."""

    def choose(self, game: str, think: Think, cancel: threading.Event) -> PlayResult:
        """Return the first move."""
        return PlayResult(think.moves[0])

    def stop(self) -> None:
        """Do nothing; there is no search."""

    def watch(self, game: str, position: str) -> None:
        """Do nothing; it does not ponder."""

    def close(self) -> None:
        """Do nothing; there is no process."""


class _WebApp:
    """The web application behind ASGI, without a network, and one visitor of it.

    Each request comes a day after the one before, so that no limit of rates is in the way.
    """

    def __init__(self, folder: Path) -> None:
        logging.disable(logging.CRITICAL)
        limits = replace(
            WebLimits(),
            pause=0.0,
            stored=100,
            post_burst=1e9,
            created_burst=1e9,
            message_burst=1e9,
        )
        days = itertools.count()
        self._app = make_app(_FirstMove, folder, limits=limits, clock=lambda: 86_400.0 * next(days))
        self._loop = asyncio.new_event_loop()
        self._cookie = b""
        self._alive = self._app.router.lifespan_context(self._app)
        self._run(self._alive.__aenter__())

    def _run(self, work: Any) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE_SECONDS))

    def _scope(self, kind: str, path: str, **more: object) -> dict[str, Any]:
        headers = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
        if self._cookie:
            headers.append((b"cookie", self._cookie))
        return {
            "type": kind,
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            **more,
        }

    def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Return status and body of an answer. Raises AssertionError for a fault of the server."""
        status, answer = self._run(self._request(method, path, body))
        if status >= 500:
            raise AssertionError(f"{method} {path}: {status} {answer[:200]!r}")
        return status, answer

    async def _request(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(self._scope("http", path, method=method), receive, send)
        for name, value in sent[0].get("headers", ()):
            if name == b"set-cookie":
                self._cookie = value.partition(b";")[0]
        return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:])

    def talk(self, path: str, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Send texts to a socket, each after the answer to the one before; return what it said.

        `@N` stands for a legal move in the player's turn.
        """
        said: list[dict[str, Any]] = self._run(self._talk(path, texts))
        return said

    async def _talk(self, path: str, texts: Sequence[str]) -> list[dict[str, Any]]:
        coming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        said: list[dict[str, Any]] = []
        news = asyncio.Condition()
        closed = False

        async def send(message: Any) -> None:
            nonlocal closed
            async with news:
                if message["type"] == "websocket.send":
                    said.append(json.loads(message["text"]))
                closed = closed or message["type"] == "websocket.close"
                news.notify_all()

        async def until(due: Callable[[], bool]) -> None:
            async with news:
                await asyncio.wait_for(news.wait_for(due), PATIENCE_SECONDS)

        async def serve() -> None:
            nonlocal closed
            try:
                await self._app(self._scope("websocket", path), coming.get, send)
            finally:
                async with news:
                    closed = True
                    news.notify_all()

        task = asyncio.create_task(serve())
        coming.put_nowait({"type": "websocket.connect"})
        await until(lambda: bool(said) or closed)
        for given in texts:
            text = given
            if closed:
                break
            if text.startswith("@"):
                await until(lambda: _is_due(_last_state(said)) or closed)
                state = _last_state(said)
                if not state["moves"]:
                    continue
                number = int(text[1:]) if text[1:].isdecimal() and len(text) < 9 else 0
                uci = state["moves"][number % len(state["moves"])]
                text = json.dumps({"type": "move", "uci": uci, "ply": state["ply"]})
            before = len(said)
            coming.put_nowait({"type": "websocket.receive", "text": text})
            await until(lambda before=before: len(said) > before or closed)  # type: ignore[misc]
        coming.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await task
        return said


def _last_state(said: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return next(each for each in reversed(said) if each["type"] == "state")


def _is_due(message: dict[str, Any]) -> bool:
    """Tell whether the player can move, or the game is over."""
    over = message.get("status") == "over"
    return over or (message.get("status") == "playing" and message["turn"] == message["you"])


def _start_socket(folder: Path) -> TryOne:
    """The wish for a game, and the messages of a player; the game is not lost by any of them."""
    web = _WebApp(folder)

    def try_one(data: bytes) -> None:
        wish, *texts = data.decode(errors="replace").split("\n")[:MOST_LINES]
        status, body = web.request("POST", "/api/games", wish.encode())
        if status != 201:
            status, body = web.request("POST", "/api/games", b"{}")
        path = f"/ws/play/{json.loads(body)['game']}"
        said = web.talk(path, texts)
        last = _last_state(said)
        end = '{"type":"abort"}' if last["ply"] < 2 else '{"type":"resign"}'
        first, *others = web.talk(path, [end, '{"type":"resign"}'])
        if first["type"] != "state" or first["version"] < last["version"]:
            raise AssertionError(f"the game is lost: {first}")
        result = _last_state([first, *others])["result"]
        if result is not None and result["rematch"] is not None:  # else it stays unfinished
            web.talk(f"/ws/play/{result['rematch']}", ['{"type":"abort"}'])

    return try_one


def _socket_seeds() -> list[str]:
    def text(wish: object, *messages: object) -> str:
        words = (each if isinstance(each, str) else json.dumps(each) for each in messages)
        return "\n".join((json.dumps(wish), *words))

    wish = {
        "color": "black",
        "level": 3,
        "time": {"base": 60, "increment": 1},
        "takebacks": True,
        "stalemate": "draw",
        "fen": "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
    }
    return [
        text({}, "@0", "@5", {"type": "draw"}, "@2", {"type": "resign"}, {"type": "rematch"}),
        text(wish, "@1", {"type": "takeback"}, "@2", {"type": "abort"}, "@7"),
        text({"takebacks": True}, {"type": "move", "uci": "e2e4", "ply": 0}, {"type": "takeback"}),
        text({"color": "random", "level": None, "time": None}, {"type": "move", "uci": "0000"}),
    ]


TARGETS: Mapping[str, Target] = {
    "protocol": Target("dialogues of UCI", _start_protocol, _protocol_seeds),
    "position": Target("`position`, `setoption`, `coverage`", _start_position, _position_seeds),
    "fog": Target("`position fog`, to the engine's belief", _start_fog, _fog_seeds, guided=False),
    "pgn": Target("PGN that is uploaded", _start_pgn, _pgn_seeds),
    "socket": Target("wishes and messages of a browser", _start_socket, _socket_seeds),
    "events": Target("JSON of the bot API", _start_events, _event_seeds),
    "journal": Target("journals of matches", _start_journal, _journal_seeds),
    "log": Target("logs that are replayed", _start_log, _log_seeds),
    "toml": Target("tournament files, and the bridge's", _start_toml, _toml_seeds),
}
"""All targets by their names."""
