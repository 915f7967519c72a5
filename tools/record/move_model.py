"""Fit the model of the other side's moves to recorded games: obscuro/belief/move_model.json.

    python -m tools.record.move_model GAMES[:PLAYER] ... --test GAMES[:PLAYER] ... [--to FILE]

GAMES is a file of `obscuro match --pgn` or `--log`. Only the moves of the players whose names begin
with PLAYER count, or of all. Of each file `--games` games are drawn. The fit is by maximum likelihood,
with a Gaussian prior on the scores. The table tells, for each file, the mean logarithm of the
probability of the moves that were played, less that of even probabilities: of games that were left out
of the fit, and of the `--test` files, which take no part in it. `--to FILE` stores the model.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import chess
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from obscuro.belief.move_model import (
    EVEN_SHARE,
    FEATURES,
    PIECES,
    make_model,
    make_scratch,
    score_moves,
)
from obscuro.belief.record import known_of, packed
from obscuro.rules.position import from_board, move_to_uci
from obscuro.rules.tables import TABLES
from tools.common import publish, table, tool_parser
from tools.play.recorded_games import FiledGame, load_games

LEFT_OUT = 5  # every fifth game
NO_SQUARE = PIECES * 64  # of a move that the piece squares don't score


class Decisions(NamedTuple):
    """Moves to choose from, of n positions: m moves in all."""

    first: npt.NDArray[np.int64]  # [n] the position's first move
    chosen: npt.NDArray[np.int64]  # [n] the move that was played
    features: npt.NDArray[np.float32]  # [m, FEATURES]
    origin: npt.NDArray[np.int64]  # [m] piece square that the move leaves, or NO_SQUARE
    target: npt.NDArray[np.int64]  # [m] piece square that it reaches, or NO_SQUARE


# -- the decisions of recorded games -----------------------------------------------------------


def unit_models() -> list[Any]:
    """A model for each feature that scores nothing else: so the kernel itself computes features."""
    none = np.zeros((PIECES, 64))
    return [make_model({name: float(name == one) for name in FEATURES}, none) for one in FEATURES]


def decisions_of(games: Sequence[FiledGame], player: str) -> Decisions:
    """The decisions of a player, known by the beginning of its name, in games."""
    models, scratch = unit_models(), make_scratch()
    chosen: list[int] = []
    sizes: list[int] = []
    features: list[npt.NDArray[np.float32]] = []
    words: list[npt.NDArray[np.int64]] = []
    for game in games:
        for board, move, recapture in _turns(game, player):
            position = from_board(board)
            mover = 0 if board.turn else 1
            known = known_of(position, 1 - mover)
            record = packed(position.reshape(1, -1), 1 - mover)[0]
            columns = []
            for model in models:
                count = score_moves(TABLES, model, known, *record, np.uint64(recapture), scratch)
                columns.append(scratch.scores[:count].copy())
            names = [move_to_uci(word) for word in scratch.moves[:count]]
            chosen.append(sum(sizes) + names.index(move.uci()))
            sizes.append(count)
            features.append(np.stack(columns, axis=1))
            words.append(_squares(scratch.moves[:count].astype(np.int64), mover))
    squares = np.concatenate(words, axis=1)
    return Decisions(
        np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64),
        np.array(chosen, dtype=np.int64),
        np.concatenate(features),
        squares[0],
        squares[1],
    )


def _turns(game: FiledGame, player: str) -> Iterator[tuple[chess.Board, chess.Move, int]]:
    """Yield a board, the move, and a mask of the square where the other side has just captured."""
    board, recapture = game.start.root(), 0
    for move in game.moves:
        if game.names[board.turn].startswith(player):
            yield board, move, recapture
        recapture = chess.BB_SQUARES[move.to_square] if board.is_capture(move) else 0
        board.push(move)


def _squares(words: npt.NDArray[np.int64], mover: int) -> npt.NDArray[np.int64]:
    """The piece squares that moves leave and reach: int64[2, m], as White sees them."""
    flip = 56 * mover
    piece = words >> 12 & 7
    origin = piece * 64 + ((words & 63) ^ flip)
    target = piece * 64 + ((words >> 6 & 63) ^ flip)
    castling = words >> 18 == 3
    origin[castling] = NO_SQUARE
    target[castling | (words >> 15 & 7 > 0)] = NO_SQUARE
    return np.stack((origin, target))


# -- the fit -----------------------------------------------------------------------------------


def scores_of(data: Decisions, parameters: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The score of each move, float64[m]; parameters: of FEATURES, then of the piece squares."""
    squares = np.append(parameters[len(FEATURES) :], 0.0)
    scores: npt.NDArray[np.float64] = (
        data.features @ parameters[: len(FEATURES)] + squares[data.target] - squares[data.origin]
    )
    return scores


