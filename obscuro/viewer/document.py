"""The document that the page is drawn from: one JSON object for a game.

Python writes it and `web/game.js` reads it; both declare the same fields. A field that is not known
is None, never left out. Everything in it may come from a stranger's file: a reader must take all
texts as plain text.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, cast

SCHEMA = 4
"""Its number changes when a reader of one form could misread the other one."""

SideName = Literal["white", "black"]


class ShownHeat(TypedDict):
    """How likely a belief makes things, in one of its two views."""

    shares: (
        str  # base64 of 7 x 64 bytes, by piece (see `rules.observation.PLANES`) and square from a1;
    )
    # 0 = in no position, 255 = in all, else a share in 255ths
    truth: float | None  # the true position, in [0, 1]; 0: it is not among them


class ShownBelief(TypedDict):
    """The positions that one side held possible at one moment."""

    size: int  # how many
    exact: bool  # whether these were all possible ones; false: a sample of them
    rebuilt: bool  # whether none was left, and these were drawn from what was known
    even: ShownHeat  # all positions count alike
    weighted: ShownHeat | None  # each counts by how plausibly the opponent played; null: no weights


class ShownSide(TypedDict):
    """What one side knew at one moment."""

    seen: str  # an observation in the protocol's form: `<placement>[,<ep>]`, `*` = fog
    belief: ShownBelief | None  # null once the game is over


class ShownPosition(TypedDict):
    """One moment of the game. The first is the start, and there is one more after each move."""

    placement: str  # the whole board, as in a FEN
    turn: SideName
    white: ShownSide
    black: ShownSide


class ShownOption(TypedDict):
    """A move that the mover considered."""

    uci: str
    san: str
    share: float  # how often it would play the move, in [0, 1]


class ShownCoverage(TypedDict):
    """Whether the mover's search knew the true position: in P, among its roots, expanded there."""

    belief: bool | None
    infoset: bool | None
    expanded: bool | None
    weight: float | None  # the position's share of the search's roots, in [0, 1]


class ShownLoss(TypedDict):
    """Points that a move lost: scores that its mover expected, in [0, 1]; see `make_document.Loss`.

    Without an analysis, `before` is what the mover expected when it chose, and `after` what it
    expected at its next turn, or the game's result. With one, both come from the same search: the
    score with the better move, and with the move that was played.
    """

    before: float
    after: float
    analysed: bool  # whether both come from the analysis of the move


class ShownReason(TypedDict):
    """A position that the mover had to reckon with, and what two moves are worth in it.

    Both values are scores that the mover expects, in [0, 1].
    """

    placement: str  # the whole board before the move, as in a FEN
    fen: str  # the same with side, castling and en passant
    true: bool  # whether it is the position that was on the board
    share: float  # of all positions that the search weighed, in [0, 1]
    played: float
    better: float


class ShownComparison(TypedDict):
    """The move that was played beside one that the analysing engine prefers.

    Where the engine prefers the move that was played, the other one is its second choice, and
    `played` is not below `better`. Both values are scores that the mover expects, in [0, 1].
    """

    played: float
    played_nodes: int  # histories that the search added below the move; 0: evaluated, not searched
    better: float
    better_nodes: int
    uci: str  # the other move
    san: str
    because: list[ShownReason]  # what speaks most for the preferred move, the most important first


class ShownWhy(TypedDict):
    """Why a move was a mistake: its loss in three parts; see `loss_parts`. All in points of a game."""

    lost: float  # against the true position; the sum of the next three
    unknowable: float  # below 0: the true position was kinder than what the mover had to fear
    unthought: float
    chosen: float
    uci: str  # the better move in the true position
    san: str
    held: list[bool]  # for each position of `because`, whether a short search holds it
    text: list[str]  # the same in sentences


class ShownAdvice(TypedDict):
    """What an engine would play in one position, knowing only what the side to move knew."""

    by: str  # the engine's name
    uci: str  # its move
    san: str
    pawns: float | None  # its evaluation, in White's view
    policy: list[ShownOption]  # largest share first
    belief: int | None  # |P|
    belief_exact: bool | None
    coverage: ShownCoverage | None
    seconds: float
    nodes: int | None
    depth: float | None
    comparison: ShownComparison | None  # null: no move was played, or the engine's needed no search
    why: ShownWhy | None  # of the moves that lost most only


class ShownMove(TypedDict):
    """A move, and what its mover reported about the choice."""

    uci: str
    san: str
    mover: SideName
    number: int  # of the full move, as in a score sheet
    pawns: float | None  # the mover's evaluation when it chose, in White's view
    policy: list[ShownOption]  # largest share first; empty if the file tells none
    belief: int | None  # |P| as the mover reported it
    belief_exact: bool | None  # whether it said that these were all possible positions
    coverage: ShownCoverage | None
    seconds: float | None  # time used for the move
    clock: float | None  # seconds left on the mover's clock after it
    nodes: int | None
    depth: float | None
    text: str  # the rest of the comment
    loss: ShownLoss | None  # of the moves to mark only
    advice: ShownAdvice | None  # by an analysis; all above, but `loss`, is the mover's own


class ShownAnalysis(TypedDict):
    """Who analysed the game after it was over, and how."""

    by: str  # the engine's name
    limit: str  # of a search, in words, such as `1 s a move`


class GameDocument(TypedDict):
    """A whole game."""

    schema: int
    white: str  # the players' names
    black: str
    result: str  # as in PGN
    ending: str | None  # how the game ended, in words
    headers: list[list[str]]  # all other headers: name and value
    max_positions: int  # the most positions of a belief; of a larger one it is a sample
    tau: float  # an evaluation in pawns p stands for the expected score (1 + tanh(p / tau)) / 2
    least_loss: float  # a move that lost fewer points is not marked
    most_marks: int  # the most marks of a side
    analysis: ShownAnalysis | None  # null: it was not analysed
    positions: list[ShownPosition]
    moves: list[ShownMove]  # one less than positions: move k leads from position k to k + 1


def in_present_form(document: dict[str, Any]) -> GameDocument | None:
    """Return a document of any form as `SCHEMA` has it; None if it is better made anew.

    Form 3 did not say why a move was a mistake. Form 2 had one view of each belief, and no share of
    the true position. It is kept for an analysis only, because that took an engine its time.
    """
    if document["schema"] == SCHEMA:
        return cast("GameDocument", document)
    if document["schema"] not in (2, 3) or (
        document["schema"] == 2 and document["analysis"] is None
    ):
        return None
    for move in document["moves"]:
        if move["advice"] is not None:
            move["advice"]["why"] = None
            for reason in (move["advice"]["comparison"] or {"because": []})["because"]:
                reason["fen"] = reason["placement"]
    if document["schema"] == 3:
        return cast("GameDocument", {**document, "schema": SCHEMA})
    for position in document["positions"]:
        for side in ("white", "black"):
            belief = position[side]["belief"]
            if belief is not None:
                belief["even"] = ShownHeat(shares=belief.pop("shares"), truth=None)
                belief["weighted"] = None
    return cast("GameDocument", {**document, "schema": SCHEMA})
