"""Renders requests to sign and their answers as text."""

from __future__ import annotations

from msgspec import UnsetType

from aitp_sign.messages import (
    ApproveSignature,
    Signature,
    SignatureDeclined,
    SignatureResult,
)
from aitp_sign.presentation.display import bound_by, lines_of, one_visible_line, quoted
from aitp_sign.records import Ask, Report, has_signature
from aitp_sign.subjects import Accounts


def tell_ask(ask: Ask, until: int | None) -> str:
    """Render what is to be signed, exactly, and how to reply.

    Parameters:
        until: expiry in Unix seconds; None if the message has none.
    """
    asks = isinstance(ask.subject, Accounts)
    signs = has_signature(ask.subject)
    head = "Asked:" if asks else "To be signed, exactly:" if signs else "To be signed and sent:"
    whose = ask.account or ask.public_key
    lines = [
        one_visible_line(ask.title),
        one_visible_line(ask.description),
        head,
        quoted(lines_of(ask.subject)),
        bound_by(ask.subject, until),
        f"By {one_visible_line(whose)}." if whose else "",
        f"Sign by one of: {', '.join(ask.schemes)}." if ask.schemes else "",
        "To decline, reply: no.",
    ]
    return "\n".join(filter(None, lines))


def tell_signature(signature: Signature) -> str:
    """Render a signature."""
    by = one_visible_line(signature.account or signature.public_key)
    return f"Signed by {signature.scheme}{f', {by}' if by else ''}: {signature.signature}"


def tell_declined(declined: SignatureDeclined) -> str:
    """Render a refusal."""
    note = one_visible_line(declined.note)
    return f"Not signed: {note}" if note else "Not signed."


def tell_approval(given: ApproveSignature) -> str:
    """Render an operator's decision."""
    return "The site may sign this." if given.agree else "The site must not sign this."


def tell_result(result: SignatureResult) -> str:
    """Render the result of a signature."""
    if result.result == "failure":
        return f"Not signed: {one_visible_line(result.message)}"
    scheme = "" if isinstance(result.scheme, UnsetType) else f" ({result.scheme})"
    by = one_visible_line(result.public_key or result.account)
    if not result.account or not result.public_key:
        return f"Valid signature{scheme} by {by}."
    account = one_visible_line(result.account)
    if result.account_proved:
        return f"Valid signature{scheme} by {account}, with the key {by}."
    return (
        f"Valid signature{scheme} by the key {by}. That this is a key of {account} is not proved."
    )


def tell_report(report: Report) -> str:
    """Render a report as a claim that the desk has not verified."""
    details = ", ".join(map(one_visible_line, report.told)) or "none"
    return f"{report.what}: {details}. The desk has not verified this."
