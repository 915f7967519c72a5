"""A report over all games of a file: one HTML page that needs no server, no network and no script."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import chess
import jinja2

from obscuro import __version__
from obscuro.matches.report_page import (
    RESULT_NAMES,
    Drawing,
    page_environment,
    page_style,
    percent_text,
    points_text,
    stacked_plot,
)
from obscuro.viewer.document import ShownAnalysis
from obscuro.viewer.game_facts import FogFacts, SideFacts
from obscuro.viewer.loss_parts import LossParts
from obscuro.viewer.make_document import MOST_MARKS

MOST_PLAYERS = 30
MOST_OPENINGS = 30
MOST_MISTAKES = 50
"""The most rows of these tables; the others are left out, those with the fewest games first."""
_LONGEST_NAME = 40
_UNKNOWN = "?"
_SEEN = {"unseen": ("c1", "attacker unseen"), "seen": ("c0", "attacker seen")}
_PAID = {"paid": ("c2", "won a man soon"), "not": ("c0", "did not")}
_PARTS = {
    "unknowable": ("c0", "could not know"),
    "unthought": ("c1", "did not think of"),
    "chosen": ("c2", "chose badly"),
}
_PLAYER_HEADS = [
    *("player", "games", "points", "score", "lost a game", "of it unseen", "kings lost"),
    *("of them unseen", "scouted a game", "of it won"),
]
_MISTAKE_HEADS = [
    *("player", "games", "mistakes a game", "lost", "could not know", "did not think of"),
    "chose badly",
]
_POINTS = {"1-0": (1.0, 0.0), "0-1": (0.0, 1.0), "1/2-1/2": (0.5, 0.5)}


class Mistake(NamedTuple):
    """A move that lost much. game: its number in the file. move: with its number. text: why."""

    game: int
    mover: chess.Color
    move: str
    parts: LossParts
    text: str


@dataclass
class FileReport:
    """What a page says of a file. games: in the order of the file.

    faults: a line for each game that can't be read. analysis: who analysed; None: nobody did. stopped:
    why there may be more games; empty if these are all.
    """

    title: str
    games: list[FogFacts] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    analysis: ShownAnalysis | None = None
    stopped: str = ""


class _Player:
    """The sums of one player over all its games."""

    def __init__(self) -> None:
        self.games = self.plies = self.decided = 0
        self.points = 0.0
        self.sides: list[SideFacts] = []
        self.mistakes: list[LossParts] = []

    def total(self, name: str) -> int:
        """Return a sum over the player's games."""
        return sum(getattr(side, name) for side in self.sides)


def report_page(report: FileReport) -> str:
    """Return the whole page as text."""
    games = report.games
    players = _players(report)
    shown = sorted(players, key=lambda name: -players[name].games)[:MOST_PLAYERS]
    unknown = sum(game.result not in _POINTS for game in games)
    facts = [
        f"{len(games):,} game{'' if len(games) == 1 else 's'}",
        f"{len(players):,} player{'' if len(players) == 1 else 's'}",
        f"{sum(game.plies for game in games):,} plies",
    ]
    if unknown:
        facts.append(f"{unknown:,} without a result")
    page: str = _template().render(
        report=report,
        style=page_style(),
        facts=facts,
        version=__version__,
        most_marks=MOST_MARKS,
        player_heads=_PLAYER_HEADS,
        player_rows=[_player_row(name, players[name]) for name in shown],
        more_players=len(players) - len(shown),
        lost_plot=lost_plot(games),
        scouting_plot=scouting_plot(games),
        length_plot=_length_plot(games),
        parts_plot=parts_plot(report.mistakes),
        sentences=_sentences(games),
        mistake_heads=_MISTAKE_HEADS,
        mistake_rows=[_mistake_row(name, players[name]) for name in shown],
        worst=_worst(report.mistakes),
        opening_rows=_opening_rows(games),
        game_heads=_game_heads(report),
        game_rows=_game_rows(report),
    )
    return page.lstrip()


@cache
def _template() -> jinja2.Template:
    return page_environment("viewer").get_template("file_report.html.jinja")


# -- drawings -----------------------------------------------------------------------------------


