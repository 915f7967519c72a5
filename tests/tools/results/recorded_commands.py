"""Commands of raw files, in the words that they have today.

Until November 2026 the settings of the search were options of their own, some in other units.
"""

from __future__ import annotations

import shlex

_UNITS = {
    "tau": 100,
    "soft_root": 100,
    "fresh_share": 100,
    "puct_c": 100,
    "puct_least_variance": 1000,
    "resolve_prior": None,
    "root_temperature": None,
    "min_infoset_size": None,
    "edges_per_expansion": None,
    "iterations_per_expansion": None,
    "sampling": None,
}
"""By what the old option's number is divided; None: the value is the same."""


def words_of_today(command: str) -> list[str]:
    """Return the words of a command, the old options of each flag as one option `Search`."""
    kept: list[str] = []
    keys: dict[str, list[str]] = {}
    place: dict[str, int] = {}
    words = iter(shlex.split(command))
    for word in words:
        kept.append(word)
        if not word.startswith("--option"):
            continue
        option = next(words)
        name, _, value = option.partition("=")
        key = name.replace(" ", "_").lower()
        if key not in _UNITS:
            kept.append(option)
            continue
        if word in place:
            kept.pop()
        else:
            place[word] = len(kept)
            kept.append("")
        unit = _UNITS[key]
        keys.setdefault(word, []).append(
            f"{key}={float(value) / unit:g}" if unit else f"{key}={value}"
        )
    for flag, index in place.items():
        kept[index] = f"Search={','.join(keys[flag])}"
    return kept
