"""What happens in games of a bot account: each scenario is played by a client against a server.

A scenario passes if the game goes on to its end in spite of what happens in it.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import chess
import psutil
import yaml

from tests.bots.lichess_server import LichessGame, LichessServer
from tests.bots.server import TOKEN, Cut, Fault
from tools.common import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "lichess_bot"
MOVETIME = 100
"""Milliseconds for each of the engine's moves."""

ENGINE_OPTIONS: dict[str, str | int] = {"Evaluator": "material", "Hash": 16, "Threads": 1}
GAMES = 2
"""At a time."""

END_SECONDS = 30.0


class CheckoutError(Exception):
    """There is no lichess-bot that can be run; the text is one line for the user."""


class BotClient:
    """A program that plays a bot account's games; not started yet.

    folder: where it may write. name: as tables call it.
    """

    name: ClassVar[str]
    clock: ClassVar[int | None] = 60_000
    """What the server's clocks show in its games, in ms; None: games without a clock."""

    challenge: ClassVar[dict[str, Any]] = {}
    """Fields of a challenge that it accepts, where they differ from a game of 1+2."""

    interrupts: ClassVar[int] = 1
    """So many times Ctrl-C make it leave in mid-game."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.screen = folder / "screen.log"
        self._process: subprocess.Popen[bytes] | None = None

    def command(self, url: str) -> list[str]:
        """Return the command that plays on a server."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Return the environment variables that it wants besides ours."""
        raise NotImplementedError

    def start(self, url: str) -> None:
        """Start it against a server; its output is appended to `screen`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.screen.open("ab") as screen:
            self._process = subprocess.Popen(
                self.command(url),
                cwd=self.folder,
                env=os.environ | self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=screen,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def processes(self) -> list[psutil.Process]:
        """Return its process and all below it, the engines among them."""
        if self._process is None or self._process.poll() is not None:
            return []
        top = psutil.Process(self._process.pid)
        return [top, *top.children(recursive=True)]

    def engines(self) -> list[psutil.Process]:
        """Return the engines that it runs."""
        return [each for each in self.processes() if _is_engine(_words(each))]

    def kill(self) -> list[psutil.Process]:
        """Kill it at once; returns its processes that are still there 30 s later."""
        mine = self.processes()
        others = {each.pid for each in self.engines()}
        for each in mine:
            if each.pid not in others:
                _send(each, signal.SIGKILL)
        return self._gone(mine)

    def leave(self) -> list[psutil.Process]:
        """Let it leave in mid-game by Ctrl-C; returns its processes that are still there 30 s later."""
        mine = self.processes()
        for _ in range(self.interrupts):
            _send(mine[0], signal.SIGINT)
            time.sleep(1.0)  # a second signal that comes at once would be one with the first
        return self._gone(mine)

    def _gone(self, mine: list[psutil.Process]) -> list[psutil.Process]:
        _, alive = psutil.wait_procs(mine, END_SECONDS)
        for each in alive:
            _send(each, signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        return alive

    def written(self) -> list[Path]:
        """Return the files that it wrote."""
        return [path for path in self.folder.rglob("*") if path.is_file()]

    def shows_token(self) -> bool:
        """Tell whether the token is in a file that it wrote, or in a command line."""
        token = TOKEN.encode()
        return any(token in path.read_bytes() for path in self.written()) or any(
            TOKEN in " ".join(_words(each)) for each in self.processes()
        )


class LichessBotClient(BotClient):
    """lichess-bot, of a copy of its checkout in which `extra_game_handlers.py` is the example's.

    The configuration is the example's, but for where things are and a fast engine. python: an
    interpreter with what lichess-bot requires. Raises CheckoutError.
    """

    name = "lichess-bot"

    def __init__(self, folder: Path, checkout: Path, python: Path) -> None:
        super().__init__(folder)
        if not (checkout / "lichess-bot.py").is_file():
            raise CheckoutError(f"{checkout} is no checkout of lichess-bot; clone it there")
        if not python.is_file():
            raise CheckoutError(f"{python} is no interpreter; say which by --python")
        self.checkout = checkout
        self.python = python.absolute()  # not resolved: a link tells Python its environment
        skipped = shutil.ignore_patterns(".git", ".venv", "__pycache__")
        shutil.copytree(checkout, folder, ignore=skipped)
        shutil.copy(EXAMPLE / "extra_game_handlers.py", folder)

    def version(self) -> str:
        """Return the commit of the checkout. Raises CheckoutError if a file of it is changed."""
        git = ["git", "-C", str(self.checkout)]
        changed = _output([*git, "status", "--porcelain", "--untracked-files=no"])
        if changed:
            raise CheckoutError(f"{self.checkout} has changed files; take a fresh checkout")
        return _output([*git, "log", "-1", "--format=%h of %cs"])

    def configure(self, url: str) -> None:
        """Write the configuration."""
        settings = yaml.safe_load((EXAMPLE / "config.yml").read_text(encoding="utf-8"))
        engine = settings["engine"] | {"dir": str(ROOT / "engine_bin")}
        engine["uci_options"] = ENGINE_OPTIONS | {"go_commands": {"movetime": MOVETIME}}
        engine["engine_options"] = {"log": str(self.folder / "engine-%p.log")}
        settings |= {"url": f"{url}/", "engine": engine, "abort_time": 10}
        settings["challenge"] |= {"concurrency": GAMES}
        (self.folder / "config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")

    def command(self, url: str) -> list[str]:
        """Return the command that plays on a server."""
        self.configure(url)
        return [str(self.python), "lichess-bot.py", "-v", "-l", "all.log"]

    def environment(self) -> dict[str, str]:
        """Return the variables that hold the token and the path of `obscuro`."""
        return {"LICHESS_BOT_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}

    def written(self) -> list[Path]:
        """Return the files that it wrote: its logs and games."""
        return [
            *self.folder.glob("*.log"),
            *self.folder.glob("lichess_bot_auto_logs/*"),
            *self.folder.glob("games/*"),
        ]


class BridgeClient(BotClient):
    """`obscuro bridge`. Its games have no clock, so that `--movetime` sets the engine's time."""

    name = "bridge"
    clock = None
    interrupts = 2
    challenge: ClassVar[dict[str, Any]] = {
        "timeControl": {"type": "unlimited"},
        "speed": "correspondence",
    }

    def command(self, url: str) -> list[str]:
        """Return the command that plays on a server."""
        options = [f"--option={name}={value}" for name, value in ENGINE_OPTIONS.items()]
        return [
            *(sys.executable, "-P", "-m", "obscuro.cli.main", "bridge", "--url", url),
            *("--unlimited", "--movetime", str(MOVETIME), "--abort-after", "10"),
            *("--games", str(GAMES)),
            *("--greeting", "Good luck!", "--farewell", "Good game!"),
            *("--log", "all.log", "--games-file", "games.json", *options),
        ]

    def environment(self) -> dict[str, str]:
        """Return the variables that hold the token and the path of `obscuro`."""
        return {"OBSCURO_BOT_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}


def _is_engine(words: list[str]) -> bool:
    return "obscuro.cli.main" in words and "bridge" not in words


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _send(process: psutil.Process, number: signal.Signals) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CheckoutError(f"{' '.join(command)} fails: {error}") from error
    return done.stdout.strip()


ACCEPT_SECONDS = 120.0
MOVE_SECONDS = 90.0
"""For a move, an answer or a stream that should come. A bot that needs longer is taken for lost."""

OTHER_START = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1"
EXCHANGES = 2
"""So many moves each side makes before something happens in a game."""

MOST_GAMES = 10


class StageError(Exception):
    """What a scenario waited for did not come; the text says what."""


class ClientStage:
    """A server, and a client that plays on it."""

    def __init__(self, server: LichessServer, client: BotClient) -> None:
        self.server = server
        self.client = client
        self._chance = random.Random(1)

    def happens(self, what: Callable[[], Any], seconds: float = MOVE_SECONDS) -> bool:
        """Wait until something is so; tell whether it was in time."""
        return bool(self.server.happens(what, seconds))

    def expect(self, text: str, what: Callable[[], Any], seconds: float = MOVE_SECONDS) -> None:
        """Wait until something is so. Raises StageError if it isn't in time."""
        if not self.happens(what, seconds):
            raise StageError(f"no {text} within {seconds:.0f} s")

    def start(self) -> None:
        """Start the client, and wait until it listens."""
        self.client.start(self.server.url)
        self.expect("event stream", lambda: self.server.events.queues, ACCEPT_SECONDS)

    def restart(self, *, politely: bool = False) -> None:
        """End the client and start it again. Raises StageError if a process outlives it."""
        left = self.client.leave() if politely else self.client.kill()
        self.expect("end of its streams", lambda: not self.server.events.queues)
        if left:
            raise StageError(f"{len(left)} processes outlive it")
        self.start()

    def clear(self) -> None:
        """End all games, and start the client anew, after a scenario that failed."""
        with self.server.news:
            for game in list(self.server.games.values()):
                if game.status == "started":
                    game.end("aborted", None)
            self.server.pending.clear()
            self.server.faults.clear()
        self.restart()

    def challenge(self, bot: chess.Color = chess.WHITE, **over: Any) -> str:
        """Challenge the bot to a game in which the opponent moves by hand; return its name."""
        fen = over.get("initialFen")
        return self.server.challenge(
            bot=bot,
            over=self.client.challenge | over,
            fen=fen,
            chance=None,
            clock=self.client.clock,
        )

    def new_game(self, bot: chess.Color = chess.WHITE, **over: Any) -> LichessGame:
        """Challenge the bot, wait until it accepts, and begin. Raises StageError."""
        name = self.challenge(bot, **over)
        self.expect("acceptance", lambda: name in self.server.games, ACCEPT_SECONDS)
        game = self.server.lichess_game(name)
        game.begin()
        return game

    def bot_moves(self, game: LichessGame) -> None:
        """Wait until the bot has moved. Raises StageError."""
        self.expect("move", lambda: game.board.turn != game.bot or game.status != "started")

    def exchange(self, game: LichessGame, moves: int = EXCHANGES) -> None:
        """Let so many moves of each side be made, and one more of the bot."""
        for _ in range(moves):
            self.bot_moves(game)
            self.reply(game)
        self.bot_moves(game)

    def middle_game(self) -> LichessGame:
        """Begin a game and play some moves. Raises StageError if game after game ends in these."""
        for _ in range(MOST_GAMES):
            game = self.new_game()
            self.exchange(game)
            if game.status == "started":
                return game
        raise StageError(f"{MOST_GAMES} games ended too early")

    def reply(self, game: LichessGame) -> None:
        """Make a random move of the opponent, but not a king's capture."""
        with self.server.news:
            if game.status != "started":
                return
            moves = [m for m in game.board.legal_moves if not game.board.piece_at(m.to_square)]
            game.play(self._chance.choice(sorted(map(str, moves))))

    def to_the_end(self, game: LichessGame) -> str:
        """Let the opponent play at random to the end of the game. Raises StageError."""
        game.play_on(random.Random(1))
        if game.status == "started" and game.board.turn != game.bot:
            self.reply(game)
        while not self.happens(lambda: game.status != "started", 0.0):
            plies = len(game.moves)
            self.expect("move", lambda: len(game.moves) > plies or game.status != "started")  # noqa: B023
        won = "won" if game.winner == chess.COLOR_NAMES[game.bot] else "lost"
        return f"{game.status if game.winner is None else won} after {len(game.moves)} plies"


class ClientScenario(NamedTuple):
    """Something that happens. promised: docs/lichess_bot.md says that lichess-bot copes with it."""

    name: str
    what: str
    run: Callable[[ClientStage], str]
    promised: bool = True


# -- games and challenges ---------------------------------------------------------------------


def _whole_games(stage: ClientStage, bot: chess.Color) -> str:
    return ", ".join(stage.to_the_end(stage.new_game(bot)) for _ in range(2))


def _two_at_once(stage: ClientStage) -> str:
    first, second = stage.new_game(chess.WHITE), stage.new_game(chess.BLACK)
    return f"{stage.to_the_end(first)}, {stage.to_the_end(second)}"


def _declined(stage: ClientStage, **over: Any) -> str:
    name = stage.challenge(**over)
    stage.expect("answer", lambda: name not in stage.server.pending)
    if name in stage.server.games:
        return f"accepts; {stage.to_the_end(stage.server.lichess_game(name))}"
    return f"declines: {stage.server.declined[name]}"


def _other_variant(stage: ClientStage) -> str:
    said = _declined(stage, variant={"key": "atomic"})
    if said != "declines: variant":
        raise StageError(said)
    return said


def _no_first_move(stage: ClientStage) -> str:
    name = stage.challenge(chess.BLACK)
    stage.expect("acceptance", lambda: name in stage.server.games, ACCEPT_SECONDS)
    game = stage.server.lichess_game(name)
    stage.expect("abort", lambda: game.status == "aborted")
    return "aborts"


def _resignation(stage: ClientStage) -> str:
    game = stage.middle_game()
    game.end("resign", game.bot)
    stage.expect("end of the game's stream", lambda: not game.feed.queues)
    return stage.to_the_end(stage.new_game())


# -- what the opponent asks and says -----------------------------------------------------------


def _takeback(stage: ClientStage) -> str:
    for _ in range(MOST_GAMES):
        game = stage.middle_game()
        for number in (1, 2):
            if game.status == "started":
                game.offer("takeback")
                stage.expect("answer", lambda n=number: len(game.takebacks) == n)  # type: ignore[misc] # noqa: B023
                stage.reply(game)
                stage.bot_moves(game)
        if len(game.takebacks) == 2:
            return f"answers {', then '.join(game.takebacks)}; {stage.to_the_end(game)}"
    raise StageError(f"{MOST_GAMES} games ended too early")


def _taken_back_on_our_turn(stage: ClientStage) -> str:
    game = stage.middle_game()
    with stage.server.news:
        stage.reply(game)
        game.undo(1, told=True)
    stage.reply(game)
    return stage.to_the_end(game)


def _taken_back_untold(stage: ClientStage) -> str:
    game = stage.middle_game()
    game.undo(2, told=False)
    stage.reply(game)
    return stage.to_the_end(game)


def _draw_offer(stage: ClientStage) -> str:
    game = stage.middle_game()
    with stage.server.news:
        stage.reply(game)
        game.offer("draw")
    stage.bot_moves(game)
    answer = "agrees" if game.status == "draw" else "plays on"
    return f"{answer}; {stage.to_the_end(game)}"


def _chat(stage: ClientStage) -> str:
    game = stage.middle_game()
    greeted = bool(game.chats)
    said = len(game.chats)
    game.say("!eval")
    game.say("!eval", room="spectator")
    stage.happens(lambda: len(game.chats) >= said + 2, 10.0)
    told = {room for room, text in game.chats[said:] if "Evaluation" in text}
    answers = [f"tells {room}s the evaluation" for room in sorted(told)]
    stage.to_the_end(game)
    bye = stage.happens(lambda: game.chats and game.chats[-1][1] == "Good game!", 10.0)
    words = ["greets" if greeted else "does not greet", *answers]
    return "; ".join([*words, "says goodbye" if bye else "leaves without a word"])


# -- connections --------------------------------------------------------------------------------


def _streams(stage: ClientStage, game: LichessGame) -> str:
    return f"{len(game.feed.queues)} streams, {len(stage.client.engines())} engines for the game"


def _cut_game_stream(stage: ClientStage, half: bytes) -> str:
    game = stage.middle_game()
    game.drop(half)
    stage.expect("end of the stream", lambda: not game.feed.queues)
    stage.expect("new stream", lambda: game.feed.queues, 30.0)
    return stage.to_the_end(game)


def _cut_event_stream(stage: ClientStage) -> str:
    game = stage.middle_game()
    stage.server.events.send(Cut())
    stage.expect("end of the stream", lambda: not stage.server.events.queues)
    stage.expect("new event stream", lambda: stage.server.events.queues)
    stage.happens(lambda: len(stage.client.engines()) > 1, 10.0)
    said = _streams(stage, game)
    return f"{said}; {stage.to_the_end(game)}"


def _outage(stage: ClientStage) -> str:
    game = stage.middle_game()
    stage.server.outage()
    stage.expect("end of the streams", lambda: not game.feed.queues)
    stage.expect("new stream", lambda: game.feed.queues)
    return stage.to_the_end(game)


def _silence(stage: ClientStage) -> str:
    game = stage.middle_game()
    opened = stage.server.count("/stream/event")
    usual, stage.server.ping_seconds = stage.server.ping_seconds, 3600.0
    try:
        stage.expect("new stream", lambda: stage.server.count("/stream/event") > opened)
    finally:
        stage.server.ping_seconds = usual
    stage.reply(game)
    return stage.to_the_end(game)


def _faults(stage: ClientStage, *faults: Fault) -> str:
    game = stage.middle_game()
    stage.server.fail("/move/", *faults)
    stage.reply(game)
    return stage.to_the_end(game)


# -- processes ----------------------------------------------------------------------------------


def _engine_dies(stage: ClientStage) -> str:
    game = stage.middle_game()
    for engine in stage.client.engines():
        engine.send_signal(signal.SIGKILL)
    stage.reply(game)
    return stage.to_the_end(game)


def _restarted(stage: ClientStage, *, politely: bool) -> str:
    game = stage.middle_game()
    stage.restart(politely=politely)
    return stage.to_the_end(game)


def _restarted_before_move_1(stage: ClientStage) -> str:
    name = stage.challenge()
    stage.expect("acceptance", lambda: name in stage.server.games, ACCEPT_SECONDS)
    stage.restart()
    game = stage.server.lichess_game(name)
    return stage.to_the_end(game)


SCENARIOS = (
    ClientScenario("white", "two whole games as White", lambda s: _whole_games(s, chess.WHITE)),
    ClientScenario("black", "two whole games as Black", lambda s: _whole_games(s, chess.BLACK)),
    ClientScenario("two", "two games at once", _two_at_once),
    ClientScenario("variant", "a challenge to another variant", _other_variant),
    ClientScenario(
        "start",
        "a challenge to a game from another position",
        lambda s: _declined(s, initialFen=OTHER_START),
    ),
    ClientScenario("abort", "the opponent does not begin", _no_first_move),
    ClientScenario("resign", "the opponent resigns; another game follows", _resignation),
    ClientScenario("takeback", "the opponent asks twice to take a move back", _takeback),
    ClientScenario(
        "takeback_turn",
        "the server takes the opponent's last move back on the bot's turn, and tells",
        _taken_back_on_our_turn,
    ),
    ClientScenario(
        "takeback_untold",
        "the server takes a move of each side back and tells nothing, as pychess does",
        _taken_back_untold,
    ),
    ClientScenario("draw", "the opponent offers a draw", _draw_offer),
    ClientScenario("chat", "chat: `!eval` from the opponent, then from a spectator", _chat),
    ClientScenario(
        "game_stream",
        "the game's stream ends between two lines",
        lambda s: _cut_game_stream(s, b""),
        promised=False,
    ),
    ClientScenario(
        "half_line",
        "the game's stream breaks in mid-line",
        lambda s: _cut_game_stream(s, b'{"type":'),
        promised=False,
    ),
    ClientScenario("event_stream", "the event stream ends", _cut_event_stream),
    ClientScenario("outage", "all streams break in mid-line", _outage),
    ClientScenario("silence", "all streams fall silent", _silence),
    ClientScenario("502", "a move is answered 502 twice", lambda s: _faults(s, *[Fault(502)] * 2)),
    ClientScenario(
        "429", "a move is answered 429 once", lambda s: _faults(s, Fault(429)), promised=False
    ),
    ClientScenario(
        "lost", "the answer to a move gets lost", lambda s: _faults(s, Fault(lost=True))
    ),
    ClientScenario("engine", "the engine is killed", _engine_dies),
    ClientScenario(
        "killed",
        "the client is killed in mid-game and started again",
        lambda s: _restarted(s, politely=False),
    ),
    ClientScenario(
        "left",
        "the client leaves by Ctrl-C in mid-game and is started again",
        lambda s: _restarted(s, politely=True),
        promised=False,
    ),
    ClientScenario(
        "before_move_1",
        "the client is killed before move 1 and started again",
        _restarted_before_move_1,
    ),
)
