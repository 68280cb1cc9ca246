"""Settings of the protocols that answer at endpoints, of CORS and of callbacks."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class A2a(msgspec.Struct, frozen=True, kw_only=True):
    """Whether agents that speak A2A reach the desk, and what they are told of it."""

    enabled: Annotated[
        bool, Meta(description="Whether /a2a and /.well-known/agent-card.json are served.")
    ] = True
    card: Annotated[
        Literal["both", "1.0"],
        Meta(
            description=(
                "The versions that the agent card describes: 1.0 and 0.3, or 1.0 alone, whose"
                " schema has no members of 0.3. Both versions are served."
            )
        ),
    ] = "both"


class Ahp(msgspec.Struct, frozen=True, kw_only=True):
    """What the manifest tells of over the Agent Handshake Protocol."""

    integrations: Annotated[
        bool,
        Meta(
            description="Whether the manifest also has the member integrations (MCP, OpenAPI) of"
            " later drafts. The published schema of AHP 0.1 refuses it; links has the same"
            " addresses."
        ),
    ] = False


class Hac(msgspec.Struct, frozen=True, kw_only=True):
    """Whether answers tell agents what they are and what may be done next, where asked for."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether threads, actions, resources and / are served as"
            " application/vnd.hac+json to clients that accept that type."
        ),
    ] = True


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the desk is an MCP server, at /mcp."""

    serve: Annotated[
        Literal["auto", "always", "never"],
        Meta(description="Whether /mcp is served: never, or always; auto is the same as always."),
    ] = "auto"


class Rest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether actions are called by their arguments, as an OpenAPI document describes them."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether /openapi.json, the page /docs and POST /capabilities/NAME are"
            " served."
        ),
    ] = True


class Cors(msgspec.Struct, frozen=True, kw_only=True):
    """What pages of other sites may do with the desk in a browser."""

    origins: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "origins"},
            description=(
                "Sites whose pages may use the API, such as https://www.example.com; the desk's"
                " own pages always may."
            ),
        ),
    ] = ()
    open_discovery: Annotated[
        bool,
        Meta(
            description="Whether pages of every site may read the content, the manifest and what"
            " else there is to be found; else those of the origins may.",
        ),
    ] = True


class CallbackSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Telling callers' own servers how a call has ended."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether callers may name an address (callback_url of AHP, push"
            " notifications of A2A) that the desk sends the end of a call or task to; else they ask"
            " how it stands.",
        ),
    ] = True
