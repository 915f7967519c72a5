"""A UCI engine that plays the same moves in every process, and does what files in a directory say.

    deadly_engine.py DIRECTORY

If there is a file `kill`, one engine takes it away and kills its parent process, which is the
worker. While there is a file `hang`, an engine that is to move writes its process id into the FIFO
`pids`, and waits. A script of its own, started as a process; it loads no compiled code.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

from obscuro.rules.board import FogOfWarBoard


def read_position(words: list[str]) -> FogOfWarBoard:
    fen = words[1] == "fen"
    board = FogOfWarBoard(" ".join(words[2:8])) if fen else FogOfWarBoard()
    for move in words[words.index("moves") + 1 :] if "moves" in words else []:
        board.push_uci(move)
    return board


def obey(directory: Path) -> bool:
    """Do what the files say; return whether to answer."""
    try:
        (directory / "kill").unlink()
        os.kill(os.getppid(), signal.SIGKILL)
        return False
    except FileNotFoundError:
        pass
    if not (directory / "hang").exists():
        return True
    with open(directory / "pids", "w", encoding="utf-8") as pids:
        print(os.getpid(), file=pids, flush=True)
    return False


def main(directory: Path) -> None:
    board = FogOfWarBoard()
    for line in sys.stdin:
        match line.split():
            case ["uci"]:
                print("id name Deadly")
                print("option name UCI_Variant type combo default fogofwar var fogofwar")
                print("uciok", flush=True)
            case ["isready"]:
                print("readyok", flush=True)
            case ["position", *_]:
                board = read_position(line.split())
            case ["go", *_] if obey(directory):
                moves = sorted(move.uci() for move in board.legal_moves)
                move = random.Random(len(board.move_stack)).choice(moves)
                print(f"bestmove {move}", flush=True)
            case ["quit"]:
                return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
