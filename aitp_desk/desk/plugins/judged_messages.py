"""Writes judged messages to threads; nothing is stored if a plugin refuses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from aitp_desk.capability import Record
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.plugins.judge import Judge, JudgedMessages, SpokenMessage
from aitp_desk.desk.plugins.messages.parts import PlacedPart
from aitp_desk.desk.plugins.messages.speakers import read_parties, read_speakers
from aitp_desk.desk.plugins.resumption import answers_last, still_unpaid
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.thread import Actor, Draft, Thread, ThreadDraft
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.store.base import Work
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.runs import NewRun
from aitp_desk.store.records.threads import NewDraft, NewMessage, PostResult

Parts = Sequence[PlacedPart]


class _Writer(msgspec.Struct, frozen=True):
    """A principal that writes to a thread.

    Parameters:
        names: its actor names, the default one first.
        actors: the participants, each with its principal.
    """

    names: tuple[str, ...]
    actors: tuple[Actor, ...]


class JudgedMessageWriter:
    """Judges messages before they are written to a thread.

    Attributes:
        understands_words, read_parts, redact: those of :class:`Judge`.
    """

    def __init__(self, context: DeskContext, judge: Judge) -> None:
        self._context = context
        self._judge = judge
        self._store = context.store
        self.understands_words, self.read_parts, self.redact = (
            judge.understands_words,
            judge.read_parts,
            judge.redact,
        )

    def redact_all(
        self, drafts: Sequence[NewDraft], parts: Sequence[Parts]
    ) -> tuple[NewDraft, ...]:
        """Redact several messages."""
        return tuple(
            msgspec.structs.replace(new, draft=self.redact(new.draft, own))
            for new, own in zip(drafts, parts, strict=True)
        )

    async def open(
        self,
        principal: Principal,
        draft: ThreadDraft,
        messages: Sequence[NewMessage],
        parts: Sequence[Parts],
        thread: Thread,
        speaker: str,
        run: NewRun | None,
        unit: Callable[..., Work[PostResult]],
        *,
        keeps_run: bool,
    ) -> PostResult:
        """Open a thread with judged messages.

        Parameters:
            messages: the draft's, with their speakers resolved.
            parts: of each of them.
            speaker: the actor that speaks if a message names none.
            run: answers them, if no plugin does.
            unit: the unit that writes them, given ``messages``, ``run`` and ``effects``.
            keeps_run: whether the caller requested the run, so that it starts in any case.

        Raises:
            as :meth:`Judge.judge_and_write` and ``unit``.
        """
        said = [
            SpokenMessage(message.id, one, speaker, own, _says_more(one, own))
            for message, one, own in zip(messages, draft.messages, parts, strict=True)
        ]

        async def write(judged: JudgedMessages) -> PostResult:
            kept = tuple(
                msgspec.structs.replace(message, content=one.content)
                for message, one in zip(messages, judged.drafts, strict=True)
            )
            wanted = run if keeps_run or not judged.effects.is_answered else None
            return await self._store.run(unit, messages=kept, run=wanted, effects=judged.effects)

        bound = tuple(
            msgspec.structs.replace(actor, principal=actor.principal or principal.owner)
            for actor in draft.actors
        )
        return await self._judge.judge_and_write(principal, thread.id, bound, said, write)

    async def post(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        draft: Draft,
        parts: Parts,
        append: Callable[..., Work[PostResult]],
    ) -> PostResult:
        """Add a message to a thread, judged if structured or understood as such.

        Write access is checked before any plugin judges. Plain text costs one read of the thread's
        open requests, and nothing if no plugin interprets text.

        Parameters:
            append: the unit that writes it, given ``draft`` and ``effects``.

        Raises:
            ThreadNotFound, Forbidden: the caller may not write there.
            as :meth:`Judge.judge_and_write` and ``append``.
        """
        waiting = () if parts else await self._judge.list_open_requests(thread_id)
        if not parts and not waiting:
            return await self._store.run(append, draft=self.redact(draft))

        async def write(drafts: Sequence[Draft], effects: NewEffects | None) -> PostResult:
            return await self._store.run(append, draft=drafts[0], effects=effects)

        said = {message_id: draft}
        return await self._judge_said(principal, thread_id, said, (parts,), waiting, write)

    async def start(
        self,
        principal: Principal,
        thread_id: str,
        drafts: Sequence[NewDraft],
        parts: Sequence[Parts],
        unit: Callable[..., Work[PostResult]],
    ) -> PostResult:
        """Start a run after messages that are judged or understood as structured.

        The run starts in any case, whether or not a plugin answers them.

        Parameters:
            drafts: at least one.
            parts: of each draft.
            unit: the unit that writes them and the run, given ``drafts`` and ``effects``.

        Raises:
            as :meth:`post`.
        """
        waiting = () if any(parts) else await self._judge.list_open_requests(thread_id)
        if not any(parts) and not waiting:
            return await self._store.run(unit, drafts=self.redact_all(drafts, parts))

        async def write(judged: Sequence[Draft], effects: NewEffects | None) -> PostResult:
            kept = tuple(
                msgspec.structs.replace(new, draft=one)
                for new, one in zip(drafts, judged, strict=True)
            )
            return await self._store.run(unit, drafts=kept, effects=effects)

        said = {new.id: new.draft for new in drafts}
        return await self._judge_said(principal, thread_id, said, parts, waiting, write)

    async def _judge_said(
        self,
        principal: Principal,
        thread_id: str,
        drafts: Mapping[str, Draft],
        parts: Sequence[Parts],
        waiting: Sequence[Sequence[tuple[str, Record]]],
        write: Callable[[Sequence[Draft], NewEffects | None], Awaitable[PostResult]],
    ) -> PostResult:
        """Write messages as they are judged; as they are, if no plugin is concerned.

        Parameters:
            drafts: by the ids of the messages.
            waiting: the thread's open requests, if the messages have no structured parts.
        """
        was_heard = not any(parts)
        plain = tuple(map(self.redact, drafts.values(), parts))
        writer = await self._reach(principal, thread_id)
        speaker, names = writer.names[0], writer.names
        said = [
            SpokenMessage(id_, draft, speaker, own, _says_more(draft, own), names=names)
            for id_, draft, own in zip(drafts, drafts.values(), parts, strict=True)
        ]
        if was_heard:
            said = [self._hear(one, waiting) for one in said]
            if not any(one.was_heard for one in said):
                return await write(plain, None)

        async def write_judged(judged: JudgedMessages) -> PostResult:
            answers = judged.effects.answers if was_heard else ()
            if not await answers_last(self._store, thread_id, answers):
                return await write(plain, None)
            effects = await still_unpaid(self._store, thread_id, judged.effects)
            return await write(judged.drafts, effects)

        return await self._judge.judge_and_write(
            principal, thread_id, writer.actors, said, write_judged
        )

    def _hear(
        self, said: SpokenMessage, waiting: Sequence[Sequence[tuple[str, Record]]]
    ) -> SpokenMessage:
        """Return text as the message that it means; unchanged if no plugin understands it."""
        understood = self._judge.understand(said.draft, waiting, said.actor, *said.names)
        if understood is None:
            return said
        draft, parts = understood.draft, understood.parts
        return msgspec.structs.replace(
            said, draft=draft, parts=parts, has_more=False, was_heard=True
        )

    async def _reach(self, principal: Principal, thread_id: str) -> _Writer:
        """Return the writer of a message, with the thread's participants.

        Raises:
            ThreadNotFound, Forbidden: the caller may not write there.
        """
        idle_before, now = self._context.idle_before, int(self._context.clock())
        access = await reads.access(self._store, thread_id, principal, idle_before, now=now)
        kept = await reads.thread(self._store, thread_id)
        if access is None or kept is None:
            raise ThreadNotFound("There is no thread with this id.", param="thread_id")
        access.check(AccessNeed.WRITE)
        names = await read_speakers(self._store, principal, kept)
        return _Writer(names, await read_parties(self._store, kept))


def _says_more(draft: Draft, parts: Parts) -> bool:
    """Return whether a message also has text that no plugin judges."""
    structured = {placed.place for placed in parts}
    return any(text.strip() for place, text in enumerate(draft.content) if place not in structured)
