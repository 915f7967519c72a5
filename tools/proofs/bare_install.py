"""Install the program on a bare Debian, in each way that the pages name, and play a game with it.

    python -m tools.proofs.bare_install
    python -m tools.proofs.bare_install --root /tmp/bare --ways make image

debootstrap makes a root file system of Debian 12, or of --suite, with Python, its venv module and make.
In it, as in a container, the tool runs the commands of a player: `make install`, then the wheel by
pipx and by uv, and what the Dockerfile does. In one more way it installs the wheel alone, and follows
what `obscuro doctor` advises until all is well. It measures how long each way takes, and how long the
engine needs for its first and second `readyok`. The exit code is 1 if a command fails.

It needs Linux, root (or sudo without a password), debootstrap and the network; without them the exit
code is 2. The root file system takes 2 GB, in a folder that is removed at the end, or in --root,
which stays and is used again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tools.common import ROOT, given, publish, say, table, tool_parser

SUITE = "bookworm"
PACKAGES = ("ca-certificates", "make", "python3", "python3-venv")
"""What the README asks a player for."""
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PLACES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STEP_SECONDS = 1800
READY_SECONDS = 600.0
CHECKOUT = "/srv/obscuro"

_MOUNTS = (
    "mount -t proc proc /proc; mount -t tmpfs tmpfs /dev/shm 2>/dev/null || "
    "{ mkdir -p /dev/shm; mount -t tmpfs tmpfs /dev/shm; }; "
)


class StepError(Exception):
    """A command has failed. The message ends with what it said last."""


class BareRoot:
    """A root file system, and what runs commands in it."""

    def __init__(self, directory: Path, suite: str = SUITE) -> None:
        self.directory = directory
        self._suite = suite
        self._as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]

    def make(self) -> None:
        """Make it by debootstrap, unless it is there. Copy what this machine needs for the network."""
        if not (self.directory / "usr" / "bin" / "python3").exists():
            include = f"--include={','.join(PACKAGES)}"
            self._call(
                ["debootstrap", "--variant=minbase", include, self._suite, str(self.directory)]
            )
        for file in ("/etc/resolv.conf", "/etc/hosts", CERTIFICATES):
            if Path(file).exists():
                self._call(["cp", "-L", file, f"{self.directory}{file}"])

    def copy_checkout(self) -> None:
        """Copy every tracked file as it is now, without what was built."""
        target = f"{self.directory}{CHECKOUT}"
        self._call(["rm", "-rf", target])
        self._call(["mkdir", "-p", target])
        git = ("git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--", ":!docs/results/raw")
        names = subprocess.run(git, cwd=ROOT, capture_output=True, check=True).stdout
        there = b"\0".join(
            name for name in names.split(b"\0") if (ROOT / os.fsdecode(name)).exists()
        )
        pack = ["tar", "-C", str(ROOT), "--null", "-T", "-", "-cf", "-"]
        packed = subprocess.run(pack, input=there.strip(b"\0"), capture_output=True, check=True)
        self._call(["tar", "-C", target, "--no-same-owner", "-xf", "-"], packed.stdout)

    def run(self, script: str, *, user: str = "root") -> str:
        """Run a script of the shell; return what it printed. Raises StepError."""
        done = subprocess.run(
            self.command(script, user),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=STEP_SECONDS,
        )
        if done.returncode:
            tail = "\n".join(done.stdout.splitlines()[-30:])
            raise StepError(f"{script}: exit code {done.returncode}\n{tail}")
        return done.stdout

    def command(self, script: str, user: str = "root") -> list[str]:
        """Return what runs a script there, with its own processes and mounts."""
        home = "/root" if user == "root" else f"/home/{user}"
        if user != "root":
            script = f"cd {home} && exec setpriv --reuid={user} --regid={user} --clear-groups " + (
                shlex.join(["sh", "-ec", script])
            )
        settings = {
            "HOME": home,
            "PATH": f"{PLACES}:/usr/games",
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
            "PIP_CERT": CERTIFICATES,
            "SSL_CERT_FILE": CERTIFICATES,
            "NODE_EXTRA_CA_CERTS": CERTIFICATES,
        }
        inside = ["env", "-i", *(f"{name}={value}" for name, value in settings.items())]
        inside += ["sh", "-ec", _MOUNTS + script]
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        return [*self._as_root, *apart, "chroot", str(self.directory), *inside]

    def remove(self) -> None:
        """Remove it."""
        self._call(["rm", "-rf", "--one-file-system", str(self.directory)])

    def _call(self, words: Sequence[str], text: bytes | None = None) -> None:
        done = subprocess.run(
            [*self._as_root, *words],
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=STEP_SECONDS,
        )
        if done.returncode:
            tail = done.stdout.decode(errors="replace").splitlines()[-10:]
            raise StepError("\n".join([shlex.join(words), *tail]))


class Way(NamedTuple):
    """A way to install the program.

    prepare: what a machine may lack for it, not part of the time. install: the commands of the page.
    obscuro: the command afterwards. user: who runs it.
    """

    name: str
    prepare: str
    install: str
    obscuro: str
    user: str = "root"


ADVICE = "advice"
MOST_ADVICE = 5
"""How often `doctor` may find something new after its advice was followed."""
WHEEL = f"{CHECKOUT}/dist/obscuro_fow-*.whl"
WAYS = (
    Way("make", "apt-get -q update", f"make -C {CHECKOUT} install", "obscuro"),
    Way(
        "pipx",
        f"make -C {CHECKOUT} wheel; apt-get -q install -y --no-install-recommends pipx",
        f'pipx install "$(echo {WHEEL})[bridge,web]"',
        "/root/.local/bin/obscuro",
    ),
    Way(
        "uv",
        f"make -C {CHECKOUT} wheel; python3 -m venv /opt/uv; /opt/uv/bin/pip install -q uv",
        f'UV_TOOL_BIN_DIR=/opt/uv-bin /opt/uv/bin/uv tool install "$(echo {WHEEL})[bridge,web]"',
        "/opt/uv-bin/obscuro",
    ),
    # The wheel alone, without a package that it needs. `doctor` says how to get there.
    Way(
        ADVICE,
        f"make -C {CHECKOUT} wheel; apt-get -q remove -y stockfish",
        f"rm -rf /opt/alone; python3 -m venv /opt/alone; "
        f"/opt/alone/bin/pip install -q --no-deps {WHEEL}",
        "/opt/alone/bin/obscuro",
    ),
)


# -- the image ------------------------------------------------------------------------------------


def dockerfile_steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield the instructions of a Dockerfile, each with its words; continued lines are joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, words = line.strip().partition(" ")
            yield name.upper(), " ".join(words.split())


def image_script(text: str, ignored: str) -> str:
    """Return a script that does in a bare root what a Dockerfile does, as root.

    All stages are made in the one root, so what a stage copies from another one is there. ignored:
    the text of .dockerignore, whose lines with `!` say what `COPY .` takes. Last, the script writes
    STARTER, which runs the program with the image's variables.
    """
    script, user, place, exports = ["set -e"], "root", "/", []
    context = [line[1:] for line in ignored.splitlines() if line.startswith("!")]
    for name, words in dockerfile_steps(text):
        if name in ("ARG", "ENV"):
            exports.append(f"export {words}")
            script.append(exports[-1])
        elif name == "USER":
            user = words
        elif name == "WORKDIR":
            place = words
        elif name == "RUN" and user == "root":
            script.append(f"( {words} )")
        elif name == "RUN":
            script.append(
                f"( cd {place}; HOME=/home/{user} setpriv --reuid={user} --regid={user} "
                f"--clear-groups sh -ec {shlex.quote(words)} )"
            )
        elif name == "COPY" and "--from=" in words:
            source, target = words.split()[1:]
            script.append(f"mkdir -p {target}; cp -r {source}/. {target}")
        elif name == "COPY":
            source, target = words.split()
            for each in context if source == "." else [source]:
                whole = each if source == "." else f"{each}/"
                place_of = f"{target}/{each}" if source == "." else target
                if Path(ROOT, each).is_dir():
                    script.append(f"mkdir -p {place_of}; cp -r {CHECKOUT}/{each}/. {place_of}")
                else:
                    folder = target if source != "." else str(Path(place_of).parent)
                    script.append(f"mkdir -p {folder}; cp {CHECKOUT}/{whole.rstrip('/')} {folder}")
    starter = "\n".join(["#!/bin/sh", *exports, 'exec obscuro "$@"', ""])
    script.append(f"printf %s {shlex.quote(starter)} >{STARTER}; chmod +x {STARTER}")
    return "\n".join(script)


STARTER = "/usr/local/bin/obscuro-of-the-image"
IMAGE = "image"
COMPILED = ("make", ADVICE, IMAGE)
"""The ways that compile the engine when they install it."""


# -- what is measured -----------------------------------------------------------------------------


def seconds_to_ready(root: BareRoot, obscuro: str, user: str) -> tuple[float, list[str]]:
    """Start the engine as a GUI does; return the seconds until `readyok`, and what it said."""
    begin, said = time.monotonic(), list[str]()
    with subprocess.Popen(
        root.command(f"exec {obscuro}", user),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as engine:
        assert engine.stdin is not None and engine.stdout is not None
        engine.stdin.write("uci\nisready\n")
        engine.stdin.flush()
        for line in engine.stdout:
            said.append(line.strip())
            if line.strip() == "readyok":
                break
            if time.monotonic() - begin > READY_SECONDS:
                raise StepError(f"{obscuro}: no readyok after {READY_SECONDS:.0f} s")
        seconds = time.monotonic() - begin
        with contextlib.suppress(BrokenPipeError):
            engine.stdin.write("quit\n")
            engine.stdin.flush()
    if "readyok" not in said:
        raise StepError(f"{obscuro}: it ended before readyok: {said[-3:]}")
    return seconds, said


def cpu_seconds() -> float:
    """Return the seconds of processors that the commands so far have used: it tells of no load."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


