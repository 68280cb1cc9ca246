"""Writes the events of a thread as server-sent events.

An event with a number (``id:``) reaches every follower exactly once. An event without one reaches
only those who follow at that moment. Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from aitp_desk.desk.events.events import (
    ACTOR_LEFT,
    THREAD_CLAIMED,
    THREAD_DELETED,
    THREAD_HANDED,
    ThreadEvent,
)
from aitp_desk.model.conversation.feedback import RatingCount
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import Actor, Message
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.aitp.objects import Deleted
from aitp_desk.protocols.aitp.threads.actors_wire import write_actor
from aitp_desk.protocols.aitp.threads.messages_wire import write_followed_run, write_message
from aitp_desk.protocols.aitp.threads.objects import RatingChange
from aitp_desk.protocols.aitp.wire import Dialect, encode
from aitp_desk.protocols.base.sse import KEEPALIVE, write_frame

_DELETED = {ACTOR_LEFT: "thread.actor", THREAD_DELETED: "thread"}
"""The type of a deleted object that is not a message."""
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)


def decode_after(headers: Mapping[str, str], query: Mapping[str, str]) -> tuple[int | None, str]:
    """Return the number of the last event that the caller knows; None starts now.

    A reconnecting reader repeats the address and adds ``Last-Event-ID``. That is newer than
    ``after`` in the query, and counts.

    Returns:
        The number, and the header or parameter that had it.

    Raises:
        InvalidRequest: it is not the number of an event.
    """
    for given, param in (
        (headers.get("Last-Event-ID"), "Last-Event-ID"),
        (query.get("after"), "after"),
    ):
        if given:
            if not _NUMBER.fullmatch(given):
                raise InvalidRequest(
                    f"`{param}` must be the number of an event, such as 7.", param=param
                )
            return int(given), param
    return None, "after"


class ThreadEventFormat:
    """Formats events for one dialect; see :class:`aitp_desk.desk.events.channel.EventFormat`.

    Parameters:
        assistant: id of the agent that answers here.
    """

    beat = KEEPALIVE

    def __init__(self, dialect: Dialect, assistant: str) -> None:
        self._dialect = dialect
        self._assistant = assistant

    def format_begin(self, thread_id: str, after: int) -> bytes:
        """Write ``following``; its id is where a new reader resumes."""
        return write_frame("following", encode({"thread_id": thread_id, "after": after}), after)

    def format_event(self, event: ThreadEvent) -> bytes:
        """Write an event of the thread, named by its kind, with its object."""
        data: object
        match event.subject:
            case Message() as message:
                data = write_message(message, self._dialect, self._assistant)
            case Run() as run:
                data = write_followed_run(run)
            case Actor() as actor:
                data = write_actor(actor)
            case RatingCount() as count:
                data = RatingChange(event.ref, count.up, count.down)
            case None if event.kind == THREAD_CLAIMED:
                data = {"id": event.ref, "object": THREAD_CLAIMED}
            case None if event.kind in THREAD_HANDED:
                data = {"id": event.ref, "object": event.kind}
            case _:
                what = _DELETED.get(event.kind, "thread.message")
                data = Deleted(event.ref, f"{what}.deleted", True)
        return write_frame(event.kind, encode(data), event.n)

    def format_snapshot(self, run_id: str, text: str) -> bytes:
        """Write ``answer.snapshot``: the answer so far, which replaces earlier pieces."""
        return write_frame("answer.snapshot", encode({"run_id": run_id, "text": text}))

    def format_delta(self, run_id: str, text: str) -> bytes:
        """Write ``answer.delta``: a further piece."""
        return write_frame("answer.delta", encode({"run_id": run_id, "text": text}))

    def format_restart(self, run_id: str) -> bytes:
        """Write ``run.restarted``: discard the answer so far."""
        return write_frame("run.restarted", encode({"run_id": run_id}))

    def format_typing(self, actor: str) -> bytes:
        """Write ``actor.typing``: a person of the site is writing."""
        return write_frame("actor.typing", encode({"id": actor, "object": "thread.actor"}))


@cache
def get_event_format(dialect: Dialect, assistant: str) -> ThreadEventFormat:
    """Return one format for a dialect and an agent; followers share its bytes."""
    return ThreadEventFormat(dialect, assistant)
