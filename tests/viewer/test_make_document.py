"""The document of a game holds what its file tells, and what both sides saw and believed."""

from __future__ import annotations

import base64
import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest

from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.document import GameDocument, ShownAdvice, ShownComparison, in_present_form
from obscuro.viewer.make_document import (
    LEAST_LOSS,
    MOST_MARKS,
    GrowingDocument,
    Loss,
    analysed_losses,
    expected_score,
    losses,
    make_document,
    worst,
)
from obscuro.viewer.two_beliefs import TwoBeliefs
from tests.viewer.recorded import SHORT_GAME, analysed, game_of

MOVERS = [chess.WHITE, chess.BLACK] * 20


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> GameDocument:
    return make_document(game_of(SHORT_GAME, tmp_path_factory.mktemp("games")), 1000)


def test_players_result_and_headers_are_there(document: GameDocument) -> None:
    assert (document["white"], document["black"]) == ("A & <b>B</b>", 'C \\" D')
    assert (document["result"], document["ending"]) == ("1-0", "king captured")
    assert ["Event", "A test"] in document["headers"]


def test_each_position_shows_what_both_sides_saw(document: GameDocument) -> None:
    board = FogOfWarBoard()
    assert len(document["positions"]) == len(document["moves"]) + 1
    for position, move in zip(document["positions"], [*document["moves"], None], strict=True):
        assert position["placement"] == board.board_fen()
        assert position["turn"] == ("white" if board.turn else "black")
        assert position["white"]["seen"] == board.fog_fen(chess.WHITE)
        assert position["black"]["seen"] == board.fog_fen(chess.BLACK)
        if move is not None:
            board.push_uci(move["uci"])


def test_beliefs_are_there_until_the_game_is_over(document: GameDocument) -> None:
    sizes = [
        [side["belief"] and side["belief"]["size"] for side in (each["white"], each["black"])]
        for each in document["positions"]
    ]
    assert sizes[0] == [1, 1]
    assert sizes[1] == [1, 20]  # all first moves of White but those that Black would see
    assert sizes[-1] == [None, None]
    belief = document["positions"][0]["white"]["belief"]
    assert belief is not None and belief["exact"]
    assert len(base64.b64decode(belief["even"]["shares"])) == 7 * 64
    assert (belief["even"]["truth"], belief["weighted"]) == (1.0, None)


def test_both_views_of_a_belief_come_out_as_they_went_in(document: GameDocument) -> None:
    board = FogOfWarBoard()
    beliefs = TwoBeliefs(board, 1000)
    board.push_san("e4")
    known = beliefs.after_ply(board)[chess.BLACK].belief
    beliefs.close()
    read: GameDocument = json.loads(json.dumps(document))
    shown = read["positions"][1]["black"]["belief"]
    assert known is not None and known.weighted is not None
    assert shown is not None and shown["weighted"] is not None
    for heat, told in ((known.even, shown["even"]), (known.weighted, shown["weighted"])):
        assert base64.b64decode(told["shares"]) == heat.shares.tobytes()
        assert told["truth"] == pytest.approx(heat.truth, rel=1e-3)
    assert shown["even"]["truth"] == 0.05
    assert shown["weighted"]["truth"] != 0.05


def in_form_3(document: GameDocument) -> dict[str, Any]:
    """Return a document as it was before an analysis said why moves were mistakes."""
    old: dict[str, Any] = {**copy.deepcopy(document), "schema": 3}
    for move in old["moves"]:
        if move["advice"] is not None:
            del move["advice"]["why"]
            for reason in move["advice"]["comparison"]["because"]:
                del reason["fen"]
    return old


def in_form_2(document: GameDocument) -> dict[str, Any]:
    """Return a document as it was before beliefs had weights."""
    old = {**in_form_3(document), "schema": 2}
    for position in old["positions"]:
        for belief in (position["white"]["belief"], position["black"]["belief"]):
            if belief is not None:
                belief["shares"] = belief.pop("even")["shares"]
                del belief["weighted"]
    return old


def without_reasons(document: GameDocument) -> GameDocument:
    """Return what is left of a document's reasons when it comes from an older form."""
    left = copy.deepcopy(document)
    for move in left["moves"]:
        if move["advice"] is not None:
            move["advice"]["why"] = None
            comparison = move["advice"]["comparison"]
            for reason in [] if comparison is None else comparison["because"]:
                reason["fen"] = reason["placement"]
    return left


def test_an_old_document_opens_without_the_reasons_of_mistakes(document: GameDocument) -> None:
    known = analysed(copy.deepcopy(document))
    assert in_present_form(in_form_3(known)) == without_reasons(known)
    assert in_present_form(in_form_3(document)) == document


def test_an_old_document_with_an_analysis_opens_without_weights(document: GameDocument) -> None:
    known = without_reasons(analysed(copy.deepcopy(document)))
    found = in_present_form(in_form_2(analysed(document)))
    assert found is not None
    for position, now in zip(known["positions"], found["positions"], strict=True):
        for before, after in ((position["white"], now["white"]), (position["black"], now["black"])):
            if before["belief"] is not None:
                before["belief"]["even"]["truth"] = None
                before["belief"]["weighted"] = None
            assert before == after
    assert {**known, "positions": []} == {**found, "positions": []}


