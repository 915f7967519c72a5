"""What is played where the belief is not what it should be: cut to its cap, lost, or lied to."""

import itertools
import time
from collections.abc import Callable
from threading import Event

import numpy as np
import pytest

from obscuro.belief.record import packed
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits, SearchInfo
from obscuro.rules.layout import KINGS, WHITE, WORDS
from obscuro.rules.make import make_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen, legal_moves, move_to_uci, to_fen
from tests.engine.test_player import START, after, options

# White sees little of Black's pieces, and can do little about them.
DARK = from_fen("nbqkqbnr/8/8/8/8/8/PP4PP/K6N w - - 0 1")
CAP = 1000
NODES = 300

# A move of the other side: from the player, the true position, and the moves that leave our king.
Opponent = Callable[[Player, np.ndarray, list[int]], int]


def hiding(player: Player, words: np.ndarray, moves: list[int]) -> int:
    """The move after which least is seen of the other side."""
    return min(
        moves, key=lambda move: Observation.of(child_of(words, move), 0).pieces(1).bit_count()
    )


def unforeseen(player: Player, words: np.ndarray, moves: list[int]) -> int:
    """The move that the fewest of the positions held possible explain."""

    def left(move: int) -> int:
        belief = player.knowledge.belief.copy()
        belief.after_opponent_move(Observation.of(child_of(words, move), 0))
        return 0 if belief.rebuilds > player.belief_rebuilds else len(belief)

    player.update()
    return min(moves, key=left)


def explains(words: np.ndarray, seen: Observation) -> bool:
    """Whether White sees this after some move of Black."""
    return any(Observation.of(child_of(words, int(move)), 0) == seen for move in legal_moves(words))


def losing_the_sample(turn: int) -> Opponent:
    """Hides; at one turn it does the unforeseen, which the sample has been left unable to explain.

    The sample loses the positions that would explain it, as a cut to the cap may by chance.
    """
    count = itertools.count()

    def opponent(player: Player, words: np.ndarray, moves: list[int]) -> int:
        if next(count) != turn:
            return hiding(player, words, moves)
        move = unforeseen(player, words, moves)
        belief = player.knowledge.belief
        assert not belief.exact
        seen = Observation.of(child_of(words, move), 0)
        left = np.array([words for words in belief.positions if not explains(words, seen)])
        assert 0 < len(left) < CAP
        belief._hold(packed(left, 0), len(left))
        return move

    return opponent


def child_of(words: np.ndarray, move: int) -> np.ndarray:
    return np.array(make_move(tuple(words), move), dtype=np.uint64)


def is_over(words: np.ndarray) -> bool:
    white = int(words[KINGS] & words[WHITE])
    return white in (0, int(words[KINGS])) or not len(legal_moves(words))


def play(player: Player, start: np.ndarray, plies: int, opponent: Opponent) -> list[SearchInfo]:
    """White's searches in a game; each of its moves must be legal in the true position."""
    player.new_game(0, start)
    words, infos = start, []
    while len(infos) < plies:
        choice = player.search(GoLimits(time.monotonic(), nodes=NODES), Event())
        assert choice.info is not None
        infos.append(choice.info)
        assert choice.move in {move_to_uci(move) for move in legal_moves(words)}, to_fen(words)
        words = after(words, choice.move)
        if is_over(words):
            break
        player.own_move(choice.move, Observation.of(words, 0))
        replies = [int(move) for move in legal_moves(words)]
        replies = [m for m in replies if int(child_of(words, m)[KINGS] & words[WHITE])] or replies
        words = child_of(words, opponent(player, words, replies))
        if is_over(words):
            break
        player.opponent_move(Observation.of(words, 0))
    return infos


def belief_is_whole(player: Player) -> bool:
    """Whether all positions held possible explain what was seen last, each once."""
    positions = player.knowledge.belief.positions
    seen = {Observation.of(words, 0) for words in positions}
    return seen == {player.observation} and len(np.unique(positions, axis=0)) == len(positions)


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def capped(warnings):
    made = Player(options(Max_Positions=CAP), warnings.append)
    yield made
    made.close()


def test_past_the_cap_legal_moves_are_found_by_searching_a_sample(capped, warnings):
    infos = play(capped, DARK, 14, hiding)
    assert all(0 < info.belief <= CAP for info in infos)
    cut = [info for info in infos if not info.exact]
    assert len(cut) > 4
    assert all(info.sampled > 0 and info.expansions > 0 and info.policy for info in cut)


