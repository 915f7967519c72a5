"""The command `position`: from a whole game or one side's account of it to that side's `History`.

A `History` is the only thing that the engine is ever told. The board of a whole game stays in here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import chess

from obscuro.rules.account import Account, Ply, last_ply, start_fen
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.side_view import SideView
from obscuro.rules.starts import is_hidden, names_files, possible_starts
from obscuro.uci.parsing import PositionArguments, ProtocolError, parse_position

_PROMOTED = 8  # pawns, hence at most this number of pieces beyond the first set
_FIRST_SET = {chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 2, chess.QUEEN: 1}


def start_board(
    fen: str | None, kind: type[FogOfWarBoard] = FogOfWarBoard, *, chess960: bool = False
) -> FogOfWarBoard:
    """Return the board of a FEN; None: the usual start. kind: whose rules it has.

    chess960: whether moves and castling rights are those of Chess960. They are, too, if the FEN
    names castling rights by files.

    Castling rights and an en passant square that mean nothing are removed. The FEN's last four
    fields may be missing. Raises ProtocolError if a side does not have one king, has more pieces
    than promotions can give, or has a pawn on a back rank. A king may stand where it can be
    captured.
    """
    if fen is None:
        return kind(chess960=chess960)
    if not fen.isascii() or "~" in fen:
        raise ProtocolError(f"bad FEN, it has a character that no FEN has: {fen!r}")
    if len(fen.split()) < 2:
        raise ProtocolError(f"bad FEN, pieces and side to move are needed: {fen!r}")
    try:
        board = kind(fen, chess960=chess960 or names_files(fen))
    except ValueError as error:
        raise ProtocolError(f"bad FEN, {error}") from None
    for color in chess.COLORS:
        if wrong := _wrong_pieces(board, color):
            raise ProtocolError(f"bad FEN, {chess.COLOR_NAMES[color]} has {wrong}: {fen!r}")
    board.castling_rights = board.clean_castling_rights()
    if not board.has_pseudo_legal_en_passant() or board.status() & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    return board


def _wrong_pieces(board: chess.Board, color: chess.Color) -> str:
    """Say what is wrong with a side's pieces; empty if nothing is."""
    kings = len(board.pieces(chess.KING, color))
    if kings != 1:
        return f"{kings} kings" if kings else "no king"
    pawns = board.pieces(chess.PAWN, color)
    if pawns & chess.BB_BACKRANKS:
        return "a pawn on a back rank"
    extra = sum(
        max(0, len(board.pieces(kind, color)) - count) for kind, count in _FIRST_SET.items()
    )
    if len(pawns) + extra > _PROMOTED:
        return "more pieces than promotions can give"
    return ""


_ENDINGS = {
    chess.Termination.FIFTY_MOVES: "fifty moves",
    chess.Termination.THREEFOLD_REPETITION: "threefold repetition",
}
KING_CAPTURED = "king captured"
NO_MOVE = "no move"


@dataclass(frozen=True, slots=True)
class History:
    """What one side did and saw, and what it therefore knows now.

    start: the position from which both sides know that the game began (FEN without counters), or a FEN
    with `?` for what the side does not know of it.
    observation: what the side sees now. moves: the side's legal moves; there are none if it is not
    its turn or if the game is over. over: how the game ended; None while it goes on.
    """

    side: chess.Color
    start: str
    plies: tuple[Ply, ...]
    observation: Observation
    our_turn: bool
    moves: tuple[str, ...]
    over: str | None

    def continues(self, earlier: "History") -> bool:
        """Tell whether this is the same game, as far as the side can tell, with more plies."""
        return (
            self.side == earlier.side
            and self.start == earlier.start
            and len(self.plies) > len(earlier.plies)
            and self.plies[: len(earlier.plies)] == earlier.plies
        )


def start_text(board: FogOfWarBoard) -> str:
    """Return the text that `History.start` holds for a board."""
    return board.epd(shredder=board.chess960, en_passant="fen")


def hidden_start_board(fen: str, side: chess.Color) -> FogOfWarBoard:
    """Return one of the boards that a side must think possible; see `possible_starts`.

    Raises ProtocolError, also if some start is none that `start_board` takes.
    """
    try:
        fens = possible_starts(fen, side)
    except ValueError as error:
        raise ProtocolError(f"bad FEN, {error}: {fen!r}") from None
    return start_board(fens[0])


