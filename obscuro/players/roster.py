"""All players that a user can name: the engine and its opponents.

This is the one table of them; the command line, the front end and matches use it. The import is
quick: a player's code is loaded when the player is made.
"""

from collections.abc import Mapping

from obscuro.engine.options import Option, options_named, search_option
from obscuro.engine.player_kind import OBSCURO, PlayerKind, made_by
from obscuro.suggestion import did_you_mean

DEPTH1_OPTIONS = (
    *options_named(
        "Move Overhead",
        "Ponder",
        "UCI_Variant",
        "UCI_Chess960",
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
        "UCI_Chess960",
        "UCI_ShowWDL",
        "Stalemate",
        "Stockfish",
        "Evaluator",
        "Seed",
        "Max Positions",
    ),
    search_option(
        "eval_cache",
        "tau",
        own=(
            Option("child_depth", "spin", 0, 0, 1, help="plies that each child is searched"),
            Option(
                "baseline",
                "check",
                False,
                help="K's baseline: one ply in the fog, then Stockfish's own deepening",
            ),
        ),
    ),
)
"""The options that act on zs21."""


def player_kind(name: str) -> PlayerKind:
    """Return the kind of player with this name. Raises ValueError, with the names there are."""
    kind = PLAYERS.get(name)
    if kind is None:
        hint = did_you_mean(name, PLAYERS)
        raise ValueError(f"there is no player {name!r}; there are {', '.join(PLAYERS)}{hint}")
    return kind


_VIEW_PLAYER = "obscuro.players.view_player:ViewPlayer"

PLAYERS: Mapping[str, PlayerKind] = {
    kind.name: kind
    for kind in (
        OBSCURO,
        PlayerKind(
            "random",
            "every move with the same probability",
            options_named("UCI_Variant", "UCI_Chess960", "Seed"),
            made_by(_VIEW_PLAYER, "random_move"),
            "obscuro.players.view_player",
            title="Obscuro random",
            light=True,
        ),
        PlayerKind(
            "greedy",
            "takes what it sees, saves what is attacked, else develops",
            options_named("UCI_Variant", "UCI_Chess960", "Seed"),
            made_by(_VIEW_PLAYER, "greedy_move"),
            "obscuro.players.view_player",
            title="Obscuro greedy",
            light=True,
        ),
        PlayerKind(
            "depth1",
            "the best own move by its mean value over a sample of the possible positions",
            DEPTH1_OPTIONS,
            made_by("obscuro.players.depth1:Depth1Player"),
            "obscuro.players.depth1",
            title="Obscuro depth1",
            capabilities=("position-fog", "coverage", "marginals"),
        ),
        PlayerKind(
            "zs21",
            "the agent of Zhang and Sandholm 2021: knowledge-limited subgames, linear programs",
            ZS21_OPTIONS,
            made_by("obscuro.research.zs21.zs21_player:Zs21Player"),
            "obscuro.research.zs21.zs21_player",
            title="Obscuro zs21",
            capabilities=("position-fog", "coverage", "marginals"),
            extra=("highspy", "zs21"),
        ),
    )
}
"""The players by their names, the engine first."""
