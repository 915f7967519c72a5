"""An engine looks at a game that is over, and what becomes of it when the engine fails."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import chess
import chess.pgn
import pytest

from obscuro.client.engine import engine_command
from obscuro.client.limit import Limit
from obscuro.client.uci_process import UciProcess
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import account_position
from obscuro.viewer.analysis import AnalysisError, Analyst, short_limit
from obscuro.viewer.document import ShownAdvice
from obscuro.viewer.make_document import make_document, turns_to_explain, with_advice
from tests.sizes import quick_among
from tests.viewer.recorded import SHORT_GAME, game_of

QUICK = Limit(nodes=1000)
SOLVED = "posterior_draw=0,posterior_prior=0,iterations_per_expansion=4,edges_per_expansion=120000"
"""Keys by which a small search holds the queen on h5 possible, and solves what it has."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def game(tmp_path: Path) -> chess.pgn.Game:
    return game_of(SHORT_GAME, tmp_path)


@pytest.fixture
def analyst() -> Iterator[Callable[..., Analyst]]:
    """Makes analysts with an engine that does as it is told; none of them outlives the test."""
    made: list[Analyst] = []

    def make(*mode: str, warnings: list[str] | None = None) -> Analyst:
        command = [sys.executable, "-m", "tests.viewer.analysing_engine", *mode]
        heard = [] if warnings is None else warnings
        made.append(Analyst(command, limit=QUICK, on_warning=heard.append))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(scope="module")
def of_the_engine(tmp_path_factory: pytest.TempPathFactory) -> list[ShownAdvice | None]:
    """The advice of Obscuro itself for the short game."""
    options = {"Threads": "1", "Hash": "16", "Evaluator": "material", "Search": SOLVED}
    with Analyst(engine_command(), limit=Limit(nodes=3000), options=options) as obscuro:
        return obscuro.analyse(game_of(SHORT_GAME, tmp_path_factory.mktemp("games")))


def test_the_engine_advises_both_sides_by_what_they_knew(
    of_the_engine: list[ShownAdvice | None],
) -> None:
    e4, f6, _, a6, capture = of_the_engine
    assert e4 is not None and e4["by"].startswith("Obscuro ")
    assert (e4["belief"], e4["belief_exact"]) == (1, True)
    assert e4["coverage"] == {"belief": True, "infoset": True, "expanded": True, "weight": 1.0}
    assert sum(option["share"] for option in e4["policy"]) == pytest.approx(1, abs=0.01)
    assert e4["nodes"] is not None and e4["nodes"] > 1000 and e4["seconds"] > 0
    assert f6 is not None and f6["belief"] == 20  # Black has seen nothing of White's first move
    assert a6 is not None and a6["comparison"] is not None
    assert a6["comparison"]["better"] > a6["comparison"]["played"]
    assert capture is not None and (capture["uci"], capture["comparison"]) == ("h5e8", None)
    assert capture["pawns"] is not None and capture["pawns"] > 10


def test_the_move_that_loses_the_king_is_marked_with_what_made_it_so(
    game: chess.pgn.Game, of_the_engine: list[ShownAdvice | None]
) -> None:
    document = make_document(game, 1000, advice=of_the_engine, analysis={"by": "A", "limit": "B"})
    assert document["analysis"] == {"by": "A", "limit": "B"}
    assert [move["advice"] for move in document["moves"]] == of_the_engine
    a6 = document["moves"][3]
    comparison = of_the_engine[3]["comparison"] if of_the_engine[3] else None
    assert comparison is not None
    assert a6["loss"] == {
        "before": comparison["better"],
        "after": comparison["played"],
        "analysed": True,
    }
    assert (a6["pawns"], a6["policy"][0]["uci"]) == (0.0, "a7a6")  # the player's own words stay
    reason = comparison["because"][0]
    queen = chess.BaseBoard(reason["placement"]).piece_at(chess.H5)
    assert queen == chess.Piece.from_symbol("Q")
    assert 0 < reason["share"] <= 1 and reason["played"] < reason["better"]


def test_advice_may_come_into_a_document_that_exists(
    game: chess.pgn.Game, of_the_engine: list[ShownAdvice | None]
) -> None:
    analysis = {"by": "A", "limit": "B"}
    at_once = make_document(game, 1000, advice=of_the_engine, analysis=analysis)
    plain = make_document(game, 1000)
    assert with_advice(plain, game, of_the_engine, analysis) == at_once
    assert with_advice(at_once, game, [], None) == plain == make_document(game, 1000)


def test_a_part_of_an_analysis_marks_the_rest_by_the_players_words(
    game: chess.pgn.Game, of_the_engine: list[ShownAdvice | None]
) -> None:
    moves = make_document(game, 1000, advice=of_the_engine[:2])["moves"]
    assert [move["advice"] is None for move in moves] == [False, False, True, True, True]
    assert moves[3]["loss"] == {"before": 0.5, "after": 0.0, "analysed": False}


