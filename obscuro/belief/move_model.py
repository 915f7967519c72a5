"""How plausible each move of the other side is: a model that players of all kinds share.

The probability of a move is a softmax over linear scores of all legal moves, mixed with an even
share, so that no move is impossible. The features are cheap: what is captured, whether the piece
can be captured where it lands, piece squares, and a few more. The other side knows its own pieces
and what it sees, so most features tell what it sees from what it does not.

`tools.record.move_model` fits the numbers in `move_model.json` to recorded games.
"""

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from obscuro.belief.record import OUR_SIDE, PASSED, castles_otherwise
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.castling import add_castling, castling_of
from obscuro.rules.layout import (
    BACK_RANKS,
    BISHOP,
    BLACK_LONG_PATH,
    BLACK_SHORT_PATH,
    CASTLING,
    DOUBLE_PUSH,
    EN_PASSANT,
    KIND_SHIFT,
    KING,
    KNIGHT,
    MAX_MOVES,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWN,
    PIECE_SHIFT,
    PROMOTION_SHIFT,
    QUEEN,
    RANK_3,
    RANK_6,
    ROOK,
    TO_SHIFT,
    WHITE_LONG_PATH,
    WHITE_SHORT_PATH,
)
from obscuro.rules.records import record_of
from obscuro.rules.tables import bishop_attacks, rook_attacks

FEATURES = (
    *("takes_pawn", "takes_knight", "takes_bishop", "takes_rook", "takes_queen", "takes_king"),
    "recaptures",
    "castles",
    "promotes_to_queen",
    "promotes_to_other",
    "loss_to_seen",  # pawns that the exchange on the landing square costs, by attackers it sees
    "loss_to_unseen",  # further pawns by attackers that it does not see
    "saves",  # pawns that an exchange would have cost where the piece stood, by attackers it sees
    "king_left_to_seen",  # whether its king can be captured afterwards, by an attacker it sees
    "king_left_to_unseen",
    *("moves_knight", "moves_bishop", "moves_rook", "moves_queen", "moves_king"),
    "threatens",  # pawns by which a piece that it sees and attacks is worth more than the attacker
)
TAKES = FEATURES.index("takes_pawn")
RECAPTURES = FEATURES.index("recaptures")
CASTLES = FEATURES.index("castles")
PROMOTES_TO_QUEEN = FEATURES.index("promotes_to_queen")
PROMOTES_TO_OTHER = FEATURES.index("promotes_to_other")
LOSS_TO_SEEN = FEATURES.index("loss_to_seen")
LOSS_TO_UNSEEN = FEATURES.index("loss_to_unseen")
SAVES = FEATURES.index("saves")
KING_LEFT_TO_SEEN = FEATURES.index("king_left_to_seen")
KING_LEFT_TO_UNSEEN = FEATURES.index("king_left_to_unseen")
THREATENS = FEATURES.index("threatens")
MOVES_PAWN = FEATURES.index("moves_knight") - 1  # no feature: only differences count

EVEN_SHARE = 0.1  # of the probability; it goes to all legal moves alike
PIECES = 6
EXP_STEPS = 256  # entries of the table of exponentials between 1 and 1/e
EXP_SIZE = 16 * EXP_STEPS
MOST_PIECES = 32  # of one side, with room to spare: a belief that was rebuilt may have more than 16

_ZERO = np.uint64(0)
_SEVEN = np.uint64(7)
_EIGHT = np.uint64(8)
_NINE = np.uint64(9)
_FAR_ROOKS = np.uint64(0x8000000000000080)  # h1, h8
_NEAR_ROOKS = np.uint64(0x0100000000000001)  # a1, a8
_FLIP = 56  # a square's number xor this is its mirror image for the other colour
_KING_VALUE = 100.0  # pawns; only an undefended piece is lost to a king


def make_model(features: Mapping[str, float], squares: np.typing.ArrayLike) -> Any:
    """Make a model, a record, of the scores of all FEATURES and of the piece squares.

    squares: [PIECES, 64], the score of each piece (pawn … king) on each square, as White sees them.
    """
    return record_of(
        {
            "features": np.array([features[name] for name in FEATURES], dtype=np.float32),
            "squares": np.array(squares, dtype=np.float32).reshape(PIECES, 64),
            # pawns; a king's exchange is not counted, see `king_left_to_seen`
            "values": np.array((1, 3, 3, 5, 9, 0), dtype=np.float32),
            "exponentials": np.exp(-np.arange(EXP_SIZE) / EXP_STEPS).astype(np.float32),
        }
    )


