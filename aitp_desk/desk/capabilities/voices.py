"""As whom a caller speaks on a thread: what capabilities know of it before anything is written."""

from __future__ import annotations

from aitp_desk.model.principal import Principal
from aitp_desk.store import reads
from aitp_desk.store.base import Store
from aitp_desk.store.records import KeptThread


async def read_speakers(store: Store, principal: Principal, kept: KeptThread) -> tuple[str, ...]:
    """The actors as which a caller may speak, first the one that is stamped where none is named.

    It is the same that :mod:`aitp_desk.store.work.reach` stamps.
    """
    present = await reads.read_present(store, kept.thread.id)
    bound = [one.id for one in present if one.principal == principal.owner]
    default = next(iter(bound), principal.name)
    if principal.owner == kept.thread.owner:
        default = kept.speaker
    return (default, *bound)
