"""Holds what every service needs: the desk's identity, its store and its clock."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.config import Threads
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.access.site_agents import OwnNames
from aitp_desk.model.access.audit import AuditKeys
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import Actor, Origin
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.records.threads import NewMessage


class DeskContext(msgspec.Struct, frozen=True, eq=False):
    """Holds the identity of one desk, its store, its clock and its audit keys.

    Parameters:
        name: of the further site agent; empty for the site's own.
        actor: the desk's own actor, the first participant of every thread.
        own_names: the names reserved for the site's agents.
        threads: the settings of threads.
        audit: the keys of the audit log.
        clock: Unix seconds.
        process: id of this process among those that serve the database.
    """

    name: str
    actor: Actor
    own_names: OwnNames
    threads: Threads
    store: Store
    audit: AuditKeys
    clock: Callable[[], float]
    process: str = ""

    @property
    def idle_before(self) -> int:
        """Unix seconds: an anonymous thread last used before then is closed."""
        return int(self.clock()) - self.threads.anonymous_ttl * DAY_SECONDS

    def make_message(
        self, content: tuple[str, ...], metadata: dict[str, str], id_: str | None = None
    ) -> NewMessage:
        """Return a new message of the desk's own actor.

        Parameters:
            id_: the message's id; None for a new one.
        """
        return NewMessage(
            id_ or new_id("msg", self.clock()),
            new_salt(),
            "assistant",
            self.actor.id,
            Origin.DESK,
            content,
            metadata=metadata,
        )
