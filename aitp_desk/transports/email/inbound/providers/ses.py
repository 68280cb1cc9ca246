"""Mails that Amazon SES publishes to a topic of SNS, which calls the desk.

Sources: Amazon SNS, "Verifying the signatures of Amazon SNS messages" and the JSON formats of
HTTP/HTTPS messages; Amazon SES, "Contents of notifications for Amazon SES email receiving". SNS
delivers again at any status but 2xx and 4xx.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import deque
from datetime import UTC, datetime
from urllib.parse import urlsplit

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from aitp_desk.capability import Request, Send, Unanswered
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated, Unavailable
from aitp_desk.transports.base import Delivery, HookResult
from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.inbound.providers.base import TAKEN, take

GIVES_UP = 403
MOST_CERTIFICATES = 8
MOST_FETCHES, FETCH_SECONDS = 10, 60
"""How many unknown certificates are fetched within so many seconds: anybody can name one."""
_HOST = re.compile(r"sns\.[a-z0-9-]{3,30}\.amazonaws\.com(?:\.cn)?")
_PATH = re.compile(r"/SimpleNotificationService-[A-Za-z0-9]{1,64}\.pem")
_NOTIFICATION = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
_CONFIRMATION = ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
_SIGNED = {
    "Notification": _NOTIFICATION,
    "SubscriptionConfirmation": _CONFIRMATION,
    "UnsubscribeConfirmation": _CONFIRMATION,
}


class Action(msgspec.Struct, frozen=True):
    """How the mail is written: in Base64, or as it is.

    Parameters:
        code: ``encoding`` of the notification.
    """

    code: str = msgspec.field(name="encoding", default="")


class Receipt(msgspec.Struct, frozen=True):
    """Who the mail is for."""

    recipients: tuple[str, ...] = ()
    action: Action = Action()


class Received(msgspec.Struct, frozen=True, rename="camel"):
    """The members of SES's notification that are read."""

    notification_type: str = ""
    receipt: Receipt = Receipt()
    content: str = ""


class SesHook:
    """Reads the requests of SNS.

    Parameters:
        inbox: reads the mails.
        topic: that the desk subscribes to.
        send: fetches certificates, and confirms the subscription.
    """

    def __init__(self, inbox: Inbox, topic: str, send: Send) -> None:
        self._inbox = inbox
        self._topic = topic
        self._send = send
        self._certificates: dict[str, x509.Certificate] = {}
        self._fetched: deque[int] = deque()

    async def read(self, delivery: Delivery) -> HookResult:
        """Read one request.

        Raises:
            NotAuthenticated: the signature is wrong, or the topic is another.
            InvalidRequest: the body is not what SNS sends.
            Unavailable: the certificate or the confirmation cannot be fetched now.
        """
        message = _message(delivery.body)
        if message.get("TopicArn") != self._topic:
            raise NotAuthenticated("The topic is not the one of the settings.")
        await self._check_signature(message, delivery.now)
        kind = message["Type"]
        if kind == "SubscriptionConfirmation":
            await self._confirm(message.get("SubscribeURL", ""))
        if kind != "Notification":
            return HookResult(reply=TAKEN)
        received = _received(message["Message"])
        if received is None:  # such as the test that SES publishes for a new rule
            return HookResult(reply=TAKEN)
        data = _content(received)
        return await take(self._inbox, data, received.receipt.recipients, GIVES_UP)

    async def _check_signature(self, message: dict[str, str], now: int) -> None:
        names = _SIGNED[message["Type"]]
        signed = "".join(f"{name}\n{message[name]}\n" for name in names if name in message)
        algorithms: dict[str, hashes.HashAlgorithm] = {
            "1": hashes.SHA1(),  # noqa: S303 -- what topics sign with by default
            "2": hashes.SHA256(),
        }
        algorithm = algorithms.get(message.get("SignatureVersion", ""))
        url = message.get("SigningCertURL", "")
        certificate = self._certificates.get(url) or await self._fetch(url, now)
        key = certificate.public_key()
        moment = datetime.fromtimestamp(now, UTC)
        is_valid = certificate.not_valid_before_utc <= moment <= certificate.not_valid_after_utc
        if algorithm is None or not isinstance(key, RSAPublicKey) or not is_valid:
            raise NotAuthenticated("The signature cannot be verified.")
        try:
            signature = base64.b64decode(message.get("Signature", ""), validate=True)
            key.verify(signature, signed.encode(), PKCS1v15(), algorithm)
        except (binascii.Error, ValueError, InvalidSignature):
            raise NotAuthenticated("The signature is wrong.") from None
        if url in self._certificates:
            return
        # only what has proven a message is kept: others could push it out
        if len(self._certificates) >= MOST_CERTIFICATES:
            self._certificates.clear()
        self._certificates[url] = certificate

    async def _fetch(self, url: str, now: int) -> x509.Certificate:
        """Return a certificate of SNS: only its own addresses are asked for one."""
        if not is_certificate_url(url):
            raise NotAuthenticated("The certificate's address is not one of Amazon SNS.")
        while self._fetched and self._fetched[0] <= now - FETCH_SECONDS:
            self._fetched.popleft()
        if len(self._fetched) >= MOST_FETCHES:
            raise Unavailable("Too many certificates were asked for; deliver it again later.")
        self._fetched.append(now)
        try:
            return x509.load_pem_x509_certificate(await self._get(url))
        except ValueError:
            raise Unavailable("Amazon's certificate cannot be read now.") from None

    async def _confirm(self, url: str) -> None:
        """Confirm the subscription of the topic, which the signature has proven."""
        parts = urlsplit(url)
        if parts.scheme != "https" or not _HOST.fullmatch(parts.netloc):
            raise InvalidRequest("SubscribeURL is not an address of Amazon SNS.")
        await self._get(url)

    async def _get(self, url: str) -> bytes:
        try:
            response = await self._send(Request(url=url))
        except Unanswered as failure:
            raise Unavailable(failure.reason) from None
        if response.status != 200 or response.url not in {"", url}:
            raise Unavailable(f"Amazon SNS answered {response.status}.")
        return response.body


def is_certificate_url(url: str) -> bool:
    """Whether a URL is one at which Amazon SNS offers its certificates."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return (
        len(url) <= 200
        and parts.scheme == "https"
        and _HOST.fullmatch(parts.netloc) is not None
        and _PATH.fullmatch(parts.path) is not None
        and url == f"https://{parts.netloc}{parts.path}"
    )


def _message(body: bytes) -> dict[str, str]:
    try:
        message = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        texts = {
            name: msgspec.json.decode(value, type=str)
            for name, value in message.items()
            if bytes(value).startswith(b'"')
        }
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("The body is no message of Amazon SNS.") from None
    if texts.get("Type") not in _SIGNED or "Message" not in texts:
        raise InvalidRequest("The body is no message of Amazon SNS.")
    return texts


def _received(message: str) -> Received | None:
    try:
        received = msgspec.json.decode(message, type=Received)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return received if received.notification_type == "Received" else None


def _content(received: Received) -> bytes:
    if not received.content:
        raise InvalidRequest("The notification has no mail. Give the receipt rule an SNS action.")
    if received.receipt.action.code.upper() != "BASE64":
        return received.content.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(received.content, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidRequest("The mail is not in base64.") from None
