"""Describes a response and the requests that the caller may send next.

The description does not depend on the caller's format; HAC is the only format so far. It lists only
what this caller may do in the present state (HAC 1.0, section 9.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.model.calls.action import Related, Safety
from aitp_desk.model.money import Money

Method = Literal["GET", "POST", "DELETE"]
Kind = Literal["string", "number", "integer", "boolean", "array", "object"]
"""The types of JSON Schema, except null."""

READS = Safety()
"""For requests that change nothing."""
REVERSIBLE = Safety("reversible")
ADDS = Safety("reversible", "self_and_associated")
"""For requests that add something that can be removed again."""
FINAL = Safety("irreversible", "self_and_associated", confirmation_recommended=True)


class InputField(msgspec.Struct, frozen=True):
    """A member that a request accepts.

    Parameters:
        values: all accepted values; empty for any.
        schema: JSON Schema of an array or object; None where the type is enough.
        default: the value of an absent member; UNSET for none.
    """

    name: str
    kind: Kind
    description: str = ""
    is_required: bool = False
    values: tuple[Any, ...] = ()
    schema: Mapping[str, Any] | None = None
    default: Any = msgspec.UNSET


class Affordance(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A request that the caller may send now.

    It compares by identity, so that what is rendered from it can be cached while it exists.

    Parameters:
        rel: a registered link relation where one fits; else lower-case letters, digits and hyphens.
        href: a path of the site.
        description: the request and its effect, for a model.
        takes: the members of its body or query.
        needs: preconditions, as sentences.
    """

    rel: str
    method: Method
    href: str
    description: str = ""
    safety: Safety = READS
    cost: Money | None = None
    takes: tuple[InputField, ...] = ()
    needs: tuple[str, ...] = ()


class Representation(msgspec.Struct, frozen=True):
    """The description of a response.

    Parameters:
        description: what the response is and what a model should know of it. It repeats nothing
            that a visitor has written.
    """

    description: str
    doings: tuple[Affordance, ...] = ()
    related: tuple[Related, ...] = ()


class RelatedAddress(msgspec.Struct, frozen=True):
    """An address that leads to more resources.

    Parameters:
        methods: those that it answers; empty for a base that only leads to more.
        template: of the addresses below it; empty for none.
    """

    rel: str
    href: str
    description: str
    methods: tuple[Method, ...] = ("GET",)
    template: str = ""


class Overview(msgspec.Struct, frozen=True):
    """An overview of everything that a caller can reach (HAC 1.0, section 7).

    Parameters:
        version: of the desk.
    """

    name: str
    description: str
    version: str
    places: tuple[RelatedAddress, ...]
