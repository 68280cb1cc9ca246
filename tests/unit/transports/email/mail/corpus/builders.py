"""Builds the bytes of mails as programs write them."""

from __future__ import annotations

import base64
import quopri
from email.header import Header
from html import escape

import msgspec

DESK = "desk@shop.example"
NAME = "Der Laden GmbH"


class Sample(msgspec.Struct, frozen=True):
    """A mail and what must be read.

    Parameters:
        text: what the person wrote.
        shows: what must be among the trimmed text; empty: nothing is trimmed.
    """

    name: str
    data: bytes
    text: str
    shows: str = ""


def head(subject: str, *, is_reply: bool = True, **fields: str) -> str:
    """The fields of a mail to the desk."""
    encoded = subject if subject.isascii() else Header(subject, "utf-8").encode()
    lines = [
        "Return-Path: <mia@home.example>",
        "From: Mia Example <mia@home.example>",
        f"To: Shop <{DESK}>",
        f"Subject: {encoded}",
        "Date: Tue, 3 Nov 2026 11:00:00 +0100",
        "Message-ID: <reply.1@home.example>",
        "MIME-Version: 1.0",
    ]
    if is_reply:
        lines += ["In-Reply-To: <out.1@shop.example>", "References: <out.1@shop.example>"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "".join(f"{line}\r\n" for line in lines)


def part(
    text: str,
    kind: str = "text/plain",
    *,
    charset: str = "utf-8",
    encoding: str = "8bit",
    parameters: str = "",
) -> bytes:
    """A part with its fields."""
    data = text.replace("\n", "\r\n").encode(charset, "xmlcharrefreplace")
    match encoding:
        case "base64":
            data = base64.encodebytes(data).replace(b"\n", b"\r\n")
        case "quoted-printable":
            data = quopri.encodestring(data).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            data = data.replace(b"=0D\r\n", b"\r\n").replace(b"=0D=\r\n", b"")
        case _:
            pass
    fields = (
        f"Content-Type: {kind}; charset={charset}{parameters}\r\n"
        f"Content-Transfer-Encoding: {encoding}\r\n\r\n"
    )
    return fields.encode() + data


def file(name: str, kind: str, data: bytes, disposition: str = "attachment", **more: str) -> bytes:
    """A file as a part."""
    fields = (
        f'Content-Type: {kind}; name="{name}"\r\nContent-Transfer-Encoding: base64\r\n'
        f'Content-Disposition: {disposition}; filename="{name}"\r\n'
        + "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in more.items())
    )
    return fields.encode() + b"\r\n" + base64.encodebytes(data)


def multipart(kind: str, *parts: bytes, boundary: str = "=_b1", **parameters: str) -> bytes:
    """A multipart with its fields."""
    more = "".join(f'; {name.replace("_", "-")}="{value}"' for name, value in parameters.items())
    begin = f'Content-Type: multipart/{kind}; boundary="{boundary}"{more}\r\n\r\n'.encode()
    mark = f"\r\n--{boundary}".encode()
    return begin + b"".join(mark + b"\r\n" + data for data in parts) + mark + b"--\r\n"


def mail(fields: str, body: bytes) -> bytes:
    """A mail of its fields and a part."""
    return fields.encode() + body


def quote(text: str, mark: str = "> ") -> str:
    """Quote every line of a text."""
    return "\n".join(f"{mark}{line}".rstrip() for line in text.split("\n"))


def wrap(line: str, width: int = 76) -> str:
    """Break a line between words, as programs do with an attribution."""
    words = line.split(" ")
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return "\n".join(lines)


def fill(template: str, address: str = DESK, name: str = NAME) -> str:
    """An attribution with its name and address."""
    return template.replace("{n}", name).replace("{a}", address)


def divs(text: str) -> str:
    """A text as HTML with a ``div`` a line, as Gmail and Apple Mail write it."""
    return "".join(f"<div>{escape(line) or '<br>'}</div>" for line in text.split("\n"))


def breaks(text: str) -> str:
    """A text as HTML with line breaks."""
    return "<br>\n".join(escape(line) for line in text.split("\n"))


def paragraphs(text: str) -> str:
    """A text as Outlook writes it for the desktop."""
    return "\n".join(
        f"<p class=MsoNormal>{escape(line) or '<o:p>&nbsp;</o:p>'}<o:p></o:p></p>"
        for line in text.split("\n")
    )


def header_block(labels: tuple[str, str, str, str], sent: str, subject: str, bold: str = "") -> str:
    """The header of a quoted mail, as Outlook writes it."""
    values = (f"{NAME} <{DESK}>", sent, "Mia Example <mia@home.example>", subject)
    return "\n".join(
        f"{bold}{label}:{bold} {value}" for label, value in zip(labels, values, strict=True)
    )


def html_header(labels: tuple[str, str, str, str], sent: str, subject: str) -> str:
    """The same in HTML."""
    values = (f"{NAME} &lt;{DESK}&gt;", sent, "Mia Example", escape(subject))
    return "<br>".join(
        f"<b>{label}:</b> {value}" for label, value in zip(labels, values, strict=True)
    )
