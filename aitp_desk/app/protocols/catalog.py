"""Lists the APIs of a process for the catalog, with what describes each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aitp_desk.app.protocols.announcement import find_protocol_paths
from aitp_desk.config import Config
from aitp_desk.desk.desk import Desk
from aitp_desk.model.conversation.transcript import KEYS_PATH
from aitp_desk.protocols.a2a.card import CARD_PATH
from aitp_desk.protocols.agents_txt.wire import JSON_PATH, TEXT_PATH, EntryPaths
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH
from aitp_desk.protocols.base.auth_metadata import RESOURCE_PATH
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH
from aitp_desk.protocols.base.protocol import HTML, JSON, MARKDOWN, TEXT
from aitp_desk.protocols.nlweb.routes import WHO_PATH
from aitp_desk.protocols.oauth.metadata import SERVER_PATH
from aitp_desk.web.discovery.catalog import (
    DESCRIPTION,
    DOCUMENTATION,
    METADATA,
    STATUS,
    CatalogEntry,
    CatalogLink,
)
from aitp_desk.web.pages.routes import API_PATH

_HEALTH_PATH: Final = "/health"
_COMPLETIONS_PATH: Final = "/v1/chat/completions"
_RESPONSES_PATH: Final = "/v1/responses"


def list_catalog(config: Config, desk: Desk, further: Sequence[Desk]) -> Iterator[CatalogEntry]:
    """Yield the entry of the site, then those of its APIs.

    Parameters:
        config: the site's.
        desk: the site's main one.
        further: those of further site agents.
    """
    paths, url = find_protocol_paths(config), desk.site.url
    manifest = _link(url, MANIFEST_PATH, JSON, "AHP manifest")
    yield CatalogEntry(f"{url}/", desk.site.name, _describe_site(config, url, paths))
    yield CatalogEntry(
        f"{url}{paths.converse}",
        "Questions (AHP)",
        {METADATA: (manifest, *_tokens(paths, url, paths.converse))},
    )
    yield from _list_apis(paths, url, url, "")
    for one in further:
        yield from _list_apis(paths, url, f"{url}{one.base_path}", f" of {one.site.name}")


def _describe_site(
    config: Config, url: str, paths: EntryPaths
) -> dict[str, tuple[CatalogLink, ...]]:
    """Return the links to the documents about the whole site."""
    metadata = [_link(url, MANIFEST_PATH, JSON, "AHP manifest")]
    if config.agents_txt.enabled:
        metadata.append(_link(url, TEXT_PATH, TEXT, "Capabilities for agents (agents.txt)"))
        metadata.append(_link(url, JSON_PATH, JSON, "Capabilities for agents (agents.json)"))
    metadata += _tokens(paths, url, "")
    if paths.token:
        metadata.append(_link(url, SERVER_PATH, JSON, "Issuer of access tokens (RFC 8414)"))
    pages = [_link(url, CONTENT_PATH, MARKDOWN, "Pages (llms.txt)")]
    if paths.openapi:
        pages.append(_link(url, API_PATH, HTML, "API documentation"))
    return {
        METADATA: tuple(metadata),
        **_openapi(paths, url),
        DOCUMENTATION: tuple(pages),
        STATUS: (_link(url, _HEALTH_PATH, JSON, "Health"),),
    }


def _list_apis(paths: EntryPaths, url: str, below: str, whose: str) -> Iterator[CatalogEntry]:
    """Yield the APIs that every site agent has.

    Parameters:
        below: the prefix of their addresses.
        whose: what their titles end in.
    """
    keys = _link(url, KEYS_PATH, JSON, "Keys that sign transcripts")
    agents = _link(url, WHO_PATH, JSON, "Site agents (NLWeb)")
    described = _openapi(paths, below)
    metadata = _tokens(paths, url, "/v1")
    served = (
        (paths.threads, "Conversations (AITP)", {**described, METADATA: (keys, *metadata)}),
        (_COMPLETIONS_PATH, "Chat completions", {**described, METADATA: metadata}),
        (_RESPONSES_PATH, "Responses", {**described, METADATA: metadata}),
        (paths.actions.rstrip("/"), "Actions", described),
        (paths.mcp, "MCP", {METADATA: _tokens(paths, url, paths.mcp)}),
        (paths.a2a, "A2A", {DESCRIPTION: (_link(below, CARD_PATH, JSON, "A2A card"),)}),
        (paths.nlweb, "NLWeb", {**described, METADATA: (agents,)}),
    )
    for path, title, links in served:
        if path:
            found = {relation: told for relation, told in links.items() if told}
            yield CatalogEntry(f"{below}{path}", f"{title}{whose}", found)


def _openapi(paths: EntryPaths, below: str) -> dict[str, tuple[CatalogLink, ...]]:
    if not paths.openapi:
        return {}
    return {DESCRIPTION: (_link(below, paths.openapi, JSON, "OpenAPI document"),)}


def _tokens(paths: EntryPaths, url: str, part: str) -> tuple[CatalogLink, ...]:
    """Return the link to a part's metadata (RFC 9728); none without tokens."""
    if not paths.token:
        return ()
    return (_link(url, f"{RESOURCE_PATH}{part}", JSON, "Access tokens (RFC 9728)"),)


def _link(url: str, path: str, content_type: str, title: str) -> CatalogLink:
    return CatalogLink(href=f"{url}{path}", type=content_type.partition(";")[0], title=title)
