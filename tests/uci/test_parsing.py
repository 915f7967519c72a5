from __future__ import annotations

import chess
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obscuro.engine.options import OPTIONS
from obscuro.engine.report import GoLimits
from obscuro.uci.parsing import (
    Go,
    PositionArguments,
    ProtocolError,
    parse_belief,
    parse_go,
    parse_position,
    parse_setoption,
)

KEYWORDS = ["fog", "white", "black", "startpos", "fen", "moves", "turns", "infinite", "ponder"]
KEYWORDS += ["wtime", "nodes", "movetime", "depth", "searchmoves", "name", "value", "-", "/"]
KEYWORDS += ["e2e4", "0", "-1", "99999999999999999999", "1e3", "\0", "\ufffd"]
WORDS = st.one_of(st.sampled_from(KEYWORDS), st.text(max_size=6))
LINES = st.lists(WORDS, max_size=12).map(" ".join)


class TestPosition:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("startpos", PositionArguments(None, None, ())),
            ("startpos moves", PositionArguments(None, None, ())),
            ("  startpos   moves e2e4  e7e5 ", PositionArguments(None, None, ("e2e4", "e7e5"))),
            ("fen 8/8 w - - 0 1", PositionArguments(None, "8/8 w - - 0 1", ())),
            ("fen 8/8 w moves a2a3", PositionArguments(None, "8/8 w", ("a2a3",))),
            ("fog white startpos", PositionArguments(chess.WHITE, None, ())),
            ("fog black startpos turns */8 -", PositionArguments(chess.BLACK, None, ("*/8", "-"))),
            ("fog white fen x turns y", PositionArguments(chess.WHITE, "x", ("y",))),
        ],
    )
    def test_reads_both_forms(self, text: str, expected: PositionArguments) -> None:
        assert parse_position(text) == expected

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "e2e4",
            "moves e2e4",
            "startpos e2e4",
            "startpos turns e2e4",
            "fog",
            "fog startpos",
            "fog grey startpos",
            "fog white",
            "fog white startpos moves e2e4",
        ],
    )
    def test_says_what_is_missing(self, text: str) -> None:
        with pytest.raises(ProtocolError, match="must follow"):
            parse_position(text)

    @given(
        st.sampled_from([None, chess.WHITE, chess.BLACK]),
        st.sampled_from([None, "8/8/8/8/8/8/8/8 w - - 0 1"]),
        st.lists(st.sampled_from(["e2e4", "a7a8q", "********/8", "-"])),
    )
    def test_reads_back_what_it_stands_for(
        self, side: chess.Color | None, fen: str | None, tokens: list[str]
    ) -> None:
        words = [] if side is None else ["fog", chess.COLOR_NAMES[side]]
        words += ["startpos"] if fen is None else ["fen", fen]
        words += [*(["moves"] if side is None else ["turns"]), *tokens]
        assert parse_position(" ".join(words)) == PositionArguments(side, fen, tuple(tokens))


class TestGo:
    def test_reads_every_limit(self) -> None:
        text = "wtime 1 btime 2 winc 3 binc 4 movestogo 5 movetime 6 nodes 7 infinite"
        assert parse_go(text, 0.5).limits == GoLimits(0.5, 1, 2, 3, 4, 5, 6, 7, True)

    def test_nothing_said_is_no_limit(self) -> None:
        assert parse_go("", 2.0) == Go(GoLimits(2.0))

    def test_a_fallen_flag_is_an_empty_clock(self) -> None:
        limits = parse_go("wtime -250 btime -1", 0.0).limits
        assert (limits.wtime, limits.btime) == (0, 0)

    def test_what_is_not_supported_is_noted_and_not_in_the_way(self) -> None:
        go = parse_go("searchmoves e2e4 d2d4 mate 3 quickly nodes 5 depth 4 ponder", 0.0)
        assert go == Go(GoLimits(0.0, nodes=5), True, 4, ("searchmoves", "quickly", "mate"))

    @pytest.mark.parametrize("word", ["movetime", "nodes", "wtime", "winc", "movestogo", "depth"])
    @pytest.mark.parametrize(
        "number", ["", "x", "1.5", "1e3", "+1", "1_0", "٣", "9" * 16, "9" * 10_000, "0x10"]
    )
    def test_a_bad_number_is_an_error(self, word: str, number: str) -> None:
        with pytest.raises(ProtocolError, match=word):
            parse_go(f"{word} {number}", 0.0)

    @pytest.mark.parametrize("text", ["nodes 0", "nodes -5", "movetime -1", "winc -1", "depth 0"])
    def test_a_number_without_sense_is_an_error(self, text: str) -> None:
        with pytest.raises(ProtocolError, match="at least"):
            parse_go(text, 0.0)

    @given(
        st.dictionaries(
            st.sampled_from(["wtime", "btime", "winc", "binc", "movestogo", "movetime", "nodes"]),
            st.integers(1, 10**15 - 1),
        ),
        st.booleans(),
        st.booleans(),
    )
    def test_reads_back_what_it_stands_for(
        self, numbers: dict[str, int], infinite: bool, ponder: bool
    ) -> None:
        words = [f"{name} {number}" for name, number in numbers.items()]
        words += ["infinite"] * infinite + ["ponder"] * ponder
        expected = Go(GoLimits(1.0, infinite=infinite, **numbers), ponder)
        assert parse_go(" ".join(words), 1.0) == expected


class TestSetoption:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("name Threads value 4", ("Threads", "4")),
            ("name Move Overhead value 30", ("Move Overhead", "30")),
            ("name Stockfish value /opt/my  fish/sf", ("Stockfish", "/opt/my  fish/sf")),
            ("name Stockfish value", ("Stockfish", "")),
            ("name Stockfish", ("Stockfish", "")),
            ("name A value B value C", ("A", "B value C")),
            ("  name   Hash   value   64  ", ("Hash", "64")),
        ],
    )
    def test_reads_name_and_value(self, text: str, expected: tuple[str, str]) -> None:
        assert parse_setoption(text) == expected

    @pytest.mark.parametrize(
        "text", ["", "Threads 4", "name", "name ", "value 3", "name A value \0"]
    )
    def test_says_what_is_missing(self, text: str) -> None:
        with pytest.raises(ProtocolError):
            parse_setoption(text)

    @given(
        st.sampled_from([option.name for option in OPTIONS]),
        st.text(st.characters(categories=["L", "N", "P"]), min_size=1),
    )
    def test_reads_back_what_it_stands_for(self, name: str, value: str) -> None:
        assert parse_setoption(f"name {name} value {value}") == (name, value)


class TestBelief:
    def test_reads_a_number(self) -> None:
        assert parse_belief("20000") == 20_000
        assert parse_belief("0") == 0
        assert parse_belief("") > 0

    @pytest.mark.parametrize("text", ["x", "-1", "1.5", "1 2", "9" * 5000])
    def test_a_bad_number_is_an_error(self, text: str) -> None:
        with pytest.raises(ProtocolError):
            parse_belief(text)


@given(LINES)
@example("fog white fen")
@example("nodes " + "9" * 5000)
@example("name  value ")
def test_raises_nothing_but_its_own_error(text: str) -> None:
    for parse in (
        parse_position,
        lambda text: parse_go(text, 0.0),
        parse_setoption,
        parse_belief,
    ):
        try:
            parse(text)
        except ProtocolError as error:
            assert str(error)
