"""What happens on a thread, as an operator who follows it is told. Pure: no I/O, no clock."""

from __future__ import annotations

from typing import Final

from aitp_desk.desk.events.events import (
    ACTOR_JOINED,
    ACTOR_LEFT,
    HANDED,
    MESSAGE_CREATED,
    MESSAGE_DELETED,
    RUN,
    THREAD_DELETED,
    Happening,
)
from aitp_desk.desk.plugins.registry import Capabilities
from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.conversation.ticket import operator_of
from aitp_desk.protocols.base.sse import BEAT, frame
from aitp_desk.web.console.threads.wire import message_body, note_body
from aitp_desk.web.console.wire import encode

_MESSAGE_GONE: Final = frozenset({MESSAGE_CREATED, MESSAGE_DELETED})
"""What tells of a message that is not there: its words went, now or since."""
_ACTORS: Final = frozenset({ACTOR_JOINED, ACTOR_LEFT})


class ConsoleWording:
    """Words events for the operators' pages; see :class:`aitp_desk.desk.events.channel.Wording`.

    Whatever tells something that the page has no words of its own for has it fetch the thread.

    Parameters:
        capabilities: tell what was said in messages of theirs.
    """

    beat = BEAT

    def __init__(self, capabilities: Capabilities) -> None:
        self._capabilities = capabilities

    def begin(self, _thread_id: str, after: int) -> bytes:
        """``tickets``: whoever has just come looks what is noted and asked for beside the thread.

        Its id is where a reader who has seen nothing yet goes on.
        """
        return frame("tickets", b"{}", after)

    def happening(self, happening: Happening) -> bytes:
        """An event of the thread, in the words of the page."""
        kind, subject, ref = happening.kind, happening.subject, happening.ref
        if isinstance(subject, Message):
            name, data = "message", message_body(subject, self._capabilities)
        elif kind in _MESSAGE_GONE:
            name, data = "deleted", {"id": ref}
        elif kind.startswith(RUN):
            name, data = "run", {"state": kind.removeprefix(RUN)}
        elif kind in HANDED:
            name, data = "hand_over", {"operator": operator_of(ref) if kind == HANDED[0] else None}
        elif kind in _ACTORS:
            name, data = "actor", {"id": ref, "joined": kind == ACTOR_JOINED}
        elif kind == THREAD_DELETED:
            name, data = "gone", {}
        else:
            name, data = "tickets", {}
        return frame(name, encode(data), happening.n)

    def snapshot(self, _run_id: str, text: str) -> bytes:
        """``snapshot``: all of an answer so far, in place of what was told of it before."""
        return frame("snapshot", encode({"text": text}))

    def delta(self, _run_id: str, text: str) -> bytes:
        """``delta``: a further piece."""
        return frame("delta", encode({"text": text}))

    def restarted(self, _run_id: str) -> bytes:
        """``restarted``: discard what was told of the answer."""
        return frame("restarted", b"{}")


TICKETS: Final = frame("tickets", b"{}")
"""Has the page fetch the thread again."""


def note_event(note: Note) -> bytes:
    """``note``: an operator has noted something beside the thread."""
    return frame("note", encode(note_body(note)))
