"""Renders the outcome of a call for its callback, in its protocol's format."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.callbacks import Render
from aitp_desk.protocols.ahp.answer_wire import AnswerEncoder
from aitp_desk.protocols.openapi.wire import write_status


def make_callback_renderer(desks: Sequence[Desk]) -> Render:
    """Make the renderer of callbacks, in the format of each call's protocol.

    Parameters:
        desks: the main one first. It also renders calls of desks that no longer exist.
    """
    by_name = {desk.name: desk for desk in desks}
    own = desks[0]
    encoders = {desk.name: AnswerEncoder(desk.site.url, desk.signals) for desk in desks}

    async def render(call_id: str, name: str) -> bytes | None:
        desk = by_name.get(name, own)
        status = await desk.conversations.describe_ended_call(call_id)
        if status is None:
            return None
        if status.call.session_id is None:
            return write_status(status, desk.site.url)
        return encoders[desk.name].status_body(status)

    return render
