"""`obscuro warmup` compiles the kernels now, so that the first game starts at once.

It also gets Stockfish's network into the cache, for the same reason.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from rich.console import Console

from obscuro.cli.command_support import CommandError, kernel_progress
from obscuro.engine.options import Options
from obscuro.engine.player_kind import MakePlayer
from obscuro.evaluation.nnue.install import InstalledNetwork, load_networks
from obscuro.evaluation.nnue.network import NetworkError
from obscuro.kernel_cache import kernel_files
from obscuro.players.roster import player_kind


def compile_network_kernels() -> None:
    """Evaluate a position by the installed network."""
    from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator  # noqa: PLC0415 - loads numba

    NnueEvaluator().start()


def run(
    arguments: argparse.Namespace,
    *,
    make: MakePlayer | None = None,
    fetch: Callable[[], list[InstalledNetwork]] = load_networks,
    console: Console | None = None,
) -> int:
    """Compile all that a player needs, and fetch the networks; returns the exit code.

    make: makes the player, fetch: gets the networks; tests pass their own. Raises CommandError.
    """
    kind = player_kind(arguments.player)
    if kind.lack is not None:
        raise CommandError(kind.lack)
    console = console or Console(highlight=False, markup=False)
    begin = time.monotonic()
    with kernel_progress(console) as tell:
        tell("Stockfish's network")
        try:
            networks = fetch()
        except NetworkError as error:  # the engine has other evaluators
            console.print(f"note: {error}", soft_wrap=True)
            networks = []
        player = (make or kind.make)(
            Options(kind.options), lambda text: console.print(f"note: {text}", soft_wrap=True)
        )
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
