"""Which client goes through which endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aitp_desk.visitor.base import Endpoint, EndpointKind, SiteClient
from aitp_desk.visitor.clients.a2a.client import A2aClient
from aitp_desk.visitor.clients.agents_txt import AgentsTxtClient
from aitp_desk.visitor.clients.ahp.client import AhpClient
from aitp_desk.visitor.clients.aitp.client import AitpClient
from aitp_desk.visitor.clients.hac import HacClient
from aitp_desk.visitor.clients.llms_txt import LlmsTxtClient
from aitp_desk.visitor.clients.mcp.client import McpClient
from aitp_desk.visitor.clients.nlweb import NlwebClient
from aitp_desk.visitor.clients.openapi import OpenApiClient
from aitp_desk.visitor.fetcher import Fetcher

CLIENTS: Mapping[EndpointKind, Callable[[Endpoint, Fetcher], SiteClient]] = {
    "a2a": A2aClient,
    "agents_txt": AgentsTxtClient,
    "ahp": AhpClient,
    "aitp": AitpClient,
    "hac": HacClient,
    "llms_txt": LlmsTxtClient,
    "mcp": McpClient,
    "nlweb": NlwebClient,
    "openapi": OpenApiClient,
}
"""The client of each kind of endpoint; a kind without one is left aside."""
