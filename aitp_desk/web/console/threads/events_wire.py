"""The console's format of thread events. Pure: no I/O, no clock."""

from __future__ import annotations

from typing import Final

from aitp_desk.desk.events.events import (
    ACTOR_JOINED,
    ACTOR_LEFT,
    MESSAGE_CREATED,
    MESSAGE_DELETED,
    RUN,
    THREAD_DELETED,
    THREAD_HANDED,
    ThreadEvent,
)
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.conversation.ticket import get_operator
from aitp_desk.protocols.base.sse import KEEPALIVE, write_frame
from aitp_desk.web.console.threads.wire import write_message, write_note
from aitp_desk.web.console.wire import encode

_MESSAGE_GONE: Final = frozenset({MESSAGE_CREATED, MESSAGE_DELETED})
"""Events about a message whose text is gone, now or since."""
_ACTORS: Final = frozenset({ACTOR_JOINED, ACTOR_LEFT})


class ConsoleEventFormat:
    """Formats events for the console; see :class:`.EventFormat`.

    An event without a format makes the page fetch the thread.

    Parameters:
        capabilities: render their messages.
    """

    beat = KEEPALIVE

    def __init__(self, capabilities: PluginRegistry) -> None:
        self._capabilities = capabilities

    def format_begin(self, _thread_id: str, after: int) -> bytes:
        """``tickets``: a new follower fetches the notes and tickets of the thread.

        Its id is where a reader without any event continues.
        """
        return write_frame("tickets", b"{}", after)

    def format_event(self, event: ThreadEvent) -> bytes:
        """Format an event of the thread."""
        data: object
        kind, subject, ref = event.kind, event.subject, event.ref
        if isinstance(subject, Message):
            name, data = "message", write_message(subject, self._capabilities)
        elif kind in _MESSAGE_GONE:
            name, data = "deleted", {"id": ref}
        elif kind.startswith(RUN):
            name, data = "run", {"state": kind.removeprefix(RUN)}
        elif kind in THREAD_HANDED:
            name, data = (
                "hand_over",
                {"operator": get_operator(ref) if kind == THREAD_HANDED[0] else None},
            )
        elif kind in _ACTORS:
            name, data = "actor", {"id": ref, "joined": kind == ACTOR_JOINED}
        elif kind == THREAD_DELETED:
            name, data = "gone", {}
        else:
            name, data = "tickets", {}
        return write_frame(name, encode(data), event.n)

    def format_snapshot(self, _run_id: str, text: str) -> bytes:
        """``snapshot``: all of an answer so far, replacing what was sent of it before."""
        return write_frame("snapshot", encode({"text": text}))

    def format_delta(self, _run_id: str, text: str) -> bytes:
        """``delta``: a further piece."""
        return write_frame("delta", encode({"text": text}))

    def format_typing(self, _actor: str) -> bytes:
        """Nothing: an operator knows that they are typing."""
        return b""

    def format_restart(self, _run_id: str) -> bytes:
        """``restarted``: discard what was sent of the answer."""
        return write_frame("restarted", b"{}")


TICKETS: Final = write_frame("tickets", b"{}")
"""Makes the page fetch the thread again."""


def note_event(note: Note) -> bytes:
    """``note``: an operator has added a note to the thread."""
    return write_frame("note", encode(write_note(note)))
