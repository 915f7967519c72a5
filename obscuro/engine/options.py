"""Every option of the engine, defined once; the protocol, the command line and the docs use these.

The import is quick: nothing here needs compiled code.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from obscuro.engine.strength import LEAST_ELO, LEVELS, MOST_ELO, Strength, strength_of
from obscuro.evaluation.factory import evaluator_names
from obscuro.machine import MEBIBYTE, total_memory, usable_cores
from obscuro.rules.stalemate import LOSS, STALEMATES
from obscuro.search.parameters import (
    EDGES_PER_EXPANSION,
    FRESH_SHARE,
    ITERATIONS_PER_EXPANSION,
    MAX_SUPPORT,
    PUCT_C,
    PUCT_LEAST_VARIANCE,
    SearchParameters,
)
from obscuro.suggestion import did_you_mean

Kind = Literal["check", "spin", "number", "combo", "string"]
Value = bool | int | float | str

BYTES_PER_POSITION = 100  # of the belief, at the peak of an update
MOST_POSITIONS = 8_000_000
WEIGHTED_POSITIONS = 4_000_000  # `posterior.MOST_WEIGHTED`, which would load numba here
DEFAULT_CACHE = 32  # MiB: 96,000 positions; Stockfish takes a minute to evaluate them
LEAST_HASH = 16  # MiB
LONGEST_QUOTE = 20  # characters of a bad key


class OptionError(ValueError):
    """An option's name or value is bad; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option as UCI declares it, or one key of a string option that has `keys`.

    minimum and maximum belong to spins and numbers. known: returns the choices of a combo; plug-ins
    may add to them later. A `number` may have decimals; only keys are numbers. keys: a string with
    keys holds `key=value` pairs with commas between them; a key that is left out has its default.
    """

    name: str
    kind: Kind
    default: Value
    minimum: float = 0
    maximum: float = 0
    known: Callable[[], tuple[str, ...]] = tuple
    help: str = ""
    keys: "tuple[Option, ...]" = ()

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
        if self.kind in ("spin", "number"):
            try:
                number = int(text) if self.kind == "spin" else float(text)
            except ValueError:
                what = "a whole number" if self.kind == "spin" else "a number"
                raise OptionError(f"{self.name} must be {what}, not {text!r}") from None
            if not self.minimum <= number <= self.maximum:
                raise OptionError(
                    f"{self.name} must be between {self.minimum} and {self.maximum}, not {number}"
                )
            return number
        if self.kind == "combo":
            for choice in self.choices:
                if choice.lower() == text.lower():
                    return choice
            hint = did_you_mean(text[:LONGEST_QUOTE], self.choices)
            raise OptionError(
                f"{self.name} must be one of {', '.join(self.choices)}, not {text!r}{hint}"
            )
        return "" if text == "<empty>" else text

    def parse_keys(self, text: str) -> dict[str, Value]:
        """Read the pairs of an option with keys; returns the values of all keys.

        Raises OptionError, which names the key and says what is allowed.
        """
        by_name = {key.name: key for key in self.keys}
        values = {key.name: key.default for key in self.keys}
        given: set[str] = set()
        for pair in text.split(",") if text.strip() not in ("", "<empty>") else ():
            name, equals, value = (part.strip() for part in pair.partition("="))
            key = by_name.get(name.lower())
            if key is None:
                raise OptionError(
                    f"{self.name} has no key {name[:LONGEST_QUOTE]!r}; it has {', '.join(by_name)}"
                    + did_you_mean(name[:LONGEST_QUOTE], by_name)
                )
            if not equals:
                raise OptionError(f"{self.name}: {key.name} needs a value, as in {key.example}")
            if key.name in given:
                raise OptionError(f"{self.name}: {key.name} is given twice")
            given.add(key.name)
            try:
                values[key.name] = key.parse(value)
            except OptionError as error:
                raise OptionError(f"{self.name}: {error}") from None
        return values

    @property
    def example(self) -> str:
        """The key with its default, as a user writes it."""
        return f"{self.name}={text_of(self.default)}"

    def uci(self) -> str:
        """The line that declares it to a GUI."""
        if self.kind == "check":
            return f"option name {self.name} type check default {text_of(self.default)}"
        if self.kind == "spin":
            return (
                f"option name {self.name} type spin default {self.default} "
                f"min {self.minimum} max {self.maximum}"
            )
        if self.kind == "combo":
            choices = " ".join(f"var {choice}" for choice in self.choices)
            return f"option name {self.name} type combo default {self.default} {choices}"
        return f"option name {self.name} type string default {self.default or '<empty>'}"


def text_of(value: Value) -> str:
    """Return a value as a GUI sends it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


