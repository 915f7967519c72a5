"""Trial: among likely moves, the one that a look at many positions of P prefers."""

import numpy as np
import numpy.typing as npt

from obscuro.engine.knowledge import Knowledge
from obscuro.evaluation.children import expand
from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator, fill_values
from obscuro.rules.layout import WORDS
from obscuro.rules.tables import TABLES
from obscuro.search.pace import Progress
from obscuro.search.search import Search

_EVALUATOR = NnueEvaluator()


def _means(
    positions: npt.NDArray[np.uint64],
    chosen: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.float64],
    worst: float,
) -> npt.NDArray[np.float64]:
    """The mean values of chosen moves over positions uint64[n, 8]."""
    positions = np.ascontiguousarray(positions, dtype=np.uint64)
    loaded = _EVALUATOR._loaded or _EVALUATOR._load()
    _EVALUATOR._loaded = loaded
    children = expand(positions, find_mates=False)
    values = children.values
    keep = np.tile(chosen, len(positions))
    values[~keep] = 0
    fill_values(
        TABLES,
        *loaded,
        positions,
        children.offsets,
        children.moves,
        _EVALUATOR._plies,
        _EVALUATOR._tau,
        values,
    )
    table = values.reshape(len(positions), len(chosen))[:, chosen].astype(np.float64)
    means = np.empty(table.shape[1])
    for move in range(table.shape[1]):
        order = np.argsort(table[:, move], kind="stable")
        shares = weights[order] / weights.sum()
        before = np.cumsum(shares) - shares
        counted = np.clip(worst - before, 0, shares)
        means[move] = counted @ table[order, move] / counted.sum()
    return means


def choose(known: Knowledge, search: Search, progress: Progress) -> int | None:
    """The move that a look prefers among likely ones; None: there is nothing to choose."""
    parameters = search.parameters
    policy = progress.policy
    if parameters.most_nodes:
        found = search.root_values()
        if not progress.resolve or found is None or len(found.policy) != len(policy):
            return None
        likely = policy >= parameters.most_nodes * policy.max()
        return int(np.argmax(np.where(likely, found.nodes, -1)))
    if not progress.resolve or len(known.belief) <= parameters.min_infoset_size:
        return None
    likely = policy >= parameters.look_ratio * policy.max()
    if likely.sum() < 2:
        return None
    random = np.random.default_rng(known.plies)
    positions = known.belief.sample(parameters.look_at, random, by_weight=1.0)
    found = search.root_values()
    histories = search.our_histories()
    inside = histories.expanded & (histories.weights > 0)
    if found is None or not inside.any() or len(found.policy) != len(policy):
        return None
    worst = parameters.look_worst
    wide = _means(positions, likely, np.ones(len(positions)), worst)
    if parameters.look_alone:
        score = wide
    else:
        narrow = _means(
            histories.states[inside][:, :WORDS], likely, histories.weights[inside], worst
        )
        score = found.means()[likely] + parameters.look * (wide - narrow)
    return int(np.flatnonzero(likely)[int(np.argmax(score))])
