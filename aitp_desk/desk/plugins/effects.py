"""Collects the effects that plugins request for one message, for its commit."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.agent.history.message_codec import ASKS_BACK, WAITS
from aitp_desk.capability import (
    Add,
    Audit,
    Effect,
    Guessed,
    Keep,
    NotCounted,
    Paid,
    RateLimited,
    Replace,
    Resume,
    Say,
    Seal,
    Start,
)
from aitp_desk.capability.base import check_word
from aitp_desk.capability.effects import MAX_REF
from aitp_desk.desk.access.sealed_values import Sealer
from aitp_desk.desk.jobs.call_kinds import make_paid_call_job
from aitp_desk.desk.plugins.messages.parts import SCHEMA
from aitp_desk.desk.plugins.messages.validation import (
    list_versions,
    write_stored_part,
    write_valid_part,
)
from aitp_desk.desk.plugins.quotes import find_quotes
from aitp_desk.desk.plugins.read_set import ReadSet
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry
from aitp_desk.desk.plugins.resumption import SETTLED, find_obstacle, with_notes
from aitp_desk.model.access.audit import Auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.sealed_value import StoredSealed
from aitp_desk.model.calls.call import Answered
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import Actor, Origin
from aitp_desk.model.ids import new_id
from aitp_desk.store.records.capabilities import NewAnswer, NewEffects, NewPaid
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.threads import NewMessage

CAPABILITY = "capability"
"""Metadata key of messages outside any turn; names the plugin.

A session delivers them in its next turn.
"""


class EffectTarget(msgspec.Struct, frozen=True):
    """The thread and the principal of requested effects.

    Parameters:
        desk: name of the additional site agent; empty for the site's own.
        actor: id of the desk's own actor.
        actors: the other participants.
        principal: id of the caller; None for an anonymous one.
        now: Unix seconds.
        is_of_site: whether the caller is an operator or the site itself.
        scopes: what the caller's credential opens.
        guessed_too_often: as of :class:`~aitp_desk.capability.Context`.
        is_shared: whether grants give others access to the thread.
        is_aside: whether the effects follow no message, so that readers get them later.
        owner: id of the principal that owns the thread; None for an anonymous one.
    """

    thread_id: str | None
    desk: str
    actor: str
    actors: tuple[Actor, ...]
    principal: str | None
    now: float
    is_of_site: bool = False
    scopes: frozenset[str] = frozenset()
    guessed_too_often: RateLimited | None = None
    is_shared: bool = False
    is_aside: bool = False
    owner: str | None = None


class PluginJobPayload(msgspec.Struct, frozen=True):
    """The payload of a plugin's job.

    Parameters:
        thread_id: the thread of the message that started it.
        payload: the plugin's own.
        message_id: that message, also for jobs started by other jobs since; empty for none.
    """

    thread_id: str | None
    payload: object = None
    message_id: str = ""


def job_kind(slug: str, job: str) -> str:
    """Return the kind of a plugin's job in the job queue."""
    return f"{slug}.{job}"


