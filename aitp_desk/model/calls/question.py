"""The desk's questions, as plain values independent of their form.

A call that lacks something waits for the answer to one of these. A plugin puts a question into a
structured message; without such a plugin it is asked as text.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aitp_desk.model.money import Money

FieldType = Literal["text", "number", "email", "textarea", "select", "combobox", "tel"]


class Choice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One option, or a variant of it.

    Parameters:
        id: named by an answer; unique within a question, including variants.
        price: of one piece.
        variants: each is chosen by its own id; variants have none themselves.
        value: the resulting value if this is chosen, as JSON has it; its id if None.
    """

    id: str
    name: str = ""
    description: str = ""
    image_url: str = ""
    url: str = ""
    price: Money | None = None
    variants: tuple[Choice, ...] = ()
    value: Any = None


class Choose(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="choose"):
    """A choice among several options. The answer is a list of :class:`Chosen`.

    Parameters:
        many: how many may be chosen: ``one``, ``several``, or ``counted``: several, each with a
            quantity.
    """

    title: str
    choices: tuple[Choice, ...]
    many: Literal["one", "several", "counted"] = "one"
    description: str = ""


class Confirm(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="confirm"):
    """A yes-or-no question. The answer is true or false.

    Parameters:
        yes, no: the labels of the two answers.
    """

    title: str
    description: str = ""
    yes: str = "Yes"
    no: str = "No"


class Field(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field of a form.

    Parameters:
        id: named by an answer; unique within a form.
        options: suggestions for a ``combobox``, all values for a ``select``.
        autocomplete: its meaning, as an HTML autocomplete token: ``postal-code``.
        sensitive: whether its value is sealed.
    """

    id: str
    label: str = ""
    type: FieldType = "text"
    description: str = ""
    default: str = ""
    options: tuple[str, ...] = ()
    required: bool = False
    autocomplete: str = ""
    sensitive: bool = False


class Fill(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="fill"):
    """A form.

    The answer has texts and references to sealed values, by the ids of fields.
    """

    title: str
    fields: tuple[Field, ...]
    description: str = ""


class Pay(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="pay"):
    """A payment for an action that is executed afterwards. The answer is a payment.

    Parameters:
        action: the name of the action.
    """

    title: str
    price: Money
    description: str = ""
    action: str = ""


Question = Choose | Confirm | Fill | Pay
"""All kinds of questions."""


class Chosen(msgspec.Struct, frozen=True):
    """A chosen option with its quantity."""

    id: str
    quantity: int = 1
