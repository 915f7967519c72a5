"""`obscuro learn` collects solved positions, fits weights of the evaluator `fog`, checks them."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from obscuro import __version__
from obscuro.cli.bench.common import progress
from obscuro.cli.command_support import INTERRUPTED, CommandError, read_options
from obscuro.engine.options import OPTIONS, OptionError, Options
from obscuro.engine.player import Player
from obscuro.evaluation.fog_values.value_file import (
    FogValuesError,
    read_fog_values,
    write_fog_values,
)
from obscuro.evaluation.nnue.leaf_values import LeafValuer
from obscuro.evaluation.nnue.network import NetworkError
from obscuro.kernel_sources import KernelSources
from obscuro.learn import check_plot
from obscuro.learn.check_figures import Figures, check_figures, fitted
from obscuro.learn.check_tables import (
    CheckTable,
    about_sides,
    all_tables,
    models_table,
    summary,
    verdict,
)
from obscuro.learn.collecting import Searches, seen_samples, solved_samples, spread
from obscuro.learn.filed_games import FiledGame, load_games
from obscuro.learn.learn_error import LearnError
from obscuro.learn.samples import (
    Collected,
    SampleFile,
    Samples,
    joined,
    no_samples,
    read_all,
    read_samples,
    write_samples,
)
from obscuro.matches.journal import JournalError
from obscuro.viewer.game_file import GameFileError

_SAVE_AFTER = 30.0  # seconds of work that a kill may cost
_REPEATABLE = {"Threads": "1", "Seed": "1"}


def run(arguments: argparse.Namespace, *, console: Console | None = None) -> int:
    """Take one step and return the exit code. Raises CommandError."""
    console = console or Console(highlight=False, markup=False)
    step: Callable[[argparse.Namespace, Console], int] = {
        "collect": collect,
        "fit": fit,
        "check": check,
    }[arguments.step]
    try:
        return step(arguments, console)
    except (
        *(LearnError, GameFileError, JournalError),
        *(OptionError, NetworkError, FogValuesError),
    ) as error:
        raise CommandError(str(error)) from None


# -- collect ----------------------------------------------------------------------------------


def collect(arguments: argparse.Namespace, console: Console) -> int:
    """Collect samples of games, and return the exit code."""
    out = Path(arguments.out)
    games = spread(
        [game for path in arguments.games for game in load_games(Path(path))], arguments.most
    )
    if not games:
        raise CommandError("no game there that the rules ended")
    searches = None if arguments.no_search else _searches(arguments)
    options = _engine_options(arguments.option)
    leaf_values = LeafValuer()
    begun = _begun(out, _origin(leaf_values.name, searches, options))
    missing = [game for game in games if game.key not in set(begun.followed.tolist())]
    with ExitStack() as stack:
        of_game: Callable[[FiledGame], Samples]
        if searches is None:

            def of_game(game: FiledGame) -> Samples:
                return seen_samples(leaf_values, game)
        else:
            player = stack.enter_context(closing(Player(options, _warn)))
            if missing:
                player.prepare()

            def of_game(game: FiledGame) -> Samples:
                return solved_samples(player, leaf_values, game, searches)

        content, ended = _collected(out, begun, missing, of_game)
    samples = content.samples
    console.print(
        f"{out}: {len(samples.leaf):,} positions of {len(content.followed):,} games, "
        f"fingerprint {content.fingerprint}",
        soft_wrap=True,
    )
    if not ended:
        console.print("The same command goes on from here.")
    return 0 if ended else INTERRUPTED


def _collected(
    out: Path, begun: SampleFile, games: list[FiledGame], of_game: Callable[[FiledGame], Samples]
) -> tuple[SampleFile, bool]:
    """Add the samples of games to a file's; return what it holds, and whether no Ctrl-C came."""
    parts, followed = [begun.samples], begun.followed.tolist()
    saved, ended = time.monotonic(), True

    def content() -> SampleFile:
        parts[:] = [joined(parts)]
        return SampleFile(parts[0], begun.origin, np.array(followed, dtype=np.uint64))

    try:
        with progress(len(games)) as tell:
            for number, game in enumerate(games, 1):
                tell(f"game {number} of {len(games)}", 0)
                parts.append(of_game(game))
                followed.append(game.key)
                tell(None, 1)
                if time.monotonic() - saved > _SAVE_AFTER:
                    _write(out, content())
                    saved = time.monotonic()
    except KeyboardInterrupt:
        ended = False
    found = content()
    _write(out, found)
    return found, ended


