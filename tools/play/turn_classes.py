"""Classes of turns by what is left, by what is hidden, and by what is attacked.

All is in the view of the side to move. Every turn is in one class of a group, but for turns whose
|P| the file does not say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from obscuro.matches.coverage_table import LARGEST_SIZES, size_name
from tools.play.curve_fit import Mask, Numbers
from tools.play.turn_values import Turns

Classes = dict[str, Mask]
"""Masks of turns by the name of a class."""


def by_pieces(turns: Turns) -> Classes:
    """Classes by the knights, bishops, rooks and queens that both sides have left."""
    pieces, queens = turns.pieces, turns.queens > 0
    few, middle = pieces < 5, (pieces >= 5) & (pieces < 9)
    return {
        "12-14 pieces": pieces >= 12,
        "9-11 pieces": (pieces >= 9) & (pieces < 12),
        "5-8 pieces, queens": middle & queens,
        "5-8 pieces, no queens": middle & ~queens,
        "0-4 pieces, queens": few & queens,
        "0-4 pieces, no queens": few & ~queens,
    }


def _by_count(count: Numbers, words: str) -> Classes:
    return {
        f"{first}-{first + width} {words}": (count >= first) & (count <= first + width)
        for first, width in ((0, 4), (5, 3), (9, 3), (13, 3))
    }


def by_hidden(turns: Turns) -> Classes:
    """Classes by how many of the enemy's pieces and pawns the side to move does not see."""
    return _by_count(turns.hidden, "of the enemy's unseen")


def by_covered(turns: Turns) -> Classes:
    """Classes by how many of its own pieces and pawns the enemy does not see."""
    return _by_count(turns.covered, "of its own unseen")


def by_difference(turns: Turns) -> Classes:
    """Classes by how many more pieces and pawns are unseen to the enemy than to the side to move."""
    more = turns.covered - turns.hidden
    return {
        "sees less by 4 or more": more <= -4,
        "sees less by 1-3": (more < 0) & (more > -4),
        "sees as much": more == 0,
        "sees more by 1-3": (more > 0) & (more < 4),
        "sees more by 4 or more": more >= 4,
    }


def by_belief(turns: Turns) -> Classes:
    """Classes by |P| of the side to move; turns for which the file does not say it are in none."""
    row = np.searchsorted(LARGEST_SIZES, turns.belief)
    told = turns.belief >= 0
    sizes = (*LARGEST_SIZES, LARGEST_SIZES[-1] + 1)
    return {f"P: {size_name(size)}": told & (row == at) for at, size in enumerate(sizes)}


def by_king(turns: Turns) -> Classes:
    """Classes by whether the king of the side to move is attacked, and by a piece it sees."""
    seen, unseen = turns.seen_attackers > 0, turns.unseen_attackers > 0
    return {
        "king not attacked": ~seen & ~unseen,
        "attacked, attackers seen": seen & ~unseen,
        "attacked by an unseen piece": unseen,
    }


def by_attacked(turns: Turns) -> Classes:
    """Classes by which pieces of the side to move are attacked, and by a piece it does not see."""
    major, minor = turns.unseen_major > 0, turns.unseen_minor > 0
    return {
        "none attacked": turns.attacked == 0,
        "attacked, all attackers seen": (turns.attacked > 0) & ~major & ~minor,
        "knight or bishop, by an unseen piece": minor & ~major,
        "rook or queen, by an unseen piece": major,
    }


GROUPS: Mapping[str, Callable[[Turns], Classes]] = {
    "pieces": by_pieces,
    "hidden": by_hidden,
    "covered": by_covered,
    "difference": by_difference,
    "belief": by_belief,
    "king": by_king,
    "attacked": by_attacked,
}
