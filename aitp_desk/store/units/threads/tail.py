"""Adds messages and events to the end of a thread.

A :class:`ThreadTail` numbers and links the additions of a unit, and collects the statements that
write them. It writes nothing itself: the unit yields its statements, after its last refusal.
"""

from __future__ import annotations

from aitp_desk.model.conversation.chain import FIRST_LINK, canonical, digest_message, next_link
from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.conversation.thread import Message
from aitp_desk.store.base import Params, Work
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.rows.threads import to_json


class ThreadTail:
    """A thread's last numbers and link, and what is to be written after them.

    Parameters:
        thread_id: the thread.
        now: Unix seconds, the time of everything added.
        seq, link, event: where the thread ends; by default a thread without messages.
    """

    __slots__ = ("_added", "event", "link", "now", "seq", "thread_id")

    def __init__(
        self, thread_id: str, now: int, seq: int = 0, link: bytes = FIRST_LINK, event: int = 0
    ) -> None:
        self.thread_id = thread_id
        self.now = now
        self.seq = seq
        self.link = link
        self.event = event
        self._added: list[tuple[str, Params]] = []

    def add_message(self, new: NewMessage, run_id: str | None = None) -> Message:
        """Add a message, which is also an event, and return it as stored.

        Parameters:
            run_id: for a reply the run that made it, for a visitor's message the run that answers.
        """
        self.seq += 1
        self.event += 1
        said = canonical(
            thread=self.thread_id,
            seq=self.seq,
            role=new.role,
            actor=new.actor,
            created_at=self.now,
            content=new.content,
            attachments=new.attachments,
        )
        digest = digest_message(new.salt, said)
        self.link = next_link(self.link, digest)
        self._added.append(
            (
                "add_message",
                {
                    "id": new.id,
                    "thread_id": self.thread_id,
                    "seq": self.seq,
                    "event": self.event,
                    "role": new.role,
                    "actor": new.actor,
                    "origin": new.origin.value,
                    "created_at": self.now,
                    "content": to_json(new.content),
                    "attachments": to_json(new.attachments) if new.attachments else "[]",
                    "salt": new.salt,
                    "digest": digest,
                    "link": self.link,
                    "metadata": to_json(new.metadata) if new.metadata else "{}",
                    "run_id": run_id,
                    "principal": new.principal,
                },
            )
        )
        return Message(
            id=new.id,
            thread_id=self.thread_id,
            seq=self.seq,
            role=new.role,
            actor=new.actor,
            origin=new.origin,
            created_at=self.now,
            content=new.content,
            attachments=new.attachments,
            metadata=new.metadata,
            run_id=run_id,
            principal=new.principal,
        )

    def add_run_event(self, run_id: str, state: RunState) -> None:
        """Add the event that a run has reached a state."""
        self.add_event(f"run.{state.value}", run_id)

    def add_event(self, kind: str, ref: str) -> None:
        """Add an event that is no message.

        Parameters:
            ref: id of its subject.
        """
        self.event += 1
        self._added.append(
            (
                "add_event",
                {
                    "thread_id": self.thread_id,
                    "n": self.event,
                    "after_seq": self.seq,
                    "kind": kind,
                    "ref": ref,
                    "created_at": self.now,
                },
            )
        )

    def write_additions(self) -> Work[None]:
        """Write the additions, in order; the caller writes the thread's row."""
        for statement in self._added:  # noqa: UP028 - a list cannot be sent rows
            yield statement

    def write(self) -> Work[None]:
        """Write the additions and the new end of the thread."""
        yield from self.write_additions()
        self._added.clear()
        yield "move_tail", self.end()

    def end(self) -> dict[str, object]:
        """Return the thread's columns that describe its end."""
        return {
            "thread_id": self.thread_id,
            "updated_at": self.now,
            "last_seq": self.seq,
            "last_link": self.link,
            "last_event": self.event,
        }
