"""A UCI engine that can be asked what an analysis asks, and dies as its argument says.

    analysing_engine.py [MODE]

MODE: never-dies, once-dies FILE (at the first `go` while there is the file, which it takes away),
always-dies (at every `go`), blind (it answers no `compare`), wrong (it chooses an illegal move),
deaf (it reads no position). It plays its first move. A script of its own, started as a process; it
loads no compiled code.
"""

from __future__ import annotations

import os
import sys

from tests.matches.fake_engine import STALEMATE, coverage, go, read_position


def compared(played: str, moves: list[str]) -> list[str]:
    """The first move is worth 0.5, every other -0.5, all because of one position."""
    other = moves[1] if played == moves[0] else moves[0]
    names = (played, other)
    values = ("0.5000", "-0.5000") if played == moves[0] else ("-0.5000", "0.5000")
    pairs = list(zip(names, values, strict=True))
    return [
        *(f"info string compare {name} value {value} policy 0.5 nodes 9" for name, value in pairs),
        "info string because fen 4k3/8/8/8/8/8/8/4K3 w - - share 0.25 "
        + " ".join(f"{name} {value}" for name, value in pairs),
    ]


def main(mode: str, file: str) -> None:
    moves: list[str] = []
    for line in sys.stdin:
        words = line.split()
        answer: list[str] = []
        match words[0]:
            case "uci":
                able = "position-fog coverage" + (" compare" if mode != "blind" else "")
                answer = ["id name Analyst 1.0", f"info string capabilities {able}"]
                answer += [
                    STALEMATE,
                    "option name Seed type spin default 0 min 0 max 1000",
                    "uciok",
                ]
            case "isready":
                answer = ["readyok"]
            case "position" if mode == "deaf":
                answer = ["info string error position: I do not listen"]
            case "position":
                moves, _ = read_position(words)
            case "belief":
                answer = ["info string belief size 2 exact true"]
            case "go":
                if mode == "always-dies" or (mode == "once-dies" and os.path.exists(file)):
                    if file:
                        os.remove(file)
                    sys.exit(3)
                answer = [*go(moves, 0, "")[:-1], f"bestmove {moves[0]}"]
                if mode == "wrong":
                    answer[-1] = "bestmove e2e5"
            case "coverage":
                answer = coverage(" ".join(words[1:]), "")
            case "compare":
                answer = compared(words[1], moves)
            case "quit":
                return
        print(*answer, sep="\n", end="\n" if answer else "", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3], *[""] * (3 - len(sys.argv)))
