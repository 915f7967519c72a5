"""`obscuro warmup` compiles the kernels now, so that the first game starts at once.

It also gets Stockfish's network into the cache, for the same reason.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from rich.console import Console

from obscuro.cli.command_support import MakePlayer, engine_options, kernel_progress, make_player
from obscuro.evaluation.nnue.install import InstalledNetwork, load_networks
from obscuro.evaluation.nnue.network import NetworkError
from obscuro.kernel_cache import kernel_files


def compile_network_kernels() -> None:
    """Evaluate a position by the installed network."""
    from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator  # noqa: PLC0415 - loads numba

    NnueEvaluator().start()


def run(
    arguments: argparse.Namespace,
    *,
    make: MakePlayer = make_player,
    fetch: Callable[[], list[InstalledNetwork]] = load_networks,
    console: Console | None = None,
) -> int:
    """Compile everything, and fetch the networks; returns the exit code."""
    console = console or Console(highlight=False, markup=False)
    begin = time.monotonic()
    with kernel_progress(console) as tell:
        tell("Stockfish's network")
        try:
            networks = fetch()
        except NetworkError as error:  # the engine has other evaluators
            console.print(f"note: {error}", soft_wrap=True)
            networks = []
        player = make(engine_options(), lambda text: console.print(f"note: {text}", soft_wrap=True))
        try:
            player.prepare(tell)
        finally:
            player.close()
        if networks:
            tell("evaluating by the network")
            compile_network_kernels()
    where = kernel_files().directory
    kept = f"the kernels are kept in {where}" if where else "there is no place to keep the kernels"
    console.print(f"Ready after {time.monotonic() - begin:.1f} s; {kept}.", soft_wrap=True)
    return 0
