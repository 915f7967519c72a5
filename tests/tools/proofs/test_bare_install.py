"""The parts of `tools/proofs/bare_install.py` that need no bare Debian."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tools.common import ROOT
from tools.proofs import bare_install
from tools.proofs.bare_install import (
    WAYS,
    BareRoot,
    StepError,
    dockerfile_steps,
    follow_advice,
    image_script,
)

DOCKERFILE = (ROOT / "Dockerfile").read_text()
IGNORED = (ROOT / ".dockerignore").read_text()


def test_lines_are_joined_and_comments_left_out() -> None:
    text = "# one\nFROM a AS b\nRUN x \\\n    # two\n    && y\n\nENV A=1 \\\n    B=2\n"
    assert list(dockerfile_steps(text)) == [
        ("FROM", "a AS b"),
        ("RUN", "x && y"),
        ("ENV", "A=1 B=2"),
    ]


def test_every_instruction_of_the_dockerfile_is_known() -> None:
    known = {
        "ARG",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "FROM",
        "LABEL",
        "RUN",
        "USER",
        "VOLUME",
        "WORKDIR",
    }
    assert {name for name, _ in dockerfile_steps(DOCKERFILE)} <= known


def test_the_script_is_one_that_a_shell_reads() -> None:
    script = image_script(DOCKERFILE, IGNORED)
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    assert "setpriv --reuid=obscuro" in script and "obscuro warmup" in script


def test_the_context_has_what_a_build_of_the_package_needs() -> None:
    script = image_script(DOCKERFILE, IGNORED)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        assert f"cp /srv/obscuro/{name} /tmp/obscuro" in script
    assert "cp -r /srv/obscuro/obscuro/. /tmp/obscuro/obscuro" in script


def test_the_image_runs_as_another_user_and_names_its_base_once() -> None:
    steps = list(dockerfile_steps(DOCKERFILE))
    assert [words for name, words in steps if name == "USER"] == ["obscuro"]
    assert {words.split()[0] for name, words in steps if name == "FROM"} == {"${BASE}"}


def test_the_image_is_compiled_for_no_particular_machine() -> None:
    (settings,) = (words for name, words in dockerfile_steps(DOCKERFILE) if name == "ENV")
    assert 'NUMBA_CPU_NAME=$CPU NUMBA_CPU_FEATURES=""' in settings


def test_the_pages_have_the_commands_of_each_way() -> None:
    page = (ROOT / "docs/install.md").read_text()
    for words in ("make install", "pipx install", "uv tool install", "docker build"):
        assert re.search(rf"^{words}", page, re.M)
    assert {"make", "pipx", "uv", "advice"} == {way.name for way in WAYS}


class Reported:
    """A root in which `doctor` reports these findings, one list after the other."""

    def __init__(self, *reports: Sequence[dict[str, str]]) -> None:
        self.reports = list(reports)
        self.ran: list[str] = []

    def run(self, script: str, *, user: str = "root") -> str:
        if "doctor" in script:
            return json.dumps({"findings": self.reports.pop(0)})
        self.ran.append(script)
        return ""


def finding(level: str, subject: str, run: str) -> dict[str, Any]:
    return {"level": level, "subject": subject, "run": run, "advice": "words"}


def test_advice_is_followed_until_all_is_well() -> None:
    root = Reported(
        [finding("missing", "numba", "get numba"), finding("note", "extra web", "get web")],
        [finding("hint", "Stockfish", "get stockfish"), finding("ok", "numba", "")],
        [finding("note", "extra web", "get web"), finding("note", "extra zs21", "get zs21")],
    )
    follow_advice(cast(BareRoot, root), WAYS[-1])
    assert root.ran == ["get numba", "get stockfish", "get web"]


def test_advice_that_does_not_help_or_is_no_command_is_an_error() -> None:
    same = [finding("hint", "Stockfish", "get stockfish")]
    with pytest.raises(StepError, match="does not end"):
        follow_advice(cast(BareRoot, Reported(*[same] * bare_install.MOST_ADVICE)), WAYS[-1])
    with pytest.raises(StepError, match="no command mends Stockfish: words"):
        follow_advice(cast(BareRoot, Reported([finding("hint", "Stockfish", "")])), WAYS[-1])


def test_without_debootstrap_the_exit_code_is_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bare_install, "lack", lambda: "needs debootstrap")
    assert bare_install.main([]) == 2
    assert "needs debootstrap" in capsys.readouterr().err


def test_a_users_command_runs_within_the_root(tmp_path: Path) -> None:
    command = BareRoot(tmp_path).command("true", "obscuro")
    assert command[-1].endswith("sh -ec true") and str(tmp_path) in command
