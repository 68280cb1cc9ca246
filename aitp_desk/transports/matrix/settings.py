"""Settings of the Matrix transport."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Url

Server = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9.\-\[\]:]{1,255}\Z")]


class MatrixSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Rooms of a Matrix homeserver. End-to-end encrypted rooms are declined."""

    homeserver: Annotated[
        Url,
        Meta(description="Address of the homeserver, such as https://matrix.example.com."),
    ]
    user: Annotated[
        str,
        Meta(
            pattern=r"\A@[!-9;-~]{1,200}:[A-Za-z0-9.\-\[\]:]{1,200}\Z",
            max_length=255,
            extra={"unit": "a Matrix ID such as @desk:example.com"},
            description="The desk's own account, such as @desk:example.com.",
        ),
    ]
    mode: Annotated[
        Literal["client", "appservice"],
        Meta(
            description="`client` asks the homeserver for events, with an account's token;"
            " `appservice` lets the homeserver send them to the desk."
        ),
    ] = "client"
    token_env: Annotated[
        str,
        Meta(
            min_length=1,
            extra={"unit": "a variable's name"},
            description="Environment variable that holds the account's access token, or the"
            " application service's `as_token`.",
        ),
    ] = "MATRIX_TOKEN"  # noqa: S105 -- a variable's name
    hs_token_env: Annotated[
        str,
        Meta(
            min_length=1,
            extra={"unit": "a variable's name"},
            description="Environment variable that holds the application service's `hs_token`.",
        ),
    ] = "MATRIX_HS_TOKEN"  # noqa: S105 -- a variable's name
    appservice: Annotated[
        str,
        Meta(
            pattern=r"\A[A-Za-z0-9._\-]{1,64}\Z",
            extra={"unit": "a name"},
            description="The `id` of the application service's registration.",
        ),
    ] = "aitp-desk"
    allowed_servers: Annotated[
        tuple[Server, ...],
        Meta(
            extra={"unit": "server names"},
            description="Servers whose people may invite the desk to rooms with others, such as"
            " example.com; everybody may open a direct conversation.",
        ),
    ] = ()
    max_missed: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            extra={"unit": "events"},
            description="How many events of a room are fetched after an interruption.",
        ),
    ] = 500
