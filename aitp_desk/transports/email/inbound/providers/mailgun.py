"""Mailgun's route to a URL that ends with ``mime``: the raw mail in a form.

Source: documentation.mailgun.com, "Receiving Messages via HTTP through a forward() action" and
"Securing Webhooks". The signature covers a time and a random token, and not the mail: a token
counts once, or again with the same mail, at whichever process. Mailgun gives up at a 406.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header

from aitp_desk.model.errors import InvalidRequest, NotAuthenticated
from aitp_desk.transports.base import Delivery, HookResult, Host
from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.inbound.providers.base import take

GIVES_UP = 406
MOST_FIELDS = 100
LONGEST_PROOF = 200
"""How long a name, and what proves a request, may be, in bytes."""


class MailgunHook:
    """Reads the route's requests.

    Parameters:
        inbox: reads the mails.
        host: keeps which mail came with a token.
        key: signs the requests.
        tolerance: how old a signature may be, in seconds.
    """

    def __init__(self, inbox: Inbox, host: Host, key: str, tolerance: int) -> None:
        self._inbox = inbox
        self._host = host
        self._key = key.encode()
        self._tolerance = tolerance

    async def read(self, delivery: Delivery) -> HookResult:
        """Read one request.

        Raises:
            NotAuthenticated: the signature is wrong, too old, or of another mail.
            InvalidRequest: the body is not what Mailgun sends.
        """
        content_type, now = delivery.headers.get("content-type", ""), delivery.now

        def check(fields: Mapping[str, bytes]) -> None:
            self._check_signature(fields, now)

        fields = read_form(content_type, delivery.body, check)
        data = fields.get("body-mime")
        if not data:
            raise InvalidRequest("body-mime is missing. The route's URL must end with mime.")
        await self._check_token(fields["token"], data)
        recipient = fields.get("recipient", b"").decode("utf-8", "replace")
        return await take(self._inbox, data, (recipient,) if recipient else (), GIVES_UP)

    def _check_signature(self, fields: Mapping[str, bytes], now: int) -> None:
        timestamp, token = fields.get("timestamp", b""), fields.get("token", b"")
        expected = hmac.new(self._key, timestamp + token, "sha256").hexdigest().encode()
        given = fields.get("signature", b"").lower()
        if not token or not hmac.compare_digest(expected, given):
            raise NotAuthenticated("The signature is wrong.")
        if len(timestamp) > 12 or not timestamp.isdigit():
            raise NotAuthenticated("The signature has no time.")
        if abs(now - int(timestamp)) > self._tolerance:
            raise NotAuthenticated("The signature is too old.")

    async def _check_token(self, token: bytes, data: bytes) -> None:
        """Refuse a token that came with another mail: it was copied."""
        found = hashlib.sha256(data).digest()
        key = f"mailgun {hashlib.sha256(token).hexdigest()}"
        kept = await self._host.claim_bytes(key, found)
        if not hmac.compare_digest(kept, found):
            raise NotAuthenticated("The signature was used for another mail.")


def read_form(
    content_type: str, body: bytes, check: Callable[[Mapping[str, bytes]], None]
) -> Mapping[str, bytes]:
    """Return the fields of a form, of either kind; the first of several with one name counts.

    Parameters:
        check: raises an error if the fields prove nothing. It is called before a long field is
            decoded, where that takes long.

    Raises:
        InvalidRequest: the body is no form, or has too many fields.
    """
    kind, options = parse_options_header(content_type if content_type.isascii() else "")
    if kind == b"application/x-www-form-urlencoded":
        return _read_urlencoded(body, check)
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 0 < len(boundary) <= 70:
        raise InvalidRequest("The body must be a form.", param="Content-Type")
    if body.count(b"\r\n--" + boundary) > MOST_FIELDS + 1:
        raise InvalidRequest("The form has too many fields.")
    found = _read_parts(boundary, body)
    check(found)
    return found


def _read_parts(boundary: bytes, body: bytes) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}

    def add(name: bytes | None, data: bytes | None) -> None:
        found.setdefault((name or b"").decode("utf-8", "replace"), data or b"")

    def add_file(file: File) -> None:
        file.file_object.seek(0)
        add(file.field_name, file.file_object.read())

    def add_field(field: Field) -> None:
        add(field.field_name, field.value)

    try:
        parser = FormParser(
            "multipart/form-data",
            add_field,
            add_file,
            boundary=boundary,
            config={"MAX_MEMORY_FILE_SIZE": len(body)},  # nothing is written to a disk
        )
        parser.write(body)
        parser.finalize()
    except FormParserError:
        raise InvalidRequest("The form is malformed (RFC 7578).") from None
    return found


def _read_urlencoded(
    body: bytes, check: Callable[[Mapping[str, bytes]], None]
) -> Mapping[str, bytes]:
    pairs = body.split(b"&", MOST_FIELDS)
    if len(pairs) > MOST_FIELDS:
        raise InvalidRequest("The form has too many fields.")
    encoded: dict[str, bytes] = {}
    for pair in pairs:
        name, _, value = pair.partition(b"=")
        if 0 < len(name) <= LONGEST_PROOF:
            encoded.setdefault(_decode(name).decode("latin-1"), value)
    check({n: _decode(value) for n, value in encoded.items() if len(value) <= LONGEST_PROOF})
    return {name: _decode(value) for name, value in encoded.items()}


def _decode(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))
