"""``aitp-desk dev``: serves a site on this machine while its owner works on it."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, fail, mistakes_told, overrides, site_folder
from aitp_desk.cli.commands.serve import serve_here

if TYPE_CHECKING:
    from aitp_desk.config import Config

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.5
STOP_SECONDS = 30
_OWN = ("site.url=", "limits.enabled=false")
State = dict[Path, tuple[int, int]]


@click.command()
@site_folder
@click.option("--port", type=int, help="Port to listen on; by default server.port.")
@data_folder
@overrides
@click.option(
    "--once", is_flag=True, hidden=True, help="Serve in this process, and follow no changes."
)
def dev(
    folder: Path, port: int | None, data: Path | None, overrides: tuple[str, ...], *, once: bool
) -> None:
    """Serve the site in FOLDER on this machine only, and follow changes.

    It listens on 127.0.0.1, has no limits, and its addresses are local whatever site.url is. Next
    to the chat of its home page a panel shows for each question which sections were found, and why.
    Changed pages are read again; changed settings and programs (desk.toml, actions.py and others
    next to it) restart the desk. A mistake in them is printed, and the next change tries again.
    """
    with mistakes_told():
        from aitp_desk.config import load_config

        config = load_config(folder, (*overrides, *_OWN), host=LOOPBACK, port=port, data=data)
        if once:
            _serve_once(config)
            return
    options = [] if port is None else ["--port", str(port)]
    options += [] if data is None else ["--data", str(data)]
    options += [part for one in overrides for part in ("--set", one)]
    command = [sys.executable, "-m", "aitp_desk", "dev", str(folder), "--once"]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while True:
            _serve_until_changed(folder, [*command, *options])
            click.echo("Changed: the desk starts again.")
    except KeyboardInterrupt:
        pass


def _serve_once(config: Config) -> None:
    """Serve in this process, which the one that follows changes has started."""
    from aitp_desk.http.listener import ListenError

    gc.disable()  # as `aitp-desk serve`
    try:
        serve_here(config, explains=True)
    except ListenError as error:
        fail([str(error)])


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
