"""`obscuro bench`: the signature of the engine's play in a fixed set of games, and a few speeds.

The signature is a short hash of beliefs, trees and strategies. One thread, fixed seeds and limits
by nodes make it repeatable. A change that preserves play preserves the signature. Any other change
changes it. The signature is valid for one kind of machine and one version of numba and numpy,
because sums of floating-point numbers may differ elsewhere.

The games with `nnue` depend on the installed network. Without a network the signature leaves them
out and says so.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator
from threading import Event
from typing import NamedTuple

import chess
import numpy as np
from rich.console import Console

from obscuro.cli.bench.common import BenchmarkError, ReportProgress, digits, machine, progress
from obscuro.cli.bench.following import POSITIONS, new_player
from obscuro.cli.bench.recorded import check, new_belief, quick_games, read_games, steps, take_in
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits, SearchInfo
from obscuro.rules.account import play_move
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, hash_positions

SHOWN = 12  # hexadecimal digits of a signature
LISTED = 8  # positions of each belief that the hash of a game includes


class FixedGame(NamedTuple):
    """A game of the engine against itself, from a given position and opening moves on."""

    name: str
    start: str  # FEN
    moves: str  # UCI, played before the engine's first search
    plies: int  # the number of the engine's moves, both sides together
    nodes: int  # the limit of each search
    options: tuple[tuple[str, str], ...] = ()


_GAMBIT, _SICILIAN, _OPEN = (position.moves for position in POSITIONS)
_ABLATIONS = "purification=false,unfrozen=false,one_sided=false,resolve_prior=uniform"
_CASTLING = "r3k2r/pp1q1ppp/2n5/3Pp3/4P3/2N5/PP1Q1PPP/R3K2R w KQkq e6 0 1"
_START = chess.STARTING_FEN
GAMES = (
    FixedGame("start", _START, "", 6, 20_000),
    FixedGame("Queen's Gambit", _START, _GAMBIT, 6, 20_000),
    FixedGame("wide open", _START, _OPEN, 6, 30_000),
    FixedGame("promotions", "8/1P2k3/8/3p4/4P3/8/2K3p1/8 w - - 0 1", "", 8, 8_000),
    FixedGame("castling", _CASTLING, "", 6, 10_000),
    FixedGame("bare kings", "8/8/8/8/8/2k5/8/K7 w - - 90 100", "", 8, 3_000),
    FixedGame("small belief", _START, _SICILIAN, 6, 10_000, (("Max Positions", "1000"),)),
    FixedGame("ablations", _START, "c2c4 d7d5", 6, 10_000, (("Search", _ABLATIONS),)),
)
EVALUATORS = ("material", "nnue")


class EvaluatorMissingError(Exception):
    """The evaluator of a game does not start on this machine, and a fallback would replace it."""


class Part(NamedTuple):
    """The hash of one part of the work, its amount and its time."""

    name: str
    signature: str | None  # None: the part is left out
    amount: int  # nodes, or the belief's candidates
    seconds: float

    @property
    def speed(self) -> float | None:
        """Nodes or candidates a second."""
        return self.amount / self.seconds if self.signature and self.seconds > 0 else None


def run(arguments: argparse.Namespace, console: Console | None = None) -> int:
    """Play the games and print the signature and the speeds; return the exit code.

    Raises BenchmarkError if a game cannot be played, or a belief has not the recorded size.
    """
    console = console or Console(highlight=False, markup=False)
    with progress(1 + len(EVALUATORS) * len(GAMES)) as report:
        parts = [_beliefs(report), *(_games(evaluator, report) for evaluator in EVALUATORS)]
    signature = total(parts)
    if arguments.json:
        numbers = {"signature": signature, "machine": machine()}
        for part in parts:
            name = part.name.replace(" ", "_")
            numbers[name] = {"signature": part.signature, "per_second": part.speed}
        console.print(json.dumps(numbers), soft_wrap=True)
        return 0
    units = {"beliefs": "candidates/s"}
    for part in parts:
        speed = f"{digits(part.speed, 0):>12} {units.get(part.name, 'nodes/s')}"
        console.print(f"{part.name:<10} {part.signature or 'no network':<{SHOWN}} {speed}")
    console.print(f"signature  {signature}")
    return 0


def total(parts: list[Part]) -> str:
    """Return the signature of all parts together; it names the parts that are left out."""
    text = " ".join(part.signature for part in parts if part.signature)
    missing = [part.name for part in parts if not part.signature]
    short = hashlib.sha256(text.encode()).hexdigest()[:SHOWN]
    return f"{short} (without {', '.join(missing)})" if missing else short


def _beliefs(report: ReportProgress) -> Part:
    """Follow the quick part of the recorded games; hash each belief that has a recorded size."""
    report("beliefs", 0)
    digest = hashlib.sha256()
    candidates, seconds = 0, 0.0
    for game in quick_games(read_games()):
        wanted = {update.ply: update for update in game.updates}
        belief = new_belief(game)
        for step in steps(game):
            begin = time.perf_counter()
            take_in(belief, step)
            spent = time.perf_counter() - begin
            update = wanted.get(step.ply)
            if update is not None:
                check(game, update, belief)
                candidates += update.candidates
                seconds += spent
                hashes = np.empty(len(belief), dtype=np.uint64)
                hash_positions(belief.positions, hashes)
                hashes.sort()
                digest.update(hashes.tobytes())
        belief.close()
    report(None, 1)
    return Part("beliefs", digest.hexdigest()[:SHOWN], candidates, seconds)


def _games(evaluator: str, report: ReportProgress) -> Part:
    """Play all games with an evaluator; hash the result of each search."""
    digest = hashlib.sha256()
    nodes, seconds = 0, 0.0
    for game in GAMES:
        report(f"{evaluator}: {game.name}", 0)
        try:
            for info, text in play(game, evaluator):
                nodes += info.nodes
                seconds += info.milliseconds / 1000
                digest.update(text.encode())
        except EvaluatorMissingError:
            return Part(evaluator, None, 0, 0.0)
        report(None, 1)
    return Part(evaluator, digest.hexdigest()[:SHOWN], nodes, seconds)


def play(game: FixedGame, evaluator: str) -> Iterator[tuple[SearchInfo, str]]:
    """Play a game; yield the last report of each search and the text to hash.

    Raises BenchmarkError if a move of the game is illegal, and EvaluatorMissingError.
    """
    options = {"Threads": "1", "Evaluator": evaluator, "Seed": "1", "Hash": "128"}
    players = [new_player(options | dict(game.options)) for _ in chess.COLORS]
    board = FogOfWarBoard(game.start)
    try:
        for side, player in enumerate(players):
            player.prepare()
            if not player.evaluator.startswith(evaluator):
                raise EvaluatorMissingError
            player.new_game(side, from_board(board))
        for uci in game.moves.split():
            play_move(board, uci, players)
        for _ in range(game.plies):
            if board.outcome() is not None:
                break
            player = players[1 - int(board.turn)]
            choice = player.search(GoLimits(time.monotonic(), nodes=game.nodes), Event())
            if choice.move is None or choice.info is None:
                raise BenchmarkError(f"{game.name}: the engine finds no move in {board.fen()}")
            yield choice.info, _describe(choice.move, choice.info, player)
            play_move(board, choice.move, players)
    except ValueError as error:
        raise BenchmarkError(f"{game.name}: {error}") from None
    finally:
        for player in players:
            player.close()


def _describe(move: str, info: SearchInfo, player: Player) -> str:
    """Return the text to hash for a search: its move, tree, value, strategies and belief."""
    facts = [move, info.nodes, info.infosets, info.iterations, info.expansions, info.carried]
    facts += [info.sampled, info.evaluations, info.gadget, f"{info.value:.5f}", info.line]
    facts += [f"{name} {p:.5f}" for name, p in (*info.policy, *info.play)]
    facts += [info.belief, info.exact, *player.belief_fens(LISTED)]
    return "\n".join(map(str, facts))
