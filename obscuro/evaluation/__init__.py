"""Evaluators, which give every child of a position a value. They know nothing of the search.

`factory.make_evaluator` makes one by name: `nnue` (Stockfish's network in this process),
`stockfish` (a Stockfish process), `simple`, `material`, or a plug-in. `evaluator` defines the
interface, and `scale` converts between values and centipawns. Importing this package imports none
of them, since the evaluators load numba.
"""
