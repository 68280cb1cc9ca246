"""Posting what capabilities judge: nothing of it is written where one of them refuses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from aitp_desk.desk.capabilities.judging import Judged, Judging, Said
from aitp_desk.desk.capabilities.parts import Placed as PlacedPart
from aitp_desk.model.access import Need
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.model.principal import Principal
from aitp_desk.model.thread import Draft, Thread, ThreadDraft
from aitp_desk.store import reads
from aitp_desk.store.base import Store
from aitp_desk.store.records import NewMessage, Placed
from aitp_desk.store.run_records import NewRun

Parts = Sequence[PlacedPart]


class JudgedPosting:
    """Has messages judged before they are placed on a thread."""

    def __init__(self, judging: Judging, store: Store, clock: Callable[[], float]) -> None:
        self._judging = judging
        self._store = store
        self._clock = clock

    @property
    def hears(self) -> bool:
        """Whether words may be the answer to a capability's request."""
        return self._judging.hears

    def parts(self, draft: Draft, at: str = "") -> Parts:
        """The structured parts of a draft. See :meth:`Judging.parts`."""
        return self._judging.parts(draft, at)

    async def open(
        self,
        principal: Principal,
        draft: ThreadDraft,
        messages: Sequence[NewMessage],
        parts: Sequence[Parts],
        thread: Thread,
        speaker: str,
        run: NewRun | None,
        opening: Callable[..., Awaitable[Placed]],
        *,
        keeps_run: bool,
    ) -> Placed:
        """Open a thread with messages that are judged.

        Parameters:
            messages: the draft's, speakers settled.
            parts: of each of them.
            speaker: the actor that speaks where a message names none.
            run: what answers them, where no capability does.
            opening: writes them, given ``messages``, ``run`` and ``effects``.
            keeps_run: whether the caller has started the run, who answers or not.

        Raises:
            as :meth:`Judging.settle`, and whatever ``opening`` raises.
        """
        said = [
            Said(message.id, one, speaker, own, _says_more(one, own))
            for message, one, own in zip(messages, draft.messages, parts, strict=True)
        ]

        async def write(judged: Judged) -> Placed:
            kept = tuple(
                msgspec.structs.replace(message, content=one.content)
                for message, one in zip(messages, judged.drafts, strict=True)
            )
            wanted = run if keeps_run or not judged.effects.is_answered else None
            return await opening(messages=kept, run=wanted, effects=judged.effects)

        return await self._judging.settle(principal, thread.id, draft.actors, said, write)

    async def post(
        self,
        principal: Principal,
        reached: tuple[str, int],
        message_id: str,
        draft: Draft,
        parts: Parts,
        append: Callable[..., Awaitable[Placed]],
    ) -> Placed:
        """Add a message to a thread that is judged, or that may be understood as one.

        Whoever may not write there is told so before any capability judges. Words cost one look at
        what waits on the thread, and nothing where no capability understands any.

        Parameters:
            reached: the thread's id, and before when it must have been used last, Unix seconds.
            append: writes it, given ``draft`` and ``effects``.

        Raises:
            ThreadNotFound, Forbidden: the caller may not write there.
            as :meth:`Judging.settle`, and whatever ``append`` raises.
        """
        thread_id, idle_before = reached
        has_more = _says_more(draft, parts)
        if not parts:
            understood = await self._judging.understand(draft, thread_id)
            if understood is None:
                return await append(draft=draft)
            draft, parts, has_more = understood.draft, understood.parts, False
        now = int(self._clock())
        access = await reads.access(self._store, thread_id, principal, idle_before, now=now)
        kept = await reads.thread(self._store, thread_id)
        if access is None or kept is None:
            raise ThreadNotFound("There is no thread with this id.", param="thread_id")
        access.check(Need.WRITE)
        speaker = kept.speaker if principal.owner == kept.thread.owner else principal.name
        said = Said(message_id, draft, speaker, parts, has_more)

        async def write(judged: Judged) -> Placed:
            return await append(draft=judged.drafts[0], effects=judged.effects)

        return await self._judging.settle(principal, thread_id, kept.thread.actors, (said,), write)


def _says_more(draft: Draft, parts: Parts) -> bool:
    """Whether a message also says something that no capability is asked about."""
    structured = {placed.place for placed in parts}
    return any(text.strip() for place, text in enumerate(draft.content) if place not in structured)
