"""Settings of HAC."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Hac(msgspec.Struct, frozen=True, kw_only=True):
    """Whether answers tell agents what they are and what may be done next, where asked for."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether threads, actions, resources and / are told as"
            " application/vnd.hac+json to whoever asks for that type."
        ),
    ] = True
