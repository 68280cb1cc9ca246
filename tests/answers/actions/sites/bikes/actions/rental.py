"""What visitors of the bicycle rental can have done."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import Context, Example, Money, action

Kind = Literal["city bike", "e-bike", "cargo bike", "children's bike"]
Number = Annotated[str, Meta(pattern=r"^FB-\d{5}$", description="Such as FB-20417.")]
Count = Annotated[int, Meta(ge=1, le=20)]
PRICES = {"city bike": 25, "e-bike": 45, "cargo bike": 60, "children's bike": 12}
FLEET = {"city bike": 30, "e-bike": 12, "cargo bike": 4, "children's bike": 9}


class Free(Struct, frozen=True):
    """How many bikes are free.

    Parameters:
        free: on that day.
    """

    kind: Kind
    day: date
    free: int


class Reservation(Struct, frozen=True):
    """Bikes that are kept for a visitor.

    Parameters:
        number: to name at the counter.
    """

    number: str
    kind: Kind
    day: date
    count: int


class Noted(Struct, frozen=True):
    """What the rental has noted."""

    number: str
    text: str


def reservation_price(kind: Kind, count: int, context: Context) -> Money:
    return Money(Decimal(PRICES[kind]) * count, "EUR")


@action(
    open_to="anyone",
    examples=[
        Example(
            "How many e-bikes are free on 1 December?", {"kind": "e-bike", "day": "2026-12-01"}
        ),
        "Do you have a cargo bike left on Saturday?",
    ],
)
def bikes_free(kind: Kind, day: date) -> Free:
    """Says how many bikes of a kind are free on a day.

    Args:
        kind: which bikes.
        day: the day.
    """
    return Free(kind, day, FLEET[kind] - day.day % 4)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    cost=reservation_price,
    examples=["Reserve two city bikes for Sunday.", "We would like a cargo bike on 12 May."],
)
def reserve_bikes(kind: Kind, day: date, count: Count, context: Context) -> Reservation:
    """Keeps bikes for a day; they are paid at the counter.

    Args:
        kind: which bikes.
        day: the day.
        count: how many.
    """
    return Reservation("FB-20417", kind, day, count)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Keep my bike one day longer, FB-20417.", "Can I extend my rental to Friday?"],
)
def extend_rental(number: Number, until: date) -> Noted:
    """Lets a rental end on a later day.

    Args:
        number: of the reservation.
        until: the new last day.
    """
    return Noted(number, f"until {until}")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["Cancel FB-20417.", "We are not coming, take our reservation off the list."],
)
def cancel_reservation(number: Number) -> Noted:
    """Cancels a reservation.

    Args:
        number: of the reservation.
    """
    return Noted(number, "cancelled")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["The brake of FB-20417 is broken.", "My tyre is flat, I stand at the lighthouse."],
)
def report_fault(
    text: Annotated[str, Meta(min_length=3, max_length=500)], number: Number | None = None
) -> Noted:
    """Tells the workshop about a fault of a rented bike.

    Args:
        text: what is wrong, and where the bike is.
        number: of the reservation.
    """
    return Noted(number or "FB-00000", text)
