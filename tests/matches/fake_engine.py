"""A UCI engine that plays random moves by the protocol, or misbehaves as its arguments say.

    fake_engine.py [MODE]

fog: it reads `position fog`. orthodox: it has no option UCI_Variant and none Stalemate. illegal,
die, hang: in place of a move. wrong-belief, inexact, refuses, mute: when it is asked for its
coverage. Every line that comes in is appended to the file $FAKE_ENGINE_HEARD, if there is one. A
script of its own, started as a process; it loads no compiled code.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Sequence

from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import FogGame

VARIANT = "option name UCI_Variant type combo default fogofwar var fogofwar"
STALEMATE = "option name Stalemate type combo default loss var loss var draw"


def greeting(mode: str) -> list[str]:
    said = ["id name Fake 1.0", "id author nobody"]
    if mode == "fog":
        said.append("info string capabilities position-fog dances coverage")
    elif mode != "orthodox":
        said += ["info string capabilities coverage", VARIANT]
    return [
        *said,
        "option name Evaluator type combo default stockfish var stockfish var material",
        "option name Move Overhead type spin default 30 min 0 max 5000",
        *([STALEMATE] if mode != "orthodox" else []),
        "option name Seed type spin default 0 min 0 max 1000",
        "option name Ponder type check default false",
        "uciok",
    ]


def read_position(words: list[str]) -> tuple[list[str], int]:
    """Return the legal moves of a position in either form, sorted, and how much was told."""
    fog = words[1] == "fog"
    start = words[3:] if fog else words[1:]
    board = FogOfWarBoard(" ".join(start[1:7])) if start[0] == "fen" else FogOfWarBoard()
    keyword = "turns" if fog else "moves"
    tokens = words[words.index(keyword) + 1 :] if keyword in words else []
    if fog:
        witness = FogGame(words[2] == "white", board)
        for token in tokens:
            witness.take(token)
        return sorted(witness.history().moves), len(tokens)
    for move in tokens:
        board.push_uci(move)
    return sorted(move.uci() for move in board.legal_moves), len(tokens)


def go(moves: Sequence[str], ply: int, mode: str) -> list[str]:
    if mode == "die":
        print("out of cheese", file=sys.stderr, flush=True)
        sys.exit(3)
    while mode == "hang":
        time.sleep(60)
    move = "e2e5" if mode == "illegal" else random.Random(ply).choice(moves)
    exact = "false" if mode == "inexact" else "true"
    return [
        f"info depth 4.5 seldepth 9 nodes {1000 + ply} nps 1 time 7 score cp 31 pv {move}",
        f"info string belief 2 exact {exact} sampled 1 carried 10 infosets 20 iterations 30"
        " expansions 40 evals 50 gadget resolve",
        f"info string policy {move} 0.7500 {moves[0]} 0.2500",
        f"info string play {move} 1.0000",
        f"bestmove {move}",
    ]


def coverage(fen: str, mode: str) -> list[str]:
    board = FogOfWarBoard(f"{fen} 0 1")
    if mode == "refuses":
        return ["info string error coverage: no"]
    if mode == "mute":
        return []
    believed = "false" if mode in ("wrong-belief", "inexact") else "true"
    if len(list(board.legal_moves)) == 1:
        return [f"info string coverage belief {believed} search none"]
    return [f"info string coverage belief {believed} infoset true expanded false weight 0.25"]


def main(mode: str) -> None:
    heard = os.environ.get("FAKE_ENGINE_HEARD")
    moves, ply = read_position(["position", "startpos"])
    for line in sys.stdin:
        if heard:
            with open(heard, "a", encoding="utf-8") as stream:
                stream.write(line)
        words = line.split()
        answer: list[str] = []
        match words[0]:
            case "uci":
                answer = greeting(mode)
            case "isready":
                answer = ["info string warning this is a fake", "readyok"]
            case "position":
                moves, ply = read_position(words)
            case "go":
                answer = go(moves, ply, mode)
            case "coverage":
                answer = coverage(" ".join(words[1:]), mode)
            case "quit":
                return
        print(*answer, sep="\n", end="\n" if answer else "", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
