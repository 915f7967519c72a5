"""Mistakes in the command line: one line, the exit code 2, and what may have been meant."""

from __future__ import annotations

import pytest

from obscuro.cli.main import main


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["demoo"], "did you mean demo?"),
        (["--lgo=x"], "did you mean --log?"),
        (["match"], "the following arguments are required: A, B"),
        (
            ["match", "a", "b", "--gamse", "3"],
            "obscuro match: unrecognized arguments: --gamse 3; did",
        ),
        (["match", "obscuro", "b", "c"], "unrecognized arguments: c (see"),
        (["match", "obscuro", "grredy"], "did you mean greedy?"),
        (["match", "obscuro", "random", "--option-a", "Hsah=1"], "did you mean Hash?"),
        (["match", "obscuro", "random", "--option-a", "Search=ta=6"], "did you mean tau?"),
        (["match", "obscuro", "random", "--option-a", "Evaluator=nneu"], "did you mean nnue?"),
        (["match", "obscuro", "random", "--option-a", "Hash"], "'Hash' is not NAME=VALUE"),
        (["match", "obscuro", "random", "--movetime", "5", "--tc", "6"], "give one of"),
        (["match", "obscuro", "random", "--openings", "/no/such"], "--openings: "),
        (["match", "obscuro", "random", "--sprt", "x"], "--sprt: "),
        (["match", "obscuro", "random", "--ray", "x"], "--ray"),
        (["match", "obscuro", "random", "--cores-per-game", "2"], "needs --ray"),
        (["match", "obscuro", "random", "--json", "/no/such/file"], "no file can be made there"),
        (["uci", "--player", "grredy"], "did you mean greedy?"),
        (["play", "--level", "99"], "'99' is not a level from 1 to 9"),
        (["play", "--tc", "soon"], "'soon' is not a clock"),
        (["play", "--tc", "60", "--movetime", "5"], "give one of --movetime and --tc"),
        (["play", "--fen", "8/8/8"], "--fen: bad FEN"),
        (["play", "--fen", "8/8/8/8/8/8/8/K7 w - -"], "--fen: bad FEN, black has no king"),
        (["play", "--option", "Thread=1"], "did you mean Threads?"),
        (["play", "--option", "Stalemate=draw"], "--stalemate"),
        (["bench", "serach"], "did you mean search?"),
        (["tournament"], "name a tournament file"),
        (["show", "x.pgn", "--option", "Hash=1"], "--analyse"),
        (["web", "--port", "99999"], "ports end at 65535"),
        (["web", "--option", "Ponder=true"], "does not set this option"),
        (["bridge", "--url", "x"], "--url x"),
        (["bridge"], "OBSCURO_BOT_TOKEN"),
        (["mistboard"], "OBSCURO_MISTBOARD_TOKEN"),
        (["completion", "basch"], "did you mean bash?"),
        (["doctor", "--jsno"], "did you mean --json?"),
    ],
)
def test_a_mistake_is_one_line_and_the_code_2(
    words: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OBSCURO_BOT_TOKEN", "OBSCURO_MISTBOARD_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    try:
        code = main(words)
    except SystemExit as leaving:
        assert isinstance(leaving.code, int)
        code = leaving.code
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert told in captured.err
    assert captured.err.count("\n") == 1 and captured.err.startswith("obscuro")


def test_the_help_of_match_lists_the_players(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["match", "--help"])
    assert "zs21     the agent of Zhang and Sandholm" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["tournament", "mistboard"])
def test_a_help_names_pages_by_where_they_are(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "obscuro.cli.suggesting_parser.page", lambda name: f"https://host.org/{name}"
    )
    with pytest.raises(SystemExit):
        main([command, "--help"])
    told = capsys.readouterr().out
    assert "https://host.org/" in told and "docs/" not in told
