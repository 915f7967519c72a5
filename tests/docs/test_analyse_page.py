"""The page of `obscuro analyse`: its messages fit the schema, and come out as they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from obscuro.cli.grammar.service_commands import ANALYSIS_QUEUE
from obscuro.client import analysis_messages
from obscuro.client.analysis_messages import SCHEMA, AnalysisAnswer, AnalysisQuery
from obscuro.queries.analysis_service import QUEUE_BYTES
from obscuro.queries.query_reader import BOUNDED_OPTIONS, NODES_MOVETIME, SERVICE_OPTIONS
from obscuro.uci.channel import LONGEST_LINE
from tests.docs.pages import page
from tests.queries.answers import ANSWERS, REQUESTS, answers_to

PAGE = page("docs/analyse.md")
TEXT = " ".join(PAGE.text.split())
Message = dict[str, Any]


def messages() -> Iterator[list[Message]]:
    """Yield the messages of each block of JSON, which may be spread over lines."""
    decoder = json.JSONDecoder()
    for block in PAGE.blocks:
        found, text = [], block.text.strip()
        while block.language == "json" and text:
            message, end = decoder.raw_decode(text)
            found.append(message)
            text = text[end:].lstrip()
        if found:
            yield found


def timeless(message: Any) -> Any:
    """Return a message without what differs each time: times, versions and sizes of the service."""
    if isinstance(message, dict):
        return {
            name: timeless(value)
            for name, value in message.items()
            if name not in ("milliseconds", "version", "workers")
        }
    return [timeless(each) for each in message] if isinstance(message, list) else message


def test_the_messages_of_the_page_come_out_as_they_are_written() -> None:
    blocks = list(messages())
    requests, answers = blocks[::2], blocks[1::2]
    assert len(requests) == len(answers) == 3
    for each in requests:
        for request in each:
            if request["id"] not in ("g3", "g2"):  # they show errors
                REQUESTS.validate(request)
    for each in answers:
        for answer in each:
            ANSWERS.validate(answer)
    for asked, written in zip(requests, answers, strict=True):
        found, code = answers_to(asked, "--workers", "1")
        assert code == 0
        assert timeless(found) == timeless(written)


def fields_in(heading: str) -> list[str]:
    """Return the names in the first column of the first table below a heading."""
    _, _, rest = PAGE.text.partition(f"## {heading}\n")
    rows = re.findall(r"^\| (`.*?) \|", rest.partition("\n## ")[0], re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_page_names_every_field_and_every_type() -> None:
    assert [name for name in fields_in("Queries") if name in AnalysisQuery.__struct_fields__] == [
        *AnalysisQuery.__struct_fields__
    ]
    types = [kind.__struct_config__.tag for kind in AnalysisAnswer.__args__]
    assert [name for name in fields_in("Answers") if name in types][: len(types)] == types
    spans = {name for _, span in PAGE.spans() for name in re.findall(r"\w+", span)}
    for kind in vars(analysis_messages).values():
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            assert set(kind.__struct_fields__) <= spans, kind.__name__


def test_the_page_tells_the_limits() -> None:
    for limit in ("MOST_NODES", "MOST_MOVETIME", "MOST_LISTED", "LONGEST_ID", "MOST_PRIORITY"):
        assert f"{getattr(analysis_messages, limit):,}" in TEXT, limit
    assert f"{LONGEST_LINE >> 20} MiB | is dropped" in TEXT
    assert f"{QUEUE_BYTES >> 20} MiB of them" in TEXT
    assert NODES_MOVETIME == 600_000  # ten minutes
    assert (
        f"`--queue N` | so many queries may be there that have not ended; {ANALYSIS_QUEUE:,}"
        in TEXT
    )
    assert f"the answer `version` is {SCHEMA}." in TEXT
    for option in (*SERVICE_OPTIONS, *BOUNDED_OPTIONS):
        assert f"`{option}`" in TEXT.partition("`options` can't set")[2][:400]
