"""`obscuro doctor` says what is installed, what works, and how to mend the rest.

It must run although packages are missing, so it imports none of them at its start.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from obscuro import kernel_cache
from obscuro.engine.options import OPTIONS, Options
from obscuro.installation import about, how_to_add, install_command
from obscuro.machine import real_cores, total_memory, usable_cores
from obscuro.version import full_version

if TYPE_CHECKING:
    from obscuro.engine.player_kind import PlayerKind

OLDEST_PYTHON = (3, 11)
PACKAGES = (
    "chess",
    "jinja2",
    "msgspec",
    "numba",
    "numpy",
    "platformdirs",
    "psutil",
    "rich",
    "shtab",
)
LEAST_MEMORY = 2.0  # GiB
GIBIBYTE = 1 << 30
_SUBJECT = 18  # columns

OK, NOTE, HINT, MISSING = "ok", "note", "hint", "missing"
_COLORS = {OK: "32", NOTE: "36", HINT: "33", MISSING: "1;31"}  # codes of ANSI terminals

EXTRAS = {
    "web": "`obscuro web` and `obscuro mistboard`",
    "bridge": "`obscuro bridge`",
    "cluster": "--ray",
}
"""Our extras that a user may want, and what needs them. The players name theirs."""


class Finding(NamedTuple):
    """One line of the report.

    level: OK; NOTE, if something is not there that not everybody needs; HINT, if the engine works
    but could work better; MISSING, if it can't work. advice: what to do, in words. run: a command
    that does it.
    """

    level: str
    subject: str
    found: str
    advice: str = ""
    run: str = ""


Check = Callable[[], Iterator[Finding]]


def python() -> Iterator[Finding]:
    """Check the interpreter."""
    version = platform.python_version()
    if sys.version_info[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        yield Finding(MISSING, "Python", version, f"install Python {wanted} or newer")
    else:
        yield Finding(OK, "Python", f"{version}, {sys.executable}")


def packages() -> Iterator[Finding]:
    """Import each package that the engine needs."""
    for name in PACKAGES:
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken package may raise anything
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            yield Finding(MISSING, name, reason, run=install_command(requirement(name)))
        else:
            yield Finding(OK, name, importlib.metadata.version(name))


def requirement(package: str) -> str:
    """Return a package that the engine needs as pip takes it, with its bounds."""
    pattern = re.compile(rf"{re.escape(package)}(?![\w-])", re.IGNORECASE)
    return next(filter(pattern.match, about().needed), package)


def extras() -> Iterator[Finding]:
    """Look for the packages of each extra that a user may want."""
    wanted = dict(EXTRAS)
    for kind in players():
        if kind.extra is not None:
            wanted[kind.extra[1]] = f"the player {kind.name}"
    for extra, who in wanted.items():
        names = [_NAME_OF_PACKAGE.match(text)[0] for text in about().extras.get(extra, ())]  # type: ignore[index]
        lacking = [name for name in names if not _is_installed(name)]
        subject = f"extra {extra}"
        if lacking:
            found = f"not installed: {', '.join(lacking)}; {who} needs it"
            yield Finding(NOTE, subject, found, run=how_to_add(extra))
        else:
            yield Finding(OK, subject, ", ".join(names))


def players() -> list[PlayerKind]:
    """Return the players that there are; none where a package is missing that they need."""
    try:
        from obscuro.players.roster import PLAYERS  # noqa: PLC0415
    except Exception:  # `packages` reports it
        return []
    return list(PLAYERS.values())


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def browser_parts() -> Iterator[Finding]:
    """Look for the parts of the pages that others wrote."""
    from obscuro.viewer.browser_parts.parts import (  # noqa: PLC0415
        FETCH,
        NAMES,
        MissingPartsError,
        read_part,
    )

    try:
        for name in NAMES:
            read_part(name)
    except MissingPartsError:
        found = "missing; `obscuro web` and `obscuro show` need them"
        if os.path.exists(FETCH):
            yield Finding(HINT, "browser parts", found, run=FETCH)
        else:
            yield Finding(HINT, "browser parts", found, "install a wheel, which has them")
    else:
        yield Finding(OK, "browser parts", f"{len(NAMES)} files")


def stockfish() -> Iterator[Finding]:
    """Find Stockfish and start it."""
    from obscuro.evaluation.stockfish.process import StockfishError, StockfishProcess  # noqa: PLC0415
    from obscuro.evaluation.stockfish_program import stockfish_path  # noqa: PLC0415

    without = "without it the engine plays, weaker, with the evaluator `material`"
    path = stockfish_path()
    if path is None:
        command, words = how_to_install_stockfish()
        yield Finding(
            HINT, "Stockfish", "not found", "; ".join(filter(None, (words, without))), command
        )
        return
    try:
        process = StockfishProcess(path)
    except StockfishError as error:
        yield Finding(HINT, "Stockfish", f"{path}: {error}", f"install another; {without}")
        return
    try:
        yield Finding(OK, "Stockfish", f"{process.name}, {path}")
    finally:
        process.close()


def how_to_install_stockfish() -> tuple[str, str]:
    """Return a command that installs Stockfish on this system, or '' and what to do in words."""
    for program, command in _INSTALLERS.items():
        if shutil.which(program):
            as_root = program == "apt-get" and os.geteuid() != 0
            return ("sudo " if as_root else "") + command, ""
    return "", "get it from stockfishchess.org and put it on PATH as stockfish"


_INSTALLERS = {"apt-get": "apt-get install -y stockfish", "brew": "brew install stockfish"}
_NAME_OF_PACKAGE = re.compile(r"[\w.-]+")


def network() -> Iterator[Finding]:
    """Look for Stockfish's network in the cache; get it from Stockfish if need be."""
    try:
        from obscuro.evaluation.nnue.install import load_networks  # noqa: PLC0415
        from obscuro.evaluation.nnue.network import NetworkError  # noqa: PLC0415
    except Exception:  # numpy is missing or broken; `packages` reports it
        return
    try:
        networks = load_networks()
    except NetworkError as error:
        advice = f"{error.advice}; only the evaluator `nnue` needs it"
        yield Finding(HINT, "network", error.reason, advice)
    else:
        for one in networks:
            yield Finding(OK, "network", f"{one.name} of {one.engine}, {one.path}")


