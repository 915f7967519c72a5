"""A UCI engine that reads `position fog`, plays at random, and misbehaves as a file says.

    fog_engine.py FILE

Each line of the file is a misbehaviour for one process: die, hang, illegal, none, babble. A process
takes the first line away; where none is left it is good. Loads no compiled code.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from obscuro.uci.positions import PositionReader

GREETING = (
    "id name Fog 1.0",
    "option name UCI_Variant type combo default fogofwar var fogofwar",
    "option name Move Overhead type spin default 30 min 0 max 5000",
    "option name Ponder type check default false",
    "option name Stalemate type combo default loss var loss var draw",
    "option name UCI_LimitStrength type check default false",
    "uciok",
)


def take_mode(path: Path) -> str:
    modes = path.read_text().split()
    path.write_text("\n".join(modes[1:]))
    return modes[0] if modes else ""


def main(path: Path) -> None:
    mode = take_mode(path)
    reader = PositionReader()
    history = reader.read("startpos")
    searching = ""
    for line in sys.stdin:
        with path.with_suffix(".heard").open("a") as heard:
            heard.write(line)
        words = line.split(maxsplit=1)
        answer: list[str] = []
        match words[0]:
            case "uci":
                answer = list(GREETING)
            case "isready":
                answer = ["info string warning this is a fake", "readyok"]
            case "position":
                history = reader.read(words[1])
            case "go" if mode == "die":
                print("out of cheese", file=sys.stderr, flush=True)
                sys.exit(3)
            case "go" if mode == "hang":
                time.sleep(1000)
            case "go":
                move = random.Random(len(history.plies)).choice(history.moves)
                move = {"illegal": "a1a8", "none": "(none)", "babble": ""}.get(mode, move)
                searching = f"bestmove {move}"
                answer = ["info depth 1 score cp 23 pv x"]
                if mode != "wait":
                    answer.append(searching)
            case "stop" if mode == "wait":
                answer = [searching]
            case "quit":
                return
        print(*answer, sep="\n", end="\n" if answer else "", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
