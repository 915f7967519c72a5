"""Depth-limited solving with trained value functions, beside Kovařík et al. (V).

    python -m tools.proofs.value_functions data goofspiel --strategies 2000
    python -m tools.proofs.value_functions train goofspiel --epochs 300 --seeds 1 2 3
    python -m tools.proofs.value_functions exact goofspiel --bottoms 300

`data` solves the bottoms below random trunk strategies. `train` fits networks to nine tenths of them,
measures checkpoints on the other tenth, and solves the trunk by each: the loss beside the
exploitability. With `--withhold` it leaves out one public state after the other, and measures the loss
there. `exact` solves the trunk with solved bottoms (CFR-D), with values of 0, and with networks that
were not trained.

Data and networks are kept in a folder. Exploitability is the mean of both players', for payoffs in
[-1, 1]. `train` needs the extra `learn`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import platformdirs

from obscuro.value_functions.bottoms import SolvedBottoms
from obscuro.value_functions.depth_limited import DepthLimitedCfr, ValueFunction, zero_values
from obscuro.value_functions.domains import DOMAINS
from obscuro.value_functions.limited_trunk import LimitedGame, LimitedTrunk
from obscuro.value_functions.random_trunks import Examples, make_examples
from obscuro.value_functions.trunk_exploitability import TrunkExploitability
from obscuro.value_functions.value_network import (
    NetworkValues,
    huber,
    random_network,
    train,
)
from tools.common import given, publish, say, table, tool_parser

BOTTOM_ITERATIONS: Final = 1000
TRUNK_ITERATIONS: Final = 1000
CHECKPOINTS: Final = 10
HELD_OUT: Final = 10
"""Every tenth random trunk is not learned from."""


def make_data(name: str, strategies: int, iterations: int, seed: int) -> Examples:
    """Return the examples of so many random trunks, in the order in which they were drawn."""
    game = DOMAINS[name].make()
    random = np.random.default_rng(seed)
    parts, done, begin = [], 0, time.monotonic()
    while done < strategies:
        now = min(20, strategies - done)
        parts.append(make_examples(game, now, iterations, random))
        done += now
        say(f"{name}: {done} of {strategies} trunks, {time.monotonic() - begin:.0f} s")
    return Examples(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


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


def halves(trunk: LimitedTrunk, examples: Examples) -> tuple[Examples, Examples]:
    """Return what is learned from, and what is held out: whole random trunks."""
    held = (np.arange(len(examples.state)) // len(trunk.public)) % HELD_OUT == 0
    return examples.where(~held), examples.where(held)


def measure_training(
    name: str, examples: Examples, epochs: int, seeds: Sequence[int], iterations: int, folder: Path
) -> Iterator[dict[str, Any]]:
    """Yield the figures of each checkpoint, and keep each seed's last network."""
    domain = DOMAINS[name]
    game = domain.make()
    trunk, judge = LimitedTrunk(game), Judge(game, iterations)
    learned, held = halves(trunk, examples)
    marks = set(np.unique(np.geomspace(1, epochs, CHECKPOINTS).astype(int)).tolist())
    for seed in seeds:
        fitted = train(
            trunk, learned, layers=domain.layers, neurons=domain.neurons, epochs=epochs, seed=seed
        )
        for epoch, network in enumerate(fitted, 1):
            if epoch not in marks:
                continue
            found = {
                "seed": seed,
                "epoch": epoch,
                "loss": huber(network, trunk, held),
                "exploitability": judge.exploitability(NetworkValues(network, trunk)),
            }
            say(f"{name}, seed {seed}: {found}")
            yield found
        network.save(folder / f"{name}_{seed}.npz")


def measure_withheld(name: str, examples: Examples, epochs: int) -> Iterator[dict[str, Any]]:
    """Yield, for each public state, the loss there of networks with it, without it, and untrained."""
    domain = DOMAINS[name]
    trunk = LimitedTrunk(domain.make())
    shape = {"layers": domain.layers, "neurons": domain.neurons}
    learned, held = halves(trunk, examples)
    *_, whole = train(trunk, learned, epochs=epochs, **shape)
    untrained = [random_network(trunk, seed=seed, **shape) for seed in range(10)]
    for state in range(len(trunk.public)):
        there = held.where(held.state == state)
        *_, without = train(trunk, learned.where(learned.state != state), epochs=epochs, **shape)
        found = {
            "state": trunk.public[state].tolist(),
            "whole": huber(whole, trunk, there),
            "without": huber(without, trunk, there),
            "untrained": float(np.mean([huber(each, trunk, there) for each in untrained])),
        }
        say(f"{name}: {found}")
        yield found


