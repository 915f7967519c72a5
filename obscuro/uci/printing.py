"""The lines that the engine prints. These are pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import chess

from obscuro.engine.player_kind import OBSCURO, PlayerKind
from obscuro.engine.report import Comparison, Coverage, SearchInfo
from obscuro.rules.observation import PLANES
from obscuro.uci.positions import History
from obscuro.version import version

if TYPE_CHECKING:  # it loads numba
    from obscuro.belief.marginals import Marginals

DRAW_SHARE = 0.1
"""Share of draws in `wdl` at value 0. It is a convention, and not measured."""
LONGEST_MESSAGE = 360
"""Characters of an error or a warning at most; the line that it quotes may be much longer."""
MATED = "info depth 0 score mate 0"
"""Where our king was captured. Adapters tell their GUI by it that the game is lost, not drawn."""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("uci", "say who we are and which options there are"),
    ("isready", "get ready to search, then say readyok"),
    ("ucinewgame", "forget the game"),
    ("setoption name <name> [value <value>]", "change an option"),
    ("position (startpos | fen <FEN>) [moves <move> ...]", "a whole game; what is hidden stays so"),
    (
        "position fog (white | black) (startpos | fen <FEN>) [turns <move or observation> ...]",
        "what one side did and saw",
    ),
    (
        "go [wtime <ms>] [btime <ms>] [winc <ms>] [binc <ms>] [movestogo <n>] [movetime <ms>] "
        "[nodes <n>] [depth <n>] [infinite] [ponder]",
        "search; without a limit, until stop",
    ),
    ("stop", "end the search and say bestmove"),
    ("ponderhit", "the move pondered on was played: go on, with the clock running"),
    ("d", "the board as our side sees it"),
    ("belief [n]", "how many positions are possible, and the n likeliest if that is known"),
    ("marginals", "how likely each enemy piece is on each square"),
    ("coverage <FEN>", "what the last search knew of a position"),
    ("compare <move> [<move>]", "what the last search thinks of a move, and of another"),
    ("debug (on | off)", "read, and without effect"),
    ("help", "this list"),
    ("quit", "leave"),
)
"""Every command: its syntax, and what it does."""


def uci_lines(kind: PlayerKind = OBSCURO) -> list[str]:
    """Return the answer to `uci`. kind: the player behind the front end."""
    return [
        f"id name {kind.title} {version()}",
        "id author the Obscuro developers",
        f"info string capabilities {' '.join(kind.capabilities)}",
        *(option.uci() for option in kind.options),
        "uciok",
    ]


def help_lines() -> list[str]:
    """Return the answer to `help`, a line for each command."""
    return [f"info string {usage}: {what}" for usage, what in COMMANDS]


def one_line(text: str) -> str:
    """Return a message that fits one line: printable characters only, at most LONGEST_MESSAGE."""
    if len(text) > LONGEST_MESSAGE:
        text = text[: LONGEST_MESSAGE - 3] + "..."
    return "".join(character if character.isprintable() else "?" for character in text)


def info_lines(info: SearchInfo, show_wdl: bool) -> list[str]:
    """Return the lines about a search. Those of cache, policy and play are there if it has them."""
    seconds = max(info.milliseconds, 1) / 1000
    score = f"score cp {info.centipawns}"
    if show_wdl:
        score += " wdl {} {} {}".format(*win_draw_loss(info.value))
    lines = [
        f"info depth {round(info.depth)} seldepth {info.seldepth} "
        f"nodes {info.carried + info.nodes} nps {round(info.nodes / seconds)} "
        f"time {info.milliseconds} {score}" + (f" pv {' '.join(info.line)}" if info.line else ""),
        f"info string belief {info.belief} exact {_flag(info.exact)} sampled {info.sampled} "
        f"carried {info.carried} infosets {info.infosets} iterations {info.iterations} "
        f"expansions {info.expansions} evals {info.evaluations} gadget {info.gadget} "
        f"roots {info.roots} J {info.root_infosets}",
    ]
    if info.cache is not None:
        lines.append(
            f"info string cache lookups {info.cache.lookups} hits {info.cache.hits} "
            f"rate {info.cache.hits / max(info.cache.lookups, 1):.3f} "
            f"positions {info.cache.positions} capacity {info.cache.capacity}"
        )
    for name, moves in (("policy", info.policy), ("play", info.play)):
        if moves:
            shares = " ".join(f"{move} {share:.4f}" for move, share in moves)
            lines.append(f"info string {name} {shares}")
    return lines


def win_draw_loss(value: float) -> tuple[int, int, int]:
    """Return the chances to win, draw and lose in per mille, for a value in [-1, 1].

    They sum to 1000. Win minus loss is the value, and the draws' share is DRAW_SHARE · (1 −
    value²).
    """
    value = min(max(value, -1.0), 1.0)
    draw = round(1000 * DRAW_SHARE * (1 - value * value))
    win = round((1000 * (1 + value) - draw) / 2)
    return win, draw, 1000 - win - draw


def bestmove_line(move: str | None, ponder: str | None = None) -> str:
    """Return the line that ends a search. move: None if the game is over."""
    return f"bestmove {move or '(none)'}" + (f" ponder {ponder}" if move and ponder else "")


def board_lines(history: History) -> list[str]:
    """Return the board as a side sees it: `*` not seen, `.` seen and empty."""
    symbols = history.observation.symbols()
    lines = []
    for rank in reversed(range(8)):
        lines.append(f"{rank + 1}  {' '.join(symbols[rank * 8 : rank * 8 + 8])}")
    lines.append("   a b c d e f g h")
    turn = history.over or ("to move" if history.our_turn else "not to move")
    lines.append(f"side {chess.COLOR_NAMES[history.side]}, {turn}")
    lines.append(f"fog fen {history.observation.text()}")
    return lines


def belief_size_text(size: int, exact: bool) -> str:
    """Return the belief's size as `d` and `belief` print it."""
    return f"belief size {size} exact {_flag(exact)}"