def test_advice_on_one_position_is_what_a_player_would_do_there(
    game: chess.pgn.Game, analyst: Callable[..., Analyst]
) -> None:
    advice = analyst("never-dies").advise(game, 1)
    assert (advice["by"], advice["uci"], advice["san"]) == ("Analyst 1.0", "a7a5", "a5")
    assert advice["pawns"] == -0.31  # the engine's 31 centipawns are for Black
    assert (advice["belief"], advice["nodes"], advice["depth"]) == (2, 1000, 4.5)
    assert advice["coverage"] is not None and advice["coverage"]["weight"] == 0.25
    assert advice["comparison"] == {
        "played": 0.25,
        "played_nodes": 9,
        "better": 0.75,
        "better_nodes": 9,
        "uci": "a7a5",
        "san": "a5",
        "because": [
            {
                "placement": "4k3/8/8/8/8/8/8/4K3",
                "fen": "4k3/8/8/8/8/8/8/4K3 w - -",
                "true": False,
                "share": 0.25,
                "played": 0.25,
                "better": 0.75,
            }
        ],
    }


def test_advice_after_the_last_move_compares_nothing(
    tmp_path: Path, analyst: Callable[..., Analyst]
) -> None:
    resigned = game_of("1. e4 e5 0-1\n", tmp_path)
    advice = analyst("never-dies").advise(resigned, 2)
    assert advice["comparison"] is None and advice["uci"] == "a2a3"


@pytest.mark.parametrize(
    ("ply", "fault"), [(5, "the game is over"), (6, "no ply 6"), (-1, "no ply -1")]
)
def test_where_there_is_nothing_to_advise_a_line_says_so(
    game: chess.pgn.Game, analyst: Callable[..., Analyst], ply: int, fault: str
) -> None:
    with pytest.raises(AnalysisError, match=fault):
        analyst("never-dies").advise(game, ply)


def test_each_search_is_told_with_white_first(
    game: chess.pgn.Game, analyst: Callable[..., Analyst]
) -> None:
    calls: list[tuple[int, ShownAdvice | None]] = []
    found = analyst("never-dies").analyse(game, lambda ply, advice: calls.append((ply, advice)))
    assert [ply for ply, _ in calls] == [0, 2, 4, 1, 3]
    assert all(found[ply] is advice is not None for ply, advice in calls)


class Recorded(UciProcess):
    """A process that keeps what it was sent."""

    sent: ClassVar[list[str]] = []

    def send(self, line: str) -> None:
        self.sent.append(line)
        super().send(line)


def sent_to_the_engine(game: chess.pgn.Game, options: dict[str, str]) -> list[str]:
    """Return all lines that an engine gets in an analysis."""
    Recorded.sent.clear()
    command = [sys.executable, "-m", "tests.viewer.analysing_engine", "never-dies"]
    with Analyst(command, limit=QUICK, options=options, start=Recorded) as engine:
        engine.analyse(game)
    return list(Recorded.sent)


def test_the_engine_hears_what_its_side_saw_and_of_the_board_only_after_its_move(
    game: chess.pgn.Game,
) -> None:
    sent = sent_to_the_engine(game, {})
    assert "setoption name Seed value 1" in sent
    first = sent.index("position fog white startpos turns")
    words = [line.split()[0] for line in sent[first : first + 7]]
    assert words == [
        "position",
        "belief",
        "isready",
        "go",  # the same position again would be another game, without the last search's tree
        "coverage",
        "isready",
        "compare",
    ]
    told = [line for line in sent if line.startswith("position")]
    boards = {side: FogOfWarBoard() for side in chess.COLORS}
    accounts = {side: Account(board, side) for side, board in boards.items()}
    expected: dict[chess.Color, list[str]] = {chess.WHITE: [], chess.BLACK: []}
    for ply, move in enumerate(game.mainline_moves()):
        expected[ply % 2 == 0].append(account_position(accounts[ply % 2 == 0]))
        for side, board in boards.items():
            board.push(move)
            accounts[side].append(board)
    assert told == expected[chess.WHITE] + expected[chess.BLACK]


@pytest.mark.parametrize(
    ("result", "options", "rules"),
    [
        ("1-0", {}, {"loss"}),
        ("1/2-1/2", {}, {"draw"}),
        ("1/2-1/2", {"Stalemate": "loss"}, {"loss"}),
    ],
)
def test_the_engine_plays_by_the_games_rule_for_a_side_without_a_move(
    tmp_path: Path, result: str, options: dict[str, str], rules: set[str]
) -> None:
    start = '[FEN "6QQ/8/8/8/8/p1p5/ppPpK3/kn6 w - - 0 1"]\n'
    game = game_of(f'{start}[Result "{result}"]\n\n1. Kd1 {result}\n', tmp_path)
    sent = sent_to_the_engine(game, options)
    said = {line.split()[-1] for line in sent if line.startswith("setoption name Stalemate")}
    assert said == rules


