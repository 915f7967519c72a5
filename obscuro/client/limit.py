"""How long a search may take: the words of `go`, and how long to wait for the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import chess

MILLISECONDS = 1000
NODES_SECONDS = 600.0
"""The most seconds of a search that is limited by nodes alone."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a search may take, until the first limit is reached. Times are in milliseconds.

    movetime: for this move; our engine does not count the time for its belief. nodes: histories
    added to the tree. clocks: White's and Black's time, then White's and Black's increment. Raises
    ValueError without a limit, and for a negative time or fewer nodes than 1.
    """

    movetime: int | None = None
    nodes: int | None = None
    clocks: tuple[int, int, int, int] | None = None

    def __post_init__(self) -> None:
        """Check the limits."""
        if self.movetime is None and self.nodes is None and self.clocks is None:
            raise ValueError("a search needs a limit: movetime, nodes or clocks")
        if min(self.movetime or 0, *(self.clocks or (0,))) < 0 or (
            self.nodes is not None and self.nodes < 1
        ):
            raise ValueError("a time is at least 0 ms, and nodes are at least 1")

    @property
    def command(self) -> str:
        """The command that starts such a search."""
        words = ["go"]
        if self.clocks is not None:
            names = ("wtime", "btime", "winc", "binc")
            words += [f"{name} {value}" for name, value in zip(names, self.clocks, strict=True)]
        if self.movetime is not None:
            words.append(f"movetime {self.movetime}")
        if self.nodes is not None:
            words.append(f"nodes {self.nodes}")
        return " ".join(words)

    def __str__(self) -> str:
        """Return the limit in words: `1.5 s or 20,000 nodes a move`."""
        parts = []
        if self.clocks is not None:
            white, black = (f"{clock / MILLISECONDS:g}" for clock in self.clocks[:2])
            parts.append(f"{white} s and {black} s on the clocks")
        if self.movetime is not None:
            parts.append(f"{self.movetime / MILLISECONDS:g} s")
        if self.nodes is not None:
            parts.append(f"{self.nodes:,} nodes")
        return f"{' or '.join(parts)} a move"

    def seconds(self, side: chess.Color) -> float:
        """Return the most seconds that a search for this side may take."""
        if self.movetime is not None:
            return self.movetime / MILLISECONDS
        if self.clocks is not None:
            return self.clocks[0 if side == chess.WHITE else 1] / MILLISECONDS
        return NODES_SECONDS

    def after(self, side: chess.Color, seconds: float) -> Limit:
        """Return the limit when the side's clock has run for these seconds more."""
        if self.clocks is None:
            return self
        white, black, *increments = self.clocks
        gone = round(max(seconds, 0.0) * MILLISECONDS)
        if side == chess.WHITE:
            white = max(0, white - gone)
        else:
            black = max(0, black - gone)
        return replace(self, clocks=(white, black, increments[0], increments[1]))
