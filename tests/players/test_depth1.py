"""`depth1` against a naive version in Python, and its conduct on the clock."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from threading import Event

import chess
import pytest

from obscuro.engine.game_follower import Words
from obscuro.engine.knowledge import GameError
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Coverage, GoLimits, SearchInfo
from obscuro.evaluation.scale import centipawns_of_value
from obscuro.players.depth1 import CHUNK, Depth1Player
from obscuro.players.roster import PLAYERS
from obscuro.rules.account import last_ply, plies
from obscuro.rules.board import FogOfWarBoard
from obscuro.search.game import Expansion
from tests.evaluation.naive import naive_children
from tests.evaluation.test_material import naive_pawns
from tests.players.test_onlooker import after


def player(sample: int = 10_000, seed: int = 1, evaluator: str = "material") -> Depth1Player:
    options = Options(PLAYERS["depth1"].options)
    for name, value in (
        ("Seed", seed),
        ("Search", f"sample_size={sample}"),
        ("Evaluator", evaluator),
    ):
        options.set(name, str(value))
    return Depth1Player(options, pytest.fail)


@pytest.fixture
def depth1() -> Iterator[Depth1Player]:
    made = player()
    yield made
    made.close()


def tell(depth1: Depth1Player, board: FogOfWarBoard) -> None:
    """Tell a player all of a game, as the side to move."""
    depth1.new_game_from_fen(0 if board.turn else 1, board.root().epd(en_passant="fen"))
    for ply in plies(board, board.turn):
        ply.tell(depth1)


def choice(depth1: Depth1Player, **limits: int) -> Choice:
    return depth1.search(GoLimits(time.monotonic(), **limits), Event())


def random_game(seed: int, count: int) -> FogOfWarBoard:
    chance = random.Random(seed)
    board = FogOfWarBoard()
    while len(board.move_stack) < count and board.outcome() is None:
        board.push(chance.choice([m for m in board.legal_moves if not board.is_capture(m)]))
    return board


def naive_means(depth1: Depth1Player) -> dict[str, float]:
    """The mean value of each move over all of P, position by position, by python-chess."""
    boards = [FogOfWarBoard(fen) for fen in depth1.belief_fens(10_000)]
    means: dict[str, float] = {}
    for board in boards:
        for move, child in naive_children(board, find_mates=False).items():
            value = child.value
            if value is None:
                value = math.tanh(naive_pawns(child.board, board.turn) / 6.0)
                value = min(max(value, -0.9999), 0.9999)
            means[move] = means.get(move, 0.0) + value / len(boards)
    return means


@pytest.mark.parametrize(("seed", "count"), [(4, 6), (6, 4), (9, 3)])
def test_it_plays_the_best_mean_over_all_of_p(depth1: Depth1Player, seed: int, count: int) -> None:
    tell(depth1, random_game(seed, count))
    chosen = choice(depth1, movetime=60_000)
    means = naive_means(depth1)
    assert chosen.move is not None and chosen.info is not None
    assert means[chosen.move] == pytest.approx(max(means.values()), abs=1e-6)
    assert chosen.info.value == pytest.approx(means[chosen.move], abs=1e-6)
    assert chosen.info.centipawns == centipawns_of_value(chosen.info.value)
    assert chosen.info.sampled == chosen.info.belief == len(depth1.belief_fens(10_000)) > 1
    assert chosen.info.evaluations == len(means) * chosen.info.sampled
    assert chosen.info.exact


def test_a_certain_king_is_captured_without_thought(depth1: Depth1Player) -> None:
    tell(depth1, after("e2e4", "f7f6", "d1h5", "a7a6"))
    chosen = choice(depth1)
    assert chosen.move == "h5e8"
    assert chosen.info is not None and (chosen.info.value, chosen.info.sampled) == (1.0, 0)
    assert depth1.coverage_of_fen(
        "rnbqkbnr/1pppp1pp/p4p2/7Q/4P3/8/PPPP1PPP/RNB1KBNR w KQkq -"
    ) == Coverage(True)


def test_the_sample_is_as_large_as_the_option_says() -> None:
    depth1 = player(sample=40)
    tell(depth1, random_game(5, 9))
    chosen = choice(depth1)
    assert chosen.info is not None and chosen.info.sampled == 40 < chosen.info.belief
    other = player(sample=40, seed=2)
    tell(other, random_game(5, 9))
    again = choice(other).info
    assert again is not None and again.value != chosen.info.value  # another sample


def test_without_time_one_chunk_is_looked_at() -> None:
    depth1 = player()
    tell(depth1, random_game(5, 9))
    long_ago = GoLimits(time.monotonic() - 100.0, movetime=1)
    depth1.update()
    chosen = depth1.search(long_ago, Event())
    assert chosen.info is not None and chosen.info.sampled == CHUNK
    stopped = Event()
    stopped.set()
    chosen = depth1.search(GoLimits(time.monotonic(), infinite=True), stopped)
    assert chosen.info is not None and chosen.info.sampled == CHUNK


def test_no_chunk_begins_that_would_end_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock here stands still, but each chunk takes ten seconds of it."""
    depth1 = player()
    tell(depth1, random_game(5, 9))
    depth1.update()
    now, expand = [1000.0], depth1.game.expand

    def slow(states: Words, keys: Words) -> Expansion:
        now[0] += 10.0
        return expand(states, keys)

    monkeypatch.setattr(depth1.game, "expand", slow)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    chosen = depth1.search(GoLimits(1000.0, movetime=35_000), Event())
    assert chosen.info is not None and chosen.info.sampled == 3 * CHUNK
    assert now[0] == 1030.0


