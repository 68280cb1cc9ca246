"""Settings of the log."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """The desk's log."""

    format: Annotated[
        Literal["auto", "json", "console"],
        Meta(description="Format of a line; auto means console on a terminal and json elsewhere."),
    ] = "auto"
    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="The lowest level that is written."),
    ] = "info"