class EffectCollector:
    """Collects effects; nothing happens before all of it is stored.

    Parameters:
        sealer: seals secrets that messages bring; None if there are no messages.

    Attributes:
        ledger: the records read and written.
        guessed: whether an invalid secret was presented.
    """

    def __init__(
        self,
        capabilities: PluginRegistry,
        where: EffectTarget,
        ledger: ReadSet,
        sealer: Sealer | None = None,
    ) -> None:
        self.ledger = ledger
        self.guessed = False
        self._sealer = sealer
        self._capabilities = capabilities
        self._where = where
        self._said: list[NewMessage] = []
        self._jobs: list[NewJob] = []
        self._events: list[str] = []
        self._kept_apart: list[StoredSealed] = []
        self._answers: list[NewAnswer] = []
        self._payments: list[NewPaid] = []

    def collect(
        self, enabled: EnabledPlugin, effects: Sequence[Effect], url: str = "", message_id: str = ""
    ) -> str | None:
        """Collect the effects of a plugin.

        Parameters:
            url: the ``$schema`` of the part that is judged.
            message_id: of the message with the part, or that started the job.

        Returns:
            The text to store in place of the part; None if that stays.

        Raises:
            RecordsMoved, RecordUnread, CallUnread: as :class:`ReadSet`.
            ValueError, TypeError: an effect is not possible: a fault of the plugin.
        """
        stored = None
        for effect in effects:
            match effect:
                case Keep():
                    self.ledger.put_record(enabled.slug, effect, self._where.thread_id)
                case Add():
                    self.ledger.add(enabled.slug, effect)
                case Say():
                    self._said.append(self._message(enabled, effect))
                case Start():
                    self._jobs.append(self._job(enabled, effect, message_id))
                case Guessed():
                    self.guessed = True
                case Paid():
                    self._payments.append(self._paid(enabled, effect, message_id))
                case Audit(event):
                    if not check_word(event):
                        raise ValueError(f"{event!r} is not an event of the audit log.")
                    self._events.append(f"{enabled.slug}.{event}")
                case Seal(ref, value):
                    self._kept_apart.append(self._seal(ref, value, message_id))
                case Replace():
                    stored = write_stored_part(enabled, self._capabilities, effect, url)
                case _:
                    raise TypeError(f"{enabled.slug} returned {effect!r}, which is not an effect.")
        return stored

    def collect_resumption(self, wish: Resume, message_id: str, by: Principal) -> NotCounted | None:
        """Collect that an answer resumes a call, if it may.

        Parameters:
            message_id: of the message that answers.
            by: the principal that answers.

        Returns:
            Why the call does not resume; None if it does.

        Raises:
            CallUnread: the call was not read yet.
        """
        where = self._where
        call = self.ledger.call(wish.call_id)
        why = find_obstacle(call, wish.value, by, where.thread_id, where.now, where.owner)
        if why is None and any(one.call_id == wish.call_id for one in self._answers):
            why = SETTLED
        if why is None:
            given = Answered(wish.value, by, message_id)
            self._answers.append(NewAnswer(wish.call_id, given))
        return why

    def _message(self, enabled: EnabledPlugin, effect: Say) -> NewMessage:
        content = effect.content
        if not isinstance(content, str):
            if SCHEMA in content:
                content = write_stored_part(enabled, self._capabilities, Replace(content), "")
            else:
                versions: tuple[int, ...] = () if effect.version is None else (effect.version,)
                versions = versions or list_versions(
                    enabled, self._capabilities, self._where.actors
                )
                content = write_valid_part(enabled, content, versions)
        notes = {CAPABILITY: enabled.slug} if self._where.is_aside else {}
        return self._said_as(content, notes)

    def _said_as(self, content: str, notes: dict[str, str] | None = None) -> NewMessage:
        return NewMessage(
            new_id("msg", self._where.now),
            new_salt(),
            "assistant",
            self._where.actor,
            Origin.DESK,
            (content,),
            metadata=notes or {},
        )

    def _seal(self, ref: str, value: str, message_id: str) -> StoredSealed:
        if self._sealer is None:
            raise ValueError("A value can be sealed only with a message.")
        where = self._where
        return self._sealer.seal(
            ref,
            value,
            desk=where.desk,
            thread_id=where.thread_id,
            message_id=message_id,
            principal=where.principal,
        )

    def _job(self, enabled: EnabledPlugin, effect: Start, message_id: str) -> NewJob:
        if effect.job not in enabled.jobs:
            raise ValueError(f"{enabled.slug} has no job named {effect.job!r}.")
        if not 1 <= len(effect.ref) <= MAX_REF:
            raise ValueError(f"A job's ref must have 1 to {MAX_REF} characters.")
        where = self._where
        return NewJob(
            new_id("job", where.now),
            job_kind(enabled.slug, effect.job),
            effect.ref,
            msgspec.to_builtins(PluginJobPayload(where.thread_id, effect.payload, message_id)),
            int(where.now),
            where.desk,
            None if effect.outlives else where.thread_id,
            None if effect.outlives else where.principal,
            int(where.now) + effect.after if effect.after else 0,
        )

    def _paid(self, enabled: EnabledPlugin, effect: Paid, message_id: str) -> NewPaid:
        if not effect.payment_id:
            raise ValueError(f"{enabled.slug} names no payment for the call {effect.call_id}.")
        if any(one.call_id == effect.call_id for one in self._payments):
            raise ValueError(f"{enabled.slug} pays the call {effect.call_id} twice at once.")
        call = self.ledger.call(effect.call_id)
        # a refund must outlive any erasure
        outliving = msgspec.structs.replace(effect.failing, outlives=True)
        failing = self._job(enabled, outliving, "")
        call_job = None if call is None else make_paid_call_job(call, self._where.now)
        receipt = msgspec.to_builtins(dict(effect.receipt))
        return NewPaid(effect.call_id, effect.payment_id, call_job, failing, receipt, message_id)

    def build_effects(self, by: Auditor, *, is_answered: bool) -> NewEffects:
        """Return all collected effects, for the commit.

        Parameters:
            by: the auditor of the noted events.
            is_answered: whether no agent is to answer the message.
        """
        effects = NewEffects(
            seen=self.ledger.read_records,
            seen_counters=self.ledger.read_counters,
            records=self.ledger.written_records,
            additions=self.ledger.additions,
            said=tuple(self._said),
            sealed=tuple(self._kept_apart),
            jobs=tuple(self._jobs),
            events=tuple(self._events),
            by=by if self._events else None,
            is_answered=is_answered and not self._answers,
            answers=tuple(self._answers),
            payments=tuple(self._payments),
            calls_by=by if self._payments else None,
        )
        if not effects.asks:
            return effects
        # the reply to a failed payment requests the payment again
        unpaid = {quote.call_id for quote in find_quotes(effects, self._capabilities)}
        return with_notes(effects, ASKS_BACK | ({WAITS: unpaid.pop()} if len(unpaid) == 1 else {}))
