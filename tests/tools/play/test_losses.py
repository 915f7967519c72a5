"""The tool that says why games were lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import chess
import numpy as np
import pytest

from obscuro.engine.player import Player
from obscuro.engine.report import Choice, Coverage, GoLimits
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, legal_moves, move_to_uci
from tests.tables import rows
from tests.tools.play.lost_games import (
    QUEEN,
    RECORDS,
    WORDS,
    record,
    rook_game,
    write_games,
)
from tools.common import INTERRUPTED
from tools.play import losses
from tools.play.losses import Bounds, Coroner, Fall, Reply, cause_in_tree, losing_turn
from tools.play.recorded_games import (
    FiledGame,
    FollowedTurn,
    Judge,
    Row,
    by_nodes,
    follow,
    load_games,
)
from tools.results import raw

BOUNDS = Bounds(fall=0.3, margin=0.2, share=0.3)


def coroner(player: Player, bounds: Bounds = BOUNDS) -> Coroner:
    judge = Judge(player.equipment.options, print)
    return Coroner(player, judge, bounds, lambda: by_nodes(2000), lambda: by_nodes(20_000))


# -- the losing turn ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "fall"),
    [
        ([0.0, 0.1, -0.8, -0.9, -1.0], Fall(1, 0.8)),  # the level before was 0
        ([0.0, -0.1, -0.2, -1.0], Fall(2, 0.8)),  # the king falls
        ([0.3, -0.7, 0.4, 0.4, -0.4, -1.0], Fall(3, 0.8)),  # the first fall was made good
        ([0.0, -0.6, -0.4, -0.5, -1.0], Fall(0, 0.6)),  # and here it was not
        ([-0.2, 0.7, -0.2, -0.9, -1.0], Fall(2, 0.7)),  # a gift that was not taken
        ([0.2, -0.3, -0.8, -1.0], Fall(0, 0.5)),  # the first of two
        ([0.0, -0.25, -0.5, -0.75, -1.0], None),  # little by little
        ([-0.9, -0.95, -1.0], None),  # lost before
    ],
)
def test_the_losing_turn_is_the_largest_fall_that_was_never_made_good(
    values: list[float], fall: Fall | None
) -> None:
    found = losing_turn(values, [True] * (len(values) - 1), 0.3)
    assert (found is None) == (fall is None)
    if found is not None and fall is not None:
        assert found.turn == fall.turn and found.size == pytest.approx(fall.size)


def test_who_has_no_choice_loses_nothing_by_it() -> None:
    values = [0.0, 0.0, -0.5, -1.0]
    assert losing_turn(values, [True, True, True], 0.3) == Fall(1, 0.5)
    assert losing_turn(values, [True, False, True], 0.3) == Fall(2, 0.5)


def test_positions_are_those_in_which_the_side_is_to_move(file: Path) -> None:
    game = load_games(file)[1]
    for side in chess.COLORS:
        found = list(losses.truths(game, side))
        assert [ply for ply, _ in found] == list(range(0 if side else 1, len(QUEEN), 2))
        assert all(board.turn == side for _, board in found)
        assert all(len(board.move_stack) == ply for ply, board in found)


# -- the causes ---------------------------------------------------------------------------------

KNOWN = Coverage(True, True, True, 0.1)


@pytest.mark.parametrize(
    ("coverage", "reply", "cause"),
    [
        (Coverage(False, False, False, 0.0), Reply(0, 0, 0, None), "a"),
        (Coverage(True, False, False, 0.0), Reply(0, 0, 0, None), "b"),
        (Coverage(True, True, False, 0.1), Reply(1, 1, 1, 0.5), "c"),
        (KNOWN, Reply(1, 0, 0, None), "d"),
        (KNOWN, Reply(1, 1, 0, 0.0), "d"),
        (KNOWN, Reply(2, 2, 1, 0.0), "e"),
        (KNOWN, Reply(1, 1, 0, -0.75), None),  # a leaf, and its value is right
        (KNOWN, Reply(1, 1, 1, -0.75), None),
        (KNOWN, Reply(1, 1, 1, -1.0), None),  # too low is no reason to play it
    ],
)
def test_the_first_cause_that_holds_is_named(
    coverage: Coverage, reply: Reply, cause: str | None
) -> None:
    turn = FollowedTurn(0, FogOfWarBoard(), chess.Move.null(), Choice(None), coverage)
    assert cause_in_tree(turn, reply, -0.8, 0.2) == cause


def strategy_after(player: Player, truth: np.ndarray, uci: str) -> np.ndarray:
    """Black's strategy after a move of White, both of whom know the true position."""
    search = player.equipment.search
    tree, histories = search.tree, search.our_histories()
    (edge,) = histories.edges[(histories.states[:, : len(truth)] == truth).all(axis=1)]
    action = [move_to_uci(move) for move in legal_moves(truth)].index(uci)
    node = tree.edge_child[tree.node_first_edge[tree.edge_child[edge]] + action]
    first = tree.node_first_action[node]
    strategy = tree.strategy[first : first + tree.node_edges[node]]
    assert strategy.sum() == pytest.approx(1)
    return np.array(strategy)


