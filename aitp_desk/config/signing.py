"""Settings of requests that are signed."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


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
