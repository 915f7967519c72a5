"""Depth-limited solving with trained value functions, beside Kovařík et al. (V).

    python -m tools.proofs.value_functions data goofspiel
    python -m tools.proofs.value_functions train goofspiel --epochs 300 --seeds 1 2 3
    python -m tools.proofs.value_functions withhold goofspiel --epochs 60
    python -m tools.proofs.value_functions own oshi_zumo_v --epochs 20
    python -m tools.proofs.value_functions exact goofspiel
    python -m tools.proofs.value_functions prove leduc

`data` solves the bottoms below random trunk strategies. `train` fits networks to nine tenths of
these, measures checkpoints on the other tenth, and solves the trunk by each: the loss beside the
exploitability. `withhold` leaves out one public state after the other, and measures the loss there.
`own` trains, solves the trunk, and has bottoms solved that the network was asked about; it goes on
training with these examples, in rounds.
`exact` solves the trunk with solved bottoms (CFR-D), with values of 0, and with networks that were
not trained. `prove` does all that is needed in a folder of its own, and its exit code is 1 if the
trunk of CFR-D or of a trained network can be exploited by more than it should.

Data and networks are kept in a folder. Exploitability is the mean of both players', for payoffs in
[-1, 1]. `train` and `prove` need the extra `value-functions`.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import platformdirs
from numpy.typing import NDArray

from obscuro.research.value_functions.limited_trunk import (
    LimitedGame,
    LimitedTrunk,
    RegionCfr,
    TrunkExploitability,
)
from obscuro.research.value_functions.random_trunks import (
    DepthLimitedCfr,
    Examples,
    RememberedValues,
    SolvedBottoms,
    ValueFunction,
    joined,
    make_examples,
    zero_values,
)
from obscuro.research.value_functions.value_network import (
    DOMAINS,
    Losses,
    NetworkValues,
    ValueNetwork,
    losses,
    random_network,
    train,
)
from tools.common import given, publish, say, table, tool_parser
from tools.results.manifest import Loaded


def render(stored: dict[str, Any]) -> Iterator[str]:
    """Yield the figures of one run as tables, in Markdown."""
    if stored["kind"] == "train":
        yield from render_training(DOMAINS[stored["game"]].title, stored["figures"])
    elif stored["kind"] == "own":
        yield from render_own([stored])
    else:
        yield from _render_alike([stored])


def render_together(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield one table for runs of one kind, `exact` or `withhold`."""
    yield from _render_alike([each.raw.data for each in loaded])


