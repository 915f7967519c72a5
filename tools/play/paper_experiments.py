"""The matches of the Obscuro paper, and some that it has not: who plays, how, and what it says.

Each is defined once here. `paper_matches` plays them, `paper_tables` makes the tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import NamedTuple

from obscuro.engine.options import SEARCH_KEYS
from obscuro.matches.elo import Tally

PAPER_RULES: Mapping[str, str] = {
    "Evaluator": "nnue",  # Stockfish 14 in the paper (§3.3, C.5)
    "tau": "6.0",  # six pawns, of ZS21; the paper: "in the same manner as done by ZS21" (C.5)
    "purification": "true",  # §3.5, C.8
    "max_support": "3",  # Fig. 8, MAXSUPPORT
    "unfrozen": "true",  # KLUSS (C.6)
    "one_sided": "true",  # one-sided GT-CFR (C.4)
    "resolve_prior": "mixed",  # α (C.3)
    "soft_root": "0.0",  # ours; the paper has Resolve and Maxmargin alone (C.1)
    "root_temperature": "0",  # ours; all new positions are alike in α (C.3)
    "min_infoset_size": "256",  # Fig. 9, MININFOSETSIZE
    "fresh_share": "0.0",  # ours is 0.33: positions are only drawn where I has too few (Fig. 9)
    "sampling": "uniform",  # "get random state s ∈ P∖I" (Fig. 9)
    "posterior_draw": "0.0",  # ours: positions are drawn evenly (Fig. 9)
    "posterior_prior": "0.0",  # ours: all new positions are alike in α (C.3)
    "max_kept_infosets": "0",  # ours is 96: J₀ holds all J of the kept tree (Fig. 9)
    "puct_c": "1.0",  # C = 1 (C.4)
    "puct_least_variance": "0.0",  # ours is 0.02: σ has no floor (C.4)
    "ours_share": "0.0",  # ours is 0.5: chance draws from J as it is (C.4)
    "ours_prior": "0.0",  # ours is 1: α is what C.3 says
}
"""The engine as the paper describes it: values of options, and of keys of the option `Search`."""

ABLATIONS: Mapping[str, Mapping[str, str]] = {
    "purification": {"purification": "false"},
    "klss": {"unfrozen": "false"},
    "two-sided": {"one_sided": "false"},
    "uniform-prior": {"resolve_prior": "uniform"},
    "all-off": {
        "purification": "false",
        "unfrozen": "false",
        "one_sided": "false",
        "resolve_prior": "uniform",
    },
    "simple-evaluation": {"Evaluator": "material"},
}
"""The ablations of Obscuro §4.1 (Table 3's order): what each sets in place of a technique.

The last one is weaker than the paper's, which keeps the search of captures: see `SIMPLE`.
"""

SIMPLE: Mapping[str, str] = {**PAPER_RULES, "Evaluator": "simple"}
"""The paper's engine with its simple evaluation."""


def as_options(rules: Mapping[str, str]) -> dict[str, str]:
    """Return rules as options that a GUI can set: the keys of `Search` in one text."""
    keys = {key.name for key in SEARCH_KEYS}
    options = {name: value for name, value in rules.items() if name not in keys}
    search = ",".join(f"{name}={value}" for name, value in rules.items() if name in keys)
    return {**options, "Search": search} if search else options


OBSCURO, ZS21, RANDOM = "obscuro", "zs21", "random"
OLD_COMMIT = "909392b"
OLD_ENGINE = f"build/engines/{OLD_COMMIT}/engine_bin/obscuro"
CUT_MILLISECONDS = 100
"""For a move, where the paper has 5 s."""
ZS21_MILLISECONDS = 200
"""For a move against `zs21`: with less it hardly solves one program a turn."""
LONG_MILLISECONDS = 1000
"""For a move where a result differs from the paper's, to see if the cut time is the cause."""
FIRST_MOVE_MILLISECONDS = 50
"""For a move of the games from Black's first moves: 1,800 of them."""
PAPER_MILLISECONDS, PAPER_THREADS = 5000, 5
LEAST_HASH, MOST_HASH = 256, 4096
"""MiB for the tree of a player, and so many for each second and thread: a thread fills a third."""
BLOCK_MILLISECONDS = 2000
"""A block of games has so many for this time a move in all: 20 at 100 ms."""
MOST_IN_BLOCK = 80


def percent(tally: Tally) -> str:
    """Return a score in per cent as the paper rounds it: a half goes up."""
    tenths = (2 * (2 * tally.wins + tally.draws) * 1000 + 2 * tally.games) // (4 * tally.games)
    return f"{tenths // 10}.{tenths % 10} %"


class Contender(NamedTuple):
    """One side of an experiment.

    player: as `obscuro match` takes it. options: rules beside Threads, Hash and the overhead.
    milliseconds: for a move; None: what the experiment says. threads: a factor of the experiment's.
    """

    player: str
    options: Mapping[str, str] = {}
    milliseconds: int | None = None
    threads: int = 1

    @property
    def searches(self) -> bool:
        """Whether it is the engine, which has all of its options."""
        return self.player not in (ZS21, RANDOM)

    def settings(self, threads: int, milliseconds: int) -> dict[str, str]:
        """Return all UCI options that a match sets. threads, milliseconds: of the experiment."""
        if self.player == RANDOM:
            return {}
        common = {"Move Overhead": "0"}
        if self.searches:
            count = self.threads * threads
            seconds = math.ceil((self.milliseconds or milliseconds) * count / 1000)
            common |= {"Threads": str(count), "Hash": str(min(LEAST_HASH * seconds, MOST_HASH))}
        return {**common, **as_options(self.options)}


class Experiment(NamedTuple):
    """A match. All results are in the view of the first contender.

    group: the table that it is in. label: its row. games: how many the paper played, or how many are
    wanted. paper: the paper's result, if it has one. openings: as `obscuro match` takes them.
    """

    name: str
    group: str
    label: str
    first: Contender
    second: Contender
    games: int = 1000
    milliseconds: int = CUT_MILLISECONDS
    paper: Tally | None = None
    openings: str = "default"

    @property
    def threads(self) -> int:
        """How many cores a game keeps busy, for each thread that the experiment is given."""
        return max(self.first.threads, self.second.threads)

    def mean_milliseconds(self, milliseconds: int | None) -> float:
        """Return the mean time for a move of both. milliseconds: in place of the experiment's."""
        each = milliseconds or self.milliseconds
        return fmean(
            0 if side.player == RANDOM else side.milliseconds or each
            for side in (self.first, self.second)
        )

    def block(self, milliseconds: int | None) -> int:
        """Return how many games are played at a stretch, an even number."""
        pairs = round(BLOCK_MILLISECONDS / max(1, self.mean_milliseconds(milliseconds)) / 2)
        return 2 * max(1, min(MOST_IN_BLOCK // 2, pairs))

    def command(
        self,
        games: int,
        *,
        milliseconds: int | None = None,
        threads: int = 1,
        seed: int = 1,
        concurrency: int = 1,
    ) -> list[str]:
        """Return the `obscuro match` of some of its games. milliseconds: of both, for a move."""
        words = ["obscuro", "match", self.first.player, self.second.player]
        words += ["--games", str(games), "--movetime", str(milliseconds or self.milliseconds)]
        for letter, side in zip("ab", (self.first, self.second), strict=True):
            if side.milliseconds is not None:
                words += [f"--movetime-{letter}", str(side.milliseconds)]
        words += ["--openings", self.openings, "--no-coverage", "--seed", str(seed)]
        words += ["--concurrency", str(concurrency)]
        for letter, side in zip("ab", (self.first, self.second), strict=True):
            for name, value in side.settings(threads, milliseconds or self.milliseconds).items():
                words += [f"--option-{letter}", f"{name}={value}"]
        return words

    @property
    def full_milliseconds(self) -> int | None:
        """What the paper gave each move, or what it would have; None: the experiment's own."""
        own = self.first.milliseconds is not None or self.name == "random"
        return None if own else PAPER_MILLISECONDS


ABLATION, OTHERS, SCALING = "ablations", "opponents", "scaling"
FIRST_MOVES, BEYOND, CORES, SELF_PLAY = "first-moves", "beyond", "cores", "self-play"

PAPER_RESULTS = {
    "purification": Tally(662, 79, 259),
    "klss": Tally(532, 96, 372),
    "two-sided": Tally(4535, 1583, 3882),
    "uniform-prior": Tally(4595, 1478, 3927),
    "simple-evaluation": Tally(787, 63, 150),
}
"""Obscuro, §4.1: the whole engine against the one without a technique."""
ABLATION_LABELS = {
    "purification": "purification off",
    "klss": "1-KLSS",
    "two-sided": "two-sided GT-CFR",
    "uniform-prior": "uniform Resolve prior",
    "all-off": "all four off",
    "simple-evaluation": "material and sight as they stand",
}
SCALING_RESULTS = {
    "0.0625": Tally(5162, 943, 3895),
    "0.125": Tally(5031, 1231, 3738),
    "0.25": Tally(4923, 1503, 3574),
    "0.5": Tally(4617, 1566, 3817),
    "1": Tally(4589, 1561, 3850),
    "2": Tally(4463, 1530, 4007),
    "4": Tally(4501, 1482, 4017),
    "8": Tally(4448, 1563, 3989),
}
"""Obscuro, §4.2: twice the seconds a move against so many."""
WHITE_RESULT = Tally(4935, 1623, 3442)
"""Obscuro, E.3: White's, of the engine against itself."""
BLACK_MOVES = {
    "Nc6": "b8c6",
    "c6": "c7c6",
    "e6": "e7e6",
    "Nf6": "g8f6",
    "c5": "c7c5",
    "d5": "d7d5",
    "g6": "g7g6",
    "b6": "b7b6",
    "f5": "f7f5",
}
"""Black's first moves in the paper's Table 1, and what else our engine plays."""
CORE_COUNTS = (2, 4, 8)

_PAPER, _DEFAULT, _ZS21 = Contender(OBSCURO, PAPER_RULES), Contender(OBSCURO), Contender(ZS21)


def _ablations() -> Iterator[Experiment]:
    for rules, whole in (("paper", _PAPER), ("default", _DEFAULT)):
        for name, switches in ABLATIONS.items():
            less = whole._replace(options={**whole.options, **switches})
            result = PAPER_RESULTS.get(name)
            games = 1000 if result is None else result.games
            label = f"{ABLATION_LABELS[name]}, {rules} rules"
            yield Experiment(
                f"ablation-{name}-{rules}", ABLATION, label, whole, less, games, paper=result
            )


def _opponents() -> Iterator[Experiment]:
    rows = (
        ("zs21-paper", "paper rules", _PAPER, _WHOLE_ZS21),
        ("zs21-default", "default rules", _DEFAULT, _WHOLE_ZS21),
        ("zs21-all-off", "all four off", _with("all-off"), Tally(711, 30, 259)),
        ("zs21-simple-evaluation", "`material`", _with("simple-evaluation"), _SE_ZS21),
    )
    for name, label, player, result in rows:
        yield Experiment(
            *(name, OTHERS, f"{label} against `zs21`", player, _ZS21, result.games),
            *(ZS21_MILLISECONDS, result),
        )
    label, won = "default rules against `random`", Tally(1000, 0, 0)
    yield Experiment("random", OTHERS, label, _DEFAULT, Contender(RANDOM), 1000, 50, won)


_WHOLE_ZS21 = Tally(834, 33, 133)
_SE_ZS21 = Tally(5258, 486, 4256)


def _with(ablation: str) -> Contender:
    return _PAPER._replace(options={**PAPER_RULES, **ABLATIONS[ablation]})


def _scaling() -> Iterator[Experiment]:
    for seconds, result in SCALING_RESULTS.items():
        one = int(1000 * float(seconds))
        label = f"{2 * float(seconds):g} s against {float(seconds):g} s"
        sides = (Contender(OBSCURO, {}, 2 * one), Contender(OBSCURO, {}, one))
        yield Experiment(*(f"scaling-{seconds}", SCALING, label, *sides, result.games, one, result))


def _first_moves() -> Iterator[Experiment]:
    for san, uci in BLACK_MOVES.items():
        held = Contender(f"python -m tools.play.held_engine {uci}")
        name, milliseconds = f"first-move-{san.lower()}", FIRST_MOVE_MILLISECONDS
        yield Experiment(name, FIRST_MOVES, san, held, held, 200, milliseconds, openings="none")


def _beyond() -> Iterator[Experiment]:
    yield Experiment(
        *("self-play", SELF_PLAY, "White against Black", _DEFAULT, _DEFAULT, 10_000),
        paper=WHITE_RESULT,
        openings="none",
    )
    yield Experiment("default-paper", BEYOND, "default rules against the paper's", _DEFAULT, _PAPER)
    eight, one = Contender(OBSCURO, {}, 500), Contender(OBSCURO, {}, 62)
    yield Experiment(*("eight-times", BEYOND, "0.5 s against 1/16 s", eight, one), 400, 62)
    static, won = _with("simple-evaluation"), PAPER_RESULTS["simple-evaluation"]
    simple = Contender(OBSCURO, SIMPLE)
    for name, label, sides, result in (
        ("simple-evaluation", "paper rules against `material`", (_PAPER, static), won),
        ("zs21-simple-evaluation", "`material` against `zs21`", (static, _ZS21), _SE_ZS21),
        ("simple", "paper rules against `simple`", (_PAPER, simple), won),
        ("zs21-simple", "`simple` against `zs21`", (simple, _ZS21), _SE_ZS21),
        ("zs21-paper", "paper rules against `zs21`", (_PAPER, _ZS21), _WHOLE_ZS21),
    ):
        full = (*sides, result.games, LONG_MILLISECONDS, result)
        yield Experiment(f"{name}-1s", BEYOND, f"{label}, at 1 s", *full)
    old = Contender(OLD_ENGINE)
    yield Experiment(
        f"commit-{OLD_COMMIT}", BEYOND, f"against the engine of {OLD_COMMIT}", _DEFAULT, old
    )
    for cores in CORE_COUNTS:
        sides = (_DEFAULT._replace(threads=cores), _DEFAULT._replace(threads=cores // 2))
        label = f"{cores} threads against {cores // 2}"
        yield Experiment(f"cores-{cores}", CORES, label, *sides, 400, 200)


class Measurement(NamedTuple):
    """Something that another tool measures, which goes on from its raw file.

    words: the tool's module and arguments. wanted: how much of it there shall be; block: how much at
    a stretch; seconds: for one; cores: the threads that search.
    """

    name: str
    label: str
    words: tuple[str, ...]
    wanted: int
    block: int
    seconds: float
    cores: int = 2


_SEARCHES = ("tools.play.first_moves", "--searches", "300", "--movetime", "2000", "--threads", "2")
MEASUREMENTS: Mapping[str, Measurement] = {
    each.name: each
    for each in (
        Measurement(
            "searches-white",
            "White's first move, searches",
            (*_SEARCHES, "--openings", ""),
            *(300, 20, 2.1),
        ),
        Measurement(
            "searches-black",
            "Black's first move, searches",
            (*_SEARCHES, "--openings", "d2d4"),
            *(300, 20, 2.1),
        ),
        Measurement(
            "scale",
            "size of the search in whole games",
            ("tools.speed.search_scale", "--games", "4", "--movetime", "5000", "--threads", "2"),
            *(4, 1, 700.0),
        ),
    )
}
"""What is measured beside matches: O, Table 1 and Appendix D."""

EXPERIMENTS: Mapping[str, Experiment] = {
    each.name: each
    for each in (*_ablations(), *_opponents(), *_scaling(), *_first_moves(), *_beyond())
}
"""All of them by name, in the order of the tables."""
