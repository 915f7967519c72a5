"""Write the JSON Schema of `obscuro analyse` from the types of its messages.

    python -m tools.record.analysis_schema

The types are in `obscuro.client.analysis_messages`. Change `SCHEMA` there if a program that knows
the old form could misread the new one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from obscuro.client.analysis_messages import analysis_schema
from tools.common import ROOT, given, tool_parser

FILE = ROOT / "obscuro" / "client" / "analysis_schema.json"


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    return tool_parser("tools.record.analysis_schema", __doc__, stores=False)


def main(words: Sequence[str] | None = None) -> int:
    """Write the file; returns the exit code."""
    make_parser().parse_args(given(words))
    FILE.write_text(json.dumps(analysis_schema(), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
