"""``aitp-desk mcp``: serves MCP over the standard input and output."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from aitp_desk.cli.arguments import data_folder, mistakes_told, overrides, site_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aitp_desk.app.server import RunningServer
    from aitp_desk.config import Config
    from aitp_desk.model.access.principal import Principal

KEY = "DESK_KEY"
"""The variable with an API key or a token, for more than anonymous access."""
_HERE = "127.0.0.1"


@click.command()
@site_folder
@data_folder
@overrides
def mcp(folder: Path, data: Path | None, overrides: tuple[str, ...]) -> None:
    """Serve the site in FOLDER over MCP on standard input and output.

    For desktop clients that start their MCP servers themselves. The log goes to standard error.
    The environment variable DESK_KEY may contain an API key.
    """
    with mistakes_told():
        from aitp_desk.config import load_config

        config = load_config(folder, overrides, host=_HERE, port=0, data=data)

        import uvloop

        from aitp_desk.observability.logs import set_up_logs

        set_up_logs(config.log)
        with _stored_output() as output:
            uvloop.run(_serve(config, output))


@contextmanager
def _stored_output() -> Iterator[TextIO]:
    """Reserve standard output for messages: other writes to it go to the log.

    The site's own code may write to it when it is loaded, and so may programs that it starts.
    """
    import os
    import sys

    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(kept, "w", encoding="utf-8", newline="", closefd=False) as output:
            yield output
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


async def _serve(config: Config, output: TextIO) -> None:
    import os

    from aitp_desk.app.process import open_in_environment
    from aitp_desk.app.protocols.mcp import methods_of_desks
    from aitp_desk.protocols.mcp.server.sdk_server import serve_stdio

    async with open_in_environment(config) as serving:
        principal = await _find_caller(serving, os.environ)
        await serve_stdio(serving.desk, methods_of_desks(), principal, output=output)


async def _find_caller(server: RunningServer, environment: Mapping[str, str]) -> Principal:
    from multidict import CIMultiDict

    from aitp_desk.model.access.principal import make_anonymous

    key = environment.get(KEY, "").strip()
    if not key:
        return make_anonymous(_HERE)
    return await server.identifier.identify_inside(CIMultiDict(), key, _HERE)
