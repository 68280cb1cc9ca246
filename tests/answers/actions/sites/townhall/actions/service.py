"""What residents can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Text = Annotated[str, Meta(min_length=2, max_length=300)]
Case = Annotated[str, Meta(pattern=r"^E\d{5}$", description="Such as E20417.")]
Office = Literal["passports", "permits", "weddings"]
Plate = Annotated[str, Meta(pattern=r"^[A-Z]{2}\d{2} [A-Z]{3}$", description="Such as AB12 CDE.")]


class Done(Struct, frozen=True):
    """What was found or noted."""

    text: str


@action(
    open_to="anyone",
    examples=[
        "When are the bins emptied in Mill Road?",
        "Which day is my bin collected in Oak Street?",
    ],
)
def bin_days(street: Text) -> Done:
    """Says when the bins of a street are emptied."""
    return Done("bin_days")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "There is a pothole in Oak Street",
        "The street lamp at 5 Mill Road is out",
    ],
)
def report_fault(place: Text, what: Text) -> Done:
    """Reports something broken in the street."""
    return Done("report_fault")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "I want an appointment for a passport",
        "Book me in at permits on Monday",
    ],
)
def book_office(office: Office, day: date) -> Done:
    """Books an appointment at an office."""
    return Done("book_office")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "Cancel my appointment E20417",
    ],
)
def cancel_office(case: Case) -> Done:
    """Cancels an appointment at an office."""
    return Done("cancel_office")


@action(
    open_to="anyone",
    examples=[
        "Is my passport ready? E20417",
        "What is the status of E20417?",
    ],
)
def case_status(case: Case) -> Done:
    """Says how far an application is."""
    return Done("case_status")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "Please collect my old sofa",
        "I have a fridge to be picked up",
    ],
)
def collect_sofa(address: Text, what: Text) -> Done:
    """Orders the collection of large items."""
    return Done("collect_sofa")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=[
        "A parking permit for my visitor AB12 CDE on Friday",
    ],
)
def visitor_permit(plate: Plate, day: date) -> Done:
    """Issues a parking permit for a visitor."""
    return Done("visitor_permit")
