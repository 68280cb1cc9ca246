"""Types of settings with shared units and bounds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

DAY_SECONDS = 24 * 60 * 60

Line = Annotated[str, Meta(min_length=1, pattern=r"\A[^\x00-\x1f\x7f-\x9f]*\Z")]
Url = Annotated[str, Meta(extra={"unit": "a URL"})]
Seconds = Annotated[int, Meta(ge=1, le=86_400, extra={"unit": "seconds"})]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
AtOnce = Annotated[int, Meta(ge=1, le=1_000_000, extra={"unit": "requests"})]
Places = Annotated[int, Meta(ge=0, le=1_000_000, extra={"unit": "requests"})]
PerMinute = Annotated[int, Meta(ge=1, le=1_000_000, extra={"unit": "requests per minute"})]
PerMinuteOrNone = Annotated[int, Meta(ge=0, le=1_000_000, extra={"unit": "requests per minute"})]
TokenBudget = Annotated[int, Meta(ge=0, le=1_000_000_000, extra={"unit": "tokens"})]
Bytes = Annotated[int, Meta(ge=1024, le=1024**3, extra={"unit": "bytes"})]
Tag = Annotated[
    str,
    Meta(
        pattern=r"\A[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?\Z",
        extra={"unit": "a language tag such as en or fr-CA"},
    ),
]
