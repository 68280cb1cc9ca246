"""``aitp-desk serve``: serves a site."""

from __future__ import annotations

import gc
from pathlib import Path

import click

from aitp_desk.cli.arguments import data_folder, fail, mistakes_told, overrides, site_folder


@click.command()
@site_folder
@click.option("--host", help="Address to listen on; by default server.host.")
@click.option("--port", type=int, help="Port to listen on; by default server.port.")
@data_folder
@overrides
def serve(
    folder: Path,
    host: str | None,
    port: int | None,
    data: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Serve the site in FOLDER until SIGTERM or Ctrl-C."""
    gc.disable()  # objects of the start live on; the served desk enables collection
    with mistakes_told():
        from aitp_desk.config import load_config

        config = load_config(folder, overrides, host=host, port=port, data=data)

        import uvloop

        from aitp_desk.app.process import serve as serve_desk
        from aitp_desk.http.server import ListenError

        try:
            uvloop.run(serve_desk(config, announce=click.echo))
        except ListenError as error:
            fail([str(error)])
