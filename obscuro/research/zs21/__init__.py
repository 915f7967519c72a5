"""ZS21, the agent of Zhang and Sandholm 2021 (K): depth-limited 1-KLSS solved by linear programs.

`zs21_player` plays Fog of War chess by it. `trunk_game` is all that the other files know of a game:
`trunk` is the tree, `blueprint` turns the last tree into the next one, `reduction` and
`gadget_program` solve it, `widening` says what to expand. docs/algorithm.md has the rules.
"""
