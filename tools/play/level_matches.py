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
from tools.common import INTERRUPTED, ROOT, given, publish, say, tool_parser
from tools.play.level_figures import render
from tools.results import raw

ENGINE = ROOT / "engine_bin" / "obscuro"
FULL_MILLISECONDS = 200
MOST_MILLISECONDS = 10_000
"""For a move of all others, which take less."""
HASH = "64"
"""MiB, more than any level fills."""
SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
FULL = "full"


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


if __name__ == "__main__":
    sys.exit(main())
