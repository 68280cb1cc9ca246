"""Defines the JSON objects of OAuth 2.0.

Sources: RFC 6749, sections 4.4, 5.1 and 5.2; RFC 7591, sections 2 and 3. The wire module encodes
them, and the OpenAPI document describes them under their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec


class TokenRequest(msgspec.Struct):
    """The form that requests a token (RFC 6749, section 4.4)."""

    grant_type: Literal["client_credentials"]
    client_id: str | None = None
    client_secret: str | None = None
    scope: str | None = None
    resource: str | None = None


class Token(msgspec.Struct):
    """An access token (RFC 6749, section 5.1)."""

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    scope: str


class ClientDraft(msgspec.Struct):
    """Metadata of a client that registers (RFC 7591, section 2)."""

    client_name: str = ""
    scope: str | None = None


class Client(msgspec.Struct, kw_only=True):
    """A registered client (RFC 7591, section 3.2.1).

    Parameters:
        webhook_secret: signs what this desk sends to the client; an extension of this desk.
    """

    client_id: str
    client_secret: str
    webhook_secret: str
    client_id_issued_at: int
    client_secret_expires_at: int
    client_name: str
    grant_types: Sequence[str]
    response_types: Sequence[str]
    token_endpoint_auth_method: str
    scope: str


class OAuthError(msgspec.Struct):
    """A refusal in OAuth's form (RFC 6749, section 5.2)."""

    error: str
    error_description: str


OBJECTS: tuple[type[msgspec.Struct], ...] = (TokenRequest, Token, ClientDraft, Client, OAuthError)
"""The bodies of requests and responses."""
