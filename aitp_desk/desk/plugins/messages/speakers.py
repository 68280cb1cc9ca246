"""Resolves the speakers and participants of a thread for plugins."""

from __future__ import annotations

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import VISITOR, Actor
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import StoredThread


async def read_speakers(store: Store, principal: Principal, kept: StoredThread) -> tuple[str, ...]:
    """Return the actors as which a caller may speak, the default one first.

    The default is the one that :mod:`aitp_desk.store.units.threads.access` assigns. The owner of a
    claimed thread also answers what its anonymous visitor was asked, and so has that name too.
    """
    present = await reads.read_present(store, kept.thread.id)
    bound = [one.id for one in present if one.principal == principal.owner]
    default = next(iter(bound), principal.name)
    if principal.owner == kept.thread.owner:
        default = kept.speaker
        if kept.is_claimed:
            bound.append(VISITOR)
    return (default, *bound)


async def read_parties(store: Store, kept: StoredThread) -> tuple[Actor, ...]:
    """Return the participants of a thread except the desk, with their principals.

    The caller that opened the thread is included, declared or not. The principal is None for an
    actor that is bound to no known caller.
    """
    present = await reads.read_present(store, kept.thread.id)
    if any(actor.id == kept.speaker for actor in present):
        return present
    return (*present, Actor(kept.speaker, principal=kept.thread.owner))
