"""Operators step into conversations: they take a thread over, speak there, and give it back.

A thread need not have a ticket for that. What they note for each other stands beside the thread.
What is written raises an epoch, as of :mod:`aitp_desk.desk.tickets.service`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from aitp_desk.desk.plugins.judge import Judge, JudgedMessages, SpokenMessage
from aitp_desk.desk.tickets.operators import check_length, check_name, check_words
from aitp_desk.model.access.audit import Auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.note import NOTE_PREFIX, Note
from aitp_desk.model.conversation.thread import Draft
from aitp_desk.model.conversation.ticket import OPERATORS
from aitp_desk.model.errors import InvalidRequest, ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.store.units.tickets.answers import TicketMessage
from aitp_desk.store.units.tickets.takeover import (
    add_note,
    release_thread,
    resolve_thread,
    speak_on_thread,
    take_thread,
)


class Takeover:
    """Hands threads to operators and back, and has them speak there.

    Parameters:
        clock: Unix seconds.
        judging: has capabilities judge what is said at each agent's desk, by its name.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        judging: Mapping[str, Judge] = MappingProxyType({}),
    ) -> None:
        self._store = store
        self._clock = clock
        self._judging = judging

    async def take_thread(self, thread_id: str, operator: str, by: Auditor) -> None:
        """Take a thread over: no run starts there, and what was at work ends.

        With it go its open tickets in which a person is asked for. What an operator has already
        stays theirs.

        Parameters:
            operator: the name of who takes it, which visitors see.
            by: the same for the audit log.

        Raises:
            ThreadNotFound: there is no such thread.
            InvalidRequest: the name is none.
            PreconditionFailed: somebody else has it.
        """
        check_name(operator)
        await self._store.run(
            take_thread, thread_id=thread_id, operator=operator, now=int(self._clock()), by=by
        )

    async def release_thread(self, thread_id: str, by: Auditor) -> None:
        """Give a thread back to the agent, and its tickets back to all.

        Raises:
            ThreadNotFound: there is no such thread.
            PreconditionFailed: nobody has it.
        """
        await self._store.run(release_thread, thread_id=thread_id, now=int(self._clock()), by=by)

    async def say(
        self,
        thread_id: str,
        words: str,
        operator: str,
        by: Auditor,
        once: IdempotencyRecord | None = None,
    ) -> None:
        """Say something on a thread that this operator has.

        Parameters:
            operator, by: as of :meth:`take_thread`.
            once: the request's idempotency key: what was said with it is not said again.

        Raises:
            IdempotencyConflict: the key was used with another request.
            ThreadNotFound: there is no such thread.
            InvalidRequest: there are no words, or too many, or the name is none.
            PreconditionFailed: this operator does not have it.
        """
        check_words(words)
        check_name(operator)
        now = self._clock()
        await self._store.run(
            speak_on_thread,
            thread_id=thread_id,
            said=_spoken(words, operator, now),
            now=int(now),
            by=by,
            once=once,
        )

    async def send(
        self,
        thread_id: str,
        part: str,
        operator: str,
        principal: Principal,
        by: Auditor,
        once: IdempotencyRecord | None = None,
    ) -> None:
        """Say a message of a capability on a thread that this operator has; it is judged.

        Parameters:
            part: the message, as it stands among the parts of one.
            principal: who speaks, as capabilities and the audit log know them.
            operator, by, once: as of :meth:`say`.

        Raises:
            as :meth:`say`.
            InvalidRequest: it breaks the schema of its capability, or is none of one.
            DeskError: its capability refuses it.
            PreconditionFailed: somebody else changed each time what it follows from.
        """
        check_length(part)
        check_name(operator)
        now = self._clock()
        kept = await reads.thread(self._store, thread_id)
        judging = None if kept is None else self._judging.get(kept.thread.desk)
        if kept is None or judging is None:
            raise ThreadNotFound("There is no thread with this id.", param="thread_id")
        actor = f"{kept.thread.actors[0].id}/{OPERATORS}/{operator}"
        spoken = _spoken(part, operator, now)
        draft = Draft("assistant", (part,), actor=actor)
        parts = judging.read_parts(draft)
        if not parts:
            raise InvalidRequest("This is no message of a capability of the site.", param="message")

        async def write(judged: JudgedMessages) -> None:
            (written,) = judged.drafts
            await self._store.run(
                speak_on_thread,
                thread_id=thread_id,
                said=msgspec.structs.replace(spoken, words=written.content[0]),
                now=int(now),
                by=by,
                effects=judged.effects,
                once=once,
            )

        said = SpokenMessage(spoken.id, draft, actor, parts)
        await judging.judge_and_write(principal, thread_id, kept.thread.actors, (said,), write)

    async def resolve(self, thread_id: str, words: str, operator: str, by: Auditor) -> None:
        """Give a thread back that this operator has, and end what a person was asked for there.

        Its open tickets in which a person is asked for are answered with these words; without words
        they are closed. Tickets of calls stay, and are given back to all.

        Parameters:
            words: the last that the operator says there; may be empty.
            operator, by: as of :meth:`take_thread`.

        Raises:
            as :meth:`say`, but for there being no words.
        """
        check_length(words)
        check_name(operator)
        now = self._clock()
        await self._store.run(
            resolve_thread,
            thread_id=thread_id,
            said=_spoken(words, operator, now),
            now=int(now),
            by=by,
        )

    async def note(self, thread_id: str, words: str, operator: str, by: Auditor) -> Note:
        """Note something beside a thread, for operators alone; anyone may have the thread.

        Parameters:
            operator, by: as of :meth:`take_thread`.

        Raises:
            ThreadNotFound: there is no such thread.
            InvalidRequest: as of :meth:`say`.
        """
        check_words(words)
        check_name(operator)
        now = self._clock()
        note = Note(new_id(NOTE_PREFIX, now), thread_id, operator, words.strip(), int(now))
        await self._store.run(add_note, note=note, by=by)
        return note


def _spoken(words: str, operator: str, now: float) -> TicketMessage:
    return TicketMessage(new_id("msg", now), new_salt(), words.strip(), operator)
