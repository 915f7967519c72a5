"""Which state of the program this is: a release, or a commit on the way to the next one.

    0.3.0                        the release, or its tag checked out
    0.3.0.dev+g1a2b3c4           a commit before it
    0.3.0.dev+g1a2b3c4-dirty     with changes that are not committed

A build writes that line into a file of the package (`setup.py`). In a checkout it is read from the
files of git, without starting git, because a GUI waits for it.
"""

import os
import zlib

from obscuro import __version__

PACKAGE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(PACKAGE)
STAMP = "version_stamp.txt"
"""The file that a build writes into the package."""
DIRTY = "-dirty"
_SHORT = 7  # digits of a commit
_GIT_SECONDS = 5.0


def version(package: str = PACKAGE) -> str:
    """Return the version with its commit, unless it is a release. Does not tell whether it is dirty.

    package: the directory of the package. A copy without a stamp and without git is a release.
    """
    try:
        with open(os.path.join(package, STAMP), encoding="utf-8") as stream:
            return stream.read().strip()
    except OSError:
        pass
    try:
        git, commit = _head(os.path.join(os.path.dirname(package), ".git"))
        if not commit or commit == _tagged(git, f"v{__version__}"):
            return __version__
    except (OSError, ValueError, zlib.error):
        return __version__
    return f"{__version__}.dev+g{commit[:_SHORT]}"


def full_version(checkout: str = CHECKOUT) -> str:
    """Return the version as `version` does, and whether files have changed since the commit.

    Starts git if this is a checkout: some 10 ms.
    """
    text = version(os.path.join(checkout, os.path.basename(PACKAGE)))
    if not os.path.exists(os.path.join(checkout, ".git")) or text.endswith(DIRTY):
        return text
    import subprocess  # noqa: PLC0415 - slow, hence only here

    git = ("git", "-C", checkout, "--no-optional-locks", "-c", f"safe.directory={checkout}")
    try:
        changes = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=no"],
            capture_output=True,
            check=True,
            timeout=_GIT_SECONDS,
            stdin=subprocess.DEVNULL,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return text
    if not changes:
        return text
    if text != __version__:
        return text + DIRTY
    # A tag that was changed is no release.
    commit = _head(os.path.join(checkout, ".git"))[1]
    return f"{text}.dev+g{commit[:_SHORT]}{DIRTY}"


def _head(git: str) -> tuple[str, str]:
    """Return the directory that holds all references, and the commit checked out; '' if unborn.

    git: the directory `.git`, or the file that leads to it from a further worktree. Raises OSError.
    """
    common = git
    if os.path.isfile(git):
        git = os.path.join(os.path.dirname(git), _text(git).removeprefix("gitdir: "))
        common = os.path.join(git, _text(os.path.join(git, "commondir")))
    head = _text(os.path.join(git, "HEAD"))
    if not head.startswith("ref: "):
        return common, head
    return common, _reference(common, head.removeprefix("ref: "))[0]


def _tagged(git: str, tag: str) -> str:
    """Return the commit that a tag points at; '' if there is no such tag, or git has packed it."""
    found, peeled = _reference(git, f"refs/tags/{tag}")
    if not found or peeled:
        return peeled
    try:
        with open(os.path.join(git, "objects", found[:2], found[2:]), "rb") as stream:
            data = zlib.decompress(stream.read())
    except FileNotFoundError:
        return found  # a commit in a pack; a tag in a pack has its commit beside it
    kind, _, text = data.partition(b"\0")
    if not kind.startswith(b"tag "):
        return found
    return text.split(b"\n", 1)[0].removeprefix(b"object ").decode()


def _reference(git: str, name: str) -> tuple[str, str]:
    """Return what a reference holds and, of an annotated tag that is packed, its commit; else ''."""
    try:
        return _text(os.path.join(git, *name.split("/"))), ""
    except OSError:
        pass
    try:
        lines = _text(os.path.join(git, "packed-refs")).splitlines()
    except OSError:
        return "", ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.endswith(f" {name}"):
            return line.split()[0], after[1:] if after.startswith("^") else ""
    return "", ""


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read().strip()