def measure_exact(name: str, bottoms: int, iterations: int) -> dict[str, Any]:
    """Return the exploitability with values of 0, with untrained networks, and with CFR-D."""
    domain = DOMAINS[name]
    game = domain.make()
    trunk, judge = LimitedTrunk(game), Judge(game, iterations)
    networks = [
        random_network(trunk, layers=domain.layers, neurons=domain.neurons, seed=seed)
        for seed in range(3)
    ]
    return {
        "histories": len(game.tree.states),
        "infosets": len(game.tree.infosets.key),
        "states": len(trunk.public),
        "zero": judge.exploitability(zero_values),
        "untrained": float(
            np.mean([judge.exploitability(NetworkValues(each, trunk)) for each in networks])
        ),
        "exact": judge.exploitability(SolvedBottoms(game, bottoms)),
    }


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the figures as tables, in Markdown."""
    name, kind, found = figures["game"], figures["kind"], figures["figures"]
    title = DOMAINS[name].title
    if kind == "exact":
        head = ["game", "histories", "public states", "values of 0", "untrained", "CFR-D"]
        sizes = [f"{found[key]:,}" for key in ("histories", "states")]
        cells = [f"{found[key]:.4f}" for key in ("zero", "untrained", "exact")]
        yield from table(head, [[title, *sizes, *cells]], "lrrrrr")
    elif kind == "withheld":
        head = ["public state", "learned from", "withheld", "untrained"]
        rows = [
            [str(each["state"]), *(f"{each[key]:.5f}" for key in ("whole", "without", "untrained"))]
            for each in found
        ]
        yield from table(head, rows, "lrrr")
    else:
        head = ["game", "seed", "epochs", "Huber loss", "exploitability"]
        rows = [
            [
                title,
                str(each["seed"]),
                str(each["epoch"]),
                f"{each['loss']:.5f}",
                f"{each['exploitability']:.4f}",
            ]
            for each in found
        ]
        yield from table(head, rows, "lrrrr")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.value_functions", __doc__)
    parser.add_argument("kind", choices=("data", "train", "exact"))
    parser.add_argument("game", choices=DOMAINS)
    parser.add_argument("--strategies", type=int, metavar="N", help="the paper's if not given")
    parser.add_argument("--bottoms", type=int, default=BOTTOM_ITERATIONS, metavar="ITERATIONS")
    parser.add_argument("--iterations", type=int, default=TRUNK_ITERATIONS, help="in the trunk")
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--withhold", action="store_true", help="leave public states out")
    parser.add_argument(
        "--folder",
        type=Path,
        default=platformdirs.user_cache_path("obscuro") / "value_functions",
        help="for data and networks",
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Make data, or measure, print and store; returns the exit code."""
    words = given(words)
    options = make_parser().parse_args(words)
    data = options.folder / f"{options.game}.npz"
    if options.kind == "data":
        strategies = options.strategies or DOMAINS[options.game].strategies
        save_data(data, make_data(options.game, strategies, options.bottoms, options.seeds[0]))
        say(f"written: {data}")
        return 0
    figures: Any
    if options.kind == "exact":
        figures = measure_exact(options.game, options.bottoms, options.iterations)
    elif not data.exists():
        say(f"there is no {data}; run: python -m tools.proofs.value_functions data {options.game}")
        return 2
    elif options.withhold:
        figures = list(measure_withheld(options.game, load_data(data), options.epochs))
    else:
        figures = list(
            measure_training(
                options.game,
                load_data(data),
                options.epochs,
                options.seeds,
                options.iterations,
                options.folder,
            )
        )
    kind = "withheld" if options.withhold and options.kind == "train" else options.kind
    stored = {"game": options.game, "kind": kind, "figures": figures}
    publish(make_parser(), words, options.raw, stored, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
