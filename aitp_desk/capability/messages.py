"""What capabilities read: parts of messages, records, and the context of a judgement."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from aitp_desk.model.access.scope import is_operator_scope
from aitp_desk.model.access.sealed_value import make_ref
from aitp_desk.model.calls.open_request import Rejected
from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.calls.question import Question
from aitp_desk.model.component import Component
from aitp_desk.model.conversation.ticket import OPERATORS
from aitp_desk.model.errors import RateLimited


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """One major version of a capability's messages.

    Parameters:
        version: the major version, from 1. Version 0 is sent unconverted to readers who declared
            any version: messages that others published before version 1, or that the desk adds to a
            published, closed version.
        messages: what a message may hold besides ``$schema``: exactly one of these keys, with a
            value of that type. Fields that a type does not know are kept unchanged.
        document: the JSON Schema, as the desk serves it below ``/capabilities``;
            :func:`document_of` makes one.
        url: the ``$schema`` of messages that the desk sends; empty for the URL at which the desk
            serves the document.
        names: names that mean this version, like :attr:`Capability.names`, whatever number they
            contain: published URLs have their own numbering.
    """

    version: int
    messages: Mapping[str, type[msgspec.Struct]]
    document: Mapping[str, Any]
    url: str = ""
    names: tuple[str, ...] = ()


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A structured part of a message, validated by its schema.

    Parameters:
        version: its major version.
        key: which message it is: the one key of :attr:`Schema.messages` that is present.
        content: the value below that key, as its type.
        given: the whole part as received, with unknown fields.
    """

    version: int
    key: str
    content: Any
    given: Mapping[str, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A stored value of a capability.

    Parameters:
        version: how often it was written, from 1.
        value: a JSON value; None once it was erased.
        thread_id: the thread on which it was last written; None for a record that outlives threads.
            It is erased together with the thread's messages.
        open_until: Unix seconds until which it waits for an answer on that thread; None if it does
            not wait.
    """

    key: str
    version: int
    value: Any
    thread_id: str | None = None
    open_until: int | None = None


class Party(msgspec.Struct, frozen=True, kw_only=True):
    """A participant of a thread other than the desk.

    Parameters:
        id: the actor's id.
        version: the highest version that the actor declared and the desk knows; None for one that
            receives text.
        principal: id of the caller that the actor is bound to; None for an anonymous caller and for
            the holder of a link.
    """

    id: str
    version: int | None = None
    principal: str | None = None


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """A question of the desk, for a capability to render as a message.

    Parameters:
        id: the id that an answer names; unique.
        of: id of the actor that is to answer; empty for any participant.
        call_id: the action call that waits for the answer, for :class:`Resume`; None if none waits.
        until: Unix seconds until which that call waits; None if none waits.
    """

    id: str
    question: Question
    of: str = ""
    call_id: str | None = None
    until: int | None = None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a request, for people who look at the thread.

    Parameters:
        since: Unix seconds of the last change of state; None if it has not changed since the
            message.
        until: Unix seconds until which it can be answered; None for no limit.
        by: id of the actor that asks. It is not the sender if the desk sends another's request.
        of: id of the actor that is to answer; empty for any participant.
        answer: the answer, as the value below its key; None if there is none.
        note: text for the site's people who answer it; shown to nobody else.
    """

    state: Literal["open", "answered", "expired", "superseded"]
    since: int | None = None
    until: int | None = None
    by: str = ""
    of: str = ""
    answer: Mapping[str, Any] | None = None
    note: str = ""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """An open request, for protocols that show it as a form.

    Parameters:
        id: the id that an answer names; unique among the capability's open requests on a thread.
        message: the message that asks, such as ``{"request_decision": {…}}``.
        form: JSON Schema of an object whose members are the answer, each a string, a number, a
            boolean or a list of strings. :meth:`Capability.answer` makes a message of such an
            object.
        by: id of the actor that asks; empty for the desk itself.
        of: id of the actor that is to answer; empty for any participant other than the one that
            asks.
        call_id: the action call that waits for the answer; None if none waits. Once the call no
            longer waits, for any reason, the request is no longer open.
        terms: how to pay, if it waits for a payment.
        rejected: answers that did not count, the newest last.
    """

    id: str
    message: Mapping[str, Any]
    form: Mapping[str, Any]
    by: str = ""
    of: str = ""
    call_id: str | None = None
    terms: PaymentTerms | None = None
    rejected: tuple[Rejected, ...] = ()


NOTHING: Mapping[str, Any] = MappingProxyType({})


class Counters(Mapping[str, int]):
    """Counters that record which values were read; tests may use any mapping."""

    @abstractmethod
    def has(self, key: str, least: int) -> bool:
        """Return whether a counter has at least this value. The value is not recorded as read."""


def has_at_least(counters: Mapping[str, int], key: str, least: int) -> bool:
    """Return whether a counter holds at least so much; see :meth:`Context.has`."""
    if isinstance(counters, Counters):
        return counters.has(key, least)
    return counters.get(key, 0) >= least


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """The context in which a part is judged. Tests make it from plain values.

    Parameters:
        now: Unix seconds.
        thread_id: the thread of the message.
        message_id: the message's id, the same each time it is judged, and unique.
        place: the index of the part in the message, from 0.
        actor: id of the sending actor.
        names: ids of further actors of the same caller on the thread.
        principal: id of the caller; None for an anonymous one.
        scopes: the scopes of the caller's credential.
        components: the current health of the desk's components.
        guessed_too_often: the refusal for a sender who presented too many wrong secrets
            (:class:`Guessed`); None while another may be looked up.
        own: id of the desk's own actor, which is the sender if :attr:`actor` equals it.
        asking: the desk's question that this part asks; None if the part is another's or asks
            nothing.
        parties: the participants other than the desk and its people.
        is_shared: whether others were granted access to the thread; they are not parties. Set for
            messages, not for jobs.
        records: the capability's own, by key; read them with :meth:`record`.
        counters: the capability's own, by key; read them with :meth:`counter`.
    """

    now: int
    thread_id: str = ""
    message_id: str = ""
    place: int = 0
    actor: str = ""
    names: tuple[str, ...] = ()
    principal: str | None = None
    scopes: frozenset[str] = frozenset()
    components: Sequence[Component] = ()
    guessed_too_often: RateLimited | None = None
    own: str = ""
    asking: Asking | None = None
    parties: tuple[Party, ...] = ()
    is_shared: bool = False
    records: Mapping[str, Record] = NOTHING
    counters: Mapping[str, int] = NOTHING

    @property
    def operates(self) -> bool:
        """Whether the caller is an operator of the desk."""
        return is_operator_scope(self.scopes)

    @property
    def version(self) -> int | None:
        """The highest version that all participants know; None if one of them receives text."""
        known = [party.version for party in self.parties]
        if not known or None in known:
            return None
        return min(version for version in known if version is not None)

    def ref(self, name: str) -> str:
        """Return the reference for a sealed value of this part; stable across judgements.

        Parameters:
            name: the value's name within the part, such as the id of a field.
        """
        return make_ref(self.message_id, str(self.place), name)

    @property
    def is_ours(self) -> bool:
        """Whether the sender is the desk or one of its people."""
        people = f"{self.own}/{OPERATORS}/"
        return bool(self.own) and (self.actor == self.own or self.actor.startswith(people))

    @property
    def is_operator(self) -> bool:
        """Whether one of the site's people speaks, at the console or with a key; never an agent."""
        return self.operates or (self.is_ours and self.actor != self.own)

    def speaks_for(self, actor: str) -> bool:
        """Return whether the sender may speak for this actor.

        The site's people speak for the desk.
        """
        is_desk = actor == self.own and (self.is_ours or self.is_operator)
        return is_desk or actor in {self.actor, *self.names}

    def record(self, key: str) -> Record | None:
        """Return a record after the effects of earlier parts; None if there is none."""
        return self.records.get(key)

    def counter(self, key: str) -> int:
        """Return a counter's value after the effects of earlier parts.

        It is 0 if nothing was added. If the counter changes before the commit, the whole message is
        judged again. Where only a minimum matters, use :meth:`has`: concurrent messages then do not
        conflict.
        """
        return self.counters.get(key, 0)

    def has(self, key: str, least: int) -> bool:
        """Return whether a counter holds at least so much; a conflict only if this changes."""
        return has_at_least(self.counters, key, least)


def document_of(messages: Mapping[str, type[msgspec.Struct]], title: str) -> dict[str, Any]:
    """Make the JSON Schema of messages from their types: exactly one key, and ``$schema``.

    Parameters:
        messages: as of :class:`Schema`.
        title: what the messages are, in a few words.
    """
    shapes, definitions = msgspec.json.schema_components(
        list(messages.values()), ref_template="#/$defs/{name}"
    )
    for definition in definitions.values():
        if "description" in definition:  # before msgspec 0.23 it was indented as in the code
            definition["description"] = cleandoc(definition["description"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": {"$schema": {"type": "string", "format": "uri"}}
        | dict(zip(messages, shapes, strict=True)),
        "required": ["$schema"],
        "oneOf": [{"required": [key]} for key in messages],
        "$defs": definitions,
    }
