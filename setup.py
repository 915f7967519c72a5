"""What pyproject.toml can't say: the README of the index's page, and the stamp of the commit.

An index shows the README away from its repository. So its pictures and links get the addresses that
they have there, if `[project.urls]` names the repository. The stamp tells an installed copy which
commit it was built from.
"""

import re
import sys
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from obscuro.version import STAMP, full_version  # noqa: E402

_TARGET = re.compile(r"""(\]\(|(?:src|srcset|href)=["'])(?![a-z]+:|#)([^)\s"']+)""")
_PICTURES = (".svg", ".png", ".gif", ".jpg", ".webp")


def index_readme(text: str, repository: str, version: str) -> str:
    """Return a README with the addresses of its pictures and pages in place of their paths."""

    def absolute(match: re.Match[str]) -> str:
        room = "raw" if match[2].endswith(_PICTURES) else "blob"
        return f"{match[1]}{repository}/{room}/{version}/{match[2]}"

    return _TARGET.sub(absolute, text)


def write_stamp(directory: Path) -> None:
    """Write the version with its commit into a copy of the tree, unless this tree knows no commit."""
    if (ROOT / ".git").exists() or (ROOT / "obscuro" / STAMP).exists():
        (directory / "obscuro" / STAMP).write_text(full_version(str(ROOT)) + "\n")


class StampedBuild(build_py):
    """Copies the package, with a stamp."""

    def run(self) -> None:
        """Copy the package."""
        super().run()
        if not self.editable_mode:
            write_stamp(Path(self.build_lib))


class StampedSdist(sdist):
    """Copies the tree, with a stamp."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copy the tree."""
        super().make_release_tree(base_dir, files)
        write_stamp(Path(base_dir))


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    readme = (ROOT / "README.md").read_text("utf-8")
    if repository := project.get("urls", {}).get("Repository"):
        from obscuro import __version__

        readme = index_readme(readme, repository, f"v{__version__}")

    setup(
        long_description=readme,
        long_description_content_type="text/markdown",
        cmdclass={"build_py": StampedBuild, "sdist": StampedSdist},
    )