def belief_lines(size: int, exact: bool, fens: Mapping[str, float | None]) -> list[str]:
    """Return the answer to `belief`. fens: how likely each position is; None: not known."""
    return [
        f"info string {belief_size_text(size, exact)}",
        *(
            f"info string belief fen {fen}" + ("" if share is None else f" share {share:.4g}")
            for fen, share in fens.items()
        ),
    ]


def marginal_lines(found: Marginals) -> list[str]:
    """Return the answer to `marginals`: a line for each view and piece, squares from a1 to h8."""
    return [
        f"info string marginals {view} {piece} " + " ".join(f"{share:.4g}" for share in row)
        for view, shares in found._asdict().items()
        if shares is not None
        for piece, row in zip(PLANES, shares.tolist(), strict=True)
    ]


def coverage_line(coverage: Coverage) -> str:
    """Return the answer to `coverage`."""
    said = f"info string coverage belief {_flag(coverage.in_belief)}"
    if coverage.in_infoset is None or coverage.expanded is None or coverage.weight is None:
        return f"{said} search none"
    return (
        f"{said} infoset {_flag(coverage.in_infoset)} expanded {_flag(coverage.expanded)} "
        f"weight {coverage.weight:.6g}{_more(coverage)}"
    )


def _more(coverage: Coverage) -> str:
    """Return what is known beyond a position's weight, as pairs."""
    more = {"rank": coverage.rank}
    if coverage.root is not None:
        more |= asdict(coverage.root)
    return "".join(f" {name} {value:.6g}" for name, value in more.items() if value is not None)


def comparison_lines(comparison: Comparison) -> list[str]:
    """Return the answer to `compare`."""
    names = [each.move for each in comparison.moves]
    lines = [
        f"info string compare {each.move} value {each.value:.4f} policy {each.probability:.4f} "
        f"nodes {each.nodes}"
        for each in comparison.moves
    ]
    for reason in comparison.reasons:
        values = zip(names, reason.values, strict=True)
        lines.append(
            f"info string because fen {reason.fen} share {reason.share:.4g} "
            + " ".join(f"{name} {value:.4f}" for name, value in values)
        )
    return lines


def _flag(value: bool) -> str:
    return "true" if value else "false"
