"""Settings of tickets, their notifications and the operators' console."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Count

WhenAsked = Literal["off", "on_request", "offered", "at_once"]


class Tickets(msgspec.Struct, frozen=True, kw_only=True):
    """Having people answer in conversations. The site's own actions reach them in any case."""

    people: Annotated[
        WhenAsked,
        Meta(
            description=(
                "When a person is asked to answer a visitor: on_request, if the visitor asks for"
                " a person; offered, also if the agent cannot answer and the visitor accepts its"
                " offer; at_once, if the agent cannot answer, without an offer; off, never."
                " Enable it only if people answer tickets."
            ),
        ),
    ] = "off"
    expire_hours: Annotated[
        Count,
        Meta(
            extra={"unit": "hours"},
            description="How long such a ticket waits; then the conversation is told that nobody"
            " has answered.",
        ),
    ] = 72
    max_waiting_per_caller: Annotated[
        Count,
        Meta(
            extra={"unit": "tickets"},
            description=(
                "The most such tickets of one caller that may wait; anonymous callers are counted"
                " by address."
            ),
        ),
    ] = 10


class Notify(msgspec.Struct, frozen=True, kw_only=True):
    """Telling the site's people that a ticket waits for them."""

    webhook: Annotated[
        str,
        Meta(
            extra={"unit": "a URL"},
            description="Where every new ticket is sent to, as JSON, signed by the key that the"
            " desk publishes.",
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
    """The pages at /console, where operators see tickets and conversations, and answer."""

    enabled: Annotated[bool, Meta(description="Whether the console is served.")] = True
    hours: Annotated[
        Annotated[int, Meta(ge=1, le=720)],
        Meta(
            extra={"unit": "hours"},
            description="The lifetime of a session.",
        ),
    ] = 12
