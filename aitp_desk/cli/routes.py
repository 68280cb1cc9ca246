"""Lists the routes of a desk with its settings, without its content."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aitp_desk.config import Config


async def list_routes(config: Config) -> tuple[str, ...]:
    """List the path of every route, templates included.

    The desk is opened for a moment on a free port of the loopback with an empty store and no
    content. Outside services, which add no routes, are not called.

    Raises:
        ActionsError, ConfigError: the desk could not be served with these settings.
    """
    from aitp_desk.app.server import open_server

    with TemporaryDirectory() as made:
        async with open_server(_without_content(config, Path(made))) as serving:
            return tuple(dict.fromkeys(route.path for _, route in serving.dispatcher.routes))


def _without_content(config: Config, folder: Path) -> Config:
    import msgspec

    from aitp_desk.config import Content

    empty = folder / "content"
    empty.mkdir()
    content = Content(folder=str(empty))
    return msgspec.structs.replace(
        config,
        data=folder / "data",
        server=msgspec.structs.replace(config.server, host="127.0.0.1", port=0),
        agents=tuple(msgspec.structs.replace(agent, content=content) for agent in config.agents),
        content=content,
        openapi=(),
        mcp=(),
        peers=(),
    )