def test_a_reply_is_found_in_the_tree_below_the_true_position(
    player: Player, tmp_path: Path
) -> None:
    (game,) = load_games(rook_game(tmp_path))
    (turn,) = follow(player, game, chess.WHITE, lambda ply: by_nodes(5000), until=0)
    reply = losses.known_reply(player, turn.words, "h5h7", "h8h7")
    assert reply.histories == reply.known == 1
    assert reply.value is not None and -1 <= reply.value < 0  # the queen is gone
    # Without a reply it is the value of our move: that of all replies, as likely as the tree has them.
    assert turn.choice.move is not None and turn.choice.move != "h5h7"
    for ours in ("h5h7", turn.choice.move):
        board = turn.board.copy()
        board.push_uci(ours)
        replies = [move_to_uci(move) for move in legal_moves(from_board(board))]
        values = [losses.known_reply(player, turn.words, ours, uci).value for uci in replies]
        move = losses.known_reply(player, turn.words, ours, None)
        expected = np.dot(strategy_after(player, turn.words, ours), np.array(values, dtype=float))
        assert move.known == move.expanded == 1
        assert move.value == pytest.approx(expected, abs=1e-6)
        if ours == "h5h7":
            assert reply.value == min(value for value in values if value is not None)
    king = losses.known_reply(player, turn.words, "h5h7", "c8b7")
    assert king.value is not None and king.value > 0.3  # the queen is still there
    elsewhere = losses.known_reply(player, from_board(chess.Board()), "e2e4", "e7e5")
    assert elsewhere == Reply(0, 0, 0, None)


# -- a game -------------------------------------------------------------------------------------


def test_what_a_longer_search_does_not_play_is_lack_of_time(player: Player, tmp_path: Path) -> None:
    (game,) = load_games(rook_game(tmp_path))
    row = coroner(player).explain(game, chess.WHITE)
    assert (row["ply"], row["move"], row["reply"]) == (0, "Qxh7", "Rxh7")
    assert row["before"] > 0.5 and row["after"] < 0 and row["fall"] > 0.9
    assert row["seen"] > row["tree"] + 0.5  # the evaluator alone does not see the rook take
    assert row["in_belief"] and row["expanded"] and row["then"] is None
    assert row["cause"] == "f" and row["again"] < 0.3
    assert row["values"][-1] == -1 and len(row["values"]) == 5


