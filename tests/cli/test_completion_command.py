"""The completion of words, tried in a real bash."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from obscuro.cli.main import main

BASH = shutil.which("bash")

# What readline does after a tab, by the function that the script names.
ASK = """
source "$1"; shift
words=("$@")
COMP_WORDS=("${words[@]}") COMP_CWORD=$(( ${#words[@]} - 1 ))
COMP_LINE="${words[*]}" COMP_POINT=${#COMP_LINE} COMPREPLY=()
set -- $(complete -p obscuro)
while [ "$1" != -F ]; do shift; done
"$2"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "obscuro"
    with pytest.MonkeyPatch.context() as patch, path.open("w") as file:
        patch.setattr("sys.stdout", file)
        assert main(["completion", "bash"]) == 0
    return path


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ma"], {"match"}),
        (["match", ""], {"obscuro", "random", "greedy", "depth1", "zs21"}),
        (["match", "obscuro", "gr"], {"greedy"}),
        (["match", "obscuro", "greedy", "--movetime-"], {"--movetime-a", "--movetime-b"}),
        (["uci", "--player", "z"], {"zs21"}),
        (["play", "--side", ""], {"white", "black", "random"}),
        (["bench", ""], {"belief", "search", "eval"}),
        (["show", "gam"], {"game.pgn"}),
    ],
)
def test_bash_completes(script: Path, tmp_path: Path, words: list[str], offered: set[str]) -> None:
    assert BASH is not None
    (tmp_path / "game.pgn").touch()
    done = subprocess.run(
        [BASH, "--norc", "-c", ASK, "bash", str(script), "obscuro", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_too(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    told = capsys.readouterr().out
    assert "greedy" in told and "--movetime" in told
