"""Settings of the operators' console."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class ConsoleSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The pages at /console, where operators see tickets and conversations, and answer."""

    enabled: Annotated[
        bool, Meta(description="Whether the pages and what they ask are served.")
    ] = True
    hours: Annotated[
        Annotated[int, Meta(ge=1, le=720)],
        Meta(
            extra={"unit": "hours"},
            description="How long somebody who has signed in need not do so again.",
        ),
    ] = 12
