"""The file of `obscuro bridge --config`: every option of the command line by its name, in TOML.

`obscuro.cli.grammar` defines the options once. What the file says is read as if it stood on the
command line, so the same limits hold, and the same words say what is wrong.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from obscuro.cli.arguments import parse
from obscuro.cli.command_support import CommandError
from obscuro.cli.grammar.service_commands import add_bridge_options
from obscuro.toml_text import TomlError, read_toml

ENGINE = "engine"
"""The table of the engine's options."""
PATHS = ("pgn", "games_file", "log", "token_file")
"""Options that name a file; a relative one begins at the folder of the configuration."""
_WIDTH = 98
_UNITS = {"SECONDS": "seconds", "MS": "milliseconds", "CP": "centipawns"}


class _FileParser(argparse.ArgumentParser):
    """Reads the options of one key; what is wrong is a CommandError. options: all, in order."""

    def __init__(self) -> None:
        self.options: list[argparse.Action] = []
        super().__init__(add_help=False, allow_abbrev=False)
        add_bridge_options(self)

    def add_argument(self, *names: Any, **values: Any) -> argparse.Action:
        """Add an option and keep it."""
        self.options.append(super().add_argument(*names, **values))
        return self.options[-1]

    def error(self, message: str) -> NoReturn:
        """Raise CommandError with the message, without the name of the flag."""
        raise CommandError(re.sub(r"^argument --[\w-]+: ", "", message))


def with_file(arguments: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments of `obscuro bridge`, with what its --config says where they say nothing.

    Raises CommandError.
    """
    if arguments.config is None:
        return arguments
    words = list(arguments.words)
    after = words.index("bridge") + 1
    return parse([*words[:after], *file_words(Path(arguments.config)), *words[after:]])


def file_words(path: Path) -> list[str]:
    """Return what a file says, as words of the command line. Raises CommandError."""
    words = []
    for key, value in _read(path).items():
        try:
            words += _engine_words(value) if key == ENGINE else _words(key, value, path.parent)
        except CommandError as error:
            raise CommandError(f"{path}: {key}: {error}") from None
    return words


def _read(path: Path) -> Mapping[str, Any]:
    """Return the keys of a file, which are all known. Raises CommandError."""
    try:
        text = path.read_text(encoding="utf-8")
        table = read_toml(text, path)
    except OSError as error:
        raise CommandError(f"can't read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not a text file (UTF-8)") from None
    except TomlError as error:
        raise CommandError(str(error)) from None
    known = [*keys(), ENGINE]
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key.replace("-", "_").lower(), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the keys are: {', '.join(known)}"
            raise CommandError(f"{path}: unknown key {key!r}; {hint}")
    return table


def keys() -> Mapping[str, Any]:
    """Return the names of the options, with their defaults."""
    defaults = vars(_FileParser().parse_args([]))
    del defaults["option"]  # which is the table `engine`
    return defaults


def _words(key: str, value: object, folder: Path) -> list[str]:
    """Return an option as words of the command line. Raises CommandError if it is not right."""
    flag, default = f"--{key.replace('_', '-')}", keys()[key]
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise CommandError("true or false, please")
        return [flag] if value else []
    if isinstance(default, list):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise CommandError("a list of texts, please")
        return [f"{flag}={each}" for each in value]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise CommandError("a text or a whole number, please")
    text = str(folder / str(value)) if key in PATHS else str(value)
    words = [f"{flag}={text}"]
    _FileParser().parse_args(words)
    return words


def _engine_words(table: object) -> list[str]:
    if not isinstance(table, Mapping):
        raise CommandError("a table of the engine's options, please")
    words = []
    for name, value in table.items():
        if isinstance(value, bool):
            value = str(value).lower()  # noqa: PLW2901
        if not isinstance(value, str | int | float):
            raise CommandError(f"{name}: a text, a number, true or false, please")
        words.append(f"--option={name}={value}")
    return words


def write_template(path: Path) -> None:
    """Write a file that sets nothing, and shows every option with its default or an example.

    Raises CommandError if it is there already, or can't be written.
    """
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(template())
    except FileExistsError:
        raise CommandError(f"{path} is there already; name another file, or remove it") from None
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror or error}") from None


def template() -> str:
    """Return the text of such a file."""
    return "\n".join(_template_lines())


def _template_lines() -> Iterator[str]:
    yield "# Options of `obscuro bridge`, for: obscuro bridge --config bridge.toml"
    yield "# Remove the # before an option to set it. docs/bridge.md explains them."
    yield "# The token never stands here. It comes from OBSCURO_BOT_TOKEN or from token_file."
    abouts = dict(_abouts())
    for key, default in keys().items():
        yield ""
        yield from (f"# {line}" for line in abouts[key])
        if default is None:
            yield "# It has no default. For example:"
        yield f"#{key} = {_toml(key, default)}"
    yield ""
    yield "# Options of the engine; docs/protocol.md has all."
    yield f"#[{ENGINE}]"
    yield "#Threads = 2"
    yield ""


def _abouts() -> Iterator[tuple[str, list[str]]]:
    """Yield the help of each option, wrapped; its default stands beside it."""
    for action in _FileParser().options:
        text = re.sub(r"(; )?default: .*$", "", action.help or "")
        text = text.replace("; may be given several times", "")
        text = text or " or ".join(map(str, action.choices or ()))
        unit = _UNITS.get(str(action.metavar), "")
        if unit not in text and str(action.metavar) not in text:
            text += f", in {unit}"
        yield action.dest, textwrap.wrap(text, _WIDTH)


def _toml(key: str, default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    if default is None:
        return _EXAMPLES[key]
    return json.dumps(default)  # whole numbers, lists and texts look the same


_EXAMPLES = {
    "en_passant": '"hidden"',
    "leave_after": "10",
    "resign_score": "-900",
    "greeting": '"Good luck"',
    "farewell": '"Thank you for the game"',
    "pgn": '"games.pgn"',
    "games_file": '"games.json"',
    "log": '"bridge.log"',
    "token_file": '"token"',
}
"""What the template shows of options that have no default."""