def _searches(arguments: argparse.Namespace) -> Searches:
    nodes: int | None = arguments.nodes
    movetime: int | None = arguments.movetime
    if nodes is None and movetime is None:
        movetime = 1000
    return Searches(arguments.every, movetime, nodes)


def _engine_options(texts: list[str]) -> Options:
    """Return the engine's options. Raises CommandError or OptionError."""
    options = Options()
    for name, value in {**_REPEATABLE, **read_options(texts, "--option")}.items():
        options.set(name, value)
    return options


def _origin(network: str, searches: Searches | None, options: Options) -> dict[str, Any]:
    """Return what samples depend on, beside the games."""
    origin: dict[str, Any] = {"obscuro": __version__, "network": network, "search": None}
    if searches is not None:
        defaults = Options()
        told = {
            option.name: str(options.get(option.name))
            for option in OPTIONS
            if option.name in _REPEATABLE or options.get(option.name) != defaults.get(option.name)
        }
        limit = {"nodes": searches.nodes} if searches.nodes else {"movetime": searches.movetime}
        origin["search"] = {
            **limit,
            "every": searches.every,
            "options": told,
            "engine": KernelSources().stamp(Player.__module__),
        }
    return origin


def _begun(out: Path, origin: dict[str, Any]) -> SampleFile:
    """Return what a file of the same origin holds already. Raises CommandError or LearnError."""
    if not out.exists():
        _write(out, empty := SampleFile(no_samples(), origin))
        return empty
    found = read_samples(out)
    if found.origin != origin:
        raise CommandError(
            f"{out} was collected by another engine, network or search; choose another --out"
        )
    return found


def _write(out: Path, content: SampleFile) -> None:
    try:
        write_samples(out, content)
    except OSError as error:
        raise CommandError(f"can't write {out}: {error.strerror}") from None


def _warn(text: str) -> None:
    Console(stderr=True, highlight=False, markup=False).print(text, soft_wrap=True)


# -- fit and check ----------------------------------------------------------------------------


def fit(arguments: argparse.Namespace, console: Console) -> int:
    """Fit a model, say how much it explains, and write weights; return the exit code."""
    network = arguments.model == "network"
    if network == (arguments.out is not None):
        raise CommandError(
            "the network is not written, so --model network takes no --out"
            if network
            else "--out says where to write the weights; give it"
        )
    collected = _read(arguments)
    figures = _figures(collected, arguments, with_network=network)
    console.print(summary(figures), soft_wrap=True)
    _say(console, about_sides(figures))
    _print(console, models_table(figures))
    if network:
        console.print(verdict(figures), soft_wrap=True)
        return 0
    values = fitted(collected, arguments.target, arguments.ridge)
    out = Path(arguments.out)
    try:
        write_fog_values(out, values)
    except OSError as error:
        raise CommandError(f"can't write {out}: {error.strerror}") from None
    console.print(f"{out}: weights by {figures['data']['fingerprint']}", soft_wrap=True)
    return 0


def check(arguments: argparse.Namespace, console: Console) -> int:
    """Print the figures of weights, and return the exit code."""
    values = None if arguments.values is None else read_fog_values(Path(arguments.values))
    collected = _read(arguments)
    figures = _figures(collected, arguments, values=values, with_network=arguments.network)
    if arguments.plot is not None:
        try:
            check_plot.plot(Path(arguments.plot), figures)
        except OSError as error:
            raise CommandError(f"can't write {arguments.plot}: {error.strerror}") from None
    if arguments.json:
        console.print(json.dumps(figures), soft_wrap=True)
        return 0
    console.print(summary(figures), soft_wrap=True)
    _say(console, about_sides(figures))
    for table in all_tables(figures):
        _print(console, table)
    _say(console, verdict(figures))
    return 0


def _read(arguments: argparse.Namespace) -> Collected:
    return read_all([Path(path) for path in arguments.data])


def _figures(collected: Collected, arguments: argparse.Namespace, **more: Any) -> Figures:
    with progress(1) as tell:
        return check_figures(
            collected,
            arguments.target,
            arguments.ridge,
            tell=lambda text: tell(text, 0),
            **more,
        )


def _say(console: Console, text: str) -> None:
    if text:
        console.print(text, soft_wrap=True)


def _print(console: Console, table: CheckTable) -> None:
    shown = Table(title=table.title, title_justify="left", box=None, pad_edge=False)
    for heading, align in zip(table.headings, table.align, strict=True):
        shown.add_column(heading, justify="right" if align == "r" else "left")
    for row in table.rows:
        shown.add_row(*row)
    console.print()
    console.print(shown)
    console.print()
