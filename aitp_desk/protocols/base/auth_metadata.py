"""Where it is told what opens the protected parts of the desk (RFC 9728).

Whoever is not let in, or lacks a scope, is told that place.
"""

from __future__ import annotations

from typing import Final

import msgspec

from aitp_desk.protocols.base.door import Reply

RESOURCE_PATH: Final = "/.well-known/oauth-protected-resource"
PARTS: Final = ("/v1", "/agent/converse", "/mcp")
"""Parts that clients know as a resource of its own, each described at an address of its own."""
_CHALLENGE = "WWW-Authenticate"


def metadata_path(path: str) -> str:
    """The address of the metadata that is about a path (RFC 9728, section 3.1)."""
    for part in PARTS:
        if path == part or path.startswith(f"{part}/"):
            return f"{RESOURCE_PATH}{part}"
    return RESOURCE_PATH


def with_metadata_challenge(reply: Reply, url: str, path: str) -> Reply:
    """A refusal whose challenge to prove oneself says where the metadata is (RFC 9728, 5.1).

    Parameters:
        reply: a 401 or 403; only a Bearer challenge is added to.
        url: the public address of the desk.
        path: what was requested.
    """
    headers = tuple(
        (name, f'{value}, resource_metadata="{url}{metadata_path(path)}"')
        if name == _CHALLENGE and value.startswith("Bearer ")
        else (name, value)
        for name, value in reply.headers
    )
    return msgspec.structs.replace(reply, headers=headers)
