"""Settings of agents.txt, in addition to derived entries."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Address = Annotated[str, Meta(extra={"unit": "a URL, or a path on the site"})]
"""A URL, or a path that begins with a slash."""
PathPattern = Annotated[str, Meta(pattern=r"\A/[\x21-\x7e]*\Z")]


class OwnParameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of the endpoint."""

    name: Annotated[
        str, Meta(max_length=64, pattern=r"\A[A-Za-z0-9_]*\Z", description="The parameter's name.")
    ] = ""
    location: Annotated[
        Literal["query", "path", "header", "body"], Meta(description="The parameter's location.")
    ] = "query"
    type: Annotated[
        Literal["string", "integer", "number", "boolean"], Meta(description="The parameter's type.")
    ] = "string"
    required: Annotated[bool, Meta(description="Whether a request needs it.")] = False
    description: Annotated[str, Meta(max_length=500, description="The parameter's purpose.")] = ""


class OwnCapability(msgspec.Struct, frozen=True, kw_only=True):
    """Another endpoint of the site for agents. Repeatable.

    The desk only lists it; it does not serve or limit it.
    """

    id: Annotated[
        str,
        Meta(
            max_length=64,
            pattern=r"\A[a-z0-9-]*\Z",
            extra={"unit": "a name of small letters, digits and -"},
            description="The capability's name; it must differ from the desk's own.",
        ),
    ] = ""
    endpoint: Annotated[
        Address,
        Meta(
            description=("The capability's URL on the site's host: https, or wss for a WebSocket.")
        ),
    ] = ""
    protocol: Annotated[
        Literal["REST", "MCP", "A2A", "GraphQL", "WebSocket"],
        Meta(description="The capability's protocol."),
    ] = "REST"
    method: Annotated[
        Literal["", "GET", "POST", "PUT", "PATCH", "DELETE"],
        Meta(description="The HTTP method; GET if empty."),
    ] = ""
    description: Annotated[
        str, Meta(max_length=500, description="What agents can do with it, in a sentence.")
    ] = ""
    auth: Annotated[
        Literal["none", "api-key", "bearer-token", "oauth2", "hmac"],
        Meta(description="How callers authenticate; the method, never a secret."),
    ] = "none"
    auth_endpoint: Annotated[
        Address, Meta(description="The token endpoint; required for bearer-token and oauth2.")
    ] = ""
    auth_docs: Annotated[
        Address,
        Meta(description="The page that explains authentication; agents_txt.auth_docs by default."),
    ] = ""
    registration_endpoint: Annotated[
        Address, Meta(description="The registration endpoint for clients (RFC 7591).")
    ] = ""
    scopes: Annotated[
        tuple[Annotated[str, Meta(pattern=r"\A[\x21-\x2b\x2d-\x7e]+\Z")], ...],
        Meta(extra={"unit": "scopes"}, description="The OAuth 2.0 scopes that a call needs."),
    ] = ()
    rate_limit: Annotated[
        str,
        Meta(
            pattern=r"\A(?:[1-9][0-9]{0,8}/(?:second|minute|hour|day))?\Z",
            extra={"unit": "a limit such as 60/minute"},
            description="The endpoint's rate limit, which its server enforces.",
        ),
    ] = ""
    openapi: Annotated[Address, Meta(description="The OpenAPI document that describes it.")] = ""
    parameters: tuple[OwnParameter, ...] = ()


class AgentsTxt(msgspec.Struct, frozen=True, kw_only=True):
    """The files /agents.txt and /agents.json, which describe the site's capabilities."""

    enabled: Annotated[
        bool, Meta(description="Whether /agents.txt and /agents.json are served.")
    ] = True
    privacy_policy: Annotated[Address, Meta(description="The privacy policy.")] = ""
    auth_docs: Annotated[
        Address,
        Meta(
            description=(
                "The page that explains how to get a key; by default site.contact.url or the home"
                " page."
            )
        ),
    ] = ""
    allow: Annotated[
        tuple[PathPattern, ...],
        Meta(
            extra={"unit": "paths, * for anything"},
            description="Paths that agents may read, such as /products/*.",
        ),
    ] = ()
    disallow: Annotated[
        tuple[PathPattern, ...],
        Meta(
            extra={"unit": "paths, * for anything"},
            description="Paths that agents should not use; the desk does not enforce it.",
        ),
    ] = ()
    capability: tuple[OwnCapability, ...] = ()
