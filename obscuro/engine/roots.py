"""The roots of a turn's search (Obscuro, Fig. 9).

They are what the last tree keeps and sampled positions of the belief, or the start of the game.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from obscuro.engine.chess_game import STATE_WORDS
from obscuro.engine.constants import SAMPLING_CHUNK
from obscuro.engine.diverse_roots import MOST_CANDIDATES, diverse
from obscuro.engine.knowledge import Knowledge
from obscuro.engine.root_states import root_keys, sample_root_states
from obscuro.rules.layout import WORDS
from obscuro.search.game import Expansion, concatenate_expansions, take_leaves
from obscuro.search.search import Search
from obscuro.search.subgame import NewRoots, alternate_values

Words = npt.NDArray[np.uint64]


def build_subgame(
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
    if known.plies == 1 and not search.tree.nodes:
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
    most = max(wanted, MOST_CANDIDATES) if search.parameters.diverse and wanted > 0 else wanted
    states = sample_root_states(known, most, own_states, random)
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
    search.begin(known.key, new, expansions)
    search.expand_our_infoset(size, late)


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
