"""What of a desk helps whoever was refused, and whoever looks around."""

from __future__ import annotations

import msgspec


class ProtocolPaths(msgspec.Struct, frozen=True, kw_only=True):
    """Which doors are open, as paths; empty where one is not.

    Parameters:
        capabilities: where actions are listed and called.
        openapi: the document that describes all addresses.
        converse: where questions are asked.
        register: where clients register themselves.
        register_scopes: what such clients may have.
        token: where access tokens are given.
        metadata: where it is told who gives them.
        help: an address, or a path, that says how to get a key.
        agents_txt: where it is declared what agents can do.
    """

    capabilities: str = ""
    openapi: str = ""
    converse: str = ""
    register: str = ""
    register_scopes: tuple[str, ...] = ()
    token: str = ""
    metadata: str = ""
    help: str = ""
    agents_txt: str = ""
