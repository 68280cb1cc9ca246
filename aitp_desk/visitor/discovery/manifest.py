"""Reads an AHP manifest as endpoints (AHP 0.1, sections 4, 5 and 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from yarl import URL

from aitp_desk.visitor.base import Endpoint
from aitp_desk.visitor.discovery.members import list_of, object_of, text_of

CONVERSE_PATH = "/agent/converse"
"""Where questions go if the manifest names nothing else (section 5.2)."""
CONTENT_PATH = "/llms.txt"
_KNOWN = "0."
"""How the versions begin that this visitor knows (section 12)."""


def is_manifest(value: Any) -> bool:
    """Return whether a document is an AHP manifest."""
    return isinstance(value, dict) and isinstance(value.get("ahp"), str)


def list_manifest_endpoints(
    manifest: Mapping[str, Any], url: str, reason: str
) -> Iterator[Endpoint]:
    """Yield the endpoints that a manifest opens.

    Parameters:
        url: of the manifest.
        reason: why it was read, the beginning of a sentence.
    """
    version = text_of(manifest, "ahp")
    modes = {mode for mode in list_of(manifest, "modes") if isinstance(mode, str)}
    endpoints = object_of(manifest, "endpoints")
    content = text_of(endpoints, "content")
    if not version.startswith(_KNOWN):
        yield Endpoint(
            "llms_txt",
            resolve(url, content or CONTENT_PATH),
            url,
            f"The manifest has AHP version {version[:20]}, which is unknown here, so only its"
            " content is read.",
            answers=True,
            document={"manifest": manifest},
        )
        return
    if modes & {"MODE2", "MODE3"}:
        yield Endpoint(
            "ahp",
            resolve(url, text_of(endpoints, "converse") or CONVERSE_PATH),
            url,
            f"{reason}; the manifest names {', '.join(sorted(modes))}.",
            answers=True,
            acts="MODE3" in modes,
            document=manifest,
        )
    links = object_of(manifest, "links")
    if threads := text_of(links, "threads"):
        yield Endpoint(
            "aitp", resolve(url, threads), url, "The manifest links its threads.", answers=True
        )
    # later drafts describe it as an integration
    integrated = text_of(object_of(object_of(manifest, "integrations"), "mcp"), "url")
    if mcp := text_of(links, "mcp") or integrated:
        yield Endpoint(
            "mcp",
            resolve(url, mcp),
            url,
            "The manifest names its MCP server.",
            answers=True,
            acts=True,
        )
    if content:
        yield Endpoint(
            "llms_txt",
            resolve(url, content),
            url,
            "The manifest names its content.",
            answers=True,
            document={"manifest": manifest},
        )


def resolve(base: str, address: str) -> str:
    """Return an address of a document as a URL, without a fragment; "" for none of the web."""
    try:
        url = URL(base).join(URL(address)).with_fragment(None)
    except ValueError:
        return ""
    return str(url) if url.scheme in {"https", "http"} and url.host else ""
