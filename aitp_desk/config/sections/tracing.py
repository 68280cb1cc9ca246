"""Settings of tracing."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Tracing(msgspec.Struct, frozen=True, kw_only=True):
    """OpenTelemetry spans of requests, runs and calls of the model."""

    enabled: Annotated[
        bool,
        Meta(
            description=(
                "Whether traces are recorded. They are also recorded if the environment has"
                " variables that begin with OTEL_, unless OTEL_SDK_DISABLED is true."
            ),
        ),
    ] = False
