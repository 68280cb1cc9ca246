"""What riders can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Text = Annotated[str, Meta(min_length=2, max_length=300)]
Bike = Literal["city bike", "e-bike", "tandem", "cargo bike"]
Shop = Literal["Quay", "Old Mill"]
Number = Annotated[str, Meta(pattern=r"^Q-\d{4}$", description="Such as Q-3310.")]
Count = Annotated[int, Meta(ge=1, le=20)]


class Done(Struct, frozen=True):
    """What was found or noted."""

    text: str


@action(
    open_to="anyone",
    examples=[
        "How many e-bikes are free on 1 December?",
        "Do you have a tandem on Sunday?",
    ],
)
def bikes_free(bike: Bike, day: date, shop: Shop | None = None) -> Done:
    """Says how many bikes are free on a day."""
    return Done("bikes_free")


@action(
    open_to="anyone",
    examples=[
        "Is there a cargo bike at the Quay right now?",
    ],
)
def bikes_in_shop(bike: Bike, shop: Shop) -> Done:
    """Says how many bikes stand in a shop now."""
    return Done("bikes_in_shop")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "I want to rent two city bikes on Saturday",
        "Reserve a tandem for tomorrow",
    ],
)
def rent_bike(bike: Bike, count: Count, day: date) -> Done:
    """Rents bikes for a day."""
    return Done("rent_bike")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "Cancel my rental Q-3310",
        "We do not need Q-3310 any more",
    ],
)
def cancel_rental(number: Number) -> Done:
    """Cancels a rental."""
    return Done("cancel_rental")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "Can I keep Q-3310 until Sunday?",
        "Extend Q-3310 by a day",
    ],
)
def extend_rental(number: Number, until: date) -> Done:
    """Lets riders keep a bike longer."""
    return Done("extend_rental")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "The chain of Q-3310 came off",
        "My bike has a flat tyre",
    ],
)
def report_breakdown(number: Number, what: Text) -> Done:
    """Reports that a bike broke down."""
    return Done("report_breakdown")
