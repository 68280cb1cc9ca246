"""Settings of actions: required intent and expiry of calls."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Count


class Actions(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of calls of the site's own actions."""

    require_intent: Annotated[
        bool,
        Meta(
            description="Whether a call that can change something is refused if "
            "context.user_intent is missing.",
        ),
    ] = False
    expire_hours: Annotated[
        Count,
        Meta(
            extra={"unit": "hours"},
            description="The time after which an unfinished call expires.",
        ),
    ] = 168
