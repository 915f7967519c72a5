"""Feeds the front end with lines that coverage-guided fuzzing (atheris, libFuzzer) makes up.

    .venv/bin/pip install --editable '.[fuzz]'
    python -m tools.proofs.fuzz_protocol [CORPUS] -max_total_time=600

The readers of `position`, `go`, `setoption`, `belief` and `coverage` must end in a value or in one
of the errors that a user is told. A game read line by line must be the one that is read afresh, and an
observation must be itself again after it was written. The fuzzer begins with a few dialogues of its
own and with CORPUS, a folder that new inputs are kept in. All other arguments are libFuzzer's. A
failure is written down by libFuzzer, with its traceback; give the file's name as the only argument
to see it again.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from obscuro.installation import how_to_add
from tools.common import given, tool_parser

try:
    import atheris
except ImportError:
    atheris = None

with (
    atheris.instrument_imports(include=["obscuro", "chess"])
    if atheris
    else contextlib.nullcontext()
):
    from obscuro.engine.options import OptionError, Options
    from obscuro.rules.observation import Observation
    from obscuro.uci.parsing import ProtocolError, parse_belief, parse_go, parse_setoption
    from obscuro.uci.positions import PositionReader, start_board

SEEDS = (
    "position startpos moves e2e4 e7e5 g1f3",
    "position fen r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1 moves e5d6 e8g8 e1c1",
    "position fog white startpos turns e2e4 - d2d4",
    "position fog black startpos turns "
    "????????/????????/????????/********/********/??????**/PPPPPPPP/RNBQKBNR,- e7e5",
    "position fog white fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 turns e2e4",
    "go wtime 60000 btime 60000 winc 1000 binc 1000 movestogo 20",
    "go ponder movetime 100\ngo nodes 5 searchmoves e2e4 mate 3 depth 2\ngo infinite",
    "setoption name Move Overhead value 50\nsetoption name Evaluator value nnue",
    "setoption name Stockfish value /usr/games/stockfish\nsetoption name Clear Hash",
    "belief 10",
    "coverage r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6",
)


def read(line: str, positions: PositionReader, options: Options) -> None:
    """Read a line as the session does, and check what came of it. Raises what the user is told."""
    name, *rest = line.split(maxsplit=1)[:2] or [""]
    text = rest[0] if rest else ""
    if name == "position":
        history = positions.read(text)
        if PositionReader().read(text) != history:
            raise AssertionError("read line by line the game is another one")
        if Observation.parse(text := history.observation.text()) != history.observation:
            raise AssertionError(f"{text} does not say {history.observation}")
        if history.our_turn and history.over is None and not history.moves:
            raise AssertionError("the game goes on without a move")
    elif name == "go":
        parse_go(text, 0.0)
    elif name == "setoption":
        options.set(*parse_setoption(text))
        options.search_parameters()
    elif name == "belief":
        parse_belief(text)
    elif name == "coverage":
        start_board(text)


def try_one(data: bytes) -> None:
    """Read the lines of one input, in one session."""
    positions, options = PositionReader(), Options()
    for line in data.decode(errors="replace").splitlines():
        try:
            read(line, positions, options)
        except (ProtocolError, OptionError) as error:
            if not str(error):
                raise AssertionError("an error without a word") from error


def make_parser() -> argparse.ArgumentParser:
    """Return the command line: what is not known here goes to libFuzzer."""
    return tool_parser("tools.proofs.fuzz_protocol", __doc__, stores=False)


def main(words: Sequence[str] | None = None) -> int:
    """Fuzz; libFuzzer ends the process. Returns 2 without atheris."""
    _, rest = make_parser().parse_known_args(given(words))
    if atheris is None:
        print(f"fuzz_protocol: needs atheris; run: {how_to_add('fuzz')}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(SEEDS):
            (Path(folder) / f"seed{number}").write_text(text)
        inputs = [Path(word) for word in rest if not word.startswith("-")]
        if all(path.is_dir() for path in inputs):  # else they are failures to look at again
            rest = [*rest, folder]
        atheris.Setup([sys.argv[0], *rest], try_one)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
