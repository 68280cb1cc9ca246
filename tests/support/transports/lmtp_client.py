"""A mail server's side of LMTP: one answer for each recipient (RFC 2033)."""

from __future__ import annotations

import re
import smtplib
from collections.abc import Sequence

Status = tuple[int, bytes]


def deliver(
    where: tuple[str, int] | str,
    data: bytes,
    recipients: Sequence[str],
    *,
    sender: str = "bounce@people.example",
    protocol: str = "lmtp",
) -> dict[str, Status]:
    """Deliver a mail, and return the last answer for each recipient. It blocks.

    Parameters:
        where: host and port, or the path of a socket.
        protocol: ``smtp`` has one answer for all recipients.
    """
    host, port = (where, 0) if isinstance(where, str) else where
    kind = smtplib.LMTP if protocol == "lmtp" else smtplib.SMTP
    with kind(host, port, timeout=20) as client:
        client.ehlo()
        options = [f"size={len(data)}"] if client.has_extn("size") else []
        status = client.mail(sender, options)
        if status[0] != 250:
            return dict.fromkeys(recipients, status)
        answers = {one: client.rcpt(one) for one in recipients}
        taken = [one for one, answer in answers.items() if answer[0] == 250]
        if not taken:
            client.rset()
            return answers
        assert client.docmd("DATA")[0] == 354
        lines = re.sub(rb"\r?\n", b"\r\n", data)
        quoted = re.sub(rb"(?m)^\.", b"..", lines)
        client.send(quoted.removesuffix(b"\r\n") + b"\r\n.\r\n")
        if protocol == "lmtp":
            return answers | {one: client.getreply() for one in taken}
        return answers | dict.fromkeys(taken, client.getreply())
