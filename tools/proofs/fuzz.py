"""Feeds the readers of strangers' texts with inputs that are made up, and looks for faults.

    python -m tools.proofs.fuzz --seconds 3600
    python -m tools.proofs.fuzz protocol socket --seconds 600 --at-once 2
    python -m tools.proofs.fuzz pgn --input FILE

Without a name it takes all targets, as many at once as there are cores. Each runs in a process of
its own. Coverage guides the inputs if atheris is installed (`pip install '.[fuzz]'`); else
seeds are changed at random. A fault is an exception, a process that dies, an input that takes more
than a second of the processor, or memory that grows. A slow input counts if it is slow again in a
process without atheris, which slows everything down. `--input` tries the bytes of one file, and
prints the traceback of a fault. The exit code is 1 if there was a fault.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import psutil

from obscuro.machine import usable_cores
from tools.common import INTERRUPTED, ROOT, given, publish, say, table, tool_parser

GUIDED = "OBSCURO_FUZZ_GUIDED"
"""Set in a process whose inputs are guided by coverage."""
try:
    import atheris
except ImportError:
    atheris = None

with (
    atheris.instrument_imports(
        include=["obscuro", "chess"],
        exclude=["obscuro.belief", "obscuro.evaluation", "obscuro.search", "obscuro.kernels"],
    )
    if atheris and os.environ.get(GUIDED)
    else contextlib.nullcontext()
):
    from tools.proofs.fuzz_targets import TARGETS, Target, TryOne

MOST_SECONDS = 1.0
"""An input may take so much time of the processor."""
HANG_SECONDS = 120.0
"""An input that has not ended after this time hangs; on a busy machine all is slow."""
START_SECONDS = 1200.0
"""A process may take so long to load, and to compile."""
WARM_SHARE = 0.25
"""Memory is first measured after this share of the time: caches and the corpus are full then."""
MOST_GROWTH = 0.2
"""Python's blocks of memory may grow by this share from then on."""
MOST_FINDINGS = 20
_MIB = 1 << 20
_LONGEST_SHOWN = 2000
_ERROR, _SLOW, _HANG = "error", "slow", "hang"
PRESENT = "present"
"""The file with the input that is tried at the moment, for the case that the process dies of it."""


class HangError(BaseException):
    """An input has not ended; raised by an alarm wherever the input is. No handler catches it.

    stacks: where all threads were.
    """

    def __init__(self, stacks: str) -> None:
        super().__init__()
        self.stacks = stacks


# -- in a target's process -----------------------------------------------------------------------


