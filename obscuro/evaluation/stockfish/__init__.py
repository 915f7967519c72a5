"""Stockfish as a process: the evaluator of the paper, and the fallback of `nnue`."""
