"""The techniques of the search in chess, through the player: what each is for, and its switch."""

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from obscuro.engine.chess_game import CAPPED, DRAW_WORD, STATE_WORDS, ChessGame
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.evaluation.factory import make_evaluator
from obscuro.machine import MEBIBYTE
from obscuro.rules.layout import WORDS
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen, legal_moves
from obscuro.search.game import MAX, MIN
from obscuro.search.search import Search
from obscuro.search.tree import CHANCE, EDGES, INFOSETS, LEAF, NODES, ROOTS, TERMINAL, Tree
from tests.search.invariants import check

from ..evaluation.naive import needs_stockfish
from .given_options import DEFAULTS, EVEN, options
from .test_player import START, after, go, tell

REPOSITORY = Path(__file__).resolve().parents[2]


def quiet(text: str) -> None:
    del text


def play_on(player: Player, words: np.ndarray, ours: str, theirs: str) -> np.ndarray:
    """White's move and Black's, as White, whom `player` plays, sees them."""
    for uci in (ours, theirs):
        words = after(words, uci)
        seen = Observation.of(words, 0)
        if uci == ours:
            player.own_move(uci, seen)
        else:
            player.opponent_move(seen)
    return words


def search_of(player: Player) -> Search:
    return player.equipment.search


def edges_below(tree: Tree, edges: np.ndarray) -> np.ndarray:
    """The edges one ply below these."""
    nodes = tree.edge_child[edges]
    firsts, counts = tree.node_first_edge[nodes], tree.node_edges[nodes]
    ranges = zip(firsts[nodes != LEAF], counts[nodes != LEAF], strict=True)
    return np.array([edge for first, count in ranges for edge in range(first, first + count)], int)


def consistent_histories(tree: Tree, our_key: int, plies: int) -> int:
    """How many histories of a tree lead through an infoset of the other side that touches ours.

    our_key: of our infoset, so many plies below the root states.
    """
    roots = int(tree.counts[ROOTS])
    now = np.arange(tree.node_first_edge[0], int(tree.node_edges[:roots].sum()))
    for _ in range(plies):
        now = edges_below(tree, now)
    now = now[tree.edge_status[now] != TERMINAL]
    theirs = tree.edge_keys[now, MIN]
    now = now[np.isin(theirs, theirs[tree.edge_keys[now, MAX] == our_key])]
    count = 0
    while len(now):
        count += len(now)
        now = edges_below(tree, now)
    return count


# -- the subgame -----------------------------------------------------------------------------------


def test_new_positions_are_worth_what_they_look_or_what_the_last_search_said_if_that_is_less():
    player = Player(options(min_infoset_size=60), quiet)
    words = tell(player, 0, "b1c3 a7a6 a2a3 h7h6")
    player.search(go(nodes=3000), Event())
    last = search_of(player).last_value
    assert last is not None
    play_on(player, words, "h2h3", "g8f6")
    player.search(go(nodes=100), Event())
    search = search_of(player)
    tree, gadget = search.tree, search.gadget
    first = int(tree.counts[ROOTS]) - search.progress.sampled
    assert search.progress.sampled > 0
    assert gadget.alternate[first:].max() == pytest.approx(last)
    evaluator = make_evaluator("material")
    edges = tree.node_first_edge[first : tree.counts[ROOTS]]
    children = evaluator.evaluate(np.ascontiguousarray(tree.edge_state[edges, :WORDS]))
    best = np.maximum.reduceat(children.values, children.offsets[:-1])
    assert gadget.alternate[first:] == pytest.approx(np.minimum(best, last), abs=1e-6)
    assert (best < last).any() or (best > last).any()
    player.close()


