"""Builds the MCP routes of a process, with authentication and page rendering."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from aitp_desk.auth.credentials.address import Headers
from aitp_desk.auth.identifier import Identifier
from aitp_desk.config import Config
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.desk import Desk
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.mcp.methods import Methods, make_methods
from aitp_desk.protocols.mcp.routes import McpHandlers, speaks_mcp
from aitp_desk.web.pages.blocks.example_questions import list_example_questions
from aitp_desk.web.pages.full.document import map_urls
from aitp_desk.web.pages.full.subprocess_render import write_pages


def make_mcp_routes(
    desks: Sequence[Desk], config: Config, identifier: Identifier, audit_log: AuditLog
) -> tuple[ProtocolRoutes, ...]:
    """Return the MCP routes of each desk; empty where MCP is disabled.

    Parameters:
        identifier: identifies callers.
        audit_log: records refused credentials.
    """
    if not speaks_mcp(config):
        return ()

    async def prove(headers: Headers, credential: str, address: str) -> Principal:
        try:
            return await identifier.identify_inside(headers, credential, address)
        except NotAuthenticated as error:
            if error.reason != "conflicting":  # the dispatcher records a conflict
                audit_log.note_refused_credential(address, error)
            raise

    methods = methods_of_desks()
    return tuple(McpHandlers(desk, methods, prove=prove).protocol() for desk in desks)


def methods_of_desks() -> Methods:
    """Return the MCP methods that every desk serves."""
    return make_methods(_suggested, _markdown)


def _suggested(desk: Desk) -> Sequence[str]:
    """Return the example questions of the home page."""
    library = desk.knowledge.editions.library
    return list_example_questions(library.documents, library.passages, desk.site.name)


async def _markdown(desk: Desk, page: Document) -> str:
    """Render a page as Markdown."""
    urls = map_urls(desk.knowledge.editions)
    (written,) = await asyncio.to_thread(lambda: tuple(write_pages(desk.site, (page,), urls)))
    return written.text
