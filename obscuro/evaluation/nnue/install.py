"""The networks of the installed Stockfish: exported once, then mapped from the cache.

The project downloads and ships no network. It uses the user's own copy, from the installed
Stockfish. The cache is beside that of the compiled kernels (see `obscuro.kernel_cache`), in
`networks/`:

    nn-ad9b42354671.v1       a network, see `py`
    stockfish-<hash>.v1      the names of the networks of the program with this path, size and time

`python -m obscuro.evaluation.nnue.install [STOCKFISH]` fills the cache.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import math
import mmap
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro import kernel_cache
from obscuro.evaluation.nnue.file_format import read_network
from obscuro.evaluation.nnue.network import Network, NetworkError, shapes
from obscuro.evaluation.stockfish_program import stockfish_path

LAYOUT = 1  # the number of this layout, which is part of the files' names
ALIGNMENT = 64
HEADER_BYTES = 4096

_MAGIC = b"OBSCURO NETWORK\n"
_HEADER = struct.Struct("=16sIIQ32s")  # magic, layout, L1, size of the file, SHA-256 of the source


def file_name(sha256: bytes) -> str:
    """Return the name of the file for the network whose `.nnue` file has this hash."""
    return f"nn-{sha256.hex()[:12]}.v{LAYOUT}"


def write(network: Network, sha256: bytes, directory: str) -> str:
    """Write a network into a directory and return the file's path. Raises OSError.

    sha256: the hash of the network's `.nnue` file. Processes that have mapped an older file keep
    it.
    """
    width = network.feature_bias.size
    offsets, size = _places(width)
    path = os.path.join(directory, file_name(sha256))
    descriptor, temporary = tempfile.mkstemp(prefix="part-", dir=directory)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(_HEADER.pack(_MAGIC, LAYOUT, width, size, sha256))
            for array, offset in zip(network, offsets, strict=True):
                stream.seek(offset)
                stream.write(np.ascontiguousarray(array).data)
            stream.truncate(size)
            stream.flush()
            os.fsync(stream.fileno())  # else a crash may leave a named file of zeros
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return path


def open_mapped(directory: str, sha256: bytes) -> Network:
    """Map the network whose `.nnue` file has this hash. Its arrays are read-only.

    The function checks the header and the size, not every byte. Raises OSError if there is no such
    file, and NetworkError if the header does not match the name.
    """
    path = os.path.join(directory, file_name(sha256))
    with open(path, "rb") as stream:
        header = stream.read(_HEADER.size)
        found = os.fstat(stream.fileno()).st_size
        if len(header) < _HEADER.size:
            raise NetworkError(f"{path} is damaged", "remove it")
        magic, layout, width, size, source = _HEADER.unpack(header)
        offsets, expected = _places(width)
        if (magic, layout, size, found) != (_MAGIC, LAYOUT, expected, expected) or source != sha256:
            raise NetworkError(f"{path} is damaged", "remove it")
        # If the system can, load all pages now instead of one by one at the first evaluations.
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        mapping = mmap.mmap(stream.fileno(), size, flags=flags, prot=mmap.PROT_READ)
    arrays = (
        _array(mapping, offset, kind, shape)
        for offset, (kind, shape) in zip(offsets, shapes(width).values(), strict=True)
    )
    return Network(*arrays)


def _array(
    mapping: mmap.mmap, offset: int, kind: type[np.signedinteger], shape: tuple[int, ...]
) -> NDArray[Any]:
    return np.frombuffer(mapping, kind, math.prod(shape), offset).reshape(shape)


def _places(width: int) -> tuple[list[int], int]:
    """Return the offset of each array of a network with L1 = width, and the size of the file."""
    offsets = []
    end = HEADER_BYTES
    for kind, shape in shapes(width).values():
        offsets.append(end)
        end += math.prod(shape) * np.dtype(kind).itemsize
        end += -end % ALIGNMENT
    return offsets, end


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


PATIENCE = 30.0  # seconds to wait while another process exports; then this one exports too
KEPT = 6  # the number of networks in the cache: those of the last three to six versions
SPACE = 256 << 20  # bytes for the largest network's exported and converted files
ABANDONED = 3600.0  # seconds after which the leftovers of a killed process are removed

_INSTALL = "install Stockfish, or put it on PATH as stockfish"
_SET_PLACE = "set OBSCURO_CACHE_DIR to a directory that you can write to"
_SUFFIX = f".v{LAYOUT}"


class InstalledNetwork(NamedTuple):
    """A network in the cache, ready to use."""

    name: str  # Stockfish's name for it: nn-ad9b42354671.nnue
    engine: str  # the `id name` of its Stockfish
    path: str  # the mapped file
    network: Network


def load_networks(stockfish: str | None = None) -> list[InstalledNetwork]:
    """Return the networks of a Stockfish: the one it evaluates with, then the small one if any.

    Mapping them from the cache takes milliseconds. For a Stockfish that is not in the cache, the
    export takes a second or two.

    stockfish: as for `stockfish_path`. Raises NetworkError with a line for the user if there is no
    Stockfish, if its network is unreadable, or if no cache directory is writable.
    """
    path = stockfish_path(stockfish)
    if path is None:
        wanted = stockfish or "Stockfish"
        raise NetworkError(f"{wanted} is missing, so its network is too", _INSTALL)
    key = _program_key(path)
    reason = "there is none"
    for directory in kernel_cache.candidates("networks"):
        with contextlib.suppress(OSError, NetworkError):  # a read-only cache may have them
            return _map_from_cache(directory, key)
        try:
            return _export_once(path, directory, key)
        except OSError as error:  # not writable, or full: try the next directory
            reason = f"{directory}: {error.strerror or error}"
    raise NetworkError(f"there is no place to keep the network, {reason}", _SET_PLACE)


def _program_key(path: str) -> str:
    """Hash the path, size and time of a program, which identify it without running it."""
    real = os.path.realpath(path)
    try:
        found = os.stat(real)
    except OSError as error:
        raise NetworkError(f"{path} can't be read: {error.strerror}", _INSTALL) from error
    facts = f"{real}\0{found.st_size}\0{found.st_mtime_ns}"
    return hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _index_path(directory: str, key: str) -> str:
    return os.path.join(directory, f"stockfish-{key}{_SUFFIX}")


def _map_from_cache(directory: str, key: str) -> list[InstalledNetwork]:
    """Map a Stockfish's networks. Raises OSError or NetworkError if the cache lacks any."""
    index = _index_path(directory, key)
    try:
        with open(index, encoding="utf-8") as stream:
            entry = json.load(stream)
        engine = str(entry["engine"])
        hashes = [bytes.fromhex(text) for text in entry["networks"]]
    except (ValueError, KeyError, TypeError) as error:
        raise NetworkError(f"{index} is damaged", "remove it") from error
    if not hashes:
        raise NetworkError(f"{index} is damaged", "remove it")
    installed = []
    for sha256 in hashes:
        path = os.path.join(directory, file_name(sha256))
        network = open_mapped(directory, sha256)
        name = f"nn-{sha256.hex()[:12]}.nnue"
        installed.append(InstalledNetwork(name, engine, path, network))
        with contextlib.suppress(OSError):
            os.utime(path)  # `_prune` keeps the files with the latest times
    return installed


