"""The root of a subgame: Resolve and Maxmargin on one tree (Obscuro, C.1-C.3, Fig. 10).

▼ picks one of its infosets J, which is worth u_▼(J) + v^alt(J) to it. In Maxmargin one PRM+ picks
among all J. In Resolve the prior α draws J, and one PRM+ for each J decides whether ▼ enters, for
that worth, or exits, for 0. The strategy in play is p_max · α(J) · π_resolve(J) + (1 − p_max) ·
π_maxmargin(J). Here p_max is the largest probability of entering over all J. The strategy need not
sum to 1. A soft root (ours) mixes this with α itself, so that ▲ gains where ▼ does not enter, too.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.tree import ROOT_INFOSET, ROOTS

_ZERO = np.float32(0)
_ONE = np.float32(1)
_HALF = np.float32(0.5)

Reals = npt.NDArray[np.float32]


class Gadget(NamedTuple):
    """State of the root, for m infosets J."""

    alternate: Reals  # [m] alternate value v^alt(J), ▲'s view
    prior: Reals  # [m] α(J), sums to 1
    value: Reals  # [m] u_▲(J) in the last sweep
    enter: Reals  # [m] π_resolve(J), the probability of entering
    enter_regret: Reals  # [m, 2] of entering and of exiting
    margin: Reals  # [m] π_maxmargin(J)
    margin_regret: Reals  # [m]
    p_max: Reals  # [1]
    soft: Reals  # [1] the share of α itself in the root's strategy


def new_gadget(alternate: Reals, prior: Reals, soft: float = 0.0) -> Gadget:
    """Make a new gadget: Maxmargin is uniform, and Resolve enters with probability ½.

    alternate: float32[m], the alternate values v^alt(J), ▲'s view. prior: float32[m], α(J). soft:
    the share of α itself in the root's strategy, in [0, 1].
    """
    m = len(alternate)

    def filled(value: float) -> Reals:
        return np.full(m, value, dtype=np.float32)

    return Gadget(
        alternate.astype(np.float32),
        prior.astype(np.float32),
        filled(0),
        filled(0.5),
        np.zeros((m, 2), dtype=np.float32),
        filled(1 / max(m, 1)),
        filled(0),
        np.full(1, 0.5, dtype=np.float32),
        np.full(1, soft, dtype=np.float32),
    )


@kernel
def update_gadget(tree, gadget):
    """Run PRM+ of both gadgets on the last sweep; write u_▼(J) + v^alt(J) as the root's cfv."""
    m = tree.counts[ROOTS]
    first = tree.infoset_first[ROOT_INFOSET]
    expected = _ZERO
    for j in range(m):
        worth = gadget.alternate[j] - gadget.value[j]
        tree.cfv[first + j] = worth
        expected += gadget.margin[j] * worth
        # Resolve: entering is worth `worth`, exiting 0.
        average = gadget.enter[j] * worth
        enter = max(gadget.enter_regret[j, 0] + worth - average, _ZERO)
        leave = max(gadget.enter_regret[j, 1] - average, _ZERO)
        gadget.enter_regret[j, 0] = enter
        gadget.enter_regret[j, 1] = leave
        enter = max(enter + worth - average, _ZERO)
        leave = max(leave - average, _ZERO)
        gadget.enter[j] = enter / (enter + leave) if enter + leave > 0 else _HALF
    tree.infoset_reach[ROOT_INFOSET] = 1
    total = _ZERO
    for j in range(m):
        instant = tree.cfv[first + j] - expected
        kept = max(gadget.margin_regret[j] + instant, _ZERO)
        gadget.margin_regret[j] = kept
        gadget.margin[j] = max(kept + instant, _ZERO)
        total += gadget.margin[j]
    for j in range(m):
        gadget.margin[j] = gadget.margin[j] / total if total > 0 else _ONE / np.float32(m)


@kernel
def root_strategy(tree, gadget):
    """Write the mixture of both gadgets, and of α, as the strategy of the root's infoset."""
    m = tree.counts[ROOTS]
    first = tree.infoset_first[ROOT_INFOSET]
    p_max = _ZERO
    for j in range(m):
        p_max = max(p_max, gadget.enter[j])
    gadget.p_max[0] = p_max
    soft = gadget.soft[0]
    for j in range(m):
        chosen = p_max * gadget.prior[j] * gadget.enter[j] + (_ONE - p_max) * gadget.margin[j]
        tree.strategy[first + j] = (_ONE - soft) * chosen + soft * gadget.prior[j]