class Watch:
    """Tries inputs, counts them, and stores what it finds in a folder.

    try_one: the function of one input. seconds: how long inputs will be tried.
    """

    def __init__(self, try_one: TryOne, folder: Path, seconds: float) -> None:
        self._try = try_one
        self._folder = folder
        self._seconds = seconds
        self._begun = time.monotonic()
        self._processor = time.process_time()
        self._told = 0.0
        self._process = psutil.Process()
        self._seen: set[str] = set()
        self._files: list[dict[str, str]] = []
        self._warm: dict[str, int] | None = None
        self.runs = 0
        self._slowest = 0.0
        self._present = os.open(folder / PRESENT, os.O_CREAT | os.O_RDWR)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self._begun + self._seconds - time.monotonic()

    def __call__(self, data: bytes) -> None:
        """Try one input. It raises nothing."""
        if self.runs == 0:
            signal.signal(signal.SIGALRM, _hang)
            threading.excepthook = self._thread_failed
        os.ftruncate(self._present, os.pwrite(self._present, data, 0))
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
        try:
            self._try(data)
        except HangError as error:
            spent = (
                time.process_time() - begun
            )  # little of it: a thread waits, or the machine is busy
            what = f"not over after {HANG_SECONDS:g} s, {spent:.0f} of them on a processor"
            self._keep(_HANG, what, error.stacks, data)
        except Exception as error:
            self._keep(_ERROR, _place(error), traceback.format_exc(), data)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        spent = time.process_time() - begun
        if spent > MOST_SECONDS and spent > 1.2 * self._slowest:
            self._keep(_SLOW, f"{spent:.1f} s of the processor", "", data)
        self._slowest = max(self._slowest, spent)
        self.runs += 1
        if time.monotonic() - self._told > 1:
            self.tell()

    def _thread_failed(self, failure: threading.ExceptHookArgs) -> None:
        """Keep the error of a thread with the present input, which may come after the one to blame."""
        error = failure.exc_value
        if error is not None:
            trace = "".join(traceback.format_exception(error))
            data = os.pread(self._present, os.fstat(self._present).st_size, 0)
            self._keep(_ERROR, f"in a thread: {_place(error)}", trace, data)

    def _keep(self, kind: str, what: str, trace: str, data: bytes) -> None:
        if what in self._seen or len(self._files) >= MOST_FINDINGS:
            return
        self._seen.add(what)
        path = self._folder / f"{kind}{len(self._files)}"
        path.write_bytes(data)
        self._files.append({"kind": kind, "what": what, "trace": trace, "file": str(path)})
        self.tell()

    def tell(self) -> None:
        """Write how far it is, for the process that waits."""
        now = self._told = time.monotonic()
        if self._warm is None and now - self._begun > WARM_SHARE * self._seconds:
            self._warm = self._memory()
        figures = {
            "runs": self.runs,
            "seconds": round(now - self._begun, 1),
            "processor": round(time.process_time() - self._processor, 1),
            "slowest": round(self._slowest, 3),
            "before": self._warm,
            "after": self._memory() if self.left < 2 else None,
            "findings": self._files,
        }
        path = self._folder / "figures.json"
        path.with_suffix(".new").write_text(json.dumps(figures), encoding="utf-8")
        path.with_suffix(".new").replace(path)

    def _memory(self) -> dict[str, int]:
        gc.collect()
        rss = self._process.memory_info().rss
        return {"rss": rss, "blocks": sys.getallocatedblocks()}


def _hang(number: int, frame: FrameType | None) -> None:
    with tempfile.TemporaryFile() as stacks:
        faulthandler.dump_traceback(stacks, all_threads=True)
        stacks.seek(0)
        raise HangError(stacks.read().decode(errors="replace"))


def _place(error: BaseException) -> str:
    """Return the error's type and the last line of our code that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if f"{os.sep}obscuro{os.sep}" in each.filename] or list(frames)
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} in {where}: {str(error)[:80]}"


def fuzz_here(target: Target, folder: Path, seconds: float, seed: int, *, guided: bool) -> None:
    """Try inputs in this process. With atheris it does not return but ends the process."""
    work = folder / "work"
    work.mkdir()
    watch = Watch(target.start(work), folder, seconds)
    seeds = [text.encode() for text in target.seeds()]
    words = sorted({word for each in seeds for word in re.findall(rb"[A-Za-z_]{3,20}", each)})
    if not guided:
        for data in made_up(seeds, words, random.Random(seed)):
            if watch.left <= 0:
                break
            watch(data)
        watch.tell()
        return

    def try_until_the_end(data: bytes) -> None:
        watch(data)
        if watch.left <= 0:
            watch.tell()
            os._exit(0)

    corpus, dictionary = folder / "corpus", folder / "words"
    corpus.mkdir()
    for number, data in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(data)
    dictionary.write_text("".join(f'"{word.decode()}"\n' for word in words), encoding="ascii")
    longest = max(map(len, seeds))
    atheris.Setup(
        [
            sys.argv[0],
            str(corpus),
            f"-dict={dictionary}",
            f"-max_len={max(4096, 2 * longest)}",
            f"-seed={seed}",
            f"-artifact_prefix={folder}{os.sep}died-",
            "-timeout=0",
            "-rss_limit_mb=0",
            "-verbosity=0",
        ],
        try_until_the_end,
    )
    atheris.Fuzz()


def made_up(seeds: Sequence[bytes], words: Sequence[bytes], rng: random.Random) -> Iterator[bytes]:
    """Yield the seeds, then without end seeds that are changed in a few places."""
    yield from seeds
    while True:
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
            begin = rng.randrange(len(data) + 1)
            end = min(len(data), begin + rng.choice((0, 1, 1, 2, 5, 20, 100)))
            match rng.randrange(6):
                case 0:
                    data[begin:end] = rng.randbytes(end - begin)
                case 1:
                    del data[begin:end]
                case 2:
                    data[begin:begin] = data[begin:end] * rng.choice((1, 1, 3, 50))
                case 3:
                    data[begin:end] = rng.choice(words or [b"x"])
                case 4:
                    other = rng.choice(seeds)
                    first = rng.randrange(len(other) + 1)
                    data[begin:end] = other[first : first + rng.choice((1, 5, 50, 500))]
                case 5:
                    data[begin:end] = rng.choice(
                        b"0123456789KQRBNPkqrbnp?*/-, \n\"'{}[]:."
                    ).to_bytes()
        yield bytes(data)


def try_file(target: Target, path: Path) -> int:
    """Try the bytes of a file, and say what comes of it; returns the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        try_one = target.start(Path(folder))
        for text in target.seeds()[:1]:
            try_one(text.encode())  # what is loaded or compiled at first does not count
        begun = time.process_time()
        try_one(path.read_bytes())
        spent = time.process_time() - begun
    print(f"{spent:.3f} s of the processor")
    return int(spent > MOST_SECONDS)


