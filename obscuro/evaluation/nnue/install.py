"""The networks of the Stockfish that is installed here: fetched once, then mapped from the cache.

Nothing is downloaded and nothing is shipped: the network is the user's own copy, from a Stockfish
that he has. It is kept where the compiled kernels are (see `obscuro.kernel_cache`), in `networks/`:

    nn-ad9b42354671.v1       a network, see `store.py`
    stockfish-<hash>.v1      what we got from the program with this path, size and time

`python -m obscuro.evaluation.nnue.install [STOCKFISH]` fetches them.
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

PATIENCE = 30.0  # seconds to wait for another process that is fetching; then we do it too
KEPT = 6  # networks: those of the last three to six Stockfishes
SPACE = 256 << 20  # bytes, for what the largest takes: exported, then converted
ABANDONED = 3600.0  # seconds after which what a killed process has left behind is removed

_INSTALL = "run engine_bin/install_stockfish, or put stockfish on PATH"
_SET_PLACE = "set OBSCURO_CACHE_DIR to a directory that can be written"
_SUFFIX = f".v{store.LAYOUT}"


class InstalledNetwork(NamedTuple):
    """A network, ready to use."""

    name: str  # as Stockfish calls it: nn-ad9b42354671.nnue
    engine: str  # the Stockfish that it is from, by its `id name`
    path: str  # the mapped file
    network: Network


def load_networks(stockfish: str | None = None) -> list[InstalledNetwork]:
    """The networks of a Stockfish: the one that it evaluates with, then the small one, if any.

    They are mapped from the cache, within milliseconds; those of a Stockfish that is new to us are
    fetched from it first, in a second or two.

    stockfish: as for `stockfish_path`. Raises NetworkError, one line, where there is no Stockfish,
    it has no network that we can read, or nothing can be kept anywhere.
    """
    path = stockfish_path(stockfish)
    if path is None:
        wanted = stockfish or "Stockfish"
        raise NetworkError(f"{wanted} is not there to take its network", _INSTALL)
    key = _key(path)
    reason = "there is none"
    for directory in kernel_cache.candidates("networks"):
        with contextlib.suppress(OSError, NetworkError):  # also where we can read but not write
            return _look_up(directory, key)
        try:
            return _fetch_once(path, directory, key)
        except OSError as error:  # no right to write, or no space: the next place may do
            reason = f"{directory}: {error.strerror or error}"
    raise NetworkError(f"there is no place to keep the network, {reason}", _SET_PLACE)


def _key(path: str) -> str:
    """A hash of what tells one program from another without running it."""
    real = os.path.realpath(path)
    try:
        found = os.stat(real)
    except OSError as error:
        raise NetworkError(f"{path} can't be read: {error.strerror}", _INSTALL) from error
    facts = f"{real}\0{found.st_size}\0{found.st_mtime_ns}"
    return hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _index(directory: str, key: str) -> str:
    return os.path.join(directory, f"stockfish-{key}{_SUFFIX}")


def _look_up(directory: str, key: str) -> list[InstalledNetwork]:
    """What the cache has for a Stockfish. Raises OSError or NetworkError if that is not all of it."""
    index = _index(directory, key)
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
            os.utime(path)  # `_prune` goes by it
    return installed


def _fetch_once(stockfish: str, directory: str, key: str) -> list[InstalledNetwork]:
    """Fetch unless another process does so just now. Raises OSError if nothing can be written."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    with _lock(os.path.join(directory, "lock")):
        with contextlib.suppress(OSError, NetworkError):
            return _look_up(directory, key)
        _prune(directory)
        _fetch(stockfish, directory, key)
        return _look_up(directory, key)


@contextlib.contextmanager
def _lock(path: str) -> Iterator[None]:
    """Hold a lock while no more than one process does, or go on without it after some time.

    It saves work and is not needed: files get their names when they are complete.
    """
    with open(path, "ab") as stream:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:  # some file systems have no locks
                break
            else:
                break
        yield


def _fetch(stockfish: str, directory: str, key: str) -> None:
    """Export the networks, convert them, and note which they are."""
    if shutil.disk_usage(directory).free < SPACE:  # Stockfish would write what there is space for
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    passing = tempfile.mkdtemp(prefix="export-", dir=directory)
    try:
        export = export_networks(stockfish, passing)
        for file in export.files:
            _convert(file, directory)
        _note(export, _index(directory, key))
    finally:
        shutil.rmtree(passing, ignore_errors=True)


def _convert(file: ExportedFile, directory: str) -> None:
    with open(file.path, "rb") as stream:
        _, network = read_network(stream.read())
    store.write(network, file.sha256, directory)


def _note(export: Export, index: str) -> None:
    """Write down which networks a Stockfish has."""
    entry = {"engine": export.engine, "networks": [file.sha256.hex() for file in export.files]}
    descriptor, temporary = tempfile.mkstemp(prefix="part-", dir=os.path.dirname(index))
    with open(descriptor, "w", encoding="utf-8") as stream:
        json.dump(entry, stream)
    os.chmod(temporary, 0o644)
    os.replace(temporary, index)


def _prune(directory: str) -> None:
    """Remove networks long out of use, and what killed processes have left."""
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
    """Fetch the networks and print where they are; the exit code is 1 if there are none."""
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
