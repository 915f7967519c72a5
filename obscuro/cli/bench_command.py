"""`obscuro bench [NAME]` prints the signature, or runs one of the benchmarks of `obscuro.cli.bench`."""

from __future__ import annotations

import argparse
import importlib

from obscuro.cli.bench.common import BenchmarkError
from obscuro.cli.command_support import CommandError

_MODULES = {
    None: "signature",
    "belief": "belief_speed",
    "search": "search_speed",
    "eval": "eval_speed",
}


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmark and return the exit code. Raises CommandError."""
    benchmark = importlib.import_module(f"obscuro.cli.bench.{_MODULES[arguments.benchmark]}")
    try:
        code: int = benchmark.run(arguments)
    except BenchmarkError as error:
        raise CommandError(str(error)) from None
    return code
