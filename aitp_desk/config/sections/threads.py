"""Settings of threads and of the desk's automatic replies."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Bytes, Count, Seconds


class Threads(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of threads and of the desk's automatic replies."""

    max_wait: Annotated[
        Seconds, Meta(description="The longest time that Prefer: wait keeps a request open.")
    ] = 30
    max_auto_replies: Annotated[
        Count,
        Meta(
            extra={"unit": "runs per hour"},
            description="The most automatic replies on one thread.",
        ),
    ] = 20
    anonymous_ttl: Annotated[
        Count,
        Meta(
            extra={"unit": "days"},
            description="The lifetime of an anonymous thread after its last message.",
        ),
    ] = 30
    max_body: Annotated[Bytes, Meta(description="The largest body of a request to threads.")] = (
        1024 * 1024
    )
    window_tokens: Annotated[
        Annotated[int, Meta(ge=500, le=100_000)],
        Meta(
            extra={"unit": "tokens"},
            description="The approximate amount of the newest messages that the agent receives in "
            "full.",
        ),
    ] = 3000
    summary_tokens: Annotated[
        Annotated[int, Meta(ge=50, le=1500)],
        Meta(
            extra={"unit": "tokens"},
            description="The approximate length of the summary of earlier messages.",
        ),
    ] = 400
