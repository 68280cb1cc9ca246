"""Defines the objects of HAC's documents (HAC 1.0, sections 3 to 8).

Each validates itself when it is created: :class:`NotHac` says what is wrong. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aitp_desk.protocols.hac import rules

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
# Documents repeat the same few addresses.
_relation = lru_cache(maxsize=512)(rules.relation)
_reference = lru_cache(maxsize=512)(rules.reference)


class NotHac(ValueError):
    """A value breaks the specification; the message names the member and what it takes."""


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object of a document.

    Parameters:
        extra: the server's own fields, whose names begin with ``x-`` (section 8.2).
    """

    extra: Mapping[str, Any] = _NOTHING

    def __post_init__(self) -> None:
        for name in self.extra:
            _demand("extra", rules.extension(name))
        self._settle()

    def _settle(self) -> None:
        """Normalise empty values, so that they are not written."""
        told = dict(self.extra) if self.extra else _NOTHING
        msgspec.structs.force_setattr(self, "extra", told)
        for name, default in members_of(type(self)):
            if default == () and not getattr(self, name):
                msgspec.structs.force_setattr(self, name, ())


class Cost(Part, frozen=True, kw_only=True):
    """The price of an action (section 5.5).

    Parameters:
        amount: the sum in whole units of the currency, such as 29.99; a Decimal is written exactly.
        currency: an ISO 4217 code.
        description: what it pays for.

    Raises:
        NotHac: the amount is not finite, or the currency is not a code.
    """

    amount: float | Decimal
    currency: str
    description: str = ""

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        _demand("amount", rules.amount(self.amount))
        _demand("currency", rules.currency(self.currency))


class Safety(Part, frozen=True, kw_only=True):
    """The risks that an agent weighs before it acts (section 5).

    Parameters:
        mutability: whether something changes, and whether that can be undone.
        blast_radius: the affected resources.
        reversible_within: how long it can be undone, an ISO 8601 duration.
        confirmation_recommended: whether the user should be asked first.

    Raises:
        NotHac: a value is unknown, or the duration is invalid or without effect.
    """

    mutability: rules.Mutability | None = None
    blast_radius: rules.BlastRadius | None = None
    reversible_within: str | None = None
    confirmation_recommended: bool = False
    cost: Cost | None = None

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        if self.mutability is not None:
            _demand("mutability", rules.known(self.mutability, rules.MUTABILITIES))
        if self.blast_radius is not None:
            _demand("blast_radius", rules.known(self.blast_radius, rules.BLAST_RADII))
        if self.reversible_within is not None:
            _demand("reversible_within", rules.duration(self.reversible_within))
        _demand("reversible_within", rules.window(self.reversible_within, self.mutability))


class Field(Part, frozen=True, kw_only=True):
    """One input of an action (section 4.3).

    Parameters:
        name: as the request has it.
        type: a type of JSON Schema.
        description: its constraints and effects, for a language model.
        enum: the allowed values; empty for any.
        default: the value of an absent field; UNSET for none.

    Raises:
        NotHac: the name is empty, or a value is of another type.
    """

    name: str
    type: rules.FieldType
    description: str = ""
    required: bool = False
    enum: Sequence[Any] = ()
    default: Any = msgspec.UNSET

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        _demand("name", rules.spoken(self.name))
        _demand("type", rules.known(self.type, rules.FIELD_TYPES))
        for value in self.enum:
            _demand("enum", rules.of_type(value, self.type))
        if self.default is not msgspec.UNSET and self.default is not None:
            _demand("default", rules.of_type(self.default, self.type))


