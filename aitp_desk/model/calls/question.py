"""What the desk asks somebody, whoever puts it into words or messages: plain values.

An action's call that lacks something waits for the answer to one of these. A capability puts a
question into a message of its own; where none does it is asked in words.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aitp_desk.model.money import Money

FieldType = Literal["text", "number", "email", "textarea", "select", "combobox", "tel"]


class Choice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing to choose, or a kind of it.

    Parameters:
        id: what an answer names; no two of a question share one, variants among them.
        price: of one piece.
        variants: its kinds, each of which is chosen by its own id; they have none themselves.
        value: what the one who asks is given where this is chosen, as JSON has it; its id where
            that is None.
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
    """Which of several things. It is answered by :class:`Chosen` ones.

    Parameters:
        many: how many of them: ``one``, ``several``, or ``counted``: several, each with how many.
    """

    title: str
    choices: tuple[Choice, ...]
    many: Literal["one", "several", "counted"] = "one"
    description: str = ""


class Confirm(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="confirm"):
    """Whether something shall be done. It is answered by true or false.

    Parameters:
        yes, no: how the two answers are called.
    """

    title: str
    description: str = ""
    yes: str = "Yes"
    no: str = "No"


class Field(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing to fill in.

    Parameters:
        id: what an answer names; no two fields of a form share one.
        options: what is proposed of a ``combobox``, and all there is of a ``select``.
        autocomplete: what it is, by the tokens that HTML has for that: ``postal-code``.
        sensitive: whether nobody reads it later but who may.
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
    """A form. It is answered by texts and references to what was sealed, by the ids of fields."""

    title: str
    fields: tuple[Field, ...]
    description: str = ""


class Pay(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="pay"):
    """Whether something is paid for that is done afterwards. It is answered by paying.

    Parameters:
        price: what it costs.
        action: the name of what is done once it is paid.
    """

    title: str
    price: Money
    description: str = ""
    action: str = ""


Question = Choose | Confirm | Fill | Pay
"""All that the desk asks."""


class Chosen(msgspec.Struct, frozen=True):
    """One thing that was chosen, and how many of it."""

    id: str
    quantity: int = 1
