"""What a user who misspelt a name may have meant. The import loads nothing."""

from collections.abc import Iterable

_LIKENESS = 0.6  # of `difflib`: share of the letters that agree


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return `; did you mean NAME?` for the name that is most like a word; '' if none is like it.

    Capitals, and which of the signs `-`, `_` and the space stands between words, do not count.
    """
    import difflib  # noqa: PLC0415 - slow, hence only here

    plain = {_plain(name): name for name in names}
    found = difflib.get_close_matches(_plain(word), plain, n=1, cutoff=_LIKENESS)
    return f"; did you mean {plain[found[0]]}?" if found else ""


def _plain(word: str) -> str:
    return word.casefold().replace("-", " ").replace("_", " ").strip()
