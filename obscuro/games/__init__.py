"""Small two-player zero-sum games whose exact answers are known, to prove `obscuro.search`.

A game is a few lines of rules (`kuhn`, `leduc`, `liars_dice`, …) behind one protocol (`extensive_form`).
`tree` enumerates it, `best_response` measures strategies exactly, and `search_game` gives it
the interface through which `obscuro.search` plays chess.
"""
