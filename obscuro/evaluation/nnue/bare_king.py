"""How near a lone king is to its end: what the network does not say of won endings.

To the network all quiet positions with a rook or a queen against a lone king are worth about the
same, or the piece stands best in a corner. So a search that sees a few plies ahead has no plan. In
the fog the plan is search for information. A king that is confined can be on few squares. And a lone
king sees only the squares next to it: it walks into lines that it does not see.

This concerns only positions where one side has nothing but its king and has lost. All others are
worth what the network says.
"""

from obscuro.evaluation.attack_sets import attacked_squares
from obscuro.evaluation.nnue.see import PAWN_UNITS
from obscuro.evaluation.nnue.static_value import pieces_units
from obscuro.evaluation.stockfish.versions import UNITS_PER_PAPER_PAWN
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.layout import KINGS, ONE, PAWNS, QUEENS, ROOKS
from obscuro.rules.moves import occupied_squares, pieces_of, side_to_move

EXPOSED_PAWNS = 6.0  # of a king to move, all of whose squares are attacked
CONFINED_PAWNS = 2.0  # of a king without a square, beside one that may go everywhere
NEAR_PAWNS = 0.1  # for each step by which the kings are nearer to each other
FARTHEST = 7  # steps between two squares of the board
SQUARES = 64
CALM_PAWNS = 6.0  # where pawns have to decide, what is more than this counts less
CALM_SLOPE = 0.4  # so 20 pawns become 11.6, less than a queen is worth here
WON_UNITS = 500  # below so many of Stockfish's units nothing is decided
NO_SIDE = -1


@kernel
def region_of_king(tables, king, closed):
    """Return the squares that a king can reach, uint64, its own among them.

    king: its square, as a bit. closed: squares that it does not enter.
    """
    region = king
    edge = king
    while edge:
        square = lowest_square(edge)
        edge &= edge - ONE
        found = tables.king[square] & ~closed & ~region
        region |= found
        edge |= found
    return region


@kernel
def side_of_won_bare_king(pos, units):
    """Return the side that has lost with nothing but its king, 0 = White, or NO_SIDE.

    units: what a search says of the position, in the view of the side that is not to move.
    """
    if abs(units) < WON_UNITS:
        return NO_SIDE
    side = side_to_move(pos) if units > 0 else 1 - side_to_move(pos)
    own = pieces_of(pos, side)
    return side if own == pos[KINGS] & own else NO_SIDE


@kernel
def progress_pawns(tables, pos, side):
    """Return what brings the bare king of `side` nearer to its end, in pawns.

    At least 0. Both kings are on the board.
    """
    bit = pos[KINGS] & pieces_of(pos, side)
    others = pieces_of(pos, 1 - side)
    king, other = lowest_square(bit), lowest_square(pos[KINGS] & others)
    files, ranks = abs((king & 7) - (other & 7)), abs((king >> 3) - (other >> 3))
    attacked = attacked_squares(tables, pos, others, 1 - side, occupied_squares(pos) & ~bit)
    confined = SQUARES - popcount(region_of_king(tables, bit, attacked | others))
    progress = CONFINED_PAWNS * confined / SQUARES + NEAR_PAWNS * (FARTHEST - max(files, ranks))
    if side_to_move(pos) == side:
        moves = tables.king[king]
        progress += EXPOSED_PAWNS * popcount(moves & attacked) / popcount(moves)
    return progress


@kernel
def won_ending_pawns(tables, pos, side, units):
    """Return what a won ending against the bare king of `side` is worth to the other one, in pawns.

    units: the network's value. It counts where a pawn has to decide, without rook or queen. There it
    may be twice what it is after the promotion, so the upper part is pressed together.
    """
    if pos[PAWNS] and not (pos[ROOKS] | pos[QUEENS]):
        pawns = units / UNITS_PER_PAPER_PAWN
        return min(pawns, CALM_PAWNS + CALM_SLOPE * (pawns - CALM_PAWNS))
    material = pieces_units(pos) + PAWN_UNITS * popcount(pos[PAWNS])
    return material / UNITS_PER_PAPER_PAWN + progress_pawns(tables, pos, side)
