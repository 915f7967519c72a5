"""Stockfish as a process: the paper's evaluator, and the fallback of `nnue`."""
