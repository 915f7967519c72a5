"""The command `coverage` with the real engine behind the front end."""

from __future__ import annotations

import re

import chess
import pytest

from obscuro.client.move_report import read_coverage
from obscuro.engine.player_kind import OBSCURO
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import account_position, whole_position
from tests.uci.dialogue import InProcess

REPLIES = ("d7d5", "g8f6", "b8c6", "e7e6")
OPTIONS = {"Threads": "1", "Seed": "3", "Hash": "16", "Evaluator": "material"}
_TIMED = re.compile(r"\b(nps|time) \d+")


def said_in_a_game(*, asked: bool, private: bool) -> list[str]:
    """Let the engine play White against fixed replies; return what it says of its searches."""
    board = FogOfWarBoard()
    own = Account(board, chess.WHITE)
    said: list[str] = []
    with InProcess(OBSCURO.make) as talk:
        talk.ask(*(f"setoption name {name} value {value}" for name, value in OPTIONS.items()))
        for reply in REPLIES:
            talk.say(account_position(own) if private else whole_position(board), "go nodes 2000")
            said += talk.until("bestmove")
            if asked:
                (answer,) = talk.ask(f"coverage {board.epd(en_passant='legal')}")
                coverage = read_coverage([answer])
                assert coverage is not None and coverage.in_belief
                talk.ask("coverage 4k3/8/8/8/8/8/4P3/4K3 w - -")  # a lie changes nothing either
            for move in (said[-1].split()[1], reply):
                if chess.Move.from_uci(move) not in board.legal_moves:
                    return said
                board.push_uci(move)
                own.append(board)
        talk.leave()
    return said


def untimed(lines: list[str]) -> list[str]:
    return [_TIMED.sub(r"\1 -", line) for line in lines]


@pytest.mark.parametrize("private", [True, False])
def test_the_engine_says_and_plays_the_same_whether_it_is_asked_or_not(private: bool) -> None:
    quiet = untimed(said_in_a_game(asked=False, private=private))
    assert sum(line.startswith("bestmove") for line in quiet) >= 3
    assert untimed(said_in_a_game(asked=True, private=private)) == quiet
