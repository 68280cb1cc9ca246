"""Visits to a store: appointments with a boot fitter during opening hours."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct

from aitp_desk.actions import Context, PreconditionFailed, action

from .database import changing, reading
from .orders import Email
from .pricing import Store
from .rules import rule

SUNDAY = 6
Time = Annotated[
    str,
    Meta(
        pattern=r"^([01]\d|2[0-3]):[0-5]\d(:00)?$",
        description="By the store's clock, such as 16:30.",
        extra_json_schema={"format": "partial-time"},  # the same format finds 4:30pm in text
    ),
]


class Visit(Struct, frozen=True):
    """A visit that was booked.

    Parameters:
        id: the number to name at the store.
        day: the day.
        starts, ends: local time at the store.
        telephone: of the store, to call the visit off.
    """

    id: str
    store: Store
    day: date
    starts: str
    ends: str
    telephone: str


def tell_visit(visit: Visit) -> str:
    return (
        f"Visit {visit.id}: {visit.store}, {visit.day:%A} {visit.day}, {visit.starts} to"
        f" {visit.ends}. To call it off, ring {visit.telephone}."
    )


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    idempotent=True,
    says=tell_visit,
    examples=["A boot fitting in Bend next Friday at 4:30pm, kai@customer.example."],
)
def book_visit(store: Store, day: date, time: Time, email: Email, context: Context) -> Visit:
    """Books half an hour with a boot fitter in a store. It costs nothing.

    Visits begin from the next day on, within the opening hours. One is called off by telephone.

    Args:
        store: which one.
        day: the day of the visit.
        time: when it begins.
        email: a mail address of who comes.
    """
    with changing(context.now) as shop:
        if _visit_of_call(shop, context.call_id) is None:
            # another call may have been faster
            if why := why_taken(shop, store, day, time):
                raise PreconditionFailed(why, param="is_free")
            shop.execute(
                "INSERT INTO visits (call_id, store, day, starts, email) VALUES (?, ?, ?, ?, ?)",
                (context.call_id, store, day.isoformat(), time[:5], email),
            )
        known = _visit_of_call(shop, context.call_id)
        ends = _at(day, time) + _length(shop)
    return Visit(
        f"V{known['id']:06}", store, day, known["starts"], f"{ends:%H:%M}", known["telephone"]
    )


@book_visit.requires(
    "is_open",
    "The store is open during the whole visit, which is at least one day and at most some weeks"
    " ahead.",
    recovery="Choose a time within the opening hours, which are on the page of the stores.",
)
def is_open(store: Store, day: date, time: Time, context: Context) -> str | None:
    with reading(context.now) as shop:
        ahead = int(rule(shop, "visit_days_ahead"))
        today = _today(shop, store, context.now)
        if not today < day <= today + timedelta(days=ahead):
            return f"Visits can be booked from tomorrow on, for {ahead} days."
        hours = opening_hours(shop, store, day)
        if hours is None:
            return f"{store} is closed on {day:%A}, {day}."
        opens, closes = (_at(day, text) for text in hours)
        if not opens <= _at(day, time) <= closes - _length(shop):
            return f"On {day:%A}, {day}, {store} is open from {hours[0]} to {hours[1]}."
    return None


@book_visit.requires("is_free", "The time is not booked yet.", recovery="Choose another time.")
def is_free(store: Store, day: date, time: Time, context: Context) -> str | None:
    with reading(context.now) as shop:
        return why_taken(shop, store, day, time)


def why_taken(shop: sqlite3.Connection, store: Store, day: date, time: str) -> str | None:
    """Return why the fitter of a store is busy at a time; None if not."""
    for row in shop.execute(
        "SELECT starts FROM visits WHERE store = ? AND day = ?", (store, day.isoformat())
    ):
        if abs(_at(day, row["starts"]) - _at(day, time)) < _length(shop):
            return f"The fitter in {store} has a visit at {row['starts']} on {day}."
    return None


def opening_hours(shop: sqlite3.Connection, store: Store, day: date) -> tuple[str, str] | None:
    """Return a store's opening and closing time on a day; None if it is closed."""
    holiday = next(
        (row for row in shop.execute("SELECT * FROM holidays") if _is_on(row, day)), None
    )
    special = "" if holiday is None else holiday["hours"]
    weekday = SUNDAY if special == "sunday" else day.weekday()
    row = shop.execute(
        "SELECT opens, closes FROM opening_hours WHERE store = ? AND weekday = ?", (store, weekday)
    ).fetchone()
    if row is None or special == "closed":
        return None
    closes = row["closes"] if special in {"", "sunday"} else min(row["closes"], special)
    return row["opens"], closes


def _is_on(holiday: sqlite3.Row, day: date) -> bool:
    if holiday["month"] != day.month:
        return False
    if holiday["day"] is not None:
        return bool(holiday["day"] == day.day)
    is_last = (day + timedelta(days=7)).month != day.month
    return holiday["weekday"] == day.weekday() and (
        is_last if holiday["nth"] == -1 else holiday["nth"] == (day.day + 6) // 7
    )


def _today(shop: sqlite3.Connection, store: Store, now: datetime) -> date:
    """Return today's date at a store."""
    found = shop.execute("SELECT timezone FROM stores WHERE name = ?", (store,)).fetchone()
    return now.astimezone(ZoneInfo(found["timezone"])).date()


def _visit_of_call(shop: sqlite3.Connection, call_id: str) -> Any:
    return shop.execute(
        "SELECT visits.*, telephone FROM visits JOIN stores ON stores.name = store"
        " WHERE call_id = ?",
        (call_id,),
    ).fetchone()


def _at(day: date, text: str) -> datetime:
    return datetime.combine(day, time_of_day.fromisoformat(text))


def _length(shop: sqlite3.Connection) -> timedelta:
    return timedelta(minutes=int(rule(shop, "visit_minutes")))