def ending(board: FogOfWarBoard) -> str | None:
    """Say how the game on a whole board has ended; None while it goes on."""
    outcome = board.outcome()
    if outcome is None:
        return None
    lost = KING_CAPTURED if board.is_variant_end() else NO_MOVE
    return _ENDINGS.get(outcome.termination, lost)


class WholeGame:
    """Follows a whole game on a board of its own, and keeps both sides' accounts of it.

    The board stays in here. A `History` holds one side's account, and what both sides are told:
    that the game is over.
    """

    def __init__(self, start: FogOfWarBoard) -> None:
        self._board = start
        self._start = start_text(start)
        self._accounts = {side: Account(start, side) for side in chess.COLORS}

    def take(self, token: str) -> None:
        """Make a move of the side to move, in UCI.

        A game may go on past a draw. Raises ProtocolError if the move is not legal; nothing changes
        then.
        """
        board = self._board
        try:
            move = board.parse_uci(token)
        except ValueError:
            move = chess.Move.null()
        if not move or move.uci() != token:
            over = ending(board)
            why = f", the game is over: {over}" if over else ""
            raise ProtocolError(f"illegal move {token!r}{why}")
        board.push(move)
        for account in self._accounts.values():
            account.append(board)

    def history(self) -> History:
        """Return the account of the side to move: `go` is meant for this side."""
        board = self._board
        account = self._accounts[board.turn]
        over = ending(board)
        return History(
            side=account.side,
            start=self._start,
            plies=account.plies,
            observation=account.observation,
            our_turn=True,
            moves=() if over else tuple(move.uci() for move in board.legal_moves),
            over=over,
        )

    def anticipation(self) -> Callable[[str], History | None]:
        """Return a function: a move of the side to move -> this side's account after the move.

        The function returns None if the game is over then. Any thread may call it.
        """
        side = self._board.turn
        board = self._board.copy(stack=False)
        start, plies = self._start, self._accounts[side].plies

        def after(move: str) -> History | None:
            then = board.copy(stack=False)
            then.push_uci(move)
            if then.is_variant_end():
                return None
            return History(
                side=side,
                start=start,
                plies=(*plies, last_ply(then, side)),
                observation=then.observation(side),
                our_turn=False,
                moves=(),
                over=None,
            )

        return after


NOT_TOLD = "-"
"""Stands for an observation after an own move that the referee does not tell."""


def fog_position(side: chess.Color, plies: Iterable[Ply], start: str | None = None) -> str:
    """Return the command that tells an engine what one side did and saw; `FogGame` reads it.

    start: the FEN where the game began, which both sides know; None for the usual start.
    """
    turns = " ".join(map(_ply_text, plies))
    command = f"position fog {chess.COLOR_NAMES[side]} {_start_words(start)} turns"
    return f"{command} {turns}" if turns else command


def account_position(account: Account) -> str:
    """Return the command that tells an engine a side's account."""
    return fog_position(account.side, account.plies, account.start)


def whole_position(board: FogOfWarBoard) -> str:
    """Return the command that tells an engine the whole game: its start and both sides' moves."""
    command = f"position {_start_words(start_fen(board))}"
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"{command} moves {moves}" if moves else command


@lru_cache(maxsize=1 << 14)
def _ply_text(ply: Ply) -> str:
    seen = NOT_TOLD if ply.observation is None else ply.observation.text()
    return seen if ply.move is None else f"{ply.move} {seen}"


def _start_words(fen: str | None) -> str:
    return "startpos" if fen is None else f"fen {fen}"


