"""The entry paths that agents.txt, the manifest and the home page announce.

A new protocol is announced here, by its path in :class:`EntryPaths`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aitp_desk.config import Config, ConfigError
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.desk import Desk
from aitp_desk.http.hac.context import ProtocolPaths
from aitp_desk.http.hac.overview import make_overview
from aitp_desk.http.hac.recovery import THREADS_PATH
from aitp_desk.http.hac.representation import HacRenderer
from aitp_desk.protocols.a2a.card import DOOR_PATH as A2A_PATH
from aitp_desk.protocols.agents_txt.routes import AgentsTxtHandlers
from aitp_desk.protocols.agents_txt.wire import JSON_PATH, TEXT_PATH, EntryPaths, check_ids
from aitp_desk.protocols.ahp.error_wire import render_error
from aitp_desk.protocols.ahp.manifest import CONVERSE_PATH
from aitp_desk.protocols.base.auth_metadata import RESOURCE_PATH
from aitp_desk.protocols.base.call_members import CAPABILITIES_PATH
from aitp_desk.protocols.base.protocol import Handler, ProtocolRoutes
from aitp_desk.protocols.mcp.routes import MCP_PATH, speaks_mcp
from aitp_desk.protocols.mcp.server.plain_rpc import VERSIONS
from aitp_desk.protocols.nlweb.routes import ASK_PATH
from aitp_desk.protocols.oauth.metadata import REGISTER_PATH, TOKEN_PATH
from aitp_desk.protocols.openapi.document import OPENAPI
from aitp_desk.protocols.openapi.routes import DOCUMENT_PATH


def make_agents_txt_routes(
    desk: Desk, further: Sequence[Desk], config: Config
) -> tuple[ProtocolRoutes, ...]:
    """Return the routes of agents.txt and agents.json; empty where they are disabled.

    Parameters:
        desk: the site's main one.
        further: those of further site agents.
        config: the site's.

    Raises:
        ConfigError: a name that the owner chose is one that the desk itself uses.
    """
    if not config.agents_txt.enabled:
        return ()
    names = {*OWN_NAMES, *(action.name for action in desk.registry.actions)}
    agents = [agent.name for agent in config.agents]
    if problems := tuple(check_ids(config.agents_txt, names, agents)):
        raise ConfigError(problems, config)
    protocol = AgentsTxtHandlers(desk, further, config, find_protocol_paths(config), render_error)
    return (protocol.protocol(),)


def find_protocol_paths(config: Config) -> EntryPaths:
    """Return the entry paths of the protocols that these settings enable."""
    gives_tokens = config.oauth.enabled
    registers = gives_tokens and config.oauth.registration.enabled
    calls = config.rest.enabled
    return EntryPaths(
        converse=CONVERSE_PATH,
        threads=THREADS_PATH,
        actions=CAPABILITIES_PATH if calls else "",
        openapi=DOCUMENT_PATH if calls else "",
        mcp=MCP_PATH if speaks_mcp(config) else "",
        a2a=A2A_PATH if config.a2a.enabled else "",
        nlweb=ASK_PATH if config.nlweb.enabled else "",
        token=TOKEN_PATH if gives_tokens else "",
        register=REGISTER_PATH if registers else "",
    )


def build_hac_renderer(config: Config) -> HacRenderer | None:
    """Build the renderer of HAC representations; None where HAC is disabled."""
    return HacRenderer(_ways(config)) if config.hac.enabled else None


def build_overview(config: Config) -> Handler | None:
    """Build the handler of the HAC overview at ``/``; None where HAC is disabled."""
    return make_overview(_ways(config)) if config.hac.enabled else None


def find_protocol_links(config: Config) -> dict[str, str]:
    """Return the paths of the protocols except AHP, by their names in the manifest."""
    addresses = find_protocol_paths(config)
    files = {"agents_txt": TEXT_PATH, "agents_json": JSON_PATH} if config.agents_txt.enabled else {}
    protocols = {
        "openapi": addresses.openapi,
        "mcp": addresses.mcp,
        "a2a": addresses.a2a,
        "nlweb": addresses.nlweb,
    }
    return {name: path for name, path in (protocols | files).items() if path}


def find_integrations(config: Config) -> Mapping[str, Any]:
    """Return the integrations as drafts after AHP 0.1 define them; empty unless enabled."""
    if not config.ahp.integrations:
        return {}
    addresses, url = find_protocol_paths(config), config.site.url
    told: dict[str, Any] = {}
    if addresses.mcp:
        told["mcp"] = {"url": url + addresses.mcp, "version": VERSIONS[-1]}
    if addresses.openapi:
        told["openapi"] = {"url": url + addresses.openapi, "version": OPENAPI}
    return told


def list_endpoints(config: Config) -> tuple[tuple[str, str, str], ...]:
    """List method, path and text key of each endpoint on the home page."""
    addresses = find_protocol_paths(config)
    rows = (
        (
            "GET",
            TEXT_PATH if config.agents_txt.enabled else "",
            "agents.declared",
        ),
        ("GET", addresses.openapi, "agents.openapi"),
        ("POST", addresses.actions and f"{addresses.actions}{{name}}", "agents.actions"),
        ("POST", addresses.mcp, "agents.mcp"),
        ("POST", addresses.a2a, "agents.a2a"),
        ("GET", addresses.nlweb, "agents.nlweb"),
    )
    return tuple(row for row in rows if row[1])


def _ways(config: Config) -> ProtocolPaths:
    """Return the links to offer after a refusal, and from the root document."""
    addresses, contact = find_protocol_paths(config), config.site.contact
    return ProtocolPaths(
        capabilities=addresses.actions.rstrip("/"),
        openapi=addresses.openapi,
        converse=addresses.converse,
        register=addresses.register,
        register_scopes=config.oauth.registration.scopes,
        token=addresses.token,
        metadata=RESOURCE_PATH if addresses.token else "",
        help=config.agents_txt.auth_docs or contact.url,
        agents_txt=TEXT_PATH if config.agents_txt.enabled else "",
    )
