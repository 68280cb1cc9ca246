"""The interface of capabilities: families of structured messages on a thread, as plug-ins.

A capability is a class below :class:`Capability`. A package names it in the entry point group
:data:`GROUP`; a site enables it with a section ``[capabilities.NAME]`` in ``desk.toml``, whose
settings are those of its :attr:`Capability.settings`. This module is all that such a package
imports of the desk.

The promises:

Judging
    :meth:`Capability.judge` is asked for each structured part of a message that is of this
    capability, in the order of the parts, before anything is stored. It is pure: it reads the part
    and the context, does nothing elsewhere, and may be asked again for the same part. What it wants
    done it returns as effects.
Effects
    All effects of a message are applied in the commit of the message, or none is, and the message
    is not stored either. Later parts see the effects of earlier ones. One :class:`Refuse` refuses
    the message.
Races
    Records and counters that were read are as they were when the effects are applied. Where
    somebody else was faster the parts are judged anew, three times at most; then the sender is told
    to try again (409). A counter that is only added to need not be read: who was faster does not
    matter then, only the least that may be left.
Apart
    A capability sees its own records and counters and nobody else's, by exact keys.
Outside
    What takes long or happens elsewhere is a job (:class:`Start`), carried out after the commit,
    and again after a crash: its ``ref`` tells what was done before.
"""

from __future__ import annotations

from aitp_desk.capability.base import Capability, NoSettings
from aitp_desk.capability.effects import (
    Add,
    Audit,
    Effect,
    Keep,
    Leave,
    Refuse,
    Replace,
    Say,
    Start,
    Take,
    Then,
    Verdict,
)
from aitp_desk.capability.messages import Context, Part, Party, Record, Schema, document_of
from aitp_desk.capability.outside import Accept, Delivery, Health, Hook, Job, Retry, Work
from aitp_desk.model.errors import (
    DeskError,
    Forbidden,
    InvalidRequest,
    MissingField,
    NotAuthenticated,
    PreconditionFailed,
    Unavailable,
)

__all__ = [
    "GROUP",
    "Accept",
    "Add",
    "Audit",
    "Capability",
    "Context",
    "Delivery",
    "DeskError",
    "Effect",
    "Forbidden",
    "Health",
    "Hook",
    "InvalidRequest",
    "Job",
    "Keep",
    "Leave",
    "MissingField",
    "NoSettings",
    "NotAuthenticated",
    "Part",
    "Party",
    "PreconditionFailed",
    "Record",
    "Refuse",
    "Replace",
    "Retry",
    "Say",
    "Schema",
    "Start",
    "Take",
    "Then",
    "Unavailable",
    "Verdict",
    "Work",
    "document_of",
]

GROUP = "aitp_desk.capabilities"
"""The entry point group in which packages name their capabilities."""
