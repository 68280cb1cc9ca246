"""``aitp-desk dev``: serves a site on this machine while its owner works on it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from aitp_desk.cli.arguments import data_folder, mistakes_told, overrides, site_folder

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.5
STOP_SECONDS = 30
State = dict[Path, tuple[int, int]]


@click.command()
@site_folder
@click.option("--port", type=int, help="Port to listen on; by default server.port.")
@data_folder
@overrides
def dev(folder: Path, port: int | None, data: Path | None, overrides: tuple[str, ...]) -> None:
    """Serve the site in FOLDER on this machine only, and follow changes.

    It listens on 127.0.0.1, has no limits, and its addresses are local whatever site.url is.
    Changed pages are read again; changed settings and programs (desk.toml, actions.py and others
    next to it) restart the desk. A mistake in them is printed, and the next change tries again.
    """
    with mistakes_told():
        from aitp_desk.config import load_config

        load_config(folder, overrides, host=LOOPBACK, port=port, data=data)
    options = [] if port is None else ["--port", str(port)]
    options += [] if data is None else ["--data", str(data)]
    own = ("site.url=", "limits.enabled=false")
    options += [part for one in (*overrides, *own) for part in ("--set", one)]
    command = [sys.executable, "-m", "aitp_desk", "serve", str(folder), "--host", LOOPBACK]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while True:
            _serve_until_changed(folder, [*command, *options])
            click.echo("Changed: the desk starts again.")
    except KeyboardInterrupt:
        pass


def _serve_until_changed(folder: Path, command: Sequence[str]) -> None:
    """Run the desk until a file that only its start reads has changed."""
    before = _read_state(folder)
    desk = subprocess.Popen(command)  # noqa: S603 -- this program
    try:
        while _read_state(folder) == before:
            time.sleep(POLL_SECONDS)
    finally:
        desk.terminate()
        try:
            desk.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            desk.kill()
            desk.wait()


def _read_state(folder: Path) -> State:
    """Return what reveals a change of the settings and programs."""
    found: State = {}
    for file in (*folder.glob("*.toml"), *folder.glob("*.py")):
        try:
            status = file.stat()
        except OSError:
            continue  # it has just been removed
        found[file] = (status.st_mtime_ns, status.st_size)
    return found
