"""Settings of actions: required intent and expiry of calls."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Count


class Actions(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the calls of the site's own actions."""

    require_intent: Annotated[
        bool,
        Meta(
            description="Whether a call that may change something is refused where"
            " context.user_intent does not say what for.",
        ),
    ] = False
    expire_hours: Annotated[
        Count,
        Meta(
            extra={"unit": "hours"},
            description="How long a call may go on after it was accepted; then it has expired.",
        ),
    ] = 168
