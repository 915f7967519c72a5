"""The engine in this process, for the commands that need one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from obscuro.engine.options import Options

if TYPE_CHECKING:
    from obscuro.engine.player import Player

Warn = Callable[[str], None]
MakePlayer: TypeAlias = "Callable[[Options, Warn], Player]"


def make_player(options: Options, warn: Warn) -> Player:
    """Make the engine. This loads numba, which takes about a second."""
    from obscuro.engine.player import Player  # noqa: PLC0415

    return Player(options, warn)


def engine_options(**values: str | int) -> Options:
    """Return options with these values. A keyword has lower case, and `_` for a space."""
    options = Options()
    for name, value in values.items():
        options.set(name.replace("_", " "), str(value))
    return options


def prepare(player: Player) -> None:
    """Compile or load everything. On a terminal, show each step on stderr."""
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        player.prepare()
        return
    with console.status("getting ready (the first time it compiles, for a minute or so)") as status:
        player.prepare(lambda text: status.update(f"getting ready: {text}"))
