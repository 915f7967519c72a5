"""The adapter of Misty, with a stand-in for the package, which the tests do not install."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import chess
import pytest

from obscuro.engine.options import OptionError, Options
from obscuro.engine.report import GoLimits
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from tools.play import misty
from tools.play.misty import OPTIONS, MistyPlayer, to_misty


class StandIn:
    """A player of the package: it keeps what it is told, and plays its first legal move."""

    made: list[StandIn] = []  # noqa: RUF012

    def __init__(self, *, seed: int = 0, p_max_size: int = 0, iterations: int = 0, **rest: Any):
        self.settings = {"seed": seed, "p_max_size": p_max_size, "iterations": iterations, **rest}
        self.told: list[Any] = []
        self.lose_belief = False
        self.closed = False
        self.seconds: float | None = None
        self.made.append(self)

    def reset(self, side: chess.Color) -> None:
        self.told.append(side)

    def observe_own_move(self, move: chess.Move, seen: Any) -> None:
        self._tell((move, seen))

    def observe_opp_move(self, seen: Any) -> None:
        self._tell(seen)

    def _tell(self, what: Any) -> None:
        if self.lose_belief:
            raise RuntimeError("P became empty after opp move; no pair produced the observation")
        self.told.append(what)

    def set_time_budget(self, seconds: float | None) -> None:
        self.seconds = seconds

    def pick_move(self, view: Any) -> chess.Move:
        move: chess.Move = view.own_legal_moves[0 if isinstance(self, Engine) else -1]
        return move

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True)
class Profile:
    """A profile of the package: one setting of the engine, one that is none."""

    kluss_k: int = 2
    name: str = "v1.6"

    def apply_process_flags(self) -> None:
        """Do nothing."""


class Engine(StandIn):
    """What the package calls EngineV2Strategy."""

    def __init__(
        self, *, seed: int, p_max_size: int, iterations: int, kluss_k: int, **rest: Any
    ) -> None:
        super().__init__(
            seed=seed, p_max_size=p_max_size, iterations=iterations, kluss_k=kluss_k, **rest
        )


class Older(StandIn):
    """What the package calls Tier1Strategy."""

    def __init__(self, *, evaluator_builder: Any, seed: int) -> None:
        super().__init__(seed=seed, evaluator_builder=evaluator_builder)


class Seen(NamedTuple):
    """What the package calls Observation."""

    visibility_mask: chess.SquareSet
    visible_pieces: dict[chess.Square, chess.Piece]
    own_capture_square: chess.Square | None
    opp_capture_landing_square: chess.Square | None


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    parts: dict[str, dict[str, Any]] = {
        "fow_chess": {
            "PROFILES": {"v1.6": Profile()},
            "EngineV2Strategy": Engine,
            "Tier1Strategy": Older,
            "Observation": Seen,
        },
        "fow_chess.engine": {"static_builder": lambda evaluator: evaluator},
        "fow_chess.evaluator": {"fow_evaluator": lambda: "an evaluator"},
        "fow_chess.selfplay": {"PerspectiveView": SimpleNamespace},
    }
    for name, contents in parts.items():
        module = ModuleType(name)
        module.__dict__.update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(StandIn, "made", [])


def player(warn: Any = pytest.fail) -> MistyPlayer:
    options = Options(OPTIONS)
    options.set("Seed", "7")
    options.set("Positions", "50")
    options.set("Passes", "3")
    return MistyPlayer(options, warn)


def play(white: MistyPlayer, *moves: str) -> FogOfWarBoard:
    """Tell White a game."""
    board = FogOfWarBoard()
    white.new_game_from_fen(0, board.epd())
    for move in moves:
        board.push_uci(move)
        last_ply(board, chess.WHITE).tell(white)
    return board


def move_of(white: MistyPlayer) -> str | None:
    class Stop:
        def is_set(self) -> bool:
            return False

    limits = GoLimits(0.0, movetime=500)
    return white.search(limits, Stop(), lambda info: None).move  # type: ignore[arg-type]


def test_it_is_told_what_it_did_and_saw_and_nothing_else() -> None:
    white = player()
    board = play(white, "e2e4", "d7d5")
    engine, older = StandIn.made
    assert engine.told == older.told
    side, (move, own), seen = engine.told
    assert side == chess.WHITE and move == chess.Move.from_uci("e2e4")
    assert own[0] != seen[0] and seen[0] == board.vision(chess.WHITE)
    assert seen[1][chess.D5] == chess.Piece.from_symbol("p") and chess.D8 not in seen[1]


def test_the_options_and_the_profile_reach_the_engine() -> None:
    white = player()
    play(white)
    engine = StandIn.made[0]
    settings = engine.settings
    assert (settings["seed"], settings["p_max_size"], settings["iterations"]) == (7, 50, 3)
    assert settings["kluss_k"] == 2 and "name" not in settings
    assert settings["use_rust_tree"] is False
    assert move_of(white) is not None and engine.seconds == 0.5


def test_what_was_captured_and_by_a_piece_in_sight_is_said() -> None:
    board = FogOfWarBoard()
    for move in ("e2e4", "d7d5", "a2a3"):
        board.push_uci(move)
    before = board.observation(chess.WHITE)
    board.push_uci("d5e4")
    _, pieces, lost, landed = to_misty(before, board.observation(chess.WHITE), chess.WHITE)
    assert lost == chess.E4 and (landed == chess.E4) == (chess.E4 in pieces)


def test_the_older_player_goes_on_when_the_belief_is_empty() -> None:
    warnings: list[str] = []
    white = player(warnings.append)
    board = play(white, "e2e4", "d7d5")
    engine, older = StandIn.made
    assert move_of(white) == next(iter(board.legal_moves)).uci()
    engine.lose_belief = True
    for move in ("a2a3", "d8d6"):
        board.push_uci(move)
        last_ply(board, chess.WHITE).tell(white)
    assert warnings == ["Misty's belief is empty; its older player goes on"]
    assert engine.closed and len(older.told) == 5
    assert move_of(white) == list(board.legal_moves)[-1].uci()


def test_an_error_that_is_no_lost_belief_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: StandIn, view: Any) -> chess.Move:
        raise RuntimeError("Stockfish is gone")

    monkeypatch.setattr(Engine, "pick_move", fail, raising=False)
    white = player()
    play(white)
    with pytest.raises(RuntimeError, match="Stockfish is gone"):
        move_of(white)


def test_it_begins_at_the_usual_start_alone_and_has_its_own_profiles() -> None:
    with pytest.raises(OptionError, match="--openings none"):
        player().new_game_from_fen(0, "4k3/8/8/8/8/8/4P3/4K3 w - -")
    white = player()
    options = Options(OPTIONS)
    options.set("Profile", "none")
    white.set_options(options)
    with pytest.raises(OptionError, match=r"no profile 'none'; it has v1\.6"):
        play(white)


def test_without_the_package_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(misty, "MISTY", SimpleNamespace(lack="missing"))
    assert misty.main([]) == 1
    assert "pip install misty-chess" in "".join(capsys.readouterr())
