"""`obscuro bridge` plays as a bot account on a server with the lichess bot API."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from obscuro.cli.arguments import parse
from obscuro.cli.bridge_file import with_file, write_template
from obscuro.cli.command_support import (
    INTERRUPTED,
    CommandError,
    UsageError,
    logged,
    make_mover,
    missing_package,
    read_options,
    server_options,
)
from obscuro.cli.grammar.service_commands import DRAW_MOVES, DRAW_SCORE
from obscuro.client.uci_process import EngineError
from obscuro.installation import page
from obscuro.signal_handlers import leaving_signals_handled

if TYPE_CHECKING:
    from obscuro.bots.bot import Bridge
    from obscuro.bots.bot_client import BotClient
    from obscuro.client.engine import Mover
    from obscuro.client.engine_pool import MoverPool

TOKEN = "OBSCURO_BOT_TOKEN"
FORBIDDEN_OPTIONS = frozenset({"Stockfish", "UCI_Variant", "UCI_Chess960"})
"""Options that the bridge may not set: `Stockfish` names a program that the engine runs."""
OVERHEAD = {"Move Overhead": "500"}
"""Milliseconds that a message needs to the server and back, unless the user says so."""
LONGEST_CHAT = 140
"""Characters of a line in the chat; servers cut off or refuse longer ones."""
LEAVING_SECONDS = 10.0
"""After a second signal the bridge has this long to leave by itself."""
LONGEST_FILE_NAME = 200
"""Characters of an account's name in the names of files; file systems take 255 bytes in all."""
MOST_TOKEN = 1000
"""Bytes of a token's file at most."""
IN_USE = 75
"""The exit code where another bridge plays with the account: to try again later may help."""

logger = logging.getLogger("obscuro.bots")

MakeMover = Callable[[Mapping[str, str], Callable[[str], None]], "Mover"]


def run(arguments: argparse.Namespace, *, make: MakeMover = make_mover) -> int:
    """Play until a signal or --leave-after ends it; return the exit code.

    make: makes the engine; tests pass their own. Raises CommandError.
    """
    if arguments.write_config is not None:
        write_template(Path(arguments.write_config))
        print(f"{arguments.write_config} is written; obscuro bridge --config takes it")
        return 0
    arguments = with_file(arguments)
    url = server_url(arguments.url)
    options = engine_options(read_options(arguments.option, "--option"), url)
    check_chat(arguments)
    check_pgn(arguments.pgn)
    token = find_token(os.environ, arguments.token_file)
    with logged(logger, arguments.quiet, arguments.log, token):
        return _play(arguments, url, options, token, make)


