"""The file of recorded games: its format, that its games are legal, and that it holds what it must."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import chess
import pytest

from obscuro.cli.bench.common import BenchmarkError
from obscuro.cli.bench.recorded import (
    LARGEST,
    SMALLEST,
    RecordedGame,
    RecordedUpdate,
    all_updates,
    check,
    new_belief,
    parse_game,
    quick_games,
    read_games,
    steps,
    take_in,
    write_games,
)
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import legal_moves

GAMES = read_games()
UPDATES = list(all_updates(GAMES))
CHEAP = 100_000  # candidates of an update that can be recounted in a test


def count(*, grows: bool, least: int, below: int) -> int:
    return sum(u.grows == grows and least <= u.parents < below for u in UPDATES)


def test_every_game_is_legal_and_goes_on() -> None:
    for game in GAMES:
        board = FogOfWarBoard(game.fen)
        plies = {update.ply for update in game.updates}
        for ply, uci in enumerate(game.moves):
            assert (board.turn == (game.side == 1)) or ply not in plies, f"{game.name}, ply {ply}"
            board.push(board.parse_uci(uci))  # raises if it is not legal
            assert not board.is_variant_end(), game.name
        assert max(plies) == len(game.moves) - 1


def test_names_tell_the_games_apart() -> None:
    assert max(Counter((game.name, game.side) for game in GAMES).values()) == 1


def test_updates_of_all_sizes_are_there() -> None:
    assert all(SMALLEST <= update.parents <= LARGEST for update in UPDATES)
    for grows in (True, False):
        assert count(grows=grows, least=SMALLEST, below=LARGEST + 1) >= 50
        for least, below in ((1_000, 10_000), (10_000, 100_000), (100_000, LARGEST + 1)):
            assert count(grows=grows, least=least, below=below) >= 12
    assert count(grows=True, least=1_000_000, below=LARGEST + 1) >= 2
    assert sum(update.leads_to_a_million for update in UPDATES) >= 5


def test_games_of_all_kinds_are_there() -> None:
    kinds = Counter(game.name.split()[0] for game in GAMES for _ in game.updates)
    assert set(kinds) == {"engine", "hider", "random"}
    assert min(kinds.values()) >= 15
    assert {game.side for game in GAMES} == {0, 1}


def cheapest(*, grows: bool) -> list[tuple[RecordedGame, RecordedUpdate]]:
    """A few updates that are quick to get to."""
    found = [
        (sum(u.candidates for u in game.updates if u.ply <= update.ply), game, update)
        for game in GAMES
        for update in game.updates
        if update.grows == grows
    ]
    return [(game, update) for _, game, update in sorted(found)[:3]]


@pytest.mark.parametrize(
    ("game", "update"),
    [
        pytest.param(game, update, id=f"{game.name}, {update}")
        for grows in (True, False)
        for game, update in cheapest(grows=grows)
    ],
)
def test_updates_recounted(game: RecordedGame, update: RecordedUpdate) -> None:
    assert update.candidates < CHEAP
    belief = new_belief(game)
    for step in steps(game.with_updates([update])):
        if step.ply == update.ply:
            positions = belief.positions
        take_in(belief, step)
    assert len(positions) == update.parents
    assert sum(len(legal_moves(words)) for words in positions) == update.candidates
    check(game, update, belief)
    wrong = update._replace(positions=update.positions + 1)
    with pytest.raises(BenchmarkError, match=f"{game.name}, ply {update.ply}: the belief has"):
        check(game, wrong, belief)


def test_the_quick_part_is_small_and_has_all_kinds() -> None:
    quick = quick_games(GAMES)
    updates = list(all_updates(quick))
    assert sum(update.leads_to_a_million for update in updates) == 1
    small = [update for update in updates if not update.leads_to_a_million]
    assert sum(update.candidates for update in small) < 50_000_000
    for grows in (True, False):
        assert sum(update.grows == grows for update in small) >= 5
    whole = {(game.name, game.side): game for game in GAMES}
    for game in quick:
        original = whole[game.name, game.side]
        assert game.moves == original.moves[: game.updates[-1].ply + 1]
        assert set(game.updates) <= set(original.updates)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    write_games(path, GAMES, ["a heading", ""])
    assert path.read_text().startswith("# a heading\n#\n")
    assert read_games(path) == GAMES


LINE = "a game | black | startpos | e2e4 e7e5 g1f3 | 0:1>1/20 2:5>9/40"


def test_a_line() -> None:
    game = parse_game(LINE)
    assert game.side == 1
    assert game.fen == chess.STARTING_FEN
    assert game.moves == ("e2e4", "e7e5", "g1f3")
    assert game.updates == (RecordedUpdate(0, 1, 1, 20), RecordedUpdate(2, 5, 9, 40))
    assert [update.grows for update in game.updates] == [False, True]
    assert game.with_updates(game.updates[:1]).moves == ("e2e4",)
    assert str(game) == LINE


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a game | white | startpos | e2e4", "has 5 fields, not 4"),
        (LINE.replace("black", "blue"), "a game: the side is white or black, not 'blue'"),
        (LINE.replace("1>1/20", "1>1"), "a game: '0:1>1' is not ply:parents>positions/candidates"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_game(line)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("e7e5", "e7e4"), "a game: illegal uci: 'e7e4'"),
        (("startpos", "8/8"), "a game: expected 'w' or 'b'|a game: expected 8 rows"),
    ],
)
def test_games_that_cannot_be_played(change: tuple[str, str], message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        list(steps(parse_game(LINE.replace(*change))))
