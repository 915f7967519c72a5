"""A UCI engine that plays random moves by the protocol, or misbehaves as a file says.

    fake_engine.py [FILE]

Each line of the file is the behaviour of one process, which takes the first line away; a process
that finds none is good. At the start: dead, mute, babble (garbage lines before each answer), flood
(a line without end). At `go`: die, hang, illegal, none, empty, wait (until `stop`), close (it closes
its output). plain: it reads whole games only. What comes in is appended to FILE.heard. A script of
its own, started as a process; it loads no compiled code.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from pathlib import Path

from obscuro.rules.observation import PLANES
from obscuro.uci.positions import PositionReader

GREETING = (
    "id name Fake 1.0",
    "option name UCI_Variant type combo default fogofwar var fogofwar",
    "option name Move Overhead type spin default 30 min 0 max 5000",
    "option name Ponder type check default false",
    "option name Seed type spin default 0 min 0 max 1000",
    "option name Stalemate type combo default loss var loss var draw",
    "uciok",
)
ABLE = "info string capabilities position-fog dances coverage compare marginals"
FORCED = {"illegal": "bestmove a1a8", "none": "bestmove (none)", "empty": "bestmove"}


def take_behaviour(path: Path | None) -> str:
    behaviours = path.read_text().split() if path and path.exists() else []
    if path is not None:
        path.write_text("\n".join(behaviours[1:]))
    return behaviours[0] if behaviours else ""


def wait_for_ever() -> None:
    threading.Event().wait()


def main(path: Path | None) -> None:
    behaviour = take_behaviour(path)
    if behaviour == "dead":
        print("out of cheese", file=sys.stderr, flush=True)
        sys.exit(3)
    reader = PositionReader()
    history = reader.read("startpos")
    best = ""
    for line in sys.stdin:
        if path is not None:
            with path.with_suffix(".heard").open("a") as heard:
                heard.write(line)
        word, _, rest = line.strip().partition(" ")
        answer: list[str] = ["\x00\xff", "", "info", "info depth many"] * (behaviour == "babble")
        match word:
            case "uci" if behaviour == "mute":
                wait_for_ever()
            case "uci":
                answer += [*GREETING[:-1], *([ABLE] if behaviour != "plain" else []), "uciok"]
            case "isready":
                answer += ["info string warning this is a fake", "readyok"]
            case "position":
                history = reader.read(rest)
            case "go" if behaviour == "die":
                print("out of cheese", file=sys.stderr, flush=True)
                sys.exit(3)
            case "go" if behaviour == "hang":
                wait_for_ever()
            case "go" if behaviour == "close":
                os.close(1)
                wait_for_ever()
            case "go" if behaviour == "flood":
                while True:
                    sys.stdout.write("x" * 10_000)
            case "go":
                move = random.Random(len(history.plies)).choice(history.moves)
                best = FORCED.get(behaviour, f"bestmove {move}")
                answer.append("info depth 1 score cp 23 pv x")
                if behaviour != "wait":
                    answer.append(best)
            case "stop" if behaviour == "wait":
                answer = [best]
            case "belief":
                answer.append("info string belief size 2 exact true")
                answer += ["info string belief fen 4k3/8/8/8/8/8/8/4K3 w - -"] * int(rest)
            case "marginals":
                answer += [f"info string marginals even {piece}{' 0.5' * 64}" for piece in PLANES]
            case "coverage":
                answer.append("info string coverage belief true search none")
            case "compare":
                first, second = [*rest.split(), "a2a3"][:2]
                answer += [
                    f"info string compare {move} value 0.5 policy 0.5 nodes 9"
                    for move in (first, second)
                ]
            case "quit":
                return
        print(*answer, sep="\n", end="\n" if answer else "", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
