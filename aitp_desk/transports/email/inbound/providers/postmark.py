"""Postmark's inbound webhook, with the raw mail in its JSON.

Source: postmarkapp.com/developer/webhooks/inbound-webhook. Postmark signs nothing: the proof is
the user name and password in the webhook's URL. It gives up at a 403.
"""

from __future__ import annotations

import base64
import binascii
import hmac

import msgspec

from aitp_desk.model.errors import InvalidRequest, NotAuthenticated
from aitp_desk.transports.base import Delivery, HookResult
from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.inbound.providers.base import take

GIVES_UP = 403


class Notification(msgspec.Struct, frozen=True, rename="pascal"):
    """The members that are read; Postmark may add others."""

    raw_email: str = ""
    original_recipient: str = ""


class PostmarkHook:
    """Reads the webhook's requests.

    Parameters:
        inbox: reads the mails.
        user: in the webhook's URL.
        password: likewise.
    """

    def __init__(self, inbox: Inbox, user: str, password: str) -> None:
        self._inbox = inbox
        self._expected = f"{user}:{password}".encode()

    async def read(self, delivery: Delivery) -> HookResult:
        """Read one request.

        Raises:
            NotAuthenticated: the password is not that of the webhook's URL.
            InvalidRequest: the body is not what Postmark sends.
        """
        check_basic(delivery, self._expected)
        try:
            notification = msgspec.json.decode(delivery.body, type=Notification)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise InvalidRequest("The body is no notification of Postmark.") from None
        if not notification.raw_email:
            raise InvalidRequest(
                "RawEmail is missing. Set “Include raw email content in JSON payload” at Postmark."
            )
        data = notification.raw_email.encode("utf-8", "surrogatepass")
        to = (notification.original_recipient,) if notification.original_recipient else ()
        return await take(self._inbox, data, to, GIVES_UP)


def check_basic(delivery: Delivery, expected: bytes) -> None:
    """Compare the user name and password of a request (RFC 7617), in constant time.

    Raises:
        NotAuthenticated: they are others, or missing.
    """
    scheme, _, word = delivery.headers.get("authorization", "").partition(" ")
    try:
        given = base64.b64decode(word.strip(), validate=True)
    except (binascii.Error, ValueError):
        given = b""
    if scheme.lower() != "basic" or not hmac.compare_digest(given, expected):
        raise NotAuthenticated("The user name or password of the webhook is wrong.")
