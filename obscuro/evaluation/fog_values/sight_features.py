"""Features of a position that depend on what each side sees, counted by bitboards.

`FEATURES` has their names for one side, called the owner; the other side is the enemy. A position
has each of them twice: first with the side to move as the owner, then with the other side. Whoever
attacks a piece sees it. But the owner may not see the attacker: a knight, a pawn, or a bishop that
attacks a rook. A piece is *attacked out of the fog* if the owner sees none of its attackers. The
last features count pieces: what one is worth may differ from chess.
"""

import numpy as np

from obscuro.evaluation.attack_sets import attacked_squares
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.layout import BISHOPS, KINGS, KNIGHTS, PAWNS, QUEENS, ROOKS
from obscuro.rules.moves import occupied_squares, pieces_of, side_to_move
from obscuro.rules.position import load
from obscuro.rules.vision import vision

FEATURES = (
    "undefended pawns attacked out of the fog",
    "knights and bishops attacked out of the fog",
    "rooks attacked out of the fog",
    "queens attacked out of the fog",
    "king attacked out of the fog",
    "undefended pawns attacked in sight",
    "undefended knights and bishops attacked in sight",
    "rooks attacked in sight",
    "queens attacked in sight",
    "king attacked in sight",
    "tens of squares seen",
    "enemy king seen",
    "pawns on the last two ranks that the enemy does not see",
    "pawns on the last two ranks that the enemy sees",
    "pieces that the enemy does not see, without pawns",
    "squares at the enemy king attacked by pieces that the enemy does not see",
    "pawns",
    "knights",
    "bishops",
    "rooks",
    "queens",
)
FEATURE_COUNT = len(FEATURES)
ALL_FEATURES = 2 * FEATURE_COUNT  # of the side to move, then of the other side

_WHITE_FAR = np.uint64(0x00FFFF0000000000)  # ranks 6 and 7
_BLACK_FAR = np.uint64(0x0000000000FFFF00)  # ranks 3 and 2
_NONE = np.uint64(0)


@kernel
def attacks_by_sight(tables, pos, side, seen):
    """Return what the pieces of `side` on squares `seen` attack, and what its others attack.

    seen: a mask, as uint64. Both masks hold attacks on own pieces too.
    """
    occupied = occupied_squares(pos)
    own = pieces_of(pos, side)
    return (
        attacked_squares(tables, pos, own & seen, side, occupied),
        attacked_squares(tables, pos, own & ~seen, side, occupied),
    )


@kernel
def _count_for(
    tables, pos, owner, sight, enemy_sight, defended, in_sight, out_of_fog, hidden, found, first
):
    """Write the features of one owner to found[first:].

    sight, enemy_sight: what both see. defended: what the owner attacks. in_sight, out_of_fog: what
    the enemy attacks by pieces that the owner sees, and by others. hidden: what the owner attacks
    by pieces that the enemy does not see.
    """
    own = pieces_of(pos, owner)
    enemy = pieces_of(pos, 1 - owner)
    from_fog = own & out_of_fog & ~in_sight
    plain = own & in_sight
    minors = pos[KNIGHTS] | pos[BISHOPS]
    pieces = minors | pos[ROOKS] | pos[QUEENS]
    far = own & pos[PAWNS] & (_WHITE_FAR if owner == 0 else _BLACK_FAR)
    enemy_king = pos[KINGS] & enemy
    around = tables.king[lowest_square(enemy_king)] if enemy_king else _NONE
    found[first] = popcount(from_fog & pos[PAWNS] & ~defended)
    found[first + 1] = popcount(from_fog & minors)
    found[first + 2] = popcount(from_fog & pos[ROOKS])
    found[first + 3] = popcount(from_fog & pos[QUEENS])
    found[first + 4] = popcount(from_fog & pos[KINGS])
    found[first + 5] = popcount(plain & pos[PAWNS] & ~defended)
    found[first + 6] = popcount(plain & minors & ~defended)
    found[first + 7] = popcount(plain & pos[ROOKS])
    found[first + 8] = popcount(plain & pos[QUEENS])
    found[first + 9] = popcount(plain & pos[KINGS])
    found[first + 10] = popcount(sight & ~own) / 10.0
    found[first + 11] = popcount(sight & enemy_king)
    found[first + 12] = popcount(far & ~enemy_sight)
    found[first + 13] = popcount(far & enemy_sight)
    found[first + 14] = popcount(own & pieces & ~enemy_sight)
    found[first + 15] = popcount(around & hidden)
    found[first + 16] = popcount(own & pos[PAWNS])
    found[first + 17] = popcount(own & pos[KNIGHTS])
    found[first + 18] = popcount(own & pos[BISHOPS])
    found[first + 19] = popcount(own & pos[ROOKS])
    found[first + 20] = popcount(own & pos[QUEENS])


@kernel
def sight_features(tables, pos, found):
    """Write the features of a position to found, float64[ALL_FEATURES]."""
    mover = side_to_move(pos)
    other = 1 - mover
    sight = vision(tables, pos, mover)
    other_sight = vision(tables, pos, other)
    own_seen, own_hidden = attacks_by_sight(tables, pos, mover, other_sight)
    their_seen, their_hidden = attacks_by_sight(tables, pos, other, sight)
    own, theirs = own_seen | own_hidden, their_seen | their_hidden
    _count_for(
        tables, pos, mover, sight, other_sight, own, their_seen, their_hidden, own_hidden, found, 0
    )
    _count_for(
        tables,
        pos,
        other,
        other_sight,
        sight,
        theirs,
        own_seen,
        own_hidden,
        their_hidden,
        found,
        FEATURE_COUNT,
    )


@kernel
def fill_features(tables, positions, found):
    """Write the features of positions uint64[n, 8] to found, float64[n, ALL_FEATURES]."""
    for index in range(positions.shape[0]):
        sight_features(tables, load(positions, index), found[index])
