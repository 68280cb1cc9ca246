"""What readers of the library can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Branch = Literal["Mill Road", "Harbour", "Castle Hill"]
Title = Annotated[str, Meta(min_length=2, max_length=200)]
Card = Annotated[str, Meta(pattern=r"^L\d{6}$", description="Such as L204417.")]
HoldNumber = Annotated[str, Meta(pattern=r"^H-\d{4}$", description="Such as H-3310.")]


class Shelf(Struct, frozen=True):
    """Where copies of a title stand.

    Parameters:
        copies: on the shelf now.
    """

    title: str
    copies: int


class Loan(Struct, frozen=True):
    """A title that is out on a card.

    Parameters:
        due: the last day.
    """

    title: str
    due: date


class Noted(Struct, frozen=True):
    """What the library has noted."""

    text: str


@action(
    open_to="anyone",
    examples=[
        "Is Middlemarch on the shelf at Mill Road?",
        "Do you have a copy of The Hobbit in at the moment?",
    ],
)
def copies_on_shelf(title: Title, branch: Branch | None = None) -> Shelf:
    """Says whether a book, film or game is on the shelf.

    Args:
        title: of the book, film or game.
        branch: where to look; everywhere if it is left out.
    """
    return Shelf(title, 2 if branch else 4)


@action(
    examples=["What have I got out on L204417?", "When are my books due back?"],
)
def my_loans(card: Card) -> tuple[Loan, ...]:
    """Lists the loans of a library card, and when they are due.

    Args:
        card: the number of the card.
    """
    return (Loan("Middlemarch", date(2027, 3, 20)),)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Renew my books, L204417.", "I haven't finished, can I have three more weeks?"],
)
def renew_loans(card: Card) -> Noted:
    """Renews everything on a card for three weeks.

    Args:
        card: the number of the card.
    """
    return Noted(f"{card} renewed")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["Put me on the list for The Hobbit.", "Reserve Middlemarch for me at Harbour."],
)
def place_hold(title: Title, branch: Branch, card: Card) -> Noted:
    """Reserves a title and keeps it at a branch for collection.

    Args:
        title: of the book, film or game.
        branch: where it is collected.
        card: the number of the card.
    """
    return Noted(f"{title}: {branch}")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["Cancel my hold H-3310.", "I found the book elsewhere, take me off the list."],
)
def cancel_hold(number: HoldNumber) -> Noted:
    """Cancels a hold on a title.

    Args:
        number: of the hold.
    """
    return Noted(f"{number} cancelled")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Book the study room for Friday at 14:00.", "We need the study room on 4 May."],
)
def book_study_room(day: date, time: str, card: Card) -> Noted:
    """Books the study room at Castle Hill.

    Args:
        day: the day.
        time: when it begins, such as 14:00.
        card: the number of the card.
    """
    return Noted(f"study room: {day} {time}")
