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
            description=(
                "The permitted difference between a signed request's timestamp and the "
                "desk's clock, and how long its nonce is stored."
            ),
        ),
    ] = 300


class SignatureSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Agents that prove their domain by a message signature (RFC 9421, Web Bot Auth).

    They need the extra signatures: pip install 'aitp-desk[signatures]'.
    """

    others: Annotated[
        bool,
        Meta(
            description=(
                "Whether agents that are not listed are identified: their key directories are"
                " fetched, and they get the access of anonymous callers."
            )
        ),
    ] = True
    max_seconds: Annotated[
        Annotated[int, Meta(ge=10, le=86_400)],
        Meta(
            extra={"unit": "seconds"},
            description="The longest lifetime of a signature, from created to expires.",
        ),
    ] = 3600


class SignatureAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that signs its requests and has scopes. Repeatable."""

    origin: Annotated[
        Url,
        Meta(
            extra={"unit": "an origin"},
            description="The origin that publishes its keys, such as https://agent.example.",
        ),
    ] = ""
    scopes: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "scopes"},
            description="The scopes of the agent: threads, actions and actions:NAME.",
        ),
    ] = ("threads",)