def lost_plot(games: Iterable[FogFacts]) -> Drawing:
    """Draw when men and kings were captured, parted by whether the attacker was seen."""
    values = [
        ((man.ply + 1) // 2, "unseen" if man.unseen else "seen")
        for game in games
        for man in game.men
    ]
    return stacked_plot("Captured men by move", "move of the capture", values, _SEEN)


def scouting_plot(games: Iterable[FogFacts]) -> Drawing:
    """Draw when moves brought enemy men into sight, parted by whether they won one soon."""
    values = [
        ((each.ply + 1) // 2, "paid" if each.paid else "not")
        for game in games
        for each in game.scouting
    ]
    return stacked_plot("Moves that brought men into sight", "move that scouted", values, _PAID)


def parts_plot(mistakes: Iterable[Mistake]) -> Drawing:
    """Draw how much moves lost, in points of 100, parted by the largest part of the loss."""
    values = []
    for mistake in mistakes:
        parts = mistake.parts
        largest = max(_PARTS, key=lambda name: getattr(parts, name))
        values.append((max(0, round(100 * parts.lost)), largest))
    return stacked_plot("Mistakes by loss", "points of 100 lost", values, _PARTS, 5)


def _length_plot(games: Iterable[FogFacts]) -> Drawing:
    kinds = {**RESULT_NAMES, "*": ("c2", "no result")}
    values = [(game.plies, game.result if game.result in RESULT_NAMES else "*") for game in games]
    if all(kind != "*" for _, kind in values):
        del kinds["*"]
    return stacked_plot("Lengths of games", "plies", values, kinds)


# -- tables -------------------------------------------------------------------------------------


def _players(report: FileReport) -> dict[str, _Player]:
    players: dict[str, _Player] = defaultdict(_Player)
    by_number = {game.number: game for game in report.games}
    for game in report.games:
        points = _POINTS.get(game.result)
        for color, name in ((chess.WHITE, game.white), (chess.BLACK, game.black)):
            player = players[name or _UNKNOWN]
            player.games += 1
            player.sides.append(game.side(color))
            if points is not None:
                player.decided += 1
                player.points += points[0 if color == chess.WHITE else 1]
    for mistake in report.mistakes:
        game = by_number[mistake.game]
        name = game.white if mistake.mover == chess.WHITE else game.black
        players[name or _UNKNOWN].mistakes.append(mistake.parts)
    return players


def _player_row(name: str, player: _Player) -> list[str]:
    lost, kings = player.total("lost_value"), player.total("king_lost")
    scouted = player.total("scouted")
    return [
        _short(name),
        f"{player.games:,}",
        points_text(player.points),
        percent_text(player.points, player.decided),
        f"{lost / player.games:.1f}",
        percent_text(player.total("unseen_value"), lost),
        f"{kings:,}",
        percent_text(player.total("king_unseen"), kings),
        f"{scouted / player.games:.1f}",
        percent_text(player.total("paid"), scouted),
    ]


def _mistake_row(name: str, player: _Player) -> list[str]:
    sums = [sum(values) for values in zip(*player.mistakes, strict=True)] or [0.0] * 4
    each = f"{len(player.mistakes) / player.games:.1f}"
    return [_short(name), f"{player.games:,}", each, *map(_hundredths, sums)]


def _sentences(games: Sequence[FogFacts]) -> list[str]:
    """Say what the fog did over all games."""
    sides = [game.side(color) for game in games for color in chess.COLORS]
    total: Counter[str] = Counter()
    for side in sides:
        total.update(side._asdict())
    unseen = percent_text(total["unseen_value"], total["lost_value"])
    kings = percent_text(total["king_unseen"], total["king_lost"])
    paid = percent_text(total["paid"], total["scouted"])
    games_text = f"{len(games):,} game{'' if len(games) == 1 else 's'}"
    return [
        f"In {games_text} {total['lost']:,} men were lost, worth {total['lost_value']:,} pawns. "
        f"{unseen} of that worth fell to attackers that the owner did not see.",
        f"{total['king_lost']:,} kings were captured, {kings} of them by such attackers.",
        f"{total['scouted']:,} moves brought enemy men into sight. {paid} of them won one of these "
        f"men with one of the next two moves, {total['won_value']:,} pawns in all.",
    ]


def _worst(mistakes: Sequence[Mistake]) -> list[Mistake]:
    """Return the mistakes to show, the largest first."""
    return sorted(mistakes, key=lambda each: -each.parts.size)[:MOST_MISTAKES]


class _Shares(NamedTuple):
    title: str
    parts: list[tuple[str, float]]


def _opening_rows(games: Iterable[FogFacts]) -> list[dict[str, Any]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for game in games:
        found[game.opening][game.result] += 1
    rows = []
    for name, results in sorted(found.items(), key=lambda item: -item[1].total())[:MOST_OPENINGS]:
        counts = [results[result] for result in RESULT_NAMES]
        white, drawn, black = counts
        shares = [
            (kind, count / sum(counts) if sum(counts) else 0.0)
            for (kind, _), count in zip(RESULT_NAMES.values(), counts, strict=True)
        ]
        rows.append(
            {
                "name": name[: 2 * _LONGEST_NAME],
                "games": f"{results.total():,}",
                "score": percent_text(white + drawn / 2, sum(counts)),
                "shares": _Shares(f"White won {white}, drew {drawn}, lost {black}", shares),
            }
        )
    return rows


def _game_heads(report: FileReport) -> list[str]:
    heads = ["game", "White", "Black", "result", "ending", "moves", "opening", "lost", "king"]
    return [*heads, "scouting", *(["mistakes"] if report.analysis is not None else [])]


def _game_rows(report: FileReport) -> list[list[str]]:
    mistakes = Counter((each.game, each.mover) for each in report.mistakes)
    rows = [_game_row(game) for game in report.games]
    if report.analysis is not None:
        for row, game in zip(rows, report.games, strict=True):
            counts = (mistakes[game.number, color] for color in (chess.WHITE, chess.BLACK))
            row.append(" / ".join(map(str, counts)))
    return rows


def _game_row(game: FogFacts) -> list[str]:
    white, black = game.side(chess.WHITE), game.side(chess.BLACK)
    return [
        str(game.number),
        _short(game.white),
        _short(game.black),
        game.result,
        _short(game.ending),
        str((game.plies + 1) // 2),
        game.opening[: 2 * _LONGEST_NAME],
        f"{white.lost_value} ({white.unseen_value}) / {black.lost_value} ({black.unseen_value})",
        _king_text("White", white) or _king_text("Black", black),
        f"{white.paid} of {white.scouted} / {black.paid} of {black.scouted}",
    ]


def _king_text(name: str, side: SideFacts) -> str:
    if not side.king_lost:
        return ""
    return f"{name}'s, {'unseen' if side.king_unseen else 'seen'}"


def _hundredths(points: float) -> str:
    """Write points of a game in hundredths."""
    return f"{round(100 * points)}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
