"""What guests of the hotel can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Kind = Literal["single room", "double room", "family room", "suite"]
Booking = Annotated[str, Meta(pattern=r"^AH-\d{4}$", description="Such as AH-7720.")]
Email = Annotated[str, Meta(max_length=254, extra_json_schema={"format": "email"})]
Text = Annotated[str, Meta(min_length=3, max_length=300)]
Nights = Annotated[int, Meta(ge=1, le=28)]


class Rooms(Struct, frozen=True):
    """How many rooms are free."""

    kind: Kind
    day: date
    free: int


class Noted(Struct, frozen=True):
    """What the hotel has noted."""

    text: str


@action(
    open_to="anyone",
    examples=["Is a double room free on 4 June?", "Do you have anything for the weekend?"],
)
def rooms_free(kind: Kind, day: date) -> Rooms:
    """Says how many rooms of a kind are free for a night.

    Args:
        kind: of the room.
        day: the day of arrival.
    """
    return Rooms(kind, day, 2)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["A family room from Friday for three nights.", "Book the suite for 1 May."],
)
def book_room(kind: Kind, day: date, nights: Nights, email: Email) -> Noted:
    """Books a room.

    Args:
        kind: of the room.
        day: the day of arrival.
        nights: how many.
        email: a mail address of the guest.
    """
    return Noted(f"{kind}: {day}")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["Cancel booking AH-7720.", "Our trip is off, we don't need the room."],
)
def cancel_booking(booking: Booking) -> Noted:
    """Cancels the booking of a room.

    Args:
        booking: its number.
    """
    return Noted(f"{booking} cancelled")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Please send two more pillows to room 12.", "There are no towels in room 31."],
)
def room_service(text: Text, room: Annotated[int, Meta(ge=1, le=60)]) -> Noted:
    """Asks the staff to bring something to a room.

    Args:
        text: what is wanted.
        room: its number.
    """
    return Noted(text)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Wake us at 6:30 tomorrow, room 12.", "I need a wake-up call."],
)
def wake_up_call(room: Annotated[int, Meta(ge=1, le=60)], time: str) -> Noted:
    """Wakes a guest by telephone.

    Args:
        room: its number.
        time: such as 06:30.
    """
    return Noted(f"{room}: {time}")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Send me the invoice of AH-7720.", "I need a receipt for my employer."],
)
def send_invoice(booking: Booking, email: Email) -> Noted:
    """Sends the invoice of a stay by mail.

    Args:
        booking: its number.
        email: where it is sent to.
    """
    return Noted(f"{booking}: {email}")
