"""Lets plugins judge messages, and collects the effects to store with them.

Text is separated from structured parts before anything is read from the store: a message of plain
text costs the same as at a desk without plugins.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import TypeVar

import msgspec

from aitp_desk.auth.credentials.guess_limiter import GuessLimiter
from aitp_desk.capability import (
    Asking,
    Context,
    Effect,
    Leave,
    NotCounted,
    Party,
    Record,
    Refuse,
    Replace,
    Resume,
    Say,
    Seal,
    Take,
    Then,
    Verdict,
)
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.sealed_values import Sealer
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.desk.plugins.effects import EffectCollector, EffectTarget
from aitp_desk.desk.plugins.messages.interpretation import (
    UnderstoodAnswer,
    understand_words,
    without_secrets,
)
from aitp_desk.desk.plugins.messages.parts import SCHEMA, PlacedPart, find_parts
from aitp_desk.desk.plugins.messages.pass_through import check_addressee, make_refusal_text
from aitp_desk.desk.plugins.open_calls import filter_last_asked, find_call, read_open_requests
from aitp_desk.desk.plugins.outside.health import ComponentsUnread, KnownComponents
from aitp_desk.desk.plugins.read_set import (
    CallUnread,
    OwnCounters,
    OwnRecords,
    ReadSet,
    RecordUnread,
)
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry
from aitp_desk.model.access.audit import make_auditor, make_own_auditor
from aitp_desk.model.access.principal import Principal, is_known_caller, may_operate_threads
from aitp_desk.model.conversation.thread import ROLES, Actor, Draft
from aitp_desk.model.conversation.ticket import OPERATORS
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed, RateLimited
from aitp_desk.store.base import Store
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import capabilities as capability_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.capabilities import NewEffects, RecordsMoved

T = TypeVar("T")

ATTEMPTS = 3
"""Maximum attempts to judge a message after concurrent changes."""
MAX_PARTS = 20
"""Maximum structured parts of a request; each read judges all of them again."""
MAX_READS = 200
"""Maximum records and counters that all of them may read."""
RETRY_SECONDS = 1


class SpokenMessage(msgspec.Struct, frozen=True):
    """A message to be judged.

    Parameters:
        id: the message's.
        speaker: the actor that speaks if the draft names none.
        parts: its structured parts.
        has_more: whether it also has text that no plugin judges.
        was_heard: whether the parts were interpreted from the words before them.
        asking: the question that the desk asks with its parts; None for messages of others.
        names: all actor names of the speaker on the thread.
    """

    id: str
    draft: Draft
    speaker: str
    parts: Sequence[PlacedPart]
    has_more: bool = False
    was_heard: bool = False
    asking: Asking | None = None
    names: tuple[str, ...] = ()

    @property
    def actor(self) -> str:
        """The actor that speaks."""
        draft = self.draft
        return draft.actor or (self.speaker if draft.role in ROLES else draft.role)


class JudgedMessages(msgspec.Struct, frozen=True):
    """Messages as they are to be stored, with their effects.

    Parameters:
        guessed: whether an invalid secret was presented.
    """

    drafts: tuple[Draft, ...]
    effects: NewEffects
    guessed: bool = False


class Judge:
    """Lets plugins judge the messages of one desk.

    Parameters:
        sealer: seals secrets that messages bring.
        guesses: limits failed lookups of plugin secrets; None for no limit.
        health_checks: returns the health of the desk's components.
        wake: called after a commit that queued a job.
        asks_for_person: whether text asks for a person, and answers nothing.
        asks_for_action: whether text asks for an action; it is no value of another's argument.

    Attributes:
        understands_words: whether any plugin interprets text.
        read_parts: returns the structured parts of a message's content; see :func:`find_parts`.
    """

    def __init__(
        self,
        capabilities: PluginRegistry,
        context: DeskContext,
        *,
        sealer: Sealer,
        guesses: GuessLimiter | None,
        health_checks: HealthChecks,
        wake: Callable[[], None],
        asks_for_person: Callable[[str], bool],
        asks_for_action: Callable[[str], bool],
    ) -> None:
        self.capabilities = capabilities
        self.understands_words = bool(capabilities.interpreters)
        self.read_parts = partial(find_parts, capabilities=capabilities)
        self._context = context
        self._store = context.store
        self._sealer = sealer
        self._guesses = guesses
        self._health_checks = health_checks
        self._clock = context.clock
        self._wake = wake
        self._asks_for_person = asks_for_person
        self._asks_for_action = asks_for_action

    def redact(self, draft: Draft, parts: Sequence[PlacedPart] = ()) -> Draft:
        """Return a visitor's draft without the secrets in its text.

        Parameters:
            parts: its structured parts, which plugins redact themselves.
        """
        if not self.capabilities.redactors:
            return draft
        structured = set(map(attrgetter("place"), parts))
        content = list(draft.content)
        for place, text in enumerate(content):
            if place not in structured:
                content[place] = without_secrets(text, self.capabilities)
        return msgspec.structs.replace(draft, content=tuple(content))

    async def list_open_requests(self, thread_id: str) -> Sequence[Sequence[tuple[str, Record]]]:
        """Return the open requests of a thread, each with its plugin, for interpretation.

        Returns:
            Nothing if none is open; else all of them, the newest first. If several are open,
            the desk's latest question comes alone before them: words answer that one if they can.
        """
        now = int(self._clock())
        found = await read_open_requests(self._store, self.capabilities, thread_id, now)
        if len(found) < 2:
            return (found,) if found else ()
        last = await filter_last_asked(self._store, self.capabilities, thread_id, found)
        return (last, found) if last else (found,)

    def understand(
        self, draft: Draft, waiting: Sequence[Sequence[tuple[str, Record]]], *names: str
    ) -> UnderstoodAnswer | None:
        """Interpret a message's text as an answer; None if no plugin understands it.

        Parameters:
            names: all actor names of the speaker on the thread.
        """
        text = "\n".join(draft.content)
        if not waiting or self._asks_for_person(text):
            return None
        for records in waiting:
            heard = understand_words(draft, records, self.capabilities, names)
            if heard is not None:
                is_asked = any(find_call(self.capabilities, *one) for one in records)
                is_wish = is_asked and heard.is_whole and self._asks_for_action(text)
                return None if is_wish else heard
        return None

    async def judge_and_write(
        self,
        principal: Principal | None,
        thread_id: str,
        actors: Sequence[Actor],
        said: Sequence[SpokenMessage],
        write: Callable[[JudgedMessages], Awaitable[T]],
    ) -> T:
        """Judge messages and store them; repeat both after a concurrent change.

        Parameters:
            principal: the caller; None for the desk itself.
            actors: the participants, perhaps with the desk's own actor.
            said: in order.
            write: stores them, and raises :class:`RecordsMoved` after a concurrent change.

        Raises:
            InvalidRequest: they have too many parts.
            DeskError: a plugin refuses one of them.
            PreconditionFailed: the records changed concurrently at each attempt.
        """
        if sum(len(message.parts) for message in said) > MAX_PARTS:
            raise InvalidRequest(
                f"A request may contain at most {MAX_PARTS} messages of capabilities.",
                param="content" if len(said) == 1 else "messages",
            )
        now = self._clock()
        is_shared = await reads.is_shared(self._store, thread_id, int(now))
        owner = await reads.owner(self._store, thread_id)
        where = EffectTarget(
            thread_id,
            self._context.name,
            self._context.actor.id,
            tuple(actor for actor in actors if not self._speaks_here(actor)),
            None if principal is None else principal.owner,
            now,
            principal is None or may_operate_threads(principal),
            frozenset() if principal is None else principal.scopes,
            guessed_too_often=self._guessed_too_often(principal),
            is_shared=is_shared,
            owner=owner,
        )
        for _ in range(ATTEMPTS):
            try:
                judged = await self._judge(principal, where, said)
                written = await write(judged)
            except RecordsMoved:
                continue
            if judged.effects.starts_jobs:
                self._wake()
            if principal is not None and judged.guessed and self._guesses is not None:
                self._guesses.count_guess(principal.limited_as)
            return written
        raise PreconditionFailed(
            "The request that this message answers has just changed. Read the thread, and"
            " send the message again if it still applies.",
            param="content",
            retry_after=RETRY_SECONDS,
        )

    def _guessed_too_often(self, principal: Principal | None) -> RateLimited | None:
        if principal is None or self._guesses is None:
            return None
        return self._guesses.refusal(principal.limited_as)

    def _speaks_here(self, actor: Actor) -> bool:
        """Return whether an actor is the desk's own, or an operator."""
        return actor.id == self._context.actor.id or actor.id.startswith(
            f"{self._context.actor.id}/{OPERATORS}/"
        )

    async def _judge(
        self, principal: Principal | None, where: EffectTarget, said: Sequence[SpokenMessage]
    ) -> JudgedMessages:
        """Judge all parts in order; each one sees the effects of those before."""
        ledger = ReadSet(self.capabilities.families)
        for _ in range(MAX_READS):
            ledger.reset()
            try:
                return self._judge_read(principal, where, said, ledger)
            except (RecordUnread, CallUnread) as unread:
                await read_missing(self._store, ledger, unread)
            except ComponentsUnread:
                ledger.components = await self._health_checks.get_components()
        raise RuntimeError(f"Capabilities read more than {MAX_READS} records for one message.")

    def _judge_read(
        self,
        principal: Principal | None,
        where: EffectTarget,
        said: Sequence[SpokenMessage],
        ledger: ReadSet,
    ) -> JudgedMessages:
        wishes = EffectCollector(self.capabilities, where, ledger, self._sealer)
        drafts: list[Draft] = []
        wanted: list[Then] = []
        for message in said:
            draft = (
                message.draft if principal is None else self.redact(message.draft, message.parts)
            )
            content = list(draft.content)
            for placed in message.parts:
                verdict = self._ask(placed, message, where, ledger)
                if isinstance(verdict, Refuse):
                    raise verdict.error
                if isinstance(verdict, Leave):
                    wanted.append(Then.AGENT)
                    continue
                then, effects = verdict.then, verdict.effects
                if isinstance(then, Resume):
                    if principal is None:
                        raise ValueError("A message of the desk itself cannot resume a call.")
                    why = wishes.collect_resumption(then, message.id, principal)
                    if why is not None:
                        effects = _without_resuming(verdict, why)
                    then = Then.NOBODY
                wanted.append(then)
                url = str(placed.part.given[SCHEMA])
                stored = wishes.collect(placed.enabled, effects, url, message.id)
                if stored is not None:
                    content[placed.place] = stored
                if message.was_heard and any(map(_hides_words, effects)):
                    # the words hold a secret; readers of text get the redacted part as text
                    del content[: placed.place]
            drafts.append(msgspec.structs.replace(draft, content=tuple(content)))
        is_answered = bool(wanted) and Then.AGENT not in wanted and not said[-1].has_more
        now = int(where.now)
        if principal is None:
            by = make_own_auditor(self._context.audit, now)
        else:
            by = make_auditor(self._context.audit, principal, now)
        gathered = wishes.build_effects(by, is_answered=is_answered)
        return JudgedMessages(tuple(drafts), gathered, wishes.guessed)

    def _ask(
        self, placed: PlacedPart, message: SpokenMessage, where: EffectTarget, ledger: ReadSet
    ) -> Verdict:
        if (settled := _settle_unjudged(placed, message, where)) is not None:
            return settled
        enabled = placed.enabled
        context = Context(
            now=int(where.now),
            thread_id=where.thread_id or "",
            message_id=message.id,
            place=placed.place,
            actor=message.actor,
            names=message.names,
            principal=where.principal,
            scopes=where.scopes,
            components=KnownComponents(ledger),
            guessed_too_often=where.guessed_too_often,
            own=where.actor,
            asking=message.asking,
            is_shared=where.is_shared,
            parties=tuple(self._parties(enabled, where, message.asking)),
            records=OwnRecords(ledger, enabled.slug),
            counters=OwnCounters(ledger, enabled.slug),
        )
        verdict = enabled.capability.judge(placed.part, context)
        if not isinstance(verdict, Leave | Take | Refuse):
            raise TypeError(
                f"{enabled.slug} judged a part with {verdict!r}, which is not a verdict."
            )
        if isinstance(verdict, Take) and not isinstance(verdict.then, Then | Resume):
            raise TypeError(
                f"{enabled.slug} names {verdict.then!r} as next speaker, who does not take part."
            )
        return verdict

    def _parties(
        self, enabled: EnabledPlugin, where: EffectTarget, asking: Asking | None
    ) -> Iterator[Party]:
        """Yield the participants, and the addressee of a question if not among them."""
        for actor in where.actors:
            version = self.capabilities.find_known_version(enabled, [actor])
            known = actor.principal if is_known_caller(actor.principal or "") else None
            yield Party(id=actor.id, version=version, principal=known)
        asked = "" if asking is None else asking.of
        if is_known_caller(asked) and asked not in {actor.id for actor in where.actors}:
            yield Party(id=asked, principal=asked)


