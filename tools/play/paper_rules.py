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

PAPER_RULES: Mapping[str, str] = {
    "Evaluator": "nnue",  # Stockfish 14 in the paper (§3.3, C.5)
    "Tau": "600",  # six pawns, of ZS21; the paper: "in the same manner as done by ZS21" (C.5)
    "Purification": "true",  # §3.5, C.8
    "Max Support": "3",  # Fig. 8, MAXSUPPORT
    "Unfrozen": "true",  # KLUSS (C.6)
    "One Sided": "true",  # one-sided GT-CFR (C.4)
    "Resolve Prior": "mixed",  # α (C.3)
    "Soft Root": "0",  # ours; the paper has Resolve and Maxmargin alone (C.1)
    "Root Temperature": "0",  # ours; all new positions are alike in α (C.3)
    "Min Infoset Size": "256",  # Fig. 9, MININFOSETSIZE
    "Fresh Share": "0",  # ours is 50: positions are only drawn where I has too few (Fig. 9)
    "Sampling": "uniform",  # "get random state s ∈ P∖I" (Fig. 9)
    "Max Kept Infosets": "0",  # ours is 256: J₀ holds all J of the kept tree (Fig. 9)
    "Puct C": "100",  # C = 1 (C.4)
    "Puct Least Variance": "0",  # ours is 20: σ has no floor (C.4)
}
"""The engine as the paper describes it: values by the options' names, as a GUI sends them."""

ABLATIONS: Mapping[str, Mapping[str, str]] = {
    "purification": {"Purification": "false"},
    "klss": {"Unfrozen": "false"},
    "two-sided": {"One Sided": "false"},
    "uniform-prior": {"Resolve Prior": "uniform"},
    "all-off": {
        "Purification": "false",
        "Unfrozen": "false",
        "One Sided": "false",
        "Resolve Prior": "uniform",
    },
    "simple-evaluation": {"Evaluator": "material"},
}
"""The ablations of Obscuro §4.1 (Table 3's order): what each sets in place of a technique."""
