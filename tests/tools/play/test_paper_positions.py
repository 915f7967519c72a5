"""The positions of the paper's Appendix E: that they are what the text says, and how they are searched."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from obscuro.rules.board import FogOfWarBoard
from tests.tables import rows
from tools.common import engine_options
from tools.play import paper_positions
from tools.play.paper_positions import POSITIONS, PaperPosition, pawns_of, search
from tools.results import raw

BY_NAME = {position.name: position for position in POSITIONS}


@pytest.mark.parametrize("position", POSITIONS, ids=list(BY_NAME))
def test_each_position_is_reached_by_legal_moves_and_goes_on(position: PaperPosition) -> None:
    board = FogOfWarBoard(position.fen)
    assert board.is_valid()
    for move in position.moves:
        assert chess.Move.from_uci(move) in board.legal_moves
        board.push_uci(move)
    assert not board.is_game_over()


def test_in_our_position_only_two_moves_save_black_each_from_one_check() -> None:
    """O, E.5: after Rxe6 Kxe6 either check wins with ½, since no reply answers both."""
    start = BY_NAME["the same after Rxe6 Kxe6"].board()
    saved = {}
    for check in ("f1c4", "f1h3"):
        board = start.copy()
        board.push_uci(check)
        # As in chess: replies after which White can't take the king.
        saved[check] = {move.uci() for move in chess.Board(board.fen()).legal_moves}
    assert saved["f1c4"] and saved["f1h3"]
    assert not saved["f1c4"] & saved["f1h3"]


def test_the_side_to_move_searches_at_each_of_its_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    plain = paper_positions.Player.search

    def counting(player: paper_positions.Player, *rest: object) -> object:
        searched.append(player.knowledge.plies)
        return plain(player, *rest)  # type: ignore[arg-type]

    options = engine_options(Evaluator="material", Threads=1, Seed=1, Hash=64)
    first = paper_positions.Player(options, lambda text: None)
    first.prepare()  # in a new process this searches as well, to load the kernels
    first.close()
    monkeypatch.setattr(paper_positions.Player, "search", counting)
    found = search(BY_NAME["1.c4 d5 2.Qa4"], options, 50)
    assert len(searched) == 2
    assert sum(found["policy"].values()) == pytest.approx(1.0, abs=0.01)
    assert {"c6", "d4"} <= {chess.Board(BY_NAME["1.c4 d5 2.Qa4"].board().fen()).san(move)
                            for move in BY_NAME["1.c4 d5 2.Qa4"].board().legal_moves}  # fmt: skip
    assert found["nodes"] > 0 and found["belief"] >= 1


def test_a_cornered_king_is_searched_and_stored(tmp_path: Path) -> None:
    file = tmp_path / "positions.json"
    words = ["--position", "Kc6 against Ka8", "--movetime", "300", "--seeds", "1"]
    words += ["--option", "Evaluator=material", "--rules", "default", "--raw", str(file)]
    assert paper_positions.main(words) == 0
    (found,) = raw.load(file).data
    assert found["rules"] == "default" and 0.4 < found["value"] < 0.6


def test_the_table_has_means_beside_the_papers_words() -> None:
    name = "1.c4 d5"
    found = [
        {"position": name, "rules": "paper", "value": value, "nodes": nodes, "policy": policy,
         "play": {"Nc3": 1.0}}
        for value, nodes, policy in (
            (0.1, 1000, {"Nc3": 0.8, "Qa4+": 0.2}), (0.2, 3000, {"Nc3": 1.0}),
        )
    ]  # fmt: skip
    (row,) = rows("\n".join(paper_positions.render(found)))
    assert row[:2] == [name, "E.2, Fig. 7(A)"] and "Qa4 with low" in row[2]
    assert row[3:] == [
        *("paper", "+0.150 (+0.100, +0.200)", "+0.9", "Nc3 0.90, Qa4+ 0.10", "Nc3 1.00"),
        "2,000",
    ]


def test_a_value_is_turned_into_the_evaluators_pawns() -> None:
    assert pawns_of(0.0) == 0.0
    assert pawns_of(0.16514) == pytest.approx(1.0, abs=1e-3)
    assert pawns_of(-1.0) < -20
