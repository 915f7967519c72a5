"""Our JavaScript is typed by JSDoc: TypeScript's checker finds no fault in it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
CHECKER = ROOT / ".venv" / "browser_parts" / "node_modules" / ".bin" / "tsc"
PLACES = ("obscuro/viewer/web", "obscuro/web/static")


def faults(project: Path) -> list[str]:
    """What the checker says of a project, a line each."""
    if not CHECKER.exists():
        pytest.skip("no type checker for JavaScript; run: engine_bin/install_browser_parts --dev")
    command = [CHECKER, "--project", project, "--pretty", "false"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return result.stdout.splitlines()


def test_all_modules_are_typed() -> None:
    assert faults(FOLDER) == []


def test_the_checker_finds_a_fault(tmp_path: Path) -> None:
    (tmp_path / "wrong.js").write_text('/** @type {number} */\nexport const wrong = "text";\n')
    options = json.loads((FOLDER / "tsconfig.json").read_text())["compilerOptions"]
    settings = {"compilerOptions": {**options, "paths": {}}, "include": ["*.js"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings))
    (found,) = faults(tmp_path)
    assert "wrong.js(2,14)" in found and "TS2322" in found


def test_module_names_are_unique() -> None:
    names = [path.name for place in PLACES for path in (ROOT / place).glob("*.js")]
    assert names and len(names) == len(set(names))
