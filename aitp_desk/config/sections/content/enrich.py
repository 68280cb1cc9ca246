"""Settings of the schedule that updates enriched.jsonl."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Enrich(msgspec.Struct, frozen=True, kw_only=True):
    """Keeping enriched.jsonl up to date while the desk serves; needs ANTHROPIC_API_KEY."""

    every_hours: Annotated[
        int,
        Meta(
            ge=0,
            le=8_760,
            extra={"unit": "hours"},
            description="The time between two runs; 0 sends nothing.",
        ),
    ] = 0
    run_dollars: Annotated[
        float,
        Meta(
            ge=0,
            le=10_000,
            extra={"unit": "US dollars"},
            description="The approximate cost limit of one run; later runs send the rest.",
        ),
    ] = 1.0