def _export_once(stockfish: str, directory: str, key: str) -> list[InstalledNetwork]:
    """Export, or wait while another process does. Raises OSError without the right to write."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    with _lock(os.path.join(directory, "lock")):
        with contextlib.suppress(OSError, NetworkError):
            return _map_from_cache(directory, key)
        _prune(directory)
        _export(stockfish, directory, key)
        return _map_from_cache(directory, key)


@contextlib.contextmanager
def _lock(path: str) -> Iterator[None]:
    """Hold an exclusive lock; after PATIENCE seconds go on without it.

    The lock only saves work. Without it the cache is still correct, because a file gets its name
    when it is complete.
    """
    with open(path, "ab") as stream:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:  # this file system has no locks
                break
            else:
                break
        yield


def _export(stockfish: str, directory: str, key: str) -> None:
    """Export the networks, convert them, and write the index."""
    if shutil.disk_usage(directory).free < SPACE:  # Stockfish would write a truncated file
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    temporary = tempfile.mkdtemp(prefix="export-", dir=directory)
    try:
        export = export_networks(stockfish, temporary)
        for file in export.files:
            _convert(file, directory)
        _write_index(export, _index_path(directory, key))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _convert(file: ExportedFile, directory: str) -> None:
    with open(file.path, "rb") as stream:
        _, network = read_network(stream.read())
    write(network, file.sha256, directory)


def _write_index(export: Export, index: str) -> None:
    """Write the names of a Stockfish's networks to the file `index`."""
    entry = {"engine": export.engine, "networks": [file.sha256.hex() for file in export.files]}
    descriptor, temporary = tempfile.mkstemp(prefix="part-", dir=os.path.dirname(index))
    with open(descriptor, "w", encoding="utf-8") as stream:
        json.dump(entry, stream)
    os.chmod(temporary, 0o644)
    os.replace(temporary, index)


def _prune(directory: str) -> None:
    """Remove the networks that were not used for longest, and the leftovers of killed processes."""
    networks = []
    with os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                used = entry.stat(follow_symlinks=False).st_mtime
                if entry.name.startswith("nn-"):
                    networks.append((used, entry.path))
                elif entry.name.startswith("part-") and used < time.time() - ABANDONED:
                    os.unlink(entry.path)
                elif entry.name.startswith("export-") and used < time.time() - ABANDONED:
                    shutil.rmtree(entry.path, ignore_errors=True)
    for _, path in sorted(networks, reverse=True)[KEPT:]:
        with contextlib.suppress(OSError):
            os.unlink(path)


def main(arguments: list[str]) -> int:
    """Fill the cache and print the networks' paths; return exit code 1 if there are none."""
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print("usage: export_network [STOCKFISH]", file=sys.stderr)
        return 2
    try:
        networks = load_networks(arguments[0] if arguments else None)
    except NetworkError as error:
        print(f"export_network: {error}", file=sys.stderr)
        return 1
    for network in networks:
        print(f"{network.name} of {network.engine}: {network.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
