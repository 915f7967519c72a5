"""What a copy says of its packages and pages; and that nothing tells anyone to install `obscuro`."""

from __future__ import annotations

import email.message
import importlib.metadata
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import urllib.parse
from pathlib import Path

import pytest

from obscuro import installation
from obscuro.installation import DISTRIBUTION, how_to_add, install_command, page
from obscuro.players.roster import PLAYERS

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

_INSTALLS = re.compile(r"\b(?:install|inject|download|add)\b(?P<words>[^\n;&|)]*)")
_BARE = re.compile(r"""(?<![\w./-])["'`]?obscuro(?:\\?\[[\w,-]+\\?\])?["'`]?(?![\w/.-])""")
_EXTRA_OF_BARE = re.compile(r"(?<![\w./-])obscuro\\?\[[\w,{}-]+\\?\]")


def installs_another_program(line: str) -> bool:
    """Tell whether a line asks an index for `obscuro`, which is another program there."""
    if _EXTRA_OF_BARE.search(line):
        return True
    if not re.search(r"\b(?:pipx?|pip3|uv|uvx)\b", line):
        return False
    return any(_BARE.search(match["words"]) for match in _INSTALLS.finditer(line))


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("pip install 'obscuro[web]'", True),
        ("needs obscuro[cluster]", True),
        ("python -m pip install obscuro", True),
        ("pipx install obscuro", True),
        ("uv tool install 'obscuro[web,bridge]'", True),
        ("pip install 'obscuro-fow[web]'", False),
        ("pipx install dist/obscuro_fow-0.3.0-py3-none-any.whl", False),
        ("pip install /path/to/obscuro", False),
        ("pip install '/tmp/obscuro[web]'", False),
        ("pip install --editable . && obscuro doctor", False),
    ],
)
def test_the_rule_finds_what_it_is_for(line: str, wrong: bool) -> None:
    assert installs_another_program(line) == wrong


def tracked() -> list[Path]:
    """All text files of the repository, its raw results and this file aside."""
    git = ("git", "-c", f"safe.directory={ROOT}", "ls-files", "-z")
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("there is no repository to read")
    names = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    apart = ("docs/results/raw/", "docs/pictures/", "tests/test_installation.py")
    return [ROOT / name for name in names.split("\0") if name and not name.startswith(apart)]


def test_nothing_tells_anyone_to_install_another_program() -> None:
    found, read = [], 0
    for path in tracked():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        read += 1
        for number, line in enumerate(lines, 1):
            if installs_another_program(line):
                found.append(f"{path.relative_to(ROOT)}:{number} {line.strip()}")
    assert found == []
    assert read > 300


def test_an_extra_is_added_by_the_packages_that_it_needs() -> None:
    assert shlex.split(how_to_add("web")) == [
        *(sys.executable, "-m", "pip", "install"),
        *PROJECT["optional-dependencies"]["web"],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["web", "bridge", "zs21"])
def test_the_command_adds_an_extra(extra: str) -> None:
    # They are there already, so nothing changes; pip knows each of the names.
    subprocess.run(shlex.split(how_to_add(extra)), check=True, capture_output=True)


def test_every_extra_that_a_player_names_exists() -> None:
    named = {kind.extra[1] for kind in PLAYERS.values() if kind.extra is not None}
    assert named and named <= PROJECT["optional-dependencies"].keys()


def test_without_pip_uv_is_told_which_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    words = ["uv", "pip", "install", "--python", sys.executable, "x>=1"]
    assert shlex.split(install_command("x>=1")) == words


def test_a_page_of_a_checkout_is_its_file() -> None:
    assert Path(page("web.md")) == ROOT / "docs" / "web.md"


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> email.message.Message:
    """The metadata of an installed wheel, in place of the checkout."""
    fields = email.message.Message()
    fields["Requires-Dist"] = "rich>=13.7"
    fields["Requires-Dist"] = 'starlette>=1.0; extra == "web"'
    fields["Requires-Dist"] = 'x>=2; (sys_platform != "linux") and extra == "web"'
    monkeypatch.setattr(installation, "CHECKOUT", str(tmp_path))
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: fields)
    return fields


def test_a_wheel_knows_its_extras(wheel: email.message.Message) -> None:
    assert how_to_add("web").endswith(" -m pip install 'starlette>=1.0' 'x>=2'")


def test_a_page_of_a_wheel_is_an_address(wheel: email.message.Message) -> None:
    wheel["Project-URL"] = "Documentation, https://host.org/docs"
    assert page("web.md") == "https://host.org/docs/web.md"


def test_without_an_address_a_page_of_a_wheel_is_named(wheel: email.message.Message) -> None:
    assert page("web.md") == "docs/web.md in the repository"


def false_addresses(urls: dict[str, str]) -> list[str]:
    """Return what can't be an address of ours: no https, or a host that stands for another."""
    reserved = re.compile(r"(?:^|\.)(?:example(?:\.\w+)?|invalid|test|local|localhost)$")
    return [
        url
        for url in urls.values()
        if (parts := urllib.parse.urlsplit(url)).scheme != "https"
        or "." not in (host := parts.hostname or "")
        or reserved.search(host)
    ]


@pytest.mark.parametrize(
    ("url", "false"),
    [
        ("https://obscuro-fow.example/obscuro", True),
        ("https://www.example.org/obscuro", True),
        ("https://localhost/obscuro", True),
        ("http://host.org/obscuro", True),
        ("ADDRESS", True),
        ("https://host.org/obscuro", False),
        ("https://example-fans.org/obscuro", False),
    ],
)
def test_false_addresses_are_found(url: str, false: bool) -> None:
    assert bool(false_addresses({"Repository": url})) == false


def test_the_metadata_has_our_name_and_no_false_address() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    urls = PROJECT.get("urls", {})
    assert false_addresses(urls) == []
    assert urls.keys() in (set(), {"Repository", "Documentation", "Changelog", "Issues"})
    assert all(address.startswith(urls["Repository"]) for address in urls.values())


def test_the_readme_of_an_index_has_whole_addresses() -> None:
    # In a process of its own, because setuptools must be imported before distutils.
    code = (
        "import runpy, sys; made = runpy.run_path('setup.py', run_name='setup')['index_readme'];"
        "print(made(sys.stdin.read(), 'https://host.org/obscuro', 'v1.2.3'))"
    )
    text = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        input=(ROOT / "README.md").read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [target for target in targets if not re.match("https?://|#", target)] == []
    pictures = [target for target in targets if target.endswith((".svg", ".png"))]
    rooms = "https://host.org/obscuro/raw/v1.2.3/"
    assert len(pictures) >= 3 and all(target.startswith(rooms) for target in pictures)
    for target in pictures:
        assert (ROOT / target.removeprefix(rooms)).is_file()