# -- the process that waits ----------------------------------------------------------------------


def fuzz(
    name: str, seconds: float, seed: int, keep: Path | None, *, guided: bool
) -> dict[str, Any]:
    """Fuzz one target in a process of its own; return the figures. keep: a folder for findings."""
    guided = guided and TARGETS[name].guided and atheris is not None
    command = [sys.executable, "-m", "tools.proofs.fuzz", name, "--seconds", str(seconds)]
    with tempfile.TemporaryDirectory(prefix="obscuro-fuzz-") as place:
        folder = Path(place)
        environment = {name: value for name, value in os.environ.items() if name != GUIDED}
        with (folder / "said").open("w+b") as said:
            child = subprocess.Popen(
                [*command, "--seed", str(seed), "--here", place],
                cwd=ROOT,
                env=environment | ({GUIDED: "1"} if guided else {}),
                stdout=said,
                stderr=said,
            )
            code = _waited(child, folder, seconds)
            said.seek(0)
            last = said.read().decode(errors="replace")[-_LONGEST_SHOWN:]
        path = folder / "figures.json"
        found: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {"findings": []}
        findings = found.pop("findings")
        confirmed = [each for each in findings if each["kind"] != _SLOW or _is_slow(name, each)]
        if code != 0:
            what = {"kind": "death", "what": f"exit code {code}", "trace": last}
            present = folder / PRESENT
            confirmed.append(what | ({"file": str(present)} if present.exists() else {}))
        before, after = found.get("before"), found.get("after")
        if before and after and after["blocks"] > (1 + MOST_GROWTH) * before["blocks"]:
            confirmed.append({"kind": "memory", "what": "Python's memory grows", "trace": ""})
        for each in confirmed:
            file = each.pop("file", None)
            if file is not None:
                data = Path(file).read_bytes()
                each["input"] = data[:_LONGEST_SHOWN].decode(errors="backslashreplace")
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{name}-{Path(file).name}").write_bytes(data)
    return {"target": name, "guided": guided, **found, "findings": confirmed}


def _waited(child: subprocess.Popen[bytes], folder: Path, seconds: float) -> int:
    """Wait for a process; return its exit code. One that hangs beyond help is killed."""
    figures = folder / "figures.json"
    limit = 2 * HANG_SECONDS
    end = time.monotonic() + START_SECONDS + seconds + limit
    while True:
        try:
            return child.wait(5.0)
        except subprocess.TimeoutExpired:
            quiet = time.time() - figures.stat().st_mtime if figures.exists() else 0.0
            if quiet > limit or time.monotonic() > end:
                child.send_signal(signal.SIGUSR1)  # it says where it is
                time.sleep(1.0)
                child.kill()
                return child.wait()
        except BaseException:
            child.kill()
            child.wait()
            raise


