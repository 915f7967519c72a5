"""Misty, another engine for Fog of War chess, as a UCI program that joins a match.

    pip install misty-chess
    python -m tools.play.misty
    obscuro match obscuro "python -m tools.play.misty" --openings none --nodes 10000

The package `misty-chess` is by Brian Liou, under the GPL-3.0-or-later. This module imports it and
holds no code of it. Misty is told its own moves and observations, and nothing else.

What pip installs is Misty without its compiled part, which is not on PyPI: the moves are chosen by
`EngineV2Strategy` with the settings of one of its profiles, in Python alone. That is slow, so its
belief holds at most `Positions` positions, drawn at random. A belief cut down like that may come to
hold none, and then `EngineV2Strategy` raises RuntimeError. From there on the older player of the
package, `Tier1Strategy`, plays the game to its end; an `info string` says so. It has followed the
game from the start.

A search ends after `Passes` passes, whatever `go` says of nodes and clocks. `go movetime` ends it
earlier; it is the time of the search alone, and the belief and the last checks of a move come on top.
A game begins at the usual start.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import logging
import os
import random
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from threading import Event
from typing import Any

import chess

from obscuro.engine.options import Option, OptionError, Options, options_named
from obscuro.engine.player_kind import AnyPlayer, PlayerKind
from obscuro.engine.report import Choice, GoLimits, SearchInfo
from obscuro.evaluation.stockfish_program import stockfish_path
from obscuro.players.view_player import ViewPlayer
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.side_view import SideView
from obscuro.uci.uci import run as run_uci
from tools.common import given, say, tool_parser

OPTIONS = (
    *options_named("UCI_Variant", "Seed"),
    Option("Profile", "string", "v1.6", help="the name of one of Misty's profiles"),
    Option("Positions", "spin", 1000, 1, 1_000_000, help="the most positions of its belief"),
    Option("Passes", "spin", 20, 1, 1_000_000, help="the most passes of a search"),
)


class MistyPlayer(ViewPlayer):
    """Plays a side of a game by Misty. warn: called with one line for each thing to know."""

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        super().__init__(options, self._choose)
        self._settings = options
        self._warn = warn
        self._limits = GoLimits(0.0)  # of the search that is asked for
        self._side = chess.WHITE
        self._seen = Observation(0, (0, 0, 0, 0, 0, 0, 0))
        self._engine: Any = None  # EngineV2Strategy; None once its belief is empty
        self._older: Any = None  # Tier1Strategy

    def set_options(self, options: Options) -> None:
        """Take over options; they hold from the next game on."""
        super().set_options(options)
        self._settings = options

    def new_game_from_fen(self, side: int, fen: str) -> None:
        """Start a game as `side` (0 = White). Raises OptionError if it isn't the usual start."""
        if FogOfWarBoard(fen).epd() != FogOfWarBoard().epd():
            raise OptionError("Misty plays from the usual start only: use --openings none")
        super().new_game_from_fen(side, fen)
        self.close()
        self._side = side == 0
        self._seen = FogOfWarBoard().observation(self._side)
        self._engine = make_engine(self._settings, self.seed)
        self._older = make_older_player(self.seed)
        self._engine.reset(self._side)
        self._older.reset(self._side)

    def own_move(self, uci: str, observation: Observation | None) -> None:
        """Take the own move `uci` and what was seen after it (None: not told)."""
        super().own_move(uci, observation)
        if observation is None:
            raise OptionError("Misty must be told what it sees after its own moves")
        move, seen = chess.Move.from_uci(uci), self._translate(observation)
        self._tell(lambda player: player.observe_own_move(move, seen))

    def opponent_move(self, observation: Observation) -> None:
        """Take what was seen after a move of the other side."""
        super().opponent_move(observation)
        seen = self._translate(observation)
        self._tell(lambda player: player.observe_opp_move(seen))

    def search(self, limits: GoLimits, stop: Event, report: Callable[[SearchInfo], None]) -> Choice:
        """Choose a move. It can't be stopped, and reports nothing."""
        self._limits = limits
        return super().search(limits, stop, report)

    def close(self) -> None:
        """End Misty's processes. The game can't go on then."""
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    def _translate(self, observation: Observation) -> Any:
        """Return an observation in Misty's form, and keep it."""
        translated = to_misty(self._seen, observation, self._side)
        self._seen = observation
        return translated

    def _tell(self, say_it: Callable[[Any], None]) -> None:
        """Tell both players of a ply."""
        say_it(self._older)
        self._ask(say_it)

    def _ask(self, question: Callable[[Any], Any]) -> Any:
        """Ask the engine; None if its belief is empty, or was before."""
        if self._engine is None:
            return None
        try:
            return question(self._engine)
        except RuntimeError as error:
            if not str(error).startswith("P "):
                raise
            self.close()
            self._warn("Misty's belief is empty; its older player goes on")
            return None

    def _choose(self, view: SideView, chance: random.Random) -> str | None:
        from fow_chess.selfplay import PerspectiveView  # noqa: PLC0415 - not always installed

        moves = [chess.Move.from_uci(uci) for uci in view.moves()]
        if not moves:
            return None
        seen = to_misty(view.observation, view.observation, self._side)
        asked = PerspectiveView(
            perspective=self._side,
            own_legal_moves=moves,
            visible_squares=seen.visibility_mask,
            visible_piece_map=seen.visible_pieces,
        )
        if self._engine is not None:
            time = self._limits.movetime
            self._engine.set_time_budget(None if time is None else time / 1000)
        move = self._ask(lambda player: player.pick_move(asked))
        chosen: chess.Move = self._older.pick_move(asked) if move is None else move
        return chosen.uci()


