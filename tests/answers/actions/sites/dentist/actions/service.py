"""What patients can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Text = Annotated[str, Meta(min_length=2, max_length=300)]
Treatment = Literal["check-up", "cleaning", "filling", "whitening"]
Clock = Annotated[str, Meta(pattern=r"^\d\d:\d\d$", description="Such as 18:30.")]
Number = Annotated[str, Meta(pattern=r"^D-\d{4}$", description="Such as D-4410.")]


class Done(Struct, frozen=True):
    """What was found or noted."""

    text: str


@action(
    open_to="anyone",
    examples=[
        "Is there anything free on Thursday?",
        "When could I come for a cleaning on 12 May?",
    ],
)
def free_times(day: date, treatment: Treatment = "check-up") -> Done:
    """Says when a dentist has time on a day."""
    return Done("free_times")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "I need an appointment for a filling",
        "Book me a check-up on Monday at 9",
    ],
)
def book_visit(treatment: Treatment, day: date, at: Clock) -> Done:
    """Books an appointment.

    Parameters:
        at: when it begins.
    """
    return Done("book_visit")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "Cancel my appointment D-4410",
        "I can not come to D-4410",
    ],
)
def cancel_visit(number: Number) -> Done:
    """Cancels an appointment."""
    return Done("cancel_visit")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "Move D-4410 to Friday",
        "Can D-4410 be on another day?",
    ],
)
def move_visit(number: Number, day: date) -> Done:
    """Moves an appointment to another day."""
    return Done("move_visit")


@action(
    open_to="anyone",
    examples=[
        "When is my appointment D-4410?",
    ],
)
def my_visits(number: Number) -> Done:
    """Says when an appointment is."""
    return Done("my_visits")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "My tooth hurts a lot",
        "I have broken a tooth",
    ],
)
def report_pain(complaint: Text) -> Done:
    """Tells the dentist about pain, who calls back."""
    return Done("report_pain")