def render_losses(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the last checkpoints of seeds that were trained by both losses, and the means."""
    head = ["game", "loss", "seeds", "Huber", "l1", "l∞", "unexplained"]
    head += ["exploitability", "from", "to"]
    rows = []
    for each in loaded:
        stored = each.raw.data
        seeds = {one["seed"]: one for one in stored["figures"]["checkpoints"]}  # the last of each
        mean = {
            key: float(np.mean([one[key] for one in seeds.values()]))
            for key in (*Losses._fields, "exploitability")
        }
        lost = [one["exploitability"] for one in seeds.values()]
        named = " ".join(map(str, seeds))
        loss = "Huber, V's" if stored["huber"] else "squared error, ours"
        cells = [f"{value:.4f}" for value in (mean["exploitability"], min(lost), max(lost))]
        rows.append([DOMAINS[stored["game"]].title, loss, named, *_cells(mean), *cells])
    yield from table(head, rows, "lllrrrrrrr")


def render_buckets(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield all runs' checkpoints in buckets of equal ratios of their Huber loss (V, Fig. 3)."""
    found = [each.raw.data["figures"] for each in loaded]
    points = [one for figures in found for one in figures["checkpoints"]]
    loss = np.array([one["huber"] for one in points])
    lost = np.array([one["exploitability"] for one in points])
    bounds = np.geomspace(loss.min(), loss.max(), BUCKETS + 1)
    bucket = np.clip(np.searchsorted(bounds, loss, side="right") - 1, 0, BUCKETS - 1)
    rows = [
        [
            f"{bounds[at]:.1e} to {bounds[at + 1]:.1e}",
            str(int((bucket == at).sum())),
            *(f"{take(lost[bucket == at]):.4f}" for take in (np.min, np.mean, np.max)),
        ]
        for at in range(BUCKETS)
        if (bucket == at).any()
    ]
    head = ["Huber loss", "checkpoints", "least exploitability", "mean", "greatest"]
    yield from table(head, rows, "lrrrr")
    yield ""
    seeds = len({one["seed"] for one in points})
    rank = rank_correlation(loss, lost)
    cells = [str(seeds), str(len(points)), f"{rank:.2f}"]
    cells += [f"{found[0][key]:.4f}" for key in ("zero", "whole")]
    head = ["seeds", "checkpoints", "Spearman, Huber", "values of 0", "CFR+"]
    yield from table(head, [cells], "rrrrr")


def render_own_together(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the rounds of all runs as one table for each of the two."""
    yield from render_own([each.raw.data for each in loaded])


def render_own(stored: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what each round's trunk loses, and the errors by the sum of the own range."""
    head = ["game", "seed", "round", "examples", "of its own", "exploitability"]
    named = [f"{low:g} to {high:g}" for low, high in itertools.pairwise(OWN_SUMS)]
    named[-1] = f"above {OWN_SUMS[-2]:g}"
    head += [f"l∞, own range {name}" for name in named]
    rows = []
    for each in stored:
        title = DOMAINS[each["game"]].title
        for found in each["figures"]:
            for number, one in enumerate(found["rounds"]):
                counts = [f"{one['examples']:,}", f"{one['own']:,}"]
                rows.append([title, str(found["seed"]), str(number), *counts])
                rows[-1].append(f"{one['exploitability']:.4f}")
                rows[-1] += ["" if error is None else f"{error:.4f}" for error in one["errors"]]
    yield from table(head, rows, "lrrrrr" + "r" * len(named))


def _render_alike(stored: Sequence[dict[str, Any]]) -> Iterator[str]:
    (kind,) = {each["kind"] for each in stored}
    games = [(DOMAINS[each["game"]].title, each["figures"]) for each in stored]
    yield from render_exact(games) if kind == "exact" else render_withheld(games)


def render_exact(games: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Yield what is exploited without training. games: titles and figures."""
    head = ["game", "histories", "public states", "values of 0", "untrained", "CFR-D", "CFR+"]
    rows = []
    for title, found in games:
        sizes = [f"{found[key]:,}" for key in ("histories", "states")]
        cells = [f"{found[key]:.4f}" for key in ("zero", "untrained", "exact", "whole")]
        rows.append([title, *sizes, *cells])
    yield from table(head, rows, "lrrrrrr")


def render_training(title: str, found: dict[str, Any]) -> Iterator[str]:
    """Yield the last checkpoints, what CFR-D's questions cost, and how losses foretell."""
    head = ["network", "epochs", "Huber", "l1", "l∞", "unexplained", "exploitability"]
    rows = []
    for asked in found["asked"]:
        of_seed = [each for each in found["checkpoints"] if each["seed"] == asked["seed"]]
        last = of_seed[-1]
        name = f"{title}, seed {asked['seed']}"
        rows.append(
            [name, str(last["epoch"]), *_cells(last), f"{last['exploitability']:.4f}"],
        )
        rows.append([f"{name}, asked by CFR-D", str(last["epoch"]), *_cells(asked), ""])
    yield from table(head, rows, "lrrrrrr")
    yield ""
    each = found["checkpoints"]
    exploited = np.array([one["exploitability"] for one in each])
    ranks = {
        key: rank_correlation(np.array([one[key] for one in each]), exploited)
        for key in ("huber", "l1", "l_infinity")
    }
    head = ["learned from", "checkpoints", *(f"Spearman, {name}" for name in ("Huber", "l1", "l∞"))]
    cells = [f"{found['examples']:,} examples", str(len(each))]
    cells += [f"{rank:.2f}" for rank in ranks.values()]
    cells += [f"{found['zero']:.4f}", f"{found['whole']:.4f}"]
    yield from table([*head, "values of 0", "CFR+"], [cells], "lrrrrrr")


def _cells(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['huber']:.1e}",
        f"{found['l1']:.1e}",
        f"{found['l_infinity']:.1e}",
        f"{100 * found['unexplained']:.2f} %",
    ]


def rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return Spearman's rank correlation of two float64[n]. Equal values share their mean rank."""
    from scipy.stats import spearmanr  # noqa: PLC0415 - of the extra `value-functions`

    return float(spearmanr(first, second).statistic)


def render_withheld(games: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> Iterator[str]:
    """Yield the mean losses over public states that were learned from, withheld, or nothing known.

    games: titles and figures.
    """
    head = ["game", "network", "Huber", "l1", "l∞", "unexplained"]
    words = {
        "whole": "all public states learned from",
        "without": "this one withheld",
        "untrained": "untrained",
    }
    rows = []
    for title, found in games:
        for name, text in words.items():
            mean = Losses(*np.mean([each[name] for each in found], axis=0).tolist())
            rows.append([title, text, *_cells(mean._asdict())])
    yield from table(head, rows, "llrrrr")


def draw(file: Path, loaded: Loaded, mark: str) -> None:
    """Draw the checkpoints' exploitability against their loss. mark: goes into the PNG."""
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    stored = loaded.raw.data
    found = stored["figures"]
    figure, axis = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    for seed in sorted({each["seed"] for each in found["checkpoints"]}):
        own = [each for each in found["checkpoints"] if each["seed"] == seed]
        across, up = ([each[key] for each in own] for key in ("huber", "exploitability"))
        axis.plot(across, up, "o-", markersize=3, linewidth=0.6, label=f"seed {seed}")
    axis.axhline(found["whole"], color="green", linewidth=0.8, label="CFR+ on the whole game")
    axis.axhline(found["zero"], color="gray", linewidth=0.8, label="values of 0")
    axis.set(xscale="log", yscale="log", title=DOMAINS[stored["game"]].title)
    axis.set(xlabel="Huber loss on held-out examples", ylabel="exploitability of the trunk")
    axis.legend(fontsize="small")
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)


FOLDER: Final = platformdirs.user_cache_path("obscuro") / "value_functions"
BOTTOM_ITERATIONS: Final = 1000
TRUNK_ITERATIONS: Final = 1000
CHECKPOINTS: Final = 16
BUCKETS: Final = 8
ROUNDS: Final = 3
OWN_EVERY: Final = 4
"""Of the questions that a trunk's solution asks, every fourth is solved and learned from."""
OWN_SUMS: Final = (0.0, 0.01, 0.1, 0.5, np.inf)
"""Errors are told apart by the sum of the player's own range, up to these."""
HELD_OUT: Final = 10
"""Every tenth random trunk is not learned from."""
UNTRAINED: Final = 10
ASKED: Final = 20
"""Iterations of CFR-D whose questions networks are asked, as in V's Appendix E.2."""
EXACT_MOST, TRAINED_MOST, LOSS_MOST = 0.005, 0.01, 0.001
"""What `prove` allows: exploitability of CFR-D and of a trained network, and its Huber loss."""


def make_data(
    name: str, strategies: int, iterations: int, seed: int, concentration: float = 1.0
) -> Examples:
    """Return the examples of so many random trunks, in the order in which they were drawn."""
    game = DOMAINS[name].make()
    random = np.random.default_rng(seed)
    parts, done, begin = [], 0, time.monotonic()
    while done < strategies:
        now = min(20, strategies - done)
        parts.append(make_examples(game, now, iterations, random, concentration))
        done += now
        say(f"{name}: {done} of {strategies} trunks, {time.monotonic() - begin:.0f} s")
    return joined(parts)


def save_data(path: Path, examples: Examples) -> None:
    """Write examples into a file of numpy's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **examples._asdict())


def load_data(path: Path) -> Examples:
    """Read what `save_data` wrote."""
    with np.load(path) as file:
        return Examples(*(file[name] for name in Examples._fields))


class Judge:
    """Solves a game's trunk with a value function, and says how exploitable the result is."""

    def __init__(self, game: LimitedGame, iterations: int) -> None:
        self._game = game
        self._iterations = iterations
        slots = DepthLimitedCfr(game, zero_values).region.slots
        self._measured = TrunkExploitability(game.tree, slots)

    def exploitability(self, values: ValueFunction) -> float:
        """Return it, for payoffs in [-1, 1]."""
        solver = DepthLimitedCfr(self._game, values)
        solver.run(self._iterations)
        return self._measured.of(solver.average())

    def whole(self) -> float:
        """Return it for the trunk of what CFR+ finds on the whole game."""
        tree = self._game.tree
        region = RegionCfr(tree, (0, len(tree.levels) - 1))
        region.iterate(None, self._iterations)
        return self._measured.of(region.average())


def halves(trunk: LimitedTrunk, examples: Examples) -> tuple[Examples, Examples]:
    """Return what is learned from, and what is held out: whole random trunks."""
    held = (np.arange(len(examples.state)) // len(trunk.public)) % HELD_OUT == 0
    return examples.where(~held), examples.where(held)


def asked_by_cfr_d(game: LimitedGame, bottoms: int) -> Examples:
    """Return what CFR-D asks in its first iterations, and what the solved bottoms say."""
    values = RememberedValues(SolvedBottoms(game, bottoms))
    DepthLimitedCfr(game, values).run(ASKED)
    return values.examples()


def checkpoint_epochs(epochs: int, most: int = CHECKPOINTS) -> set[int]:
    """Return the epochs that are measured, from 1: all if there are few, else evenly by factors."""
    wanted = min(epochs, most)
    for points in itertools.count(wanted):
        marks = set(np.geomspace(1, epochs, points).round().astype(int).tolist())
        if len(marks) >= wanted:
            return marks
    raise AssertionError  # the count has no end


def measure_training(
    name: str,
    examples: Examples,
    epochs: int,
    seeds: Sequence[int],
    iterations: int,
    bottoms: int,
    folder: Path,
    *,
    sums: bool = True,
    huber: bool = False,
    checkpoints: int = CHECKPOINTS,
) -> dict[str, Any]:
    """Measure checkpoints of a network for each seed, and keep the last one of each."""
    domain = DOMAINS[name]
    game = domain.make()
    trunk, judge = LimitedTrunk(game), Judge(game, iterations)
    learned, held = halves(trunk, examples)
    asked = asked_by_cfr_d(game, bottoms)
    marks = checkpoint_epochs(epochs, checkpoints)
    figures: dict[str, Any] = {
        "examples": len(learned.state),
        "zero": judge.exploitability(zero_values),
        "whole": judge.whole(),
        "checkpoints": [],
        "asked": [],
    }
    say(f"{name}: values of 0 {figures['zero']:.4f}, CFR+ on the game {figures['whole']:.4f}")
    for seed in seeds:
        fitted = train(
            trunk, learned, domain.shape, epochs=epochs, seed=seed, sums=sums, huber=huber
        )
        for epoch, network in enumerate(fitted, 1):
            if epoch not in marks:
                continue
            found = {
                "seed": seed,
                "epoch": epoch,
                **losses(network, trunk, held)._asdict(),
                "exploitability": judge.exploitability(NetworkValues(network, trunk)),
            }
            say(
                f"{name}, seed {seed}, epoch {epoch}: Huber {found['huber']:.2e}, unexplained "
                f"{found['unexplained']:.4f}, exploitability {found['exploitability']:.4f}"
            )
            figures["checkpoints"].append(found)
        figures["asked"].append({"seed": seed, **losses(network, trunk, asked)._asdict()})
        network.save(folder / f"{name}_{seed}.npz")
    return figures


def measure_own(
    name: str, examples: Examples, epochs: int, seed: int, iterations: int, bottoms: int
) -> dict[str, Any]:
    """Train a network, and in rounds on with what it was asked and solved bottoms say (V, 6.1.2).

    The last tenth of the data's random trunks is learned from, too: nothing is held out. Each round
    goes on from the last one's network, for half as many epochs as the first.
    """
    domain = DOMAINS[name]
    game = domain.make()
    trunk, judge, solved = LimitedTrunk(game), Judge(game, iterations), SolvedBottoms(game, bottoms)
    network: ValueNetwork | None = None
    own, rounds = 0, []
    for number in range(ROUNDS + 1):
        *_, network = train(
            trunk,
            examples,
            domain.shape,
            epochs=epochs if network is None else epochs // 2,
            seed=seed + number,
            huber=True,
            start=network,
        )
        asked = RememberedValues(NetworkValues(network, trunk), solved, OWN_EVERY)
        found = {
            "examples": len(examples.state),
            "own": own,
            "exploitability": judge.exploitability(asked),
            "errors": errors_by_own_range(network, trunk, asked.examples()),
        }
        say(f"{name}, seed {seed}, round {number}: {found}")
        rounds.append(found)
        own += len(asked.examples().state)
        examples = joined([examples, asked.examples()])
    return {"seed": seed, "rounds": rounds}


def errors_by_own_range(
    network: ValueNetwork, trunk: LimitedTrunk, examples: Examples
) -> list[float | None]:
    """Return the mean greatest error of a player's values, by the sum of its own range.

    One for each two neighbours of `OWN_SUMS`, for payoffs in [-1, 1]; None where there is no example.
    """
    missed = np.abs(network.values(trunk, examples.state, examples.ranges) - examples.values)
    missed *= trunk.game.tree.game.scale
    cut = trunk.width[0]
    halves = slice(None, cut), slice(cut, None)
    sums = np.concatenate([examples.ranges[:, half].sum(axis=1) for half in halves])
    worst = np.concatenate([missed[:, half].max(axis=1) for half in halves])
    found: list[float | None] = []
    for low, high in itertools.pairwise(OWN_SUMS):
        chosen = worst[(sums > low) & (sums <= high)]
        found.append(float(chosen.mean()) if len(chosen) else None)
    return found


def measure_withheld(name: str, examples: Examples, epochs: int) -> Iterator[dict[str, Any]]:
    """Yield, for each public state, the losses there of networks with it, without it, and untrained."""
    domain = DOMAINS[name]
    trunk = LimitedTrunk(domain.make())
    learned, held = halves(trunk, examples)
    *_, whole = train(trunk, learned, domain.shape, epochs=epochs)
    untrained = [
        random_network(trunk, domain.shape, unit=whole.unit, seed=seed) for seed in range(UNTRAINED)
    ]
    for state in range(len(trunk.public)):
        there = held.where(held.state == state)
        others = learned.where(learned.state != state)
        *_, without = train(trunk, others, domain.shape, epochs=epochs)
        random = np.mean([losses(each, trunk, there) for each in untrained], axis=0)
        found = {
            "state": trunk.public[state].tolist(),
            "whole": list(losses(whole, trunk, there)),
            "without": list(losses(without, trunk, there)),
            "untrained": random.tolist(),
        }
        say(f"{name}: {found}")
        yield found


def measure_exact(name: str, bottoms: int, iterations: int) -> dict[str, Any]:
    """Return the exploitability with values of 0, with untrained networks, and with CFR-D."""
    domain = DOMAINS[name]
    game = domain.make()
    trunk, judge = LimitedTrunk(game), Judge(game, iterations)
    unit = float(np.sqrt((asked_by_cfr_d(game, bottoms).values ** 2).mean()))
    networks = [random_network(trunk, domain.shape, unit=unit, seed=seed) for seed in range(3)]
    return {
        "histories": len(game.tree.states),
        "infosets": len(game.tree.infosets.key),
        "states": len(trunk.public),
        "scale": game.tree.game.scale,
        "zero": judge.exploitability(zero_values),
        "untrained": float(
            np.mean([judge.exploitability(NetworkValues(each, trunk)) for each in networks])
        ),
        "exact": judge.exploitability(SolvedBottoms(game, bottoms)),
        "whole": judge.whole(),
    }


def prove(name: str, strategies: int, bottoms: int, iterations: int, epochs: int) -> int:
    """Make data, train, and compare with what is allowed; return the exit code."""
    exact = Judge(DOMAINS[name].make(), min(iterations, 200))
    found = {"CFR-D": (exact.exploitability(SolvedBottoms(DOMAINS[name].make(), 100)), EXACT_MOST)}
    examples = make_data(name, strategies, bottoms, 1)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure_training(name, examples, epochs, [1], iterations, bottoms, Path(folder))
    last = figures["checkpoints"][-1]
    found["a network"] = last["exploitability"], TRAINED_MOST
    found["Huber loss"] = last["huber"], LOSS_MOST
    for what, (value, most) in found.items():
        print(f"{name}, {what}: {value:.5f}, at most {most} {'' if value <= most else 'FAILED'}")
    return int(any(value > most for value, most in found.values()))


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.value_functions", __doc__)
    parser.add_argument("kind", choices=("data", "train", "withhold", "own", "exact", "prove"))
    parser.add_argument("game", choices=DOMAINS)
    parser.add_argument("--strategies", type=int, metavar="N", help="the paper's if not given")
    parser.add_argument(
        "--concentration", type=float, default=1.0, help="of random strategies; less: fewer actions"
    )
    parser.add_argument("--bottoms", type=int, default=BOTTOM_ITERATIONS, metavar="ITERATIONS")
    parser.add_argument("--iterations", type=int, default=TRUNK_ITERATIONS, help="in the trunk")
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument(
        "--plain-ranges", action="store_true", help="train on ranges as they are, as V does"
    )
    parser.add_argument("--huber", action="store_true", help="minimise the Huber loss, as V does")
    parser.add_argument("--checkpoints", type=int, default=CHECKPOINTS, metavar="N")
    parser.add_argument(
        "--folder",
        type=Path,
        default=FOLDER,
        help="for data and networks",
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Make data, or measure, print and store; returns the exit code."""
    words = given(words)
    options = make_parser().parse_args(words)
    name, kind, bottoms, iterations = (
        options.game,
        options.kind,
        options.bottoms,
        options.iterations,
    )
    strategies = options.strategies or DOMAINS[name].strategies
    data = options.folder / f"{name}.npz"
    if kind == "data":
        drawn = make_data(name, strategies, bottoms, options.seeds[0], options.concentration)
        save_data(data, drawn)
        say(f"written: {data}")
        return 0
    if kind == "prove":
        return prove(name, strategies, bottoms, iterations, options.epochs)
    figures: Any
    if kind == "exact":
        figures = measure_exact(name, bottoms, iterations)
    elif not data.exists():
        say(f"there is no {data}; run: python -m tools.proofs.value_functions data {name}")
        return 2
    elif kind == "own":
        figures = [
            measure_own(name, load_data(data), options.epochs, seed, iterations, bottoms)
            for seed in options.seeds
        ]
    elif kind == "withhold":
        figures = list(measure_withheld(name, load_data(data), options.epochs))
    else:
        figures = measure_training(
            name,
            load_data(data),
            options.epochs,
            options.seeds,
            iterations,
            bottoms,
            options.folder,
            sums=not options.plain_ranges,
            huber=options.huber,
            checkpoints=options.checkpoints,
        )
    stored = {"game": name, "kind": kind, "huber": options.huber, "figures": figures}
    publish(make_parser(), words, options.raw, stored, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
