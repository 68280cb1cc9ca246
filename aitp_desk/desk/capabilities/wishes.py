"""The effects that capabilities ask for with one message, gathered for its commit."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.capability import Add, Audit, Effect, Keep, Replace, Say, Start
from aitp_desk.capability.base import check_word
from aitp_desk.desk.capabilities.enabled import Capabilities, Enabled
from aitp_desk.desk.capabilities.ledger import Ledger
from aitp_desk.desk.capabilities.parts import write_part
from aitp_desk.desk.replying import ASKS_BACK
from aitp_desk.model.audit import Auditor
from aitp_desk.model.chain import new_salt
from aitp_desk.model.ids import new_id
from aitp_desk.model.thread import Actor, Origin
from aitp_desk.store.capability_records import NewEffects
from aitp_desk.store.job_records import NewJob
from aitp_desk.store.records import NewMessage


class Where(msgspec.Struct, frozen=True):
    """On what thread effects are asked for, and for whom.

    Parameters:
        desk: name of the further site agent; empty for the site's own.
        actor: id of the desk's own actor.
        actors: who takes part besides.
        principal: id of the caller; None for an anonymous one.
        now: Unix seconds.
    """

    thread_id: str | None
    desk: str
    actor: str
    actors: tuple[Actor, ...]
    principal: str | None
    now: float


class Started(msgspec.Struct, frozen=True):
    """What stands as the payload of a capability's job.

    Parameters:
        thread_id: the thread of the message that started it.
        payload: the capability's own.
    """

    thread_id: str | None
    payload: object = None


def job_kind(slug: str, job: str) -> str:
    """What the jobs of one name are called among those of the desk."""
    return f"{slug}.{job}"


class Wishes:
    """Gathers effects; nothing is done before all of it is written.

    Attributes:
        ledger: what is read and written.
    """

    def __init__(self, capabilities: Capabilities, where: Where, ledger: Ledger) -> None:
        self.ledger = ledger
        self._capabilities = capabilities
        self._where = where
        self._said: list[NewMessage] = []
        self._jobs: list[NewJob] = []
        self._events: list[str] = []

    def take(self, enabled: Enabled, effects: Sequence[Effect], url: str = "") -> str | None:
        """Note what a capability wants.

        Parameters:
            url: the ``$schema`` of the part that is judged.

        Returns:
            What is stored in place of the part; None where that stays.

        Raises:
            RecordsMoved, Unread: as :class:`Ledger`.
            ValueError, TypeError: it wants what nobody can do: a fault of the capability.
        """
        stored = None
        for effect in effects:
            match effect:
                case Keep():
                    self.ledger.keep(enabled.slug, effect, self._where.thread_id)
                case Add():
                    self.ledger.add(enabled.slug, effect)
                case Say():
                    self._said.append(self._message(enabled, effect))
                case Start():
                    self._jobs.append(self._job(enabled, effect))
                case Audit(event):
                    if not check_word(event):
                        raise ValueError(f"{event!r} is no word for the audit log.")
                    self._events.append(f"{enabled.slug}.{event}")
                case Replace(given):
                    stored = write_part(given, url)
        return stored

    def _message(self, enabled: Enabled, effect: Say) -> NewMessage:
        content = effect.content
        if not isinstance(content, str):
            version = effect.version
            if version is None:
                version = self._capabilities.version_for(enabled, self._where.actors)
            content = write_part(content, enabled.url_of(version))
        return NewMessage(
            new_id("msg", self._where.now),
            new_salt(),
            "assistant",
            self._where.actor,
            Origin.DESK,
            (content,),
        )

    def _job(self, enabled: Enabled, effect: Start) -> NewJob:
        if effect.job not in enabled.jobs:
            raise ValueError(f"{enabled.slug} has no job of the name {effect.job!r}.")
        where = self._where
        return NewJob(
            new_id("job", where.now),
            job_kind(enabled.slug, effect.job),
            effect.ref,
            msgspec.to_builtins(Started(where.thread_id, effect.payload)),
            int(where.now),
            where.desk,
            where.thread_id,
            where.principal,
            int(where.now) + effect.after if effect.after else 0,
        )

    def effects(self, by: Auditor, *, is_answered: bool) -> NewEffects:
        """All of it, for the commit.

        Parameters:
            by: in whose name things are noted.
            is_answered: whether nobody else is to answer the message.
        """
        records, said = self.ledger.written, tuple(self._said)
        if said and any(record.open_until is not None for record in records):
            asks = msgspec.structs.replace(said[-1], metadata=ASKS_BACK)
            said = (*said[:-1], asks)
        return NewEffects(
            seen=self.ledger.seen,
            seen_counters=self.ledger.seen_counters,
            records=records,
            additions=self.ledger.additions,
            said=said,
            jobs=tuple(self._jobs),
            events=tuple(self._events),
            by=by if self._events else None,
            is_answered=is_answered,
        )
