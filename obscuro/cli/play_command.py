"""`obscuro play` lets a person play against the engine. Both sides play in the fog."""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import time
from collections import deque
from collections.abc import Callable, Iterator

import chess
from rich.console import Console

from obscuro.cli.command_support import (
    MakePlayer,
    UsageError,
    engine_options,
    make_player,
    prepare,
    read_options,
)
from obscuro.cli.drawing import Symbols, draw_board, draw_fogged, move_mask
from obscuro.cli.grammar.game_commands import PLAY_MOVETIME
from obscuro.engine.options import OptionError, Options
from obscuro.engine.strength import Level
from obscuro.matches.game_record import OWN_OBSERVATIONS, Forfeit, GameRecord, PlayedPly, Turn
from obscuro.matches.players import InProcessPlayer
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import MILLISECONDS, Allowance, TimeControl
from obscuro.rules.board import BOARDS, FogOfWarBoard
from obscuro.rules.stalemate import DRAW
from obscuro.rules.starts import board_of, fen_of
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import start_board

Ask = Callable[[str], str]

WIDTH = 3  # characters of a square

HELP = (
    "a move: e2e4, Nf3, exd5, e8=Q, O-O",
    "board: show the board again",
    "moves: list your moves",
    "back: take your last move back",
    "resign: give the game up",
    "quit: leave",
)


_UCI = re.compile(r"([a-h][1-8])-?([a-h][1-8])=?([nbrq]?)", re.IGNORECASE)
_CASTLING = re.compile(r"[0o]-?[0o](-?[0o])?", re.IGNORECASE)
_SAN = re.compile(r"[nbrqk]?[a-h]?[1-8]?x?[a-h][1-8](=?[nbrq])?", re.IGNORECASE)


class Quit(Exception):  # noqa: N818 - it is the name of the thing
    """The person has left."""


class TakenBack(Exception):  # noqa: N818 - it is the name of the thing
    """The person takes their last move back."""


Kept = deque[Turn]
"""The turns of both sides that a game still has to make again, the next one first."""


class HumanPlayer:
    """A person at the terminal. They are shown what their side sees, and nothing else.

    kept: while there are turns in it, the game is on its way back to where a move was taken back.
    """

    name = "you"

    told = OWN_OBSERVATIONS

    def __init__(self, console: Console, ask: Ask, kept: Kept) -> None:
        self._console = console
        self._kept = kept
        self._ask = ask
        self._symbols = Symbols.of(console)
        self._color: chess.Color = chess.WHITE
        self._own: dict[chess.Square, chess.Piece] = {}
        self._last: chess.Bitboard = 0

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Take a side of a new game."""
        self._color = color
        self._own = self._own_pieces(board)
        self._last = 0

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Ask until the answer is a move. Raises Forfeit, Quit, TakenBack."""
        if self._kept:
            turn = self._kept.popleft()
            self._last = move_mask(chess.Move.from_uci(turn.uci))
            return turn
        self._show(board)
        begin = time.monotonic()
        while True:
            seconds = time.monotonic() - begin
            left = clock_text(allowance, seconds)
            try:
                text = self._ask(f"{chess.COLOR_NAMES[self._color]}, your move{left}: ").strip()
            except EOFError:
                raise Quit from None
            move = self._heed(board, text)
            if move is not None:
                self._last = move_mask(move)
                return Turn(move.uci(), time.monotonic() - begin)

    def _heed(self, board: FogOfWarBoard, text: str) -> chess.Move | None:
        """Carry out what the person typed; return the move if it was one."""
        match text.lower():
            case "":
                pass
            case "quit" | "exit":
                raise Quit
            case "resign":
                raise Forfeit("resigned")
            case "back":
                if len(board.move_stack) >= 2:
                    raise TakenBack
                self._console.print("you have made no move yet")
            case "help" | "?":
                self._console.print("\n".join(HELP))
            case "board":
                self._show(board)
            case "moves":
                # `#` would tell that the enemy has no move, which this side can't see.
                names = sorted(board.san(move).rstrip("#") for move in board.legal_moves)
                self._console.print(" ".join(names), soft_wrap=True)
            case _:
                try:
                    return read_move(board, text)
                except ValueError as error:
                    self._console.print(str(error), soft_wrap=True)
        return None

    def _show(self, board: FogOfWarBoard) -> None:
        drawing = draw_fogged(board, self._color, self._symbols, highlight=self._last, width=WIDTH)
        self._console.print()
        self._console.print(drawing)
        self._console.print(
            f"{self._symbols.fog * WIDTH} fog: you don't see these squares", style="dim"
        )

    def after_ply(self, board: FogOfWarBoard) -> None:
        """After the engine's move, name what was captured; after the person's own, show the board."""
        if self._kept:
            pass
        elif board.turn == self._color:
            lost = [
                f"your {chess.piece_name(piece.piece_type)} on {chess.square_name(square)} was captured"
                for square, piece in self._own.items()
                if board.color_at(square) != self._color
            ]
            self._console.print(
                "The engine has moved" + "".join(f"; {loss}" for loss in lost) + "."
            )
        else:
            self._show(board)
            self._console.print("The engine is thinking.", style="dim")
        self._own = self._own_pieces(board)

    def _own_pieces(self, board: FogOfWarBoard) -> dict[chess.Square, chess.Piece]:
        return board.piece_map(mask=board.occupied_co[self._color])

    def close(self) -> None:
        """Do nothing: the player holds no resources."""


