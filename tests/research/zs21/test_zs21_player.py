"""ZS21 plays Fog of War chess."""

from __future__ import annotations

import time
from threading import Event

import chess
import pytest

from obscuro.engine.options import Options
from obscuro.engine.report import GoLimits, SearchInfo
from obscuro.players.roster import ZS21_OPTIONS
from obscuro.research.zs21.blueprint import solved_nodes
from obscuro.research.zs21.gadget_program import GadgetProgram, LateError
from obscuro.research.zs21.trunk import MAX
from obscuro.research.zs21.zs21_constants import LEAST_ROOTS
from obscuro.research.zs21.zs21_player import Zs21Player
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.layout import WORDS
from obscuro.rules.position import from_board, from_fen
from tools.proofs.zs21_agent import GAP, check_turn

OPENING = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "d2d3", "f8c5")


class Game:
    """A game that ZS21 follows as White."""

    def __init__(self, seed: str = "3") -> None:
        self.warnings: list[str] = []
        options = Options(ZS21_OPTIONS)
        for name, value in (("Evaluator", "material"), ("Seed", seed)):
            options.set(name, value)
        self.player = Zs21Player(options, self.warnings.append)
        self.board = FogOfWarBoard()
        self.player.new_game(0, from_board(self.board))

    def push(self, uci: str) -> None:
        self.board.push_uci(uci)
        last_ply(self.board, chess.WHITE).tell(self.player)

    def go(self, nodes: int = 1000) -> str:
        choice = self.player.search(GoLimits(time.monotonic(), nodes=nodes), Event())
        assert choice.move is not None
        assert chess.Move.from_uci(choice.move) in self.board.legal_moves
        return choice.move

    def play(self, *ucis: str, nodes: int = 1000) -> None:
        """Let the player search at its turns, but play these moves."""
        for uci in ucis:
            if self.board.turn == chess.WHITE:
                self.go(nodes)
            self.push(uci)


def test_turns_keep_to_the_rules() -> None:
    game = Game()
    for uci in OPENING:
        if game.board.turn == chess.WHITE:
            game.go(nodes=4000)
            checked = check_turn(game.player, 0.0, 0.0)
            assert checked is not None
            assert checked.broken == []
            assert checked.roots >= checked.wanted
            assert checked.gap <= GAP
            assert checked.rounds >= 2
        game.push(uci)
    assert game.warnings == []


def test_the_last_trunk_is_carried_over() -> None:
    game = Game()
    for reply in ("e7e5", "b8c6"):
        game.push(game.go(4000))
        game.push(reply)
    game.go()
    search = game.player.last_search
    assert search is not None
    trunk = search.trunk
    assert trunk.carried > 0
    roots = trunk.nodes.state[: trunk.roots][trunk.nodes.live[: trunk.roots]]
    assert len({row.tobytes() for row in roots[:, :WORDS]}) == len(roots)
    assert len(roots) >= min(game.player.belief_size, LEAST_ROOTS)
    for row in roots[:, :WORDS]:
        assert game.player.belief_contains(row)


def test_equal_seeds_play_equal_moves() -> None:
    searched = []
    for _ in range(2):
        game = Game()
        game.play(*OPENING)
        move = game.go()
        assert game.player.last_search is not None
        searched.append((move, game.player.last_search.result.policy.tolist()))
    assert searched[0] == searched[1]


def test_infosets_of_ours_have_the_same_moves_in_all_nodes() -> None:
    game = Game()
    game.play(*OPENING[:4], nodes=4000)
    game.go(4000)
    search = game.player.last_search
    assert search is not None and search.result.solution is not None
    nodes = solved_nodes(search.result.solution)
    own = (nodes.player == MAX) & (nodes.degree > 0)
    seen: dict[int, int] = {}
    for key, degree in zip(nodes.key[own, MAX].tolist(), nodes.degree[own].tolist(), strict=True):
        assert seen.setdefault(key, degree) == degree


def test_a_king_in_sight_is_taken() -> None:
    game = Game()
    game.player.new_game(0, from_fen("4k3/8/8/8/8/8/8/4RK2 w - -"))
    assert game.player.search(GoLimits(time.monotonic(), nodes=10), Event()).move == "e1e8"
    assert game.player.last_search is None


def test_reports_say_what_was_solved() -> None:
    game = Game()
    reports: list[SearchInfo] = []
    game.player.search(GoLimits(time.monotonic(), nodes=2000), Event(), reports.append)
    result = game.player.last_search.result if game.player.last_search else None
    assert result is not None
    assert len(reports) == result.rounds >= 2
    last = reports[-1]
    assert (last.iterations, last.expansions) == (result.programs, result.expansions)
    assert last.belief == 1
    assert sum(share for _, share in last.policy) == pytest.approx(1.0)
    assert [report.nodes for report in reports] == sorted(report.nodes for report in reports)


def test_a_turn_without_time_for_a_program_plays_by_plain_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(self: object, gadget: object, deadline: object = None) -> None:
        raise LateError

    game = Game()
    monkeypatch.setattr(GadgetProgram, "solve", late)
    game.go()
    assert any("no time to solve" in text for text in game.warnings)


def test_whatever_fails_in_a_turn_there_is_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, gadget: object, deadline: object = None) -> None:
        raise ZeroDivisionError("a bug")

    game = Game()
    with monkeypatch.context() as patch:
        patch.setattr(GadgetProgram, "solve", broken)
        game.play(*OPENING[:2])
    assert game.warnings == ["zs21 failed and plays any move: ZeroDivisionError: a bug"]
    game.go()
    assert game.player.last_search is not None
    assert game.player.last_search.result.rounds >= 1


def test_what_is_asked_about_a_position_is_answered_from_the_last_search() -> None:
    game = Game()
    game.play(*OPENING[:4])
    game.go()
    true = game.player.coverage_of_fen(game.board.fen())
    assert (true.in_belief, true.in_infoset, true.expanded) == (True, True, True)
    assert true.weight is not None and 0.0 <= true.weight <= 1.0
    other = game.player.coverage_of_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    assert (other.in_belief, other.in_infoset, other.weight) == (False, False, 0.0)
