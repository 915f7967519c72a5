"""A scripted person plays against a stand-in for the engine."""

import argparse
import re
from collections.abc import Callable, Iterable

import pytest
from rich.console import Console

from obscuro.cli import play_command as play
from obscuro.engine.options import Options
from obscuro.engine.strength import LEVELS, Level
from obscuro.matches.game_record import Contestant, GameRecord
from obscuro.matches.referee import play_game
from obscuro.rules.board import FogOfWarBoard
from tests.cli.conftest import written
from tests.matches.scripted import FakePlayer


class Session:
    """One `obscuro play` with what the person types; remembers the engine."""

    def __init__(
        self,
        console: Console,
        side: str = "white",
        stalemate: str = "loss",
        level: Level | None = None,
        **given: object,
    ) -> None:
        self.engine = FakePlayer()
        self.options = Options()
        self.prompts: list[str] = []
        self._console = console
        arguments = {"movetime": 7, "tc": None, "fen": None, "option": []} | given
        self._arguments = argparse.Namespace(
            side=side, evaluator="material", stalemate=stalemate, level=level, **arguments
        )

    def run(self, typed: Iterable[str]) -> tuple[int, str]:
        lines = iter(typed)

        def ask(prompt: str) -> str:
            self.prompts.append(prompt)
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        def make(options: Options, warn: Callable[[str], None]) -> FakePlayer:
            self.options = options
            warn("a warning")
            return self.engine

        code = play.run(self._arguments, make=make, ask=ask, console=self._console)
        return code, written(self._console)


def test_a_move_and_a_resignation(console: Console) -> None:
    session = Session(console)
    code, text = session.run(["e4", "resign"])
    assert code == 0
    assert session.engine.plies[0] is None  # it hears that the other has moved, not what
    assert session.options.text("Evaluator") == "material"
    assert session.engine.prepared and session.engine.closed == 1
    assert "note: a warning" in text
    assert "You are white" in text
    assert "The engine has moved." in text
    assert text.rstrip().endswith("The engine wins: white resigned.")
    assert "1. e4" in text


@pytest.mark.parametrize("stalemate", ["loss", "draw"])
def test_the_referee_the_engine_and_the_person_know_the_rule_of_stalemate(
    console: Console, stalemate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards: list[FogOfWarBoard] = []

    def watched(*players: Contestant, board: FogOfWarBoard, **settings: int) -> GameRecord:
        boards.append(board)
        return play_game(*players, board=board, **settings)

    monkeypatch.setattr(play, "play_game", watched)
    session = Session(console, stalemate=stalemate)
    _, text = session.run(["resign"])
    assert [board.stalemate for board in boards] == [stalemate]
    assert session.options.text("Stalemate") == stalemate
    assert ("A side without a move draws." in text) == (stalemate == "draw")


def test_the_engine_plays_at_full_strength_unless_a_level_is_given(console: Console) -> None:
    session = Session(console)
    _, text = session.run(["quit"])
    assert session.options.strength is None and "level" not in text
    session = Session(console, level=LEVELS[2])
    _, text = session.run(["quit"])
    assert session.options.strength == LEVELS[2].strength
    assert f"at level 3, {LEVELS[2].name}" in text


def test_only_the_fogged_board_is_shown_during_the_game(console: Console) -> None:
    _, text = Session(console).run(["e4", "Nf3", "d4", "quit"])
    assert "♔" in text
    assert not re.search("[♚♛♜♝]", text)
    assert "░" in text


def test_black_moves_second_and_sits_below(console: Console) -> None:
    session = Session(console, side="black")
    _, text = session.run(["quit"])
    assert session.prompts == ["black, your move: "]
    assert text.index("The engine has moved.") < text.index("1 ░")


def test_at_the_end_the_fog_lifts(console: Console) -> None:
    _, text = Session(console).run(["resign"])
    assert re.search("8.*♜.*♚.*♜", text)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("xyz", "'xyz' is not a move; try e2e4 or Nf3, or help"),
        ("e5", "e5 is not possible"),
        ("moves", "Na3 Nc3 Nf3 Nh3 a3 a4 b3 b4"),
        ("help", "resign: give the game up"),
    ],
)
def test_answers_in_a_line_and_asks_again(console: Console, typed: str, answer: str) -> None:
    session = Session(console)
    code, text = session.run([typed, "", "quit"])
    assert code == 0
    assert [line for line in text.splitlines() if line.startswith(answer)]
    assert len(session.prompts) == 3


def test_the_end_of_input_leaves(console: Console) -> None:
    session = Session(console)
    code, text = session.run([])
    assert (code, text.endswith("Good-bye.\n")) == (0, True)
    assert session.engine.closed == 1


def test_options_of_the_engine_stand_above_those_of_a_level(console: Console) -> None:
    session = Session(console, level=LEVELS[2], option=["hash=32", "UCI_Elo=1234"])
    session.run(["quit"])
    assert session.options.integer("Hash") == 32
    assert session.options.integer("UCI_Elo") == 1234


@pytest.mark.parametrize("side", ["white", "black"])
def test_a_move_is_taken_back_with_the_answer(console: Console, side: str) -> None:
    moves = ["e4", "d4"] if side == "white" else ["e5", "d5"]
    session = Session(console, side)
    _, text = session.run([moves[0], moves[1], "back", "a6" if side == "black" else "a3", "resign"])
    assert "Your last move is taken back." in text
    score = text.rstrip().splitlines()[-2]
    assert moves[0] in score and moves[1] not in score.split()
    assert score.split()[-2 if side == "white" else -1] != moves[1]
    # The engine is told the game anew, without what was taken back.
    assert len(session.engine.plies) == (4 if side == "white" else 5)
    assert session.engine.closed == 1


