"""What a mail server's refusal means for a message: later, never, or nobody there."""

from __future__ import annotations

import re

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable

_STATUS = re.compile(r"\b([245]\.[0-9]{1,3}\.[0-9]{1,3})\b")
_GONE = frozenset({"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"})
"""No such mailbox or domain, moved, or switched off (RFC 3463)."""
_NO_MAILBOX = frozenset({550, 551, 553})


def failure_of(code: int, text: str, *, is_recipient: bool) -> Failed:
    """Return what a refusal means. Its reason has the server's codes, and none of its words.

    Parameters:
        code: of SMTP.
        text: the server's words, which may hold addresses.
        is_recipient: whether the recipient was refused, rather than the mail.
    """
    found = _STATUS.search(text)
    status = found[1] if found else ""
    shown = f"{code} {status}".strip()
    if not 500 <= code <= 599:
        return TryLater(f"The mail server wants the mail later ({shown}).")
    if status in _GONE or (is_recipient and not status and code in _NO_MAILBOX):
        return Unreachable(f"The mail server knows no such recipient ({shown}).")
    return Refused(f"The mail server does not take this mail ({shown}).")


def is_gone(status: str) -> bool:
    """Whether a bounce's status says that the address is gone."""
    return status in _GONE
