"""Links to offer after a refusal, and from the root document."""

from __future__ import annotations

import msgspec


class ProtocolPaths(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of the enabled protocols; empty where one is disabled.

    Parameters:
        capabilities: lists and calls actions.
        openapi: the OpenAPI document.
        converse: takes questions.
        register: registers clients.
        register_scopes: what such clients may have.
        token: issues access tokens.
        metadata: names the issuer of tokens.
        help: an address, or a path, that says how to get a key.
        agents_txt: the agents.txt file.
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
