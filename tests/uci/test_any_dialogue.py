"""Whatever is said in whatever order: one answer to each question, and never a hang."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.sizes import examples
from tests.uci.dialogue import Fakes, InProcess

SEARCHES = [
    "go nodes 5",
    "go movetime 1",
    "go",
    "go infinite",
    "go ponder movetime 1",
    "go depth 9",
]
OTHERS = [
    "isready",
    "stop",
    "ponderhit",
    "ucinewgame",
    "position startpos",
    "position startpos moves e2e4",
    "position startpos moves e2e4 e7e5",
    "position startpos moves e2e5",
    "position fog white startpos turns e2e4 -",
    "position fen 4k3/8/8/8/8/8/8/4RK2 w - - 0 1 moves e1e8",
    "setoption name Threads value 2",
    "setoption name Threads value 3",
    "setoption name Threads value x",
    "go nodes x",
    "d",
    "belief 1",
    "coverage rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "coverage 8/8",
    "compare e2e4",
    "compare e2e4 d2d4",
    "compare e2",
    "marginals",
    "uci",
    "help",
    "nonsense",
    "",
]
LINES = st.lists(st.one_of(st.sampled_from(SEARCHES), st.sampled_from(OTHERS)), max_size=25)
QUESTIONS = {"isready": "readyok", "uci": "uciok", "nonsense": "info string error unknown"}


@examples(1.5)
@given(LINES, st.booleans())
@example(["go infinite", "go infinite", "isready", "d", "stop", "ponderhit"], False)
@example(["go ponder movetime 1", "ponderhit", "isready", "go ponder", "isready"], True)
def test_every_question_has_one_answer(lines: list[str], early: bool) -> None:
    fakes = Fakes()
    fakes.early = early
    with InProcess(fakes) as talk:
        talk.say(*lines, "stop", "isready")
        said = talk.leave()
        assert talk.result == 0
        assert talk.exit_codes == []
    searches = [line for line in lines if line.startswith("go") and line != "go nodes x"]
    counts = {"bestmove": len(searches)}
    for question, answer in QUESTIONS.items():
        counts[answer] = lines.count(question) + (question == "isready")
    for answer, count in counts.items():
        assert sum(line.startswith(answer) for line in said) == count, answer
    assert not any(" failed" in line for line in said)
    assert fakes.closed == fakes.made