def shares_of(data: Decisions, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The softmax of each position's scores, float64[m], without the even share."""
    sizes = np.diff(np.append(data.first, len(scores)))
    highest = np.repeat(np.maximum.reduceat(scores, data.first), sizes)
    grown = np.exp(scores - highest)
    shares: npt.NDArray[np.float64] = grown / np.repeat(np.add.reduceat(grown, data.first), sizes)
    return shares


def fit(data: Decisions, weights: npt.NDArray[np.float64], deviation: float) -> npt.NDArray[Any]:
    """Fit the parameters. weights: of the decisions. deviation: of the prior, in logits."""
    sizes = np.diff(np.append(data.first, len(data.features)))

    def loss(parameters: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        shares = shares_of(data, scores_of(data, parameters))
        played = shares[data.chosen]
        even = EVEN_SHARE / sizes
        mixed = (1 - EVEN_SHARE) * played + even
        value = -float(weights @ np.log(mixed)) + float(parameters @ parameters) / (
            2 * deviation**2
        )
        pull = weights * (1 - EVEN_SHARE) * played / mixed  # d log mixed / d log softmax
        slope = np.repeat(pull, sizes) * shares
        slope[data.chosen] -= pull
        gradient = np.zeros_like(parameters)
        gradient[: len(FEATURES)] = data.features.T @ slope
        squares = np.bincount(data.target, slope, NO_SQUARE + 1)
        squares -= np.bincount(data.origin, slope, NO_SQUARE + 1)
        gradient[len(FEATURES) :] = squares[:NO_SQUARE]
        return value, gradient + parameters / deviation**2

    start = np.zeros(len(FEATURES) + NO_SQUARE)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    parameters: npt.NDArray[np.float64] = found.x
    return parameters


def gain(data: Decisions, parameters: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The logarithm of each played move's probability, less that of an even one: float64[n]."""
    sizes = np.diff(np.append(data.first, len(data.features)))
    shares = shares_of(data, scores_of(data, parameters))[data.chosen]
    gains: npt.NDArray[np.float64] = np.log((1 - EVEN_SHARE) * shares * sizes + EVEN_SHARE)
    return gains


# -- the tool ----------------------------------------------------------------------------------


def joined(parts: Sequence[Decisions]) -> Decisions:
    """All decisions of the parts."""
    starts = np.cumsum([0, *(len(part.features) for part in parts)])
    return Decisions(
        np.concatenate([part.first + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.chosen + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.origin for part in parts]),
        np.concatenate([part.target for part in parts]),
    )


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fit, and return the figures; with `--to` store the model."""
    rng = np.random.default_rng(arguments.seed)
    fitted, weights, rows, held = [], [], [], []
    for source in [*arguments.games_files, *arguments.test]:
        path, _, player = source.partition(":")
        games = load_games(Path(path))
        order = rng.permutation(len(games))[: arguments.games]
        drawn = [games[k] for k in order]
        is_test = source in arguments.test
        held.append(decisions_of(drawn if is_test else drawn[::LEFT_OUT], player))
        rows.append({"file": Path(path).name, "player": player or "all", "test": is_test})
        if not is_test:
            fitted.append(decisions_of([g for k, g in enumerate(drawn) if k % LEFT_OUT], player))
            # A file with more decisions counts more, but less than in proportion.
            weights.append(np.full(len(fitted[-1].first), len(fitted[-1].first) ** -0.5))
        print(f"{source}: {len(held[-1].first)} decisions held out", file=sys.stderr)
    of_all = np.concatenate(weights)
    of_all *= len(of_all) / of_all.sum()
    parameters = fit(joined(fitted), of_all, arguments.deviation)
    for row, data in zip(rows, held, strict=True):
        gains = gain(data, parameters)
        row |= {"decisions": len(gains), "gain": float(gains.mean())}
    features = dict(zip(FEATURES, parameters[: len(FEATURES)].round(3).tolist(), strict=True))
    if arguments.to is not None:
        squares = parameters[len(FEATURES) :].reshape(PIECES, 64).round(3).tolist()
        model = {"features": features, "squares": squares}
        arguments.to.write_text(json.dumps(model, indent=1) + "\n", encoding="ascii")
    return {"rows": rows, "features": features}


def render(figures: Any) -> Iterator[str]:
    """The tables: what the model gains by file, and its scores."""
    yield from table(
        ["games of", "player", "part in the fit", "decisions", "nats a move over even"],
        [
            [
                row["file"],
                row["player"],
                "none" if row["test"] else "other games",
                str(row["decisions"]),
                f"{row['gain']:.3f}",
            ]
            for row in figures["rows"]
        ],
    )
    yield ""
    yield from table(
        ["feature", "score"], [[name, f"{x:.2f}"] for name, x in figures["features"].items()]
    )


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = tool_parser("tools.record.move_model", __doc__)
    parser.add_argument("games_files", nargs="+", metavar="GAMES")
    parser.add_argument("--test", nargs="+", default=[], metavar="GAMES")
    parser.add_argument("--games", type=int, default=40, help="of each file; default: 40")
    parser.add_argument("--deviation", type=float, default=1.0, help="of the prior, in logits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, metavar="FILE", help="store the model")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser, words = make_parser(), sys.argv[1:] if argv is None else list(argv)
    arguments = parser.parse_args(words)
    publish(parser, words, arguments.raw, measure(arguments), render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
