"""Small two-player zero-sum games with known solutions, which prove `obscuro.search` correct.

A module such as `kuhn`, `leduc` or `liars_dice` holds the rules of one game and implements the
protocol of `extensive_form`. `game_tree` enumerates a game, `best_response` computes exact values
of strategies, and `search_game` adapts a game to the interface through which `obscuro.search` plays
chess.
"""
