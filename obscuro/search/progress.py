"""How far a search has come."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(slots=True)
class Progress:
    """What a search has done so far, in the units of the protocol's info lines."""

    nodes: int = 0  # histories added in this search
    carried: int = 0  # histories kept from the last one
    sampled: int = 0  # positions added at the root
    roots: int = 0  # distinct positions of our infoset, expanded when the search began
    root_infosets: int = 0  # J, ▼'s at the root
    infosets: int = 0
    iterations: int = 0
    expansions: int = 0
    depth: float = 0.0  # mean plies from the root to an expansion's children
    seldepth: int = 0
    value: float = 0.0  # ▲'s view, at our infoset
    resolve: bool = False  # Resolve in force (p_max > 0), else Maxmargin
    policy: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    stable: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    # Our actions' values over all histories of our infoset, ▲'s view; empty unless asked for.
    action_values: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    full: bool = False  # no room for more nodes
    exhausted: bool = False  # no leaf that matters is found at present
