"""Options for quick, deterministic players that need nothing installed."""

from __future__ import annotations

from obscuro.engine.options import Options

QUICK = {"Threads": 1, "Evaluator": "material", "Hash": 64, "Seed": 7, "Max_Positions": 10**6}


def options(**values: object) -> Options:
    """Return `QUICK` with some options changed. A name in lower case is a key of `Search`."""
    made = Options()
    given = {**QUICK, **values}
    for name, value in given.items():
        if not name.islower():
            made.set(name.replace("_", " "), str(value))
    made.set("Search", ",".join(f"{name}={given[name]}" for name in given if name.islower()))
    return made
