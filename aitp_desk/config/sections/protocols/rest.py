"""Settings of actions over plain HTTP and of their OpenAPI document."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Rest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether actions are called by their arguments, as an OpenAPI document describes them."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether /openapi.json, the page /docs and POST /capabilities/NAME are"
            " served."
        ),
    ] = True
