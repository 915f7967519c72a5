"""The roots of a turn's search (Obscuro, Fig. 9).

They are what the last tree keeps and sampled positions of the belief, or the start of the game.
Uniform draws of a large belief leave rare kinds of positions out. With `sampling=diversity` (GS2,
`G, Eq. 3`) more positions are drawn and valued than are wanted. Those stay whose values are nearest
to all others', and each counts for the positions that it stands for.
"""

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from obscuro.engine.chess_game import DRAW_WORD, STATE_WORDS
from obscuro.engine.knowledge import Knowledge
from obscuro.engine.turn_time import SAMPLING_CHUNK
from obscuro.rules.key import mix
from obscuro.rules.layout import WORDS
from obscuro.rules.position import hash_positions
from obscuro.search.game import Expansion, concatenate_expansions, take_leaves
from obscuro.search.k_centre import k_centres, nearest
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.subgame import NewRoots, alternate_values

Words = npt.NDArray[np.uint64]


def sample_root_states(
    known: Knowledge,
    wanted: int,
    held: Words,
    random: np.random.Generator,
    by_weight: float = 0.0,
) -> Words:
    """Draw positions of the belief without replacement; return them as states uint64[n, W].

    known: up to date. wanted: the most positions to draw; none if it is not above 0. held:
    uint64[m, W], states whose positions are not drawn. by_weight: see `Belief.sample`.
    """
    if wanted <= 0:
        return np.zeros((0, STATE_WORDS), dtype=np.uint64)
    exclude = np.empty(len(held), dtype=np.uint64)
    hash_positions(np.ascontiguousarray(held[:, :WORDS]), exclude)
    sampled = known.belief.sample(wanted, random, exclude=exclude, by_weight=by_weight)
    states = np.zeros((len(sampled), STATE_WORDS), dtype=np.uint64)
    states[:, :WORDS] = sampled
    states[:, DRAW_WORD] = known.quiet_plies
    return states


def root_keys(states: Words, our_key: int) -> Words:
    """Both sides' keys, uint64[n, 2], of new roots uint64[n, W].

    ▲ has our key in all of them. ▼ knows the position, so that its key differs from root to root.
    """
    keys = np.empty((len(states), 2), dtype=np.uint64)
    keys[:, 0] = our_key
    hashes = np.empty(len(states), dtype=np.uint64)
    hash_positions(np.ascontiguousarray(states[:, :WORDS]), hashes)
    salt = np.uint64(our_key)
    for i, hashed in enumerate(hashes):
        keys[i, 1] = int(mix(np.uint64(hashed) ^ salt)) or 1
    return keys


MOST_CANDIDATES = 1024
"""The most positions of the belief that are looked at."""
EXTRA_SHARE = 0.04
"""Of the turn's time, for positions beyond the wanted ones; exceeded by a chunk at most."""


class ExtraTime:
    """Tells whether `seconds` have gone by since the first question. None: never."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._since: float | None = None

    def is_over(self) -> bool:
        """Whether the time is over. The first call starts it."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return self._seconds is not None and now - self._since >= self._seconds


