"""Run every proof that takes too long for `make test`. This is what `make proofs` does.

    python -m tools.proofs.all_proofs
    python -m tools.proofs.all_proofs --only klss_table endurance
    python -m tools.proofs.all_proofs --list

Runs one command after the other. If one fails, the others are run all the same, and the exit code is
1 in the end. The whole takes about half an hour on two cores, and an hour of fuzzing for each of nine
targets, as many at once as there are cores. With --raw, the last run is stored with its date, commit
and machine, for the page docs/results/proofs.md; Ctrl-C stores what was run.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tools.common import INTERRUPTED, ROOT, given, publish, say, table, tool_parser

PASSED = "passed"
NOT_RUN = "not run"


class Proof(NamedTuple):
    """A command whose exit code is 0 if what it proves is so."""

    name: str
    proves: str
    command: str


PROOFS = (
    Proof(
        "compare_openspiel",
        "the rules are OpenSpiel's",
        "python -m tools.proofs.compare_openspiel --positions 100000",
    ),
    Proof(
        "compare_pyffish",
        "moves and ends of games are pychess's, and by the papers' rule of stalemate",
        "python -m tools.proofs.compare_pyffish --games 500",
    ),
    Proof(
        "compare_pyffish_chess960",
        "the same from the starts of Chess960, with what each side sees",
        "python -m tools.proofs.compare_pyffish --games 500 --chess960",
    ),
    Proof(
        "klss_table",
        "subgame solving has the paper's figures",
        "python -m tools.proofs.klss_table",
    ),
    Proof(
        "endurance",
        "many games in one process leave nothing behind",
        "python -m tools.proofs.endurance --games 300",
    ),
    Proof(
        "recorded_games",
        "beliefs of the benchmark's games hold the true position, and are the naive kernel's",
        "python -m tools.proofs.belief_reference --recorded",
    ),
    Proof(
        "belief_selfplay",
        "a belief that says it is exact holds the true position, in games of the engine",
        "python -m tools.proofs.belief_selfplay --games 100",
    ),
    Proof(
        "belief_reference",
        "beliefs are what trying everything gives",
        "python -m tools.proofs.belief_reference --games 16",
    ),
    Proof(
        "small_games",
        "the search solves every small game, by every method",
        "python -m tools.proofs.small_games --all",
    ),
    Proof(
        "value_functions",
        "a network trained on solved bottoms makes a trunk that is hard to exploit",
        "python -m tools.proofs.value_functions prove leduc --epochs 30",
    ),
    Proof(
        "zs21_agent",
        "ZS21's turns keep to the rules of the paper, and its programs are solved",
        "python -m tools.proofs.zs21_agent --turns 100 --movetime 5000",
    ),
    Proof(
        "bare_install",
        "a bare Debian becomes a machine that plays, in each way that the pages name",
        "python -m tools.proofs.bare_install",
    ),
    Proof(
        "fuzz",
        "nothing that a stranger says is fatal, hangs, or fills the memory",
        "python -m tools.proofs.fuzz --seconds 3600",
    ),
    Proof(
        "tests",
        "the slow tests, and every property on ten times as many examples",
        "python -m pytest -n 2 --dist loadfile -m 'slow or hypothesis' --hypothesis-profile nightly",
    ),
)


def make_parser() -> ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.all_proofs", __doc__)
    names = [proof.name for proof in PROOFS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--list", action="store_true", help="run nothing, show the commands")
    return parser


def run_all(proofs: Sequence[Proof]) -> Iterator[dict[str, Any]]:
    """Run the proofs in turn; yield name, what is proved, command, minutes and result of each.

    After Ctrl-C the rest is yielded as not run.
    """
    interrupted = False
    for number, proof in enumerate(proofs, 1):
        minutes, result = 0.0, NOT_RUN
        if not interrupted:
            say(f"\n=== {number} of {len(proofs)}: {proof.command}")
            begin = time.monotonic()
            program, *words = shlex.split(proof.command)
            command = [sys.executable if program == "python" else program, *words]
            try:
                code = subprocess.run(command, cwd=ROOT, check=False).returncode
                result = f"failed, exit code {code}" if code else PASSED
            except KeyboardInterrupt:
                interrupted = True
            minutes = round((time.monotonic() - begin) / 60, 1)
            say(f"=== {proof.name}: {result}, after {minutes} minutes")
        yield {**proof._asdict(), "minutes": minutes, "result": result}


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a table with a row for each proof."""
    rows = [
        [f"`{each['command']}`", each["proves"], f"{each['minutes']:.1f}", each["result"]]
        for each in figures
    ]
    yield from table(["command", "what it proves", "minutes", "result"], rows, "llrl")
    yield ""
    passed = sum(each["result"] == PASSED for each in figures)
    minutes = sum(each["minutes"] for each in figures)
    yield f"{passed} of {len(figures)} passed, in {minutes:.0f} minutes."


def main(words: Sequence[str] | None = None) -> int:
    """Run the proofs; returns the exit code."""
    words = given(words)
    parser = make_parser()
    arguments = parser.parse_args(words)
    proofs = [proof for proof in PROOFS if arguments.only is None or proof.name in arguments.only]
    if arguments.list:
        print("\n".join(proof.command for proof in proofs))
        return 0
    figures = list(run_all(proofs))
    print()
    publish(parser, words, arguments.raw, figures, render)
    results = {each["result"] for each in figures}
    if NOT_RUN in results:
        return INTERRUPTED
    return int(results != {PASSED})


if __name__ == "__main__":
    sys.exit(main())
