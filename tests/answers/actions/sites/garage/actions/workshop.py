"""What customers of the workshop can have done."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import Context, Money, action

Work = Literal["service", "tyre change", "brakes", "inspection"]
Job = Annotated[str, Meta(pattern=r"^J\d{5}$", description="Such as J40218.")]
Plate = Annotated[str, Meta(min_length=2, max_length=10)]
Email = Annotated[str, Meta(max_length=254, extra_json_schema={"format": "email"})]


class State(Struct, frozen=True):
    """How far the work is."""

    job: str
    state: str


class Estimate(Struct, frozen=True):
    """What work costs."""

    work: Work
    price: Decimal


class Noted(Struct, frozen=True):
    """What the workshop has noted."""

    text: str


def loan_price(days: int, context: Context) -> Money:
    return Money(Decimal(28) * days, "GBP")


@action(
    open_to="anyone",
    examples=["Is my car ready? J40218", "How far are you with the brakes?"],
)
def job_status(job: Job) -> State:
    """Says how far the work on a car is.

    Args:
        job: the number on the slip.
    """
    return State(job, "in work")


@action(
    open_to="anyone",
    examples=["What would new brakes cost for a Corsa?", "Estimate for a service, please."],
)
def estimate_work(work: Work, model: Annotated[str, Meta(min_length=2, max_length=60)]) -> Estimate:
    """Estimates what work on a car costs.

    Args:
        work: what is done.
        model: of the car.
    """
    return Estimate(work, Decimal(240))


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["Book my Golf in for a service on 3 May.", "The winter tyres have to go on."],
)
def book_work(work: Work, day: date, plate: Plate, email: Email) -> Noted:
    """Books a car in at the workshop.

    Args:
        work: what is to be done.
        day: the day.
        plate: of the car.
        email: a mail address of its owner.
    """
    return Noted(f"{work}: {day}")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Move J40218 to Thursday.", "I can't bring the car on Monday, what about Tuesday?"],
)
def move_work(job: Job, day: date) -> Noted:
    """Moves a booking of the workshop to another day.

    Args:
        job: the number on the slip.
        day: the new day.
    """
    return Noted(f"{job}: {day}")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    cost=loan_price,
    examples=["I need a loan car for two days.", "Have a courtesy car for me on Friday."],
)
def loan_car(day: date, days: Annotated[int, Meta(ge=1, le=14)], context: Context) -> Noted:
    """Lends a car while the customer's own is in the workshop.

    Args:
        day: the first day.
        days: how many.
    """
    return Noted(f"{day}: {days}")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["Go ahead with J40218.", "The estimate is fine, please do the work."],
)
def approve_work(job: Job) -> Noted:
    """Approves an estimate, so that the work begins.

    Args:
        job: the number on the slip.
    """
    return Noted(f"{job} approved")
