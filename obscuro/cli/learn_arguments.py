"""The grammar of `learn`, with its help texts."""

from __future__ import annotations

import argparse

from obscuro.cli.common_arguments import Parsers, add_command, add_option, whole

TARGETS = ("search", "results")
MODELS = ("linear", "network")
RIDGE = 30.0

_EXAMPLES = """\
examples:
  obscuro learn collect games.pgn --nodes 120000 --out solved.npz
  obscuro learn collect games.pgn --no-search --out results.npz
  obscuro learn fit solved.npz --target search --out values.json
  obscuro learn check solved.npz --values values.json --plot values.png

Then play with it: obscuro uci, `setoption name Evaluator value fog` and
`setoption name Fog Values value values.json`. docs/evaluators.md says more.
"""


def add_learn(commands: Parsers) -> None:
    """Add `obscuro learn`."""
    about = "learn what a leaf is worth in fog, for the evaluator fog"
    parser = add_command(commands, "learn", about, _EXAMPLES)
    steps = parser.add_subparsers(title="steps", metavar="STEP", dest="step", required=True)
    _add_collect(steps)
    _add_fit(steps)
    _add_check(steps)


def _add_collect(steps: Parsers) -> None:
    parser = _add_step(
        steps,
        "collect",
        "search recorded games again, and keep the values of solved trees",
        "Follow one side of each game as the engine would, search at some of its turns, and keep the "
        "value of every possible position at the root: in the solved tree, and as a leaf. With "
        "--no-search keep the true position of every turn. Ctrl-C keeps what there is; the same "
        "command goes on from there.",
    )
    parser.add_argument(
        "games",
        nargs="+",
        metavar="GAMES",
        help="a PGN file, or a journal of `obscuro match --log`",
    )
    parser.add_argument("--out", required=True, metavar="DATA.npz", help="the file to write")
    parser.add_argument(
        "--games",
        dest="most",
        metavar="N",
        type=whole(1),
        help="so many games, evenly spread over all files; default: all that the rules ended",
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--movetime", metavar="MS", type=whole(1), help="milliseconds of a search; default: 1000"
    )
    effort.add_argument(
        "--nodes", metavar="N", type=whole(1), help="nodes of a search: repeatable with one thread"
    )
    effort.add_argument(
        "--no-search",
        action="store_true",
        help="keep the true position of every turn of both sides, for --target results",
    )
    parser.add_argument(
        "--every",
        metavar="K",
        type=whole(1),
        default=4,
        help="solve one turn of K; the turn before it gets a sixth of the search; default: 4",
    )
    add_option(parser, "set an option of the engine; Threads is 1 and Seed 1 unless set")


def _add_fit(steps: Parsers) -> None:
    parser = _add_step(
        steps,
        "fit",
        "fit the weights of the evaluator fog, and write them",
        "Fit pawns to add to a leaf's value, by features of what each side sees. Games are held out "
        "to tell how much the fit explains.",
    )
    _add_data(parser)
    parser.add_argument("--out", metavar="VALUES.json", help="where to write the weights")
    parser.add_argument(
        "--model",
        choices=MODELS,
        default="linear",
        help="network: a small network on pieces, squares and sight, only to say how much more it "
        "would explain; nothing is written, and it takes minutes; default: linear",
    )


def _add_check(steps: Parsers) -> None:
    parser = _add_step(
        steps,
        "check",
        "say how good weights are on games that they were not fitted to",
        "Print how much weights explain, what they are, and whether the results that they predict "
        "are those of the games. Weights that were fitted to these very data are fitted anew without "
        "each tenth of the games; others are taken as they are.",
    )
    _add_data(parser)
    parser.add_argument(
        "--values", metavar="VALUES.json", help="the weights; default: fit them to the data"
    )
    parser.add_argument(
        "--network", action="store_true", help="also fit the small network; takes minutes"
    )
    parser.add_argument("--plot", metavar="FILE.png", help="draw it; needs obscuro[plot]")
    parser.add_argument("--json", action="store_true", help="print one JSON object, no table")


def _add_step(steps: Parsers, name: str, about: str, description: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = steps.add_parser(name, help=about, description=description)
    return parser


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA.npz", help="what `collect` has written")
    parser.add_argument(
        "--target",
        choices=TARGETS,
        default="search",
        help="what a leaf's value should come close to: the value in solved trees, or the games' "
        "results; default: search",
    )
    parser.add_argument(
        "--ridge",
        metavar="X",
        type=_ridge,
        default=RIDGE,
        help="how strongly weights are drawn towards 0: as by X turns that say 0 for each; "
        f"default: {RIDGE:g}",
    )


def _ridge(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 on")
    return number
