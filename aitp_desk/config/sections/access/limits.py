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
    """Limits per visitor; IPv6 addresses count by their /64 network. 0 means no limit."""

    enabled: Annotated[
        bool, Meta(description="Whether limits apply, including those of further agents.")
    ] = True
    static_per_minute: Annotated[
        PerMinute,
        Meta(
            description=(
                "Read requests of programs per address, without a credential; pages that browsers"
                " load do not count."
            ),
        ),
    ] = 120
    converse_per_minute: Annotated[
        PerMinute,
        Meta(description="Requests that ask the agent, per address, without a credential."),
    ] = 30
    search_per_minute: Annotated[
        PerMinute,
        Meta(description="Searches over titles and headings, per address or credential."),
    ] = 300
    authenticated_per_minute: Annotated[
        PerMinute, Meta(description="Requests per caller with a credential.")
    ] = 120
    actions_per_minute: Annotated[
        PerMinuteOrNone,
        Meta(description="Calls per caller that can change something (AHP 0.1, section 11.2)."),
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
        Meta(description="Tokens per AHP session, with a credential."),
    ] = 200_000
    day_tokens: Annotated[
        TokenBudget,
        Meta(
            description=(
                "Model tokens per day (UTC) for AHP questions of one address or credential."
            ),
        ),
    ] = 0


class AgentLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Stricter limits for one agent. Repeatable, each with a different name.

    The name is the first word of the User-Agent, up to a slash, in upper or lower case; * means
    every agent without a table. The name is not proven, so it can only lower the limits of the
    address or credential.
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
        Meta(description="The agent's requests per address or credential."),
    ] = 0
    actions: Annotated[
        tuple[Line, ...],
        Meta(
            extra={"unit": "actions"},
            description="The actions it may call over AHP, and threads for the Threads API; empty "
            "allows all.",
        ),
    ] = ()


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """Separate limits for a group of callers with credentials. Repeatable.

    The first table that includes a caller applies. 0 keeps the limit of [limits] and [concurrency].
    """

    name: Annotated[Name, Meta(description="The tier's name, for the owner.")] = ""
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
    static_per_minute: Annotated[PerMinuteOrNone, Meta(description="Read requests per member.")] = 0
    converse_per_minute: Annotated[
        PerMinuteOrNone, Meta(description="Requests that ask the agent, per member.")
    ] = 0
    at_once: Annotated[Places, Meta(description="Concurrent requests per member.")] = 0
    session_tokens: Annotated[
        TokenBudget, Meta(description="Tokens per AHP session of a member.")
    ] = 0
    day_tokens: Annotated[
        TokenBudget,
        Meta(
            description="Model tokens per day (UTC) for AHP questions of one member.",
        ),
    ] = 0


class Concurrency(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of concurrent requests; limits.enabled = false disables them too.

    Streams have separate limits in [events]. Requests that wait for a run do not count.
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
                "Requests that may wait; per caller as many as may run. Further requests "
                "are refused."
            ),
        ),
    ] = 400
    wait_seconds: Annotated[Seconds, Meta(description="The longest time that a request waits.")] = (
        10
    )