CACHES = "/root/.cache/obscuro /home/obscuro/.cache/obscuro"


def try_way(root: BareRoot, way: Way) -> dict[str, Any]:
    """Install in one way and play; return the figures. Raises StepError."""
    say(f"=== {way.name}: what a machine may lack for it")
    root.run(way.prepare)
    if way.name != IMAGE:
        root.run(f"rm -rf {CACHES}")
    say(f"=== {way.name}: {way.install.splitlines()[0]}")
    begin, busy = time.monotonic(), cpu_seconds()
    root.run(way.install)
    installed, busy = time.monotonic() - begin, cpu_seconds() - busy
    say(f"=== {way.name}: installed after {installed:.0f} s")
    if way.name == ADVICE:
        follow_advice(root, way)
    begin_first, said = seconds_to_ready(root, way.obscuro, way.user)
    again, _ = seconds_to_ready(root, way.obscuro, way.user)
    told = [line for line in said if "compiling" in line]
    if way.name in COMPILED and told:
        raise StepError(f"{way.name}: the first start compiles: {told[0]}")
    if way.name not in COMPILED and not told:
        raise StepError(f"{way.name}: the first start does not say that it compiles")
    check_play(root, way)
    return {
        "way": way.name,
        "python": root.run("python3 --version").split()[-1],
        "installed_seconds": round(installed, 1),
        "installed_cpu_seconds": round(busy, 1),
        "first_ready_seconds": round(begin_first, 1),
        "second_ready_seconds": round(again, 1),
        "told": told[-1] if told else "",
    }