def _is_slow(name: str, finding: Mapping[str, str]) -> bool:
    """Return whether an input is slow in a process without atheris too."""
    environment = {name: value for name, value in os.environ.items() if name != GUIDED}
    command = [sys.executable, "-m", "tools.proofs.fuzz", name, "--input", finding["file"]]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def fuzz_all(
    names: Sequence[str], at_once: int, run: Callable[[str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Fuzz several targets, some at once; return the figures of each, in the order of the names."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in names:
        waiting.put(name)
    found: dict[str, dict[str, Any]] = {}

    def work() -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                name = waiting.get_nowait()
                say(f"{name}: begins")
                found[name] = figures = run(name)
                say(f"{name}: {figures.get('runs', 0):,} inputs, {len(figures['findings'])} faults")
                for each in figures["findings"]:
                    say(f"  {each['kind']}: {each['what']}\n{each['trace']}")

    threads = [threading.Thread(target=work, daemon=True) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[name] for name in names]


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a table with a row for each target."""
    headings = [
        "target",
        "what is fed",
        "inputs by",
        "inputs",
        "minutes",
        "of the processor",
        "slowest, s",
        "MiB",
    ]
    rows = []
    for each in figures:
        memory = [
            "?" if each.get(when) is None else f"{each[when]['rss'] / _MIB:.0f}"
            for when in ("before", "after")
        ]
        rows.append(
            [
                f"`{each['target']}`",
                TARGETS[each["target"]].about,
                "coverage" if each["guided"] else "chance",
                f"{each.get('runs', 0):,}",
                f"{each.get('seconds', 0) / 60:.1f}",
                f"{each.get('processor', 0) / 60:.1f}",
                f"{each.get('slowest', 0):.2f}",
                " → ".join(memory),
                len(each["findings"]),
            ]
        )
    yield from table([*headings, "faults"], rows, "lllrrrrrr")
    yield ""
    runs = sum(each.get("runs", 0) for each in figures)
    minutes = sum(each.get("seconds", 0) for each in figures) / 60
    faults = sum(len(each["findings"]) for each in figures)
    used = sum(each.get("processor", 0) for each in figures) / 60
    yield (
        f"{len(figures)} targets, {runs:,} inputs, {minutes:.0f} minutes, {used:.0f} of them on a "
        f"processor; {faults} faults."
    )


def make_parser() -> ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.fuzz", __doc__)
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"default: all, {', '.join(TARGETS)}"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for each; default: 60")
    parser.add_argument("--at-once", type=int, default=usable_cores(), help="default: the cores")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--plain", action="store_true", help="do without atheris")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep inputs that find a fault")
    parser.add_argument("--input", type=Path, metavar="FILE", help="try one input of one target")
    parser.add_argument(
        "--here", type=Path, metavar="FOLDER", help="fuzz in this process; internal"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Fuzz; returns the exit code."""
    words = given(words)
    parser = make_parser()
    arguments = parser.parse_args(words)
    names = arguments.targets or list(TARGETS)
    for name in names:
        if name not in TARGETS:
            parser.error(f"there is no target {name!r}; there are {', '.join(TARGETS)}")
    if arguments.at_once < 1 or arguments.seconds <= 0:
        parser.error("--at-once and --seconds are more than 0")
    if arguments.input is not None or arguments.here is not None:
        if len(names) != 1:
            parser.error("name one target")
        target = TARGETS[names[0]]
        if arguments.input is not None:
            return try_file(target, arguments.input)
        faulthandler.register(signal.SIGUSR1)
        guided = bool(os.environ.get(GUIDED))
        fuzz_here(target, arguments.here, arguments.seconds, arguments.seed, guided=guided)
        return 0

    def run(name: str) -> dict[str, Any]:
        return fuzz(
            name, arguments.seconds, arguments.seed, arguments.keep, guided=not arguments.plain
        )

    try:
        figures = fuzz_all(names, arguments.at_once, run)
    except KeyboardInterrupt:
        return INTERRUPTED
    publish(parser, words, arguments.raw, figures, render)
    return int(any(each["findings"] for each in figures))


if __name__ == "__main__":
    sys.exit(main())
