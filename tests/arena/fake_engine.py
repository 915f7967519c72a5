"""A UCI engine that plays random moves by the protocol, or misbehaves as its arguments say.

    fake_engine.py [illegal | die | hang | wrong-belief | inexact]

A script of its own, started as a process; it loads no compiled code.
"""

from __future__ import annotations

import random
import sys
import time

from obscuro.fog.board import FogOfWarBoard

GREETING = (
    "id name Fake 1.0",
    "id author nobody",
    "option name UCI_Variant type combo default fogofwar var fogofwar",
    "option name Evaluator type combo default stockfish var stockfish var material",
    "option name Move Overhead type spin default 30 min 0 max 5000",
    "uciok",
)


def read_position(words: list[str]) -> FogOfWarBoard:
    board = FogOfWarBoard()
    moves = words[words.index("moves") + 1 :] if "moves" in words else []
    if words[1] == "fen":
        board = FogOfWarBoard(" ".join(words[2:8]))
    for move in moves:
        board.push_uci(move)
    return board


def go(board: FogOfWarBoard, mode: str) -> list[str]:
    if mode == "die":
        print("out of cheese", file=sys.stderr, flush=True)
        sys.exit(3)
    while mode == "hang":
        time.sleep(60)
    moves = sorted(move.uci() for move in board.legal_moves)
    move = "e2e5" if mode == "illegal" else random.Random(len(board.move_stack)).choice(moves)
    exact = "false" if mode == "inexact" else "true"
    ply = len(board.move_stack)
    return [
        f"info depth 4.5 seldepth 9 nodes {1000 + ply} nps 1 time 7 score cp 31 pv {move}",
        f"info string belief 2 exact {exact} sampled 1 carried 10 infosets 20 iterations 30"
        " expansions 40 evals 50 gadget resolve",
        f"info string policy {move} 0.7500 {moves[0]} 0.2500",
        f"info string play {move} 1.0000",
        f"bestmove {move}",
    ]


def belief(board: FogOfWarBoard, mode: str) -> list[str]:
    truth = board.epd(en_passant="legal") if mode != "wrong-belief" else "8/8/8/8/8/8/8/8 w - -"
    return [
        "info string belief size 2 exact true",
        "info string belief fen 8/8/8/8/8/8/8/K1k5 w - -",
        f"info string belief fen {truth}",
    ]


def main(mode: str) -> None:
    board = FogOfWarBoard()
    for line in sys.stdin:
        words = line.split()
        match words[0]:
            case "uci":
                answer = list(GREETING)
            case "isready":
                answer = ["info string warning this is a fake", "readyok"]
            case "position":
                board, answer = read_position(words), []
            case "go":
                answer = go(board, mode)
            case "belief":
                answer = belief(board, mode)
            case "quit":
                return
            case _:
                answer = []
        print(*answer, sep="\n", end="\n" if answer else "", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
