"""docs/examples/bridge: the unit of systemd and the Compose file start the bridge as it is."""

from __future__ import annotations

import configparser
import re
import shlex

import yaml

from obscuro.cli.arguments import parse
from obscuro.cli.bridge_command import IN_USE, TOKEN
from obscuro.cli.command_support import INTERRUPTED
from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "examples" / "bridge"


def test_the_unit_of_systemd_starts_the_bridge() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(FOLDER / "obscuro-bridge.service")
    service = unit["Service"]
    program, *words = shlex.split(service["ExecStart"])
    arguments = parse(words)
    assert program.endswith("/obscuro") and arguments.command == "bridge"
    name, source = service["LoadCredential"].split(":")
    assert arguments.token_file == f"%d/{name}" and source == "/etc/obscuro/token"
    assert service["RestartPreventExitStatus"] == str(IN_USE)
    assert service["SuccessExitStatus"] == str(INTERRUPTED)
    assert service["KillSignal"] == "SIGINT" and service["KillMode"] == "mixed"


def test_the_unit_of_systemd_gives_up_on_a_mistake() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(FOLDER / "obscuro-bridge.service")
    minutes, rest = unit["Unit"]["StartLimitIntervalSec"].split("min")
    start_seconds = 30  # until a bridge has read its file, on a slow machine
    tries = int(unit["Unit"]["StartLimitBurst"])
    longest = tries * (int(unit["Service"]["RestartSec"]) + start_seconds)
    assert rest == "" and longest < 60 * int(minutes)


def test_the_compose_file_starts_the_bridge_of_the_image() -> None:
    service = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["bridge"]
    assert parse(service["command"]).command == "bridge"
    assert (FOLDER / service["build"]).resolve() == ROOT
    assert list(service["environment"]) == [TOKEN]
    folders = [volume.split(":")[1] for volume in service["volumes"]]
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert parse(service["command"]).config in folders
    (kept,) = re.findall(r"^VOLUME (\S+)$", dockerfile, re.MULTILINE)
    assert kept in folders
    assert f"-g obscuro {kept}" in dockerfile  # which the container's user must be able to write
    (extras,) = re.findall(r"/tmp/obscuro\[([\w,]+)\]", dockerfile)
    assert "bridge" in extras.split(",")
