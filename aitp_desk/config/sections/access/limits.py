"""Settings of rate limits, by caller and by the name of its agent."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.units import (
    AtOnce,
    Line,
    PerMinute,
    PerMinuteOrNone,
    Places,
    Seconds,
    TokenBudget,
)

EVERYBODY = "*"
"""The name of the block for agents without a block (agents.txt 1.0, section 3.6)."""
THREADS = "threads"
"""The name of the Threads API among an agent's actions."""

Name = Annotated[str, Meta(max_length=64, pattern=r"\A[^\s/\x00-\x1f\x7f]*\Z")]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one visitor may ask of the desk; of an IPv6 address its network of 64 bits counts.

    What is 0 sets no limit.
    """

    enabled: Annotated[
        bool, Meta(description="Whether limits apply, including those of further agents.")
    ] = True
    static_per_minute: Annotated[
        PerMinute, Meta(description="Reading requests per address, without a credential.")
    ] = 120
    converse_per_minute: Annotated[
        PerMinute, Meta(description="Asking requests per address, without a credential.")
    ] = 30
    authenticated_per_minute: Annotated[
        PerMinute, Meta(description="Requests of one caller who is known by a credential.")
    ] = 120
    actions_per_minute: Annotated[
        PerMinuteOrNone,
        Meta(description="Calls per caller that may change something (AHP 0.1, section 11.2)."),
    ] = 30
    agent_per_minute: Annotated[
        PerMinuteOrNone,
        Meta(
            description=(
                "Questions over AHP per requesting_agent, within the limit of its address or"
                " credential."
            ),
        ),
    ] = 0
    session_per_minute: Annotated[
        PerMinuteOrNone, Meta(description="Questions per AHP session, including refused ones.")
    ] = 30
    session_tokens: Annotated[
        TokenBudget, Meta(description="Tokens per AHP session, without a credential.")
    ] = 50_000
    authenticated_session_tokens: Annotated[
        TokenBudget,
        Meta(description="Tokens of one AHP session of a caller who is known by a credential."),
    ] = 200_000
    day_tokens: Annotated[
        TokenBudget,
        Meta(
            description=(
                "Tokens per day (UTC) that a model may use for the questions over AHP of one"
                " address or credential."
            ),
        ),
    ] = 0


class AgentLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent may do less, of which there may be any number, each named once.

    The name is the first word of the User-Agent, up to a slash, in letters of either case; * is
    every agent that has no table of its own. Nobody proves such a name: it only lessens what the
    address or the credential may do.
    """

    name: Annotated[
        Name,
        Meta(
            extra={"unit": "a name without spaces or slashes"},
            description="The name by which the agent identifies itself, such as GPTBot.",
        ),
    ] = ""
    per_minute: Annotated[
        PerMinuteOrNone,
        Meta(description="Its requests per address or credential."),
    ] = 0
    actions: Annotated[
        tuple[Line, ...],
        Meta(
            extra={"unit": "actions"},
            description="What it may call over AHP, and threads for the Threads API; all of it"
            " where empty.",
        ),
    ] = ()


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """Callers with a credential who have limits of their own, of which there may be any number.

    A caller has those of the first table that it belongs to. What is 0 is as [limits] and
    [concurrency] say.
    """

    name: Annotated[Name, Meta(description="What the owner calls it.")] = ""
    principals: Annotated[
        tuple[Line, ...],
        Meta(
            extra={"unit": "callers"},
            description=(
                "The ids of its members, such as key:0123456789abcdef; jwt:staff:* means every id"
                " that begins with jwt:staff:."
            ),
        ),
    ] = ()
    scopes: Annotated[
        tuple[Line, ...],
        Meta(
            extra={"unit": "scopes"},
            description="The scopes whose holders are also members, such as operator.",
        ),
    ] = ()
    static_per_minute: Annotated[
        PerMinuteOrNone, Meta(description="Reading requests of one of them.")
    ] = 0
    converse_per_minute: Annotated[
        PerMinuteOrNone, Meta(description="Asking requests of one of them.")
    ] = 0
    at_once: Annotated[
        Places, Meta(description="Requests of one of them that are worked on at once.")
    ] = 0
    session_tokens: Annotated[
        TokenBudget, Meta(description="Tokens per AHP session of a member.")
    ] = 0
    day_tokens: Annotated[
        TokenBudget,
        Meta(
            description="Tokens that a model may use on one day (UTC) for the questions over AHP"
            " of one of them.",
        ),
    ] = 0


class Concurrency(msgspec.Struct, frozen=True, kw_only=True):
    """How many requests are worked on at once; limits.enabled = false switches these off too.

    Streams have bounds of their own in [events], and what only waits for a run takes no place.
    """

    at_once: Annotated[AtOnce, Meta(description="Concurrent requests of all callers.")] = 200
    at_once_per_caller: Annotated[
        AtOnce,
        Meta(description="Concurrent requests per caller, or per address without a credential."),
    ] = 32
    waiting: Annotated[
        Places,
        Meta(
            description=(
                "Requests that may wait for their turn, per caller as many as may run; the next"
                " is refused."
            ),
        ),
    ] = 400
    wait_seconds: Annotated[Seconds, Meta(description="The longest time that a request waits.")] = (
        10
    )