def to_misty(before: Observation, now: Observation, side: chess.Color) -> Any:
    """Return an observation in Misty's form.

    before: what the side saw a ply earlier. Misty says which of the side's own squares became free.
    """
    import fow_chess  # noqa: PLC0415 - not always installed

    index = 0 if side == chess.WHITE else 1
    left = before.pieces(index) & ~now.pieces(index)
    lost = next(iter(set(chess.scan_forward(left))), None)
    pieces = now.board().piece_map()
    landed = lost if lost in pieces else None
    return fow_chess.Observation(chess.SquareSet(now.seen), pieces, lost, landed)


def make_engine(options: Options, seed: int) -> Any:
    """Return Misty's engine with a profile's settings, without its compiled part.

    Raises OptionError if there is no such profile.
    """
    from fow_chess import PROFILES, EngineV2Strategy  # noqa: PLC0415 - not always installed

    name = options.text("Profile")
    if name not in PROFILES:
        raise OptionError(f"Misty has no profile {name!r}; it has {', '.join(PROFILES)}")
    profile = PROFILES[name]
    profile.apply_process_flags()
    known = inspect.signature(EngineV2Strategy.__init__).parameters
    settings = {each.name: getattr(profile, each.name) for each in dataclasses.fields(profile)}
    return EngineV2Strategy(
        seed=seed,
        p_max_size=options.integer("Positions"),
        iterations=options.integer("Passes"),
        use_rust_tree=False,
        use_rust_state=False,
        **{name: value for name, value in settings.items() if name in known},
    )


def make_older_player(seed: int) -> Any:
    """Return the package's player with particles, and its own evaluator for fog."""
    from fow_chess import Tier1Strategy  # noqa: PLC0415 - not always installed
    from fow_chess.engine import static_builder  # noqa: PLC0415
    from fow_chess.evaluator import fow_evaluator  # noqa: PLC0415

    return Tier1Strategy(evaluator_builder=static_builder(fow_evaluator()), seed=seed)


def installed_version() -> str:
    """Return the version of the package; empty if it is not installed."""
    try:
        return version("misty-chess")
    except PackageNotFoundError:
        return ""


def make(options: Options, warn: Callable[[str], None]) -> AnyPlayer:
    """Return a player of the kind `MISTY`."""
    return MistyPlayer(options, warn)


MISTY = PlayerKind(
    "misty",
    "the engine Misty by Brian Liou",
    OPTIONS,
    make,
    title=f"Misty {installed_version()}, adapter",
    extra=("fow_chess", "misty"),
)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    return tool_parser("tools.play.misty", __doc__, stores=False)


def main(words: Sequence[str] | None = None) -> int:
    """Speak UCI on stdin and stdout; returns the exit code."""
    make_parser().parse_args(given(words))
    if MISTY.lack is not None:
        say("misty: Misty is not installed; install it with: pip install misty-chess")
        return 1
    if (path := stockfish_path()) is not None:
        os.environ.setdefault("FOW_STOCKFISH", str(path))
    logging.getLogger("fow_chess").setLevel(logging.ERROR)
    return run_uci(kind=MISTY)


if __name__ == "__main__":
    sys.exit(main())