def follow_advice(root: BareRoot, way: Way) -> None:
    """Do what `doctor` advises until it says that all is well. Raises StepError."""
    for _ in range(MOST_ADVICE):
        report = json.loads(root.run(f"{way.obscuro} doctor --json || true", user=way.user))
        advised = [each for each in report["findings"] if each["level"] in ("missing", "hint")]
        if not advised:
            break
        for each in advised:
            if not each["run"]:
                raise StepError(f"{way.name}: no command mends {each['subject']}: {each['advice']}")
            say(f"=== {way.name}: {each['subject']}: {each['run']}")
            root.run(each["run"], user=way.user)
    else:
        raise StepError(f"{way.name}: following the advice of `doctor` does not end: {advised}")
    for each in report["findings"]:  # what not everybody needs
        if each["subject"] in ("extra web", "extra bridge") and each["run"]:
            root.run(each["run"], user=way.user)


def check_play(root: BareRoot, way: Way) -> None:
    """Check that the copy finds all its parts: a game, the board's server, the bridge's packages."""
    doctor = root.run(f"{way.obscuro} doctor", user=way.user)
    for wanted in ("network", "browser parts", "extra web", "extra bridge"):
        if not re.search(rf"^ok +{wanted}", doctor, re.M):
            raise StepError(f"{way.name}: `doctor` does not find: {wanted}\n{doctor}")
    root.run(f"{way.obscuro} demo --movetime 100 --max-moves 4 --seed 1", user=way.user)
    board = (
        f"{way.obscuro} web --port 8765 --no-browser --data $(mktemp -d) & server=$!; "
        "for i in $(seq 60); do sleep 1; "
        "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:8765/\").status)'"
        " 2>/dev/null && break; done; kill $server; wait $server || true"
    )
    if "200" not in root.run(board, user=way.user):
        raise StepError(f"{way.name}: `obscuro web` serves no page")


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a table with a row for each way."""
    rows = [
        [
            each["way"],
            each["python"],
            f"{each['installed_seconds']:.0f} s",
            f"{each['installed_cpu_seconds']:.0f} s",
            f"{each['first_ready_seconds']:.1f} s",
            f"{each['second_ready_seconds']:.1f} s",
        ]
        for each in figures
    ]
    headings = [
        "way",
        "Python",
        "installed after",
        "of the processor",
        "first `readyok`",
        "second `readyok`",
    ]
    yield from table(headings, rows, "llrrrr")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.bare_install", __doc__)
    names = [*(way.name for way in WAYS), IMAGE]
    parser.add_argument("--ways", nargs="+", choices=names, default=names, help=", ".join(names))
    parser.add_argument(
        "--suite", default=SUITE, help=f"Debian's, and with it the Python; default: {SUITE}"
    )
    parser.add_argument("--root", type=Path, metavar="DIR", help="make the root here, and keep it")
    return parser


def lack() -> str | None:
    """Return what this machine lacks for the proof; None if nothing."""
    for program in ("debootstrap", "unshare", "chroot", "git", "tar"):
        if shutil.which(program, path=os.environ.get("PATH", "") + os.pathsep + PLACES) is None:
            return f"needs {program}; on Debian: sudo apt-get install {program}"
    if os.geteuid() != 0:
        if shutil.which("sudo") is None:
            return "needs root"
        if subprocess.run(["sudo", "-n", "true"], check=False, capture_output=True).returncode:
            return "needs root, or sudo without a password"
    return None


def main(words: Sequence[str] | None = None) -> int:
    """Install in each way; returns the exit code."""
    words = given(words)
    parser = make_parser()
    arguments = parser.parse_args(words)
    if (missing := lack()) is not None:
        say(f"bare_install: {missing}")
        return 2
    directory = arguments.root or Path(tempfile.mkdtemp(prefix="obscuro-bare-"))
    root = BareRoot(directory, arguments.suite)
    image = Way(
        IMAGE,
        "rm -rf /opt/obscuro /parts /data; userdel -rf obscuro 2>/dev/null || true",
        image_script((ROOT / "Dockerfile").read_text(), (ROOT / ".dockerignore").read_text()),
        STARTER,
        "obscuro",
    )
    ways = [way for way in (*WAYS, image) if way.name in arguments.ways]
    figures: list[dict[str, Any]] = []
    try:
        root.make()
        root.copy_checkout()
        for way in ways:
            figures.append(try_way(root, way))
    except (StepError, subprocess.TimeoutExpired) as error:
        say(f"bare_install: {error}")
        return 1
    finally:
        if arguments.root is None:
            root.remove()
    publish(parser, words, arguments.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
