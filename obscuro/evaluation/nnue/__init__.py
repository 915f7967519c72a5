"""Stockfish's network in this process: the user's own copy, read from the Stockfish installed here.

The parts are imported where they are used; reading and keeping the network loads no numba.
"""
