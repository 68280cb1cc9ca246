"""Settings of an action that a file or a server describes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Variable = Annotated[
    str,
    Meta(
        max_length=128,
        pattern=r"\A(?:[A-Za-z_][A-Za-z0-9_]*)?\Z",
        extra={"unit": "the name of an environment variable"},
    ),
]
Prefix = Annotated[
    str,
    Meta(
        max_length=32,
        pattern=r"\A(?:[a-z][a-z0-9_]*)?\Z",
        extra={"unit": "small letters, digits and _"},
        description="The prefix of its actions' names.",
    ),
]


class ActionTerms(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to the description of an action. An empty setting changes nothing."""

    name: Annotated[
        str,
        Meta(
            max_length=64,
            pattern=r"\A(?:[a-z][a-z0-9_]*)?\Z",
            extra={"unit": "a name of small letters, digits and _"},
            description="The action's name, without the prefix.",
        ),
    ] = ""
    summary: Annotated[
        str, Meta(max_length=256, description="What it does, in one line for callers.")
    ] = ""
    description: Annotated[
        str, Meta(description="Further facts for callers, such as consequences.")
    ] = ""
    kind: Annotated[
        Literal["", "query", "action", "async"],
        Meta(
            description="The kind of action: query reads quickly, action finishes within the "
            "request, async finishes later; by default async.",
        ),
    ] = ""
    mutability: Annotated[
        Literal["", "read_only", "reversible", "irreversible"],
        Meta(
            description="Whether a call changes anything, and whether the change can be undone; by "
            "default as the HTTP method or the MCP server says."
        ),
    ] = ""
    blast_radius: Annotated[
        Literal["", "self", "self_and_associated", "many", "all"],
        Meta(description="The extent of the change; self by default."),
    ] = ""
    reversible_within: Annotated[
        str,
        Meta(
            max_length=64,
            extra={"unit": "an ISO 8601 duration such as P30D"},
            description="The time within which the change can be undone.",
        ),
    ] = ""
    confirmation_recommended: Annotated[
        bool,
        Meta(description="Whether an agent should ask the person it acts for before it calls."),
    ] = False
    open_to: Annotated[
        Literal["actions", "operators", "anyone"],
        Meta(
            description="Who may call: callers with the scope actions, operators, or anyone; "
            "only a query, or what is prepaid, may be open to anyone.",
        ),
    ] = "actions"
    cost: Annotated[
        str,
        Meta(
            max_length=32,
            extra={"unit": "an amount such as 29.99 EUR"},
            description="The price of a call; free by default.",
        ),
    ] = ""
    prepaid: Annotated[
        bool,
        Meta(
            description=(
                "Whether callers pay here before the call, which needs a payment "
                "capability; otherwise they agree to the price here and pay "
                "elsewhere."
            ),
        ),
    ] = False
    approval: Annotated[
        bool,
        Meta(
            description="Whether a person approves each call before it runs; needs the kind async."
        ),
    ] = False
    deadline_seconds: Annotated[
        Annotated[int, Meta(ge=1, le=86_400)],
        Meta(extra={"unit": "seconds"}, description="The time limit of a call."),
    ] = 30
    idempotent: Annotated[
        Literal["", "yes", "no"],
        Meta(
            description="Whether repeating a call with the same key has no further effect; "
            "then the desk repeats it after a crash. By default true for actions "
            "that only read.",
        ),
    ] = ""
