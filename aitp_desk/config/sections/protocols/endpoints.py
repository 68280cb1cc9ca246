"""Settings of the protocols that answer at endpoints, of CORS and of callbacks."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class A2a(msgspec.Struct, frozen=True, kw_only=True):
    """The A2A endpoint and its agent card."""

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
    """The manifest of the Agent Handshake Protocol."""

    integrations: Annotated[
        bool,
        Meta(
            description="Whether the manifest also has the member integrations (MCP, OpenAPI) of "
            "later drafts. The published schema of AHP 0.1 does not allow it; links has "
            "the same addresses."
        ),
    ] = False


class Hac(msgspec.Struct, frozen=True, kw_only=True):
    """HAC responses, which describe themselves and the possible next actions."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether clients that accept application/vnd.hac+json get it for threads, "
            "actions, resources and /."
        ),
    ] = True


class Nlweb(msgspec.Struct, frozen=True, kw_only=True):
    """NLWeb: questions that are answered with schema.org objects."""

    enabled: Annotated[bool, Meta(description="Whether /ask and /who are served.")] = True


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """The MCP server at /mcp."""

    serve: Annotated[
        Literal["always", "never"],
        Meta(description="Whether /mcp is served."),
    ] = "always"


class Rest(msgspec.Struct, frozen=True, kw_only=True):
    """The OpenAPI document, and calls of actions with plain arguments."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether /openapi.json, the page /docs and POST /capabilities/NAME are"
            " served."
        ),
    ] = True


class Cors(msgspec.Struct, frozen=True, kw_only=True):
    """Access by pages of other sites in a browser (CORS)."""

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
            description="Whether pages of all sites may read the content, the manifest and other "
            "public resources; otherwise only those of origins.",
        ),
    ] = True


class CallbackSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Callbacks to callers' servers when a call ends."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether callers may name an address (callback_url of AHP, push "
            "notifications of A2A) to which the desk sends the outcome of a call or "
            "task; otherwise they poll.",
        ),
    ] = True
