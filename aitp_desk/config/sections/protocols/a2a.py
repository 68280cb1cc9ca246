"""Settings of A2A."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class A2a(msgspec.Struct, frozen=True, kw_only=True):
    """Whether agents that speak A2A reach the desk, and what they are told of it."""

    enabled: Annotated[
        bool, Meta(description="Whether /a2a and /.well-known/agent-card.json are served.")
    ] = True
    card: Annotated[
        Literal["both", "1.0"],
        Meta(
            description=(
                "The versions that the agent card describes: 1.0 and 0.3, or 1.0 alone, whose"
                " schema has no members of 0.3. Both versions are served."
            )
        ),
    ] = "both"
