"""What senders and receivers of parcels can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Size = Literal["small", "medium", "large"]
Parcel = Annotated[str, Meta(pattern=r"^SW\d{8}$", description="Such as SW40011827.")]
Text = Annotated[str, Meta(min_length=3, max_length=300)]


class Place(Struct, frozen=True):
    """Where a parcel is.

    Parameters:
        expected: the day on which it is delivered.
    """

    parcel: str
    expected: date


class Noted(Struct, frozen=True):
    """What the parcel service has noted."""

    text: str


@action(
    open_to="anyone",
    examples=["Where is SW40011827?", "Is my parcel coming today?"],
)
def track_parcel(parcel: Parcel) -> Place:
    """Says where a parcel is and when it is delivered.

    Args:
        parcel: its number.
    """
    return Place(parcel, date(2027, 3, 2))


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["Pick up a medium parcel on Thursday.", "Can a driver come for my box tomorrow?"],
)
def book_collection(size: Size, day: date) -> Noted:
    """Books a driver who collects a parcel at home.

    Args:
        size: of the parcel.
        day: the day.
    """
    return Noted(f"{size}: {day}")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["Cancel the collection on Thursday.", "The driver need not come."],
)
def cancel_collection(day: date) -> Noted:
    """Cancels the collection of a parcel.

    Args:
        day: the day on which it was booked.
    """
    return Noted(f"{day} cancelled")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Deliver SW40011827 on Friday instead.", "I am not at home, bring it another day."],
)
def change_delivery(parcel: Parcel, day: date) -> Noted:
    """Moves the delivery of a parcel to another day.

    Args:
        parcel: its number.
        day: the new day.
    """
    return Noted(f"{parcel}: {day}")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["SW40011827 arrived damaged.", "The box was open and the lamp is broken."],
)
def report_damage(text: Text, parcel: Parcel | None = None) -> Noted:
    """Reports damage to a parcel.

    Args:
        text: what is damaged.
        parcel: its number.
    """
    return Noted(text)