def test_a_move_that_is_still_played_is_a_risk(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = player.search
    nodes: list[int | None] = []

    def stubborn(limits: GoLimits, stop: Event) -> Choice:
        nodes.append(limits.nodes)
        choice = play(limits, stop)
        assert choice.info is not None
        return replace(choice, info=replace(choice.info, policy=[("h5h7", 0.4), ("h2h3", 0.3)]))

    monkeypatch.setattr(player, "search", stubborn)
    (game,) = load_games(rook_game(tmp_path))
    assert coroner(player).explain(game, chess.WHITE)["cause"] == "g"
    assert nodes == [2000, 20_000]
    stricter = replace(BOUNDS, share=0.5)
    assert coroner(player, stricter).explain(game, chess.WHITE)["cause"] == "f"


def test_the_recorded_search_may_have_known_less(player: Player, file: Path) -> None:
    row = coroner(player).explain(load_games(file)[1], chess.WHITE)
    assert (row["ply"], row["move"], row["reply"], row["then"]) == (4, "Qxh7", "Rxh7", "b")
    assert row["before"] > 0 > -0.5 > row["after"]


def test_a_truth_that_the_recorded_search_had_lost_is_the_first_cause(
    player: Player, file: Path
) -> None:
    game = load_games(file)[1]
    lost = replace(game, coverages=(Coverage(False, False, False, 0.0),) * len(game.moves))
    row = coroner(player).explain(lost, chess.WHITE)
    assert (row["cause"], row["then"], row["in_belief"]) == ("a", "a", True)


def test_a_king_that_falls_is_worth_less_than_all(player: Player, file: Path) -> None:
    row = coroner(player).explain(load_games(file)[0], chess.BLACK)
    assert (row["ply"], row["move"], row["reply"], row["after"]) == (3, "a6", "Qxe8#", -1)
    assert row["then"] is None
    if row["known"]["known"]:
        assert row["tree"] == -1 and row["known"]["expanded"]


def test_a_game_without_a_fall_is_not_searched(
    player: Player, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player, "search", None)
    row = coroner(player, replace(BOUNDS, fall=1.9)).explain(load_games(file)[1], chess.WHITE)
    assert row["cause"] == "h" and "ply" not in row
    forfeit = write_games(
        file.parent / "forfeit.pgn", [record("one", "two", QUEEN[:6], chess.BLACK)]
    )
    (game,) = load_games(forfeit)
    assert coroner(player).explain(game, chess.WHITE)["cause"] == "i"


# -- the tables ---------------------------------------------------------------------------------


def test_each_loss_is_a_line_and_the_causes_are_counted(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "losses.json"
    words = [str(file), "--player", "two", "--movetime", "10", "--again", "50", *WORDS]
    assert losses.main([*words, "--json", str(stored)]) == 0
    lines = capsys.readouterr().out.splitlines()
    figures = raw.load(stored).data
    assert list(losses.render(figures)) == lines
    assert lines[:2] == ["two lost 2 games; 2 are explained.", ""]
    lines = lines[2:]
    first, second = rows("\n".join(lines[: lines.index("")]).replace("\\|", ""))
    assert first[:3] == ["1", "black", "3"] and first[4:6] == ["a6", "Qxe8#"]
    assert second[:3] == ["2", "white", "4"] and second[4:6] == ["Qxh7", "Rxh7"]
    causes = rows("\n".join(lines[lines.index("") + 1 : -2]))
    assert causes[-1][0] == "all" and causes[-1][-1] == "2"
    assert sum(int(row[-1]) for row in causes[:-1]) == 2


def test_causes_stand_by_the_size_of_the_belief() -> None:
    row = {
        **{"game": 1, "side": "white", "ply": 4, "belief": 16, "move": "a3", "uci": "a2a3"},
        **{"reply": None, "best": "a4", "before": 0.0, "after": -1.0, "fall": 1.0, "then": "c"},
        **{"cause": "g", "share": 0.5, "again": 0.6, "weight": 0.01, "search": 0.1, "seen": 0.0},
        **{"tree": -1.0, "policy": [("a2a3", 0.5)]},
    }
    others = [{**row, "cause": "b", "belief": 17, "policy": [("a2a4", 0.9)], "share": 0.0}]
    others += [{"game": 3, "side": "black", "cause": "h"}]
    lines = list(losses.render({"player": "one", "lost": 3, "losses": [row, *others]}))[2:]
    split = lines.index("")
    listed = rows("\n".join(lines[:split]).replace("\\|", ""))
    assert len({len(cells) for cells in listed}) == 1
    assert listed[0][9:13] == ["+0 → -2971", "1.00", "c", "g"]
    assert rows("\n".join(lines[split + 1 : -2])) == [
        ["b: not in I", "0", "1", "0", "1"],
        ["g: known, and played", "1", "0", "0", "1"],
        ["h: no single fall", "0", "0", "1", "1"],
        ["all", "1", "1", "1", "3"],
    ]
    assert lines[-1].endswith("in 1 of 2 losing turns; its mean share is 0.25.")


def test_ctrl_c_shows_the_games_that_are_explained(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    explain = Coroner.explain

    def interrupted(self: Coroner, game: FiledGame, side: chess.Color) -> Row:
        if game.number == 2:
            raise KeyboardInterrupt
        return explain(self, game, side)

    monkeypatch.setattr(Coroner, "explain", interrupted)
    words = [str(file), "--player", "two", "--movetime", "10", "--again", "20", *WORDS]
    assert losses.main(words) == INTERRUPTED
    assert capsys.readouterr().out.startswith("two lost 2 games; 1 are explained.")


def test_who_lost_nothing_is_told_so(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(file), "--player", "one", *WORDS]
    assert losses.main(words) == 0
    assert capsys.readouterr().out == "one lost 0 games; 0 are explained.\n"
    with pytest.raises(SystemExit):
        losses.main([str(file), "--player", "nobody"])
    assert "nobody called 'nobody' plays" in capsys.readouterr().err
    assert len(RECORDS) == 2