class ResumedPlayer:
    """A player that makes the kept turns of its side first, as they were."""

    def __init__(self, player: InProcessPlayer, kept: Kept) -> None:
        self._player = player
        self._kept = kept
        self.name, self.told = player.name, player.told
        self.new_game, self.after_ply = player.new_game, player.after_ply
        self.close = player.close

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Return the next kept turn; without one, let the player choose."""
        return self._kept.popleft() if self._kept else self._player.choose(board, allowance)


def clock_text(allowance: Allowance, seconds: float) -> str:
    """Return how much time a side has left after `seconds` of its move; '' without a clock."""
    if allowance.movetime is not None:
        return ""
    left = max(0, allowance.most / MILLISECONDS - seconds)
    return f" ({int(left // 60)}:{int(left % 60):02})"


def run(
    arguments: argparse.Namespace,
    *,
    make: MakePlayer = make_player,
    ask: Ask = input,
    console: Console | None = None,
) -> int:
    """Play one game and return the exit code. make, ask, console: tests pass their own."""
    console = console or Console(highlight=False, markup=False)
    if ask is input:
        with contextlib.suppress(ImportError):  # it adds a history and editing to `input`
            import readline  # noqa: F401, PLC0415
    sides = {"white": chess.WHITE, "black": chess.BLACK}
    color = sides.get(arguments.side, random.choice(chess.COLORS))
    kept = Kept()
    human = HumanPlayer(console, ask, kept)
    control = _control(arguments)
    board = _start(arguments)

    def warn(text: str) -> None:
        console.print(f"note: {text}", soft_wrap=True, style="yellow")

    level: Level | None = arguments.level
    engine = InProcessPlayer(make(_options(arguments), warn))
    try:
        prepare(engine.player)
        rule = " A side without a move draws." if arguments.stalemate == DRAW else ""
        console.print(
            f"You are {chess.COLOR_NAMES[color]}. Capture the king to win; help helps.{rule}"
        )
        if level is not None:
            console.print(f"The engine plays at level {level.number}, {level.name}.")
        other = ResumedPlayer(engine, kept)
        white, black = (human, other) if color == chess.WHITE else (other, human)
        while True:
            turns: list[Turn] = []
            try:
                record = play_game(
                    white,
                    black,
                    control=control,
                    board=board.copy(stack=False),
                    on_ply=lambda _, ply, turns=turns: turns.append(ply.turn),  # type: ignore[misc]
                )
                break
            except TakenBack:
                kept.extend(turns[:-2])
                console.print("Your last move is taken back.")
    except Quit:
        console.print("\nGood-bye.")
        return 0
    finally:
        engine.close()
    show_end(console, record, color)
    return 0


def _control(arguments: argparse.Namespace) -> TimeControl:
    """Return the time of both sides; the person has as long as they like without a clock."""
    if arguments.tc is None:
        return TimeControl(arguments.movetime or PLAY_MOVETIME)
    if arguments.movetime is not None:
        raise UsageError("give one of --movetime and --tc, no more")
    try:
        return TimeControl.parse(arguments.tc)
    except ValueError as error:
        raise UsageError(f"--tc: {error}") from None


def _start(arguments: argparse.Namespace) -> FogOfWarBoard:
    """Return the position that the game begins with."""
    try:
        start = start_board(arguments.fen)
    except ProtocolError as error:
        raise UsageError(f"--fen: {error}") from None
    board = board_of(fen_of(start), BOARDS[arguments.stalemate])
    if board.is_game_over():
        raise UsageError("--fen: the game is over in this position")
    return board


def _options(arguments: argparse.Namespace) -> Options:
    """Return the engine's options: those of the level, then those that were given by name."""
    options = engine_options(evaluator=arguments.evaluator, stalemate=arguments.stalemate)
    level: Level | None = arguments.level
    given = read_options(arguments.option, "--option")
    try:
        for name, text in ((level.settings if level else {}) | given).items():
            options.set(name, text)
    except OptionError as error:
        raise UsageError(str(error)) from None
    if options.text("Stalemate") != arguments.stalemate:
        raise UsageError("--option Stalemate: --stalemate says it to the referee too")
    return options


