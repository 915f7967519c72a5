"""Every option of the engine, defined once; the protocol, the command line and the docs use these.

The import is quick: nothing here needs compiled code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from obscuro.engine.machine import MEBIBYTE, total_memory, usable_cores
from obscuro.engine.strength import LEAST_ELO, LEVELS, MOST_ELO, Strength, strength_of
from obscuro.evaluation.factory import evaluator_names
from obscuro.rules.stalemate import LOSS, STALEMATES
from obscuro.search.parameters import (
    EDGES_PER_EXPANSION,
    FRESH_SHARE,
    ITERATIONS_PER_EXPANSION,
    MAX_KEPT_INFOSETS,
    MAX_SUPPORT,
    MIN_INFOSET_SIZE,
    PUCT_C,
    PUCT_LEAST_VARIANCE,
    SearchParameters,
)

Kind = Literal["check", "spin", "combo", "string"]
Value = bool | int | str

PUCT_UNIT = 100  # `Puct C` is a spin: hundredths
VARIANCE_UNIT = 1000  # `Puct Least Variance`: thousandths
BYTES_PER_POSITION = 100  # of the belief, at the peak of an update
MOST_POSITIONS = 8_000_000
DEFAULT_CACHE = 32  # MiB: 96,000 positions; Stockfish takes a minute to evaluate them
LEAST_HASH = 16  # MiB


class OptionError(ValueError):
    """An option's name or value is bad; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option as UCI declares it. minimum and maximum belong to spins, choices to combos.

    known: returns the choices; plug-ins may add to them later.
    """

    name: str
    kind: Kind
    default: Value
    minimum: int = 0
    maximum: int = 0
    known: Callable[[], tuple[str, ...]] = tuple
    help: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """What a combo can be set to."""
        return self.known()

    def parse(self, text: str) -> Value:
        """Read a value as a GUI sends it; raises OptionError."""
        if self.kind == "check":
            if text.lower() not in ("true", "false"):
                raise OptionError(f"{self.name} must be true or false, not {text!r}")
            return text.lower() == "true"
        if self.kind == "spin":
            try:
                number = int(text)
            except ValueError:
                raise OptionError(f"{self.name} must be a whole number, not {text!r}") from None
            if not self.minimum <= number <= self.maximum:
                raise OptionError(
                    f"{self.name} must be between {self.minimum} and {self.maximum}, not {number}"
                )
            return number
        if self.kind == "combo":
            for choice in self.choices:
                if choice.lower() == text.lower():
                    return choice
            raise OptionError(f"{self.name} must be one of {', '.join(self.choices)}, not {text!r}")
        return "" if text == "<empty>" else text

    def uci(self) -> str:
        """The line that declares it to a GUI."""
        if self.kind == "check":
            return f"option name {self.name} type check default {str(self.default).lower()}"
        if self.kind == "spin":
            return (
                f"option name {self.name} type spin default {self.default} "
                f"min {self.minimum} max {self.maximum}"
            )
        if self.kind == "combo":
            choices = " ".join(f"var {choice}" for choice in self.choices)
            return f"option name {self.name} type combo default {self.default} {choices}"
        return f"option name {self.name} type string default {self.default or '<empty>'}"


_MEMORY = total_memory() or 4 << 30
_MEMORY_MIB = _MEMORY // MEBIBYTE
_DEFAULT_HASH = max(64, min(1024, _MEMORY_MIB // 8))
_DEFAULT_POSITIONS = max(100_000, min(MOST_POSITIONS, _MEMORY // 8 // BYTES_PER_POSITION))

OPTIONS: tuple[Option, ...] = (
    Option(
        "Threads",
        "spin",
        min(usable_cores(), 4),
        1,
        256,
        help="n of them search together; 1: deterministic",
    ),
    Option(
        "Hash", "spin", _DEFAULT_HASH, LEAST_HASH, max(1024, _MEMORY_MIB), help="MiB for the tree"
    ),
    Option(
        "Eval Cache",
        "spin",
        DEFAULT_CACHE,
        0,
        max(1024, _MEMORY_MIB),
        help="MiB, beside Hash, for the values of positions that were evaluated; 0: none",
    ),
    Option("Move Overhead", "spin", 30, 0, 5000, help="ms kept back in every move"),
    Option("Ponder", "check", False, help="think on the other side's time, by itself too"),
    Option("UCI_Variant", "combo", "fogofwar", known=lambda: ("fogofwar",)),
    Option("UCI_ShowWDL", "check", False, help="win, draw and loss in per mille with each score"),
    Option("UCI_LimitStrength", "check", False, help="play as weakly as UCI_Elo says"),
    Option(
        "UCI_Elo",
        "spin",
        LEVELS[len(LEVELS) // 2].elo,
        LEAST_ELO,
        MOST_ELO,
        help="strength under UCI_LimitStrength, on this engine's own scale",
    ),
    Option(
        "Stalemate",
        "combo",
        LOSS,
        known=lambda: STALEMATES,
        help="what a side without a move gets; pychess: draw",
    ),
    Option("Stockfish", "string", "", help="path of Stockfish; empty: look for it"),
    Option("Evaluator", "combo", "nnue", known=evaluator_names),
    Option("Seed", "spin", 0, 0, 2**31 - 1, help="0: from the clock"),
    Option(
        "Max Positions",
        "spin",
        _DEFAULT_POSITIONS,
        1000,
        max(MOST_POSITIONS, _DEFAULT_POSITIONS),
        help="the belief keeps at most so many positions, and a random subset past that",
    ),
    Option("Purification", "check", True, help="play the top action or few stable ones"),
    Option("Unfrozen", "check", True, help="KLUSS; off: 1-KLSS"),
    Option("One Sided", "check", True, help="one-sided GT-CFR; off: both players explore"),
    Option("Resolve Prior", "combo", "mixed", known=lambda: ("mixed", "uniform")),
    Option(
        "Soft Root",
        "spin",
        0,
        0,
        100,
        help="per cent of the prior itself in the root's strategy; the paper's is 0",
    ),
    Option(
        "Root Temperature",
        "spin",
        0,
        0,
        100_000,
        help="centipawns that make a position e times less likely; 0: all are alike",
    ),
    Option(
        "Min Infoset Size",
        "spin",
        MIN_INFOSET_SIZE,
        1,
        10_000,
        help="the search begins with so many positions, or with all there are",
    ),
    Option(
        "Fresh Share",
        "spin",
        round(FRESH_SHARE * 100),
        0,
        100,
        help="per cent of them that are drawn anew each turn, at least",
    ),
    Option(
        "Sampling",
        "combo",
        "uniform",
        known=lambda: ("uniform", "diversity"),
        help="how new ones are drawn of a larger belief; `diversity`: by their values, as in GS2",
    ),
    Option(
        "Max Kept Infosets",
        "spin",
        MAX_KEPT_INFOSETS,
        0,
        100_000,
        help="of the other side, from the last search's tree; 0: all",
    ),
    Option(
        "Edges Per Expansion",
        "spin",
        EDGES_PER_EXPANSION,
        1_000,
        100_000_000,
        help="edges that the solver visits for each leaf that is expanded, at most",
    ),
    Option(
        "Iterations Per Expansion",
        "spin",
        ITERATIONS_PER_EXPANSION,
        1,
        1_000,
        help="iterations of the solver for each leaf that is expanded, at most",
    ),
    Option("Max Support", "spin", MAX_SUPPORT, 1, 100),
    Option("Puct C", "spin", int(PUCT_C * PUCT_UNIT), 0, 10_000, help="in hundredths"),
    Option(
        "Puct Least Variance",
        "spin",
        round(PUCT_LEAST_VARIANCE * VARIANCE_UNIT),
        0,
        VARIANCE_UNIT,
        help="in thousandths",
    ),
    Option("Tau", "spin", 600, 50, 5000, help="centipawns of Stockfish 14 worth tanh(1)"),
)


def options_named(*names: str) -> tuple[Option, ...]:
    """The engine's options with these names, in this order, for another player that has them."""
    by_name = {option.name: option for option in OPTIONS}
    return tuple(by_name[name] for name in names)


