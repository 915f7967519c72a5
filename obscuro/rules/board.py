"""Fog of War chess for python-chess: a board that knows the rules and what each side sees.

Importing this module registers the variant, so that ``chess.variant.find_variant()`` and PGN
files with ``[Variant "Fog of War"]`` find it. No compiled code is loaded for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

import chess
import chess.variant

from obscuro.rules.observation import Observation
from obscuro.rules.stalemate import DRAW, LOSS


class FogOfWarBoard(chess.Board):
    """A :class:`chess.Board` under the rules of Fog of War chess (Obscuro, Appendix A).

    There is no check: every pseudo-legal move is legal, castling needs only the right and an
    empty path, and whoever captures the king wins. A side without a move has lost, except on a
    :class:`DrawnStalemateBoard`. Threefold repetition and fifty moves end the game without a
    claim, and no material is insufficient.

    The board is the referee's: it holds both sides' pieces. What one side is shown comes from
    :meth:`vision`, :meth:`fogged`, :meth:`fog_fen` and :meth:`observation`.

    >>> board = FogOfWarBoard()
    >>> for san in ("e4", "f6", "Qh5", "a6", "Qxe8"):
    ...     _ = board.push_san(san)
    >>> board.outcome()
    Outcome(termination=<Termination.VARIANT_LOSS: 9>, winner=True)
    """

    aliases = [  # noqa: RUF012 (python-chess declares it so)
        "Fog of War",
        "Fog of War chess",
        "FogOfWar",
        "Fog-of-War",
        "Dark chess",
        "DarkChess",
        "dark_chess",
    ]
    uci_variant = "fogofwar"
    xboard_variant = "fogofwar"

    # No tablebase was ever made for these rules.
    tbw_suffix = None
    tbz_suffix = None
    tbw_magic = None
    tbz_magic = None
    connected_kings = True

    stalemate: ClassVar[str] = LOSS
    """What a side without a move gets, of :data:`obscuro.rules.stalemate.STALEMATES`."""

    hidden_start: bool = False
    """Whether neither side knows how the other one began, as after a draft in Chess960."""

    def copy(self, *, stack: bool | int = True) -> Self:
        """Return a copy. stack: whether it has the moves, or how many of the last ones."""
        board = super().copy(stack=stack)
        board.hidden_start = self.hidden_start
        return board

    def root(self) -> Self:
        """Return a copy of the position from which the game began."""
        board = super().root()
        board.hidden_start = self.hidden_start
        return board

    # -- no check ---------------------------------------------------------------------------

    def pin_mask(self, color: chess.Color, square: chess.Square) -> chess.Bitboard:
        """Return the whole board: nothing is pinned."""
        return chess.BB_ALL

    def _attacked_for_king(self, path: chess.Bitboard, occupied: chess.Bitboard) -> bool:
        return False

    def checkers_mask(self) -> chess.Bitboard:
        """Return nothing: there is no check."""
        return chess.BB_EMPTY

    def gives_check(self, move: chess.Move) -> bool:
        """Return ``False``: there is no check."""
        return False

    def is_into_check(self, move: chess.Move) -> bool:
        """Return ``False``: a king may move to where it can be captured."""
        return False

    def was_into_check(self) -> bool:
        """Return ``False``: a king may stand where it can be captured."""
        return False

    # -- moves ------------------------------------------------------------------------------

    def generate_legal_moves(
        self, from_mask: chess.Bitboard = chess.BB_ALL, to_mask: chess.Bitboard = chess.BB_ALL
    ) -> Iterator[chess.Move]:
        """Generate every pseudo-legal move; none once a king has been captured."""
        if not self.is_variant_end():
            yield from self.generate_pseudo_legal_moves(from_mask, to_mask)

    def generate_pseudo_legal_ep(
        self, from_mask: chess.Bitboard = chess.BB_ALL, to_mask: chess.Bitboard = chess.BB_ALL
    ) -> Iterator[chess.Move]:
        """Generate en passant captures; an en passant square with no pawn to take has none."""
        if self.ep_square is not None and self._ep_victim() & self.pawns & self._theirs():
            yield from super().generate_pseudo_legal_ep(from_mask, to_mask)

    def _theirs(self) -> chess.Bitboard:
        return self.occupied_co[not self.turn]

    def _ep_victim(self) -> chess.Bitboard:
        """Where the pawn stands that would be captured en passant; there must be a square."""
        assert self.ep_square is not None
        behind = self.ep_square + (-8 if self.turn == chess.WHITE else 8)
        return chess.BB_SQUARES[behind] if 0 <= behind < 64 else chess.BB_EMPTY

    # -- the end of the game ----------------------------------------------------------------

    def is_variant_end(self) -> bool:
        """Tell whether a king has been captured."""
        return not all(self.kings & side for side in self.occupied_co)

    def is_variant_loss(self) -> bool:
        """Tell whether the side to move has lost its king, or has no move where that is a loss."""
        if self.is_variant_end():
            return not self.kings & self.occupied_co[self.turn] and bool(self.kings)
        return self.stalemate == LOSS and self.is_stalemate()

    def is_variant_win(self) -> bool:
        """Tell whether the other side's king is missing (set up so: no move leads there)."""
        return bool(self.kings) and not self.kings & self._theirs()

    def is_variant_draw(self) -> bool:
        """Tell whether no king is left at all (set up so: no move leads there)."""
        return not self.kings

    def has_insufficient_material(self, color: chess.Color) -> bool:
        """Return ``False``: a bare king can still capture a king."""
        return False

    def can_claim_draw(self) -> bool:
        """Tell whether the game is drawn; a draw comes by itself, never a move early."""
        return self.can_claim_fifty_moves() or self.can_claim_threefold_repetition()

    def can_claim_fifty_moves(self) -> bool:
        """Tell whether the game is drawn by the fifty-move rule."""
        return self.is_fifty_moves()

    def can_claim_threefold_repetition(self) -> bool:
        """Tell whether the game is drawn by repetition."""
        return self.is_repetition(3)

    def outcome(self, *, claim_draw: bool = False) -> chess.Outcome | None:
        """Return how the game ended, or ``None`` while it goes on.

        A captured king and a side without a move are ``VARIANT_LOSS`` for the side to move. Where
        a side without a move draws, that is ``STALEMATE``. ``FIFTY_MOVES`` and
        ``THREEFOLD_REPETITION`` need no claim: *claim_draw* changes nothing.
        """
        if self.is_variant_loss():
            return chess.Outcome(chess.Termination.VARIANT_LOSS, not self.turn)
        if self.is_variant_win():
            return chess.Outcome(chess.Termination.VARIANT_WIN, self.turn)
        if self.is_variant_draw():
            return chess.Outcome(chess.Termination.VARIANT_DRAW, None)
        if self.is_stalemate():
            return chess.Outcome(chess.Termination.STALEMATE, None)
        if self.is_fifty_moves():
            return chess.Outcome(chess.Termination.FIFTY_MOVES, None)
        if self.is_repetition(3):
            return chess.Outcome(chess.Termination.THREEFOLD_REPETITION, None)
        return None

    def status(self) -> chess.Status:
        """Return what is wrong with the position, for these rules.

        Kings may stand where they can be captured. Each side has exactly one king, except that
        the side to move may just have lost its own.
        """
        status = super().status()
        kings = [chess.popcount(self.kings & side) for side in self.occupied_co]
        if kings[self.turn] == 0 and kings[not self.turn] == 1:
            status &= ~(chess.STATUS_NO_WHITE_KING if self.turn else chess.STATUS_NO_BLACK_KING)
        if max(kings) > 1:
            status |= chess.STATUS_TOO_MANY_KINGS
        return status

    # -- the fog ----------------------------------------------------------------------------

    def vision_mask(self, color: chess.Color) -> chess.Bitboard:
        """Return the squares that *color* sees, as a bitboard. See :meth:`vision`."""
        own, theirs = self.occupied_co[color], self.occupied_co[not color]
        seen = own
        for square in chess.scan_forward(own & ~self.pawns):
            seen |= self.attacks_mask(square)

        pawns = own & self.pawns
        for square in chess.scan_forward(pawns):
            seen |= chess.BB_PAWN_ATTACKS[color][square] & theirs
        empty = ~self.occupied & chess.BB_ALL
        if color == chess.WHITE:
            pushed = pawns << 8 & empty
            seen |= pushed | (pushed & chess.BB_RANK_3) << 8 & empty
        else:
            pushed = pawns >> 8 & empty
            seen |= pushed | (pushed & chess.BB_RANK_6) >> 8 & empty

        # Castling adds nothing in ordinary chess: the rook itself sees along the path.
        if self.chess960 and self.castling_rights:
            seen |= self._seen_by_castling(color)
        if self.ep_target(color) is not None:
            assert self.ep_square is not None
            seen |= chess.BB_SQUARES[self.ep_square] | self._ep_victim()
        return seen

    def castling_arrivals(self, move: chess.Move) -> chess.Bitboard:
        """Return where king and rook arrive when the king castles by a move to its rook's square."""
        rank = chess.square_rank(move.from_square)
        king, rook = (6, 5) if move.to_square > move.from_square else (2, 3)
        return (
            chess.BB_SQUARES[chess.square(king, rank)] | chess.BB_SQUARES[chess.square(rook, rank)]
        )

    def _seen_by_castling(self, color: chess.Color) -> chess.Bitboard:
        """Return where king and rook of *color* could arrive by castling, whoever is to move."""
        turn, self.turn = self.turn, color
        seen = chess.BB_EMPTY
        for move in self.generate_castling_moves():
            seen |= self.castling_arrivals(move)
        self.turn = turn
        return seen

    def vision(self, color: chess.Color) -> chess.SquareSet:
        """Return the squares that *color* sees, whoever is to move.

        Its own pieces' squares and every square that one of them could move to, by castling too. In
        Chess960 that shows one square more, the d-file's, if the king stands on the b-file. A pawn
        sees a square ahead only if it is empty, a diagonal only if it can capture there. Where it can
        capture en passant, the pawn that it would capture is seen as well (Obscuro, Appendix A).

        >>> len(FogOfWarBoard().vision(chess.WHITE))
        32
        """
        return chess.SquareSet(self.vision_mask(color))

    def ep_target(self, color: chess.Color) -> chess.Square | None:
        """Return the square on which *color* can now capture en passant, if there is one."""
        if self.turn == color and self.has_pseudo_legal_en_passant():
            return self.ep_square
        return None

    def fogged(self, color: chess.Color) -> chess.BaseBoard:
        """Return the pieces that *color* sees, on a board of its own, for drawing.

        >>> board = FogOfWarBoard()
        >>> board.fogged(chess.BLACK).board_fen()
        'rnbqkbnr/pppppppp/8/8/8/8/8/8'
        """
        board = chess.BaseBoard.empty()
        board.set_piece_map(self.piece_map(mask=self.vision_mask(color)))
        return board

    def fog_fen(self, color: chess.Color) -> str:
        """Return what *color* is shown, as text: ``<placement>[,<ep>]``.

        Eight ranks as in a FEN, ``*`` for each square not seen, and the square on which an en
        passant capture is possible now, if one is. It is an observation of the engine's protocol.

        >>> FogOfWarBoard().fog_fen(chess.WHITE)
        '********/********/********/********/8/8/PPPPPPPP/RNBQKBNR'
        """
        return self.observation(color).text()

    def observation(self, color: chess.Color) -> Observation:
        """Return what *color* is shown, in the form that the engine takes.

        >>> FogOfWarBoard("8/8/8/3pP3/8/8/k7/7K w - d6 0 1").observation(chess.WHITE).en_passant
        43
        """
        return Observation.on(self, self.vision_mask(color), self.ep_target(color))


