"""One player's search: it builds a turn's subgame, and reads the results off it afterwards.

`obscuro.search.search_loop` has what happens in between.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from obscuro.search.game import MAX, Expansion, joined
from obscuro.search.keeping import ANY_DEPTH, KeptRoots, keep_roots, most_roots, nothing_kept
from obscuro.search.parameters import ROOTS_PER_PART
from obscuro.search.progress import Progress
from obscuro.search.root_budget import position_hashes, thinned
from obscuro.search.root_share import (
    LikelyChildren,
    RootHistories,
    likely_children,
    mean_action_values,
    our_histories,
)
from obscuro.search.root_values import RootValues, root_values
from obscuro.search.search_loop import SearchLoop
from obscuro.search.solver import refresh_values
from obscuro.search.steps import NO_INFOSET
from obscuro.search.subgame import NewRoots, build_subgame
from obscuro.search.tree import EDGES, LEAF, NODES, OPEN, ROOTS, TERMINAL, find_infoset


class Search(SearchLoop):
    """The trees and the strategy of one player, kept from turn to turn; see `SearchSteps`."""

    _kept: KeptRoots | None = None  # what `keep` chose for the next subgame

    def forget(self, seed: int | None = None) -> None:
        """See `SearchSteps.forget`."""
        super().forget(seed)
        self._kept = None

    # -- the subgame ---------------------------------------------------------------------------

    def keep(self, our_key: int, depth: int) -> npt.NDArray[np.uint64]:
        """Choose what the next subgame keeps; returns the kept states with our key, uint64[n, W].

        our_key: our information key now; depth: plies since the last search's root, or ANY_DEPTH in
        a game whose players do not know it. `keeping` says what it means; then all that touches our
        infoset is kept, and of the states with our key those below the kept roots are returned too.
        """
        if self.tree.counts[ROOTS] == 0:
            self._kept = nothing_kept()
            return np.zeros((0, self.state_words), dtype=np.uint64)
        self._kept = keep_roots(self.tree, self.gadget, our_key, depth)
        if depth == ANY_DEPTH:
            return self._states_with(our_key)
        most = self.parameters.max_kept_infosets
        if most:
            words = self.position_words
            self._kept = thinned(self.tree, self._kept, our_key, words, most)
        edges = self._kept.edges
        own = edges[self.tree.edge_keys[edges, MAX] == np.uint64(our_key)]
        return np.array(self.tree.edge_state[own])

    def _states_with(self, our_key: int) -> npt.NDArray[np.uint64]:
        """The states of all histories in the tree that go on and have our key, uint64[n, W]."""
        tree, count = self.tree, self.tree.nodes
        own = tree.edge_keys[:count, MAX] == np.uint64(our_key)
        return np.array(tree.edge_state[:count][own & (tree.edge_status[:count] != TERMINAL)])

    def distinct_positions(self, states: npt.NDArray[np.uint64]) -> int:
        """How many positions there are among states uint64[n, W]."""
        return len(np.unique(position_hashes(states, self.position_words)))

    def expand_roots(
        self, states: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64]
    ) -> Expansion:
        """Expand states uint64[n, W] with keys uint64[n, 2] that `begin` will take as new roots."""
        return joined(self.expand_parts(states, keys, ROOTS_PER_PART)[1])

    @property
    def most_new_roots(self) -> int:
        """How many new infosets of one position each `begin` has room for at least."""
        return most_roots(self.tree)

    def begin(
        self,
        our_key: int,
        new: NewRoots,
        expansions: Sequence[Expansion],
        root_key: int | None = None,
    ) -> None:
        """Build the subgame from what `keep` chose and from new roots with their expansions.

        our_key: our information key now. root_key: our key at the roots if our infoset is below
        them; None: our infoset is at the roots. expansions: of new.states in their order, in any
        number of pieces; without them the search expands the roots itself. There must be at least
        one root in all. Raises ValueError if there is no room for the roots (see `most_new_roots`).
        """
        kept = self._kept if self._kept is not None else nothing_kept()
        self._kept = None
        freeze = not self.parameters.unfrozen
        self.our_key = np.uint64(our_key)
        self.root_key = np.uint64(our_key if root_key is None else root_key)
        gadget = build_subgame(
            self.tree,
            self.spare,
            kept,
            new,
            int(self.root_key),
            self.parameters.mixed_prior,
            freeze,
            self.parameters.soft_root,
            self.parameters.root_temperature,
        )
        self.tree, self.spare = self.spare, self.tree
        self.gadget = gadget
        first_new_root = len(kept.offsets) - 1
        carried = self.tree.nodes - len(new.states)
        self.progress = Progress(carried=carried, sampled=len(new.states))
        if len(new.states):
            first_edge = int(self.tree.node_first_edge[first_new_root])
            edges = np.arange(first_edge, first_edge + len(new.states), dtype=np.int32)
            nodes = np.repeat(
                np.arange(first_new_root, first_new_root + len(new.offsets) - 1),
                np.diff(new.offsets),
            ).astype(np.int32)
            done = 0
            for expansion in expansions:
                size = len(expansion.player)
                part = slice(done, done + size)
                self.attach(edges[part], nodes[part], expansion)
                done += size

    def expand_our_infoset(self, chunk: int, late: Callable[[], bool]) -> None:
        """Expand the leaves that are histories of our infoset; call it right after `begin`.

        chunk: leaves between two looks at the clock. late: returns whether to end; asked after
        each.
        """
        tree = self.tree
        count = int(tree.counts[EDGES])
        if self.root_key == self.our_key:
            count = int(tree.node_edges[: int(tree.counts[ROOTS])].sum())
        ours = tree.edge_keys[:count, MAX] == self.our_key
        ours &= (tree.edge_child[:count] == LEAF) & (tree.edge_status[:count] == OPEN)
        edges = np.flatnonzero(ours).astype(np.int32)
        firsts = tree.node_first_edge[: int(tree.counts[NODES])]
        above = (np.searchsorted(firsts, edges, side="right") - 1).astype(np.int32)
        for begin in range(0, len(edges), chunk):
            part = slice(begin, begin + chunk)
            expansion = self.expand_roots(tree.edge_state[edges[part]], tree.edge_keys[edges[part]])
            self.attach(edges[part], above[part], expansion)
            if late():
                break

    def line(self, moves: int = 8) -> tuple[npt.NDArray[np.uint64], list[int]] | None:
        """The likeliest play from our infoset on, for a principal variation.

        Returns the root state that it starts from, uint64[W], and the indices of its actions; None
        if no history of our infoset has been expanded.
        """
        tree = self.tree
        own = int(find_infoset(tree, self.our_key))
        if own == NO_INFOSET:
            return None
        nodes = np.flatnonzero(tree.node_infoset[: tree.counts[NODES]] == own)
        node = int(nodes[int(np.argmax(tree.node_reach[nodes]))])
        state = np.array(tree.edge_state[tree.node_parent_edge[node]])
        actions: list[int] = []
        while node != LEAF and len(actions) < moves:
            first, count = int(tree.node_first_action[node]), int(tree.node_edges[node])
            action = int(np.argmax(tree.strategy[first : first + count]))
            actions.append(action)
            node = int(tree.edge_child[tree.node_first_edge[node] + action])
        return state, actions

    def note_roots(self) -> None:
        """Note in the progress with how many positions and infosets the search begins."""
        self.nodes_before = int(self.tree.counts[NODES])
        histories = self.our_histories()
        self.progress.roots = self.distinct_positions(histories.states[histories.expanded])
        self.progress.root_infosets = int(self.tree.counts[ROOTS])

    def our_histories(self) -> RootHistories:
        """The histories of our infoset in the last search's tree; see `root_share`."""
        return our_histories(
            self.tree,
            self.gadget.prior,
            self.our_key,
            at_roots=bool(self.root_key == self.our_key),
            nodes_before=self.nodes_before,
        )

    def root_values(self) -> RootValues | None:
        """Return what our actions are worth in the last search's tree; see `root_values`.

        None if no history of our infoset is expanded.
        """
        at_roots = bool(self.root_key == self.our_key)
        return root_values(self.tree, self.gadget, self.our_key, at_roots=at_roots)

    def likely_children(self, edges: npt.NDArray[np.int64], least: float) -> LikelyChildren:
        """Return the expanded children by our likely actions of those int64[n] lead to."""
        return likely_children(self.tree, edges, least)

    def action_values(self) -> npt.NDArray[np.float64]:
        """Return ▲'s values of our actions now, averaged over our infoset; see `root_share`.

        Every value of the tree is brought up to date first. The values are float64[k], or empty if
        no history of our infoset is expanded.
        """
        refresh_values(self.tree, self.gadget)
        return mean_action_values(self.tree, self.our_histories())

    def history_values(self, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return ▲'s values under the tree's strategies of the histories that int64[n] lead to.

        Every value of the tree is brought up to date first. The values are float32[n].
        """
        refresh_values(self.tree, self.gadget)
        return np.array(self.tree.edge_value[edges])
