"""Takes one mail from a pipe, as a mail server's ``|command`` delivers it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import BinaryIO

import structlog

from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.mail import UnreadableMail

TAKEN = os.EX_OK
UNREADABLE = os.EX_DATAERR
NO_SUCH_ADDRESS = os.EX_NOUSER
AGAIN = os.EX_TEMPFAIL
VARIABLES = ("ORIGINAL_RECIPIENT", "RECIPIENT")
"""Where Postfix and others name the address that a mail was sent to."""

_log = structlog.get_logger()


async def deliver(
    inbox: Inbox,
    stream: BinaryIO,
    *,
    max_bytes: int,
    recipients: Sequence[str] = (),
    environment: Mapping[str, str],
) -> int:
    """Store the mail of a stream, and return an exit status (sysexits.h).

    Parameters:
        max_bytes: the largest mail.
        recipients: as the command was called with; otherwise the environment names them, or the
            mail's headers.
    """
    named = tuple(recipients) or tuple(
        environment[name] for name in VARIABLES if environment.get(name)
    )
    if named and not any(inbox.is_own(one) for one in named):
        return NO_SUCH_ADDRESS
    data = await asyncio.to_thread(stream.read, max_bytes + 1)
    try:
        await inbox.accept(_without_envelope_line(data), named)
    except UnreadableMail:
        return UNREADABLE
    except Exception as error:  # noqa: BLE001 -- the mail server keeps it and tries again
        _log.warning("mail_not_stored", error=type(error).__name__)
        return AGAIN
    return TAKEN


def _without_envelope_line(data: bytes) -> bytes:
    """Drop the line ``From sender date`` that some mail servers write first."""
    if data.startswith(b"From "):
        return data.partition(b"\n")[2]
    return data
