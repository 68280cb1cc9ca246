"""Settings of agents.txt, in addition to what the desk derives."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Address = Annotated[str, Meta(extra={"unit": "a URL, or a path on the site"})]
"""A URL, or a path that begins with a slash."""
PathPattern = Annotated[str, Meta(pattern=r"\A/[\x21-\x7e]*\Z")]


class OwnParameter(msgspec.Struct, frozen=True, kw_only=True):
    """What a request of such an endpoint takes."""

    name: Annotated[
        str, Meta(max_length=64, pattern=r"\A[A-Za-z0-9_]*\Z", description="Its name.")
    ] = ""
    location: Annotated[
        Literal["query", "path", "header", "body"], Meta(description="Where it stands.")
    ] = "query"
    type: Annotated[
        Literal["string", "integer", "number", "boolean"], Meta(description="What it is.")
    ] = "string"
    required: Annotated[bool, Meta(description="Whether a request needs it.")] = False
    description: Annotated[str, Meta(max_length=500, description="What it is for.")] = ""


class OwnCapability(msgspec.Struct, frozen=True, kw_only=True):
    """Another endpoint of the site that agents may use, of which there may be any number.

    The desk does not serve it and does not limit it; it tells of it.
    """

    id: Annotated[
        str,
        Meta(
            max_length=64,
            pattern=r"\A[a-z0-9-]*\Z",
            extra={"unit": "a name of small letters, digits and -"},
            description="What it is called; what the desk does itself is called otherwise.",
        ),
    ] = ""
    endpoint: Annotated[
        Address,
        Meta(description="Where it is, on the site's own host: https, or wss for a WebSocket."),
    ] = ""
    protocol: Annotated[
        Literal["REST", "MCP", "A2A", "GraphQL", "WebSocket"],
        Meta(description="What is spoken there."),
    ] = "REST"
    method: Annotated[
        Literal["", "GET", "POST", "PUT", "PATCH", "DELETE"],
        Meta(description="Of HTTP; GET is meant where empty."),
    ] = ""
    description: Annotated[
        str, Meta(max_length=500, description="What agents can do with it, in a sentence.")
    ] = ""
    auth: Annotated[
        Literal["none", "api-key", "bearer-token", "oauth2", "hmac"],
        Meta(description="How callers prove who they are; the way of it, never a secret."),
    ] = "none"
    auth_endpoint: Annotated[
        Address, Meta(description="Where tokens are given; bearer-token and oauth2 need it.")
    ] = ""
    auth_docs: Annotated[
        Address, Meta(description="The page that explains how; else agents_txt.auth_docs.")
    ] = ""
    registration_endpoint: Annotated[
        Address, Meta(description="Where clients register themselves (RFC 7591).")
    ] = ""
    scopes: Annotated[
        tuple[Annotated[str, Meta(pattern=r"\A[\x21-\x2b\x2d-\x7e]+\Z")], ...],
        Meta(extra={"unit": "scopes"}, description="Those of OAuth 2.0 that a call needs."),
    ] = ()
    rate_limit: Annotated[
        str,
        Meta(
            pattern=r"\A(?:[1-9][0-9]{0,8}/(?:second|minute|hour|day))?\Z",
            extra={"unit": "a limit such as 60/minute"},
            description="How often it may be asked, as it is enforced there.",
        ),
    ] = ""
    openapi: Annotated[Address, Meta(description="The OpenAPI file that describes it.")] = ""
    parameters: tuple[OwnParameter, ...] = ()


class AgentsTxt(msgspec.Struct, frozen=True, kw_only=True):
    """What agents are told in /agents.txt and /agents.json of what they can do here."""

    enabled: Annotated[bool, Meta(description="Whether these files are served.")] = True
    privacy_policy: Annotated[
        Address, Meta(description="The page that says what becomes of personal data.")
    ] = ""
    auth_docs: Annotated[
        Address,
        Meta(
            description="The page that says how to get a key; else site.contact.url, else the home"
            " page."
        ),
    ] = ""
    allow: Annotated[
        tuple[PathPattern, ...],
        Meta(
            extra={"unit": "paths, * for anything"},
            description="What agents may read, such as /products/*.",
        ),
    ] = ()
    disallow: Annotated[
        tuple[PathPattern, ...],
        Meta(
            extra={"unit": "paths, * for anything"},
            description="What agents should leave alone. They are asked to, not kept from it.",
        ),
    ] = ()
    capability: tuple[OwnCapability, ...] = ()
