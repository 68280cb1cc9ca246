"""What is told of an answer beside the answer: what it is, and what may be done with it now.

It is the same whoever it is told to and in whichever form; the form that there is so far is HAC's.
Only what the caller may do, and in this state, is told (HAC 1.0, section 9.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.model.calls.action import Related, Safety
from aitp_desk.model.money import Money

Method = Literal["GET", "POST", "DELETE"]
Kind = Literal["string", "number", "integer", "boolean", "array", "object"]
"""The types of JSON Schema but for null."""

READS = Safety()
"""Of what changes nothing."""
REVERSIBLE = Safety("reversible")
ADDS = Safety("reversible", "self_and_associated")
"""Of what adds something that can be taken away again."""
FINAL = Safety("irreversible", "self_and_associated", confirmation_recommended=True)


class InputField(msgspec.Struct, frozen=True):
    """Something that a request takes.

    Parameters:
        values: all that are taken; empty for any.
        schema: JSON Schema of what is more than a plain value; None where the type says it all.
        default: what counts where it is left out; UNSET where that is nothing.
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

    It is itself alone, so that what was made of it can be kept for as long as it is there.

    Parameters:
        rel: a registered link relation where one fits, else small letters, digits and hyphens.
        href: a path of the site.
        description: what it does and what comes of it, for a model.
        takes: what its body, or its query, may hold.
        needs: what must be so for it to succeed, in sentences.
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
    """What is told of an answer.

    Parameters:
        description: what it is, and what should be known of it, for a model. It repeats nothing
            that a visitor has said.
    """

    description: str
    doings: tuple[Affordance, ...] = ()
    related: tuple[Related, ...] = ()


class RelatedAddress(msgspec.Struct, frozen=True):
    """An address from which more is found.

    Parameters:
        methods: those that are answered there; none of a base that only leads to more.
        template: of the addresses below it; empty for none.
    """

    rel: str
    href: str
    description: str
    methods: tuple[Method, ...] = ("GET",)
    template: str = ""


class Overview(msgspec.Struct, frozen=True):
    """What there is at all, for a caller (HAC 1.0, section 7).

    Parameters:
        version: of what is served.
    """

    name: str
    description: str
    version: str
    places: tuple[RelatedAddress, ...]
