"""What a side without a move gets: the rule about the end in which servers differ.

docs/referee.md says which server has which rule. The import loads no package.
"""

LOSS, DRAW = "loss", "draw"
STALEMATES = (LOSS, DRAW)
"""The rules by name. The papers and chess.com: a loss. pychess and OpenSpiel: a draw."""


def known_stalemate(name: str) -> str:
    """Return the name of a rule. Raises ValueError, one line, if there is none of this name."""
    if name not in STALEMATES:
        raise ValueError(f"stalemate is {' or '.join(STALEMATES)}, not {name!r}")
    return name


def value_of_stalemating(stalemate: str) -> float:
    """Return what it is worth to leave the other side without a move, in the mover's view.

    stalemate: one of STALEMATES.
    """
    return 0.0 if stalemate == DRAW else 1.0
