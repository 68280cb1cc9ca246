"""Renders messages on channels and authorisations as text."""

from __future__ import annotations

from aitp_desk.capability import Part, one_line
from aitp_payments.ledger import messages as asked


def tell(part: Part) -> str | None:
    """Render a message; None for other messages."""
    given = {
        name: one_line(value) if isinstance(value, str) else value
        for name, value in part.given[part.key].items()
    }
    named = given.get("channel_id") or given.get("authorization_id") or given.get("account", "")
    amount = f"{given.get('amount', '')} {given.get('currency', '')}".strip()
    match part.content:
        case asked.OpenChannel():
            return f"Please open the payment channel {named} with {amount}."
        case asked.TopUpChannel():
            return f"Please add {amount} to the payment channel {named}."
        case asked.CloseChannel():
            return f"Please close the payment channel {named}; the rest goes back to my account."
        case asked.Authorize():
            return f"You may capture up to {amount} until {given['expiration']} ({named})."
        case asked.Draw():
            drawn = given.get("total") or given.get("amount", "")
            return f"{drawn} may be drawn from {named}."
        case asked.Capture():
            return f"Capture {amount or 'what was drawn'} from {named}."
        case asked.Release():
            return f"Release the authorisation {named}."
        case asked.RequestStatement():
            return f"Please send the state of {named}."
        case asked.Channel() | asked.Authorization():
            return _stands(part, named)
        case asked.Statement(account=account, balance=balance, currency=currency):
            return f"{account} holds {balance} {currency}."
        case asked.NotBookedMessage(message=message):
            return f"Nothing was booked. {one_line(message)}"
        case _:
            return None


def _stands(part: Part, named: str) -> str:
    told: asked.Standing = part.content
    kind = "payment channel" if isinstance(told, asked.Channel) else "authorisation"
    if told.state == "closed":
        return (
            f"The {kind} {named} is closed: {told.captured} {told.currency} were captured, and"
            " the rest has gone back."
        )
    drawn = f", and {told.drawn} are drawn from it" if told.drawn.strip("0.") else ""
    return f"The {kind} {named} is open: {told.left} {told.currency} are left{drawn}."