def test_an_old_document_without_an_analysis_is_made_anew(document: GameDocument) -> None:
    assert in_present_form(in_form_2(document)) is None
    assert in_present_form({**in_form_2(document), "schema": 99}) is None
    assert in_present_form(json.loads(json.dumps(document))) == document


def test_moves_tell_what_their_comments_tell(document: GameDocument) -> None:
    first, second, third, *_ = document["moves"]
    assert (first["san"], first["number"], first["mover"]) == ("e4", 1, "white")
    assert (first["pawns"], first["seconds"], first["clock"]) == (0.3, 0.5, 59.5)
    assert (first["nodes"], first["depth"]) == (100, 4.0)
    assert (first["belief"], first["belief_exact"]) == (1, True)
    assert [(option["san"], option["share"]) for option in first["policy"]] == [
        ("e4", 0.75),
        ("d4", 0.2),
        ("Nf3", 0.05),
    ]
    assert second["pawns"] == 0.1  # White's view, though Black moved
    assert second["coverage"] == {
        "belief": True,
        "infoset": True,
        "expanded": False,
        "weight": 0.01,
    }
    assert third["text"] == "Into the fog"
    assert third["clock"] is None and third["coverage"] is None


def test_the_move_that_lost_the_game_is_marked(document: GameDocument) -> None:
    marked = {move["san"]: move["loss"] for move in document["moves"] if move["loss"]}
    assert marked == {"a6": {"before": 0.5, "after": 0.0, "analysed": False}}


@pytest.mark.parametrize(("result", "lost"), [("1-0", False), ("1/2-1/2", True)])
def test_the_file_says_what_a_side_without_a_move_got(
    tmp_path: Path, result: str, lost: bool
) -> None:
    """White was far ahead, and left Black without a move: a win, or a win given away."""
    start = '[SetUp "1"]\n[FEN "6QQ/8/8/8/8/p1p5/ppPpK3/kn6 w - - 0 1"]\n'
    text = f'{start}[Result "{result}"]\n\n1. Kd1 {{ [%eval 15] }} {result}\n'
    (move,) = make_document(game_of(text, tmp_path), 1000)["moves"]
    assert (move["loss"] is not None) == lost


def test_it_is_json_without_anything_that_json_has_not(document: GameDocument) -> None:
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_game_without_comments_has_moves_and_beliefs_only(tmp_path: Path) -> None:
    document = make_document(game_of("1. e4 e5 *\n", tmp_path), 1000)
    for move in document["moves"]:
        assert (move["pawns"], move["policy"], move["coverage"], move["text"]) == (
            None,
            [],
            None,
            "",
        )
    assert document["positions"][2]["white"]["belief"] is not None
    assert (document["ending"], document["result"]) == (None, "*")


def test_comments_of_other_programs_are_understood(tmp_path: Path) -> None:
    text = "1. e4 { [%eval 0.34,12] [%clk 0:09:58] Best by test } e5 { [%eval #-3] } *\n"
    first, second = make_document(game_of(text, tmp_path), 1000)["moves"]
    assert (first["pawns"], first["clock"], first["text"]) == (0.34, 598.0, "Best by test")
    assert second["pawns"] is not None and second["pawns"] < -29


def test_comments_of_the_first_versions_are_understood(tmp_path: Path) -> None:
    text = "1. e4 { |P| 1, nodes 80, depth 6, cp +55, 0.970 s } e5 { |P| 20, cp +55, 0.9 s } *\n"
    first, second = make_document(game_of(text, tmp_path), 1000)["moves"]
    assert (first["pawns"], first["seconds"], first["text"]) == (0.55, 0.97, "")
    assert second["pawns"] == -0.55


def test_what_is_no_move_in_a_policy_is_left_out(tmp_path: Path) -> None:
    text = "1. e4 { [%policy e2e4:0.5 e2e5:0.2 <script>:0.1 d2d4:nan d2d3:-1 0000:0.1] } *\n"
    (move,) = make_document(game_of(text, tmp_path), 1000)["moves"]
    assert [option["uci"] for option in move["policy"]] == ["e2e4"]


def test_every_ply_is_reported(tmp_path: Path) -> None:
    called: list[int] = []
    make_document(game_of(SHORT_GAME, tmp_path), 1000, on_ply=lambda: called.append(1))
    assert len(called) == 6


def test_a_recorded_game_has_no_analysis(document: GameDocument) -> None:
    assert document["analysis"] is None
    assert all(move["advice"] is None for move in document["moves"])


# -- a game that goes on ---------------------------------------------------------------------


@pytest.fixture
def game(tmp_path: Path) -> chess.pgn.Game:
    return game_of(SHORT_GAME, tmp_path)


