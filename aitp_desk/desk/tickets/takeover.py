"""Thread takeover: an operator takes a thread over, writes there, and gives it back.

The thread needs no ticket. Operators' notes for each other are stored with the thread. What is
written raises an epoch, as in :mod:`aitp_desk.desk.tickets.service`.
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
from aitp_desk.model.conversation.thread import Attachment, Draft
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
    withdraw_words,
)

NO_NOTES: Mapping[str, str] = MappingProxyType({})


class Takeover:
    """Assigns threads to operators and posts their messages.

    Parameters:
        clock: Unix seconds.
        judges: lets plugins judge messages at each agent's desk, by its name.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        judges: Mapping[str, Judge] = MappingProxyType({}),
    ) -> None:
        self._store = store
        self._clock = clock
        self._judges = judges

    async def take_thread(self, thread_id: str, operator: str, by: Auditor) -> None:
        """Take a thread over: no run starts there any more, and active runs end.

        Open tickets on it that ask for an operator go to the same operator. Tickets that another
        operator has taken already stay with that operator.

        Parameters:
            operator: the name of the operator, which visitors see.
            by: the operator for the audit log.

        Raises:
            ThreadNotFound: there is no such thread.
            InvalidRequest: the name is invalid.
            PreconditionFailed: another operator has the thread.
        """
        check_name(operator)
        await self._store.run(
            take_thread, thread_id=thread_id, operator=operator, now=int(self._clock()), by=by
        )

    async def release_thread(self, thread_id: str, by: Auditor) -> None:
        """Return a thread to the agent, and release its tickets.

        Raises:
            ThreadNotFound: there is no such thread.
            PreconditionFailed: no operator has the thread.
        """
        await self._store.run(release_thread, thread_id=thread_id, now=int(self._clock()), by=by)

    async def say(
        self,
        thread_id: str,
        words: str,
        operator: str,
        by: Auditor,
        idempotency: IdempotencyRecord | None = None,
        notes: Mapping[str, str] = NO_NOTES,
        attachments: tuple[Attachment, ...] = (),
    ) -> None:
        """Post a message to a thread that this operator has.

        Parameters:
            operator, by: as in :meth:`take_thread`.
            idempotency: the request's idempotency key; a repeat posts nothing.
            notes: metadata of the message.
            attachments: files that go with it, open to all who read it.

        Raises:
            IdempotencyConflict: the key was used with another request.
            ThreadNotFound: there is no such thread.
            InvalidRequest: the text is empty or too long, or the name is invalid.
            PreconditionFailed: this operator does not have the thread.
        """
        check_words(words)
        check_name(operator)
        now = self._clock()
        spoken = _spoken(words, operator, now)
        await self._store.run(
            speak_on_thread,
            thread_id=thread_id,
            said=msgspec.structs.replace(spoken, notes=notes, attachments=attachments),
            now=int(now),
            by=by,
            idempotency=idempotency,
        )

    async def withdraw(self, thread_id: str, message_id: str, operator: str, by: Auditor) -> None:
        """Delete a message of this operator, wherever it is shown, and its corrections.

        Parameters:
            operator, by: as in :meth:`take_thread`.

        Raises:
            ThreadNotFound, MessageNotFound: it is not there any more.
            Forbidden: another operator has said it.
        """
        await self._store.run(
            withdraw_words,
            thread_id=thread_id,
            message_id=message_id,
            operator=operator,
            now=int(self._clock()),
            by=by,
        )

    async def send(
        self,
        thread_id: str,
        part: str,
        operator: str,
        principal: Principal,
        by: Auditor,
        idempotency: IdempotencyRecord | None = None,
    ) -> None:
        """Post a structured message to a thread that this operator has.

        Its plugin judges it.

        Parameters:
            part: the message in its serialized form, as one part of a thread message.
            principal: the speaker, for plugins and the audit log.
            operator, by, idempotency: as in :meth:`say`.

        Raises:
            as :meth:`say`.
            InvalidRequest: it breaks its plugin's schema, or belongs to no plugin of the site.
            DeskError: its plugin refuses it.
            PreconditionFailed: the state it depends on changed during every attempt.
        """
        check_length(part)
        check_name(operator)
        now = self._clock()
        kept = await reads.thread(self._store, thread_id)
        judging = None if kept is None else self._judges.get(kept.thread.desk)
        if kept is None or judging is None:
            raise ThreadNotFound("There is no thread with this id.", param="thread_id")
        actor = f"{kept.thread.actors[0].id}/{OPERATORS}/{operator}"
        spoken = _spoken(part, operator, now)
        draft = Draft("assistant", (part,), actor=actor)
        parts = judging.read_parts(draft.content)
        if not parts:
            raise InvalidRequest(
                ("This is not a message of any capability of this site."), param="message"
            )

        async def write(judged: JudgedMessages) -> None:
            (written,) = judged.drafts
            await self._store.run(
                speak_on_thread,
                thread_id=thread_id,
                said=msgspec.structs.replace(spoken, words=written.content[0]),
                now=int(now),
                by=by,
                effects=judged.effects,
                idempotency=idempotency,
            )

        said = SpokenMessage(spoken.id, draft, actor, parts)
        await judging.judge_and_write(principal, thread_id, kept.thread.actors, (said,), write)

    async def resolve(self, thread_id: str, words: str, operator: str, by: Auditor) -> None:
        """Give back a thread, and end its requests for an operator.

        Its open tickets that ask for an operator are answered with the text; with an empty text
        they are closed. Tickets of calls stay open, and are released.

        Parameters:
            words: the operator's last message there; may be empty.
            operator, by: as in :meth:`take_thread`.

        Raises:
            as :meth:`say`, except that the text may be empty.
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

    async def note(
        self,
        thread_id: str,
        words: str,
        operator: str,
        by: Auditor,
        idempotency: IdempotencyRecord | None = None,
    ) -> Note:
        """Add a note to a thread, for operators only.

        No operator needs to have the thread.

        Parameters:
            operator, by: as in :meth:`take_thread`.
            idempotency: as of :meth:`say`.

        Raises:
            ThreadNotFound: there is no such thread.
            InvalidRequest: as :meth:`say`.
        """
        check_words(words)
        check_name(operator)
        now = self._clock()
        note = Note(new_id(NOTE_PREFIX, now), thread_id, operator, words.strip(), int(now))
        await self._store.run(add_note, note=note, by=by, idempotency=idempotency)
        return note


def _spoken(words: str, operator: str, now: float) -> TicketMessage:
    return TicketMessage(new_id("msg", now), new_salt(), words.strip(), operator)
