"""Names the address of the protected resource metadata (RFC 9728).

A refusal for a missing credential or scope carries that address.
"""

from __future__ import annotations

from typing import Final

import msgspec

from aitp_desk.protocols.base.protocol import Reply

RESOURCE_PATH: Final = "/.well-known/oauth-protected-resource"
PARTS: Final = ("/v1", "/agent/converse", "/mcp")
"""Paths that clients know as separate resources, each with its own metadata address."""
_CHALLENGE = "WWW-Authenticate"


def metadata_path(path: str) -> str:
    """Return the address of the metadata about a path (RFC 9728, section 3.1)."""
    for part in PARTS:
        if path == part or path.startswith(f"{part}/"):
            return f"{RESOURCE_PATH}{part}"
    return RESOURCE_PATH


def with_metadata_challenge(reply: Reply, url: str, path: str) -> Reply:
    """Add the metadata's address to a refusal's Bearer challenge (RFC 9728, 5.1).

    Parameters:
        reply: a 401 or 403; other challenges stay unchanged.
        url: the public address of the desk.
        path: the requested path.
    """
    headers = tuple(
        (name, f'{value}, resource_metadata="{url}{metadata_path(path)}"')
        if name == _CHALLENGE and value.startswith("Bearer ")
        else (name, value)
        for name, value in reply.headers
    )
    return msgspec.structs.replace(reply, headers=headers)
