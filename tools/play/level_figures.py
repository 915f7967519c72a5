"""What matches between levels of strength say: one scale of ratings, its tables and its curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from obscuro.matches.elo import Tally, pentanomial, trinomial
from obscuro.matches.rating import Anchor, Estimate, RatedGame, RatingList, rate
from tools.common import table
from tools.results.manifest import Loaded

ANCHOR = "greedy"
ANCHOR_ELO = 1000
ROUND_TO = 10

Figures = dict[str, Any]


class Ratings(NamedTuple):
    """The ratings of all players of the matches, by name."""

    names: tuple[str, ...]
    rated: RatingList

    def elo(self, name: str) -> Estimate:
        """Return a player's rating with half its 95 % interval."""
        rating = self.rated.of(self.names.index(name))
        return Estimate(rating.elo, rating.error)

    def difference(self, first: str, second: str) -> Estimate:
        """Return by how much the first player is rated above the second."""
        return self.rated.difference(self.names.index(first), self.names.index(second))


def ratings_of(matches: Sequence[dict[str, Any]]) -> Ratings:
    """Rate all players by all games; ANCHOR has ANCHOR_ELO if it has played, else the mean is 0."""
    names = tuple(dict.fromkeys(each[key] for each in matches for key in ("first", "second")))
    games = []
    for number, match in enumerate(matches):
        first, second = names.index(match["first"]), names.index(match["second"])
        for game, score in enumerate(match["scores"]):
            pair = 10_000 * number + game // 2
            if game % 2 == 0:
                games.append(RatedGame(first, second, score, pair))
            else:
                games.append(RatedGame(second, first, 1 - score, pair))
    anchor = Anchor(names.index(ANCHOR), ANCHOR_ELO) if ANCHOR in names else Anchor()
    return Ratings(names, rate(games, len(names), anchor))


def measured_elo(figures: Figures) -> dict[int, int]:
    """Return each level's Elo by its number, rounded to ROUND_TO as `LEVELS` has it."""
    ratings = ratings_of(figures["matches"])
    names = {level["number"]: f"level {level['number']}" for level in figures["levels"]}
    return {
        number: ROUND_TO * round(ratings.elo(name).value / ROUND_TO)
        for number, name in names.items()
        if name in ratings.names
    }


def render(figures: Figures) -> Iterator[str]:
    """Yield all tables."""
    for part in (render_levels, render_players, render_matches):
        yield from part(figures)
        yield ""


def render_levels(figures: Figures) -> Iterator[str]:
    """Yield each level's rating and limits."""
    ratings = ratings_of(figures["matches"])
    rows = []
    for below, level in zip([None, *figures["levels"]], figures["levels"], strict=False):
        name = f"level {level['number']}"
        if name not in ratings.names:
            continue
        elo, step = ratings.elo(name), ""
        if below is not None and f"level {below['number']}" in ratings.names:
            step = str(ratings.difference(name, f"level {below['number']}"))
        warmth = level["temperature"] or "none"
        limits = [level["nodes"], level["roots"], level["positions"], warmth]
        rows.append([level["number"], level["name"], f"{elo.value:.0f}", step, *limits])
    headings = ["level", "name", "Elo", "above the level below", "nodes", "roots", "positions"]
    yield from table([*headings, "temperature"], rows, "rlrrrrrr")


def render_players(figures: Figures) -> Iterator[str]:
    """Yield the rating list of all players, the best first."""
    ratings = ratings_of(figures["matches"])
    rows = []
    for rating in ratings.rated.ratings:
        error = f"± {rating.error:.0f}" if rating.error else "fixed"
        score = f"{rating.points:g} of {rating.games}"
        rows.append([ratings.names[rating.player], f"{rating.elo:.0f}", error, score])
    yield from table(["player", "Elo", "95 %", "points"], rows, "lrrr")
    yield ""
    yield f"White's advantage is {ratings.rated.white_advantage} Elo (95 %)."


def render_matches(figures: Figures) -> Iterator[str]:
    """Yield the matches, and beside each result what the one scale expects of it."""
    ratings = ratings_of(figures["matches"])
    rows = []
    for match in figures["matches"]:
        first, second, scores = match["first"], match["second"], match["scores"]
        tally = Tally.of(scores)
        pairs = list(zip(scores[::2], scores[1::2], strict=False))
        elo = trinomial(tally) if len(scores) % 2 else pentanomial(pairs)
        counts = str(tally).replace("/", " / ")
        scale = f"{ratings.difference(first, second).value:+.0f}"
        share = f"{100 * tally.points / tally.games:.1f} %"
        rows.append([f"{first} against {second}", tally.games, counts, share, elo, scale])
    headings = ["match", "games", "won / drawn / lost", "score", "Elo, 95 %", "by the scale"]
    yield from table(headings, rows, "lrrrrr")


def draw(file: Path, loaded: Loaded, mark: str) -> None:
    """Draw the levels' ratings, and the other players' as lines. mark: goes into the PNG."""
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figures: Figures = loaded.raw.data
    ratings = ratings_of(figures["matches"])
    numbers = [each["number"] for each in figures["levels"]]
    elos = [ratings.elo(f"level {number}") for number in numbers]
    figure, axes = pyplot.subplots(figsize=(8, 4.8), layout="constrained")
    for name in ratings.names:
        if not name.startswith("level "):
            value = ratings.elo(name).value
            axes.axhline(value, color="lightgray", linewidth=0.8)
            axes.annotate(name, (numbers[-1] + 0.4, value), va="bottom", ha="right", color="gray")
    values, errors = [each.value for each in elos], [each.error for each in elos]
    axes.errorbar(numbers, values, errors, fmt="o-", markersize=4, capsize=3)
    axes.set(xlabel="level", ylabel=f"Elo ({ANCHOR} = {ANCHOR_ELO})", xticks=numbers)
    axes.set_xlim(numbers[0] - 0.5, numbers[-1] + 0.5)
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)