class DrawnStalemateBoard(FogOfWarBoard):
    """A :class:`FogOfWarBoard` on which a side without a move draws, as on pychess.

    python-chess does not find it by a name: PGN files name the variant, not this rule.

    >>> board = DrawnStalemateBoard("8/8/8/8/8/p1p5/ppPp4/kn1K4 b - - 0 1")
    >>> board.outcome()
    Outcome(termination=<Termination.STALEMATE: 2>, winner=None)
    """

    stalemate: ClassVar[str] = DRAW


class PychessBoard(DrawnStalemateBoard):
    """A board that shows a side what the server of pychess.org shows: less of en passant.

    A pawn that can be captured en passant is not seen for that reason alone. The square where the
    capture would end is. Players there see the capture among their moves only if they see the pawn;
    the observation names its square only then too. The server itself takes the move in any case,
    so it is legal here. In Chess960 the server shows no square for castling alone.

    >>> board = PychessBoard("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")
    >>> board.observation(chess.WHITE).text()
    '********/********/***2***/****P***/********/********/***3**/***1K1**,?'
    """

    def _seen_by_castling(self, color: chess.Color) -> chess.Bitboard:
        return chess.BB_EMPTY

    def vision_mask(self, color: chess.Color) -> chess.Bitboard:
        """Return the squares that *color* sees; the victim of an en passant capture is no reason."""
        square = self.ep_target(color)
        if square is None:
            return super().vision_mask(color)
        self.ep_square = None
        try:
            return super().vision_mask(color) | chess.BB_SQUARES[square]
        finally:
            self.ep_square = square

    def observation(self, color: chess.Color) -> Observation:
        """Return what *color* is shown, and whether it is told of en passant."""
        seen, square = self.vision_mask(color), self.ep_target(color)
        if square is not None and not self._ep_victim() & seen:
            square = None
        told = square is not None or self.turn != color
        return Observation.on(self, seen, square, en_passant_told=told)


BOARDS: Mapping[str, type[FogOfWarBoard]] = {LOSS: FogOfWarBoard, DRAW: DrawnStalemateBoard}
"""The board for each rule of :data:`obscuro.rules.stalemate.STALEMATES`."""

if FogOfWarBoard not in chess.variant.VARIANTS:
    chess.variant.VARIANTS.append(FogOfWarBoard)