def load_model(path: Path | None = None) -> Any:
    """Load the fitted model that comes with the package, or one of another file."""
    file = path or resources.files(__package__).joinpath("move_model.json")
    figures = json.loads(file.read_text(encoding="ascii"))
    return make_model(figures["features"], figures["squares"])


def make_scratch() -> Any:
    """Memory for `score_moves` and what follows from it, one for each thread."""
    return record_of(
        {
            "moves": np.zeros(MAX_MOVES, dtype=np.uint32),
            "scores": np.zeros(MAX_MOVES, dtype=np.float32),
            "hashes": np.zeros(MAX_MOVES, dtype=np.uint64),
            "shares": np.zeros(MAX_MOVES, dtype=np.uint64),
            "squares": np.zeros(MOST_PIECES, dtype=np.int64),
            "pieces": np.zeros(MOST_PIECES, dtype=np.int64),
            "reaches": np.zeros(MOST_PIECES, dtype=np.uint64),
        }
    )


@kernel(forceinline=True)
def _pawn_attacks(pawns, white):
    if white:
        return ((pawns & NOT_FILE_A) << _SEVEN) | ((pawns & NOT_FILE_H) << _NINE)
    return ((pawns & NOT_FILE_H) >> _SEVEN) | ((pawns & NOT_FILE_A) >> _NINE)


@kernel(forceinline=True)
def _loss(value, square, defended, pawns, minors, rooks, queens, king):
    """Pawns that the cheapest capture of a piece on a square wins; the masks: attacked squares."""
    if square & pawns:
        cheapest = np.float32(1)
    elif square & minors:
        cheapest = np.float32(3)
    elif square & rooks:
        cheapest = np.float32(5)
    elif square & queens:
        cheapest = np.float32(9)
    elif square & king:
        cheapest = np.float32(_KING_VALUE)
    else:
        return np.float32(0)
    return max(value - cheapest, np.float32(0)) if defended else value