def test_a_sample_that_loses_the_game_is_rebuilt_and_the_game_goes_on(capped, warnings):
    infos = play(capped, DARK, 14, losing_the_sample(10))
    assert all(0 < info.belief <= CAP for info in infos)
    assert capped.belief_rebuilds >= 1
    assert len(warnings) == 1 and "\n" not in warnings[0]
    assert len(infos) > 12 and not infos[-1].exact
    assert belief_is_whole(capped)


def test_after_a_lie_the_game_goes_on_from_what_was_shown(warnings):
    """Told of a position that no game leads to, it plays there, with new positions and one warning."""
    player = Player(options(), warnings.append)
    player.new_game(0, START)
    words = after(START, "e2e4")
    player.own_move("e2e4", Observation.of(words, 0))
    words = from_fen("rnb1kbnr/pppppppp/8/8/4P2q/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    player.opponent_move(Observation.of(words, 0))
    for reply in ("h4e4", "b8c6", "g8f6"):
        choice = player.search(GoLimits(time.monotonic(), nodes=NODES), Event())
        assert choice.move in {move_to_uci(move) for move in legal_moves(words)}
        assert choice.info is not None and not choice.info.exact
        assert choice.info.sampled > 0 and choice.info.expansions > 0
        assert belief_is_whole(player)
        words = after(words, choice.move)
        player.own_move(choice.move, Observation.of(words, 0))
        words = after(words, reply)
        player.opponent_move(Observation.of(words, 0))
    assert player.belief_rebuilds >= 1 and len(warnings) == 1
    player.close()


def test_a_rebuild_of_the_belief_keeps_the_tree_whose_histories_explain_all(warnings):
    player = Player(options(), warnings.append)
    player.new_game(0, START)
    player.search(GoLimits(time.monotonic(), nodes=3000), Event())
    words = after(START, "e2e4")
    player.own_move("e2e4", Observation.of(words, 0))
    player.update()
    belief = player.knowledge.belief
    lost = from_fen("rnbqkbnr/ppp1pppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -")
    belief._hold(packed(lost.reshape(1, WORDS), 0), 1)
    belief.exact = False
    words = after(words, "d7d5")
    player.opponent_move(Observation.of(words, 0))
    choice = player.search(GoLimits(time.monotonic(), nodes=NODES), Event())
    assert player.belief_rebuilds == 1 and len(warnings) == 1 and not player.belief_exact
    assert choice.info is not None and choice.info.carried > 0
    held = player.equipment.search.our_histories().states[:, :WORDS]
    assert (held == words).all(axis=1).any()
    assert all(player.belief_contains(position) for position in held)
    player.close()


def test_a_game_that_outlives_a_hundred_quiet_plies_is_not_a_draw_from_then_on(warnings):
    start = from_fen("k7/p7/8/8/8/8/8/K6R w - - 0 1")
    player = Player(options(), warnings.append)
    player.new_game(0, start)
    words, counted = start, []
    for ply in range(104):
        uci = ("h1g1", "a8b8", "g1h1", "b8a8")[ply % 4]
        words = after(words, uci)
        seen = Observation.of(words, 0)
        if ply % 2 == 0:
            player.own_move(uci, seen)
        else:
            player.opponent_move(seen)
        player.update()
        counted.append(player.knowledge.quiet_plies)
    assert counted[:99] == list(range(1, 100))
    assert counted[99:] == [50, 51, 52, 53, 54]
    choice = player.search(GoLimits(time.monotonic(), nodes=NODES), Event())
    assert choice.info is not None and choice.info.value > 0.3  # a rook up
    player.close()


def test_a_piece_of_ours_that_is_captured_ends_the_quiet_plies(warnings):
    player = Player(options(), warnings.append)
    words = from_fen("k7/8/8/8/8/1p6/P7/7K w - - 0 1")
    player.new_game(0, words)
    counted = []
    for uci in ("h1g1", "a8b8", "g1h1", "b3a2"):
        words = after(words, uci)
        seen = Observation.of(words, 0)
        if len(counted) % 2 == 0:
            player.own_move(uci, seen)
        else:
            player.opponent_move(seen)
        player.update()
        counted.append(player.knowledge.quiet_plies)
    assert counted == [1, 2, 3, 0]
    player.close()


def test_a_new_game_is_exact_again_and_warns_again(capped, warnings):
    lie = from_fen("rnb1kbnr/pppppppp/8/8/4P2q/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    for game in (1, 2):
        capped.new_game(0, START)
        capped.own_move("e2e4", Observation.of(after(START, "e2e4"), 0))
        capped.update()
        assert capped.belief_exact and capped.belief_rebuilds == 0
        capped.opponent_move(Observation.of(lie, 0))
        choice = capped.search(GoLimits(time.monotonic(), nodes=NODES), Event())
        assert choice.move in {move_to_uci(move) for move in legal_moves(lie)}
        assert len(warnings) == game
