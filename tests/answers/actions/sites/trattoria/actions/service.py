"""What guests can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Text = Annotated[str, Meta(min_length=2, max_length=300)]
People = Annotated[int, Meta(ge=1, le=12)]
Clock = Annotated[str, Meta(pattern=r"^\d\d:\d\d$", description="Such as 18:30.")]
Number = Annotated[str, Meta(pattern=r"^O\d{4}$", description="Such as O2208.")]
Dish = Literal["pizza", "risotto", "tiramisu"]
Count = Annotated[int, Meta(ge=1, le=20)]


class Done(Struct, frozen=True):
    """What was found or noted."""

    text: str


@action(
    open_to="anyone",
    examples=[
        "Do you have a table for 4 on Friday?",
        "Is anything free tonight?",
    ],
)
def free_tables(day: date, people: People) -> Done:
    """Says when tables are free."""
    return Done("free_tables")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "I would like to book a table",
        "Reserve for two at 7 pm tomorrow",
    ],
)
def book_table(day: date, at: Clock, people: People) -> Done:
    """Reserves a table.

    Parameters:
        at: when the guests come.
    """
    return Done("book_table")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "Cancel our table O2208",
    ],
)
def cancel_table(number: Number) -> Done:
    """Cancels a reservation."""
    return Done("cancel_table")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "We will be six instead of four, O2208",
    ],
)
def change_table(number: Number, people: People) -> Done:
    """Changes for how many a table is reserved."""
    return Done("change_table")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "Two pizzas please",
        "I want to order a risotto",
    ],
)
def order_food(dish: Dish, count: Count) -> Done:
    """Orders dishes to be delivered."""
    return Done("order_food")


@action(
    open_to="anyone",
    examples=[
        "Where is my food? O2208",
    ],
)
def order_status(number: Number) -> Done:
    """Says where an order is."""
    return Done("order_status")


@action(
    open_to="anyone",
    examples=[
        "How much is left on voucher O4411?",
    ],
)
def voucher_value(code: Number) -> Done:
    """Says what is left on a voucher."""
    return Done("voucher_value")
