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
            description="When a person is asked to answer a visitor: on_request, where the visitor"
            " asks for one; offered, also where the agent cannot answer and the visitor says yes to"
            " its offer; at_once, where the agent cannot answer, without an offer; off, never. Set"
            " it only where somebody looks after tickets.",
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
            description="How many such tickets of one caller may wait at once; who is anonymous is"
            " counted by address.",
        ),
    ] = 10