@kernel
def score_moves(tables, model, known, a, b, c, recapture, scratch):
    """Score all legal moves of the other side in one position; return their number.

    known: what our side knows, uint64[KNOWN_WORDS], and a, b, c: the record; see `record`.
    recapture: a mask of the square where our last move captured; 0 if it did not. Writes the moves
    into `scratch.moves` as move words, and their scores into `scratch.scores`.
    """
    weights, squares, values = model.features, model.squares, model.values
    moves, scores = scratch.moves, scratch.scores
    white = known[OUR_SIDE] == 1
    flip = 0 if white else _FLIP
    own = known[0] | known[1] | known[2] | known[3] | known[4] | known[5]
    enemy = a | b | c
    occupied = own | enemy
    castlers = a & b & c

    # What the mover's pieces reach: once, by two of them at least.
    once, twice = _ZERO, _ZERO
    king_square = -1
    pieces = 0
    left = enemy
    while left and pieces < MOST_PIECES:
        square = lowest_square(left)
        bit = left & (~left + ONE)
        left ^= bit
        in_b, in_c = b & bit & ~castlers, c & bit
        if a & bit:
            if in_c:
                piece, reach = ROOK, rook_attacks(tables, square, occupied)
            elif in_b:
                piece = QUEEN
                reach = rook_attacks(tables, square, occupied)
                reach |= bishop_attacks(tables, square, occupied)
            else:
                piece, reach = KING, tables.king[square]
                king_square = square
        elif in_b:
            if in_c:
                piece, reach = BISHOP, bishop_attacks(tables, square, occupied)
            else:
                piece, reach = KNIGHT, tables.knight[square]
        else:
            piece, reach = PAWN, _pawn_attacks(bit, white)
        twice |= once & reach
        once |= reach
        scratch.squares[pieces] = square
        scratch.pieces[pieces] = piece
        scratch.reaches[pieces] = reach
        pieces += 1

    # What our pieces attack: all of them, and those that the mover sees.
    seen = own & once
    by_pawns = _pawn_attacks(known[0], not white)
    by_seen_pawns = _pawn_attacks(known[0] & seen, not white)
    by_minors = by_rooks = by_queens = by_king = _ZERO
    by_seen_minors = by_seen_rooks = by_seen_queens = by_seen_king = _ZERO
    left = own & ~known[0]
    while left:
        square = lowest_square(left)
        bit = left & (~left + ONE)
        left ^= bit
        if known[1] & bit:
            reach = tables.knight[square]
            by_minors |= reach
            by_seen_minors |= reach if seen & bit else _ZERO
        elif known[2] & bit:
            reach = bishop_attacks(tables, square, occupied)
            by_minors |= reach
            by_seen_minors |= reach if seen & bit else _ZERO
        elif known[3] & bit:
            reach = rook_attacks(tables, square, occupied)
            by_rooks |= reach
            by_seen_rooks |= reach if seen & bit else _ZERO
        elif known[4] & bit:
            reach = rook_attacks(tables, square, occupied) | bishop_attacks(
                tables, square, occupied
            )
            by_queens |= reach
            by_seen_queens |= reach if seen & bit else _ZERO
        else:
            by_king = tables.king[square]
            by_seen_king = by_king if seen & bit else _ZERO
    attacked_by_seen = (
        by_seen_pawns | by_seen_minors | by_seen_rooks | by_seen_queens | by_seen_king
    )
    attacked = by_pawns | by_minors | by_rooks | by_queens | by_king

    # Who attacks the mover's king, and where a piece would block a single attacker's line.
    attackers, block = _ZERO, _ZERO
    if king_square >= 0 and attacked >> np.uint64(king_square) & ONE:
        diagonals = bishop_attacks(tables, king_square, occupied)
        lines = rook_attacks(tables, king_square, occupied)
        on_diagonals = diagonals & (known[2] | known[4])
        on_lines = lines & (known[3] | known[4])
        attackers = on_diagonals | on_lines
        if popcount(attackers) == 1:
            square = lowest_square(attackers)
            if on_diagonals:
                block = diagonals & bishop_attacks(tables, square, occupied)
            else:
                block = lines & rook_attacks(tables, square, occupied)
        attackers |= tables.knight[king_square] & known[1]
        attackers |= tables.king[king_square] & known[5]
        attackers |= _pawn_attacks(ONE << np.uint64(king_square), white) & known[0]

    count = 0
    for k in range(pieces):
        square, piece, reach = scratch.squares[k], scratch.pieces[k], scratch.reaches[k]
        bit = ONE << np.uint64(square)
        value = values[piece]
        base = -squares[piece, square ^ flip]
        if piece != PAWN:
            base += weights[MOVES_PAWN + piece]
        if piece != KING and attacked_by_seen & bit:
            base += weights[SAVES] * _loss(
                value, bit, once & bit != 0,
                by_seen_pawns, by_seen_minors, by_seen_rooks, by_seen_queens, by_seen_king,
            )  # fmt: skip
        if piece == PAWN:
            if white:
                pushes = (bit << _EIGHT) & ~occupied
                pushes |= ((pushes & RANK_3) << _EIGHT) & ~occupied
            else:
                pushes = (bit >> _EIGHT) & ~occupied
                pushes |= ((pushes & RANK_6) >> _EIGHT) & ~occupied
            passed = ONE << known[PASSED] if known[PASSED] else _ZERO
            targets = pushes | (reach & (own | (passed & ~occupied)))
        else:
            targets = reach & ~enemy
        while targets:
            target = lowest_square(targets)
            landing = targets & (~targets + ONE)
            targets ^= landing
            score = base
            if own & landing:
                victim = PAWN
                if known[1] & landing:
                    victim = KNIGHT
                elif known[2] & landing:
                    victim = BISHOP
                elif known[3] & landing:
                    victim = ROOK
                elif known[4] & landing:
                    victim = QUEEN
                elif known[5] & landing:
                    victim = KING
                score += weights[TAKES + victim]
                if landing & recapture:
                    score += weights[RECAPTURES]
            kind = 0
            pushed = False
            if piece == PAWN:
                pushed = (target - square) & 7 == 0
                if abs(target - square) == 16:
                    kind = DOUBLE_PUSH
                elif not pushed and not own & landing:
                    kind = EN_PASSANT
                    score += weights[TAKES]
            if piece == KING:
                if landing & attacked:
                    if landing & attacked_by_seen:
                        score += weights[KING_LEFT_TO_SEEN]
                    else:
                        score += weights[KING_LEFT_TO_UNSEEN]
            else:
                if landing & attacked:
                    defended = (once if pushed else twice) & landing != 0
                    loss = _loss(
                        value, landing, defended, by_pawns, by_minors, by_rooks, by_queens, by_king
                    )
                    by_seen = _loss(
                        value, landing, defended,
                        by_seen_pawns, by_seen_minors, by_seen_rooks, by_seen_queens, by_seen_king,
                    )  # fmt: skip
                    score += weights[LOSS_TO_SEEN] * by_seen
                    score += weights[LOSS_TO_UNSEEN] * (loss - by_seen)
                remaining = attackers & ~landing
                if remaining and not landing & block:
                    if remaining & seen:
                        score += weights[KING_LEFT_TO_SEEN]
                    else:
                        score += weights[KING_LEFT_TO_UNSEEN]
            if piece <= KNIGHT:  # a fork or an attack by a cheap piece
                hit = seen & ~landing
                if piece == PAWN:
                    hit &= _pawn_attacks(landing, white)
                else:
                    hit &= tables.knight[target]
                hit &= (
                    known[3]
                    | known[4]
                    | known[5]
                    | (known[1] | known[2] if piece == PAWN else _ZERO)
                )
                if hit:
                    worth = np.float32(3)
                    if hit & (known[4] | known[5]):
                        worth = np.float32(9)
                    elif hit & known[3]:
                        worth = np.float32(5)
                    score += weights[THREATENS] * (worth - value)
            word = (
                np.uint64(square)
                | np.uint64(target) << TO_SHIFT
                | np.uint64(piece) << PIECE_SHIFT
                | np.uint64(kind) << KIND_SHIFT
            )
            if piece == PAWN and landing & BACK_RANKS:
                for promotion in range(1, 5):
                    moves[count] = word | np.uint64(promotion) << PROMOTION_SHIFT
                    scores[count] = (
                        score
                        + (weights[PROMOTES_TO_QUEEN if promotion == 4 else PROMOTES_TO_OTHER])
                    )
                    count += 1
            else:
                moves[count] = word
                scores[count] = score + squares[piece, target ^ flip]
                count += 1
    if castlers and castles_otherwise(a, b, c):
        side = 0 if white else 1
        castling = castling_of(a & ~(b | c), castlers, side)
        first = count
        count = add_castling(castling, side, occupied, moves, count)
        for k in range(first, count):
            scores[k] = weights[CASTLES]
    elif castlers and king_square >= 0:
        short_path = WHITE_SHORT_PATH if white else BLACK_SHORT_PATH
        long_path = WHITE_LONG_PATH if white else BLACK_LONG_PATH
        for step in (2, -2):
            rook, path = (_FAR_ROOKS, short_path) if step == 2 else (_NEAR_ROOKS, long_path)
            if castlers & rook and not occupied & path:
                moves[count] = (
                    np.uint64(king_square)
                    | np.uint64(king_square + step) << TO_SHIFT
                    | np.uint64(KING) << PIECE_SHIFT
                    | np.uint64(CASTLING) << KIND_SHIFT
                )
                scores[count] = weights[CASTLES]
                count += 1
    return count


@kernel
def probabilities(model, scores, count):
    """Turn the first `count` scores, float32[n], into the moves' probabilities, in place.

    The exponential comes from a table; its error is below 1e-5 of it.
    """
    highest = scores[0]
    for k in range(1, count):
        highest = max(highest, scores[k])
    total = np.float32(0)
    for k in range(count):
        steps = min((highest - scores[k]) * np.float32(EXP_STEPS), np.float32(EXP_SIZE - 1))
        whole = np.int64(steps)
        rest = (steps - np.float32(whole)) * np.float32(1 / EXP_STEPS)
        scores[k] = model.exponentials[whole] * (np.float32(1) - rest)
        total += scores[k]
    factor = np.float32(1 - EVEN_SHARE) / total
    even = np.float32(EVEN_SHARE) / np.float32(count)
    for k in range(count):
        scores[k] = scores[k] * factor + even
