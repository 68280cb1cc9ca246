"""Settings of the model and of its budget."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

API_KEY = "ANTHROPIC_API_KEY"
API_URL = "ANTHROPIC_BASE_URL"
"""Environment variables with the model's API key and URL."""

Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\A[\w.:@/-]*\Z")]
Tokens = Annotated[int, Meta(le=1_000_000_000, extra={"unit": "tokens"})]
Price = Annotated[float, Meta(ge=0, le=10_000, extra={"unit": "US dollars per million tokens"})]


class Claude(msgspec.Struct, frozen=True, kw_only=True):
    """The model that answers if ANTHROPIC_API_KEY is set, and its cost limits."""

    model: Annotated[Name, Meta(extra={"unit": "a name"}, description="Name of the model.")] = (
        "claude-haiku-5-5"
    )
    thinking: Annotated[
        Literal["disabled", "between_tools", "adaptive"],
        Meta(
            description=(
                "Whether the model thinks before it answers. Not every model accepts every value:"
                " see claude.md."
            ),
        ),
    ] = "disabled"
    max_answer_tokens: Annotated[
        Tokens, Meta(ge=16, description="The longest answer; a caller may request a shorter one.")
    ] = 600
    passage_tokens: Annotated[
        Tokens, Meta(ge=16, description="The approximate amount of content sent with one question.")
    ] = 640
    reply_calls: Annotated[
        int,
        Meta(
            ge=1,
            le=100,
            extra={"unit": "calls"},
            description="The most calls of the model for one reply.",
        ),
    ] = 5
    reply_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=600,
            extra={"unit": "seconds"},
            description="The time limit of one reply.",
        ),
    ] = 30
    reply_tokens: Annotated[
        Tokens,
        Meta(ge=256, description="The most tokens that one reply may use, input and output."),
    ] = 20_000
    day_tokens: Annotated[
        Tokens,
        Meta(ge=0, description="The most tokens per day (UTC); 0 for no limit."),
    ] = 0
    price_in: Annotated[Price, Meta(description="The price of input tokens, for the log.")] = 0.10
    price_cached: Annotated[Price, Meta(description="The price of cached input tokens.")] = 0.01
    price_out: Annotated[Price, Meta(description="The price of output tokens.")] = 0.50
