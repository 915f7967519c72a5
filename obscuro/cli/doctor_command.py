"""`obscuro doctor` says what is installed, what works, and how to mend the rest.

It must run although packages are missing, so it imports none of them at its start.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from obscuro import __version__, kernel_cache
from obscuro.engine.machine import total_memory, usable_cores
from obscuro.engine.options import OPTIONS
from obscuro.kernel_sources import PACKAGE

OLDEST_PYTHON = (3, 11)
PACKAGES = ("chess", "jinja2", "msgspec", "numba", "numpy", "platformdirs", "psutil", "rich")
LEAST_MEMORY = 2.0  # GiB
GIBIBYTE = 1 << 30

OK, HINT, MISSING = "ok", "hint", "missing"
_COLORS = {OK: "32", HINT: "33", MISSING: "1;31"}  # codes of ANSI terminals


class Finding(NamedTuple):
    """One line of the report.

    level: OK; HINT, if the engine works but could work better; MISSING, if it can't work.
    """

    level: str
    subject: str
    found: str
    advice: str = ""


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
            yield Finding(MISSING, name, reason, f"run: {sys.executable} -m pip install {name}")
        else:
            yield Finding(OK, name, importlib.metadata.version(name))


def stockfish() -> Iterator[Finding]:
    """Find Stockfish and start it."""
    from obscuro.evaluation.stockfish.process import StockfishError, StockfishProcess  # noqa: PLC0415
    from obscuro.evaluation.stockfish_program import stockfish_path  # noqa: PLC0415

    without = "without it the engine plays, weaker, with the evaluator `material`"
    path = stockfish_path()
    if path is None:
        install = "run engine_bin/install_stockfish, or put stockfish on PATH"
        yield Finding(HINT, "Stockfish", "not found", f"{install}; {without}")
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
    threads = next(option.default for option in OPTIONS if option.name == "Threads")
    yield Finding(OK, "cores", f"{usable_cores()}, of which the engine uses {threads} by default")
    try:
        from obscuro.rules.bits import HAS_FAST_PEXT  # noqa: PLC0415
    except Exception:  # numba is missing or broken; `packages` reports it
        return
    yield Finding(OK, "PEXT", "yes" if HAS_FAST_PEXT else "no fast one; the engine does without")


def cache() -> Iterator[Finding]:
    """The compiled kernels: where they are kept, and whether those of this version are there."""
    try:
        from obscuro.rules.bits import folded_product  # noqa: PLC0415

        folded_product(1, 1)  # to see whether a kernel is kept
        files = kernel_cache.kernel_files()
    except Exception:  # numba is missing or broken, which `packages` has said
        return
    if files.directory is None or not compiled_kernels(files, folded_product.__module__):
        advice = "every start compiles; set OBSCURO_CACHE_DIR to a directory that can be written"
        found = files.problem or f"numba {importlib.metadata.version('numba')} keeps nothing"
        yield Finding(HINT, "kernel cache", found, advice)
        return
    compiled = {module: compiled_kernels(files, module) for module in kernel_modules()}
    cold = cold_packages(compiled)
    if cold:
        found = f"{files.directory}, not compiled yet: {', '.join(cold)}"
        yield Finding(HINT, "kernel cache", found, "run: obscuro warmup")
    else:
        size = sum(file.stat().st_size for kernels in compiled.values() for file in kernels)
        yield Finding(OK, "kernel cache", f"{files.directory}, warm, {size / 1e6:.0f} MB")


def kernel_modules() -> list[str]:
    """The modules that define kernels."""
    defines = re.compile(r"^@kernel\b|^\w+ = kernel\(", re.MULTILINE)
    package = Path(PACKAGE)
    return [
        ".".join(file.relative_to(package.parent).with_suffix("").parts)
        for file in sorted(package.rglob("*.py"))
        if defines.search(file.read_text(encoding="utf-8"))
    ]


def compiled_kernels(files: kernel_cache.KernelFiles, module: str) -> list[Path]:
    """The files of a module's compiled kernels."""
    folder = files.folder(module)
    return [] if folder is None else list(Path(folder).glob("*.nbc"))


def cold_packages(compiled: Mapping[str, Sequence[Path]]) -> list[str]:
    """The packages (`rules`, `belief`, …) without a compiled kernel in any of their modules."""
    warm = {module.split(".")[1] for module, kernels in compiled.items() if kernels}
    return sorted({module.split(".")[1] for module in compiled} - warm)


def memory() -> Iterator[Finding]:
    """Compare the machine's memory with what the engine takes."""
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


CHECKS: tuple[Check, ...] = (python, packages, stockfish, network, processor, cache, memory)


def run(
    arguments: argparse.Namespace | None = None,
    *,
    checks: Sequence[Check] = CHECKS,
    out: TextIO | None = None,
) -> int:
    """Print the report. Return 1 if something that the engine needs is missing, else 0."""
    out = out or sys.stdout
    file = getattr(arguments, "bridge", None)
    if file is not None:
        checks = [*checks, lambda: bridge_account(file)]
    colored = out.isatty() and not os.environ.get("NO_COLOR")
    print(f"obscuro {__version__}, {platform.platform()}", file=out)
    levels = set()
    for check in checks:
        for finding in check():
            levels.add(finding.level)
            for line in _lines(finding, colored):
                print(line, file=out)
    if MISSING in levels:
        print("Not all can run: see `missing` above.", file=out)
    elif HINT in levels:
        print("The engine can run; see the hints above.", file=out)
    else:
        print("All is well.", file=out)
    return int(MISSING in levels)


def _lines(finding: Finding, colored: bool) -> Iterator[str]:
    level = f"{finding.level:<{len(MISSING)}}"
    if colored:
        level = f"\033[{_COLORS[finding.level]}m{level}\033[0m"
    yield f"{level}  {finding.subject:<12}  {finding.found}"
    if finding.advice:
        yield " " * (len(MISSING) + 16) + f"-> {finding.advice}"
