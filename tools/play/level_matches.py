"""Play the levels of strength against each other and against other players, and rate them.

    python -m tools.play.level_matches
    python -m tools.play.level_matches --pairs "level 1 - level 2" "level 2 - level 3" --games 20
    python -m tools.play.level_matches --rate-only

Each pair of players plays an `obscuro match`, one after the other, one game at a time. The journals
of the matches lie in --folder until they are removed: the same command goes on where it was. At the
end, or after Ctrl-C, one scale of ratings is fitted to all games (`obscuro/matches/rating.py`), with
`greedy` at 1000. With --raw FILE the moves of all games are kept beside the figures.

A level is limited by work and not by time, so its games may be played on a busy machine. `full` has
200 ms for a move and one thread: what it reaches depends on the machine.
"""

from __future__ import annotations

import argparse
import io
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import chess.pgn

import obscuro.rules.board  # noqa: F401 - registers the variant for PGN files
from obscuro.engine.strength import LEVELS
from obscuro.matches.elo import Tally, pentanomial, trinomial
from obscuro.matches.rating import Anchor, Estimate, RatedGame, RatingList, rate
from tools.common import INTERRUPTED, ROOT, given, publish, say, table, tool_parser
from tools.results import raw
from tools.results.manifest import Loaded
from tools.results.matches import SCORES

ENGINE = ROOT / "engine_bin" / "obscuro"
FULL_MILLISECONDS = 200
MOST_MILLISECONDS = 10_000
"""For a move of all others, which take less."""
HASH = "64"
"""MiB, more than any level fills."""
FULL = "full"
ANCHOR, ANCHOR_ELO = "greedy", 1000
ROUND_TO = 10

Figures = dict[str, Any]


class Pairing(NamedTuple):
    """A match. games: an even number."""

    first: str
    second: str
    games: int

    @property
    def name(self) -> str:
        """What --pairs calls it."""
        return f"{self.first} - {self.second}"

    @property
    def stem(self) -> str:
        """The name of its files, without an ending."""
        return self.name.replace(" ", "_")


