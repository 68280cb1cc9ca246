"""Settings of callbacks."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class CallbackSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Telling callers' own servers how a call has ended."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether callers may name an address (callback_url of AHP, push"
            " notifications of A2A) that the desk sends the end of a call or task to; else they ask"
            " how it stands.",
        ),
    ] = True