def show_end(console: Console, record: GameRecord, color: chess.Color) -> None:
    """Show the true board, all moves and the result."""
    console.print()
    last = move_mask(record.board.peek()) if record.board.move_stack else 0
    console.print(
        draw_board(
            record.board, Symbols.of(console), perspective=color, highlight=last, width=WIDTH
        )
    )
    console.print(numbered(record.plies, record.board.root().fullmove_number), soft_wrap=True)
    if record.winner is None:
        verdict = "A draw"
    else:
        verdict = "You win" if record.winner == color else "The engine wins"
    console.print(f"{verdict}: {record.ending}.")


def numbered(plies: list[PlayedPly], first: int = 1) -> str:
    """Return the moves as in a score sheet: `1. e4 e5 2. Nf3`. first: the first move's number."""
    words = []
    for index, ply in enumerate(plies):
        if ply.color == chess.WHITE:
            words.append(f"{first}.")
        elif index == 0:
            words.append(f"{first}...")
        words.append(ply.san)
        first += ply.color == chess.BLACK
    return " ".join(words)


# -- typed moves: no error message reveals anything that the fog hides ---------------------------


def read_move(board: FogOfWarBoard, text: str) -> chess.Move:
    """Read a move of the side to move: `e2e4`, `e4`, `Nf3`, `nf3`, `exd5`, `e8=Q`, `O-O`.

    Raises ValueError with one line for the user if the text is not a possible move.
    """
    text = text.strip().rstrip("+#!?")
    ambiguous = False
    for reading in _readings(text):
        try:
            if _UCI.fullmatch(reading):
                return board.parse_uci(reading)
            return board.parse_san(reading)
        except chess.AmbiguousMoveError:
            ambiguous = True
        except ValueError:
            continue
    if ambiguous:
        raise ValueError(f"{text} is ambiguous: more than one of your pieces can go there")
    if any(_is_promotion(board, text + piece) for piece in ("q", "=Q")):
        raise ValueError(f"say what the pawn becomes: {text}q or {text}n, for example")
    if next(_readings(text), None) is None:
        raise ValueError(f"{text[:20]!r} is not a move; try e2e4 or Nf3, or help")
    raise ValueError(f"{text} is not possible")


def _readings(text: str) -> Iterator[str]:
    """Yield the moves that the text may mean, as UCI or SAN, the likeliest first."""
    if match := _UCI.fullmatch(text):
        yield "".join(match.groups()).lower()
    elif match := _CASTLING.fullmatch(text):
        yield "O-O-O" if match[1] else "O-O"
    elif _SAN.fullmatch(text):
        yield text
        # `b` is a pawn's file and `B` is a bishop, so this letter keeps its case.
        first, rest = text[0], text[1:].lower()
        yield (first.upper() if first in "nrqkNBRQK" else first.lower()) + rest


def _is_promotion(board: FogOfWarBoard, text: str) -> bool:
    for reading in _readings(text):
        try:
            move = board.parse_uci(reading) if _UCI.fullmatch(reading) else board.parse_san(reading)
        except ValueError:
            continue
        if move.promotion:
            return True
    return False
