"""The version with its commit, read from real repositories, and the stamp of a build."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import obscuro
from obscuro.version import STAMP, full_version, version

TAG = f"v{obscuro.__version__}"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(directory: Path, *words: str) -> str:
    """Run git with a name of its own and without the user's settings."""
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main")
    environment = {
        **{name: text for name, text in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    done = subprocess.run(
        ["git", "-C", str(directory), *who, *words],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit and a package."""
    root = tmp_path / "checkout"
    (root / "obscuro").mkdir(parents=True)
    (root / "obscuro" / "code.py").write_text("x = 1\n")
    git(root.parent, "init", "-q", str(root))
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def both(root: Path) -> tuple[str, str]:
    return version(str(root / "obscuro")), full_version(str(root))


def of_commit(root: Path) -> str:
    return f"{obscuro.__version__}.dev+g{git(root, 'rev-parse', 'HEAD')[:7]}"


@pytest.mark.parametrize("packed", [False, True])
def test_a_commit_is_named(checkout: Path, packed: bool) -> None:
    if packed:
        git(checkout, "pack-refs", "--all")
    assert both(checkout) == (of_commit(checkout),) * 2


def test_a_detached_head_is_named(checkout: Path) -> None:
    git(checkout, "checkout", "-q", "--detach")
    assert both(checkout) == (of_commit(checkout),) * 2


def test_another_worktree_is_named_by_its_own_commit(checkout: Path) -> None:
    other = checkout.parent / "other"
    git(checkout, "worktree", "add", "-q", "-b", "other", str(other))
    (other / "obscuro" / "code.py").write_text("x = 2\n")
    git(other, "commit", "-q", "-a", "-m", "second")
    assert both(other) == (of_commit(other),) * 2
    assert both(other) != both(checkout)


@pytest.mark.parametrize("annotated", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_the_tag_is_the_release_and_no_commit_after_it(
    checkout: Path, annotated: bool, packed: bool
) -> None:
    git(checkout, "tag", *(("-a", "-m", "x") if annotated else ()), TAG)
    if packed:
        git(checkout, "pack-refs", "--all")
        git(checkout, "gc", "-q")
    assert both(checkout) == (obscuro.__version__,) * 2
    (checkout / "obscuro" / "code.py").write_text("x = 2\n")
    git(checkout, "commit", "-q", "-a", "-m", "second")
    assert both(checkout) == (of_commit(checkout),) * 2


@pytest.mark.parametrize("tagged", [False, True])
def test_a_change_is_dirty(checkout: Path, tagged: bool) -> None:
    if tagged:
        git(checkout, "tag", TAG)
    (checkout / "obscuro" / "code.py").write_text("x = 2\n")
    assert full_version(str(checkout)) == f"{of_commit(checkout)}-dirty"
    (checkout / "obscuro" / "code.py").write_text("x = 1\n")
    (checkout / "notes").write_text("not tracked\n")
    assert "dirty" not in full_version(str(checkout))


def test_a_copy_without_git_is_the_release_or_what_its_stamp_says(tmp_path: Path) -> None:
    (tmp_path / "obscuro").mkdir()
    assert both(tmp_path) == (obscuro.__version__,) * 2
    (tmp_path / "obscuro" / STAMP).write_text("9.9.dev+g1234567-dirty\n")
    assert both(tmp_path) == ("9.9.dev+g1234567-dirty",) * 2


@pytest.mark.parametrize("text", ["", "ref: refs/heads/none", "ref: ../../nowhere", "\0"])
def test_a_spoilt_repository_stops_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "obscuro").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(text)
    assert both(tmp_path)[0].startswith(obscuro.__version__)
