"""What a copy of the program tells its user: how to add packages, and where the pages are.

The import loads no package, so that `obscuro doctor` can run without any.
"""

import os
import re
import shlex
import sys
from typing import NamedTuple

from obscuro.version import CHECKOUT

DISTRIBUTION = "obscuro-fow"
"""The name that pip knows. The package and the command are called `obscuro`."""

_EXTRA = re.compile(r"""\bextra\s*==\s*["']([\w-]+)["']""")


class About(NamedTuple):
    """What the metadata says.

    needed: the packages that the program needs, as pip takes them: `rich>=13.7`. extras: those of
    each extra. addresses: by label.
    """

    needed: list[str]
    extras: dict[str, list[str]]
    addresses: dict[str, str]


def how_to_add(extra: str) -> str:
    """Return the command that installs what an extra of ours needs into this Python.

    It names other people's packages, not ours, so it works for a wheel, a checkout and a container.
    """
    return install_command(*about().extras.get(extra, [f"{DISTRIBUTION}[{extra}]"]))


def install_command(*packages: str) -> str:
    """Return the command that installs packages into this Python, by pip or, without pip, by uv."""
    import importlib.util  # noqa: PLC0415 - slow, hence only here

    python = sys.executable or "python3"
    if importlib.util.find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", "--python", python, *packages])
    return shlex.join([python, "-m", "pip", "install", *packages])


def page(name: str) -> str:
    """Return where a page of the documentation is: a file of the checkout, else an address.

    name: its file under docs/. While the metadata has no address, the answer names the file.
    """
    path = os.path.join(CHECKOUT, "docs", name)
    if os.path.exists(path):
        return path
    if address := about().addresses.get("Documentation"):
        return f"{address}/{name}"
    return f"docs/{name} in the repository"


def about() -> About:
    """Return what the metadata says: that of the checkout, else that of the installed copy."""
    try:
        return _checkout()
    except (OSError, ValueError, KeyError):
        return _installed()


def _checkout() -> About:
    """Raises OSError if this is no checkout, ValueError or KeyError if its file is spoilt."""
    import tomllib  # noqa: PLC0415 - slow, hence only here

    with open(os.path.join(CHECKOUT, "pyproject.toml"), "rb") as stream:
        project = tomllib.load(stream)["project"]
    if project["name"] != DISTRIBUTION:
        raise ValueError("the package lies in another project")
    return About(
        project["dependencies"],
        {
            extra: [text.partition(";")[0].strip() for text in texts]
            for extra, texts in project["optional-dependencies"].items()
        },
        project.get("urls", {}),
    )


def _installed() -> About:
    from importlib import metadata  # noqa: PLC0415 - slow, hence only here

    found = About([], {}, {})
    try:
        fields = metadata.metadata(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return found
    for text in fields.get_all("Requires-Dist") or ():
        requirement, _, marker = text.partition(";")
        if match := _EXTRA.search(marker):
            found.extras.setdefault(match[1], []).append(requirement.strip())
        else:
            found.needed.append(requirement.strip())
    for text in fields.get_all("Project-URL") or ():
        label, _, address = text.partition(",")
        found.addresses[label.strip()] = address.strip()
    return found
