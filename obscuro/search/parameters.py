"""The constants of the papers and of this search, each with its source."""

from dataclasses import dataclass

MIN_INFOSET_SIZE = 256  # positions; sampling fills our infoset up to these (Obscuro, Fig. 9)
FRESH_SHARE = 0.5  # of that size is drawn anew each turn, if there is so much; the paper: none
MAX_KEPT_INFOSETS = 256  # of ▼, at the root; the paper keeps all, 0
MAX_SUPPORT = 3  # actions; purification mixes no more (Obscuro, Fig. 8)
PUCT_C = 1.0  # weight of exploration in Q̄ (Obscuro, C.4)
PUCT_LEAST_VARIANCE = 0.02  # least σ; the paper has none (docs/results/exploration.md)
EXPLORE_BY_PUCT = (
    0.5  # share of PUCT in the exploring strategy, else uniform over the support (C.4)
)
PRIOR_SAMPLES = 2.0  # the samples −1 and +1 before any visit (C.4)
PRIOR_SPREAD = 2.0  # the sum of their squared deviations from their mean, 0
PRIOR_SHARE = 0.5  # share of the blueprint's distribution in the prior α over ▼'s infosets (C.3)

SOLVER_TAIL = 0.1  # in the last share of a search the solver runs without expansions (§3.4)
STABLE_SINCE = 0.5  # a stable action is in the support from this share of the search on (C.8)

# When a flexible search ends early or goes on (ours; docs/clock.md), in shares of the planned time.
LOOKS = 32  # at the strategy, before the planned end
EASY_FROM = 0.25  # no search is shorter
EASY_PROBABILITY = 0.97  # of the top action, since STABLE_SINCE of the elapsed time
UNSETTLED_SINCE = 0.7  # a search is unsettled if the top action has changed since then
UNSETTLED_LOSS = 0.08  # of value since then (about half a pawn): unsettled too
EXTENSION = 1.4  # times the time planned so far

# A thread's part of a slice of solving, in edge visits (about 5 ms), so that a stop is prompt.
SLICE_EDGES = 2_000_000
SLICE_ITERATIONS = 64
# The balance of a search: edges that the solver visits for each leaf that is expanded.
EDGES_PER_EXPANSION = 120_000
ITERATIONS_PER_EXPANSION = 4  # at most, which is what counts in small trees
# With two threads one expands and does nothing else, unless solving falls below this share of the
# balance: on two halves of a core, solving by two threads gains little (docs/results/root.md).
LEAST_SOLVING = 0.25
EXHAUSTED_AFTER = 500  # selections in a row without a leaf; then all that matters is expanded
BATCH = 16  # leaves selected, evaluated and attached together
# With several threads one solves in slices of SLICE_SECONDS or ITERATIONS_TOGETHER, and the others
# have BATCHES_AHEAD batches to expand: as many again for two threads more, and for NODES_PER_BATCH
# nodes in the tree.
SLICE_SECONDS = 0.0008  # half the time of a batch, so that the others do not run out of leaves
EDGES_PER_SECOND = 4e8  # that the solver visits, before that has been measured
ITERATIONS_TOGETHER = 512
BATCHES_AHEAD = 2
NODES_PER_BATCH = 20_000
ROOTS_PER_PART = 16  # of the root's histories, which are expanded before the search begins
MAX_ACTIONS = 1024  # of one infoset, for the scratch array of stable actions
LEAVES_PER_PART = 4  # leaves; a thread expands these, and then takes others


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """The settings of a search, for any game; those of the engine are in `engine.options`.

    The paper's are the same but for `fresh_share` and `puct_least_variance`, 0, and
    `max_kept_infosets`, all.

    purification, unfrozen, one_sided, mixed_prior: techniques that the ablations of Obscuro §4.1
    switch off. puct_least_variance: see `selection.explore`. soft_root, root_temperature,
    ours_prior: see `subgame.build_subgame`; the paper's are 0. ours_share: the share of walks that
    stay in our infoset, see `selection.select_leaf`; the paper's is 0. diverse: new roots are chosen
    by diversity of their values, not drawn uniformly as in the paper. posterior_draw,
    posterior_prior: shares of new roots and of the prior that go by the belief's weights (ours).
    """

    edges_per_expansion: int = EDGES_PER_EXPANSION
    iterations_per_expansion: int = ITERATIONS_PER_EXPANSION
    min_infoset_size: int = MIN_INFOSET_SIZE
    fresh_share: float = FRESH_SHARE
    max_kept_infosets: int = MAX_KEPT_INFOSETS
    max_support: int = MAX_SUPPORT
    puct_c: float = PUCT_C
    puct_least_variance: float = PUCT_LEAST_VARIANCE
    ours_share: float = 0.0
    purification: bool = True
    unfrozen: bool = True
    one_sided: bool = True
    mixed_prior: bool = True
    soft_root: float = 0.0
    root_temperature: float = 0.0
    ours_prior: float = 0.0
    diverse: bool = False
    posterior_draw: float = 0.0
    posterior_prior: float = 0.0

    @property
    def weighs_belief(self) -> bool:
        """Whether the belief's weights are asked for."""
        return self.posterior_draw > 0 or self.posterior_prior > 0
