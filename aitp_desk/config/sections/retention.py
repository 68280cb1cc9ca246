"""Settings of retention."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Days = Annotated[int, Meta(ge=0, le=36_500, extra={"unit": "days"})]


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long what was said and done is kept; 0 keeps it until somebody deletes it."""

    threads_days: Annotated[
        Days,
        Meta(description="The time after which a thread without a message or change is deleted."),
    ] = 0
    files_days: Annotated[
        Days, Meta(description="So long after it was uploaded a file is deleted.")
    ] = 0
    calls_days: Annotated[
        Days,
        Meta(
            description="So long after it was over a call that was made on no thread is deleted;"
            " those on threads go with these."
        ),
    ] = 0
    sealed_days: Annotated[
        Days, Meta(description="So long after it was sealed a sensitive value is deleted.")
    ] = 90
    audit_days: Annotated[
        Days, Meta(description="The time that rows of the audit log are kept.")
    ] = 0