def test_positions_drawn_by_diversity_are_as_many_and_span_more_values():
    found = {}
    for sampling in ("uniform", "diversity"):
        player = Player(options(min_infoset_size=12, sampling=sampling, **EVEN), quiet)
        tell(player, 0, "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 d2d4 g8f6 g1f3 c8g4 f1e2 e7e6")
        player.search(go(nodes=100), Event())
        assert player.belief_size > 100
        search = search_of(player)
        check(search.tree)
        first = search.tree.node_first_edge[: search.tree.counts[ROOTS]]
        assert len(first) == search.progress.sampled == 12
        assert (search.tree.edge_child[first] != LEAF).all()
        found[sampling] = search.tree.edge_value[first], search.gadget.prior, player
    values, prior, _ = found["uniform"]
    assert prior == pytest.approx(np.full(12, 1 / 12))
    spread, masses, _ = found["diversity"]
    assert np.ptp(spread) >= np.ptp(values)
    assert masses.sum() == pytest.approx(1) and np.ptp(masses) > 0.01
    for *_, player in found.values():
        player.close()


def test_a_draw_by_weight_brings_likelier_positions_to_the_root():
    means, priors = {}, {}
    for draw, prior in ((0, 0.001), (1, 0.001), (0.5, 1)):
        keys = {"min_infoset_size": 12, "posterior_draw": draw, "posterior_prior": prior}
        player = Player(options(**keys), quiet)
        tell(player, 0, "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 d2d4 g8f6 g1f3 c8g4 f1e2 e7e6")
        player.search(go(nodes=100), Event())
        belief, search = player.knowledge.belief, search_of(player)
        assert belief.weights is not None
        check(search.tree)
        first = search.tree.node_first_edge[: search.tree.counts[ROOTS]]
        weights = belief.weights_of(search.tree.edge_state[first, :WORDS])
        means[draw], priors[draw] = weights.mean(), search.gadget.prior.copy()
        if draw == 0.5:
            counted = weights / (0.5 + 0.5 * weights)
            assert priors[draw] == pytest.approx(counted / counted.sum(), rel=1e-3)
        player.close()
    assert means[1] > 2 * means[0]
    assert np.ptp(priors[0]) < 0.01 < np.ptp(priors[0.5])


def test_a_belief_that_is_wanted_whole_is_the_same_by_diversity():
    played = []
    for sampling in ("uniform", "diversity"):
        player = Player(options(min_infoset_size=1000, sampling=sampling), quiet)
        tell(player, 0, "e2e4 d7d5 e4d5 g8f6")
        choice = player.search(go(nodes=3000), Event())
        assert choice.info is not None
        played.append((choice.move, choice.info.policy, choice.info.value))
        player.close()
    assert played[0] == played[1]


def test_the_start_is_common_knowledge_so_that_the_first_move_may_mix():
    player = Player(options(), quiet)
    tell(player, 0, "")
    choice = player.search(go(nodes=3000), Event())
    assert choice.info is not None and choice.info.gadget == "maxmargin"
    assert search_of(player).gadget.alternate.tolist() == [-1]
    player.close()


def test_black_too_begins_with_the_whole_game_whose_start_both_know():
    """White's first move is solved for, so that Black's answer is one to what White would play."""
    player = Player(options(max_kept_infosets=0), quiet)
    words = tell(player, 1, "e2e4")
    choice = player.search(go(nodes=20_000), Event())
    assert choice.info is not None and choice.info.gadget == "maxmargin"
    search = search_of(player)
    tree = search.tree
    check(tree)
    assert search.gadget.alternate.tolist() == [-1]
    root = tree.node_first_edge[1]  # below the only chance node: the start, with White to move
    assert tree.edge_state[tree.node_parent_edge[1], :WORDS].tolist() == START.tolist()
    first_moves = np.arange(root, root + tree.node_edges[1])
    assert (tree.edge_child[first_moves] != LEAF).all()
    ours = tree.node_infoset[tree.edge_child[first_moves]]
    assert player.belief_size == len(first_moves) == 20
    assert len(np.unique(ours)) == 1 and tree.infoset_key[ours[0]] == search.our_key
    assert len(choice.info.policy) and choice.move in dict(choice.info.policy)

    # After a move that shows us e4, few histories of the tree would be left; this one shows nothing.
    words = after(words, "e7e6")
    player.own_move("e7e6", Observation.of(words, 1))
    words = after(words, "b1c3")
    player.opponent_move(Observation.of(words, 1))
    player.search(go(nodes=3000), Event())
    assert search.spare is tree
    check(search.tree)
    assert search.progress.carried == consistent_histories(tree, search.our_key, 3) > 5000
    assert player.belief_contains(words)
    player.close()


