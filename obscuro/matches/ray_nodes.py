"""The nodes of a Ray cluster: what each has installed, and how many games it can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class NodeFacts(NamedTuple):
    """A node that Ray knows.

    ident: Ray's id of the node. name: its address, for messages. cores: what it lends to Ray.
    """

    ident: str
    name: str
    cores: float

    def games(self, cores_per_game: int) -> int:
        """Return how many games the node can hold at the same time."""
        return int(self.cores // cores_per_game)


def alive_nodes(listed: list[Mapping[str, Any]]) -> list[NodeFacts]:
    """Return the nodes that are alive, of what `ray.nodes` lists."""
    return [
        NodeFacts(
            str(node["NodeID"]),
            str(node["NodeManagerAddress"]),
            float(node["Resources"].get("CPU", 0)),
        )
        for node in listed
        if node["Alive"]
    ]


class Installed(NamedTuple):
    """The obscuro that a machine has.

    version: None if there is none. digest: a hash of its source files.
    """

    version: str | None
    digest: str


def make_inspector() -> Callable[[], tuple[str | None, str]]:
    """Return a function that says what a machine has installed: the fields of `Installed`.

    Ray sends it to the nodes as code, not by name. So it works on a node without obscuro.
    """

    def inspect() -> tuple[str | None, str]:
        import hashlib  # noqa: PLC0415 - the function brings nothing along
        import importlib  # noqa: PLC0415
        from pathlib import Path  # noqa: PLC0415

        try:
            package: Any = importlib.import_module("obscuro")
        except ImportError:
            return None, ""
        root = Path(package.__file__).parent
        digest = hashlib.sha256()
        for file in sorted(root.rglob("*.py")):
            digest.update(f"{file.relative_to(root)}\n".encode())
            digest.update(file.read_bytes())
        return package.__version__, digest.hexdigest()[:16]

    return inspect


def difference(node: str, there: Installed, here: Installed) -> str | None:
    """Say in one line why a node can't play with us; None if it can."""
    remedy = "install the same on all nodes"
    if there.version is None:
        return f"node {node} has no obscuro in Ray's Python; {remedy}: pip install obscuro[cluster]"
    if there.version != here.version:
        return f"node {node} has obscuro {there.version}, and this machine {here.version}; {remedy}"
    if there.digest != here.digest:
        return (
            f"node {node} has another state of obscuro {there.version} than this machine; {remedy}"
        )
    return None
