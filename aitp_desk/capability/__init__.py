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
    matter then, only the least that may be left. One of which only :meth:`Context.has` was asked
    may change as long as the answer stays the same.
Apart
    A capability sees its own records and counters and nobody else's, by exact keys; those of one
    :attr:`Capability.family` share the ones that are the family's.
Sealed
    What :class:`Seal` keeps is never on disk as it is, and nobody reads it in passing: not whoever
    reads the thread, not the agent, not the log. No capability reads it again either.
Words
    Whoever has not declared a message is told :meth:`Capability.as_text`. Words are taken for an
    answer (:meth:`Capability.from_text`) only where records are open that wait for who speaks
    (:meth:`Capability.awaits`), and only where one capability alone claims them. What they mean is
    judged as a message is.
Requests
    Messages that ask and messages that answer are kept by a :class:`Book`: a request is open once,
    and then answered, expired or superseded for good (:meth:`Capability.standing`). What waits can
    be shown at every door as a form (:meth:`Capability.waiting`); what is filled in
    (:meth:`Capability.answer`) is judged as a message of whoever did.
Asking
    A question of the desk's own is put by the first capability that has a message for it
    (:meth:`Capability.phrase`). That is judged as everybody's are, with the question in its
    context. The call that waited goes on by :class:`Resume`: once, and only for whoever asked for
    it; whatever else answers is told so.
Outside
    What takes long or happens elsewhere is a job (:class:`Start`), carried out after the commit,
    and again after a crash: its ``ref`` tells what was done before. What is done again and again is
    a :class:`Round`. Others are asked by the ``send`` of either alone, which reaches public
    addresses; they reach the capability by a :class:`Hook`, and what that wants is on disk before
    they are answered. People whom it wants elsewhere follow a link of its own, which leads them on
    by a :class:`Redirect`.
Telling
    :meth:`Capability.health`, :meth:`Capability.watched` and the queries of
    :meth:`Capability.actions` change nothing, and are asked often. What is watched elsewhere is
    told to operators alone.
Its own
    :meth:`Capability.use` is called once, before anything is judged; what is derived there is the
    same at every start and nobody else's. :meth:`Capability.documents` are served to everybody.
Passing along
    Where the site has ``from_visitors = "reject"`` a visitor's message is refused, and where it has
    ``"pass"`` it is given to whom it names; neither is judged.
"""

from __future__ import annotations

from aitp_desk.capability.background import (
    Accept,
    Delivery,
    Health,
    Hook,
    Job,
    Onward,
    Redirect,
    Round,
    Visit,
    Wanted,
    Webhook,
    Work,
)
from aitp_desk.capability.base import Capability, NoSettings
from aitp_desk.capability.effects import (
    Add,
    Audit,
    Effect,
    Guessed,
    Keep,
    Leave,
    NotCounted,
    Paid,
    Refuse,
    Replace,
    Resume,
    Say,
    Seal,
    Start,
    Take,
    Then,
    Uncounted,
    Verdict,
)
from aitp_desk.capability.http import Request, Response, Send, Unanswered
from aitp_desk.capability.journal import UNKNOWN, Book
from aitp_desk.capability.messages import (
    Asking,
    Context,
    Part,
    Party,
    Record,
    Schema,
    Standing,
    Waiting,
    document_of,
)
from aitp_desk.capability.namespace import Own
from aitp_desk.capability.queries import Inquiry, Query
from aitp_desk.capability.requests import (
    Asked,
    State,
    one_line,
    open_until,
    waits_for_others,
)
from aitp_desk.capability.retry import Retry
from aitp_desk.model.access.sealed_value import sealed_as
from aitp_desk.model.access.weak_keys import is_weak
from aitp_desk.model.calls.open_request import Rejected
from aitp_desk.model.calls.payment import PayLink, PaymentTerms
from aitp_desk.model.calls.question import (
    Choice,
    Choose,
    Chosen,
    Confirm,
    Field,
    Fill,
    Pay,
    Question,
)
from aitp_desk.model.component import Component, ComponentState, state_of
from aitp_desk.model.errors import (
    DeskError,
    Forbidden,
    InvalidRequest,
    MissingField,
    NotAuthenticated,
    PreconditionFailed,
    RateLimited,
    ResourceNotFound,
    Unavailable,
)
from aitp_desk.model.money import Money

__all__ = [
    "GROUP",
    "UNKNOWN",
    "Accept",
    "Add",
    "Asked",
    "Asking",
    "Audit",
    "Book",
    "Capability",
    "Choice",
    "Choose",
    "Chosen",
    "Component",
    "ComponentState",
    "Confirm",
    "Context",
    "Delivery",
    "DeskError",
    "Effect",
    "Field",
    "Fill",
    "Forbidden",
    "Guessed",
    "Health",
    "Hook",
    "Inquiry",
    "InvalidRequest",
    "Job",
    "Keep",
    "Leave",
    "MissingField",
    "Money",
    "NoSettings",
    "NotAuthenticated",
    "NotCounted",
    "Onward",
    "Own",
    "Paid",
    "Part",
    "Party",
    "Pay",
    "PayLink",
    "PaymentTerms",
    "PreconditionFailed",
    "Query",
    "Question",
    "RateLimited",
    "Record",
    "Redirect",
    "Refuse",
    "Rejected",
    "Replace",
    "Request",
    "ResourceNotFound",
    "Response",
    "Resume",
    "Retry",
    "Round",
    "Say",
    "Schema",
    "Seal",
    "Send",
    "Standing",
    "Start",
    "State",
    "Take",
    "Then",
    "Unanswered",
    "Unavailable",
    "Uncounted",
    "Verdict",
    "Visit",
    "Waiting",
    "Wanted",
    "Webhook",
    "Work",
    "document_of",
    "is_weak",
    "one_line",
    "open_until",
    "sealed_as",
    "state_of",
    "waits_for_others",
]

GROUP = "aitp_desk.capabilities"
"""The entry point group in which packages name their capabilities."""
