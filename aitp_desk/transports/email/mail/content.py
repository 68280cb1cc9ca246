"""Collects the text and the files of a mail from its parts.

Of alternatives, the plain text counts; the HTML only where the plain text is missing or empty.
Source: RFC 2046 (multipart), RFC 2183 (disposition), RFC 2392 (inline pictures).
"""

from __future__ import annotations

import re

from aitp_desk.model.conversation.file import TEXT, UNKNOWN, clean_name, sniff
from aitp_desk.transports.email.mail.bounds import Bounds
from aitp_desk.transports.email.mail.calendar import is_calendar_reply
from aitp_desk.transports.email.mail.charset import decode
from aitp_desk.transports.email.mail.headers import decode_words
from aitp_desk.transports.email.mail.html_text import MailReader
from aitp_desk.transports.email.mail.message import Attachment, Refusal, RefusedPart
from aitp_desk.transports.email.mail.soft_breaks import join_flowed
from aitp_desk.transports.email.mail.structure import Part

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x84\x86-\x9f]")
_TNEF = b"\x78\x9f\x3e\x22"
_WINDOWS, _UNIX, _SCRIPT = (
    "application/x-msdownload",
    "application/x-executable",
    "application/x-sh",
)
_PROGRAMS = (
    (b"MZ", _WINDOWS),
    (b"\x7fELF", _UNIX),
    *((begin, _UNIX) for begin in (b"\xfe\xed\xfa", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe")),
)
"""How programs begin."""
_RUN = {
    **dict.fromkeys(
        "bat chm cmd com cpl dll exe hta jar js jse lnk msc msi msp pif ps1 reg scr sct vb vbe vbs"
        " wsc wsf wsh".split(),
        _WINDOWS,
    ),
    **dict.fromkeys("apk app run".split(), _UNIX),
    **dict.fromkeys("bash command csh sh zsh".split(), _SCRIPT),
}
"""What systems run by the end of its name, whatever is in it."""
_TNEF_TYPES = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
_SIGNATURE_TYPES = frozenset(
    {
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "application/pgp-signature",
        "application/pgp-keys",
    }
)
_ENCRYPTED_TYPES = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_REPORT_TYPES = frozenset({"message/delivery-status", "message/disposition-notification"})
_STUB = re.compile(
    r"html|browser|navigat(?:eur|ore)|navegador|браузер|ブラウザ|浏览器", re.IGNORECASE
)
"""What a short plain text names that only says where to read the mail. One that a person wrote says
the same as the HTML, which is read then."""
_SHORT = 400


class _Block:
    """Texts that stand for each other: those of a ``multipart/alternative``, or one alone."""

    def __init__(self, alternative: Part | None) -> None:
        self.alternative = alternative
        self.plain: list[str] = []
        self.html: list[str] = []

    @property
    def is_html(self) -> bool:
        """Whether the plain text says nothing, or only that the mail is HTML."""
        text = "\n".join(self.plain).strip()
        is_stub = len(text) < _SHORT and (not text or _STUB.search(text) is not None)
        return bool(self.html) and is_stub


class Content:
    """What the parts of a mail hold.

    Attributes:
        attachments: files and pictures, in their order.
        refused: parts that cannot be used.
        is_calendar_reply: whether a calendar answers an invitation.
        is_cut: whether a text was longer than is read.
    """

    def __init__(self, mail: Part, bounds: Bounds) -> None:
        self._bounds = bounds
        self._blocks: list[_Block] = []
        self._plain_size = 0
        self._html_size = 0
        self.attachments: list[Attachment] = []
        self.refused: list[RefusedPart] = []
        self.is_calendar_reply = False
        self.is_cut = False
        if mail.declared_type == "multipart/encrypted":
            self._refuse_encrypted("encrypted.asc")
            return
        for part in mail.walk_parts():
            if not part.is_multipart():
                self._add(part)

    @property
    def has_other_form(self) -> bool:
        """Whether the mail has HTML next to a plain text that says the same."""
        return any(block.html and not block.is_html for block in self._blocks)

    def read_text(self, *, prefers_html: bool = False) -> str:
        """Return the text with marks, one block below the other."""
        texts: list[str] = []
        for block in self._blocks:
            if block.is_html or (prefers_html and block.html):
                texts += map(self._read_html, block.html)
            else:
                texts += block.plain
        return "\n".join(texts)

    def _read_html(self, html: str) -> str:
        text, is_cut = MailReader().read(html, self._bounds.html)
        self.is_cut = self.is_cut or is_cut
        return text

    def _add(self, part: Part) -> None:
        kind = part.declared_type
        disposition = part.read_field("content-disposition").partition(";")[0].strip().lower()
        name = self._read_name(part)
        if kind in _SIGNATURE_TYPES or kind in _REPORT_TYPES:
            return
        if kind in _ENCRYPTED_TYPES and part.read_parameter("smime-type") != "signed-data":
            self._refuse_encrypted(name)
            return
        is_text = kind in {"text/plain", "text/html"} or _is_bare(part)
        is_text = is_text and disposition != "attachment"
        if is_text and not (name and self._blocks and disposition == "inline"):
            self._add_text(part, is_html=kind == "text/html")
            return
        self._add_file(part, name)

    def _add_text(self, part: Part, *, is_html: bool) -> None:
        data = part.read_bytes()
        used = self._html_size if is_html else self._plain_size
        room = (self._bounds.html if is_html else self._bounds.text) - used
        if room <= 0:
            self.is_cut = self.is_cut or bool(data.strip())
            return
        if len(data) > room * 4:  # no character has more bytes
            data, self.is_cut = data[: room * 4], True
        text = clean_text(decode(data, part.read_parameter("charset")))
        last = self._blocks[-1] if self._blocks else None
        if last is None or part.alternative is None or part.alternative is not last.alternative:
            last = _Block(part.alternative)
            self._blocks.append(last)
        if is_html:
            self.is_cut = self.is_cut or len(text) > room
            text = text[:room]
            self._html_size += len(text)
            last.html.append(text)
            return
        if len(text) > room:
            text, self.is_cut = text[:room], True
        if part.read_parameter("format").lower() == "flowed":
            text = join_flowed(text, delete_space=part.read_parameter("delsp").lower() == "yes")
        self._plain_size += len(text)
        last.plain.append(text)

    def _add_file(self, part: Part, name: str) -> None:
        data = part.read_bytes()
        kind = part.declared_type
        if kind in _TNEF_TYPES or data.startswith(_TNEF):
            self.refused.append(RefusedPart(clean_name(name or "winmail.dat"), Refusal.WINMAIL))
            return
        if kind == "text/calendar":
            text = decode(data[: 4 * self._bounds.text], part.read_parameter("charset"))
            self.is_calendar_reply = self.is_calendar_reply or is_calendar_reply(text)
        if not data.strip():
            return
        name = clean_name(name or _default_name(kind, len(self.attachments) + 1))
        self.attachments.append(
            Attachment(
                name,
                kind if kind.startswith("message/") else _detect_type(data, name),
                data,
            )
        )

    def _refuse_encrypted(self, name: str) -> None:
        self.refused.append(RefusedPart(clean_name(name or "smime.p7m"), Refusal.ENCRYPTED))

    @staticmethod
    def _read_name(part: Part) -> str:
        """Return a file's name, which some programs encode against RFC 2231."""
        name = part.read_parameter("filename", "content-disposition") or part.read_parameter("name")
        return decode_words(name)


def _is_bare(part: Part) -> bool:
    """Return whether a multipart is a text without parts."""
    if part.is_multipart() or not part.declared_type.startswith("multipart/"):
        return False
    data = part.read_bytes().lstrip()
    return not data.startswith(b"--") and sniff(data) == TEXT


def clean_text(text: str) -> str:
    """Return a text with line feeds only, without control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", text) if _CONTROLS.search(text) else text
    return text.replace("\x85", "\n").replace("\u2028", "\n").replace("\u2029", "\n")


def _detect_type(data: bytes, name: str) -> str:
    """Return the type of a file: of a program by its bytes or by what systems run of that name."""
    kind = sniff(data)
    if kind == UNKNOWN:
        kind = next((found for begin, found in _PROGRAMS if data.startswith(begin)), kind)
    if kind == TEXT and data.startswith(b"#!"):
        return _SCRIPT
    ending = name.rpartition(".")[2].lower()
    return _RUN.get(ending, kind) if "." in name else kind


def _default_name(kind: str, number: int) -> str:
    match kind:
        case "message/rfc822":
            return f"mail-{number}.eml"
        case "text/calendar":
            return "invite.ics"
        case _:
            return f"attachment-{number}"
