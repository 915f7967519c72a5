"""Networks made up for tests, small, and the files that would hold them."""

from __future__ import annotations

import hashlib
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.evaluation.nnue import file_format
from obscuro.evaluation.nnue.network import BUCKETS, Network, shapes

WIDTH = 64
DESCRIPTION = "made up"


def random_network(seed: int = 0, width: int = WIDTH) -> Network:
    """A network of random numbers, each of which fits seven bits."""
    rng = np.random.default_rng(seed)
    return Network(*(rng.integers(-64, 64, shape, kind) for kind, shape in shapes(width).values()))


def network_file(network: Network, *, compressed: bool = False) -> bytes:
    """The `.nnue` file of a network."""

    def plain(array: NDArray[Any]) -> bytes:
        return array.astype(array.dtype.newbyteorder("<")).tobytes()

    def parameters(array: NDArray[Any]) -> bytes:
        if not compressed:
            return plain(array)
        code = encode(array)
        return b"COMPRESSED_LEB128" + struct.pack("<I", len(code)) + code

    width = network.feature_bias.size
    transformer, stack = file_format.transformer_word(width), file_format.stack_word(width)
    header = struct.pack("<III", file_format.VERSION, transformer ^ stack, len(DESCRIPTION))
    parts = [header, DESCRIPTION.encode(), struct.pack("<I", transformer)]
    parts += map(parameters, network[:3])
    for bucket in range(BUCKETS):
        parts.append(struct.pack("<I", stack))
        parts += [plain(array[bucket]) for array in network[3:]]
    return b"".join(parts)


def encode(numbers: NDArray[Any]) -> bytes:
    """Signed LEB128."""
    flat = numbers.reshape(-1)
    if flat.size and flat.min() >= -64 and flat.max() < 64:
        return (flat & 0x7F).astype(np.uint8).tobytes()
    return b"".join(map(encode_one, flat.tolist()))


def encode_one(number: int) -> bytes:
    """The seven bits at a time, until what is left is the sign alone."""
    code = bytearray()
    while not -64 <= number < 64:
        code.append(number & 0x7F | 0x80)
        number >>= 7
    code.append(number & 0x7F)
    return bytes(code)


def name_of(data: bytes) -> str:
    """What Stockfish calls the network with this file."""
    return f"nn-{hashlib.sha256(data).hexdigest()[:12]}.nnue"


TALK = """
import os, shutil, sys
folder = {folder!r}
with open(os.path.join(folder, "starts"), "a") as starts:
    starts.write("x")
for line in sys.stdin:
    if line == "uci\\n":
        print("id name Stockfish 99")
        for option, name in {options!r}:
            print("option name", option, "type string default", name)
        print("uciok", flush=True)
    elif line == "isready\\n":
        print("readyok", flush=True)
    elif line == "quit\\n":
        break
    elif line.startswith("export_net"):
        targets = line.split()[1:]
"""
COPY = """
for number, target in enumerate(targets):
    shutil.copy(os.path.join(folder, f"source{number}"), target)
print("Network saved successfully", flush=True)
"""


def fake_stockfish(
    folder: Path, *files: bytes, names: list[str] | None = None, export: str = COPY
) -> str:
    """The path of a program that says and exports networks as Stockfish does.

    names: in place of the right ones. export: what it does to write `targets`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(files):
        (folder / f"source{number}").write_bytes(data)
    if names is None:
        names = [name_of(data) for data in files]
    options = list(zip(("EvalFile", "EvalFileSmall"), names, strict=False))
    body = "".join(f"        {line}\n" for line in export.strip().splitlines())
    path = folder / "stockfish"
    text = TALK.format(folder=str(folder), options=options) + body
    path.write_text(f"#!{sys.executable} -SE\n{text}")
    path.chmod(0o755)
    return str(path)


def starts_of(folder: Path) -> int:
    """How often that program was started."""
    return len((folder / "starts").read_text())
