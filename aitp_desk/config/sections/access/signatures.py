"""Settings of signed requests."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Url


class SignedRequestSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Requests that are signed with a secret shared with the desk."""

    window_seconds: Annotated[
        Annotated[int, Meta(ge=10, le=3600)],
        Meta(
            extra={"unit": "seconds"},
            description="How far a signed request's timestamp may be off the desk's clock; its"
            " nonce is remembered for as long.",
        ),
    ] = 300


class SignatureSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Agents that prove their domain by a message signature (RFC 9421, Web Bot Auth).

    They need the extra signatures: pip install 'aitp-desk[signatures]'.
    """

    others: Annotated[
        bool,
        Meta(
            description="Whether agents are known that are not listed: their key directories are"
            " fetched, and they open what anybody may."
        ),
    ] = True
    max_seconds: Annotated[
        Annotated[int, Meta(ge=10, le=86_400)],
        Meta(
            extra={"unit": "seconds"},
            description="How long a signature may hold, from created to expires.",
        ),
    ] = 3600


class SignatureAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that signs its requests and has scopes, of which there may be any number."""

    origin: Annotated[
        Url,
        Meta(
            extra={"unit": "an origin"},
            description="Where it publishes its keys, such as https://agent.example.",
        ),
    ] = ""
    scopes: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "scopes"},
            description="What it opens: threads, actions and actions:NAME.",
        ),
    ] = ("threads",)