class Action(Part, frozen=True, kw_only=True):
    """An action that is possible now (section 4.1).

    Parameters:
        rel: a registered link relation where one fits, else a URI or a token (section 4.2).
        href: a URI or a URI Template; each of its variables is the name of a field.
        description: its purpose and effects, for a language model (section 3.2.1).
        preconditions: what must hold for it to succeed, as text.

    Raises:
        NotHac: the relation, the method or the address is invalid, or a variable has no field.
    """

    rel: str
    method: rules.Method
    href: str
    description: str = ""
    safety: Safety | None = None
    fields: Sequence[Field] = ()
    preconditions: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        _demand("rel", _relation(self.rel))
        _demand("method", rules.known(self.method, rules.METHODS))
        _demand("href", _reference(self.href))
        names = [field.name for field in self.fields]
        _demand("href", rules.filled(self.href, names))
        _demand("fields", rules.distinct(names))


class Related(Part, frozen=True, kw_only=True):
    """A related resource (section 3.3).

    Parameters:
        href: a URI or a URI Template.
        description: the resource, for a language model.
        extra: any further members, such as ``count``.

    Raises:
        NotHac: the relation or the address is invalid, or ``extra`` has one of these names.
    """

    rel: str
    href: str
    description: str = ""

    def __post_init__(self) -> None:
        """Validate; the rules about names of extensions do not apply here."""
        self._settle()
        _demand("rel", _relation(self.rel))
        _demand("href", _reference(self.href, is_requested=False))
        if self.extra.keys() & {"rel", "href", "description"}:
            raise NotHac("extra: contains a field of the specification.")


class Context(Part, frozen=True, kw_only=True):
    """The description that accompanies the payload (section 3.2).

    Parameters:
        description: the resource, for a language model (section 3.2.1).
        actions: what this caller may do with it now, and nothing else (section 9.1).
    """

    description: str = ""
    actions: Sequence[Action] = ()
    related: Sequence[Related] = ()


class Recovery(Part, frozen=True, kw_only=True):
    """The way to resolve an error (section 6.2).

    Parameters:
        description: what to do, for a language model.
        actions: requests that help.

    Raises:
        NotHac: the description is empty.
    """

    description: str
    actions: Sequence[Action] = ()

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        _demand("description", rules.spoken(self.description))


class HacError(Part, frozen=True, kw_only=True):
    """The reason of a refusal (section 6.1).

    Parameters:
        code: for programs.
        message: for people and language models.
        retryable: whether the same request may succeed later.
        retry_after: seconds until then; the same as the ``Retry-After`` header.

    Raises:
        NotHac: the code or message is empty, or the seconds have no effect.
    """

    code: str
    message: str
    retryable: bool = False
    retry_after: int | None = None
    recovery: Recovery | None = None

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        _demand("code", rules.spoken(self.code))
        _demand("message", rules.spoken(self.message))
        _demand("retry_after", rules.wait(self.retry_after, retryable=self.retryable))


class Resource(Part, frozen=True, kw_only=True):
    """An entry point of an API (section 7.2).

    Parameters:
        href: a URI.
        methods: those that it answers; empty where they are not stated.

    Raises:
        NotHac: the relation, the address or a method is invalid.
    """

    rel: str
    href: str
    description: str = ""
    methods: Sequence[rules.Method] = ()

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        _demand("rel", _relation(self.rel))
        _demand("href", _reference(self.href, is_template=False))
        for method in self.methods:
            _demand("methods", rules.known(method, rules.METHODS))


class Discovery(Part, frozen=True, kw_only=True):
    """An overview of an API (section 7).

    Parameters:
        name: of the API, for people.
        version: of the API, not of the specification; empty where it is not stated.
        resources: its entry points.

    Raises:
        NotHac: the name is empty.
    """

    name: str
    resources: Sequence[Resource]
    version: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        _demand("name", rules.spoken(self.name))


def _demand(member: str, wrong: str) -> None:
    if wrong:
        raise NotHac(f"{member}: {wrong}")


@cache
def members_of(kind: type[Part]) -> tuple[tuple[str, Any], ...]:
    """Return the members of an object and their defaults, in order."""
    fields = msgspec.structs.fields(kind)
    return tuple((field.name, field.default) for field in fields if field.name != "extra")
