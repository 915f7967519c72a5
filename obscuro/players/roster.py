"""All players that a user can name: the engine and its opponents.

This is the one table of them; the command line, the front end and matches use it. The import is
quick: a player's code is loaded when the player is made.
"""

from collections.abc import Callable, Mapping

from obscuro.engine.options import Option, Options, options_named, search_option
from obscuro.engine.player_kind import OBSCURO, AnyPlayer, PlayerKind

DEPTH1_OPTIONS = (
    *options_named(
        "Move Overhead",
        "Ponder",
        "UCI_Variant",
        "UCI_ShowWDL",
        "Stalemate",
        "Stockfish",
        "Evaluator",
        "Seed",
        "Max Positions",
    ),
    search_option(
        "tau",
        own=(Option("sample_size", "spin", 512, 1, 100_000, help="positions that are looked at"),),
    ),
)
"""The options that act on depth1."""

ZS21_OPTIONS = (
    *options_named(
        "Move Overhead",
        "Ponder",
        "UCI_Variant",
        "UCI_ShowWDL",
        "Stalemate",
        "Stockfish",
        "Evaluator",
        "Seed",
        "Max Positions",
    ),
    search_option("eval_cache", "tau"),
)
"""The options that act on zs21."""

Warn = Callable[[str], None]


def player_kind(name: str) -> PlayerKind:
    """Return the kind of player with this name. Raises ValueError, with the names there are."""
    kind = PLAYERS.get(name)
    if kind is None:
        raise ValueError(f"there is no player {name!r}; there are {', '.join(PLAYERS)}")
    return kind


def _make_random(options: Options, warn: Warn) -> AnyPlayer:
    from obscuro.players.onlooker import Onlooker, random_move  # noqa: PLC0415

    return Onlooker(options, random_move)


def _make_greedy(options: Options, warn: Warn) -> AnyPlayer:
    from obscuro.players.greedy import greedy_move  # noqa: PLC0415
    from obscuro.players.onlooker import Onlooker  # noqa: PLC0415

    return Onlooker(options, greedy_move)


def _make_depth1(options: Options, warn: Warn) -> AnyPlayer:
    from obscuro.players.depth1 import Depth1Player  # noqa: PLC0415 - takes seconds

    return Depth1Player(options, warn)


def _make_zs21(options: Options, warn: Warn) -> AnyPlayer:
    from obscuro.research.zs21.zs21_player import Zs21Player  # noqa: PLC0415 - takes seconds

    return Zs21Player(options, warn)


PLAYERS: Mapping[str, PlayerKind] = {
    kind.name: kind
    for kind in (
        OBSCURO,
        PlayerKind(
            "random",
            "every move with the same probability",
            options_named("UCI_Variant", "Seed"),
            _make_random,
            title="Obscuro random",
            light=True,
        ),
        PlayerKind(
            "greedy",
            "takes what it sees, saves what is attacked, else develops",
            options_named("UCI_Variant", "Seed"),
            _make_greedy,
            title="Obscuro greedy",
            light=True,
        ),
        PlayerKind(
            "depth1",
            "the best own move by its mean value over a sample of the possible positions",
            DEPTH1_OPTIONS,
            _make_depth1,
            title="Obscuro depth1",
            capabilities=("position-fog", "coverage"),
        ),
        PlayerKind(
            "zs21",
            "the agent of Zhang and Sandholm 2021: knowledge-limited subgames, linear programs",
            ZS21_OPTIONS,
            _make_zs21,
            title="Obscuro zs21",
            capabilities=("position-fog", "coverage"),
            extra=("highspy", "zs21"),
        ),
    )
}
"""The players by their names, the engine first."""
