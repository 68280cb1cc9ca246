"""Settings of retention."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Days = Annotated[int, Meta(ge=0, le=36_500, extra={"unit": "days"})]


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long data is kept; 0 keeps it until it is deleted by hand."""

    threads_days: Annotated[
        Days,
        Meta(description="The time after which a thread without a message or change is deleted."),
    ] = 0
    files_days: Annotated[
        Days, Meta(description="The time after its upload when a file is deleted.")
    ] = 0
    calls_days: Annotated[
        Days,
        Meta(
            description="The time after its end when a call without a thread is deleted; "
            "others are deleted with their thread."
        ),
    ] = 0
    sealed_days: Annotated[
        Days, Meta(description="The time after which a sealed sensitive value is deleted.")
    ] = 90
    audit_days: Annotated[
        Days, Meta(description="The time that rows of the audit log are kept.")
    ] = 0