def test_without_a_move_there_is_nothing_to_take_back(console: Console) -> None:
    for side in ("white", "black"):
        _, text = Session(console, side).run(["back", "quit"])
        assert "you have made no move yet" in text


def test_both_sides_have_a_clock(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(play.time, "monotonic", lambda: now[0])

    def typed() -> Iterable[str]:
        yield "e4"
        now[0] += 70
        yield "d4"
        now[0] += 60
        yield "a3"

    session = Session(console, movetime=None, tc="120+1")
    _, text = session.run(typed())
    assert session.prompts[0] == "white, your move (2:00): "
    assert session.prompts[1] == "white, your move (2:01): "
    assert session.prompts[2] == "white, your move (0:52): "
    assert text.rstrip().endswith("The engine wins: white lost on time.")


def test_a_takeback_sets_the_clock_back(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(play.time, "monotonic", lambda: now[0])

    def typed() -> Iterable[str]:
        now[0] += 20
        yield "e4"
        now[0] += 40
        yield "d4"
        yield "back"
        yield "quit"

    session = Session(console, movetime=None, tc="120")
    session.run(typed())
    shown = [prompt.split("(")[1][:4] for prompt in session.prompts]
    assert shown == ["2:00", "1:40", "1:00", "1:40"]


def test_a_game_begins_with_the_position_that_is_given(console: Console) -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"
    session = Session(console, "white", fen=fen, stalemate="draw")
    _, text = session.run(["e4", "resign"])
    assert re.search(r"7\.\.\. K\S+ 8\. e4", text)


def test_captures_of_own_pieces_are_told(console: Console) -> None:
    # A game in which the person gives everything away, until something has been taken.
    session = Session(console)
    _, text = session.run(["e4", "Qh5", "Qxh7", "Qxg7", "Qxf7", "quit"])
    for line in re.findall("The engine has moved.*", text):
        assert re.fullmatch(
            r"The engine has moved(; your \w+ on [a-h][1-8] was captured)?\.", line
        ), line


def test_a_whole_game_on_a_terminal(terminal: Console) -> None:
    session = Session(terminal)
    code, text = session.run(["board", "e4", "Qh5", "Qxf7", "Qxe8", "Qxe8", "resign"])
    assert code == 0
    assert "\033[" in text
    assert "win" in text


# -- moves as people type them --------------------------------------------------------------

START = FogOfWarBoard.starting_fen
PROMOTION = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
KNIGHTS = "4k3/8/8/8/8/8/8/KN3N2 w - - 0 1"
CASTLING = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
CAPTURES = "4k3/8/8/3p4/4P3/3B4/8/4K3 w - - 0 1"
BLOCKED = "4k3/8/8/8/4p3/4P3/8/4K3 w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "text", "uci"),
    [
        (START, "e2e4", "e2e4"),
        (START, " E2-E4 ", "e2e4"),
        (START, "e4", "e2e4"),
        (START, "E4", "e2e4"),
        (START, "Nf3", "g1f3"),
        (START, "nf3", "g1f3"),
        (START, "NF3!?", "g1f3"),
        (PROMOTION, "a8=Q", "a7a8q"),
        (PROMOTION, "a8n", "a7a8n"),
        (PROMOTION, "a7a8R", "a7a8r"),
        (PROMOTION, "a7a8=q", "a7a8q"),
        (KNIGHTS, "Nbd2", "b1d2"),
        (CASTLING, "O-O", "e1g1"),
        (CASTLING, "0-0-0", "e1c1"),
        (CASTLING, "oo", "e1g1"),
        (CASTLING, "e1c1", "e1c1"),
        (CAPTURES, "exd5", "e4d5"),
        (CAPTURES, "Bc4", "d3c4"),
    ],
)
def test_reads(fen: str, text: str, uci: str) -> None:
    assert play.read_move(FogOfWarBoard(fen), text).uci() == uci


@pytest.mark.parametrize(
    ("fen", "text", "message"),
    [
        (START, "hello", "'hello' is not a move; try e2e4 or Nf3, or help"),
        (START, "", "'' is not a move; try e2e4 or Nf3, or help"),
        (START, "0000", "'0000' is not a move; try e2e4 or Nf3, or help"),
        (START, "--", "'--' is not a move; try e2e4 or Nf3, or help"),
        (START, "e2e5", "e2e5 is not possible"),
        (START, "e5", "e5 is not possible"),
        (START, "O-O", "O-O is not possible"),
        (CAPTURES, "bc4", "bc4 is not possible"),
        (KNIGHTS, "Nd2", "Nd2 is ambiguous: more than one of your pieces can go there"),
        (PROMOTION, "a8", "say what the pawn becomes: a8q or a8n, for example"),
        (PROMOTION, "a7a8", "say what the pawn becomes: a7a8q or a7a8n, for example"),
        # What blocks a pawn is not seen, and not told.
        (BLOCKED, "e4", "e4 is not possible"),
    ],
)
def test_says_what_is_wrong_and_nothing_hidden(fen: str, text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        play.read_move(FogOfWarBoard(fen), text)
    assert str(caught.value) == message