class Options:
    """The values of all options of one player. `set` takes the text that a GUI sends.

    table: the options that there are; by default the engine's.
    """

    def __init__(self, table: tuple[Option, ...] = OPTIONS) -> None:
        self.table = table
        self._by_name = {option.name.lower(): option for option in table}
        self._values: dict[str, Value] = {option.name: option.default for option in table}

    def __contains__(self, name: str) -> bool:
        """Whether there is an option with this proper name."""
        return name in self._values

    def set(self, name: str, text: str) -> str:
        """Set an option by its name in any case; returns the proper name. Raises OptionError."""
        option = self._by_name.get(" ".join(name.split()).lower())
        if option is None:
            raise OptionError(f"no such option: {name!r}")
        self._values[option.name] = option.parse(text)
        return option.name

    def get(self, name: str) -> Value:
        """The value of an option by its proper name."""
        return self._values[name]

    def integer(self, name: str) -> int:
        """The value of a spin option."""
        value = self._values[name]
        assert isinstance(value, int)
        return value

    def flag(self, name: str) -> bool:
        """The value of a check option."""
        return bool(self._values[name])

    def text(self, name: str) -> str:
        """The value of a combo or string option."""
        return str(self._values[name])

    def copy(self) -> "Options":
        """An independent copy."""
        copied = Options(self.table)
        copied._values = dict(self._values)
        return copied

    @property
    def strength(self) -> Strength | None:
        """What `UCI_Elo` limits play to; None without `UCI_LimitStrength`."""
        if not self.flag("UCI_LimitStrength"):
            return None
        return strength_of(self.integer("UCI_Elo"))

    def effective(self) -> "Options":
        """A copy with the values that count: under `UCI_LimitStrength` some are smaller.

        One thread searches then, so that the strength does not depend on the machine.
        """
        copied, strength = self.copy(), self.strength
        if strength is not None:
            limits = {
                "Threads": 1,
                "Max Positions": strength.positions,
                "Min Infoset Size": strength.roots,
                "Max Kept Infosets": strength.roots,
            }
            for name, most in limits.items():
                copied._values[name] = min(self.integer(name) or most, most)
        return copied

    def search_parameters(self) -> SearchParameters:
        """The options of the search."""
        return SearchParameters(
            edges_per_expansion=self.integer("Edges Per Expansion"),
            iterations_per_expansion=self.integer("Iterations Per Expansion"),
            min_infoset_size=self.integer("Min Infoset Size"),
            fresh_share=self.integer("Fresh Share") / 100,
            max_kept_infosets=self.integer("Max Kept Infosets"),
            max_support=self.integer("Max Support"),
            puct_c=self.integer("Puct C") / PUCT_UNIT,
            puct_least_variance=self.integer("Puct Least Variance") / VARIANCE_UNIT,
            purification=self.flag("Purification"),
            unfrozen=self.flag("Unfrozen"),
            one_sided=self.flag("One Sided"),
            mixed_prior=self.text("Resolve Prior") == "mixed",
            soft_root=self.integer("Soft Root") / 100,
            root_temperature=self.integer("Root Temperature") / self.integer("Tau"),
            diverse=self.text("Sampling") == "diversity",
        )
