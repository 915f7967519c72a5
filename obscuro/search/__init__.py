"""Game-independent search of imperfect-information games: KLUSS subgames, PCFR+, one-sided GT-CFR.

It knows no chess: a game plugs in through `obscuro.search.game`. ▲ is the side that searches (MAX),
▼ the other one (MIN). Every value in here is ▲'s, in [-1, 1], unless a name or a comment says
otherwise.
"""
