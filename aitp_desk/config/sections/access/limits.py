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
        bool, Meta(description="Whether anything is limited at all, of further agents too.")
    ] = True
    static_per_minute: Annotated[
        PerMinute, Meta(description="Reading requests of one address, without a credential.")
    ] = 120
    converse_per_minute: Annotated[
        PerMinute, Meta(description="Asking requests of one address, without a credential.")
    ] = 30
    authenticated_per_minute: Annotated[
        PerMinute, Meta(description="Requests of one caller who is known by a credential.")
    ] = 120
    actions_per_minute: Annotated[
        PerMinuteOrNone,
        Meta(description="Calls of one caller that may change something (AHP 0.1, section 11.2)."),
    ] = 30
    agent_per_minute: Annotated[
        PerMinuteOrNone,
        Meta(
            description="Questions over AHP of one requesting_agent, within what its address or"
            " credential may ask.",
        ),
    ] = 0
    session_per_minute: Annotated[
        PerMinuteOrNone, Meta(description="Questions in one AHP session, refused ones too.")
    ] = 30
    session_tokens: Annotated[
        TokenBudget, Meta(description="Tokens of one AHP session, without a credential.")
    ] = 50_000
    authenticated_session_tokens: Annotated[
        TokenBudget,
        Meta(description="Tokens of one AHP session of a caller who is known by a credential."),
    ] = 200_000
    day_tokens: Annotated[
        TokenBudget,
        Meta(
            description="Tokens that a model may use on one day (UTC) for the questions over AHP"
            " of one address or credential.",
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
            extra={"unit": "a name without spaces and slashes"},
            description="What the agent calls itself, such as GPTBot.",
        ),
    ] = ""
    per_minute: Annotated[
        PerMinuteOrNone,
        Meta(description="Requests of it from one address, or with one credential."),
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
            description="Who belongs to it, by id such as key:0123456789abcdef; jwt:staff:* is"
            " everybody whose id begins so.",
        ),
    ] = ()
    scopes: Annotated[
        tuple[Line, ...],
        Meta(
            extra={"unit": "scopes"},
            description="Who has one of these belongs to it too, such as operator.",
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
        TokenBudget, Meta(description="Tokens of one AHP session of theirs.")
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

    at_once: Annotated[AtOnce, Meta(description="Of all callers together.")] = 200
    at_once_per_caller: Annotated[
        AtOnce, Meta(description="Of one caller, or one address without a credential.")
    ] = 32
    waiting: Annotated[
        Places,
        Meta(
            description="How many may wait for their turn, of one caller as many as are worked on;"
            " the next is turned away.",
        ),
    ] = 400
    wait_seconds: Annotated[Seconds, Meta(description="How long one waits at most.")] = 10