def test_a_mistake_is_explained_by_a_short_search_and_one_from_the_true_position(
    game: chess.pgn.Game,
) -> None:
    Recorded.sent.clear()
    command = [sys.executable, "-m", "tests.viewer.analysing_engine", "never-dies"]
    done: list[int] = []
    with Analyst(command, limit=QUICK, start=Recorded) as engine:
        advice = engine.analyse(game)
        Recorded.sent.clear()
        found = engine.explain(game, advice, [1, 3], lambda: done.append(1))
    sent = Recorded.sent
    assert [line for line in sent if line.startswith("go")] == [
        *["go nodes 62"] * 2,  # by what Black knew, one sixteenth of 1,000
        *["go nodes 1000"] * 2,  # by all that there is to know
    ]
    fens = [line.split(" ", 4)[-1] for line in sent if line.startswith("position")]
    boards = [game.board()]
    for move in game.mainline_moves():
        boards.append(boards[-1].copy())
        boards[-1].push(move)
    assert boards[1].fen() in fens[-2] and boards[3].fen() in fens[-1]
    assert len(done) == 2
    assert [each is not None and each["why"] is not None for each in found] == [
        *(False, True, False, True, False)
    ]
    why = found[1]["why"] if found[1] else None
    assert why is not None
    assert (why["lost"], why["unknowable"], why["unthought"], why["chosen"]) == (0.5, 0, 0, 0.5)
    assert (why["held"], why["san"]) == ([True], "a5")
    assert [each["why"] for each in advice if each] == [None] * 5  # what was handed over stays


def test_a_short_look_is_a_sixteenth_of_the_limit() -> None:
    assert short_limit(Limit(nodes=160)) == Limit(nodes=10)
    assert short_limit(Limit(movetime=8, nodes=3)) == Limit(movetime=1, nodes=1)


def test_where_the_engine_fails_a_mistake_is_not_explained(
    game: chess.pgn.Game, analyst: Callable[..., Analyst]
) -> None:
    advice = analyst("never-dies").analyse(game)
    assert analyst("always-dies").explain(game, advice, [1, 3]) == advice
    cancel = threading.Event()
    cancel.set()
    assert analyst("never-dies").explain(game, advice, [1, 3], cancel=cancel) == advice


def test_the_engine_says_that_nobody_could_know_what_no_position_told(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The queen that takes the king stood on h5 in few of the positions that Black held possible."""
    game = game_of(SHORT_GAME, tmp_path_factory.mktemp("games"))
    options = {"Threads": "1", "Hash": "16", "Evaluator": "material", "Search": SOLVED}
    with Analyst(engine_command(), limit=Limit(nodes=3000), options=options) as obscuro:
        advice = obscuro.analyse(game)
        turns = turns_to_explain(game, advice)
        assert 3 in turns
        found = obscuro.explain(game, advice, turns)
    known, why = (found[3]["comparison"], found[3]["why"]) if found[3] else (None, None)
    assert known is not None and why is not None
    assert why["lost"] > 0.3 and why["lost"] == pytest.approx(
        why["unknowable"] + why["unthought"] + why["chosen"]
    )
    assert why["unthought"] + why["chosen"] == pytest.approx(known["better"] - known["played"])
    assert len(why["held"]) == len(known["because"])


def test_an_engine_that_dies_is_replaced(
    game: chess.pgn.Game, analyst: Callable[..., Analyst], tmp_path: Path
) -> None:
    flag, warnings = tmp_path / "die", list[str]()
    flag.touch()
    found = analyst("once-dies", str(flag), warnings=warnings).analyse(game)
    assert None not in found
    assert [text.split(" Analyst")[0] for text in warnings] == ["error at 1."]


@pytest.mark.parametrize(
    "mode", quick_among(["always-dies", "wrong", "deaf"], lambda mode: mode == "always-dies")
)
def test_where_the_engine_fails_twice_the_analysis_goes_on_without_it(
    game: chess.pgn.Game, analyst: Callable[..., Analyst], mode: str
) -> None:
    warnings: list[str] = []
    engine = analyst(mode, warnings=warnings)
    assert engine.analyse(game) == [None] * 5
    assert sum(text.startswith("error at ") for text in warnings) == 10
    with pytest.raises(AnalysisError, match="failed to search"):
        engine.advise(game, 0)


def test_an_analysis_that_is_cancelled_keeps_what_it_has(
    game: chess.pgn.Game, analyst: Callable[..., Analyst]
) -> None:
    cancel = threading.Event()
    found = analyst("never-dies").analyse(game, lambda ply, advice: cancel.set(), cancel)
    assert found[0] is not None and found[1:] == [None] * 4


def test_an_analyst_that_is_closed_ends_its_analysis(
    game: chess.pgn.Game, analyst: Callable[..., Analyst]
) -> None:
    engine = analyst("never-dies")
    found = engine.analyse(game, lambda ply, advice: engine.close())
    assert found[0] is not None and found[1:] == [None] * 4
    with pytest.raises(AnalysisError, match="can't start the engine: it was closed"):
        engine.analyse(game)


def test_an_engine_that_cannot_be_asked_is_refused(
    game: chess.pgn.Game, analyst: Callable[..., Analyst]
) -> None:
    with pytest.raises(
        AnalysisError, match=r"Analyst 1\.0 can't analyse: it has no capability com"
    ):
        analyst("blind").analyse(game)
    with pytest.raises(AnalysisError, match="can't start the engine: can't run no-such-program"):
        Analyst(["no-such-program"], limit=QUICK).advise(game, 0)
