"""Assigns speakers to the messages that open a thread."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import (
    VISITOR,
    Actor,
    Draft,
    resolve_speaker,
)
from aitp_desk.model.ids import new_id
from aitp_desk.store.records.threads import NewDraft, NewMessage, settle_draft


class Speakers:
    """The actors that may speak in the messages that open a thread."""

    def __init__(self, principal: Principal, desk: Actor, actors: Sequence[Actor]) -> None:
        own = (None, principal.owner)
        self.brought = [actor.id for actor in actors if actor.principal in own]
        self.others = [desk.id, *(actor.id for actor in actors if actor.principal not in own)]
        self.default = next(iter(self.brought), principal.owner or VISITOR)


def assign_speaker(
    draft: Draft, speakers: Speakers, principal: Principal, now: float, *, at: str
) -> NewMessage:
    """Return an opening message with its speaker.

    Parameters:
        now: Unix seconds.
        at: path of the draft in its request, for ``param``.

    Raises:
        InvalidRequest, Forbidden: as :func:`.resolve_speaker`.
    """
    role, actor = resolve_speaker(
        draft, brought=speakers.brought, default=speakers.default, others=speakers.others, at=at
    )
    return settle_draft(
        NewDraft(new_id("msg", now), new_salt(), draft), role, actor, principal.owner
    )
