"""Export the networks of an installed Stockfish with its own command `export_net`.

Stockfish names a network after the first twelve digits of its file's SHA-256. Its option `EvalFile`
holds the name. Since 16.1 the option `EvalFileSmall` names a second, small network. The file that
Stockfish writes must hash to the name.

The child exits when its standard input ends, so it also exits when this process is killed.
"""

import contextlib
import hashlib
import os
import re
import select
import signal
import subprocess
import time
from typing import NamedTuple

from obscuro.evaluation.nnue.network import NetworkError

START_LIMIT = 10.0  # seconds until the first answer
EXPORT_LIMIT = 60.0  # seconds for the export, which usually takes less than one
READ_BYTES = 1 << 16
MOST_TEXT = 1 << 20  # bytes; a longer answer is an error
LAST_WAIT = 5.0  # seconds to wait for the end of a killed process

_NETWORK_OPTION = re.compile(r"option name EvalFile\w* type string default (.*)")
_NETWORK_NAME = re.compile(r"nn-([0-9a-f]{12})\.nnue")
_COMPLAINT = re.compile(r"failed|unknown command|error", re.IGNORECASE)


class ExportedFile(NamedTuple):
    """A network's file as Stockfish wrote it."""

    path: str
    name: str  # Stockfish's name for it: nn-ad9b42354671.nnue
    sha256: bytes


class Export(NamedTuple):
    """The networks of one Stockfish: the one it evaluates with, then the small one if any."""

    engine: str  # its `id name`
    files: list[ExportedFile]


def export_networks(
    stockfish: str,
    directory: str,
    *,
    start_limit: float = START_LIMIT,
    export_limit: float = EXPORT_LIMIT,
) -> Export:
    """Make the program at the path `stockfish` write its networks into `directory`.

    start_limit, export_limit: seconds for the first answer and for the export. Raises NetworkError
    if the program has no network, cannot write it, takes too long, or writes a damaged file.
    """
    with _StockfishSession(stockfish, directory) as session:
        greeting = session.ask("uci", "uciok", start_limit)
        engine = next((line[8:].strip() for line in greeting if line.startswith("id name ")), "?")
        options = [match[1] for match in map(_NETWORK_OPTION.fullmatch, greeting) if match]
        if not options:
            raise NetworkError(f"{engine} has no network")
        # Stockfish runs in `directory`, and the names have no directory: a name ends at a space.
        files = [f"{number}.nnue" for number in range(len(options))]
        request = f"export_net {' '.join(files)}\nisready"
        answer = session.ask(request, "readyok", export_limit)
        complaints = " ".join(filter(_COMPLAINT.search, answer)) or "it wrote no file"
    exported = []
    for file, option in zip(files, options, strict=True):
        path = os.path.join(directory, file)
        if not os.path.exists(path):
            raise NetworkError(f"{engine} can't export its network: {complaints}")
        exported.append(_check(path, engine, option.strip()))
    return Export(engine, exported)


def _check(path: str, engine: str, option: str) -> ExportedFile:
    """Compare a file's hash with its name. Raises NetworkError if they differ."""
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    name = f"nn-{digest.hexdigest()[:12]}.nnue"
    if _NETWORK_NAME.fullmatch(option) and option != name:
        raise NetworkError(
            f"the network that {engine} wrote is damaged: it is {name}, not {option}",
            "check whether the disk is full",
        )
    return ExportedFile(path, name, digest.digest())


class _StockfishSession:
    """A Stockfish process for a few commands, each with a time limit."""

    def __init__(self, path: str, directory: str) -> None:
        self._path = path
        try:
            self._popen = subprocess.Popen(
                [path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd=directory,
                start_new_session=True,  # a Ctrl-C in the terminal does not reach it
            )
        except OSError as error:
            raise NetworkError(f"can't run {path}: {error.strerror or error}") from error

    def __enter__(self) -> "_StockfishSession":
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process and its group: a path may name a script that starts the real program."""
        if self._popen.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(LAST_WAIT)
        for stream in (self._popen.stdin, self._popen.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()

    def ask(self, command: str, last: str, limit: float) -> list[str]:
        """Send a command and read lines up to the line `last`, for at most `limit` seconds.

        Raises NetworkError if that line does not come.
        """
        assert self._popen.stdin is not None and self._popen.stdout is not None
        text = b""
        output = self._popen.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        end = time.monotonic() + limit
        with contextlib.suppress(BrokenPipeError):  # the end of its output gives the error
            self._popen.stdin.write(f"{command}\n".encode())  # short enough for the pipe
        while True:
            lines = text.decode("utf-8", "replace").splitlines()
            if last in lines and text.endswith(b"\n"):
                return lines
            left = end - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                name = command.partition(" ")[0]
                raise NetworkError(f"{self._path} does not answer {name!r}")
            chunk = os.read(output, READ_BYTES)
            text += chunk
            if not chunk or len(text) > MOST_TEXT:
                raise NetworkError(f"{self._path} does not speak UCI, or was killed")
