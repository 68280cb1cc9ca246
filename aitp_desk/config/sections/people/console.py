"""Settings of the operators' console."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class ConsoleSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The pages at /console, where operators see tickets and conversations, and answer."""

    enabled: Annotated[bool, Meta(description="Whether the console is served.")] = True
    hours: Annotated[
        Annotated[int, Meta(ge=1, le=720)],
        Meta(
            extra={"unit": "hours"},
            description="The lifetime of a session.",
        ),
    ] = 12
