"""What the handling of visitors' events needs of the desk."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.store.base import Store
from aitp_desk.transports.contacts.continuation import Continuations
from aitp_desk.transports.host.answer_limits import AnswerLimits
from aitp_desk.transports.host.operator_notes import OperatorNotes
from aitp_desk.transports.host.people import HashPerson


class VisitorServices(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What the events of visitors need of the desk.

    Parameters:
        desks: of the site's agents, by name.
        notes: writes notes for operators.
        continuations: join a person's conversations.
        on_change: looks for messages to send on a thread.
        limits: of answers.
        hash_person: hashes the callers that people are.
        clock: Unix seconds.
    """

    desks: Mapping[str, Desk]
    store: Store
    notes: OperatorNotes
    continuations: Continuations
    on_change: Callable[[str], None]
    limits: AnswerLimits
    hash_person: HashPerson
    clock: Callable[[], float]