def diverse(
    values: npt.NDArray[np.float32], wanted: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Choose `wanted` of n positions by their values; there must be more than that.

    values: float32[n], the positions' values ṽ(s), not capped. Returns the chosen ones' indices,
    int64[wanted], ascending, and their masses, float32[wanted], whose mean is 1: how many positions
    each stands for. Where fewer values than wanted differ, the first of the others join, and share
    their value's mass.
    """
    centres = k_centres(values.astype(np.float64), wanted)
    others = np.setdiff1d(np.arange(len(values)), centres)[: wanted - len(centres)]
    chosen = np.sort(np.concatenate((centres, others)))
    kinds, kind = np.unique(values[chosen], return_inverse=True)
    stood_for = np.searchsorted(kinds, values[nearest(values, chosen)])
    stands_for = np.bincount(stood_for, minlength=len(kinds)) / np.bincount(kind)
    masses = stands_for[kind] * (wanted / len(values))
    return chosen, masses.astype(np.float32)


def set_roots(
    search: Search,
    known: Knowledge,
    random: np.random.Generator,
    searched_at: int,
    late: Callable[[], bool],
    enough: Callable[[], bool],
) -> int:
    """Make the search's tree the subgame of this turn, and expand its roots.

    known: up to date, with our side to move. searched_at: plies of the game at the roots of the
    last tree. late: returns whether the time for expanding is over; asked after each chunk. enough:
    returns whether the time is over for positions that may be left out again. Returns the plies of
    the game at the new tree's roots.
    """
    own_states = search.keep(known.key, known.plies - searched_at)
    # These fit all that was seen; a belief that was rebuilt may lack them.
    known.belief.include(own_states[:, :WORDS])
    if known.plies == 1 and known.start is not None and not search.tree.nodes:
        _build_from_start(search, known, late)
        search.note_roots()
        return 0
    _build_here(search, known, own_states, random, late, enough)
    search.note_roots()
    return known.plies


def _build_here(
    search: Search,
    known: Knowledge,
    own_states: Words,
    random: np.random.Generator,
    late: Callable[[], bool],
    enough: Callable[[], bool],
) -> None:
    """Keep what the old tree knows, and add positions of the belief as new roots.

    own_states: uint64[n, W], histories of our infoset that the old tree holds.
    """
    wanted = min(_wanted(search, known, own_states), search.most_new_roots)
    choosing = search.parameters.diverse and 0 < wanted < len(known.belief)
    most = max(wanted, MOST_CANDIDATES) if choosing else wanted
    by_weight = search.parameters.posterior_draw
    states = sample_root_states(known, most, own_states, random, by_weight)
    keys = root_keys(states, known.key)
    expansions: list[Expansion] = []
    size = SAMPLING_CHUNK * search.threads
    done = 0
    while done < len(states):
        chunk = slice(done, done + size)
        expansions.append(search.expand_roots(states[chunk], keys[chunk]))
        done = min(done + size, len(states))
        if late() or (done >= wanted and enough()):
            break
    values = np.array(
        [
            expansion.values[begin:end].max()
            for expansion in expansions
            for begin, end in zip(expansion.offsets, expansion.offsets[1:], strict=False)
        ],
        dtype=np.float32,
    )
    states, keys, masses = states[:done], keys[:done], None
    if done > wanted:
        chosen, masses = diverse(values, wanted)
        states, keys, values = states[chosen], keys[chosen], values[chosen]
        expansions = [take_leaves(concatenate_expansions(expansions), chosen)]
        done = wanted
    if known.plies == 0:
        # The start is common knowledge: ▼ has no other infoset to choose instead.
        alternate = np.full(done, -1, dtype=np.float32)
    else:
        alternate = alternate_values(values, search.last_value)
    new = NewRoots(
        np.arange(done + 1, dtype=np.int64),
        states,
        keys,
        np.ones(done, dtype=np.float32),
        values,
        alternate,
        masses,
    )
    search.begin(known.key, new, expansions, likelihood=likelihood_of(known, search.parameters))
    search.expand_our_infoset(size, late)


def likelihood_of(
    known: Knowledge, parameters: SearchParameters
) -> Callable[[Words], npt.NDArray[np.float32]] | None:
    """How likely roots are, for the prior: a function of states uint64[n, W]; None: all alike.

    Positions that are drawn by their weights are there more often. So what is drawn with a density
    of 1 − d + d·w counts w / (1 − d + d·w), mixed with an even share.
    """
    drawn, share = parameters.posterior_draw, parameters.posterior_prior
    if share <= 0 or known.belief.weights is None:
        return None

    def likelihood(states: Words) -> npt.NDArray[np.float32]:
        weights = known.belief.weights_of(states[:, :WORDS])
        density = np.maximum(1 - drawn + drawn * weights, np.float32(1e-6))
        counted: npt.NDArray[np.float32] = (1 - share) + share * weights / density
        return counted.astype(np.float32)

    return likelihood


def _wanted(search: Search, known: Knowledge, own_states: Words) -> int:
    """How many positions to draw. A belief that is small enough is wanted whole.

    own_states: as in `_build_here`. They may be fewer positions than histories.
    """
    size, parameters = len(known.belief), search.parameters
    if size <= parameters.min_infoset_size:
        return size
    missing = parameters.min_infoset_size - search.distinct_positions(own_states)
    return max(missing, int(parameters.fresh_share * parameters.min_infoset_size))


def _build_from_start(search: Search, known: Knowledge, late: Callable[[], bool]) -> None:
    """Build the subgame of our first search if the other side has moved first: the whole game.

    The start is common knowledge, so its node is the root. The search solves for the other side's
    first move too, and our infoset is below it. Otherwise every first move would be a root of its
    own, whose alternate value came from its evaluation alone.
    """
    assert known.start is not None
    states = np.zeros((1, STATE_WORDS), dtype=np.uint64)
    states[0, :WORDS] = known.start
    keys = root_keys(states, known.start_key)
    expansion = search.expand_roots(states, keys)
    one = np.ones(1, dtype=np.float32)
    new = NewRoots(
        np.arange(2, dtype=np.int64),
        states,
        keys,
        one,
        np.array([expansion.values.min()], dtype=np.float32),  # the other side chooses
        -one,
    )
    search.begin(known.key, new, [expansion], root_key=known.start_key)
    search.expand_our_infoset(SAMPLING_CHUNK * search.threads, late)