PAIRINGS = (
    Pairing("level 1", "level 2", 120),
    Pairing("level 2", "level 3", 120),
    Pairing("level 3", "level 4", 120),
    Pairing("level 4", "level 5", 120),
    Pairing("level 5", "level 7", 100),
    Pairing("level 5", "level 6", 100),
    Pairing("level 6", "level 7", 100),
    Pairing("random", "level 1", 60),
    Pairing("level 1", "greedy", 100),
    Pairing("greedy", "level 2", 100),
    Pairing("level 7", "level 8", 100),
    Pairing("level 8", "level 9", 80),
    Pairing("level 9", FULL, 40),
    Pairing("level 1", "level 3", 60),
    Pairing("level 3", "level 5", 40),
)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.level_matches", __doc__)
    names = [pairing.name for pairing in PAIRINGS]
    parser.add_argument("--pairs", nargs="+", choices=names, metavar="PAIR", help="only these")
    parser.add_argument("--games", type=int, metavar="N", help="of each pair, an even number")
    parser.add_argument("--rate-only", action="store_true", help="play nothing, rate what is there")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "levels", help="default: build/levels"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play, and rate; returns the exit code."""
    parser = make_parser()
    arguments = parser.parse_args(words := given(words))
    pairings = [pair for pair in PAIRINGS if not arguments.pairs or pair.name in arguments.pairs]
    if arguments.games:
        pairings = [pair._replace(games=arguments.games) for pair in pairings]
    arguments.folder.mkdir(parents=True, exist_ok=True)
    ended = 0
    try:
        for pairing in [] if arguments.rate_only else pairings:
            command = match_command(pairing, arguments.folder)
            say(shlex.join(command))
            code = subprocess.run(command, cwd=ROOT, check=False).returncode
            if code == INTERRUPTED:
                raise KeyboardInterrupt
            if code:
                return code
    except KeyboardInterrupt:
        say("broken off; these are the games so far")
        ended = INTERRUPTED
    played = [pair for pair in pairings if any(True for _ in scores_of(pair, arguments.folder))]
    if not played:
        say("there are no games")
        return ended or 1
    figures = figures_of(played, arguments.folder)
    games = None
    if arguments.raw:
        games = "games.pgn.gz"
        arguments.raw.parent.mkdir(parents=True, exist_ok=True)
        texts = [text for pair in played for text in games_of(pair, arguments.folder)]
        raw.write_bytes(arguments.raw.parent / games, "".join(texts).encode())
    publish(parser, words, arguments.raw, figures, render, games=games)
    return ended


# -- the matches --------------------------------------------------------------------------------


def match_command(pairing: Pairing, folder: Path) -> list[str]:
    """Return the command that plays a match or goes on with it. folder: where its files lie."""
    command = [str(ENGINE), "match"]
    settings: list[str] = []
    for letter, player in zip("ab", (pairing.first, pairing.second), strict=True):
        program, options, milliseconds = player_settings(player)
        command.append(program)
        settings += [f"--movetime-{letter}", str(milliseconds)]
        for name, text in options.items():
            settings += [f"--option-{letter}", f"{name}={text}"]
    seed = 1 + [each.name for each in PAIRINGS].index(pairing.name)
    files = [f"--{kind}={folder / pairing.stem}.{kind}" for kind in ("pgn", "json")]
    log = f"--log={folder / pairing.stem}.jsonl"
    return [
        *(*command, *settings, "--games", str(pairing.games), "--seed", str(seed)),
        *("--concurrency", "1", "--no-coverage", log, *files),
    ]


def player_settings(player: str) -> tuple[str, dict[str, str], int]:
    """Return a player's program, its options, and its milliseconds for a move."""
    for level in LEVELS:
        if player == f"level {level.number}":
            return "obscuro", {**level.settings, "Hash": HASH}, MOST_MILLISECONDS
    if player == FULL:
        return "obscuro", {"Threads": "1", "Hash": HASH}, FULL_MILLISECONDS
    return player, {}, MOST_MILLISECONDS


# -- the figures --------------------------------------------------------------------------------


def figures_of(pairings: Sequence[Pairing], folder: Path) -> dict[str, Any]:
    """Return the limits of all levels, and the first player's points in each game of each match."""
    matches = [
        {
            "first": pair.first,
            "second": pair.second,
            "scores": list(scores_of(pair, folder)),
        }
        for pair in pairings
    ]
    return {"levels": limits(), "matches": matches}


def games_of(pairing: Pairing, folder: Path) -> Iterator[str]:
    """Yield the games of a match as PGN, with the players' names and without comments."""
    with (folder / f"{pairing.stem}.pgn").open(encoding="utf-8") as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            sides = (pairing.first, pairing.second)
            white, black = sides if int(game.headers["Round"]) % 2 else sides[::-1]
            game.headers.update(Event=pairing.name, White=white, Black=black)
            exporter = chess.pgn.StringExporter(columns=100, comments=False, variations=False)
            yield game.accept(exporter) + "\n\n"


def limits() -> list[dict[str, Any]]:
    """Return what each level limits, as the figures keep it."""
    return [
        {
            "number": level.number,
            "name": level.name,
            **{name: getattr(level.strength, name) for name in type(level.strength).__slots__},
        }
        for level in LEVELS
    ]


def scores_of(pairing: Pairing, folder: Path) -> Iterator[float]:
    """Yield the first player's points in the games of a match so far, in the order of rounds."""
    file = folder / f"{pairing.stem}.pgn"
    found: dict[int, float] = {}
    with file.open(encoding="utf-8") if file.exists() else io.StringIO() as stream:
        while (headers := chess.pgn.read_headers(stream)) is not None:
            number, white = int(headers["Round"]), SCORES[headers["Result"]]
            found[number] = white if number % 2 else 1 - white
    for number in sorted(found):
        yield found[number]


# -- the tables -----------------------------------------------------------------------------------


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


if __name__ == "__main__":
    sys.exit(main())
