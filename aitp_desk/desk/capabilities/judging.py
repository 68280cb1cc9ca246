"""Having capabilities judge what is said, and what they want written with it.

Text is told from structured parts before anything is asked of the store: a message of words alone
costs what it does at a desk without capabilities.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from aitp_desk.capability import Context, Leave, Part, Party, Refuse, Take, Then, Verdict
from aitp_desk.desk.capabilities.enabled import Capabilities, Enabled
from aitp_desk.desk.capabilities.hearing import Understood, understand
from aitp_desk.desk.capabilities.ledger import Ledger, OwnCounters, OwnRecords, Unread
from aitp_desk.desk.capabilities.parts import SCHEMA, Placed, find_parts
from aitp_desk.desk.capabilities.wishes import Where, Wishes
from aitp_desk.model.audit import AuditKeys, auditor_of
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed
from aitp_desk.model.principal import Principal
from aitp_desk.model.thread import ROLES, Actor, Draft
from aitp_desk.store import capability_reads
from aitp_desk.store.base import Store
from aitp_desk.store.capability_records import NewEffects, RecordsMoved

T = TypeVar("T")

ATTEMPTS = 3
"""How often a message is judged where somebody else is faster each time."""
MOST_PARTS = 20
"""How many structured parts one request may bring: with each read all of them are judged again."""
MOST_READ = 200
"""How many records and counters all of them may read."""
RETRY_SECONDS = 1


class Said(msgspec.Struct, frozen=True):
    """A message that is to be judged.

    Parameters:
        id: the message's.
        speaker: the actor that speaks where the draft names none.
        parts: its structured parts.
        has_more: whether it also says something that no capability is asked about.
    """

    id: str
    draft: Draft
    speaker: str
    parts: Sequence[Placed]
    has_more: bool = False

    @property
    def actor(self) -> str:
        """Who speaks."""
        draft = self.draft
        return draft.actor or (self.speaker if draft.role in ROLES else draft.role)


class Judged(msgspec.Struct, frozen=True):
    """Messages as they are to be stored, and what is to be done with them."""

    drafts: tuple[Draft, ...]
    effects: NewEffects


class Judging:
    """Asks capabilities about the messages of one desk.

    Parameters:
        actor: id of the desk's own actor.
        name: of the further site agent; empty for the site's own.
        wake: called after a commit that queued a job.
    """

    def __init__(
        self,
        capabilities: Capabilities,
        *,
        store: Store,
        actor: str,
        name: str,
        audit: AuditKeys,
        clock: Callable[[], float],
        wake: Callable[[], None],
    ) -> None:
        self.capabilities = capabilities
        self._store = store
        self._actor = actor
        self._name = name
        self._audit = audit
        self._clock = clock
        self._wake = wake

    def parts(self, draft: Draft, at: str = "") -> tuple[Placed, ...]:
        """The structured parts of a draft; none at a desk without capabilities.

        Raises:
            InvalidRequest: one of them breaks its schema.
        """
        return tuple(find_parts(draft.content, self.capabilities, at)) if self.capabilities else ()

    @property
    def hears(self) -> bool:
        """Whether any capability understands words."""
        return bool(self.capabilities.hearing)

    async def understand(self, draft: Draft, thread_id: str) -> Understood | None:
        """What words mean on a thread; None where nothing waits there, or nobody understands."""
        now = int(self._clock())
        waiting = await capability_reads.open_records(self._store, thread_id, now)
        return understand(draft, waiting, self.capabilities) if waiting else None

    async def settle(
        self,
        principal: Principal,
        thread_id: str,
        actors: Sequence[Actor],
        said: Sequence[Said],
        write: Callable[[Judged], Awaitable[T]],
    ) -> T:
        """Have messages judged and written, again where somebody else was faster.

        Parameters:
            actors: who takes part, the desk's own perhaps among them.
            said: in order.
            write: writes them, and raises :class:`RecordsMoved` where that is so.

        Raises:
            InvalidRequest: they have too many parts.
            DeskError: a capability refuses one of them.
            PreconditionFailed: somebody else was faster each time.
        """
        if sum(len(message.parts) for message in said) > MOST_PARTS:
            raise InvalidRequest(
                f"One request brings at most {MOST_PARTS} messages of capabilities.",
                param="content" if len(said) == 1 else "messages",
            )
        where = Where(
            thread_id,
            self._name,
            self._actor,
            tuple(actor for actor in actors if actor.id != self._actor),
            principal.owner,
            self._clock(),
        )
        for _ in range(ATTEMPTS):
            try:
                judged = await self._judge(principal, where, said)
                written = await write(judged)
            except RecordsMoved:
                continue
            if judged.effects.jobs:
                self._wake()
            return written
        raise PreconditionFailed(
            "What this message answers has been changed by somebody else meanwhile. Read the"
            " thread, and send it again if it still holds.",
            param="content",
            retry_after=RETRY_SECONDS,
        )

    async def _judge(self, principal: Principal, where: Where, said: Sequence[Said]) -> Judged:
        """Judge all parts in order, each seeing the effects of those before."""
        ledger = Ledger()
        for _ in range(MOST_READ):
            ledger.begin_anew()
            try:
                return self._judge_read(principal, where, said, ledger)
            except Unread as unread:
                await read_into(self._store, ledger, unread)
        raise RuntimeError(f"Capabilities read more than {MOST_READ} records for one message.")

    def _judge_read(
        self, principal: Principal, where: Where, said: Sequence[Said], ledger: Ledger
    ) -> Judged:
        wishes = Wishes(self.capabilities, where, ledger)
        drafts: list[Draft] = []
        wanted: set[Then] = set()
        for message in said:
            content = list(message.draft.content)
            for placed in message.parts:
                verdict = self._ask(placed.enabled, placed.part, message, where, ledger)
                if isinstance(verdict, Refuse):
                    raise verdict.error
                if isinstance(verdict, Leave):
                    wanted.add(Then.AGENT)
                    continue
                wanted.add(verdict.then)
                url = str(placed.part.given[SCHEMA])
                stored = wishes.take(placed.enabled, verdict.effects, url)
                if stored is not None:
                    content[placed.place] = stored
            drafts.append(msgspec.structs.replace(message.draft, content=tuple(content)))
        is_answered = bool(wanted) and Then.AGENT not in wanted and not said[-1].has_more
        by = auditor_of(self._audit, principal, int(where.now))
        return Judged(tuple(drafts), wishes.effects(by, is_answered=is_answered))

    def _ask(
        self, enabled: Enabled, part: Part, message: Said, where: Where, ledger: Ledger
    ) -> Verdict:
        version_known = self.capabilities.version_known
        context = Context(
            now=int(where.now),
            thread_id=where.thread_id or "",
            message_id=message.id,
            actor=message.actor,
            principal=where.principal,
            parties=tuple(
                Party(id=actor.id, version=version_known(enabled, [actor]))
                for actor in where.actors
            ),
            records=OwnRecords(ledger, enabled.slug),
            counters=OwnCounters(ledger, enabled.slug),
        )
        verdict = enabled.capability.judge(part, context)
        if not isinstance(verdict, Leave | Take | Refuse):
            raise TypeError(f"{enabled.slug} judged a part by {verdict!r}, which is no verdict.")
        return verdict


async def read_into(store: Store, ledger: Ledger, unread: Unread) -> None:
    """Read what was looked at and is not at hand."""
    place = unread.place
    if unread.is_counter:
        ledger.counters[place] = await capability_reads.counter(store, *place)
    else:
        ledger.records[place] = await capability_reads.record(store, *place)
