"""Options for quick, deterministic players that need nothing installed."""

from __future__ import annotations

from obscuro.engine.options import Options
from obscuro.search.parameters import SearchParameters

QUICK = {"Threads": 1, "Evaluator": "material", "Hash": 64, "Seed": 7, "Max_Positions": 10**6}


EVEN = {"posterior_draw": 0, "posterior_prior": 0}
"""Keys by which all positions count alike."""
DEFAULTS = SearchParameters(
    edges_per_expansion=30_000,
    iterations_per_expansion=1,
    min_infoset_size=96,
    fresh_share=0.33,
    max_kept_infosets=96,
    posterior_draw=0.5,
    posterior_prior=1.0,
    ours_share=0.5,
    ours_prior=1.0,
)
"""The settings of the engine's search without any key."""


def options(**values: object) -> Options:
    """Return `QUICK` with some options changed. A name in lower case is a key of `Search`."""
    made = Options()
    given = {**QUICK, **values}
    for name, value in given.items():
        if not name.islower():
            made.set(name.replace("_", " "), str(value))
    made.set("Search", ",".join(f"{name}={given[name]}" for name in given if name.islower()))
    return made
