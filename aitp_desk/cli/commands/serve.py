"""``aitp-desk serve``: serves a site."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, fail, mistakes_told, overrides, site_folder

if TYPE_CHECKING:
    from aitp_desk.config import Config

MAX_WORKERS = 64


@click.command()
@site_folder
@click.option("--host", help="Address to listen on; by default server.host.")
@click.option("--port", type=int, help="Port to listen on; by default server.port.")
@click.option(
    "--workers",
    type=click.IntRange(1, MAX_WORKERS),
    default=1,
    show_default=True,
    help="Number of processes; more than one needs PostgreSQL.",
)
@click.option("--worker", hidden=True, help="What the supervisor tells this worker process.")
@data_folder
@overrides
def serve(
    folder: Path,
    host: str | None,
    port: int | None,
    workers: int,
    worker: str | None,
    data: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Serve the site in FOLDER until SIGTERM or Ctrl-C."""
    gc.disable()  # objects of the start live on; the served desk enables collection
    with mistakes_told():
        from aitp_desk.config import load_config
        from aitp_desk.http.listener import ListenError

        config = load_config(folder, overrides, host=host, port=port, data=data)
        try:
            if workers == 1 or worker is not None:
                serve_here(config, worker)
            else:
                _serve_in_workers(config, workers, _worker_command(folder, host, data, overrides))
        except ListenError as error:
            fail([str(error)])


def serve_here(config: Config, worker: str | None = None, *, explains: bool = False) -> None:
    """Serve a site in this process until SIGTERM or Ctrl-C.

    Parameters:
        worker: what the supervisor tells this process; None if it is the only one.
        explains: whether the home page shows how each answer was found.
    """
    import uvloop

    from aitp_desk.app.process import serve as serve_desk
    from aitp_desk.app.workers.identity import WorkerIdentity

    identity = None if worker is None else WorkerIdentity.from_argument(worker)
    uvloop.run(serve_desk(config, announce=click.echo, worker=identity, explains=explains))


def _serve_in_workers(config: Config, workers: int, command: Sequence[str]) -> None:
    import asyncio

    from aitp_desk.app.workers.supervisor import WorkersFailed, supervise
    from aitp_desk.observability.logs import set_up_logs
    from aitp_desk.store.engine.engines import find_engine

    if not find_engine(config.store.url).is_shared:
        refusal = f"--workers {workers} needs PostgreSQL: a SQLite database has one process."
        fail([f"{refusal} Set store.url (docs/run/scaling.md), or leave out --workers."])
    gc.enable()
    set_up_logs(config.log, worker="supervisor")
    try:
        asyncio.run(supervise(config.server, workers, command, announce=click.echo))
    except WorkersFailed as failure:
        sys.exit(failure.code if failure.code > 0 else 1)


def _worker_command(
    folder: Path, host: str | None, data: Path | None, overrides: Sequence[str]
) -> list[str]:
    command = [sys.executable, "-m", "aitp_desk", "serve", str(folder)]
    command += [] if host is None else ["--host", host]
    command += [] if data is None else ["--data", str(data)]
    return command + [part for one in overrides for part in ("--set", one)]
