"""The worst moments of a game, a line each, for lists of games."""

from __future__ import annotations

import chess
import chess.pgn
import msgspec

from obscuro.viewer.document import GameDocument
from obscuro.viewer.game_facts import VALUES, LostMan, game_facts

LEAST_VALUE = VALUES[chess.KNIGHT]
"""The loss of a man below this is no moment, in pawns."""


class Moment(msgspec.Struct, frozen=True):
    """A moment of a game. ply: of the position before the move. text: the move, and what it did."""

    ply: int
    text: str


def men_lost(game: chess.pgn.Game) -> list[Moment]:
    """Return the worst that the fog did, by rules alone.

    It is the most valuable man that fell to an attacker that its owner did not see, the first of
    several, and the king's capture.
    """
    men = game_facts(game, 1).men
    kings = [man for man in men if man.kind == chess.KING]
    unseen = [
        man for man in men if man.unseen and man.kind != chess.KING and man.value >= LEAST_VALUE
    ]
    worst = sorted(unseen, key=lambda man: -man.value)[:1]
    nodes = list(game.mainline())
    return [_captured(nodes[man.ply - 1], man) for man in (*worst, *kings)]


def _captured(node: chess.pgn.ChildNode, man: LostMan) -> Moment:
    board = node.parent.board()
    dots = "." if board.turn == chess.WHITE else "..."
    owner = chess.COLOR_NAMES[man.owner].capitalize()
    sight = "unseen" if man.unseen else "in sight"
    text = (
        f"{board.fullmove_number}{dots} {node.san()} captured {owner}'s "
        f"{chess.piece_name(man.kind)}, {sight}"
    )
    return Moment(man.ply - 1, text)


def worst_move(document: GameDocument) -> Moment | None:
    """Return the move that lost most; None if no move is marked as a loss."""
    found = None
    for ply, move in enumerate(document["moves"]):
        loss = move["loss"]
        points = 0 if loss is None else round(100 * (loss["before"] - loss["after"]))
        if points > 0 and (found is None or points > found[0]):
            dots = "." if move["mover"] == "white" else "..."
            text = f"{move['number']}{dots} {move['san']} lost {points} points of 100"
            found = points, Moment(ply, text)
    return None if found is None else found[1]
