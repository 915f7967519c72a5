"""`obscuro replay` plays the log of a session again, and names each move that differs."""

from __future__ import annotations

import argparse

from rich.console import Console

from obscuro.cli.command_support import CommandError, UsageError, read_options
from obscuro.client.engine import engine_command
from obscuro.client.uci_process import EngineError, UciProcess
from obscuro.engine.options import OptionError, Options
from obscuro.engine.player_kind import OBSCURO, PlayerKind
from obscuro.matches.log_replay import LoggedSearch, Replay
from obscuro.players.roster import player_kind
from obscuro.uci.log import LoggedSession, facts, read_sessions

MACHINE = ("obscuro", "python", "numba", "llvmlite", "numpy", "chess", "system", "cpu", "evaluator")
"""Facts to report if they differ from the log: they can change the result of a search."""


def run(arguments: argparse.Namespace, *, console: Console | None = None) -> int:
    """Replay a session and return the exit code. Raises CommandError.

    The exit code is 1 with --compare if a repeatable search came out differently.
    """
    console = console or Console(highlight=False, markup=False)
    session = read_session(arguments.log, arguments.session)
    kind = _player(session)
    overrides = _options(arguments.option, kind)

    def say(text: str) -> None:
        console.print(text, soft_wrap=True)

    for line in differences(session):
        say(line)
    searches: list[LoggedSearch] = []
    try:
        with UciProcess(engine_command(kind.name)) as process:
            for search in Replay(session, process, overrides, note=say).run():
                searches.append(search)
                say(search_line(search))
    except EngineError as error:
        raise CommandError(str(error)) from None
    say(summary(searches))
    wrong = any(search.repeats and not search.same for search in searches)
    return int(arguments.compare and wrong)


def read_session(path: str, number: int | None) -> LoggedSession:
    """Read one session of a log. Raises CommandError.

    number: counts from 1; None is the last session.
    """
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
            sessions = read_sessions(lines)
    except OSError as error:
        raise CommandError(f"can't read {path}: {error.strerror}") from None
    if not sessions:
        raise CommandError(f"{path} is not a log of a session (obscuro --log FILE)")
    if number is None:
        return sessions[-1]
    if number > len(sessions):
        raise CommandError(f"{path} has {len(sessions)} sessions")
    return sessions[number - 1]


def _player(session: LoggedSession) -> PlayerKind:
    """Return who played. Raises CommandError if there is no such player here."""
    try:
        return player_kind(session.fact("player") or OBSCURO.name)
    except ValueError as error:
        raise CommandError(f"the log's player is missing: {error}") from None


def _options(texts: list[str], kind: PlayerKind) -> dict[str, str]:
    options, known = read_options(texts, "--option"), Options(kind.options)
    try:
        return {known.set(name, value): value for name, value in options.items()}
    except OptionError as error:
        raise UsageError(str(error)) from None


def differences(session: LoggedSession) -> list[str]:
    """Describe each fact that differs between the log and this machine."""
    here = {name: str(value) for name, value in facts(Options()) if name != "option"}
    lines = []
    for name in MACHINE:
        then, now = session.fact(name), here.get(name)
        if then is not None and now is not None and then != now:
            lines.append(f"{name}: {then} then, {now} here")
    return lines


def search_line(search: LoggedSearch) -> str:
    """Describe the result of one search in a line."""
    if search.logged is None:
        verdict = "the log ends before its answer"
    elif search.same:
        verdict = "same"
    else:
        verdict = "DIFFERENT" if search.repeats else "different (not repeatable)"
    return (
        f"{search.number:4}  ply {search.plies:3}  {search.go[:40]:40}  "
        f"{search.logged or '-':7} {search.replayed or '-':7} {verdict}"
    )


def summary(searches: list[LoggedSearch]) -> str:
    """Describe the results of all searches in a line."""
    bound = [search for search in searches if search.repeats and search.logged is not None]
    same = sum(search.same for search in bound)
    others = len(searches) - len(bound)
    text = f"{len(bound)} repeatable searches, {same} came out the same"
    return f"{text}; {others} others" if others else text
