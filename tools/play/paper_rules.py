"""The rules of the Obscuro paper as options of the engine, and its ablations of them.

The engine's defaults go beyond the paper where that was measured to be better. `PAPER_RULES` names
every option that changes what a search does, also those whose default is the paper's value, so that
a later default does not change the experiments. docs/algorithm.md has the same table.

The paper's leaves are values of Stockfish 14. `nnue`, the value of a later Stockfish's network, stands
in for them here: `stockfish` itself expands a fifth of the nodes in the same time
(docs/results/evaluation.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from obscuro.engine.options import SEARCH_KEYS

PAPER_RULES: Mapping[str, str] = {
    "Evaluator": "nnue",  # Stockfish 14 in the paper (§3.3, C.5)
    "tau": "6.0",  # six pawns, of ZS21; the paper: "in the same manner as done by ZS21" (C.5)
    "purification": "true",  # §3.5, C.8
    "max_support": "3",  # Fig. 8, MAXSUPPORT
    "unfrozen": "true",  # KLUSS (C.6)
    "one_sided": "true",  # one-sided GT-CFR (C.4)
    "resolve_prior": "mixed",  # α (C.3)
    "soft_root": "0.0",  # ours; the paper has Resolve and Maxmargin alone (C.1)
    "root_temperature": "0",  # ours; all new positions are alike in α (C.3)
    "min_infoset_size": "256",  # Fig. 9, MININFOSETSIZE
    "fresh_share": "0.0",  # ours is 0.5: positions are only drawn where I has too few (Fig. 9)
    "sampling": "uniform",  # "get random state s ∈ P∖I" (Fig. 9)
    "max_kept_infosets": "0",  # ours is 256: J₀ holds all J of the kept tree (Fig. 9)
    "puct_c": "1.0",  # C = 1 (C.4)
    "puct_least_variance": "0.0",  # ours is 0.02: σ has no floor (C.4)
}
"""The engine as the paper describes it: values of options, and of keys of the option `Search`."""

ABLATIONS: Mapping[str, Mapping[str, str]] = {
    "purification": {"purification": "false"},
    "klss": {"unfrozen": "false"},
    "two-sided": {"one_sided": "false"},
    "uniform-prior": {"resolve_prior": "uniform"},
    "all-off": {
        "purification": "false",
        "unfrozen": "false",
        "one_sided": "false",
        "resolve_prior": "uniform",
    },
    "simple-evaluation": {"Evaluator": "material"},
}
"""The ablations of Obscuro §4.1 (Table 3's order): what each sets in place of a technique."""


def as_options(rules: Mapping[str, str]) -> dict[str, str]:
    """Return rules as options that a GUI can set: the keys of `Search` in one text."""
    keys = {key.name for key in SEARCH_KEYS}
    options = {name: value for name, value in rules.items() if name not in keys}
    search = ",".join(f"{name}={value}" for name, value in rules.items() if name in keys)
    return {**options, "Search": search} if search else options
