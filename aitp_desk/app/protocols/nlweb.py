"""Builds the NLWeb routes of each site agent."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.config import Config
from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.nlweb.routes import NLWebHandlers
from aitp_desk.web.pages.routes import PagesHandlers, list_media_types


def make_nlweb_routes(
    desks: Sequence[Desk], config: Config, pages: PagesHandlers
) -> tuple[ProtocolRoutes, ...]:
    """Return the NLWeb routes of each desk; empty where NLWeb is disabled."""
    if not config.nlweb.enabled:
        return ()
    handlers = NLWebHandlers(
        desks,
        get_page=pages.get_page,
        get_page_below=pages.get_page_below,
        pages_at=list_media_types,
    )
    return handlers.protocols()
