"""Who speaks on a thread, and who takes part: what capabilities know of it before it is written."""

from __future__ import annotations

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import VISITOR, Actor
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import KeptThread


async def read_speakers(store: Store, principal: Principal, kept: KeptThread) -> tuple[str, ...]:
    """The actors as which a caller may speak, first the one that is stamped where none is named.

    It is the same that :mod:`aitp_desk.store.units.threads.access` stamps. Who has claimed a
    thread answers what its anonymous visitor was asked before, and so goes by that name too.
    """
    present = await reads.read_present(store, kept.thread.id)
    bound = [one.id for one in present if one.principal == principal.owner]
    default = next(iter(bound), principal.name)
    if principal.owner == kept.thread.owner:
        default = kept.speaker
        if kept.is_claimed:
            bound.append(VISITOR)
    return (default, *bound)


async def read_parties(store: Store, kept: KeptThread) -> tuple[Actor, ...]:
    """Who takes part in a thread besides the desk, each with the caller who speaks as it.

    Whoever has opened it takes part, declared or not. The principal is None for what is bound to
    nobody known.
    """
    present = await reads.read_present(store, kept.thread.id)
    if any(actor.id == kept.speaker for actor in present):
        return present
    return (*present, Actor(kept.speaker, principal=kept.thread.owner))