def test_an_answer_to_a_first_move_that_nobody_would_play_is_still_found():
    """Our infoset below the root is expanded at once, whatever the solver thinks of the way there."""
    start = from_fen("4k3/8/8/8/8/8/4q3/R3K2R w KQ - 0 1")
    player = Player(options(), quiet)
    tell(player, 1, "e1f1", start)  # leaves the king to be taken
    choice = player.search(go(nodes=1), Event())
    assert choice.move == "e2f1"
    tell(player, 1, "a1b1", start)
    choice = player.search(go(nodes=1), Event())
    assert choice.info is not None and sum(share for _, share in choice.info.policy) > 0.99
    player.close()


def expanded_positions(search: Search) -> tuple[int, int]:
    """How many positions of our infoset are at the root, and how many of them are expanded."""
    tree = search.tree
    roots = int(tree.node_edges[: tree.counts[ROOTS]].sum())
    ours = tree.edge_keys[:roots, 0] == search.our_key
    states = tree.edge_state[:roots, :WORDS]
    expanded = ours & (tree.edge_child[:roots] != LEAF)
    return len(np.unique(states[ours], axis=0)), len(np.unique(states[expanded], axis=0))


@pytest.mark.parametrize("least", [1, 30, 256])
def test_so_many_positions_are_expanded_before_the_search_and_some_are_new_each_turn(least):
    """A position that the kept tree holds as several histories, or as a leaf, counts once at most."""
    player = Player(options(min_infoset_size=least), quiet)
    words = tell(player, 0, "b1c3 a7a6 a2a3 h7h6")
    for ours, theirs in (("h2h3", "g8f6"), ("c3e4", "b7b6"), ("e4f6", "g7f6"), ("", "")):
        player.search(go(nodes=6000), Event())
        search, size = search_of(player), player.belief_size
        held, expanded = expanded_positions(search)
        assert held == expanded == search.progress.roots >= min(least, size)
        if size <= least:
            assert held == size
        elif search.progress.sampled < size:
            assert search.progress.sampled >= int(DEFAULTS.fresh_share * least)
        assert search.our_histories().expanded.all()
        assert search.progress.root_infosets == int(search.tree.counts[ROOTS])
        if ours:
            words = play_on(player, words, ours, theirs)
    player.close()


def test_the_infosets_at_the_root_are_no_more_than_the_budget_in_a_long_game():
    player = Player(options(max_kept_infosets=40, min_infoset_size=64), quiet)
    words = tell(player, 0, "")
    kept = []
    for moves in ("b1c3 a7a6", "a2a3 h7h6", "h2h3 g8f6", "g1f3 b7b6", "e2e3 g7g6"):
        player.search(go(nodes=8000), Event())
        progress = search_of(player).progress
        kept.append(progress.root_infosets - progress.sampled)
        check(search_of(player).tree)
        words = play_on(player, words, *moves.split())
    assert max(kept) == 40
    player.close()


def infosets_with_unequal_moves(tree: Tree) -> int:
    """How many infosets have nodes of different legal moves, or in another order."""
    moves: dict[int, list[int]] = {}
    bad = set()
    for node in range(int(tree.counts[ROOTS]), int(tree.counts[NODES])):
        assert tree.node_player[node] != CHANCE
        state = tree.edge_state[tree.node_parent_edge[node], :WORDS]
        found = legal_moves(np.ascontiguousarray(state)).tolist()
        infoset = int(tree.node_infoset[node])
        if moves.setdefault(infoset, found) != found:
            bad.add(infoset)
    assert len(moves) > 20
    return len(bad)


@pytest.mark.parametrize("unfrozen", [True, False])
def test_over_turns_the_tree_keeps_its_invariants_and_infosets_their_moves(unfrozen):
    player = Player(options(unfrozen=unfrozen), quiet)
    words = tell(player, 0, "")
    for ours, theirs in (("e2e4", "d7d5"), ("b1c3", "g8f6"), ("e4d5", "f6d5"), ("d1f3", "c7c6")):
        player.search(go(nodes=3000), Event())
        tree = search_of(player).tree
        check(tree)
        assert infosets_with_unequal_moves(tree) == 0
        shared = np.bincount(tree.node_infoset[: tree.counts[NODES]])
        assert tree.counts[NODES] < 50 or (shared > 1).any()
        words = play_on(player, words, ours, theirs)
    player.close()