def processor() -> Iterator[Finding]:
    """Count the cores; look for the instruction that makes sliding pieces fast."""
    default = next(option.default for option in OPTIONS if option.name == "Threads")
    usable, real = usable_cores(), real_cores()
    found = f"{usable}, the engine uses {default} unless told otherwise"
    if real is not None and real < usable:
        found = f"{usable} on {real} real; the engine uses {default} unless told otherwise"
    yield Finding(OK, "cores", f"{found}; `obscuro doctor --tune` measures what is best")
    try:
        from obscuro.rules.bits import HAS_FAST_PEXT  # noqa: PLC0415
    except Exception:  # numba is missing or broken; `packages` reports it
        return
    yield Finding(OK, "PEXT", "yes" if HAS_FAST_PEXT else "no fast one; the engine does without")


def kernels() -> Iterator[Finding]:
    """The compiled kernels: where they are kept, and whether those of each player are there."""
    try:
        from obscuro.rules.bits import folded_product  # noqa: PLC0415

        folded_product(1, 1)  # to see whether a kernel is kept
        files = kernel_cache.kernel_files()
    except Exception:  # numba is missing or broken, which `packages` has said
        return
    if files.directory is None or not files.count(folded_product.__module__):
        advice = "every start compiles; set OBSCURO_CACHE_DIR to a directory that can be written"
        found = files.problem or f"numba {importlib.metadata.version('numba')} keeps nothing"
        yield Finding(HINT, "kernel cache", found, advice)
        return
    yield Finding(OK, "kernel cache", files.directory)
    for kind in players():
        if kind.light or kind.lack is not None:
            continue
        evaluator = Options(kind.options).text("Evaluator")
        subject = f"kernels of {kind.name}"
        if files.is_complete(kind.module, evaluator):
            yield Finding(OK, subject, f"{files.count(kind.module)}, compiled")
        elif kind.name == "obscuro":
            found = "not compiled yet, so the first start takes a minute or so"
            yield Finding(HINT, subject, found, run=own_command("warmup"))
        else:
            found = "not compiled yet"
            yield Finding(NOTE, subject, found, run=own_command("warmup", "--player", kind.name))


