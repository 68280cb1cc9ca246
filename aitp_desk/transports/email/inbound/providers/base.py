"""What the webhooks of mail providers have in common."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from aitp_desk.transports.base import HookReply, HookResult
from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.mail import UnreadableMail

_log = structlog.get_logger()
TAKEN = HookReply(status=200, body=b"{}")


async def take(inbox: Inbox, data: bytes, recipients: Sequence[str], refusal: int) -> HookResult:
    """Return the result for a mail that a proven provider has brought.

    Parameters:
        refusal: the status with which the provider gives up, for a mail that nobody can read or
            that is for nobody here.
    """
    refused = HookResult(reply=HookReply(status=refusal, body=b"{}"))
    if recipients and not any(inbox.is_own(one) for one in recipients):
        _log.warning("mail_for_others")
        return refused
    to = tuple(recipients)
    try:
        arrival = await inbox.read(data, to)
    except UnreadableMail as fault:
        _log.warning("mail_unreadable", fault=fault.fault.value)
        found = inbox.read_header(data, to)  # its sender learns of it from the desk
        if found is None:
            return refused
        arrival = found
    return HookResult(events=(arrival.incoming,), kept=arrival.kept, reply=TAKEN)
