"""Builds the A2A routes of each site agent, and its renderer of task notifications."""

from __future__ import annotations

import time
from collections.abc import Sequence

from aitp_desk.config import Config
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.tasks.push import Render
from aitp_desk.model.access.principal import Principal
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.routes import make_routes
from aitp_desk.protocols.a2a.tasks_wire import write_notification
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.oauth.metadata import TOKEN_PATH
from aitp_desk.web.pages.routes import API_PATH


def make_a2a_routes(desks: Sequence[Desk], config: Config) -> tuple[ProtocolRoutes, ...]:
    """Return the A2A routes of each desk; empty where A2A is disabled."""
    if not config.a2a.enabled:
        return ()
    made = (
        make_routes(
            desk,
            max_body=config.threads.max_body,
            max_file=config.files.max_bytes,
            token_path=TOKEN_PATH if config.oauth.enabled else "",
            docs_path=API_PATH if config.rest.enabled else "",
            is_union=config.a2a.card == "both",
            clock=time.time,
        )
        for desk in desks
    )
    return tuple(protocol for protocols in made for protocol in protocols)


def make_task_renderer(desks: Sequence[Desk]) -> Render:
    """Make the renderer of task notifications, in the A2A version of the subscriber."""
    by_name = {desk.name: desk for desk in desks}

    async def render(principal: Principal, task_id: str, version: str) -> bytes | None:
        desk = by_name.get(principal.desk)
        if desk is None:
            return None
        task = await desk.tasks.show_task(principal, task_id)
        return write_notification(task, Dialect(version), f"{desk.site.url}{desk.base_path}")

    return render
