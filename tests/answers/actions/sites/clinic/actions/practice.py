"""What patients of the practice can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Who = Literal["Doctor Byrne", "Doctor Okafor", "Nurse Kelly"]
Number = Annotated[str, Meta(pattern=r"^A\d{4}$", description="Such as A3071.")]
Email = Annotated[str, Meta(max_length=254, extra_json_schema={"format": "email"})]


class Times(Struct, frozen=True):
    """When somebody is free."""

    who: Who
    day: date
    times: tuple[str, ...]


class Appointment(Struct, frozen=True):
    """A booked appointment.

    Parameters:
        number: with which it can be cancelled.
    """

    number: str
    who: Who
    day: date
    time: str


class Noted(Struct, frozen=True):
    """What the practice has noted."""

    text: str


class Wait(Struct, frozen=True):
    """How long patients wait now.

    Parameters:
        minutes: without an appointment.
    """

    minutes: int


@action(
    open_to="anyone",
    examples=[
        "When is Doctor Okafor free on Monday?",
        "Any appointment left with the nurse tomorrow?",
    ],
)
def free_times(who: Who, day: date) -> Times:
    """Lists the free appointments of a doctor or the nurse on a day.

    Args:
        who: with whom.
        day: the day.
    """
    return Times(who, day, ("09:15", "11:30"))


@action(
    open_to="anyone",
    examples=["How long is the wait right now?", "Is it busy at the practice at the moment?"],
)
def waiting_time() -> Wait:
    """Says how long patients without an appointment wait at this moment."""
    return Wait(35)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["I need an appointment with Doctor Byrne on Thursday.", "Book me in with the nurse."],
)
def book_appointment(who: Who, day: date, time: str, email: Email) -> Appointment:
    """Books an appointment.

    Args:
        who: with whom.
        day: the day.
        time: when it begins, such as 09:15.
        email: a mail address of the patient.
    """
    return Appointment("A3071", who, day, time)


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["Please cancel appointment A3071.", "I can't make it on Friday, give my slot away."],
)
def cancel_appointment(number: Number) -> Noted:
    """Cancels an appointment.

    Args:
        number: of the appointment.
    """
    return Noted(f"{number} cancelled")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["I am out of my blood pressure tablets.", "Renew my prescription for levothyroxine."],
)
def renew_prescription(
    medicine: Annotated[str, Meta(min_length=2, max_length=100)],
    pharmacy: Annotated[str, Meta(min_length=2, max_length=100)],
    email: Email,
) -> Noted:
    """Asks the doctor to renew a repeat prescription.

    Args:
        medicine: its name and strength.
        pharmacy: where it is collected.
        email: a mail address of the patient.
    """
    return Noted(f"{medicine}: {pharmacy}")
