"""Settings of tickets, their notifications and the operators' console."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Count

WhenAsked = Literal["off", "on_request", "offered", "at_once"]


class Tickets(msgspec.Struct, frozen=True, kw_only=True):
    """Tickets for people from conversations. Actions can always create tickets."""

    people: Annotated[
        WhenAsked,
        Meta(
            description=(
                "When a visitor's question becomes a ticket: on_request, if the visitor "
                "asks for a person; offered, also if the agent cannot answer and the "
                "visitor accepts its offer; at_once, also if the agent cannot answer, "
                "without an offer; off, never. Enable it only if people answer tickets."
            ),
        ),
    ] = "off"
    expire_hours: Annotated[
        Count,
        Meta(
            extra={"unit": "hours"},
            description="The time that such a ticket waits; then the visitor gets a message that "
            "nobody has answered.",
        ),
    ] = 72
    hours: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "opening hours"},
            description="When people answer, in site.timezone, as schema.org's openingHours: "
            '"Mo-Fr 09:00-12:00,13:00-17:00". Without any they answer at all times.',
        ),
    ] = ()
    exceptions: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "dates"},
            description='Days with other hours, such as "2026-12-31 09:00-12:00", or with none, '
            'such as "2026-12-24".',
        ),
    ] = ()
    answer_minutes: Annotated[
        Annotated[int, Meta(ge=0, le=1440)],
        Meta(
            extra={"unit": "minutes"},
            description="The time that the chat waits for a person before it asks the visitor for "
            "an email address; outside the hours it asks at once.",
        ),
    ] = 5
    max_waiting_per_caller: Annotated[
        Count,
        Meta(
            extra={"unit": "tickets"},
            description=(
                "The most waiting tickets per caller; anonymous callers are counted by address."
            ),
        ),
    ] = 10


class Notify(msgspec.Struct, frozen=True, kw_only=True):
    """Notifications of new tickets."""

    webhook: Annotated[
        str,
        Meta(
            extra={"unit": "a URL"},
            description="The URL to which the desk sends each new ticket, as JSON, signed with its "
            "published key.",
        ),
    ] = ""
    command: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "a program and its arguments"},
            description=(
                "A command that runs for each new ticket, without a shell, with the ticket as"
                " JSON on standard input. Its environment contains only PATH, HOME and LANG."
            ),
        ),
    ] = ()


class ConsoleSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The console at /console, where operators read and answer tickets and conversations."""

    enabled: Annotated[bool, Meta(description="Whether the console is served.")] = True
    hours: Annotated[
        Annotated[int, Meta(ge=1, le=720)],
        Meta(
            extra={"unit": "hours"},
            description="The lifetime of a session.",
        ),
    ] = 12
