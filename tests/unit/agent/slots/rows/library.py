"""Actions of a library with a café and rooms, as a site declares them, and what is said to them.

Rows read as in :mod:`.holdout`.
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action


class Branch(Enum):
    """Where the library is."""

    CENTRAL = "central"
    RIVERSIDE = "riverside"
    OLD_TOWN = "old_town"


class Dish(Struct):
    """Something to eat or drink, and how many of it."""

    name: str
    count: Annotated[int, Meta(ge=1, le=20)] = 1


class Copies(Struct):
    """A book and how many of it."""

    isbn: Annotated[str, Meta(pattern=r"^97[89]-\d{10}$")]
    copies: Annotated[int, Meta(ge=1)]


@action(open_to="anyone")
def renew_loan(
    card: Annotated[str, Meta(pattern=r"^L\d{7}$")], weeks: Annotated[int, Meta(ge=1, le=4)] = 2
) -> str:
    """Renews what is lent on a card.

    Args:
        card: the number of the library card.
        weeks: for how many weeks.
    """
    return f"{card} {weeks}"


@action(open_to="anyone")
def reserve_room(
    branch: Branch,
    day: date,
    start: Annotated[time, Meta(tz=True)],
    hours: Annotated[int, Meta(ge=1, le=8)],
    seats: int = 4,
    projector: bool = False,
) -> str:
    """Reserves a room for a group.

    Args:
        branch: which library.
        day: the day of it.
        start: when it begins.
        hours: for how many hours.
        seats: how many people come.
        projector: whether there is to be a projector.
    """
    return f"{branch} {day} {start} {hours} {seats} {projector}"


@action(open_to="anyone")
def order_lunch(
    dishes: Annotated[list[Dish], Meta(min_length=1)],
    pickup: Literal["here", "to go"] = "here",
) -> str:
    """Orders lunch from the café."""
    return f"{dishes} {pickup}"


@action(open_to="anyone")
def suggest_book(title: str, author: str, email: str | None = None) -> str:
    """Suggests a book to buy."""
    return f"{title} {author} {email}"


@action(open_to="anyone")
def donate(amount: Decimal, currency: Literal["EUR", "CHF"] = "EUR") -> str:
    """Gives the library money."""
    return f"{amount} {currency}"


@action(open_to="anyone")
def order_copies(books: list[Copies], school: bool = False) -> str:
    """Orders class sets."""
    return f"{books} {school}"


@action(open_to="anyone")
def remind(at: Annotated[datetime, Meta(tz=True)], by: Literal["e-mail", "text message"]) -> str:
    """Reminds a reader.

    Args:
        at: when.
        by: how.
    """
    return f"{at} {by}"


@action(open_to="anyone")
def search(
    query: Annotated[str, Meta(extra_json_schema={"x-from-text": "rest"})],
    limit: Annotated[int, Meta(ge=1)] = 5,
) -> str:
    """Searches the catalogue."""
    return f"{query} {limit}"


DECLARED = (
    renew_loan,
    reserve_room,
    order_lunch,
    suggest_book,
    donate,
    order_copies,
    remind,
    search,
)

SAID: list[tuple[str, str, dict[str, Any], str]] = [
    ("renew_loan", "Please renew my books, card L1234567", {"card": "L1234567"}, ""),
    ("renew_loan", "renew l1234567 for 3 weeks", {"card": "L1234567", "weeks": 3}, ""),
    ("renew_loan", "L 1234567, four weeks", {"card": "L1234567", "weeks": 4}, ""),
    ("renew_loan", "card number L1234567 6 weeks", {"card": "L1234567"}, "weeks"),
    ("renew_loan", "I borrowed 5 books 3 weeks ago, L1234567", {"card": "L1234567"}, ""),
    ("renew_loan", "renew my loan", {}, "card"),
    ("renew_loan", "L1234567 or L7654321?", {}, "card=L1234567|L7654321"),
    ("renew_loan", "L1234567 one week or two weeks", {"card": "L1234567"}, "weeks=1|2"),
    (
        "reserve_room",
        "a room in the Old Town library on 4 December at 14:00 for 2 hours",
        {"branch": "old_town", "day": "2026-12-04", "start": "14:00:00+01:00", "hours": 2},
        "",
    ),
    (
        "reserve_room",
        "Riverside, tomorrow, 10am, three hours, 6 seats, with a projector",
        {
            "branch": "riverside",
            "day": "2026-11-26",
            "start": "10:00:00+01:00",
            "hours": 3,
            "seats": 6,
            "projector": True,
        },
        "",
    ),
    (
        "reserve_room",
        "central or riverside on Friday",
        {"day": "2026-11-27"},
        "branch=central|riverside start hours",
    ),
    ("reserve_room", "hours: 9, central", {"branch": "central"}, "day start hours"),
    (
        "reserve_room",
        "central, 2026-12-01, 09:30, 1 hour, no projector",
        {
            "branch": "central",
            "day": "2026-12-01",
            "start": "09:30:00+01:00",
            "hours": 1,
            "projector": False,
        },
        "",
    ),
    (
        "reserve_room",
        "central library from 14:00 to 16:00 tomorrow",
        {"branch": "central", "day": "2026-11-26"},
        "start=14:00:00+01:00|16:00:00+01:00 hours",
    ),
    (
        "reserve_room",
        "do you have a projector in central?",
        {"branch": "central"},
        "day start hours",
    ),
    ("reserve_room", "for ten people at central", {"branch": "central"}, "day start hours"),
    (
        "order_lunch",
        "two soups and a coffee",
        {},
        "dishes",
    ),
    (
        "order_lunch",
        "2 tomato soups, 1 green salad, to go",
        {
            "dishes": [
                {"name": "tomato soups", "count": 2},
                {"name": "green salad", "count": 1},
            ],
            "pickup": "to go",
        },
        "",
    ),
    ("order_lunch", "3 x lentil soup", {"dishes": [{"name": "lentil soup", "count": 3}]}, ""),
    ("order_lunch", "what is on the menu?", {}, "dishes"),
    ("order_lunch", "30 soups", {"dishes": [{"name": "soups"}]}, "dishes[0].count"),
    ("order_lunch", "I'd like 1 coffee please", {"dishes": [{"name": "coffee", "count": 1}]}, ""),
    ("order_lunch", "for 2 people: 2 soups", {}, "dishes"),
    ("order_lunch", "2 soups without cream", {}, "dishes"),
    ("suggest_book", "Emma by Jane Austen", {}, "title author"),
    (
        "suggest_book",
        "title: Emma, author: Jane Austen",
        {"title": "Emma", "author": "Jane Austen"},
        "",
    ),
    (
        "suggest_book",
        'title "Emma" author "Jane Austen"',
        {"title": "Emma", "author": "Jane Austen"},
        "",
    ),
    ("suggest_book", "the author is Jane Austen", {"author": "Jane Austen"}, "title"),
    ("suggest_book", '"Emma" please', {}, "title author"),
    ("donate", "I'd like to give 50 euros", {"amount": "50", "currency": "EUR"}, ""),
    ("donate", "CHF 12.50", {"amount": "12.50", "currency": "CHF"}, ""),
    ("donate", "amount: 5", {"amount": "5"}, ""),
    ("donate", "my 2 cents", {}, "amount"),
    ("donate", "between 10 and 20 euros", {"currency": "EUR"}, "amount=10|20"),
    ("donate", "$20", {}, "amount"),
    ("donate", "0.5 EUR", {"amount": "0.5", "currency": "EUR"}, ""),
    ("donate", "twenty francs", {"amount": "20", "currency": "CHF"}, ""),
    (
        "order_copies",
        "30 copies of 978-3161484100 and 978-1402894626 x 5",
        {
            "books": [
                {"isbn": "978-3161484100", "copies": 30},
                {"isbn": "978-1402894626", "copies": 5},
            ]
        },
        "",
    ),
    (
        "order_copies",
        "978 3161484100, 4 copies, for a school",
        {"books": [{"isbn": "978-3161484100", "copies": 4}]},
        "",
    ),
    ("order_copies", "978-3161484100", {"books": [{"isbn": "978-3161484100"}]}, "books[0].copies"),
    (
        "order_copies",
        "school: yes, 2x 978-3161484100",
        {"books": [{"isbn": "978-3161484100", "copies": 2}], "school": True},
        "",
    ),
    (
        "remind",
        "remind me on 3 December at 9:30 by e-mail",
        {"at": "2026-12-03T09:30:00+01:00", "by": "e-mail"},
        "",
    ),
    (
        "remind",
        "text message tomorrow noon",
        {"at": "2026-11-26T12:00:00+01:00", "by": "text message"},
        "",
    ),
    ("remind", "tomorrow at 8", {}, "at by"),
    ("remind", "email or text message?", {}, "at by=e-mail|text message"),
    ("search", "books by Ada Lovelace", {"query": "books by Ada Lovelace"}, ""),
    ("search", "“red” boots, limit: 2", {"query": "“red” boots", "limit": 2}, ""),
    ("search", "", {}, "query"),
]
