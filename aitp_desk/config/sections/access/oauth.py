"""Settings of access tokens and of client registration."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Count
from aitp_desk.model.access.scope import OPEN_SCOPE

LONGEST_TOKEN_SECONDS = 86_400
"""The upper bound of ``oauth.token_seconds``."""

OpenScope = Annotated[str, Meta(pattern=rf"\A(?:{OPEN_SCOPE})\Z")]
"""A scope that registered strangers may have: never ``operator`` or ``admin``."""


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """Self-registration of clients (RFC 7591)."""

    enabled: Annotated[
        bool, Meta(description="Whether any client may register at /oauth/register.")
    ] = False
    scopes: Annotated[
        tuple[OpenScope, ...],
        Meta(
            min_length=1,
            extra={"unit": "scopes: threads, actions, actions:NAME; never operator or admin"},
            description="The scopes that a self-registered client may have at most.",
        ),
    ] = ("threads",)
    client_days: Annotated[
        Annotated[int, Meta(ge=1, le=3650)],
        Meta(extra={"unit": "days"}, description="The lifetime of a self-registered client."),
    ] = 90
    max_clients: Annotated[
        Count,
        Meta(extra={"unit": "clients"}, description="The most self-registered clients at a time."),
    ] = 1000
    per_hour: Annotated[
        Count,
        Meta(
            extra={"unit": "registrations per hour"},
            description="Registrations per address.",
        ),
    ] = 10


class OAuth(msgspec.Struct, frozen=True, kw_only=True):
    """Access tokens for clients with an id and a secret (OAuth 2.0)."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether the desk issues and accepts tokens, and says so in its metadata. "
            "Create clients with aitp-desk client create."
        ),
    ] = True
    token_seconds: Annotated[
        Annotated[int, Meta(ge=60, le=LONGEST_TOKEN_SECONDS)],
        Meta(extra={"unit": "seconds"}, description="The lifetime of a token."),
    ] = 3600
    registration: Registration = Registration()
