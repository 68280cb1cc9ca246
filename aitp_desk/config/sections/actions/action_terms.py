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
    """What of an action is otherwise than it would be. Whatever is empty stays as it is."""

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
        str, Meta(max_length=256, description="What it does, in a line that callers read.")
    ] = ""
    description: Annotated[
        str, Meta(description="Further facts for callers, such as consequences.")
    ] = ""
    kind: Annotated[
        Literal["", "query", "action", "async"],
        Meta(
            description="What a call may do: query reads quickly, action is over within its call;"
            " else it is async.",
        ),
    ] = ""
    mutability: Annotated[
        Literal["", "read_only", "reversible", "irreversible"],
        Meta(description="Whether a call changes anything, and whether that can be undone."),
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
            description="Who may call: callers whose credential has the scope actions, those who"
            " run the desk, or anyone, which only a query may be open to.",
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
                "Whether the price is paid here before the call, which needs a payment"
                " capability; otherwise it is agreed to here and paid elsewhere."
            ),
        ),
    ] = False
    approval: Annotated[
        bool,
        Meta(
            description="Whether a person approves each call before it is carried out, which takes"
            " an async one."
        ),
    ] = False
    deadline_seconds: Annotated[
        Annotated[int, Meta(ge=1, le=86_400)],
        Meta(extra={"unit": "seconds"}, description="The time limit of a call."),
    ] = 30
    idempotent: Annotated[
        Literal["", "yes", "no"],
        Meta(
            description="Whether the same call, made twice with one key, does what it does once;"
            " after a crash it is then made again. Else what only reads is.",
        ),
    ] = ""
