"""Settings of tickets: when a person is asked, and for how long."""

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