def _without_resuming(verdict: Take, why: NotCounted) -> tuple[Effect, ...]:
    """Return the effects of an answer that does not resume its call."""
    if verdict.otherwise is not None:
        return tuple(verdict.otherwise(why))
    effects = verdict.effects
    if why.reason == "not_yours":  # the call keeps waiting for its own caller
        effects = tuple(one for one in effects if isinstance(one, Replace | Seal))
    return (*effects, Say(why.message))


def _hides_words(effect: Effect) -> bool:
    return isinstance(effect, Seal) or (isinstance(effect, Replace) and effect.hides_words)


def _settle_unjudged(
    placed: PlacedPart, message: SpokenMessage, where: EffectTarget
) -> Verdict | None:
    """Return the verdict for a part that the site does not judge.

    None for a part that it judges.
    """
    policy = placed.enabled.from_visitors
    if policy == "accept" or message.actor == where.actor:
        return None
    if policy == "reject":
        return None if where.is_of_site or message.was_heard else Refuse(make_refusal_text(placed))
    others = {actor.id for actor in where.actors} - {message.actor}
    check_addressee(placed, message.draft.metadata, others, where.actor)
    return Take()


async def read_missing(store: Store, ledger: ReadSet, unread: RecordUnread | CallUnread) -> None:
    """Read a record, counter or call that judging needed."""
    if isinstance(unread, CallUnread):
        ledger.calls[unread.call_id] = await call_reads.call_by_id(store, unread.call_id)
        return
    place = unread.place
    if unread.is_counter:
        ledger.counters[place] = await capability_reads.read_counter(store, *place)
    else:
        ledger.records[place] = await capability_reads.read_record(store, *place)