def own_command(*words: str) -> str:
    """Return a command of this program as the user's shell finds it."""
    if shutil.which("obscuro"):
        return shlex.join(["obscuro", *words])
    return shlex.join([sys.executable, "-m", "obscuro.cli.main", *words])


def memory() -> Iterator[Finding]:
    """Compare the memory that may be taken with what the engine takes."""
    size = total_memory()
    if size is None:
        return
    total = size / GIBIBYTE
    tree = next(option.default for option in OPTIONS if option.name == "Hash")
    found = f"{total:.1f} GiB; the tree takes up to {tree} MiB (option Hash)"
    if total < LEAST_MEMORY:
        yield Finding(HINT, "memory", found, "set the options Hash and Max Positions low")
    else:
        yield Finding(OK, "memory", found)


def bridge_account(file: str) -> Iterator[Finding]:
    """Ask the server of a file for `obscuro bridge --config` who we are there."""
    from obscuro.cli.bridge_command import ask_account  # noqa: PLC0415
    from obscuro.cli.command_support import CommandError  # noqa: PLC0415

    try:
        yield Finding(OK, "bridge", ask_account(file))
    except CommandError as error:
        found, _, advice = str(error).partition("; ")
        yield Finding(MISSING, "bridge", found, advice)


CHECKS: tuple[Check, ...] = (
    python,
    packages,
    extras,
    browser_parts,
    stockfish,
    network,
    processor,
    kernels,
    memory,
)


def run(
    arguments: argparse.Namespace | None = None,
    *,
    checks: Sequence[Check] = CHECKS,
    out: TextIO | None = None,
    as_json: bool = False,
) -> int:
    """Print the report. Return 1 if something that the engine needs is missing, else 0.

    arguments: those of the command line; None where the packages that read it may be missing.
    as_json: print one JSON object, as the argument of this name says.
    """
    out = out or sys.stdout
    file = getattr(arguments, "bridge", None)
    if file is not None:
        checks = [*checks, lambda: bridge_account(file)]
    as_json = as_json or getattr(arguments, "json", False)
    findings: list[Finding] = []
    if not as_json:
        print(f"obscuro {full_version()}, {platform.platform()}", file=out)
    colored = out.isatty() and not os.environ.get("NO_COLOR")
    for check in checks:
        for finding in check():
            findings.append(finding)
            for line in () if as_json else _lines(finding, colored):
                print(line, file=out)
    levels = {finding.level for finding in findings}
    if MISSING in levels:
        verdict = "Not all can run: see `missing` above."
    elif HINT in levels:
        verdict = "The engine can run; see the hints above."
    else:
        verdict = "All is well."
    tuning: dict[str, Any] = {}
    if getattr(arguments, "tune", False) and MISSING not in levels:
        from obscuro.cli.tuning import measure, table  # noqa: PLC0415 - loads numba

        tuning = measure(sys.stderr)
        verdict = "\n".join([verdict, *table(tuning)])
    if as_json:
        report = {
            "obscuro": full_version(),
            "platform": platform.platform(),
            "works": MISSING not in levels,
            "findings": [finding._asdict() for finding in findings],
        }
        print(json.dumps(report | ({"tuning": tuning} if tuning else {}), indent=2), file=out)
    else:
        print(verdict, file=out)
    return int(MISSING in levels)


def _lines(finding: Finding, colored: bool) -> Iterator[str]:
    level = f"{finding.level:<{len(MISSING)}}"
    if colored:
        level = f"\033[{_COLORS[finding.level]}m{level}\033[0m"
    yield f"{level}  {finding.subject:<{_SUBJECT}}  {finding.found}"
    advice = [f"run: {finding.run}"] if finding.run else []
    advice += [finding.advice] if finding.advice else []
    if advice:
        yield " " * (len(MISSING) + _SUBJECT + 4) + f"-> {'; '.join(advice)}"
