"""What the club does: it lists free courts, books them, and cancels bookings."""

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal, get_args
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct

from aitp_desk.actions import Context, InvalidRequest, PreconditionFailed, action

BOOKINGS = Path(__file__).with_name("bookings.db")
ZONE = ZoneInfo("Europe/Vienna")
HOURS = [f"{hour:02}:00" for hour in range(8, 22)]
Court = Literal["Court 1", "Court 2", "Court 3"]


@contextmanager
def opened() -> Iterator[sqlite3.Connection]:
    """Open the bookings in one transaction; an exception undoes it."""
    with closing(sqlite3.connect(BOOKINGS, isolation_level=None)) as bookings:
        bookings.execute("BEGIN IMMEDIATE")
        with bookings:
            bookings.execute(
                "CREATE TABLE IF NOT EXISTS bookings (call_id TEXT PRIMARY KEY, code TEXT UNIQUE,"
                " court TEXT, day TEXT, hour TEXT, name TEXT, email TEXT, cancelled INT DEFAULT 0)"
            )
            yield bookings


def is_taken(bookings: sqlite3.Connection, court: str, day: date, hour: str) -> bool:
    found = bookings.execute(
        "SELECT 1 FROM bookings WHERE court = ? AND day = ? AND hour = ? AND NOT cancelled",
        (court, day.isoformat(), hour),
    )
    return found.fetchone() is not None


class FreeCourts(Struct):
    """The hours of a day at which courts are free.

    Parameters:
        hours: when an hour may begin, by court.
    """

    day: date
    hours: dict[str, list[str]]


def say_free(free: FreeCourts) -> str:
    lines = [f"{court}: {', '.join(hours) or 'none'}" for court, hours in free.hours.items()]
    return "\n".join((f"Free on {free.day:%A}, {free.day}:", *lines))


@action(open_to="anyone", says=say_free, examples=["Which courts are free tomorrow?"])
def free_courts(day: date) -> FreeCourts:
    """Which courts are free on a day, hour by hour.

    Args:
        day: the day.
    """
    with opened() as bookings:
        free = {
            court: [hour for hour in HOURS if not is_taken(bookings, court, day, hour)]
            for court in get_args(Court)
        }
    return FreeCourts(day, free)


Hour = Annotated[
    str,
    Meta(
        pattern=r"^(0[89]|1\d|2[01]):00(:00)?$",
        description="By the club's clock, 08:00 to 21:00.",
        extra_json_schema={"format": "partial-time"},  # a text may say 6pm
    ),
]
Email = Annotated[
    str, Meta(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", extra_json_schema={"format": "email"})
]


class Booking(Struct):
    """A court that is booked for an hour.

    Parameters:
        code: cancels the booking.
    """

    code: str
    court: str
    day: date
    hour: str


def price(hour: Hour) -> str:
    return "20.00 EUR" if hour >= "17:00" else "16.00 EUR"


def say_booking(booking: Booking) -> str:
    return (
        f"{booking.court} is booked for {booking.day:%A}, {booking.day}, at {booking.hour}."
        f" To cancel it, name the code {booking.code}."
    )


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    idempotent=True,
    cost=price,
    says=say_booking,
    examples=["Please book Court 2 tomorrow at 6pm, name: Ada Lovelace, ada@people.example"],
)
def book_court(
    court: Court,
    day: date,
    hour: Hour,
    name: Annotated[str, Meta(min_length=2, max_length=80)],
    email: Email,
    context: Context,
) -> Booking:
    """Books a court for an hour. You pay in the clubhouse when you come.

    Args:
        court: which one.
        day: today, or one of the next 14 days.
        hour: when the hour begins.
        name: who comes.
        email: a mail address of who comes.
    """
    code, hour = f"RTC-{secrets.randbelow(10**8):08}", hour[:5]
    with opened() as bookings:
        known = bookings.execute(
            "SELECT code FROM bookings WHERE call_id = ?", (context.call_id,)
        ).fetchone()
        if known is not None:  # the call was repeated
            return Booking(known[0], court, day, hour)
        if is_taken(bookings, court, day, hour):  # another caller was faster
            raise PreconditionFailed(f"{court} is booked at {hour} on {day}.", param="is_free")
        bookings.execute(
            "INSERT INTO bookings VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
            (context.call_id, code, court, day.isoformat(), hour, name, email),
        )
    return Booking(code, court, day, hour)


@book_court.requires("is_soon", "It is today or within 14 days, and has not begun.")
def is_soon(day: date, hour: Hour, context: Context) -> str | None:
    now = context.now.astimezone(ZONE)
    begins = datetime.fromisoformat(f"{day} {hour}").replace(tzinfo=ZONE)
    if not now < begins or day > now.date() + timedelta(days=14):
        return f"Courts are booked from now until {now.date() + timedelta(days=14)}."
    return None


@book_court.requires(
    "is_free", "Nobody has booked it.", recovery="Choose another hour.", actions=["free_courts"]
)
def is_free(court: Court, day: date, hour: Hour) -> str | None:
    with opened() as bookings:
        if is_taken(bookings, court, day, hour[:5]):
            return f"{court} is booked at {hour[:5]} on {day}."
    return None


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    idempotent=True,
    says=lambda booking: f"The booking {booking.code} is cancelled. You pay nothing.",
    examples=["Please cancel my booking RTC-01234567"],
)
def cancel_booking(code: Annotated[str, Meta(pattern=r"^RTC-\d{8}$")]) -> Booking:
    """Cancels a booking. One that is cancelled stays so.

    Args:
        code: of the booking, such as RTC-01234567.
    """
    with opened() as bookings:
        found = bookings.execute(
            "UPDATE bookings SET cancelled = 1 WHERE code = ? RETURNING court, day, hour", (code,)
        ).fetchone()
    if found is None:
        raise InvalidRequest(f"There is no booking {code}.", param="code")
    return Booking(code, found[0], date.fromisoformat(found[1]), found[2])
