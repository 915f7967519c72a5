"""Files and screens of a game under way are the same for two games that look the same to a side."""

from __future__ import annotations

import io
import random
from itertools import product
from pathlib import Path
from typing import Any

import chess
import pytest
from rich.console import Console

from obscuro.engine.report import Choice
from obscuro.matches.event import Entrant, Event, match_games
from obscuro.matches.game_record import Contestant, Turn
from obscuro.matches.journal import Journal
from obscuro.matches.openings import Opening
from obscuro.matches.pgn import PgnFile
from obscuro.matches.play_event import play_event
from obscuro.matches.time_control import Allowance, TimeControl
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.uci.positions import account_position
from tests.cli.conftest import written
from tests.cli.test_play_command import Session
from tests.leaks.twins import STARTS, Twins, check, named_twins, twins
from tests.matches.events import scripted_workers
from tests.matches.scripted import FakePlayer, Scripted
from tests.sizes import quick_among


class Watching(Scripted):
    """Plays a game's moves, and reads the files of the match before each."""

    def __init__(self, moves: tuple[str, ...], folder: Path) -> None:
        super().__init__(moves)
        self.read: list[dict[str, bytes]] = []
        self._folder = folder

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        self.read.append({path.name: path.read_bytes() for path in self._folder.iterdir()})
        return super().choose(board, allowance)


def files_of_a_match(pair: Twins, moves: tuple[str, ...], folder: Path) -> list[dict[str, bytes]]:
    """Return the files of a match before each move of its first game."""
    folder.mkdir()
    event = Event(
        name="a - b",
        entrants=(Entrant("a", "random"), Entrant("b", "random")),
        tasks=match_games(1, (Opening("twins", pair.start, ()),), 1),
        control=TimeControl(1),
        max_plies=len(moves),
    )
    first = int(FogOfWarBoard(pair.start).turn == chess.BLACK)
    players = {
        name: Watching(moves[(index + first) % 2 :: 2], folder) for index, name in enumerate("ab")
    }

    def make(name: str) -> Contestant:
        return players[name]

    pgn = PgnFile.append(folder / "match.pgn", event)
    with Journal.open(folder / "match.jsonl", event) as journal:
        play_event(
            event,
            scripted_workers(make),
            journal,
            on_game=lambda task, record: pgn.add(task.number, record),
        )
    pgn.close()
    assert moves[0] in (folder / "match.jsonl").read_text()  # it is in them when it is over
    return [each for player in players.values() for each in player.read]


@pytest.mark.parametrize(("name", "pair"), named_twins())
def test_a_match_writes_nothing_of_a_game_under_way(name: str, pair: Twins, tmp_path: Path) -> None:
    one, other = (
        files_of_a_match(pair, moves, tmp_path / str(number))
        for number, moves in enumerate(pair.games)
    )
    assert one == other
    assert len(one) >= len(pair.one)
    assert {"match.pgn", "match.jsonl"} <= one[0].keys()


@pytest.mark.parametrize(
    ("seed", "side", "start"),
    quick_among(product(range(100), chess.COLORS, STARTS), lambda case: case[0] < 2),
)
def test_the_account_that_a_player_is_sent_is_the_same(
    seed: int, side: chess.Color, start: str
) -> None:
    pair = twins(4000 + seed, side, start)
    check(pair)
    one, other = (account_position(Account(board, side)) for board in pair.boards())
    assert one == other


class ScriptedPlayer(FakePlayer):
    """An engine that plays these moves."""

    def __init__(self, moves: tuple[str, ...]) -> None:
        super().__init__()
        self._script = list(moves)

    def own_move(self, uci: str, observation: Observation | None) -> None:
        pass

    def opponent_move(self, observation: Observation) -> None:
        pass

    def search(self, *arguments: Any, **options: Any) -> Choice:
        return Choice(self._script.pop(0))


def screen(pair: Twins, moves: tuple[str, ...], seed: int) -> str:
    """Return what `obscuro play` writes in a game, up to a position in which the person leaves."""
    chance = random.Random(seed)
    console = Console(file=io.StringIO(), width=80, highlight=False, markup=False)
    session = Session(console, side=chess.COLOR_NAMES[pair.side])
    first = int(pair.side == chess.BLACK)
    own, hidden = moves[first::2], moves[1 - first :: 2]
    session.engine = ScriptedPlayer(hidden)
    typed: list[str] = []
    for uci in own[: len(hidden) - first]:
        # Pieces are touched, and sent where they can't go.
        square = chance.choice(chess.SQUARE_NAMES)
        typed += ["moves", f"{uci[:2]}{uci[:2]}", f"{square}{square}", uci]
    code, _ = session.run([*typed, "board", "moves", "quit"])
    assert code == 0
    return written(console)


@pytest.mark.parametrize(
    ("seed", "side"), quick_among(product(range(20), chess.COLORS), lambda case: case[0] == 0)
)
def test_the_screen_of_a_game_in_the_terminal_is_the_same(seed: int, side: chess.Color) -> None:
    pair = twins(5000 + seed, side, plies=40)
    one, other = (screen(pair, moves, seed) for moves in pair.games)
    assert one == other
    assert one.count("The engine has moved") > 10
