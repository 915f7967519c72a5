"""`obscuro demo` shows a game against random moves: what the engine sees beside the true board."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import chess
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from obscuro.cli.command_support import MakePlayer, engine_options, make_player, prepare
from obscuro.cli.drawing import Symbols, draw_board, draw_fogged, move_mask
from obscuro.client.move_report import Report
from obscuro.evaluation.stockfish_program import stockfish_path
from obscuro.matches.game_record import GameRecord, PlayedPly, Turn
from obscuro.matches.players import InProcessPlayer, RandomPlayer
from obscuro.matches.referee import play_game
from obscuro.rules.board import FogOfWarBoard
from obscuro.version import version

ENGINE = chess.WHITE
SHOWN_MOVES = 5  # the most likely moves of the strategy
BAR = 12  # length in characters of a probability of 1


class Screen:
    """Draws one frame for each ply: in place on a terminal, else each below the one before."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._symbols = Symbols.of(console)
        self._notes: list[str] = []
        self._turn: Turn | None = None  # the engine's last
        self._sans: dict[str, str] = {}  # the engine's moves in that turn: UCI to SAN
        self._own_move: chess.Bitboard = 0
        in_place = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, auto_refresh=False) if in_place else None

    def drawing(self) -> AbstractContextManager[object]:
        """Return the context in which `show` may be called."""
        return self._live if self._live is not None else nullcontext()

    def note(self, text: str) -> None:
        """Show a line below the boards from now on."""
        if text not in self._notes:
            self._notes.append(text)
            if self._live is None:
                self._console.print(f"note: {text}", soft_wrap=True)

    def show(self, board: FogOfWarBoard, ply: PlayedPly | None = None) -> None:
        """Draw the board after a ply, or at the start."""
        if ply is not None and ply.color == ENGINE:
            self._turn = ply.turn
            self._own_move = move_mask(board.peek())
            self._sans = _sans_before(board)
        frame = self._frame(board, ply)
        if self._live is not None:
            self._live.update(frame, refresh=True)
        else:
            self._console.print(frame)
            self._console.print()

    def _frame(self, board: FogOfWarBoard, ply: PlayedPly | None) -> RenderableType:
        last = move_mask(board.peek()) if board.move_stack else 0
        table = Table.grid(padding=(0, 3, 0, 0))
        table.add_row(Text("what the engine sees", "bold"), Text("what there is", "bold"), Text(""))
        table.add_row(
            draw_fogged(board, ENGINE, self._symbols, highlight=self._own_move),
            draw_board(board, self._symbols, highlight=last),
            self._panel(board, ply),
        )
        parts: list[RenderableType] = [table]
        if self._live is not None:
            parts += [Text(f"note: {note}", "yellow") for note in self._notes]
        return Group(*parts)

    def _panel(self, board: FogOfWarBoard, ply: PlayedPly | None) -> Text:
        text = Text(no_wrap=True, overflow="crop")
        if ply is None:
            text.append("the start", "bold")
        else:
            number = (len(board.move_stack) + 1) // 2
            dots = "." if ply.color == chess.WHITE else "..."
            text.append(f"{number}{dots} {ply.san}", "bold")
            text.append("  the engine" if ply.color == ENGINE else "  random", "dim")
        text.append("\n")
        report = self._turn.report if self._turn is not None else None
        if self._turn is not None and report is not None:
            for name, value in report_lines(report):
                text.append(f"{name:<10}", "dim")
                text.append(f"{value}\n")
            self._add_policy(text, report, self._turn.uci)
        return text

    def _add_policy(self, text: Text, report: Report, played: str) -> None:
        for uci, probability in report.policy[:SHOWN_MOVES]:
            name = self._sans.get(uci, uci)
            text.append(f"{name:<8}", "bold" if uci == played else "")
            text.append(f"{probability:>6.1%} ")
            text.append(self._symbols.bar * max(round(probability * BAR), 0), "green")
            text.append(" played\n" if uci == played else "\n", "dim")


def _sans_before(board: FogOfWarBoard) -> dict[str, str]:
    """Return all moves that were possible before the last one: UCI to SAN."""
    before = board.copy(stack=1)
    before.pop()
    return {move.uci(): before.san(move) for move in before.legal_moves}


def report_lines(report: Report) -> list[tuple[str, str]]:
    """Return an engine's report as pairs of a name and a value for people."""
    lines: list[tuple[str, str]] = []
    if report.belief is not None:
        kind = " positions" if report.belief != 1 else " position"
        cut = "" if report.exact in (True, None) else " (cut)"
        lines.append(("belief", f"{report.belief:,}{kind}{cut}"))
    if report.centipawns is not None:
        lines.append(("score", f"{report.centipawns / 100:+.2f} pawns"))
    if report.nodes is not None:
        carried = f" ({report.carried:,.0f} carried)" if report.carried is not None else ""
        lines.append(("nodes", f"{report.nodes:,.0f}{carried}"))
    if report.infosets is not None:
        lines.append(("infosets", f"{report.infosets:,.0f}"))
    if report.depth is not None:
        lines.append(("depth", f"{report.depth:.1f}"))
    return lines


def run(
    arguments: argparse.Namespace,
    *,
    make: MakePlayer = make_player,
    console: Console | None = None,
    find_stockfish: Callable[[], str | None] = stockfish_path,
) -> int:
    """Show one game and return the exit code.

    make, console, find_stockfish: tests pass their own.
    """
    console = console or Console(highlight=False, markup=False)
    evaluator, missing = arguments.evaluator, False
    if evaluator == "stockfish" and find_stockfish() is None:
        evaluator, missing = "material", True
    seed = arguments.seed or random.randrange(1, 2**31)
    screen = Screen(console)
    console.print(f"Obscuro {version()}: a game of Fog of War chess", style="bold")
    console.print(
        f"White is the engine ({evaluator}, {arguments.movetime} ms a move), Black moves at random."
    )
    if missing:
        screen.note("no Stockfish found: playing, weaker, with the evaluator `material`")
    engine = InProcessPlayer(make(engine_options(evaluator=evaluator, seed=seed), screen.note))
    try:
        prepare(engine.player)
        with screen.drawing():
            board = FogOfWarBoard()
            screen.show(board)
            record = play_game(
                engine,
                RandomPlayer(),
                control=arguments.movetime,
                seed=seed,
                max_plies=2 * arguments.max_moves,
                board=board,
                on_ply=screen.show,
            )
    finally:
        engine.close()
    console.print(verdict(record), style="bold")
    return 0


def verdict(record: GameRecord) -> str:
    """Return the result in one line."""
    moves = (len(record.plies) + 1) // 2
    counted = f"{moves} move{'' if moves == 1 else 's'}"
    if not record.regular and record.winner is None:
        return f"{record.ending.capitalize()}, without a result."
    if record.winner is None:
        return f"A draw in {counted}: {record.ending}."
    winner = "The engine" if record.winner == ENGINE else "The random mover"
    return f"{winner} wins in {counted}: {record.ending}."