def server_url(text: str) -> str:
    """Check the address of the server and return it. Raises UsageError."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--url {text}: it must be like https://www.pychess.org")
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise UsageError(f"--url {text}: the token would be readable on its way; use https")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError("--url: no user, password, query or fragment may be in it")
    return text.rstrip("/")


def take_token(
    environment: MutableMapping[str, str],
    name: str = TOKEN,
    what: str = "the bot account's token",
) -> str:
    """Remove the token from the environment, so that no child process gets it, and return it.

    name: of the variable. what: what the token is, for the error. Raises UsageError.
    """
    token = environment.pop(name, "").strip()
    if not token:
        raise UsageError(f"{what} is needed, in the environment: {name}=…")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(f"{name}: it holds characters that no token has")
    return token


def find_token(environment: MutableMapping[str, str], path: str | None) -> str:
    """Return the bot account's token, of the environment, else of a file. Raises CommandError.

    path: the file, None if there is none. It holds the token and nothing else.
    """
    if path is None:
        if not environment.get(TOKEN, "").strip():
            raise UsageError(
                f"the bot account's token is needed, in the environment, {TOKEN}=…, or --token-file"
            )
        return take_token(environment)
    if environment.get(TOKEN, "").strip():
        return take_token(environment)
    try:
        with Path(path).open(encoding="utf-8") as stream:
            text = stream.read(MOST_TOKEN + 1)
            mode = os.fstat(stream.fileno()).st_mode
    except OSError as error:
        raise CommandError(f"can't read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        text = ""
    if len(text) > MOST_TOKEN or not text.strip():
        raise CommandError(f"{path}: it must hold the bot account's token, and nothing else")
    if stat.S_ISREG(mode) and mode & stat.S_IROTH:
        logger.warning("%s: every user may read the token; run: chmod 600 %s", path, path)
    return take_token({path: text}, path)


def check_chat(arguments: argparse.Namespace) -> None:
    """Check what is to be said in the chat. Raises UsageError."""
    for name in ("greeting", "farewell"):
        text = getattr(arguments, name) or ""
        if len(text) > LONGEST_CHAT or not text.isprintable():
            raise UsageError(f"--{name}: one line of at most {LONGEST_CHAT} characters, please")


def check_pgn(path: str | None) -> None:
    """Check where the games are to be written. Raises UsageError."""
    if path is not None and not Path(path).absolute().parent.is_dir():
        raise UsageError(f"--pgn {path}: there is no folder {Path(path).absolute().parent}")


def idle_options(arguments: argparse.Namespace) -> list[str]:
    """Return a line for each option that does nothing, or too much, on pychess.org."""
    lines = []
    if arguments.rated == "rated":
        lines.append("--rated rated: pychess.org has no rated games with bots; none will fit there")
    if arguments.opponents == "bot":
        lines.append("--opponents bot: bots can't challenge on pychess.org; none will fit there")
    if (arguments.draw_score, arguments.draw_moves) != (DRAW_SCORE, DRAW_MOVES):
        lines.append("--draw-score, --draw-moves: pychess.org tells bots of no draw offers")
    return lines


def games_file(given: str | None, url: str, user: str) -> Path:
    """Return the file that keeps the games of an account that go on."""
    return Path(given) if given is not None else state_file("games", url, user, ".json")


def state_file(what: str, url: str, user: str, suffix: str) -> Path:
    """Return a file in the user's state folder for an account, whatever its name is."""
    import platformdirs  # noqa: PLC0415 - slow, hence only here

    name = quote(f"{urlsplit(url).netloc}-{user}", safe="", errors="replace")
    folder = Path(platformdirs.user_state_dir("obscuro", appauthor=False))
    return folder / f"{what}-{name[:LONGEST_FILE_NAME]}{suffix}"


@contextlib.contextmanager
def account_locked(games: Path, url: str, user: str) -> Iterator[None]:
    """Within this context, no other bridge of this user plays with the account.

    games: the file of its games, which no other account may have either. Raises CommandError.
    """
    from obscuro.bots.bot import AccountInUse, StateLock  # noqa: PLC0415

    locks: list[StateLock] = []
    try:
        for path, what in (
            (state_file("bridge", url, user, ".lock"), f"another bridge plays as {user} on {url}"),
            (games.with_name(f"{games.name}.lock"), f"another bridge keeps its games in {games}"),
        ):
            try:
                locks.append(StateLock(path))
            except AccountInUse:
                raise CommandError(f"{what}; end that one first", IN_USE) from None
        yield
    finally:
        for lock in locks:
            lock.release()


def engine_options(given: Mapping[str, str], url: str = "") -> dict[str, str]:
    """Check the engine's options, add our defaults, and return all. Raises CommandError.

    url: the server's; on pychess.org a side without a move has a draw.
    """
    defaults = OVERHEAD | ({"Stalemate": "draw"} if is_pychess(url) else {})
    return server_options(given, defaults, FORBIDDEN_OPTIONS, "the bridge")


def ask_account(file: str) -> str:
    """Return who we are on the server that a file names, as the server says. Raises CommandError.

    This makes one request, and disturbs no bridge that plays with the account.
    """
    arguments = with_file(parse(["bridge", "--config", file]))
    url = server_url(arguments.url)
    token = find_token(os.environ, arguments.token_file)
    with _online(url, token, attempts=2) as (_, user):
        return f"{user}, a bot account of {url}"