class FogGame:
    """Reads the turns of one side in order of play: its own moves and its observations.

    start: where the game began. hidden: the FEN that the side knows of it, if it does not know all.
    """

    def __init__(self, side: chess.Color, start: FogOfWarBoard, hidden: str | None = None) -> None:
        self._side = side
        self._start = hidden or start_text(start)
        self._over = ending(start)
        self._plies: list[Ply] = []
        self._pending: str | None = None  # our move, while what was seen then is still to come
        self._view = SideView(side, start)

    def take(self, token: str) -> None:
        """Take the next token. Raises ProtocolError; nothing changes then."""
        if self._pending is not None:
            self._take_own_observation(self._pending, token)
        elif self._over is not None:
            raise ProtocolError(f"{_short(token)} comes after the end of the game: {self._over}")
        elif self._view.our_turn:
            self._take_own_move(token)
        else:
            self._take_other_observation(token)

    def history(self) -> History:
        """Return the account so far. Raises ProtocolError in the middle of a turn."""
        if self._pending is not None:
            raise ProtocolError(f"what was seen after {self._pending} is missing")
        our_turn = self._view.our_turn
        moves = self._view.moves() if our_turn and self._over is None else ()
        return History(
            side=self._side,
            start=self._start,
            plies=tuple(self._plies),
            observation=self._view.observation,
            our_turn=our_turn,
            moves=moves,
            over=NO_MOVE if our_turn and self._over is None and not moves else self._over,
        )

    # -- one token --------------------------------------------------------------------------

    def _take_own_move(self, token: str) -> None:
        if "/" in token or token == NOT_TOLD:
            raise ProtocolError(f"a move of {self._name()} must come, not {_short(token)}")
        if token not in self._view.moves():
            raise ProtocolError(f"illegal move {token!r}")
        move = chess.Move.from_uci(token)
        if chess.BB_SQUARES[move.to_square] & self._view.board.kings:
            self._over = KING_CAPTURED
        self._view.push(token)
        self._pending = token

    def _take_own_observation(self, move: str, token: str) -> None:
        expected = f"what was seen after {move}"
        observation = None if token == NOT_TOLD else self._observation(token, expected)
        if observation is not None and observation.board().king(self._side) is None:
            raise ProtocolError(f"{self._name()}'s king is not in what was seen after {move}")
        self._view.see_own_move(observation)
        self._plies.append(Ply(move, observation))
        self._pending = None

    def _take_other_observation(self, token: str) -> None:
        other = chess.COLOR_NAMES[not self._side]
        observation = self._observation(token, f"what was seen after {other}'s move")
        self._view.see_other_move(observation)
        self._plies.append(Ply(None, observation))
        if self._view.board.king(self._side) is None:
            self._over = KING_CAPTURED

    def _observation(self, token: str, expected: str) -> Observation:
        if "/" not in token:
            raise ProtocolError(f"{expected} must come, not {_short(token)}")
        try:
            return Observation.parse(token)
        except ValueError as error:
            raise ProtocolError(str(error)) from None

    def _name(self) -> str:
        return chess.COLOR_NAMES[self._side]


def _short(token: str) -> str:
    return repr(token if len(token) <= 20 else token[:17] + "...")


class PositionReader:
    """Reads one `position` command after the other.

    GUIs send the whole game before each move. Only the new tokens are read.
    """

    def __init__(self) -> None:
        self._source: tuple[chess.Color | None, str | None, bool] | None = None
        self._reader: WholeGame | FogGame = WholeGame(start_board(None))
        self._taken: list[str] = []  # the tokens that the reader has taken

    def read(self, arguments: str, *, chess960: bool = False) -> History:
        """Return the account of the side that the position is for. Raises ProtocolError.

        chess960: whether FENs and moves are those of Chess960 (option UCI_Chess960).
        """
        command = parse_position(arguments)
        self._find_reader(command, chess960)
        for token in command.tokens[len(self._taken) :]:
            self._reader.take(token)
            self._taken.append(token)
        return self._reader.history()

    def anticipation(self) -> Callable[[str], History | None]:
        """Return a function: a move of our side -> our account after this move, or None.

        It is always None if the game's referee keeps secrets. Any thread may call the function.
        """
        if isinstance(self._reader, WholeGame):
            return self._reader.anticipation()
        return lambda move: None

    def _find_reader(self, command: PositionArguments, chess960: bool) -> None:
        """Keep the reader if this is its game with more tokens; else make a new one."""
        source = (command.side, command.fen, chess960)
        if source == self._source and list(command.tokens[: len(self._taken)]) == self._taken:
            return
        reader: WholeGame | FogGame
        if command.side is not None and command.fen is not None and is_hidden(command.fen):
            start = hidden_start_board(command.fen, command.side)
            reader = FogGame(command.side, start, command.fen)
        else:
            start = start_board(command.fen, chess960=chess960)
            reader = WholeGame(start) if command.side is None else FogGame(command.side, start)
        self._source, self._reader, self._taken = source, reader, []
