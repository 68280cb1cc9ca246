"""The plug-in interface of capabilities: families of structured messages on a thread.

A capability is a subclass of :class:`Capability`. A package names it in the entry point group
:data:`GROUP`; a site enables it with a section ``[capabilities.NAME]`` in ``desk.toml``, whose
settings are those of its :attr:`Capability.settings`. Such a package imports only this module of
the desk.

The guarantees:

Judging
    :meth:`Capability.judge` is called for each structured part of this capability in a message, in
    the order of the parts, before anything is stored. It is pure: it reads the part and the
    context, has no side effects, and may be called again for the same part. It returns effects.
Effects
    All effects of a message are applied in the commit of the message, or none is and the message is
    not stored. Later parts see the effects of earlier ones. One :class:`Refuse` rejects the
    message.
Races
    Records and counters that were read are unchanged when the effects are applied. After a conflict
    with a concurrent message the parts are judged again, at most three times; then the sender
    receives 409 and may retry. A counter that is only added to need not be read: its minimum alone
    is checked. One that was read only by :meth:`Context.has` may change as long as that result
    stays the same.
Isolation
    A capability sees only its own records and counters, by exact keys. Capabilities of one
    :attr:`Capability.family` share those of the family.
Sealed values
    A value in a :class:`Seal` is never stored in plain text and never shown to readers of the
    thread, to the agent or in the log. No capability can read it again.
Text
    Readers who have not declared a message receive :meth:`Capability.as_text`. Text counts as an
    answer (:meth:`Capability.from_text`) only where open records wait for its sender
    (:meth:`Capability.awaits`) and exactly one capability claims it. It is then judged as the
    message that it means.
Requests
    A :class:`Book` keeps messages that ask and messages that answer. A request is open once, then
    answered, expired or superseded for good (:meth:`Capability.standing`). Every protocol can show
    an open one as a form (:meth:`Capability.waiting`); a submitted form (:meth:`Capability.answer`)
    is judged as a message of the actor that submitted it.
Questions of the desk
    The first capability that has a message for a question of the desk asks it
    (:meth:`Capability.phrase`). The message is judged like any other, with the question in its
    context. The waiting call continues by :class:`Resume`: once, and only for the actor that made
    the call; any other answer is reported as not counted.
Other servers
    Slow work and work with other servers is a job (:class:`Start`). It runs after the commit, and
    again after a crash: its ``ref`` identifies what was done before. Periodic work is a
    :class:`Round`. Both call other servers only through their ``send``, which reaches public
    addresses. Other servers call the capability through a :class:`Hook`, whose effects are on disk
    before the response is sent. People are sent elsewhere through a link of the capability and its
    :class:`Redirect`.
Reports
    :meth:`Capability.health`, :meth:`Capability.watched` and the queries of
    :meth:`Capability.actions` change nothing and are called often. Only operators see the state of
    what is monitored elsewhere.
Own keys and documents
    :meth:`Capability.use` is called once, before anything is judged; a key derived there is the
    same at every start and unique to the capability and the site. :meth:`Capability.documents` are
    public.
Messages of visitors
    With the site's setting ``from_visitors = "reject"`` a visitor's message is refused; with
    ``"pass"`` it is delivered to the actor that it names. Neither is judged.
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
from aitp_desk.capability.base import INTERFACE, Capability, NoSettings
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
    "INTERFACE",
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
