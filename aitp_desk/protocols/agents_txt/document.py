"""Models an agents.txt document in either form (agents.txt 1.0, sections 3 and 4).

The values are those of the file, valid or not; :func:`~.linter.validate` checks them. A missing
required text is empty; a missing optional value is None. `further` holds members that the
specification does not define, so that nothing is lost when a file is read and written. The text
form keeps those of capabilities and agents, as text; the JSON form keeps all of them, and has the
members in the order of the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

VERSION: Final = "1.0"
PROTOCOLS: Final = ("REST", "MCP", "A2A", "GraphQL", "WebSocket")
AUTH_TYPES: Final = ("none", "api-key", "bearer-token", "oauth2", "hmac")
WINDOWS: Final = ("second", "minute", "hour", "day")
LOCATIONS: Final = ("query", "path", "header", "body")
PARAMETER_TYPES: Final = ("string", "integer", "number", "boolean")
ANY_AGENT: Final = "*"
"""The name of the block for agents without their own (section 3.6)."""
AGENTS_JSON: Final = "Agents-JSON"
"""The text form's key for the JSON form's address (section 2.4).

It is stored as metadata.
"""

Further = Mapping[str, Any]


class RateLimit(msgspec.Struct, frozen=True):
    """A rate limit (section 7.1).

    Parameters:
        requests: in one window.
        window: one of ``WINDOWS``.
    """

    requests: int
    window: str

    def __str__(self) -> str:
        return f"{self.requests}/{self.window}"


class Auth(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The authentication method of a caller, never a secret (section 6).

    Parameters:
        type: one of ``AUTH_TYPES``.
        token_endpoint: the URL that issues tokens.
        docs_url: the URL of a page that explains it.
        registration_endpoint: the URL where clients register themselves (RFC 7591).
    """

    type: str = "none"
    token_endpoint: str | None = None
    docs_url: str | None = None
    registration_endpoint: str | None = None
    further: Further = {}


class Parameter(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"location": "in", "is_required": "required"},
):
    """A parameter of a REST endpoint (section 3.4).

    Parameters:
        location: one of ``LOCATIONS``; the member ``in`` of the JSON form.
        type: one of ``PARAMETER_TYPES``.
    """

    name: str
    location: str
    type: str
    is_required: bool = False
    description: str | None = None
    further: Further = {}


class Capability(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An operation that agents can use on the site (section 3.4).

    Parameters:
        id: lower-case letters, digits and hyphens.
        endpoint: a full URL.
        protocol: one of ``PROTOCOLS``.
        method: of HTTP; None means GET.
        openapi: the URL of a file that describes the endpoint.
        scopes: the OAuth 2.0 scopes that a call needs.
    """

    id: str
    description: str | None = None
    endpoint: str
    method: str | None = None
    protocol: str
    auth: Auth = Auth()
    rate_limit: RateLimit | None = None
    openapi: str | None = None
    scopes: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    further: Further = {}


class SiteInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The site that the file describes (section 3.3).

    Parameters:
        url: canonical URL of the site.
        contact: a mail address.
        privacy_policy: a URL.
    """

    name: str
    url: str
    description: str | None = None
    contact: str | None = None
    privacy_policy: str | None = None
    further: Further = {}


class Access(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The paths that agents may read, as patterns like those of robots.txt (section 3.5)."""

    allow: tuple[str, ...] = ()
    disallow: tuple[str, ...] = ()


class AgentPolicy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The policy for one agent, or for all without their own (section 3.6).

    Parameters:
        capabilities: ids of those that it may use; None for all.
    """

    rate_limit: RateLimit | None = None
    capabilities: tuple[str, ...] | None = None
    further: Further = {}


class Document(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"version": "specVersion", "generated_at": "generatedAt"},
):
    """A whole file.

    Parameters:
        version: of the specification.
        generated_at: an ISO 8601 timestamp.
        agents: policies by the names of agents; ``*`` is for all others.
        metadata: further keys at the top of a text.
    """

    version: str = VERSION
    generated_at: str | None = None
    site: SiteInfo
    capabilities: tuple[Capability, ...] = ()
    access: Access = Access()
    agents: Mapping[str, AgentPolicy] = {}
    metadata: Mapping[str, str] = {}
    further: Further = {}
