"""Tries the operators' conversation: ``aitp-desk transport test``."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

from aitp_desk.capability import Unanswered
from aitp_desk.model.ids import new_id
from aitp_desk.transports.base import Failed, Step, try_steps
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.messages import Outgoing

ADVICE = "operators must name a conversation as the platform calls it, with the desk's account in."


async def check_operators(enabled: EnabledTransport) -> AsyncIterator[Step]:
    """Send a message to the operators of a site that has some; delete it."""
    room, transport = enabled.common.operators, enabled.transport

    async def send() -> str:
        now = time.time()
        message = Outgoing(
            id=new_id("msg", now),
            conversation=room,
            recipient=room,
            text="This message tests the way of tickets. Nothing is to be done.",
            subject="Test of the desk",
            is_reply=False,
            last_heard=int(now),
            is_for_operators=True,
        )
        try:
            sent = await transport.send(message)
        except (Failed, Unanswered) as failure:
            raise Failed(f"{failure.reason} {ADVICE}") from None
        try:
            await transport.retract(sent.conversation or room, sent.message_ref)
        except (Failed, Unanswered):
            return "The message stays there."
        return "The message was deleted again."

    if room:
        async for step in try_steps(((f"Tickets reach {room}.", send),)):
            yield step