@contextlib.contextmanager
def _online(url: str, token: str, attempts: int = 6) -> Iterator[tuple[BotClient, str]]:
    """Within this context, be a client of the server; yield it and our name there.

    attempts: how often each request is sent at most. Raises CommandError, also for errors within.
    """
    try:
        from obscuro.bots.bot_client import (  # noqa: PLC0415
            ApiError,
            BotClient,
            Patience,
            Refused,
            Unauthorized,
        )
    except ModuleNotFoundError as error:
        raise missing_package(error, "bridge") from None
    client = BotClient(url, token, patience=Patience(attempts=attempts))
    try:
        account = client.account(threading.Event())
        user = str(account["username"])
        if account.get("title") not in (None, "BOT"):
            raise CommandError(
                f"{user} is not a bot account; {page('bridge.md')} says how to make it one"
            )
        yield client, user
    except Unauthorized as error:
        raise CommandError(f"the server refuses the token: {error}; {error.advice}") from None
    except Refused as error:
        raise CommandError("; ".join(filter(None, (str(error), error.advice)))) from None
    except ApiError as error:
        raise CommandError(f"{error}; is --url {url} right, and is the network up?") from None
    finally:
        client.close()


def _play(
    arguments: argparse.Namespace,
    url: str,
    options: Mapping[str, str],
    token: str,
    make: MakeMover,
) -> int:
    """Prepare an engine, go online and play; return the exit code. Raises CommandError."""
    from obscuro.client.engine_pool import MoverPool  # noqa: PLC0415

    movers = MoverPool(lambda: make(options, logger.warning), spare=arguments.games)
    try:
        with (
            _online(url, token) as (client, user),
            account_locked(games_file(arguments.games_file, url, user), url, user),
        ):
            logger.info("%s on %s; getting the engine ready", user, url)
            for line in idle_options(arguments):
                logger.warning("%s", line)
            movers.prepare(arguments.games)  # a game's clock does not wait for its engine
            return _live(_bridge(arguments, url, user, client, movers))
    except EngineError as error:
        raise CommandError(str(error)) from None
    finally:
        movers.close()


def is_pychess(url: str) -> bool:
    """Return whether a server's address is that of pychess.org."""
    host = urlsplit(url).hostname or ""
    return host == "pychess.org" or host.endswith(".pychess.org")


def _bridge(
    arguments: argparse.Namespace, url: str, user: str, client: BotClient, movers: MoverPool
) -> Bridge:
    from obscuro.bots.bot import Bridge, GamesUnderway  # noqa: PLC0415
    from obscuro.bots.bot_settings import GameSettings, Policy  # noqa: PLC0415
    from obscuro.bots.game_log import PgnArchive  # noqa: PLC0415

    values = {field.name: getattr(arguments, field.name) for field in fields(Policy)}
    policy = Policy(**values | {"block": tuple(arguments.block)})
    settings = GameSettings(
        draw_score=arguments.draw_score,
        draw_plies=2 * arguments.draw_moves,
        resign_score=arguments.resign_score,
        resign_moves=arguments.resign_moves,
        movetime=arguments.movetime,
        abort_seconds=arguments.abort_after,
        greeting=arguments.greeting or "",
        farewell=arguments.farewell or "",
        en_passant_hidden=(
            is_pychess(url) if arguments.en_passant is None else arguments.en_passant == "hidden"
        ),
    )
    return Bridge(
        user,
        client,
        movers,
        policy,
        settings,
        underway=GamesUnderway(games_file(arguments.games_file, url, user)),
        archive=None if arguments.pgn is None else PgnArchive(Path(arguments.pgn), url),
    )


def _live(bridge: Bridge) -> int:
    """Run the bridge until it ends or a signal ends it; return the exit code.

    The bridge has a thread of its own, so a signal handler never runs while it holds a lock.
    """
    failures: list[Exception] = []

    def live() -> None:
        try:
            bridge.run()
        except Exception as error:
            failures.append(error)

    received: list[int] = []  # a first signal ends it after the games, a second one at once

    def handle(number: int) -> None:
        received.append(number)
        if must_leave():
            bridge.leave()
        else:
            bridge.finish()

    def must_leave() -> bool:
        return len(received) > 1 or signal.SIGTERM in received

    thread = threading.Thread(target=live, name="bridge", daemon=True)
    with leaving_signals_handled(handle):
        thread.start()
        logger.info("online; Ctrl-C leaves when the running games have ended, a second one at once")
        while thread.is_alive():
            thread.join(LEAVING_SECONDS)
            if must_leave() and thread.is_alive():
                thread.join(LEAVING_SECONDS)
                break
    if failures:
        raise failures[0]
    return INTERRUPTED if must_leave() else 0
