"""The settings of AHP, the Agent Handshake Protocol."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Ahp(msgspec.Struct, frozen=True, kw_only=True):
    """What visiting agents have to say."""

    require_intent: Annotated[
        bool,
        Meta(
            description="Whether a call that may change something is refused where"
            " context.user_intent does not say what for.",
        ),
    ] = False