_MEMORY = total_memory() or 4 << 30
_MEMORY_MIB = _MEMORY // MEBIBYTE
_DEFAULT_HASH = max(64, min(1024, _MEMORY_MIB // 8))
_DEFAULT_POSITIONS = max(100_000, min(WEIGHTED_POSITIONS, _MEMORY // 8 // BYTES_PER_POSITION))

# In this game, as matches chose it (docs/results/strength.md): the root, and the solver's share.
ROOT_POSITIONS = 96
ROOT_FRESH_SHARE = 0.33
ROOT_POSTERIOR_DRAW = 0.5
ROOT_POSTERIOR_PRIOR = 1.0
OURS_SHARE = 0.5
OURS_PRIOR = 1.0
EDGES_PER_LEAF = 30_000
ITERATIONS_PER_LEAF = 1

SEARCH_KEYS: tuple[Option, ...] = (
    Option(
        "eval_cache",
        "spin",
        DEFAULT_CACHE,
        0,
        max(1024, _MEMORY_MIB),
        help="MiB, beside `Hash`, for values of positions, kept for the game; 0: none",
    ),
    Option("tau", "number", 6.0, 0.5, 50, help="pawns of Stockfish 14 that are worth tanh(1)"),
    Option("purification", "check", True, help="play the top action or few stable ones"),
    Option("unfrozen", "check", True, help="KLUSS; false: 1-KLSS"),
    Option("one_sided", "check", True, help="one-sided GT-CFR; false: both players explore"),
    Option(
        "resolve_prior",
        "combo",
        "mixed",
        known=lambda: ("mixed", "uniform"),
        help="how Resolve weighs the opponent's infosets",
    ),
    Option("soft_root", "number", 0.0, 0, 1, help="share of the prior in the root's strategy"),
    Option(
        "root_temperature",
        "spin",
        0,
        0,
        100_000,
        help="centipawns that make a position e times less likely; 0: all are alike",
    ),
    Option(
        "min_infoset_size",
        "spin",
        ROOT_POSITIONS,
        1,
        10_000,
        help="positions that the search begins with, or all if there are fewer",
    ),
    Option(
        "fresh_share",
        "number",
        ROOT_FRESH_SHARE,
        0,
        1,
        help="share of them that is drawn anew each turn, at least",
    ),
    Option(
        "sampling",
        "combo",
        "uniform",
        known=lambda: ("uniform", "diversity"),
        help="how they are drawn from a larger belief; `diversity`: by their values, as in GS2",
    ),
    Option(
        "posterior_draw",
        "number",
        ROOT_POSTERIOR_DRAW,
        0,
        1,
        help="share of them that is drawn by how plausibly the opponent played",
    ),
    Option(
        "posterior_prior",
        "number",
        ROOT_POSTERIOR_PRIOR,
        0,
        1,
        help="share of the prior over infosets that goes by how plausibly it played",
    ),
    Option(
        "max_kept_infosets",
        "spin",
        ROOT_POSITIONS,
        0,
        100_000,
        help="of the other side, from the last search's tree; 0: all",
    ),
    Option(
        "edges_per_expansion",
        "spin",
        EDGES_PER_LEAF,
        1_000,
        100_000_000,
        help="edges that the solver visits for each expanded leaf, at most",
    ),
    Option(
        "iterations_per_expansion",
        "spin",
        ITERATIONS_PER_LEAF,
        1,
        1_000,
        help="iterations of the solver for each expanded leaf, at most",
    ),
    Option("max_support", "spin", MAX_SUPPORT, 1, 100, help="moves that purification may mix"),
    Option("puct_c", "number", PUCT_C, 0, 100, help="weight of exploration"),
    Option(
        "puct_least_variance",
        "number",
        PUCT_LEAST_VARIANCE,
        0,
        1,
        help="the variance of an action's value never counts as less",
    ),
    Option(
        "ours_share",
        "number",
        OURS_SHARE,
        0,
        1,
        help="share of walks from a root that stay among positions that fit what was seen",
    ),
    Option(
        "ours_prior",
        "number",
        OURS_PRIOR,
        0,
        1,
        help="how far the prior of an infoset makes up for what of it does not fit what was seen",
    ),
)
"""The keys of the option `Search`; docs/algorithm.md says what each does."""

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
    Option("Move Overhead", "spin", 30, 0, 5000, help="ms kept back in every move"),
    Option("Ponder", "check", False, help="think on the other side's time, by itself too"),
    Option("UCI_Variant", "combo", "fogofwar", known=lambda: ("fogofwar",)),
    Option(
        "UCI_Chess960",
        "check",
        False,
        help="FENs and moves of Chess960: the king castles to its rook's square",
    ),
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
        MOST_POSITIONS,
        help="most positions of the belief; past that it keeps what the likeliest ones lead to",
    ),
    Option("Search", "string", "", help="research settings of the search", keys=SEARCH_KEYS),
)


def options_named(*names: str) -> tuple[Option, ...]:
    """The engine's options with these names, in this order, for another player that has them."""
    by_name = {option.name: option for option in OPTIONS}
    return tuple(by_name[name] for name in names)


def search_option(*names: str, own: tuple[Option, ...] = ()) -> Option:
    """The option `Search` of another player: the engine's keys with these names, and its own."""
    by_name = {key.name: key for key in SEARCH_KEYS}
    (search,) = options_named("Search")
    return replace(search, keys=(*own, *(by_name[name] for name in names)))


class Options:
    """The values of all options of one player, and of their keys.

    `set` takes the text that a GUI sends. The other methods take the proper name of an option or of
    a key. table: the options that there are; by default the engine's.
    """

    def __init__(self, table: tuple[Option, ...] = OPTIONS) -> None:
        self.table = table
        self._by_name = {option.name.lower(): option for option in table}
        self._values: dict[str, Value] = {
            each.name: each.default for option in table for each in (option.keys or (option,))
        }

    def __contains__(self, name: str) -> bool:
        """Whether there is an option or a key with this name."""
        return name in self._values or name.lower() in self._by_name

    def set(self, name: str, text: str) -> str:
        """Set an option by its name in any case; returns the proper name.

        Raises OptionError; then nothing changes.
        """
        option = self._by_name.get(" ".join(name.split()).lower())
        if option is None:
            key = "_".join(name.split()).lower()
            if key in self._values:
                raise OptionError(f"no such option: {name!r}; set {key} in the option Search")
            names = [option.name for option in self.table]
            hint = did_you_mean(name[:LONGEST_QUOTE], names)
            raise OptionError(f"no such option: {name!r}{hint}")
        if option.keys:
            self._values |= option.parse_keys(text)
        else:
            self._values[option.name] = option.parse(text)
        return option.name

    def get(self, name: str) -> Value:
        """The value of an option or a key; of an option with keys, those that are no defaults."""
        option = self._by_name.get(name.lower())
        if option is None or not option.keys:
            return self._values[name]
        changed = (key for key in option.keys if self._values[key.name] != key.default)
        return ",".join(f"{key.name}={text_of(self._values[key.name])}" for key in changed)

    def integer(self, name: str) -> int:
        """The value of a spin."""
        value = self._values[name]
        assert isinstance(value, int)
        return value

    def number(self, name: str) -> float:
        """The value of a spin or a number."""
        value = self._values[name]
        assert not isinstance(value, str)
        return value

    def flag(self, name: str) -> bool:
        """The value of a check; False for a player without it."""
        return bool(self._values.get(name, False))

    def text(self, name: str) -> str:
        """The value of a combo or a string."""
        return str(self.get(name))

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
        """A copy with the values that count: `UCI_LimitStrength` sets and lowers some.

        One thread searches then, so that the strength does not depend on the machine. Keys that are
        at their defaults have the values that the levels were measured with.
        """
        copied, strength = self.copy(), self.strength
        if strength is not None:
            measured: dict[str, Value] = {
                "min_infoset_size": strength.roots,
                "max_kept_infosets": strength.roots,
                "fresh_share": FRESH_SHARE,
                "posterior_draw": 0.0,
                "posterior_prior": 0.0,
                "edges_per_expansion": EDGES_PER_EXPANSION,
                "iterations_per_expansion": ITERATIONS_PER_EXPANSION,
                "ours_share": 0.0,
                "ours_prior": 0.0,
            }
            default = {key.name: key.default for key in SEARCH_KEYS}
            for name, value in measured.items():
                if self._values[name] == default[name]:
                    copied._values[name] = value
            limits = {
                "Threads": 1,
                "Max Positions": strength.positions,
                "min_infoset_size": strength.roots,
                "max_kept_infosets": strength.roots,
            }
            for name, most in limits.items():
                copied._values[name] = min(copied.integer(name) or most, most)
        return copied

    def search_parameters(self) -> SearchParameters:
        """The settings of the search."""
        return SearchParameters(
            edges_per_expansion=self.integer("edges_per_expansion"),
            iterations_per_expansion=self.integer("iterations_per_expansion"),
            min_infoset_size=self.integer("min_infoset_size"),
            fresh_share=self.number("fresh_share"),
            max_kept_infosets=self.integer("max_kept_infosets"),
            max_support=self.integer("max_support"),
            puct_c=self.number("puct_c"),
            puct_least_variance=self.number("puct_least_variance"),
            ours_share=self.number("ours_share"),
            ours_prior=self.number("ours_prior"),
            purification=self.flag("purification"),
            unfrozen=self.flag("unfrozen"),
            one_sided=self.flag("one_sided"),
            mixed_prior=self.text("resolve_prior") == "mixed",
            soft_root=self.number("soft_root"),
            root_temperature=self.integer("root_temperature") / (100 * self.number("tau")),
            diverse=self.text("sampling") == "diversity",
            posterior_draw=self.number("posterior_draw"),
            posterior_prior=self.number("posterior_prior"),
        )
