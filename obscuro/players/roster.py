"""All players that a user can name: the engine and its opponents.

This is the one table of them; the command line, the front end and matches use it. The import is
quick: a player's code is loaded when the player is made.
"""

from collections.abc import Callable, Mapping
from importlib import import_module

from obscuro.engine.options import Option, Options, options_named, search_option
from obscuro.engine.player_kind import OBSCURO, AnyPlayer, MakePlayer, PlayerKind

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


def _made_by(name: str, *rule: str) -> MakePlayer:
    """Return a function that makes a player; the code is imported when the function is called.

    name: `module:class`. rule: the name of a function of the module, the last argument of the class.
    """

    def make(options: Options, warn: Warn) -> AnyPlayer:
        place, _, kind = name.partition(":")
        module = import_module(place)
        given = [getattr(module, each) for each in rule] or [warn]
        player: AnyPlayer = getattr(module, kind)(options, *given)
        return player

    return make


_VIEW_PLAYER = "obscuro.players.view_player:ViewPlayer"

PLAYERS: Mapping[str, PlayerKind] = {
    kind.name: kind
    for kind in (
        OBSCURO,
        PlayerKind(
            "random",
            "every move with the same probability",
            options_named("UCI_Variant", "Seed"),
            _made_by(_VIEW_PLAYER, "random_move"),
            title="Obscuro random",
            light=True,
        ),
        PlayerKind(
            "greedy",
            "takes what it sees, saves what is attacked, else develops",
            options_named("UCI_Variant", "Seed"),
            _made_by(_VIEW_PLAYER, "greedy_move"),
            title="Obscuro greedy",
            light=True,
        ),
        PlayerKind(
            "depth1",
            "the best own move by its mean value over a sample of the possible positions",
            DEPTH1_OPTIONS,
            _made_by("obscuro.players.depth1:Depth1Player"),
            title="Obscuro depth1",
            capabilities=("position-fog", "coverage"),
        ),
        PlayerKind(
            "zs21",
            "the agent of Zhang and Sandholm 2021: knowledge-limited subgames, linear programs",
            ZS21_OPTIONS,
            _made_by("obscuro.research.zs21.zs21_player:Zs21Player"),
            title="Obscuro zs21",
            capabilities=("position-fog", "coverage"),
            extra=("highspy", "zs21"),
        ),
    )
}
"""The players by their names, the engine first."""