# -- the switches ----------------------------------------------------------------------------------


def first_search(**values: object) -> tuple[dict[str, float], dict[str, float]]:
    """The policy of a search from the start, and what is mixed of it."""
    player = Player(options(**values), quiet)
    tell(player, 0, "")
    choice = player.search(go(nodes=300), Event())
    player.close()
    assert choice.info is not None and choice.info.gadget == "maxmargin"
    return dict(choice.info.policy), dict(choice.info.play)


def test_purification_and_its_support_change_what_is_played_and_not_what_is_searched():
    policy, played = first_search()
    assert len(policy) == len(played) == 3
    for support in (1, 2):
        same, other = first_search(max_support=support)
        assert same == policy and len(other) == support
        same, other = first_search(max_support=support, purification=False)
        assert same == policy and other == played  # all that is stable


@needs_stockfish
def test_the_evaluator_changes_values_and_neither_moves_nor_keys():
    """The paper's simple evaluation (SE) in place of Stockfish's."""
    states = np.zeros((3, STATE_WORDS), dtype=np.uint64)
    for i, fen in enumerate(
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R b KQkq - 0 5",
            "4k3/8/8/8/8/8/4Q3/3K4 w - - 0 1",
        )
    ):
        states[i, :WORDS] = from_fen(fen)
    keys = np.arange(1, 7, dtype=np.uint64).reshape(3, 2)
    found = {}
    for name in ("stockfish", "material"):
        evaluator = make_evaluator(name)
        found[name] = ChessGame(evaluator).expand(states, keys)
        evaluator.close()
    for field in ("player", "offsets", "states", "keys", "terminal"):
        one, other = (getattr(found[name], field) for name in found)
        assert np.array_equal(one, other), field
    values = [found[name].values for name in found]
    assert not np.allclose(values[0], values[1], atol=0.01)
    ends = found["material"].terminal == 1
    assert ends.any() and np.array_equal(values[0][ends], values[1][ends])


def test_tau_scales_the_values():
    states = np.zeros((1, STATE_WORDS), dtype=np.uint64)
    states[0, :WORDS] = from_fen("4k3/8/8/8/8/8/4Q3/3K4 w - - 0 1")
    keys = np.ones((1, 2), dtype=np.uint64)
    mild, steep = (
        ChessGame(make_evaluator("material", tau=tau)).expand(states, keys) for tau in (9, 3)
    )
    inner = mild.terminal == 0
    assert np.allclose(
        np.arctanh(steep.values[inner]), 3 * np.arctanh(mild.values[inner]), atol=0.05
    )


# -- possible draws --------------------------------------------------------------------------------


def test_what_may_be_drawn_is_capped_with_all_that_is_below_it_in_the_tree():
    player = Player(options(), quiet)
    words = tell(player, 0, "", from_fen("7k/8/8/8/8/8/8/QQ2K3 w - - 0 1"))
    for ours, theirs in (("e1d1", "h8g8"), ("d1e1", "g8h8"), ("e1d1", "h8g8")):
        words = play_on(player, words, ours, theirs)
    choice = player.search(go(nodes=20_000), Event())
    assert choice.info is not None and choice.info.value > 0.5  # but the king's way back is a draw
    assert choice.move != "d1e1"
    tree = search_of(player).tree
    capped = tree.edge_state[: tree.counts[EDGES], DRAW_WORD] & CAPPED > 0
    assert 0 < np.count_nonzero(capped) < len(capped)
    assert tree.edge_value[: tree.counts[EDGES]][capped].max() <= 0
    nodes = np.arange(int(tree.counts[ROOTS]), int(tree.counts[NODES]))
    below = nodes[capped[tree.node_parent_edge[nodes]]]
    assert len(below)
    for node in below:
        edges = int(tree.node_first_edge[node]) + np.arange(int(tree.node_edges[node]))
        assert capped[edges].all()
    player.close()