@pytest.fixture
def growing(game: chess.pgn.Game) -> Iterator[GrowingDocument]:
    growing = GrowingDocument(game, 1000)
    yield growing
    growing.close()


def first_plies(game: chess.pgn.Game, plies: int) -> chess.pgn.Game:
    """Return a game as it was after so many plies."""
    shorter = copy.deepcopy(game)
    node: chess.pgn.GameNode = shorter
    for _ in range(plies):
        node = node.variations[0]
    node.variations.clear()
    shorter.headers["Result"] = "*"
    return shorter


def test_it_is_the_document_of_the_whole_game_at_every_ply(
    game: chess.pgn.Game, growing: GrowingDocument
) -> None:
    for plies in range(5):
        part = first_plies(game, plies)
        assert growing.grow(part) == make_document(part, 1000)
    assert growing.grow(game) == make_document(game, 1000)


def test_only_new_plies_are_worked_out(game: chess.pgn.Game, growing: GrowingDocument) -> None:
    called: list[int] = []
    before = growing.grow(first_plies(game, 2), lambda: called.append(1))
    growing.grow(game, lambda: called.append(2))
    assert called == [1, 1, 2, 2, 2]
    assert len(before["positions"]) == 3  # the one before stays as it was


def test_another_game_is_refused(
    game: chess.pgn.Game, growing: GrowingDocument, tmp_path: Path
) -> None:
    growing.grow(game)
    with pytest.raises(ValueError, match="does not go on"):
        growing.grow(game_of("1. d4 *", tmp_path))


# -- what a move lost ------------------------------------------------------------------------


def test_an_expected_score_is_the_engines_value_in_points() -> None:
    assert expected_score(0.0) == 0.5
    assert expected_score(6.0) == pytest.approx((1 + math.tanh(1)) / 2)
    assert expected_score(6.0) + expected_score(-6.0) == pytest.approx(1.0)


def test_each_side_is_measured_by_its_own_evaluations() -> None:
    # White's are 2, 1; Black's are -1, 3 (in White's view: Black's hopes fall).
    found = losses([2.0, -1.0, 1.0, 3.0], MOVERS[:4], None)
    assert [loss.move for loss in found] == [0, 1]
    white, black = found
    assert (white.before, white.after) == (expected_score(2.0), expected_score(1.0))
    assert black.before == pytest.approx(expected_score(1.0))
    assert black.after == pytest.approx(expected_score(-3.0))
    assert white.size > 0 and black.size > 0


def test_the_last_move_of_a_side_is_measured_by_the_result() -> None:
    found = losses([0.0, 0.0, 20.0], MOVERS[:3], 1.0)
    assert {loss.move: loss.after for loss in found} == {
        0: expected_score(20.0),
        1: 0.0,  # Black's only move lost the game
        2: 1.0,
    }


def test_without_an_end_by_the_rules_the_last_moves_are_not_measured() -> None:
    assert [loss.move for loss in losses([0.0, 0.0, 0.0], MOVERS[:3], None)] == [0]


def test_where_an_evaluation_is_missing_nothing_is_said() -> None:
    assert losses([None, 0.0, 1.0, None], MOVERS[:4], 1.0) == [Loss(2, expected_score(1.0), 1.0)]


def test_the_largest_losses_of_each_side_are_marked() -> None:
    sizes = [0.9 - 0.01 * move for move in range(40)]
    found = [Loss(move, size, 0.0) for move, size in enumerate(sizes)]
    marked = [loss.move for loss in worst(found, MOVERS)]
    assert marked == list(range(2 * MOST_MARKS))


def test_small_losses_and_gains_are_not_marked() -> None:
    found = [Loss(0, LEAST_LOSS - 0.001, 0.0), Loss(1, 0.2, 0.9), Loss(2, LEAST_LOSS, 0.0)]
    assert [loss.move for loss in worst(found, MOVERS)] == [2]


def advised(played: float, better: float) -> ShownAdvice:
    """Return what an analysis says of a move worth `played`, beside one worth `better`."""
    return ShownAdvice(
        by="A",
        uci="e2e4",
        san="e4",
        pawns=0.0,
        policy=[],
        belief=1,
        belief_exact=True,
        coverage=None,
        seconds=1.0,
        nodes=1,
        depth=1.0,
        comparison=ShownComparison(
            played=played,
            played_nodes=1,
            better=better,
            better_nodes=1,
            uci="e2e4",
            san="e4",
            because=[],
        ),
    )


def test_an_analysis_takes_the_place_of_the_players_own_words() -> None:
    reported = [Loss(0, 0.9, 0.1), Loss(1, 0.9, 0.2), Loss(2, 0.9, 0.3), Loss(3, 0.9, 0.4)]
    forced = advised(0.1, 0.9)
    forced["comparison"] = None
    advice = {0: advised(0.25, 0.75), 1: advised(0.75, 0.25), 2: None, 3: forced}
    assert analysed_losses(reported, advice) == [reported[2], Loss(0, 0.75, 0.25, analysed=True)]
    assert analysed_losses(reported, {}) == reported
