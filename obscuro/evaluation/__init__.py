"""The value of every child of a position: by Stockfish, or by material. Knows no search.

The parts are imported where they are used: `factory.make_evaluator` makes an evaluator, `evaluator`
says what one is, `scale` turns values into centipawns. Only the evaluators themselves load numba.
"""
