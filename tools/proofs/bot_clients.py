"""Two programs that play a bot account's games with the engine: lichess-bot, and our bridge.

Both run as processes against a server on this machine. The engine plays fast, with `material`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import psutil
import yaml

from tests.bots.server import TOKEN
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
