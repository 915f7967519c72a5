"""The commands that look after the engine: is it whole, is it fast, what did it do."""

from __future__ import annotations

import argparse

from obscuro.cli.grammar.flags import (
    Parsers,
    add_command,
    add_number,
    add_option,
    add_player,
    players_text,
)

SHELLS = ("bash", "zsh", "fish")
"""The shells that `obscuro completion` knows. bash was tried."""

_COMPLETION_EXAMPLES = """\
examples:
  obscuro completion bash > ~/.local/share/bash-completion/completions/obscuro
  obscuro completion zsh > ~/.zfunc/_obscuro
"""


def add_upkeep_commands(commands: Parsers) -> None:
    """Add `replay`, `bench`, `warmup`, `doctor` and `completion`."""
    for add in (_add_replay, _add_bench, _add_warmup, _add_doctor, _add_completion):
        add(commands)


def _add_replay(commands: Parsers) -> None:
    parser = add_command(
        commands, "replay", "play the log of a session again, and compare the moves"
    )
    parser.add_argument("log", metavar="LOG", help="a file that `obscuro --log FILE` has written")
    add_number(parser, "--session", "number of the session in the file; default: the last")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="exit with 1 if a repeatable search came out differently",
    )
    add_option(parser, "set an option to another value than in the log")


def _add_bench(commands: Parsers) -> None:
    parser = add_command(
        commands,
        "bench",
        "print the signature of what the engine does; with a name, measure one part of it",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    benchmarks = parser.add_subparsers(title="benchmarks", metavar="NAME", dest="benchmark")
    belief = _add_benchmark(
        benchmarks,
        "belief",
        "updates of the belief, on recorded games",
        "Measure how fast the belief takes in the other side's moves, on recorded games. Takes "
        "some minutes.",
        quick="measure a small part, for a rough answer within seconds",
    )
    add_number(belief, "--repeat", "repeat each update N times; default: 3, with --quick 1")
    _add_benchmark(
        benchmarks,
        "search",
        "solver, selection, attaching, subgames, and the size of trees",
        "Measure how fast the parts of a search are, on a synthetic tree and on the engine's own "
        "trees, and how large these become in 5 s a move. Takes some minutes.",
        quick="measure a small part, for a rough answer within a minute",
    )
    evaluation = _add_benchmark(
        benchmarks,
        "eval",
        "evaluators: children a second, and how far they agree",
        "Measure how fast Stockfish is, by itself and with the engine reading its answers, how "
        "fast the other evaluators are, and how far they agree. Takes half a minute.",
        quick="measure fewer positions, for a rough answer within seconds",
    )
    about = "repeat each measurement N times; default: 15, with --quick 5"
    add_number(evaluation, "--repeat", about)


def _add_benchmark(
    benchmarks: Parsers, name: str, about: str, description: str, *, quick: str
) -> argparse.ArgumentParser:
    parser = benchmarks.add_parser(name, help=about, description=description)
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS,  # a default would overwrite that of `obscuro bench --json NAME`
        help="print one JSON object, no table",
    )
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def _add_warmup(commands: Parsers) -> None:
    about = "compile the kernels now rather than at the first game"
    parser = add_command(commands, "warmup", about, players_text())
    add_player(parser)


def _add_doctor(commands: Parsers) -> None:
    about = "say what is installed, what works, and how to mend the rest"
    parser = add_command(commands, "doctor", about)
    parser.add_argument(
        "--tune", action="store_true", help="measure which Threads and Hash suit this machine"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, for a bug report"
    )
    parser.add_argument(
        "--bridge",
        metavar="FILE",
        help="also ask the server of a file for `obscuro bridge --config` who we are there",
    )


def _add_completion(commands: Parsers) -> None:
    epilog = _COMPLETION_EXAMPLES
    parser = add_command(
        commands, "completion", "print what a shell needs to complete words", epilog
    )
    parser.add_argument("shell", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")
