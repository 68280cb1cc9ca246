"""Settings of AHP except those of its sessions."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Ahp(msgspec.Struct, frozen=True, kw_only=True):
    """What the manifest tells of over the Agent Handshake Protocol."""

    integrations: Annotated[
        bool,
        Meta(
            description="Whether the manifest also has the member integrations (MCP, OpenAPI) of"
            " later drafts. The published schema of AHP 0.1 refuses it; links has the same"
            " addresses."
        ),
    ] = False
