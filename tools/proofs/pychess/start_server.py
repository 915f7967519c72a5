"""Start a checkout of gbtami/pychess-variants on this machine, with its database in one file.

    PORT=8080 BOT_TOKENS='{"TOKEN": "Bot"}' ACCOUNTS='["Ann"]' \
        INTERPRETER start_server.py CHECKOUT DATABASE

The server's own interpreter runs this file, so it uses nothing of this project. It imports the
server from the checkout as it is and changes no file there. The database is mongomock, in memory;
every change is in the file DATABASE within SAVE_SECONDS. A server that is killed and started again
with the same file finds what was saved. ACCOUNTS are people who have an account; whose session's
cookie names them is logged in.
"""

from __future__ import annotations

import asyncio
import importlib.machinery
import json
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from aiohttp import web  # type: ignore[import-not-found]
from mongomock import MongoClient  # type: ignore[import-not-found]
from mongomock.collection import BulkOperationBuilder  # type: ignore[import-not-found]
from mongomock_motor import AsyncMongoMockClient  # type: ignore[import-not-found]

SAVE_SECONDS = 0.2
"""How often the database is looked at. A kill loses what came after the last look."""


class AnnotationsLoader(importlib.machinery.SourceFileLoader):
    """Loads a module as if it began with `from __future__ import annotations`.

    The server is written for Python 3.14, which evaluates annotations late.
    """

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        """Compile the source with late annotations."""
        flags = annotations.compiler_flag
        return compile(data, path, "exec", flags, dont_inherit=True, optimize=_optimize)


def import_server(checkout: Path) -> ModuleType:
    """Import the server's main module from a checkout."""
    hook = importlib.machinery.FileFinder.path_hook((AnnotationsLoader, [".py"]))
    server = str(checkout / "server")
    sys.path_hooks.insert(0, lambda path: hook(path) if path.startswith(server) else _pass())
    sys.path.insert(0, server)
    importlib.import_module("logger").init_default_logger()
    return importlib.import_module("server")


def _pass() -> Any:
    raise ImportError


# -- the database -----------------------------------------------------------------------------


def ignore_sort() -> None:
    """Let mongomock's bulk operations take the argument `sort` of newer pymongo, and ignore it."""

    def without_sort(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, sort: Any = None, **options: Any) -> Any:
            return method(*arguments, **options)

        return call

    for name in ("add_update", "add_replace"):
        setattr(BulkOperationBuilder, name, without_sort(getattr(BulkOperationBuilder, name)))


def content(client: Any) -> bytes:
    """Return all documents of all databases, pickled."""
    return pickle.dumps(
        {
            name: {each: list(client[name][each].find()) for each in names}
            for name in client.list_database_names()
            if (names := client[name].list_collection_names())
        }
    )


def load(file: Path, client: Any) -> None:
    """Fill an empty database from a file, if there is one."""
    if not file.exists():
        return
    for name, collections in pickle.loads(file.read_bytes()).items():
        for each, documents in collections.items():
            if documents:
                client[name][each].insert_many(documents)


def add_accounts(users: Any, names: Sequence[str]) -> None:
    """Give everybody an account, unless they have one."""
    for name in names:
        account = {"_id": name, "username_lower": name.lower(), "title": ""}
        users.update_one({"_id": name}, {"$setOnInsert": account}, upsert=True)


async def keep_saved(file: Path, client: Any) -> None:
    """Write the database to a file after every change, until cancelled."""
    saved = b""
    while True:
        now = content(client)
        if now != saved:
            part = file.with_suffix(".part")
            part.write_bytes(now)
            part.replace(file)
            saved = now
        await asyncio.sleep(SAVE_SECONDS)


def main() -> None:
    """Run the server until it is killed."""
    checkout, file = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    port = int(os.environ["PORT"])
    os.environ.setdefault("URI", f"http://127.0.0.1:{port}")
    os.chdir(checkout)
    ignore_sort()
    server = import_server(checkout)
    client = MongoClient(tz_aware=True)
    load(file, client)  # documents hold values of the server's own types
    add_accounts(client["pychess-variants"]["user"], json.loads(os.environ["ACCOUNTS"]))
    app = server.make_app(
        db_client=AsyncMongoMockClient(mock_mongo_client=client),
        simple_cookie_storage=True,
    )

    async def begin(app: Any) -> None:
        app["keep_saved"] = asyncio.create_task(keep_saved(file, client))

    app.on_startup.append(begin)
    web.run_app(app, host="127.0.0.1", port=port, access_log=None)


if __name__ == "__main__":
    main()
