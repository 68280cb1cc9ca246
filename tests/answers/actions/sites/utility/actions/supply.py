"""What customers of the utility can have done."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Work = Literal["meter", "boiler", "leak"]
Account = Annotated[str, Meta(pattern=r"^N\d{7}$", description="Such as N5520118.")]
Postcode = Annotated[str, Meta(pattern=r"^NM\d \d[A-Z]{2}$", description="Such as NM4 2QT.")]
Reading = Annotated[int, Meta(ge=0, le=999999)]


class Outage(Struct, frozen=True):
    """Whether the supply is out somewhere.

    Parameters:
        back_at: when it is expected back; None if nothing is known to be out.
    """

    postcode: str
    back_at: str | None


class Balance(Struct, frozen=True):
    """What is owed on an account.

    Parameters:
        due: the day on which it is collected.
    """

    account: str
    owed: Decimal
    due: date


class Noted(Struct, frozen=True):
    """What the utility has noted."""

    text: str


@action(
    open_to="anyone",
    examples=["Is there a power cut in NM4 2QT?", "When will the water be back on?"],
)
def outage_status(postcode: Postcode) -> Outage:
    """Says whether electricity or water is out at a postcode, and until when.

    Args:
        postcode: where.
    """
    return Outage(postcode, "18:30")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["The lights went out in our street.", "There is no water in the house, NM4 2QT."],
)
def report_outage(
    text: Annotated[str, Meta(min_length=3, max_length=500)], postcode: Postcode | None = None
) -> Noted:
    """Tells the control room that electricity or water is out.

    Args:
        text: what is out, and since when.
        postcode: where.
    """
    return Noted(text)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["My meter says 48210, account N5520118.", "I want to submit a meter reading."],
)
def submit_reading(account: Account, reading: Reading) -> Noted:
    """Takes the reading of a meter.

    Args:
        account: the number of the account.
        reading: the digits before the comma.
    """
    return Noted(f"{account}: {reading}")


@action(
    examples=["How much do I owe? N5520118", "What is the balance of my account?"],
)
def account_balance(account: Account) -> Balance:
    """Says what is owed on an account, and when it is collected.

    Args:
        account: the number of the account.
    """
    return Balance(account, Decimal("84.20"), date(2027, 3, 15))


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["Send an engineer on Tuesday, the boiler is cold.", "Book a meter exchange."],
)
def book_engineer(work: Work, day: date, account: Account) -> Noted:
    """Books the visit of an engineer.

    Args:
        work: what is to be done.
        day: the day.
        account: the number of the account.
    """
    return Noted(f"{work}: {day}")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["We move out on 31 May, end the contract N5520118.", "Cancel my contract."],
)
def end_contract(account: Account, day: date) -> Noted:
    """Ends a contract on a day.

    Args:
        account: the number of the account.
        day: the last day.
    """
    return Noted(f"{account} ends {day}")
