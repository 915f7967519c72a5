"""The bounds of a sequential test, as they are agreed before the first game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class SprtBounds:
    """Two hypotheses about the first player's advantage, and the error rates of the test.

    elo0, elo1: the advantage under H0 and H1, logistic Elo. alpha: how often H1 may be accepted
    where H0 is true. beta: how often H0 may be accepted where H1 is true.
    """

    elo0: float = 0.0
    elo1: float = 15.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Raise ValueError for a test that can't be made."""
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0={self.elo0:g} must be less than elo1={self.elo1:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise ValueError(f"{name}={value:g} must lie between 0 and 0.5")

    def to_json(self) -> dict[str, float]:
        """Return the bounds as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, float]) -> SprtBounds:
        """Read what `to_json` wrote. Raises TypeError or ValueError for anything else."""
        return cls(**{name: float(value) for name, value in data.items()})
