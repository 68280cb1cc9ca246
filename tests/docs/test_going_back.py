"""What docs/run/installing.md says of upgrading and going back keeps the older database."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from aitp_desk.store.engine.migration import migrate
from tests.docs.snippets import ROOT, blocks
from tests.support.desk.command import COMMAND

PAGE = ROOT / "docs/run/installing.md"
FOLDERS = ("/opt", "/var/lib/aitp-desk", "/etc/aitp-desk")
PROGRAMS = {"systemctl": 'echo "$@" >> systemctl.log', "sudo": 'shift 2; exec "$@"'}
"""What needs root or systemd."""


class Machine:
    """A machine with two versions, in a folder; ``/opt/aitp-desk`` leads to the one in use."""

    def __init__(self, folder: Path) -> None:
        self._root, self._home = folder / "root", folder / "home"
        for name in ("opt/aitp-desk-0.1.0/bin", "opt/aitp-desk-0.2.0/bin", "etc/aitp-desk"):
            (self._root / name).mkdir(parents=True)
        for version in ("0.1.0", "0.2.0"):
            (self._root / f"opt/aitp-desk-{version}/bin/aitp-desk").symlink_to(COMMAND)
        (self._root / "var/lib/aitp-desk").mkdir(parents=True, mode=0o700)
        self.link = self._root / "opt/aitp-desk"
        self.data = self._root / "var/lib/aitp-desk"
        (self._home / "bin").mkdir(parents=True)
        for name, script in PROGRAMS.items():
            program = self._home / "bin" / name
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)

    def run(self, commands: str) -> str:
        """Run commands of the page until one fails; what they print, errors too."""
        named = "|".join(FOLDERS)
        here = re.sub(rf"(?<![\w.])({named})(?!\w)", rf"{self._root}\1", commands)
        path = os.pathsep.join((str(self._home / "bin"), os.environ["PATH"]))
        environment: Mapping[str, str] = {**os.environ, "PATH": path}
        done = subprocess.run(
            ["sh", "-e", "-c", here],
            cwd=self._home,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def desk(self, command: str) -> str:
        """Run a command of the desk that is in use, with the master key."""
        key = "AITP_DESK_MASTER_KEY_FILE=/etc/aitp-desk/master.key"
        return self.run(f"{key} /opt/aitp-desk/bin/aitp-desk {command}")

    @property
    def services(self) -> list[str]:
        """What systemd was asked for."""
        return (self._home / "systemctl.log").read_text().splitlines()


@pytest.mark.slow
@pytest.mark.sqlite
def test_going_back_brings_the_database_of_before_the_upgrade(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.link.symlink_to("aitp-desk-0.1.0")
    machine.run("openssl rand -hex 32 > /etc/aitp-desk/master.key")
    machine.run("chmod 400 /etc/aitp-desk/master.key")
    made = "token create --data /var/lib/aitp-desk --scope threads --name"
    with closing(sqlite3.connect(machine.data / "desk.db", isolation_level=None)) as new:
        migrate(new, now=0)
    machine.desk(f"{made} before")
    machine.desk("store backup --data /var/lib/aitp-desk before.db")
    (change,) = re.findall(r"`(ln -sfn [^`]*0\.2\.0[^`]*)`", PAGE.read_text("utf-8"))
    machine.run(change)
    machine.desk(f"{made} after")
    with closing(sqlite3.connect(machine.data / "desk.db")) as newer, newer:
        # as the newer version does, which has one more
        newer.execute(
            "INSERT INTO migrations SELECT max(number) + 1, 'f', max(applied_at) FROM migrations"
        )
    listed = "token list --data /var/lib/aitp-desk"
    assert "was written by a newer version" in machine.desk(listed)
    (block,) = blocks(PAGE, "Go back")
    assert "Restored" in machine.run(block.code)
    assert str(machine.link.readlink()) == "aitp-desk-0.1.0"
    assert machine.services == ["restart aitp-desk", "stop aitp-desk", "start aitp-desk"]
    found = machine.desk(listed)
    assert "before" in found
    assert "after" not in found
    assert (machine.data / "failed" / "desk.db").exists()
