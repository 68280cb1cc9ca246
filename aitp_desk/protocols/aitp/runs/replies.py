"""Waits for the replies to a post, and selects their format."""

from __future__ import annotations

from aitp_desk.desk.desk import Desk
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import Message
from aitp_desk.protocols.aitp import wire
from aitp_desk.protocols.aitp.wire import Dialect
from aitp_desk.protocols.base.preferences import decode_wait
from aitp_desk.protocols.base.protocol import Call


def find_format(desk: Desk, call: Call) -> tuple[Dialect, str]:
    """Return what decides a message's format: the request's dialect and the agent."""
    return wire.read_dialect(call.headers), desk.agents.default.id


async def wait_for_replies(
    desk: Desk, call: Call, run_id: str | None, said: Message | None = None
) -> tuple[Run | None, tuple[Message, ...] | None]:
    """Wait for the replies as long as ``Prefer: wait=N`` asks.

    Without that header nothing waits. A client of the OpenAI API never waits: its call starts no
    run, and it knows no such members.

    Parameters:
        run_id: of the run that replies; None for none.
        said: the message posted on a thread. If it pays and no run replies, the outcome of the
            payment is the reply.
    """
    if "Prefer" not in call.headers or wire.read_dialect(call.headers) is Dialect.OPENAI:
        return None, None
    seconds = decode_wait(call.get_list_header("Prefer"))
    if seconds is None:
        return None, None
    seconds = min(seconds, desk.max_wait)
    if run_id is not None:
        call.release_slot()
        return await desk.reader.wait_for_run(call.principal, run_id, seconds)
    if said is None:
        return None, ()
    call.release_slot()
    return None, await desk.payment_replies.wait_for_replies(call.principal, said, seconds)
