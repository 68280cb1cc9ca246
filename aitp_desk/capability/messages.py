"""What capabilities read: the parts of messages, records, and what a part is judged by."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
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
        version: the major version, from 1. What has 0 is read as it is by whoever has declared any
            version: what others published before the first, or what the desk adds to a version
            that is published and closed.
        messages: what a message may hold besides ``$schema``: exactly one of these keys, whose
            value is of that type. Fields that a type does not know are kept as they came.
        document: the JSON Schema, as the desk serves it below ``/capabilities``;
            :func:`document_of` makes one.
        url: what stands in ``$schema`` of messages that the desk sends; empty for the address at
            which the desk serves the document.
        names: what means this version, as of :attr:`Capability.names`, whichever number stands in
            it: published addresses say which schema is meant, and number it in a way of their own.
    """

    version: int
    messages: Mapping[str, type[msgspec.Struct]]
    document: Mapping[str, Any]
    url: str = ""
    names: tuple[str, ...] = ()


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A structured part of a message, read by its schema.

    Parameters:
        version: the major version that it is of.
        key: which message it is: the one key of :attr:`Schema.messages` that is there.
        content: what stands below that key, as its type.
        given: all of it as it came, unknown fields too.
    """

    version: int
    key: str
    content: Any
    given: Mapping[str, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a capability keeps.

    Parameters:
        version: how often it was written, from 1.
        value: what JSON can hold; None once it was erased.
        thread_id: the thread on which it was written last; None for one that outlives threads. It
            is erased with what was said there.
        open_until: Unix seconds until when it waits for an answer on that thread; None for nothing.
    """

    key: str
    version: int
    value: Any
    thread_id: str | None = None
    open_until: int | None = None


class Party(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes part in a thread, besides the desk.

    Parameters:
        id: of the actor.
        version: the highest version that the actor has declared and the desk knows; None for one
            that is told words.
        principal: id of the caller that the actor is bound to; None for nobody known, and for
            whoever holds a link.
    """

    id: str
    version: int | None = None
    principal: str | None = None


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """A question of the desk's own, for a capability to put into a message.

    Parameters:
        id: what an answer to it names; no other question has it.
        of: id of the actor that is to answer; empty for whoever takes part.
        call_id: the action's call that waits for the answer, to be named by :class:`Resume`; None
            where none does.
        until: Unix seconds, how long that call waits; None where none does.
    """

    id: str
    question: Question
    of: str = ""
    call_id: str | None = None
    until: int | None = None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How a request stands that was made by a message, for people who look at the thread.

    Parameters:
        since: Unix seconds from which on it has stood so; None from the message on.
        until: Unix seconds until when it can be answered; None for always.
        by: id of the actor that asks: not who speaks, where the desk tells what others ask.
        of: id of the actor that is to answer; empty for whoever takes part.
        answer: what answered it, as it stands below its key; None where nothing did.
        note: what people of the site should know who answer it, in words; nobody else is told.
    """

    state: Literal["open", "answered", "expired", "superseded"]
    since: int | None = None
    until: int | None = None
    by: str = ""
    of: str = ""
    answer: Mapping[str, Any] | None = None
    note: str = ""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """What waits for an answer, for doors that show it in a form of their own.

    Parameters:
        id: what an answer names; of what is open on a thread nothing else of the capability has it.
        message: the message that asks, such as ``{"request_decision": {…}}``.
        form: JSON Schema of an object whose members are the answer, each a text, a number, yes or
            no, or a list of texts: of such a one :meth:`Capability.answer` makes a message.
        by: id of the actor that has asked; empty for the desk itself.
        of: id of the actor that is to answer; empty for whoever takes part and has not asked.
        call_id: the action's call that waits for the answer; None where none does. Once that waits
            no more, whatever has ended it, the request is open no longer.
        terms: how it is paid, where that is what it waits for.
        rejected: answers that came and do not count, the newest last.
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
    """Counters of which the desk notes what was seen of them; in tests any mapping does."""

    @abstractmethod
    def has(self, key: str, least: int) -> bool:
        """Whether a counter holds so much, without a look at how much it holds."""


def has_at_least(counters: Mapping[str, int], key: str, least: int) -> bool:
    """Whether a counter holds so much; see :meth:`Context.has`."""
    if isinstance(counters, Counters):
        return counters.has(key, least)
    return counters.get(key, 0) >= least


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a part is judged by. In tests it is made of plain values.

    Parameters:
        now: Unix seconds.
        thread_id: where the message is to stand.
        message_id: the message's id: the same each time that it is judged, and nobody else's.
        place: which of the message's parts this is, from 0.
        actor: id of the actor that speaks.
        names: ids of further actors by which the same caller speaks there.
        principal: id of the caller; None for an anonymous one.
        scopes: what the caller's credential opens.
        components: how the parts of the desk are just now.
        guessed_too_often: the refusal for whoever speaks and has shown too many secrets that were
            none (:class:`Guessed`); None while another may be looked up.
        own: id of the desk's own actor, which speaks where this is :attr:`actor` too.
        asking: the question that the desk asks by this part; None where it is another's, or says
            something else.
        parties: who takes part, besides the desk and its people.
        is_shared: whether others may read or write there, to whom that was granted: they are no
            parties. It is told of messages, and not of what jobs do.
        records: the capability's own, by key; read them with :meth:`record`.
        counters: the same for :meth:`counter`.
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
        """Whether the caller runs the desk."""
        return is_operator_scope(self.scopes)

    @property
    def version(self) -> int | None:
        """The highest version that all who take part know; None where somebody is told words."""
        known = [party.version for party in self.parties]
        if not known or None in known:
            return None
        return min(version for version in known if version is not None)

    def ref(self, name: str) -> str:
        """Return the reference by which something in this part is sealed; the same each time.

        Parameters:
            name: what it is called within the part, such as the id of a field.
        """
        return make_ref(self.message_id, str(self.place), name)

    @property
    def is_ours(self) -> bool:
        """Whether the desk speaks, or one of its people."""
        people = f"{self.own}/{OPERATORS}/"
        return bool(self.own) and (self.actor == self.own or self.actor.startswith(people))

    @property
    def is_operator(self) -> bool:
        """Whether one of the site's people speaks, at the console or with a key; no agent does."""
        return self.operates or (self.is_ours and self.actor != self.own)

    def speaks_for(self, actor: str) -> bool:
        """Whether who speaks is this actor, or one of the desk's people where it is the desk."""
        is_desk = actor == self.own and (self.is_ours or self.is_operator)
        return is_desk or actor in {self.actor, *self.names}

    def record(self, key: str) -> Record | None:
        """Return a record as it is once the effects of the parts before are applied."""
        return self.records.get(key)

    def counter(self, key: str) -> int:
        """Return what a counter holds after the parts before, 0 where nothing was added.

        Whatever is added to it before the commit has all of it judged anew: where it matters only
        whether there is enough, :meth:`has` says it to many at once.
        """
        return self.counters.get(key, 0)

    def has(self, key: str, least: int) -> bool:
        """Whether a counter holds so much; judged anew only where that is otherwise by then."""
        return has_at_least(self.counters, key, least)


def document_of(messages: Mapping[str, type[msgspec.Struct]], title: str) -> dict[str, Any]:
    """Make the JSON Schema of messages from their types: exactly one of the keys, and ``$schema``.

    Parameters:
        messages: as of :class:`Schema`.
        title: what the messages are, in a few words.
    """
    shapes, definitions = msgspec.json.schema_components(
        list(messages.values()), ref_template="#/$defs/{name}"
    )
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
