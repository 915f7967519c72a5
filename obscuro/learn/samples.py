"""Sampled positions of recorded games: what the network, a solved tree and the result say of them."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.learn.learn_error import LearnError
from obscuro.rules.layout import STATE

FORMAT = "obscuro samples 1"
_HEADER, _FOLLOWED = "header", "followed"


def white_is_followed(games: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Return for keys of games, uint64[n], which side is followed: as a coin would say, bool[n]."""
    return (games & np.uint64(1)).astype(np.bool_)


class Samples(NamedTuple):
    """Positions, n in all. Values and results are in the view of the side to move."""

    states: npt.NDArray[np.uint64]  # [n, 8]
    leaf: npt.NDArray[np.float32]  # [n] value of a leaf there, without a correction, [-1, 1]
    solved: npt.NDArray[np.float32]  # [n] value in the tree that a search solved; NaN: no search
    weight: npt.NDArray[np.float32]  # [n] share of the reach of the side's infoset, [0, 1]
    true: npt.NDArray[np.bool_]  # [n] whether the game was in this position
    game: npt.NDArray[np.uint64]  # [n] key of the game
    ply: npt.NDArray[np.int16]  # [n] plies of the game before it
    result: npt.NDArray[np.int8]  # [n] of the game: 1, 0 or -1

    def where(self, chosen: npt.NDArray[np.bool_]) -> Samples:
        """Return the samples of a mask bool[n]."""
        return Samples._make(column[chosen] for column in self)

    def followed_to_move(self) -> npt.NDArray[np.bool_]:
        """Return whether the side to move is the one that was followed, and searched: bool[n]."""
        white_to_move = (self.states[:, STATE] & np.uint64(1)) == 0
        same: npt.NDArray[np.bool_] = white_is_followed(self.game) == white_to_move
        return same

    def check(self) -> None:
        """Raise ValueError if the columns cannot be those of samples."""
        count = len(self.leaf)
        if self.states.shape != (count, 8) or any(len(column) != count for column in self):
            raise ValueError("columns of different lengths")
        wanted = no_samples()
        types = [[np.asarray(column).dtype for column in each] for each in (self, wanted)]
        if types[0] != types[1]:
            raise ValueError("columns of wrong types")
        solved = self.solved[~np.isnan(self.solved)]
        if not np.isfinite(self.leaf).all() or (np.abs(self.leaf) > 1).any():
            raise ValueError("values of leaves outside of [-1, 1]")
        if (np.abs(solved) > 1 + 1e-3).any() or (np.abs(self.result) > 1).any():
            raise ValueError("values or results outside of [-1, 1]")


def no_samples() -> Samples:
    """Return columns without a row."""
    return Samples(
        np.zeros((0, 8), np.uint64),
        np.zeros(0, np.float32),
        np.zeros(0, np.float32),
        np.zeros(0, np.float32),
        np.zeros(0, np.bool_),
        np.zeros(0, np.uint64),
        np.zeros(0, np.int16),
        np.zeros(0, np.int8),
    )


def joined(parts: Sequence[Samples]) -> Samples:
    """Return the samples of all parts, in their order."""
    return Samples._make(
        np.concatenate(columns) for columns in zip(no_samples(), *parts, strict=True)
    )


@dataclass(frozen=True)
class SampleFile:
    """The content of one file of samples.

    origin: how it was collected: the engine, the network, the searches. followed: uint64[g], the
    keys of the games that were followed, those without a sample too.
    """

    samples: Samples
    origin: dict[str, Any]
    followed: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))

    @property
    def fingerprint(self) -> str:
        """A hash of the samples and of their origin, 16 hexadecimal digits."""
        digest = hashlib.blake2b(_to_json(self.origin).encode(), digest_size=8)
        for column in self.samples:
            digest.update(np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()


def write_samples(path: Path, content: SampleFile) -> None:
    """Write a file as a whole: a reader finds the old content or the new one. Raises OSError."""
    header = {"format": FORMAT, "fingerprint": content.fingerprint, "origin": content.origin}
    columns: dict[str, Any] = {
        _HEADER: np.array(_to_json(header)),
        _FOLLOWED: content.followed,
        **content.samples._asdict(),
    }
    fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("wb") as stream:
            np.savez_compressed(stream, **columns)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def read_samples(path: Path) -> SampleFile:
    """Read a file. Raises LearnError."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            header = json.loads(str(stored[_HEADER]))
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise LearnError(f"{path} is not of the format {FORMAT!r}; collect it again")
            samples = Samples._make(stored[name] for name in Samples._fields)
            content = SampleFile(samples, header["origin"], stored[_FOLLOWED])
        samples.check()
    except OSError as error:
        raise LearnError(f"can't read {path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise LearnError(f"{path} is no file of `obscuro learn collect`, or damaged") from None
    if content.fingerprint != header["fingerprint"]:
        raise LearnError(f"{path} is damaged: its content has another fingerprint")
    return content


@dataclass(frozen=True)
class Collected:
    """The samples of one or several files; `facts` says what they are, for people and for files."""

    samples: Samples
    facts: dict[str, Any]


def read_all(paths: Sequence[Path]) -> Collected:
    """Read several files. A game of two files counts once, with the first one's samples.

    Raises LearnError, also if their leaves have values of different networks.
    """
    parts: list[Samples] = []
    files = [read_samples(path) for path in paths]
    for path, file in zip(paths, files, strict=True):
        if file.origin.get("network") != files[0].origin.get("network"):
            raise LearnError(
                f"{path} has values of the network {file.origin.get('network')}, and {paths[0]} of "
                f"{files[0].origin.get('network')}"
            )
        known = np.concatenate([part.game for part in parts]) if parts else np.zeros(0, np.uint64)
        parts.append(file.samples.where(~np.isin(file.samples.game, known)))
    fingerprints = [file.fingerprint for file in files]
    whole = hashlib.blake2b(" ".join(fingerprints).encode(), digest_size=8).hexdigest()
    samples = joined(parts)
    return Collected(
        samples,
        {
            "fingerprint": fingerprints[0] if len(files) == 1 else whole,
            "games": len(np.unique(samples.game)),
            "positions": len(samples.leaf),
            "origins": [file.origin for file in files],
        },
    )


def _to_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
