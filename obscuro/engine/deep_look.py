"""Trial: the move that was chosen is checked by Stockfish's search in positions of P."""

import math
import subprocess

import chess
import numpy as np

from obscuro.evaluation.stockfish_program import stockfish_path
from obscuro.rules.position import to_fen

PAWN = 3.61 / 2.08  # of Stockfish 15.1, in the papers' pawns


class DeepLook:
    def __init__(self):
        self.process = subprocess.Popen(
            [stockfish_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.send("uci")
        self.until("uciok")
        self.send("setoption name Hash value 16")

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, word):
        lines = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("Stockfish died")
            lines.append(line)
            if line.startswith(word):
                return lines

    def values(self, fen, nodes, moves, tau):
        self.send(f"setoption name MultiPV value {max(1, len(moves))}")
        self.send(f"position fen {fen}")
        tail = f" searchmoves {' '.join(moves)}" if moves else ""
        self.send(f"go nodes {nodes}{tail}")
        found = {}
        for line in self.until("bestmove"):
            words = line.split()
            if "pv" in words and "score" in words and "upperbound" not in words and "lowerbound" not in words:
                i = words.index("score")
                if words[i + 1] == "cp":
                    value = math.tanh(int(words[i + 2]) * PAWN / 100 / tau)
                else:
                    value = 0.999 if int(words[i + 2]) > 0 else -0.999
                found[words[words.index("pv") + 1]] = value
        return found

    def better(self, positions, weights, names, policy, played, nodes, tau, margin):
        boards = []
        for words, weight in zip(positions, weights):
            fen = to_fen(words)
            board = chess.Board(fen)
            if board.status() != chess.STATUS_VALID:
                return played  # a king can be captured, or the like
            if any(True for _ in board.legal_moves):
                boards.append((fen, float(weight), board))
        if not boards:
            return played
        each = max(100, int(nodes / (2 * len(boards))))
        votes = {}
        for fen, weight, _ in boards:
            best = self.values(fen, each, [], tau)
            for move, value in best.items():
                votes[move] = votes.get(move, 0) + weight
        ranked = sorted(votes, key=lambda m: -votes[m])[:4]
        own = [names[i] for i in np.argsort(-policy)[:4] if policy[i] >= 0.02]
        candidates = list(dict.fromkeys([names[played], *own, *ranked]))
        candidates = [m for m in candidates if m in names]
        if len(candidates) == 1:
            return played
        total = dict.fromkeys(candidates, 0.0)
        for fen, weight, board in boards:
            legal = [m for m in candidates if chess.Move.from_uci(m) in board.legal_moves]
            found = self.values(fen, each, legal, tau) if legal else {}
            for move in candidates:
                total[move] += weight * found.get(move, -1.0)
        mass = sum(weight for _, weight, _ in boards)
        best = max(candidates, key=lambda m: total[m])
        if (total[best] - total[names[played]]) / mass > margin:
            return names.index(best)
        return played
