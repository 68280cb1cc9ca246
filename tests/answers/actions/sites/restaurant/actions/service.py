"""What guests of the restaurant can have done."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import Context, Money, action

Dish = Literal["lasagne", "pizza margherita", "pizza funghi", "gnocchi", "tiramisu"]
People = Annotated[int, Meta(ge=1, le=12)]
Count = Annotated[int, Meta(ge=1, le=20)]
TableNumber = Annotated[str, Meta(pattern=r"^R\d{4}$", description="Such as R2208.")]
OrderNumber = Annotated[str, Meta(pattern=r"^T-\d{3}$", description="Such as T-118.")]
Email = Annotated[str, Meta(max_length=254, extra_json_schema={"format": "email"})]
PRICES = {"lasagne": 19, "pizza margherita": 16, "pizza funghi": 18, "gnocchi": 18, "tiramisu": 8}


class Tables(Struct, frozen=True):
    """When tables are free.

    Parameters:
        times: at which guests can come.
    """

    day: date
    times: tuple[str, ...]


class Reservation(Struct, frozen=True):
    """A table that is kept.

    Parameters:
        number: with which it can be changed.
    """

    number: str
    day: date
    time: str
    people: int


class Progress(Struct, frozen=True):
    """How far an order is.

    Parameters:
        minutes: until it can be fetched.
    """

    number: str
    minutes: int


class Noted(Struct, frozen=True):
    """What the restaurant has noted."""

    text: str


def takeaway_price(dish: Dish, count: int, context: Context) -> Money:
    return Money(Decimal(PRICES[dish]) * count, "CHF")


@action(
    open_to="anyone",
    examples=["Do you have a table for four on Friday?", "Is anything free tonight at eight?"],
)
def free_tables(day: date, people: People) -> Tables:
    """Says at which times a table is free on a day.

    Args:
        day: the day.
        people: how many guests.
    """
    return Tables(day, ("18:00", "20:30"))


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["A table for two tomorrow at 19:30, please.", "Reserve the terrace for six people."],
)
def reserve_table(day: date, time: str, people: People, email: Email) -> Reservation:
    """Reserves a table.

    Args:
        day: the day.
        time: when the guests come, such as 19:30.
        people: how many guests.
        email: a mail address of the guest.
    """
    return Reservation("R2208", day, time, people)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Move R2208 to eight o'clock.", "We are five instead of four, R2208."],
)
def change_reservation(
    number: TableNumber,
    day: date | None = None,
    time: str | None = None,
    people: People | None = None,
) -> Noted:
    """Changes the day, the time or the number of guests of a reservation.

    Args:
        number: of the reservation.
        day: the new day.
        time: the new time.
        people: the new number of guests.
    """
    return Noted(f"{number} changed")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["Cancel our table R2208.", "We can't make it tonight."],
)
def cancel_table(number: TableNumber) -> Noted:
    """Cancels the reservation of a table.

    Args:
        number: of the reservation.
    """
    return Noted(f"{number} cancelled")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    cost=takeaway_price,
    examples=["Two lasagne to take away at seven.", "I want to order a pizza funghi to go."],
)
def order_takeaway(dish: Dish, count: Count, time: str, context: Context) -> Progress:
    """Orders a dish to take away.

    Args:
        dish: which dish.
        count: how many.
        time: when it is fetched, such as 19:00.
    """
    return Progress("T-118", 25)


@action(
    open_to="anyone",
    examples=["Is T-118 ready?", "How long until my pizza can be picked up?"],
)
def takeaway_progress(number: OrderNumber) -> Progress:
    """Says how far a takeaway order is.

    Args:
        number: of the order.
    """
    return Progress(number, 10)
