"""What capabilities read: the parts of messages, records, and what a part is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """One major version of a capability's messages.

    Parameters:
        version: the major version, from 1.
        messages: what a message may hold besides ``$schema``: exactly one of these keys, whose
            value is of that type. Fields that a type does not know are kept as they came.
        document: the JSON Schema, as the desk serves it below ``/capabilities``;
            :func:`document_of` makes one.
        url: what stands in ``$schema`` of messages that the desk sends; empty for the address at
            which the desk serves the document.
    """

    version: int
    messages: Mapping[str, type[msgspec.Struct]]
    document: Mapping[str, Any]
    url: str = ""


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
    """

    id: str
    version: int | None = None


NOTHING: Mapping[str, Any] = MappingProxyType({})


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a part is judged by. In tests it is made of plain values.

    Parameters:
        now: Unix seconds.
        thread_id: where the message is to stand.
        message_id: the message's id: the same each time that it is judged, and nobody else's.
        actor: id of the actor that speaks.
        principal: id of the caller; None for an anonymous one.
        parties: who takes part, besides the desk.
        records: the capability's own, by key; read them with :meth:`record`.
        counters: the same for :meth:`counter`.
    """

    now: int
    thread_id: str = ""
    message_id: str = ""
    actor: str = ""
    principal: str | None = None
    parties: tuple[Party, ...] = ()
    records: Mapping[str, Record] = NOTHING
    counters: Mapping[str, int] = NOTHING

    @property
    def version(self) -> int | None:
        """The highest version that all who take part know; None where somebody is told words."""
        known = [party.version for party in self.parties]
        if not known or None in known:
            return None
        return min(version for version in known if version is not None)

    def record(self, key: str) -> Record | None:
        """Return a record as it is once the effects of the parts before are applied."""
        return self.records.get(key)

    def counter(self, key: str) -> int:
        """Return what a counter holds after the parts before, 0 where nothing was added."""
        return self.counters.get(key, 0)


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
