"""`obscuro bridge`: what it refuses, how it leaves, and a game with the real engine."""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import chess
import pytest

from obscuro.cli import bridge_command
from obscuro.cli.arguments import parse
from obscuro.cli.bridge_command import (
    account_locked,
    engine_options,
    find_token,
    games_file,
    idle_options,
    server_url,
    take_token,
)
from obscuro.cli.command_support import CommandError, logged
from obscuro.cli.main import main
from tests.bots.movers import QuickMover
from tests.bots.server import BOT, TOKEN, BotServer, Fault, serving
from tests.hanging import HANG_SECONDS
from tests.processes import children, is_running
from tests.sizes import quick_among

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-P", "-m", "obscuro.cli.main", "bridge"]
QUICK_ENGINE = ["Threads=1", "Evaluator=material", "Hash=16", "Seed=1", "Move Overhead=10"]


@pytest.fixture
def server() -> Iterator[BotServer]:
    with serving("pychess") as running:
        yield running


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBSCURO_BOT_TOKEN", TOKEN)


class Run:
    """The command in a process of its own. A thread keeps each line that it writes to the screen."""

    def __init__(self, server: BotServer, log: Path, *arguments: str) -> None:
        options = [part for option in QUICK_ENGINE for part in ("--option", option)]
        self.log = log
        self.popen = subprocess.Popen(
            [*COMMAND, "--url", server.url, "--log", str(log), *options, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env=os.environ | {"OBSCURO_BOT_TOKEN": TOKEN, "XDG_STATE_HOME": str(log.parent)},
        )
        self.screen: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        with self.popen.stdout as stream:
            for line in stream:
                with self._news:
                    self.screen.append(line)
                    self._news.notify_all()

    def until(self, text: str) -> None:
        """Wait until a line with this text is on the screen."""
        with self._news:
            assert self._news.wait_for(
                lambda: any(text in line for line in self.screen), HANG_SECONDS
            ), f"no line has {text!r}: {self.screen}"

    def wait(self) -> tuple[int, str]:
        """Return the exit code and all that was written, to the screen and to the log."""
        code = self.popen.wait(HANG_SECONDS)
        self._reader.join(HANG_SECONDS)  # to the end of what it wrote
        assert not self._reader.is_alive()
        written = "".join(self.screen) + (self.log.read_text() if self.log.exists() else "")
        assert TOKEN not in written
        return code, written


@contextmanager
def running(server: BotServer, tmp_path: Path, *arguments: str) -> Iterator[Run]:
    run = Run(server, tmp_path / "log", *arguments)
    try:
        server.until(lambda: server.events.queues)
        yield run
    finally:
        run.popen.kill()
        run.popen.wait()


# -- arguments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("http://www.pychess.org", "readable on its way"),
        ("ftp://localhost", "must be like"),
        ("www.pychess.org", "must be like"),
        ("https://me:secret@www.pychess.org", "no user, password"),
        ("https://www.pychess.org/?token=x", "no user, password"),
    ],
)
def test_bad_urls(url: str, wrong: str) -> None:
    with pytest.raises(CommandError, match=wrong):
        server_url(url)


def test_good_urls() -> None:
    assert server_url("https://www.pychess.org/") == "https://www.pychess.org"
    assert server_url("http://localhost:8123") == "http://localhost:8123"
    assert parse(["bridge"]).url == "https://www.pychess.org"


def test_the_token_leaves_the_environment() -> None:
    environment = {"OBSCURO_BOT_TOKEN": " abc\n"}
    assert take_token(environment) == "abc"
    assert environment == {}


@pytest.mark.parametrize("token", ["", "  ", "a b", "ä", "a\x00b"])
def test_what_is_no_token(token: str) -> None:
    with pytest.raises(CommandError) as caught:
        take_token({"OBSCURO_BOT_TOKEN": token})
    assert not token.strip() or token not in str(caught.value)


def test_options_of_the_engine() -> None:
    assert engine_options({"threads": "2"}) == {"Move Overhead": "500", "Threads": "2"}
    assert engine_options({"Move Overhead": "1"}) == {"Move Overhead": "1"}
    for bad in ({"Nothing": "1"}, {"Threads": "0"}):
        with pytest.raises(CommandError):
            engine_options(bad)


def test_on_pychess_a_side_without_a_move_draws() -> None:
    assert engine_options({}, "https://www.pychess.org")["Stalemate"] == "draw"
    given = engine_options({"Stalemate": "loss"}, "https://www.pychess.org")
    assert given["Stalemate"] == "loss"
    assert "Stalemate" not in engine_options({}, "https://server.example")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--rated", "rated"], ["no rated games"]),
        (["--opponents", "bot"], ["can't challenge"]),
        (["--draw-score", "-50"], ["no draw offers"]),
        (["--rated", "casual", "--opponents", "human"], []),
    ],
)
def test_options_that_do_nothing_on_pychess_are_named(given: list[str], says: list[str]) -> None:
    lines = idle_options(parse(["bridge", *given]))
    assert len(lines) == len(says)
    assert all(word in line for word, line in zip(says, lines, strict=True))


