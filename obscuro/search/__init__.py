"""Game-independent search of imperfect-information games: KLUSS subgames, PCFR+, one-sided GT-CFR.

Knows no chess. A game plugs in through `obscuro.search.game`. Inside search every value is ▲'s (MAX,
the side that searches), in [-1, 1].
"""
