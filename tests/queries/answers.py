"""What `obscuro analyse` answers, held against its JSON Schema line by line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from jsonschema import Draft202012Validator

from obscuro.cli.analyse_command import schema_text
from tests.docs.pages import ROOT
from tests.hanging import HANG_SECONDS

SCHEMA = json.loads(schema_text())
COMMAND = [sys.executable, "-m", "obscuro.cli.main", "analyse"]
QUICK = ("--option", "Evaluator=material", "--option", "Hash=16")
"""An engine of its own needs nothing installed, and little memory."""


def validator(name: str) -> Draft202012Validator:
    """Return what checks a `Request` or an `Answer`."""
    Draft202012Validator.check_schema(SCHEMA)
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


REQUESTS, ANSWERS = validator("Request"), validator("Answer")


def checked(line: str | bytes) -> dict[str, Any]:
    """Return an answer; fails if it does not fit the schema."""
    answer: dict[str, Any] = json.loads(line)
    ANSWERS.validate(answer)
    return answer


def answers_to(
    requests: Iterable[dict[str, Any] | str], *arguments: str
) -> tuple[list[dict[str, Any]], int]:
    """Send all requests to a process of its own, and end its input; return answers, exit code."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in requests]
    ended = subprocess.run(
        [*COMMAND, *QUICK, *arguments],
        input="\n".join(lines).encode(errors="surrogatepass"),
        stdout=subprocess.PIPE,
        cwd=ROOT,
        timeout=HANG_SECONDS,
        check=False,
    )
    return [checked(line) for line in ended.stdout.splitlines()], ended.returncode


def of_type(answers: Iterable[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the answers of a type."""
    return [answer for answer in answers if answer["type"] == kind]