def test_where_games_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = games_file(None, "https://server.example:81/", "Me/Too")
    assert path == tmp_path / "obscuro" / "games-server.example%3A81-Me%2FToo.json"
    names = ("Jürgen", "J_rgen", "Jørgen", "J rgen")
    assert len({games_file(None, "https://server.example", name) for name in names}) == 4
    assert len(games_file(None, "https://server.example", "ü" * 100).name) < 255
    assert games_file("x.json", "https://server.example", "Me") == Path("x.json")


@pytest.mark.parametrize("name", ["Stockfish", "STOCKFISH", "stockfish", " Stockfish "])
def test_no_program_can_be_named_through_the_bridge(name: str) -> None:
    with pytest.raises(CommandError, match="the bridge does not set this option"):
        engine_options({name: "/bin/sh"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "token is needed, in the environment, OBSCURO_BOT_TOKEN=…, or --token-file"),
        (["--option", "Stockfish=/bin/sh"], "the bridge does not set this option"),
        (["--option", "Threads"], "is not NAME=VALUE"),
        (["--greeting", "x" * 141], "--greeting: one line of at most 140 characters"),
        (["--farewell", "two\nlines"], "--farewell: one line"),
        (["--pgn", "/nowhere/at/all.pgn"], "there is no folder /nowhere/at"),
    ],
)
def test_mistakes_are_one_line(
    arguments: Sequence[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("OBSCURO_BOT_TOKEN", raising=False)
    assert main(["bridge", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_without_httpx_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(sys.modules, "obscuro.bots.bot_client", raising=False)
    monkeypatch.setenv("OBSCURO_BOT_TOKEN", "x")
    assert main(["bridge"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("obscuro: httpx is not installed; run: ") and "install 'httpx>=" in line


@pytest.mark.usefixtures("token")
def test_a_second_bridge_of_an_account_is_one_line_and_an_exit_code(
    server: BotServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with account_locked(tmp_path / "other", server.url, BOT), pytest.raises(CommandError) as caught:
        bridge_command.run(parse(["bridge", "--url", server.url, "--quiet"]), make=no_engine)
    assert str(caught.value) == (
        f"another bridge plays as {BOT} on {server.url}; end that one first"
    )
    assert caught.value.code == 75
    assert server.count("/stream/event") == 0


@pytest.mark.usefixtures("token")
def test_two_accounts_do_not_keep_their_games_in_one_file(
    server: BotServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    games = tmp_path / "games"
    with account_locked(games, server.url, "Another"):
        assert f"another bridge keeps its games in {games}" in refusal(
            server, "--games-file", str(games)
        )


def no_engine(*_: object) -> QuickMover:
    raise AssertionError("no engine is started for nothing")


# -- the token in a file, and the bridge's own file ------------------------------------------------


def test_a_token_of_a_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    assert find_token({}, str(path)) == TOKEN
    assert find_token({"OBSCURO_BOT_TOKEN": "other"}, str(path)) == "other"
    assert not caplog.records
    path.chmod(0o644)
    assert find_token({"OBSCURO_BOT_TOKEN": ""}, str(path)) == TOKEN
    assert "chmod 600" in caplog.text and TOKEN not in caplog.text


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"x" * 2000, b"\xff\xfe", b"two words", "ü".encode()]
)
def test_a_file_that_holds_no_token(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(CommandError) as caught:
        find_token({}, str(path))
    assert str(path) in str(caught.value) and "xxx" not in str(caught.value)
    with pytest.raises(CommandError, match="can't read"):
        find_token({}, str(tmp_path / "nothing"))


@pytest.mark.usefixtures("token")
def test_a_file_with_all_that_is_said_plays_a_game(
    server: BotServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "bridge.toml").write_text(
        f"""url = "{server.url}"
leave_after = 1
block = ["Troll"]
pgn = "games.pgn"
quiet = true
[engine]
Threads = 1
"""
    )
    given: list[Mapping[str, str]] = []

    def make(options: Mapping[str, str], _: object) -> QuickMover:
        given.append(options)
        return QuickMover()

    def play() -> None:
        name = server.challenge(over={"challenger": {"name": "troll"}})
        server.until(lambda: name in server.declined)
        game = server.game(server.challenge(bot=chess.BLACK))
        game.most_plies = 2
        game.play("e2e4")

    player = threading.Thread(target=play)
    player.start()
    words = ["bridge", "--config", str(tmp_path / "bridge.toml")]
    assert bridge_command.run(parse(words), make=make) == 0
    player.join()
    assert given == [{"Move Overhead": "500", "Threads": "1"}]
    assert "e4" in (tmp_path / "games.pgn").read_text()


def refusal(server: BotServer, *words: str) -> str:
    """Return the line with which the bridge leaves, with an engine of this process."""
    words = ("bridge", "--url", server.url, "--quiet", *words)
    with pytest.raises(CommandError) as caught:
        bridge_command.run(parse(words), make=lambda *_: QuickMover())
    return str(caught.value)


def test_a_wrong_token_is_one_line(server: BotServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBSCURO_BOT_TOKEN", "another-token")
    line = refusal(server)
    assert "refuses the token: /api/account: 401" in line and "bot:play" in line
    assert "another-token" not in line


@pytest.mark.usefixtures("token")
def test_an_event_stream_that_is_refused_is_one_line(
    server: BotServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("obscuro.bots.bot_client.Patience.pause", lambda self, failures: 0.0)
    server.fail("/stream/event", *[Fault(status=400, body="Unsupported BOT version.")] * 9)
    line = refusal(server, "--games-file", str(tmp_path / "games"))
    assert "400 Unsupported BOT version." in line and "try a newer one" in line


@pytest.mark.usefixtures("token")
def test_an_account_that_is_no_bot(server: BotServer) -> None:
    server.title = ""
    assert f"{BOT} is not a bot account" in refusal(server)


@pytest.mark.usefixtures("token")
def test_a_log_that_cannot_be_written(server: BotServer, tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "log"
    assert refusal(server, "--log", str(path)) == f"can't write {path}: No such file or directory"


def test_a_token_in_a_failure_is_not_written_down(tmp_path: Path) -> None:
    """It is in no text of ours; should another's error have it, it is taken out."""
    path = tmp_path / "log"
    logger = logging.getLogger("obscuro.bots.bot_client")
    with logged(logging.getLogger("obscuro.bots"), True, str(path), "abc123"):
        logger.warning("a header: %s", {"Authorization": "Bearer abc123"})
        try:
            raise ValueError("Bearer abc123")
        except ValueError:
            logger.exception("with %s", "abc123")
        logger.debug("the details")
    text = path.read_text()
    assert "abc123" not in text
    assert text.count("(token)") >= 3 and "Traceback" in text and "the details" in text


# -- with the real engine ------------------------------------------------------------------------


@pytest.mark.parametrize("kills", quick_among([False, True], lambda kills: not kills))
def test_a_short_game_with_the_real_engine(server: BotServer, tmp_path: Path, kills: bool) -> None:
    """kills: the engine is killed after its first move, and started anew."""
    with running(server, tmp_path, "--leave-after", "1") as run:
        game = server.game(server.challenge(bot=chess.BLACK, clock=9000))
        game.increment, game.most_plies = 0, 4
        game.play("e2e4")
        server.until(lambda: game.board.turn != game.bot)
        for pid in children(run.popen.pid) if kills else ():
            os.kill(pid, signal.SIGKILL)
        game.play("d2d4")
        code, text = run.wait()
    assert code == 0
    assert len(game.moves) == 4
    assert "challenge game0001 of Guest: accepted" in text and "Traceback" not in text
    assert ("starting it anew" in text) == kills and "there is no engine" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    quick_among([signal.SIGTERM, signal.SIGINT], lambda number: number == signal.SIGINT),
)
def test_leaving_in_mid_game_leaves_no_engine(
    number: signal.Signals, server: BotServer, tmp_path: Path
) -> None:
    with running(server, tmp_path) as run:
        engines = children(run.popen.pid)
        assert engines
        game = server.game(server.challenge(bot=chess.BLACK))
        server.until(lambda: game.feed.queues)
        run.popen.send_signal(number)
        if number == signal.SIGINT:  # the first one waits for the game
            # Two signals are one to a process that has not handled the first yet.
            run.until("leaving when 1 games are over")
            late = server.challenge()
            server.until(lambda: late in server.declined)
            assert run.popen.poll() is None
            run.popen.send_signal(number)
        code, text = run.wait()
    assert code == 130
    assert "game game0001: left as it is" in text and "Traceback" not in text
    assert not any(is_running(pid) for pid in engines)
    assert game.status == "started"


def test_no_engine_gets_the_token_or_outlives_a_bridge_that_is_killed(
    server: BotServer, tmp_path: Path
) -> None:
    with running(server, tmp_path) as run:
        for pid in children(run.popen.pid):
            assert TOKEN.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
            assert TOKEN.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
        assert TOKEN.encode() not in Path(f"/proc/{run.popen.pid}/cmdline").read_bytes()
        engines = [os.pidfd_open(pid) for pid in children(run.popen.pid)]
        assert engines
        run.popen.kill()
        for engine in engines:
            assert select.select([engine], [], [], HANG_SECONDS)[0]  # readable when it has ended
            os.close(engine)
