"""An engine's answer to `coverage`, read from its line (docs/protocol.md)."""

from __future__ import annotations

from obscuro.engine.report import Coverage

_ANSWER = "info string coverage "
_FLAGS = {"true": True, "false": False}


def read_coverage(line: str) -> Coverage | None:
    """Read an engine's answer to `coverage`; None if it is none.

    >>> read_coverage("info string coverage belief true search none")
    Coverage(in_belief=True, in_infoset=None, expanded=None, weight=None)
    """
    if not line.startswith(_ANSWER):
        return None
    words = line.removeprefix(_ANSWER).split()
    said = dict(zip(words[::2], words[1::2], strict=False))
    in_belief = _FLAGS.get(said.get("belief", ""))
    if in_belief is None:
        return None
    try:
        weight = float(said["weight"]) if "weight" in said else None
    except ValueError:
        weight = None
    return Coverage(
        in_belief,
        _FLAGS.get(said.get("infoset", "")),
        _FLAGS.get(said.get("expanded", "")),
        weight,
    )
