"""The option Ponder: the engine uses the other side's time by itself, and nobody notices."""

from __future__ import annotations

import chess
import pytest

from obscuro.rules.board import FogOfWarBoard
from tests.uci.dialogue import Fakes, InProcess, Process


def observation(moves: str, side: chess.Color) -> str:
    board = FogOfWarBoard()
    for move in moves.split():
        board.push_uci(move)
    return board.fog_fen(side)


@pytest.fixture
def fakes() -> Fakes:
    fakes = Fakes()
    fakes.early = True
    return fakes


def game_so_far(fakes: Fakes) -> list[tuple[object, ...]]:
    return [call for call in fakes.calls if call[0] not in ("prepare", "search", "update")]


def test_after_its_move_the_engine_ponders_on_what_it_then_sees(fakes: Fakes) -> None:
    fakes.move = "e2e4"
    with InProcess(fakes) as talk:
        talk.say("setoption name Ponder value true", "isready", "go nodes 1")
        talk.until("bestmove")
        fakes.wait_for_call(("ponder",))
        talk.say("position startpos moves e2e4 e7e5", "go nodes 1")
        talk.until("bestmove")
        talk.leave()
    calls = game_so_far(fakes)
    assert [call[0] for call in calls[:5]] == [
        "new_game",
        "own_move",
        "ponder",
        "pondered",
        "opponent_move",
    ]
    assert calls[1] == ("own_move", "e2e4", observation("e2e4", chess.WHITE))
    assert calls[4] == ("opponent_move", observation("e2e4 e7e5", chess.WHITE))


def test_another_move_than_the_engines_is_another_game(fakes: Fakes) -> None:
    fakes.move = "e2e4"
    with InProcess(fakes) as talk:
        talk.say("setoption name Ponder value true", "isready", "go nodes 1")
        talk.until("bestmove")
        fakes.wait_for_call(("ponder",))
        fakes.move = None
        talk.say("position startpos moves d2d4 e7e5", "go nodes 1")
        talk.until("bestmove")
        talk.leave()
    names = [call[0] for call in game_so_far(fakes)]
    assert names[:7] == [
        "new_game",
        "own_move",
        "ponder",
        "pondered",
        "new_game",
        "own_move",
        "opponent_move",
    ]


def test_without_the_option_nobody_ponders(fakes: Fakes) -> None:
    with InProcess(fakes) as talk:
        talk.say("go nodes 1")
        talk.until("bestmove")
        talk.say("position startpos moves e2e4 e7e5", "go nodes 1")
        talk.until("bestmove")
        talk.leave()
    assert not [call for call in fakes.calls if call[0] == "ponder"]


def test_where_the_referee_keeps_secrets_pondering_begins_with_what_we_saw(fakes: Fakes) -> None:
    seen = observation("e2e4", chess.WHITE)
    with InProcess(fakes) as talk:
        talk.say("setoption name Ponder value true", "isready")
        talk.until("readyok")
        talk.say(f"position fog white startpos turns e2e4 {seen}")
        fakes.wait_for_call(("ponder",))
        answer = observation("e2e4 e7e5", chess.WHITE)
        talk.say(f"position fog white startpos turns e2e4 {seen} {answer}", "go nodes 1")
        talk.until("bestmove")
        talk.leave()
    names = [call[0] for call in game_so_far(fakes)]
    assert names == ["new_game", "own_move", "ponder", "pondered", "opponent_move"]


@pytest.mark.parametrize("command", ["d", "belief 1", "stop", "isready", "ucinewgame"])
def test_whatever_is_asked_ends_it(fakes: Fakes, command: str) -> None:
    with InProcess(fakes) as talk:
        talk.say("setoption name Ponder value true", "isready", "go nodes 1")
        talk.until("bestmove")
        fakes.wait_for_call(("ponder",))
        talk.say(command, "isready")
        talk.until("readyok")
        talk.leave()
    assert fakes.calls.count(("ponder",)) == fakes.calls.count(("pondered",))


def played(ponder: bool) -> list[str]:
    """The engine's moves against fixed answers, with all that it reports of its belief."""
    lines = []
    with Process() as engine:
        engine.say("setoption name Evaluator value material", "setoption name Threads value 1")
        engine.say("setoption name Seed value 5", f"setoption name Ponder value {ponder}".lower())
        engine.say("isready")
        engine.until("readyok")
        board = FogOfWarBoard()
        for _ in range(6):
            moves = " ".join(move.uci() for move in board.move_stack)
            engine.say(f"position startpos moves {moves}" if moves else "position startpos")
            engine.say("go nodes 1500")
            said = engine.until("bestmove")
            lines += [line for line in said if line.startswith(("info string", "bestmove"))]
            board.push_uci(said[-1].split()[1])
            if board.is_game_over():
                break
            engine.ask()  # gives it a moment
            answer = sorted(move.uci() for move in board.legal_moves)[7]
            board.push_uci(answer)
            if board.is_game_over():
                break
        engine.leave()
    return lines


@pytest.mark.slow
def test_a_pondering_engine_plays_the_same_moves() -> None:
    with_ponder = played(True)
    assert len(with_ponder) > 15
    assert with_ponder == played(False)
