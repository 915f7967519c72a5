"""The networks of the installed Stockfish: exported once, then mapped from the cache.

The project downloads and ships no network. It uses the user's own copy, from the installed
Stockfish. The cache is beside that of the compiled kernels (see `obscuro.kernel_cache`), in
`networks/`:

    nn-ad9b42354671.v1       a network, see `store.py`
    stockfish-<hash>.v1      the names of the networks of the program with this path, size and time

`python -m obscuro.evaluation.nnue.install [STOCKFISH]` fills the cache.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

from obscuro import kernel_cache
from obscuro.evaluation.nnue import store
from obscuro.evaluation.nnue.export import Export, ExportedFile, export_networks
from obscuro.evaluation.nnue.file_format import read_network
from obscuro.evaluation.nnue.network import Network, NetworkError
from obscuro.evaluation.stockfish.process import stockfish_path

PATIENCE = 30.0  # seconds to wait while another process exports; then this one exports too
KEPT = 6  # the number of networks in the cache: those of the last three to six versions
SPACE = 256 << 20  # bytes for the largest network's exported and converted files
ABANDONED = 3600.0  # seconds after which the leftovers of a killed process are removed

_INSTALL = "run engine_bin/install_stockfish, or put stockfish on PATH"
_SET_PLACE = "set OBSCURO_CACHE_DIR to a directory that you can write to"
_SUFFIX = f".v{store.LAYOUT}"


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
        path = os.path.join(directory, store.file_name(sha256))
        network = store.open_mapped(directory, sha256)
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
    store.write(network, file.sha256, directory)


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
