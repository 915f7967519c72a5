"""Bitboards in numba: position, attacks, moves, hash, FEN. Knows no fog."""