def test_pondering_changes_nothing_but_the_time() -> None:
    moves = []
    for ponders in (False, True):
        depth1 = player(sample=20)
        board = after("e2e4", "g7g6", "d2d4")
        depth1.new_game_from_fen(0, FogOfWarBoard().epd(en_passant="fen"))
        for ply in plies(board, chess.WHITE):
            ply.tell(depth1)
        if ponders:
            depth1.ponder(Event())
        board.push_uci("f8g7")
        last_ply(board, chess.WHITE).tell(depth1)
        moves.append(choice(depth1).move)
    assert moves[0] == moves[1]


def test_it_plays_legal_games() -> None:
    chance = random.Random(9)
    depth1 = player(sample=16)
    for side in chess.COLORS:
        board = FogOfWarBoard()
        depth1.new_game_from_fen(0 if side else 1, board.epd(en_passant="fen"))
        while board.outcome() is None and len(board.move_stack) < 40:
            if board.turn == side:
                move = chess.Move.from_uci(str(choice(depth1, movetime=1000).move))
            else:
                move = chance.choice(sorted(board.legal_moves, key=str))
            assert move in board.legal_moves
            board.push(move)
            if not board.is_variant_end():
                last_ply(board, side).tell(depth1)
        assert board.outcome() is None or board.outcome().winner in (None, side)  # type: ignore[union-attr]


def test_go_nodes_ends_the_sample() -> None:
    depth1 = player()
    tell(depth1, random_game(5, 9))
    chosen = choice(depth1, nodes=1000)
    assert chosen.info is not None
    assert 1000 <= chosen.info.evaluations < 1000 + 60 * CHUNK


def test_games_that_look_alike_get_the_same_move() -> None:
    chosen = set()
    for hidden in ("g7g6", "h7h6", "b8c6"):
        depth1 = player(sample=5)
        tell(depth1, after("e2e4", hidden))
        chosen.add(choice(depth1, nodes=10_000).move)
    assert len(chosen) == 1


def test_ties_are_broken_by_the_seed() -> None:
    """All moves are equal where the king hangs in every possible position whatever we do."""
    found = set()
    for seed in range(1, 12):
        depth1 = player(seed=seed)
        depth1.new_game_from_fen(0, "k7/8/8/8/8/1q6/8/K1q5 w - -")
        chosen = choice(depth1)
        assert chosen.info is not None and sum(p for _, p in chosen.info.play) == 1
        found.add(chosen.move)
    assert len(found) > 1


def test_a_third_repetition_counts_as_a_draw_at_best(depth1: Depth1Player) -> None:
    """Ahead by a queen, it leaves a position that has come twice."""
    board = FogOfWarBoard("7k/7p/8/8/8/8/P7/KQ6 w - - 0 1")
    for uci in ("b1b2", "h8g8", "b2b1", "g8h8", "b1b2", "h8g8", "b2b1", "g8h8"):
        board.push_uci(uci)
    depth1.new_game_from_fen(0, board.root().epd(en_passant="fen"))
    for ply in plies(board, chess.WHITE):
        ply.tell(depth1)
    repeated = depth1.knowledge.repeated()
    assert choice(depth1).move != "b1b2"
    assert len(repeated) == 0  # nothing was told yet when it was asked
    assert len(depth1.knowledge.repeated()) > 0


def test_coverage_is_about_the_sample() -> None:
    depth1 = player(sample=5)
    tell(depth1, after("e2e4", "g7g6"))
    with pytest.raises(GameError, match="there is no search"):
        depth1.coverage_of_fen(chess.STARTING_FEN)
    choice(depth1)
    assert depth1.compare("e2e4") is None  # there is no tree
    covers = [depth1.coverage_of_fen(fen) for fen in depth1.belief_fens(100)]
    assert len(covers) > 5 and all(cover.in_belief for cover in covers)
    sampled = [cover for cover in covers if cover.expanded]
    assert len(sampled) == 5
    assert {cover.weight for cover in sampled} == {0.2}
    assert {cover.weight for cover in covers if not cover.expanded} == {0.0}
    depth1.own_move("g1f3", None)
    depth1.update()
    with pytest.raises(GameError, match="the game has gone on"):
        depth1.coverage_of_fen(chess.STARTING_FEN)


def test_what_does_not_fit_is_refused(depth1: Depth1Player) -> None:
    with pytest.raises(GameError, match="no game"):
        choice(depth1)
    depth1.new_game_from_fen(1, chess.STARTING_FEN)
    with pytest.raises(GameError, match="not our side's turn"):
        choice(depth1)


def test_reports_come_once_and_say_what_the_choice_says(depth1: Depth1Player) -> None:
    tell(depth1, after("e2e4", "e7e5"))
    heard: list[SearchInfo] = []
    chosen = depth1.search(GoLimits(time.monotonic()), Event(), heard.append)
    assert heard == [chosen.info]


def test_other_options_make_another_evaluator(depth1: Depth1Player) -> None:
    depth1.prepare()
    assert depth1.evaluator == "material"
    options = depth1.options.copy()
    options.set("Search", "tau=3")
    tell(depth1, after("e2e4", "d7d5"))
    wide = choice(depth1).info
    depth1.set_options(options)
    assert depth1.evaluator == ""
    narrow = choice(depth1).info
    assert wide is not None and narrow is not None
    assert narrow.value != wide.value
