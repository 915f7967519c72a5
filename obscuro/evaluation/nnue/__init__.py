"""Stockfish's network in this process, read from the user's own copy of Stockfish.

Importing this package imports none of its modules. The modules that read and store the network do
not load numba.
"""
