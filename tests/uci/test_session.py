"""Dialogues with the front end, on a fake Player."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import chess
import pytest

from obscuro.engine.knowledge import GameError
from obscuro.engine.options import OPTIONS
from obscuro.engine.player_kind import OBSCURO
from obscuro.engine.report import GoLimits
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci import uci
from obscuro.uci.printing import COMMANDS
from obscuro.uci.uci import run
from tests.hanging import HANG_SECONDS
from tests.uci.dialogue import Fakes, InProcess
from tests.uci.games import FENS, START, look_alikes, random_moves, turns_of
from tests.uci.test_printing import INFO

ERROR = "info string error "
INFO_LINES = [
    r"info depth 11 ",
    r"info string belief 17 ",
    "info string policy ",
    "info string play ",
]
COMPARED = [
    r"info string compare e2e4 value -0\.2500 policy 0\.0000 nodes 0$",
    r"info string compare d2d4 value 0\.5000 policy 1\.0000 nodes 12$",
    r"info string because fen 8/8 w - - share 0\.75 e2e4 -1\.0000 d2d4 0\.5000$",
]
_SQUARES = r"(?: [0-9.]+){64}$"
MARGINALS = [
    rf"info string marginals even {piece}{_SQUARES}"
    for piece in ("any", "pawn", "knight", "bishop", "rook", "queen", "king")
]
COVERED = "info string coverage belief true infoset true expanded false weight 0.25$"
BEST = [*INFO_LINES, "bestmove [a-h]"]


@pytest.fixture
def fakes() -> Fakes:
    return Fakes()


@pytest.fixture
def talk(fakes: Fakes) -> Iterator[InProcess]:
    with InProcess(fakes) as dialogue:
        yield dialogue
        dialogue.leave()
        assert dialogue.result == 0
        assert dialogue.exit_codes == []
    assert fakes.closed == fakes.made


# Each line of the input with what must be said to it, as regular expressions for whole answers.
DIALOGUES: dict[str, list[tuple[str, list[str]]]] = {
    "unknown commands": [
        ("hello", [ERROR + "unknown command hello$"]),
        ("hello  big world", [ERROR + "unknown command hello  big world$"]),
        ("UCI", [ERROR + "unknown command UCI$"]),
        ("\0\0", [ERROR + r"unknown command \?\?$"]),
        ("x" * 10_000, [ERROR + "unknown command x{200,300}"]),
        ("", []),
        ("   \t ", []),
    ],
    "nothing to stop": [("stop", []), ("ponderhit", []), ("stop", [])],
    "without effect": [("debug on", []), ("debug off", []), ("register later", [])],
    "ucinewgame": [("ucinewgame", []), ("ucinewgame", [])],
    "options": [
        ("setoption name Threads value 2", []),
        ("setoption name threads value 1", []),
        ("setoption name MOVE OVERHEAD value 100", []),
        ("setoption name UCI_Variant value fogofwar", []),
        ("setoption name UCI_Variant value chess", [ERROR + "UCI_Variant must be one of"]),
        ("setoption name Threads value 0", [ERROR + "Threads must be between"]),
        ("setoption name Threads value x", [ERROR + "Threads must be a whole number"]),
        ("setoption name Threads value " + "9" * 5000, [ERROR + "Threads must be a whole number"]),
        ("setoption name Threads", [ERROR + "Threads must be a whole number"]),
        (
            "setoption name Search value purification=maybe",
            [ERROR + "Search: purification must be"],
        ),
        ("setoption name Clear Hash", [ERROR + "no such option: 'Clear Hash'"]),
        ("setoption", [ERROR + "setoption: name"]),
        ("setoption Threads 4", [ERROR + "setoption: name"]),
        ("setoption name Stockfish value a\0b", [ERROR + "setoption"]),
    ],
    "bad positions": [
        ("position", [ERROR + "position: startpos or fen must follow$"]),
        ("position e2e4", [ERROR + "position: startpos or fen must follow, not 'e2e4'"]),
        ("position startpos moves e2e5", [ERROR + "illegal move 'e2e5'"]),
        ("position startpos moves e2e4 e2e4", [ERROR + "illegal move 'e2e4'"]),
        ("position startpos moves 0000", [ERROR + "illegal move '0000'"]),
        ("position fen", [ERROR + "bad FEN"]),
        ("position fen garbage", [ERROR + "bad FEN"]),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", [ERROR + "bad FEN, white has no king"]),
        (
            "position fen kkkkkkkk/kk6/8/8/8/8/8/K7 w - - 0 1",
            [ERROR + "bad FEN, black has 10 kings"],
        ),
        ("position fog", [ERROR + "position fog: white or black must follow"]),
        ("position fog white startpos turns 8/8", [ERROR + "a move of white must come"]),
        ("position fog white startpos turns e2e4 -", []),
        ("position fog black startpos turns " + "/" * 7, [ERROR + "rank 8 has 0 squares"]),
    ],
    "bad searches": [
        ("go nodes", [ERROR + "go: nodes needs a number"]),
        ("go nodes x", [ERROR + "go: nodes must be a whole number"]),
        ("go nodes 0", [ERROR + "go: nodes must be at least 1"]),
        ("go movetime 1e3", [ERROR + "go: movetime must be a whole number"]),
        ("go wtime " + "9" * 5000, [ERROR + "go: wtime must be a whole number"]),
    ],
    "searches": [
        ("go nodes 100", BEST),
        ("position startpos moves e2e4", []),
        ("go movetime 5", [*INFO_LINES, "bestmove [a-h][78]"]),
        ("go quickly nodes 1", ["info string warning go: quickly is not supported", *BEST]),
    ],
    "finished games": [
        ("position startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", []),
        ("go nodes 5", [r"bestmove \(none\)$"]),
        ("position fen 4k3/8/8/8/8/8/8/4RK2 w - - 0 1 moves e1e8", []),
        ("go nodes 5", ["info depth 0 score mate 0$", r"bestmove \(none\)$"]),
        ("go movetime 1", ["info depth 0 score mate 0$", r"bestmove \(none\)$"]),
        ("belief 5", ["info string belief size 0 exact true$"]),
        ("d", ["8  "] + [".*"] * 8 + ["side black, king captured$", "fog fen "]),
        ("position fen k7/8/8/8/1p6/pPp5/PRP5/KB6 w - - 0 1", []),
        ("go nodes 5", [r"bestmove \(none\)$"]),
    ],
    "the other side's turn": [
        ("position fog white startpos turns e2e4 -", []),
        ("go nodes 5", [ERROR + "go: it is not white's turn", r"bestmove \(none\)$"]),
    ],
    "looking inside": [
        (
            "belief",
            ["info string belief size 3 exact false$"] + ["info string belief fen [abc] "] * 3,
        ),
        ("belief 1", ["info string belief size 3 exact false$", "info string belief fen a w - -$"]),
        ("belief 0", ["info string belief size 3 exact false$"]),
        ("belief x", [ERROR + "belief: must be a whole number"]),
        ("d", ["8  "] + [".*"] * 8 + ["side white, to move$", "fog fen ", "belief size 3 exact"]),
    ],
    "coverage": [
        (f"coverage {START}", [ERROR + "coverage: there is no search to ask about$"]),
        ("go nodes 1", BEST),
        (f"coverage {START}", [COVERED]),
        (f"coverage {START[:-4]}", [COVERED]),
        ("position startpos moves e2e4", []),
        (f"coverage {START}", [COVERED]),
        ("coverage", [ERROR + "bad FEN"]),
        ("coverage 8/8/8/8/8/8/8/K7 w - -", [ERROR + "bad FEN, black has no king"]),
        ("ucinewgame", []),
        (f"coverage {START}", [ERROR + "coverage: there is no search to ask about$"]),
    ],
    "marginals": [
        ("marginals", MARGINALS),
        ("position fog white startpos turns", []),
        ("marginals", MARGINALS),
        ("position fen 8/8/8/8/8/8/8/K1k5 b - - 0 1 moves c1b1 a1b1", []),
        ("marginals", [ERROR + "marginals: the game is over: king captured$"]),
    ],
    "compare": [
        ("compare e2e4", [ERROR + "compare: there is no search to ask about$"]),
        ("go nodes 1", BEST),
        *((f"compare {moves}", COMPARED) for moves in ("e2e4", "e2e4 d2d4")),
        ("position startpos moves e2e4", []),
        ("compare e2e4", COMPARED),
        ("compare", [ERROR + "compare: one or two moves must follow$"]),
        ("compare e2e4 d2d4 c2c4", [ERROR + "compare: one or two moves must follow$"]),
        ("compare e4", [ERROR + "compare: 'e4' is not a move, such as e2e4 or e7e8q$"]),
        ("ucinewgame", []),
        ("compare e2e4", [ERROR + "compare: there is no search to ask about$"]),
    ],
    "uci and help": [
        (
            "uci",
            [
                "id name Obscuro",
                "id author ",
                "info string capabilities position-fog coverage compare marginals$",
            ]
            + ["option name "] * len(OPTIONS)
            + ["uciok$"],
        ),
        ("help", ["info string "] * len(COMMANDS)),
    ],
}


@pytest.mark.parametrize("name", DIALOGUES)
def test_dialogue(name: str, talk: InProcess) -> None:
    for line, answers in DIALOGUES[name]:
        said = talk.ask(line)
        if line.startswith("go") and "bestmove" in answers[-1] and "bestmove" not in str(said):
            said += talk.until("bestmove")  # `isready` is answered in mid-search
        assert len(said) == len(answers), f"{line[:50]!r}: {said}"
        for answer, pattern in zip(said, answers, strict=True):
            assert re.match(pattern, answer), f"{line[:50]!r}: {answer!r} is not {pattern!r}"


# -- searching --------------------------------------------------------------------------------


def test_go_before_any_position_plays_from_the_start(fakes: Fakes, talk: InProcess) -> None:
    talk.say("go nodes 10")
    talk.until("bestmove")
    assert fakes.told() == [("new_game", 0, f"{START[:-4]}")]


def test_limits_are_passed_on(fakes: Fakes, talk: InProcess) -> None:
    talk.ask()  # it is ready
    talk.say("go wtime 1000 btime 2000 winc 3 binc 4 movestogo 5 nodes 6")
    talk.until("bestmove")
    (limits,) = fakes.searches()
    assert limits == GoLimits(limits.received, 1000, 2000, 3, 4, 5, None, 6)
    assert limits.received > 0


def test_infinite_says_bestmove_at_stop_and_not_before(fakes: Fakes, talk: InProcess) -> None:
    fakes.early = True  # a forced move, say
    assert not any("bestmove" in line for line in talk.ask("go infinite") + talk.ask("go nodes x"))
    talk.say("stop")
    talk.until("bestmove")
    assert not talk.ask("stop")


def test_infinite_in_a_finished_game_waits_as_well(talk: InProcess) -> None:
    assert talk.ask("position fen 4k3/8/8/8/8/8/8/4K3 w - - 100 9", "go infinite") == []
    talk.say("stop")
    talk.until(r"bestmove \(none\)")


def test_without_a_limit_it_searches_until_stop(talk: InProcess) -> None:
    talk.say("go")
    talk.until("info string play")
    assert talk.ask() == []
    talk.say("stop")
    talk.until("bestmove")


def test_isready_is_answered_in_mid_search(talk: InProcess) -> None:
    talk.say("go infinite")
    talk.until("info string play")
    assert talk.ask() == []
    talk.say("stop")
    talk.until("bestmove")


def test_isready_waits_where_the_engine_still_loads(fakes: Fakes) -> None:
    fakes.hold = threading.Event()
    with InProcess(fakes) as talk:
        talk.say("go infinite", "isready", "foo")
        assert talk.until(ERROR) == [ERROR + "unknown command foo"]
        fakes.hold.set()
        talk.until("readyok")
        talk.say("stop")
        talk.until("bestmove")
        talk.leave()


def test_pondering_goes_on_until_ponderhit(fakes: Fakes, talk: InProcess) -> None:
    fakes.early = True
    talk.say("go ponder wtime 1000 btime 1000")
    talk.until("info string play")
    assert talk.ask() == []
    talk.say("ponderhit")
    talk.until("bestmove")
    assert fakes.searches()[0].infinite


def test_the_clock_runs_from_ponderhit_on(talk: InProcess) -> None:
    talk.say("go ponder movetime 20")
    talk.until("info string play")
    talk.say("ponderhit")  # the fake searches until it is stopped
    talk.until("bestmove")


def test_pondering_ends_at_stop(talk: InProcess) -> None:
    talk.say("go ponder movetime 20")
    talk.until("info string play")
    talk.say("stop")
    talk.until("bestmove")
    assert talk.ask("ponderhit") == []


@pytest.mark.parametrize("go", ["go infinite", "go ponder movetime 9", "go", "go wtime 99999"])
def test_stop_is_answered_in_the_stead_of_a_late_search(
    go: str, fakes: Fakes, talk: InProcess
) -> None:
    """By what was reported last; nothing more is said of that search, and the next one is itself."""
    fakes.late = threading.Event()
    fakes.info = replace(INFO, play=[("b1c3", 1.0)])
    talk.say(go)
    talk.until("info string play")
    talk.say("stop")
    assert talk.until("bestmove") == ["bestmove b1c3"]
    talk.say("go nodes 5")
    fakes.late.set()
    fakes.late, fakes.move = None, "g1f3"
    after = talk.until("bestmove")
    assert after[-1] == "bestmove g1f3"
    assert len([line for line in after if line.startswith("info depth")]) == 1


def test_before_a_report_any_move_is_the_answer(fakes: Fakes, talk: InProcess) -> None:
    fakes.late, fakes.silent = threading.Event(), True
    talk.say("position fen 4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "go infinite", "stop")
    assert talk.until("bestmove") == ["bestmove e1e8"]  # any, but a king that can be captured is
    fakes.late.set()


def test_a_move_is_played_before_the_clock_runs_out(fakes: Fakes, talk: InProcess) -> None:
    fakes.late = threading.Event()
    fakes.info = replace(INFO, play=[("b1c3", 1.0)])
    begin = time.monotonic()
    talk.say("go wtime 400 btime 1")
    assert talk.until("bestmove")[-1] == "bestmove b1c3"
    assert time.monotonic() - begin > 0.35
    first, fakes.late = fakes.late, threading.Event()
    fakes.info = replace(INFO, play=[("b8c6", 1.0)])
    first.set()
    talk.say("position startpos moves e2e4", "go ponder wtime 1 btime 400")
    talk.until("info string play")
    talk.say("ponderhit")
    assert talk.until("bestmove") == ["bestmove b8c6"]
    fakes.late.set()


@pytest.mark.parametrize("before", ["", "ponder "])
def test_a_clock_may_show_any_time(talk: InProcess, before: str) -> None:
    longest = "9" * 15
    talk.say(f"go {before}wtime {longest} btime {longest} winc {longest}")
    talk.until("info string play")
    talk.ask("ponderhit")
    talk.say("stop")
    talk.until("bestmove")
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer) and thread.is_alive():  # else it has just begun
            thread.join(HANG_SECONDS)
    assert not any(line.startswith(ERROR) for line in [*talk.heard, *talk.ask()])


def test_depth_ends_a_search(talk: InProcess) -> None:
    talk.say("go depth 10")  # the fake says 10.7
    talk.until("bestmove")
    talk.say("go depth 11")
    assert talk.until("info string play")
    assert talk.ask() == []
    talk.say("stop")
    talk.until("bestmove")


@pytest.mark.parametrize(
    "line",
    [
        "position startpos moves e2e4",
        "position startpos",
        "ucinewgame",
        "setoption name Threads value 7",
        "setoption name UCI_Variant value fogofwar",
        "go nodes 5",
    ],
)
def test_what_changes_the_game_ends_a_search_first(line: str, talk: InProcess) -> None:
    talk.say("go infinite")
    talk.until("info string play")
    talk.say(line)
    talk.until("bestmove")
    if line.startswith("go"):
        talk.until("bestmove")
    said = talk.ask()
    assert said == []


@pytest.mark.parametrize("line", ["position startpos moves e2e5", "setoption name X", "go nodes x"])
def test_what_is_wrong_ends_no_search(line: str, talk: InProcess) -> None:
    talk.say("go infinite")
    talk.until("info string play")
    (said,) = talk.ask(line)
    assert said.startswith(ERROR)
    talk.say("stop")
    talk.until("bestmove")


def test_every_go_has_one_bestmove(talk: InProcess) -> None:
    talk.say(*["go nodes 5", "go infinite", "position startpos moves e2e4"] * 20, "stop", "stop")
    for _ in range(40):
        talk.until("bestmove")
    assert talk.ask() == []


def test_looking_inside_in_mid_search_waits_for_its_end(talk: InProcess) -> None:
    talk.say("go infinite")
    talk.until("info string play")
    assert talk.ask("belief 1") == []
    talk.say("stop")
    assert talk.until("info string belief fen")[0].startswith("bestmove")


def test_coverage_is_refused_in_mid_search(fakes: Fakes, talk: InProcess) -> None:
    talk.say("go infinite")
    talk.until("info string play")
    assert talk.ask(f"coverage {START}") == [ERROR + "coverage: a search is under way"]
    talk.say("stop")
    talk.until("bestmove")
    assert re.match(COVERED, talk.ask(f"coverage {START}")[0])


def test_a_question_about_coverage_tells_the_player_nothing(fakes: Fakes, talk: InProcess) -> None:
    talk.say("position startpos moves e2e4 e7e5", "go nodes 1")
    talk.until("bestmove")
    before = [call for call in fakes.calls if call[0] != "prepare"]
    talk.ask("coverage rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    after = [call for call in fakes.calls if call[0] != "prepare"]
    position = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -"
    assert after == [*before, ("coverage", position)]


def test_a_question_that_the_player_cannot_answer_leaves_it_as_it_is(
    fakes: Fakes, talk: InProcess
) -> None:
    talk.say("go nodes 1")
    talk.until("bestmove")
    fakes.coverage = GameError("the game has gone on since the last search")
    assert talk.ask(f"coverage {START}") == [
        ERROR + "coverage: the game has gone on since the last search"
    ]
    assert fakes.made == 1 and fakes.closed == 0


def test_compare_is_refused_in_mid_search(talk: InProcess) -> None:
    talk.say("go infinite")
    talk.until("info string play")
    assert talk.ask("compare e2e4") == [ERROR + "compare: a search is under way"]
    talk.say("stop")
    talk.until("bestmove")
    assert len(talk.ask("compare e2e4")) == len(COMPARED)


def test_a_player_without_a_tree_says_so_in_a_line(fakes: Fakes, talk: InProcess) -> None:
    talk.say("go nodes 1")
    talk.until("bestmove")
    fakes.comparison = None
    assert talk.ask("compare e2e4") == [ERROR + "compare: the player obscuro keeps no tree"]
    fakes.comparison = GameError("the last move needed no search")
    assert talk.ask("compare e2e4") == [ERROR + "compare: the last move needed no search"]
    assert fakes.made == 1 and fakes.closed == 0


# -- the game ---------------------------------------------------------------------------------


def expected_calls(side: chess.Color, moves: list[str], fen: str) -> list[tuple[object, ...]]:
    board = FogOfWarBoard(fen)
    calls: list[tuple[object, ...]] = [("new_game", int(not side), board.epd(en_passant="fen"))]
    for move in moves:
        mover = board.turn
        board.push_uci(move)
        seen = board.observation(side).text()
        calls.append(("own_move", move, seen) if mover == side else ("opponent_move", seen))
    return calls


@pytest.mark.parametrize("fen", FENS)
@pytest.mark.parametrize("plies", [8, 9])
def test_both_forms_tell_the_player_the_same(
    fen: str, plies: int, fakes: Fakes, talk: InProcess
) -> None:
    moves = random_moves(2, plies, fen)
    if len(moves) < plies:
        moves.pop()  # the one that ended the game
    board = chess.Board(fen)
    side = board.turn if len(moves) % 2 == 0 else not board.turn
    turns = " ".join(turns_of(side, moves, fen))
    expected = expected_calls(side, moves, fen)
    for position in (
        f"position fen {fen} moves {' '.join(moves)}",
        f"position fog {chess.COLOR_NAMES[side]} fen {fen} turns {turns}",
    ):
        fakes.calls.clear()
        talk.ask("ucinewgame", position)
        talk.say("go nodes 5")
        talk.until("bestmove")
        assert fakes.told() == expected


def test_games_that_look_the_same_tell_the_player_the_same(fakes: Fakes, talk: InProcess) -> None:
    told = []
    for moves in look_alikes(6):
        fakes.calls.clear()
        talk.say("ucinewgame", "position startpos moves " + " ".join(moves), "go nodes 5")
        talk.until("bestmove")
        told.append(fakes.told())
    assert told[0] == told[1]


def test_a_game_that_goes_on_is_told_on(fakes: Fakes, talk: InProcess) -> None:
    moves = random_moves(5, 8)
    expected = expected_calls(chess.WHITE, moves, START)
    for plies in (0, 2, 8):
        talk.say("position startpos moves " + " ".join(moves[:plies]), "go nodes 5")
        talk.until("bestmove")
    assert fakes.told() == expected
    talk.say("go nodes 5")  # and nothing where nothing is new
    talk.until("bestmove")
    assert fakes.told() == expected


@pytest.mark.parametrize("plies", [8, 6, 7])
def test_anything_else_starts_afresh(plies: int, fakes: Fakes, talk: InProcess) -> None:
    moves = random_moves(5, 8)
    talk.say("position startpos moves " + " ".join(moves), "go nodes 5")
    talk.until("bestmove")
    fakes.calls.clear()
    talk.say("position startpos moves " + " ".join(moves[:plies]), "go nodes 5")
    talk.until("bestmove")
    side = chess.WHITE if plies % 2 == 0 else chess.BLACK
    assert fakes.told() == expected_calls(side, moves[:plies], START)


def test_the_position_before_stays_in_force_after_an_error(fakes: Fakes, talk: InProcess) -> None:
    talk.say("position startpos moves e2e4", "position startpos moves e2e4 e7e4")
    talk.say("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "position fog white startpos turns e2e5")
    talk.say("go nodes 5")
    talk.until("bestmove")
    assert fakes.told() == expected_calls(chess.BLACK, ["e2e4"], START)


def test_ucinewgame_forgets(fakes: Fakes, talk: InProcess) -> None:
    talk.say("position startpos moves e2e4", "ucinewgame", "go nodes 5")
    talk.until("bestmove")
    assert fakes.told() == [("new_game", 0, START[:-4])]


# -- the engine -------------------------------------------------------------------------------


def test_isready_prepares_once(fakes: Fakes, talk: InProcess) -> None:
    talk.ask()
    talk.ask()
    assert fakes.calls == [("prepare",)]
    talk.ask("setoption name Threads value 3")
    assert fakes.calls == [("prepare",)] * 2
    talk.ask("setoption name Threads value 3")
    assert fakes.calls == [("prepare",)] * 2
    assert fakes.options[-1].integer("Threads") == 3
    assert fakes.made == 1


def test_options_set_before_are_those_the_player_is_made_with(
    fakes: Fakes, talk: InProcess
) -> None:
    talk.ask("setoption name evaluator value MATERIAL")
    assert fakes.options[0].text("Evaluator") == "material"


def test_wdl_is_shown_on_request(talk: InProcess) -> None:
    talk.say("setoption name UCI_ShowWDL value true", "go nodes 5")
    assert any(" wdl 578 94 328 " in line for line in talk.until("bestmove"))


def test_says_now_and_then_that_it_compiles(fakes: Fakes) -> None:
    fakes.hold = threading.Event()
    with InProcess(fakes, tick_seconds=0.001) as talk:
        talk.say("isready")
        for _ in range(3):
            talk.until("info string getting ready, ")
        fakes.hold.set()
        assert all(line.startswith("info string") for line in talk.until("readyok")[:-1])
        talk.leave()


NOT_SEARCHED = "info string warning still compiling; this move is played without a search$"


@pytest.mark.parametrize("before", [[], ["isready"]])
@pytest.mark.parametrize("go", ["go wtime 1 btime 1", "go wtime 4 btime 9 winc 5 binc 5"])
def test_a_clock_is_kept_while_it_compiles(fakes: Fakes, before: list[str], go: str) -> None:
    fakes.hold = threading.Event()
    with InProcess(fakes) as talk:
        talk.say(*before, go)
        assert len(talk.until(NOT_SEARCHED)) == 1
        talk.until("bestmove [a-h][12]")
        fakes.hold.set()
        talk.say(*["isready"] * (not before), "go nodes 5")
        assert talk.until("bestmove")[0] == "readyok"
        talk.leave()
    assert [call[0] for call in fakes.calls].count("prepare") == 1
    assert fakes.closed == fakes.made == 1


@pytest.mark.parametrize("before", [[], ["isready"]])
def test_the_time_of_a_move_begins_when_the_engine_is_ready(
    fakes: Fakes, before: list[str]
) -> None:
    fakes.hold = threading.Event()
    with InProcess(fakes, tick_seconds=0.001) as talk:
        asked = time.monotonic()
        talk.say(*before, "go movetime 70")
        for _ in range(3):
            talk.until("info string getting ready")
        released = time.monotonic()
        fakes.hold.set()
        talk.until("info depth")
        talk.until("bestmove")
        talk.say("go wtime 100000 btime 90000")
        talk.say("stop")
        talk.until("bestmove")
        talk.leave()
    first, second = fakes.searches()
    assert first.movetime == 70 and first.received >= released > asked
    assert (second.wtime, second.btime) == (100_000, 90_000)


def test_a_clock_runs_on_while_the_engine_gets_ready(fakes: Fakes) -> None:
    fakes.hold = threading.Event()
    fakes.early = True
    with InProcess(fakes, tick_seconds=0.001) as talk:
        talk.say("go wtime 100000 btime 90000")
        for _ in range(3):
            talk.until("info string getting ready")
        fakes.hold.set()
        talk.until("bestmove")
        talk.leave()
    (limits,) = fakes.searches()
    assert limits.wtime is not None and 50_000 < limits.wtime < 100_000


def test_a_search_without_a_clock_waits_for_the_compiler_but_not_after_stop(fakes: Fakes) -> None:
    fakes.hold = threading.Event()
    with InProcess(fakes, tick_seconds=0.001) as talk:
        talk.say("go nodes 5")
        for _ in range(3):
            talk.until("info string getting ready")
        talk.say("stop")
        talk.until(NOT_SEARCHED)
        talk.until("bestmove [a-h][12]")
        talk.say("setoption name Threads value 1", "go nodes 5")
        talk.until("info string getting ready")
        fakes.hold.set()
        talk.until("info depth")
        talk.until("bestmove")
        talk.leave()
    assert fakes.options[-1].integer("Threads") == 1


def test_what_fails_while_a_search_waits_no_more_is_said_later(fakes: Fakes) -> None:
    fakes.hold = threading.Event()
    with InProcess(fakes) as talk:
        talk.say("go wtime 1 btime 1")
        talk.until("bestmove [a-h][12]")
        fakes.prepare_error = RuntimeError("no room")
        fakes.hold.set()
        talk.say("isready")
        assert talk.until("readyok") == [
            "info string error getting ready failed, no room",
            "readyok",
        ]
        talk.say("go nodes 5")
        talk.until("info depth")
        talk.leave()


@pytest.mark.parametrize(
    "error", [RuntimeError("bro\nken"), ValueError("illegal"), MemoryError(), KeyError("x")]
)
def test_a_failing_search_is_one_line_and_a_legal_move(
    error: Exception, fakes: Fakes, talk: InProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    fakes.error = error
    talk.say("position startpos moves e2e4 e7e5", "go nodes 5")
    failure, best = talk.until("bestmove")
    assert failure.startswith(ERROR + "search failed, ")
    board = chess.Board()
    for move in ("e2e4", "e7e5"):
        board.push_uci(move)
    assert chess.Move.from_uci(best.split()[1]) in board.legal_moves
    # The next search has a new player, which is told the whole game.
    fakes.calls.clear()
    talk.say("go nodes 5")
    assert not talk.until("bestmove")[0].startswith(ERROR)
    assert len(fakes.told()) == 3
    assert fakes.made == 2
    assert capfd.readouterr() == ("", "")


def test_an_illegal_choice_is_not_played(fakes: Fakes, talk: InProcess) -> None:
    fakes.move = "e2e5"
    talk.say("go nodes 5")
    *_, failure, best = talk.until("bestmove")
    assert failure.startswith(ERROR + "search failed, the engine chose e2e5")
    assert best != "bestmove e2e5"


def test_a_failing_search_still_takes_the_king(fakes: Fakes, talk: InProcess) -> None:
    fakes.error = RuntimeError()
    talk.say("position fen 4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "go nodes 5")
    assert talk.until("bestmove")[-1] == "bestmove e1e8"


def test_a_player_that_cannot_be_made_is_one_line(talk: InProcess) -> None:
    def broken(options: object, warn: object) -> None:
        raise ImportError("no numba")

    with InProcess(broken) as dialogue:  # type: ignore[arg-type]
        assert dialogue.ask() == [ERROR + "getting ready failed, no numba"]
        dialogue.say("go nodes 5")
        failure, _ = dialogue.until("bestmove [a-h]")
        assert failure.endswith("no numba")
        assert dialogue.ask("belief") == [
            ERROR + "belief failed, no numba",
            ERROR + "getting ready failed, no numba",
        ]
        dialogue.leave()
        assert dialogue.result == 0


def test_details_of_a_failure_are_in_the_log(fakes: Fakes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    fakes.error = RuntimeError("broken")
    with InProcess(fakes, log=str(path)) as talk:
        talk.say("go nodes 5")
        talk.until("bestmove")
        talk.leave()
    text = path.read_text()
    assert " > go nodes 5\n" in text
    assert " ! Traceback" in text
    assert " < bestmove " in text


def test_a_log_that_cannot_be_written_is_a_warning(fakes: Fakes, tmp_path: Path) -> None:
    with InProcess(fakes, log=str(tmp_path / "none" / "log")) as talk:
        assert talk.until("")[0].startswith("info string warning no log is written")
        talk.leave()


# -- leaving ----------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["quit", None])
@pytest.mark.parametrize("before", ["go infinite", "go ponder", "isready", "d", ""])
def test_leaves_at_once_and_cleanly(line: str | None, before: str, fakes: Fakes) -> None:
    with InProcess(fakes) as talk:
        talk.say(before)
        if before.startswith("go"):
            talk.until("info string play")
        if line is not None:
            talk.say(line)
        else:
            talk.end_input()
        said = talk.rest()
        assert ("bestmove" in str(said)) == before.startswith("go")
        talk.leave()
        assert (talk.result, talk.exit_codes) == (0, [])
    assert fakes.closed == fakes.made


def test_leaves_in_the_middle_of_compiling(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uci, "QUIT_SECONDS", 0.0)
    fakes.hold = threading.Event()
    with InProcess(fakes, tick_seconds=0.001) as talk:
        talk.say("isready")
        talk.until("info string getting ready")
        talk.say("quit")
        talk.leave()
        assert talk.exit_codes == [0]
        fakes.hold.set()


def test_leaves_when_nobody_reads_any_more(fakes: Fakes) -> None:
    engine_reads, writing = os.pipe()
    reading, engine_writes = os.pipe()
    os.close(reading)
    os.write(writing, b"uci\ngo infinite\n")
    done: list[int] = []
    kind = replace(OBSCURO, make=fakes)
    thread = threading.Thread(
        target=lambda: done.append(run(engine_reads, engine_writes, kind=kind, leave=print))
    )
    thread.start()
    thread.join(HANG_SECONDS)
    assert done == [0]
    os.close(writing)
    os.close(engine_writes)


def test_lines_of_ten_megabytes_and_bytes_that_are_no_text(talk: InProcess) -> None:
    for data in (
        b"x" * 10_000_000,
        b"position startpos moves " + b"e2e4 " * 2_000_000,
        b"position fen " + b"\xff" * 1_000_000,
        b"position fog white startpos turns " + b"/" * 1_000_000,
        b"setoption name Threads value " + b"9" * 1_000_000,
        b"go nodes " + b"9" * 1_000_000,
        b"\x00" * 100_000,
        bytes(range(256)).replace(b"\n", b""),
    ):
        talk.send(data + b"\n")
        (said,) = talk.ask()
        assert said.startswith(ERROR)
        assert len(said) < 400