# -- it repeats itself -----------------------------------------------------------------------------

REPEAT = """
import json, sys
from tests.engine.test_techniques import three_turns
print(json.dumps(three_turns(int(sys.argv[1]))))
"""


def three_turns(seed: int) -> list[object]:
    """All that three searches of one game report but the time, and a digest of the last tree."""
    player = Player(options(Seed=seed), quiet)
    words = tell(player, 0, "")
    reports: list[object] = []
    for ours, theirs in (("e2e4", "d7d5"), ("b1c3", "g8f6"), ("g1f3", "c7c6")):
        choice = player.search(go(nodes=3000), Event())
        info = choice.info
        assert info is not None
        reports.append(
            [
                *(choice.move, info.value, info.depth, info.nodes, info.iterations, info.carried),
                *(info.policy, info.play, info.line, info.infosets, info.expansions),
            ]
        )
        words = play_on(player, words, ours, theirs)
    tree = search_of(player).tree
    for array, count in (("edge_value", EDGES), ("infoset_visits", INFOSETS)):
        used = getattr(tree, array)[: tree.counts[count]]
        reports.append(used.astype(float).tolist()[:2000])
    player.close()
    found: list[object] = json.loads(json.dumps(reports))
    return found


def test_one_thread_repeats_itself_in_one_process_and_in_another():
    first = three_turns(11)
    assert three_turns(11) == first
    assert three_turns(12) != first
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "PYTHONHASHSEED": "12345"}
    result = subprocess.run(
        [sys.executable, "-c", REPEAT, "11"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == first


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_a_full_tree_stops_growing_goes_on_solving_and_grows_again_next_turn(threads):
    player = Player(options(Hash=16, Threads=threads), quiet)
    words = tell(player, 0, "")
    capacity = 0
    for ours, theirs in (("e2e4", "d7d5"), ("b1c3", "g8f6"), ("g1f3", "c7c6")):
        choice = player.search(go(nodes=10**7), Event())
        search = search_of(player)
        check(search.tree)
        info, progress = choice.info, search.progress
        assert info is not None and choice.move is not None
        assert progress.full and 0 < info.nodes < 10**6
        assert info.iterations > 50
        held = sum(array.nbytes for tree in (search.tree, search.spare) for array in tree)
        assert held <= 16 * MEBIBYTE
        assert capacity in (0, len(search.tree.edge_value))  # nothing was allocated anew
        capacity = len(search.tree.edge_value)
        words = play_on(player, words, ours, theirs)
    player.close()


def test_more_positions_than_the_tree_has_room_for_are_not_added():
    made = options(Hash=16, min_infoset_size=10_000)
    player = Player(made, quiet)
    tell(player, 0, "b1c3 a7a6 c3b1 a6a5 b1c3 b7b6 c3b1 h7h6")
    choice = player.search(go(nodes=1000), Event())
    search = search_of(player)
    assert player.belief_size > search.most_new_roots
    assert search.progress.sampled == search.most_new_roots
    assert choice.move in player.legal_moves()
    check(search.tree)
    player.close()


def test_the_hash_option_says_how_large_the_tree_is():
    sizes = []
    for mebibytes in (16, 64):
        player = Player(options(Hash=mebibytes), quiet)
        tell(player, 0, "")
        player.search(go(nodes=100), Event())
        sizes.append(len(search_of(player).tree.edge_value))
        player.close()
    assert sizes[1] == pytest.approx(4 * sizes[0], rel=1e-3)
    assert Options().integer("Hash") >= 64


def test_what_the_opponent_plays_to_is_known_by_its_keys():
    """Every new position is an infoset of its own, in which the opponent knows it."""
    player = Player(options(), quiet)
    tell(player, 0, "e2e4 g8f6")
    player.search(go(nodes=500), Event())
    tree = search_of(player).tree
    roots = int(tree.counts[ROOTS])
    assert (tree.node_edges[:roots] == 1).all()
    keys = tree.edge_keys[tree.node_first_edge[:roots], MIN]
    assert len(np.unique(keys)) == roots == player.belief_size
    assert (tree.edge_child[tree.node_first_edge[:roots]] != LEAF).all()
    player.close()
