"""From the positions of a belief to those after a move: what fits the observation, with repeats.

Each kernel goes through a range of parents and writes the children that fit, with a hash of each;
dropping repeats is left to `dedup`. Parents are visited in blocks of `BLOCK` rows in the order of a
permutation, so that wherever an update is cut short, the parents done are a uniform sample.

There is a fast kernel and a naive one for either kind of move. The naive ones make every move and
compare all of what is seen; they are the fast ones' oracle.
"""

import numpy as np
from numba import njit

from obscuro.belief.candidates import candidate_moves
from obscuro.belief.fit import fits, observes, read_requirements
from obscuro.belief.own_move import is_playable, read_conditions
from obscuro.board.layout import KINGS, MAX_MOVES, WHITE
from obscuro.board.make import make_move
from obscuro.board.moves import generate_moves, has_move
from obscuro.board.position import load, position_hash, store
from obscuro.fog.key import mix

BLOCK_SHIFT = 4
BLOCK = 1 << BLOCK_SHIFT


@njit(nogil=True, cache=True)
def _row(blocks, index):
    """The row of the parent that is visited as number `index`; may lie past the last row."""
    return blocks[index >> BLOCK_SHIFT] * BLOCK + (index & (BLOCK - 1))


@njit(nogil=True, cache=True)
def expand(
    tables, parents, blocks, first, last, side, words, salt, ceiling, children, hashes, moves
):
    """Write the children after any move of the other side that fit what `side` then observed.

    parents: uint64[n, 8]; blocks: int64[⌈n / BLOCK⌉], a permutation; parents number `first` to
    `last` - 1 in its order are visited; words: the `requirements` of the observation; salt:
    uint64, makes the hash; children with a hash above `ceiling` are left out; children:
    uint64[c, 8] and hashes: uint64[c], written; moves: uint32[≥ MAX_MOVES], scratch.

    Returns the number of the first parent not visited, which is less than `last` only if the room
    was used up, and the number of children.
    """
    required = read_requirements(words)
    room = children.shape[0] - MAX_MOVES
    count = 0
    index = first
    while index < last and count <= room:
        row = _row(blocks, index)
        index += 1
        if row >= parents.shape[0]:
            continue
        pos = load(parents, row)
        for k in range(candidate_moves(tables, pos, side, required, moves)):
            child = make_move(pos, moves[k])
            if not fits(child, side, required):
                continue
            hashed = mix(position_hash(child) ^ salt)
            if hashed > ceiling:
                continue
            store(children, count, child)
            hashes[count] = hashed
            count += 1
    return index, count


@njit(nogil=True, cache=True)
def expand_naively(
    tables, parents, blocks, first, last, side, observed, salt, ceiling, children, hashes, moves
):
    """As `expand`, by comparing what is seen after each move with `observed`: uint64[9]."""
    room = children.shape[0] - MAX_MOVES
    count = 0
    index = first
    while index < last and count <= room:
        row = _row(blocks, index)
        index += 1
        if row >= parents.shape[0]:
            continue
        pos = load(parents, row)
        for k in range(generate_moves(tables, pos, moves)):
            child = make_move(pos, moves[k])
            if not (observes(tables, child, side, observed) and _has_kings(child)):
                continue
            hashed = mix(position_hash(child) ^ salt)
            if hashed > ceiling:
                continue
            store(children, count, child)
            hashes[count] = hashed
            count += 1
    return index, count


@njit(nogil=True, cache=True)
def _has_kings(pos):
    white = pos[KINGS] & pos[WHITE]
    return white != 0 and white != pos[KINGS]


@njit(nogil=True, cache=True)
def follow(
    tables,
    parents,
    blocks,
    first,
    last,
    side,
    words,
    told,
    move,
    needed,
    salt,
    ceiling,
    children,
    hashes,
):
    """Write the positions after `side`'s own `move` that fit what it then observed.

    Positions where the move is not legal, or that end the game, drop out. told: whether there was
    an observation; needed: the move's `conditions`. The other arguments and what is returned are as
    in `expand`.
    """
    required = read_requirements(words)
    needed = read_conditions(needed)
    room = children.shape[0] - 1
    count = 0
    index = first
    while index < last and count <= room:
        row = _row(blocks, index)
        index += 1
        if row >= parents.shape[0]:
            continue
        pos = load(parents, row)
        if not is_playable(parents, row, pos, side, needed):
            continue
        child = make_move(pos, move)
        if told and not fits(child, side, required):
            continue
        if not (_has_kings(child) and has_move(tables, child)):
            continue
        hashed = mix(position_hash(child) ^ salt)
        if hashed > ceiling:
            continue
        store(children, count, child)
        hashes[count] = hashed
        count += 1
    return index, count


@njit(nogil=True, cache=True)
def follow_naively(
    tables,
    parents,
    blocks,
    first,
    last,
    side,
    observed,
    told,
    move,
    salt,
    ceiling,
    children,
    hashes,
    moves,
):
    """As `follow`, by looking the move up and comparing what is seen with `observed`."""
    room = children.shape[0] - 1
    count = 0
    index = first
    while index < last and count <= room:
        row = _row(blocks, index)
        index += 1
        if row >= parents.shape[0]:
            continue
        pos = load(parents, row)
        for k in range(generate_moves(tables, pos, moves)):
            if np.uint64(moves[k]) != np.uint64(move):
                continue
            child = make_move(pos, move)
            if told and not observes(tables, child, side, observed):
                continue
            if not _has_kings(child) or generate_moves(tables, child, moves) == 0:
                continue
            hashed = mix(position_hash(child) ^ salt)
            if hashed <= ceiling:
                store(children, count, child)
                hashes[count] = hashed
                count += 1
            break
    return index, count
