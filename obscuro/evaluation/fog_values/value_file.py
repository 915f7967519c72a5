"""Files of fog values: the weights of the features in pawns, and what they were fitted to.

A file is JSON, so that a player can read it:

    {
      "format": "obscuro fog values 1",
      "data": {"fingerprint": "…", "games": 300, …},
      "constant": -0.1,
      "slope": -0.05,
      "side to move": {"rooks attacked out of the fog": -0.5, …},
      "other side": {…}
    }

`constant` is added in the view of the side to move; `slope` is the share of the value itself. Each
feature has both weights, in the view of the side to move.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.fog_values.correction import CONSTANT, FIRST_FEATURE, SLOPE, WEIGHT_COUNT
from obscuro.evaluation.fog_values.sight_features import FEATURE_COUNT, FEATURES

FORMAT = "obscuro fog values 1"
SHIPPED = Path(__file__).with_name("fog_values_1.json")
LARGEST_WEIGHT = 100.0  # pawns
_SIDES = ("side to move", "other side")


class FogValuesError(ValueError):
    """A file of fog values is missing or wrong; the text is one line that names the file."""


@dataclass(frozen=True)
class FogValues:
    """Weights, and what they come from.

    weights: float64[WEIGHT_COUNT], in pawns, as `correction` takes them. data: what they were
    fitted to, with a `fingerprint` of it.
    """

    weights: npt.NDArray[np.float64]
    data: dict[str, Any]


def no_fog_values() -> FogValues:
    """Return weights that change no value."""
    return FogValues(np.zeros(WEIGHT_COUNT), {"fingerprint": "none"})


def read_fog_values(path: Path = SHIPPED) -> FogValues:
    """Read a file. Raises FogValuesError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FogValuesError(f"{path}: {error.strerror or error}") from None
    except ValueError:
        raise FogValuesError(f"{path} is not JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FogValuesError(f"{path} is not of the format {FORMAT!r}")
    data = content.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("fingerprint"), str):
        raise FogValuesError(f"{path} does not say what it was fitted to")
    weights = np.zeros(WEIGHT_COUNT)
    weights[CONSTANT] = _weight(path, content, "constant")
    weights[SLOPE] = _weight(path, content, "slope")
    for number, side in enumerate(_SIDES):
        named = content.get(side)
        if not isinstance(named, dict) or set(named) != set(FEATURES):
            raise FogValuesError(
                f"{path}: the features of the {side} are not those of this version"
            )
        first = FIRST_FEATURE + number * FEATURE_COUNT
        weights[first : first + FEATURE_COUNT] = [_weight(path, named, name) for name in FEATURES]
    return FogValues(weights, data)


def write_fog_values(path: Path, values: FogValues) -> None:
    """Write a file. Raises OSError."""
    weights = [round(float(weight), 4) for weight in values.weights]
    content: dict[str, Any] = {
        "format": FORMAT,
        "data": values.data,
        "constant": weights[CONSTANT],
        "slope": weights[SLOPE],
    }
    for number, side in enumerate(_SIDES):
        first = FIRST_FEATURE + number * FEATURE_COUNT
        named = zip(FEATURES, weights[first : first + FEATURE_COUNT], strict=True)
        content[side] = dict(named)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _weight(path: Path, named: dict[str, Any], name: str) -> float:
    weight: Any = named.get(name)
    good = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not good or not math.isfinite(weight) or abs(weight) > LARGEST_WEIGHT:
        raise FogValuesError(f"{path}: the weight of {name!r} is not a number of pawns")
    return float(weight)
