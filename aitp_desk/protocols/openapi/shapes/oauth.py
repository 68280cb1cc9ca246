"""Tokens and clients."""

from __future__ import annotations

from typing import Literal

import msgspec


class TokenRequest(msgspec.Struct):
    """A token that is asked for (RFC 6749, section 4.4)."""

    grant_type: Literal["client_credentials"]
    client_id: str | None = None
    client_secret: str | None = None
    scope: str | None = None
    resource: str | None = None


class Token(msgspec.Struct):
    """An access token."""

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    scope: str


class ClientDraft(msgspec.Struct):
    """What a program says of itself (RFC 7591, section 2)."""

    client_name: str | None = None
    scope: str | None = None


class Client(msgspec.Struct):
    """A client that was registered (RFC 7591, section 3.2.1)."""

    client_id: str
    client_secret: str
