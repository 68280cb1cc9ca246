"""No mail takes long: whatever is repeated, the time is proportional to the size."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from aitp_desk.transports.email.mail import UnreadableMail, read_mail
from aitp_desk.transports.email.mail.addresses import read_addresses
from aitp_desk.transports.email.mail.authentication import authenticate
from aitp_desk.transports.email.mail.calendar import read_event
from aitp_desk.transports.email.mail.headers import decode_words
from aitp_desk.transports.email.mail.html_text import read_html
from aitp_desk.transports.email.mail.message import Address
from aitp_desk.transports.email.mail.quotation import divide
from aitp_desk.transports.email.mail.soft_breaks import join_flowed

pytestmark = pytest.mark.slow

Read = Callable[[str], object]
SMALLEST = 30_000
"""Characters; then twice and four times as many."""
LARGEST_RATIO = 9.0
"""Of four times as much: four by the size, sixteen if the time were its square."""
LEAST_SECONDS = 0.004
"""What takes less shows the clock and no ratio."""


def text(source: str) -> object:
    return divide(source, is_reply=True)


def html(source: str) -> object:
    return read_html(source, len(source))


def flowed(source: str) -> object:
    return join_flowed(source, delete_space=True)


def addresses(source: str) -> object:
    return read_addresses(source, 100)


def results(source: str) -> object:
    return authenticate([f"mx; {source}"], "mx", Address("a@b.c"))


TEXTS = (
    *("On ", ">", "-", "_", "*", " ", "\n", ": ", "写道：", "@", "a@", "<", "1", "1:1", "On On\n"),
    *("On 3 Nov 2026 at 10:12, A <a@b.c> wrote:\n", "A wrote:\n> x\n", "A wrote:\nx\n", "> a\nb\n"),
    *("From: a@b.c\n", "From: a\nTo: b\nCc: c\n", "Subject: a\nFrom: b\nDate: c\n\n", "x:\n"),
    *("-----Original Message-----x\n", "---------- Forwarded message\n", "-- \nx\n", "--\n"),
    *(
        "Sent from my iPhone\n",
        "Sent from my iPhone\n\nx\n",
        "this e-mail is confidential ",
        "x\n\n",
    ),
    *(
        "____________________\n",
        "> " + "x" * 70 + "\nxx\n",
        "##- reply above this line x",
        ">>> x\n",
    ),
)
SOURCES = (
    *("<", "</", "<b>", "<div>", "<div>x</p>", "<td>", "<table>", "<p>", "</p>", "<br>", "<li>x"),
    *(
        "<blockquote>x",
        "<!--",
        "<!",
        "<script>",
        "<a ",
        '<a x="',
        "<a x='",
        "<a =",
        "= ",
        "&",
        "&#9",
    ),
    *(
        "&amp;",
        "&#x",
        "<a href='https://a.example'>b",
        "<pre>\n",
        "<div class=yahoo_quoted>x",
        " \n",
    ),
    *("<div style='font-size:0", "<hr id=zwchr>", "<img alt='", "<svg>", "</div>", "<td></div>"),
)
FIELDS = (
    "(",
    ")",
    '"',
    "\\",
    '"\\',
    "<",
    ">",
    "@",
    ",",
    ";",
    ":",
    "=?utf-8?q?",
    "?=",
    "a@b.c,",
    " ",
)
RESULTS = ("(", ")", '"', ";", "=", "dkim=pass ", "dkim=pass;", '"\\', "header.d=b.c ", " ")
LINES = ("SUMMARY;L", ";", '"', ":", 'A;B="', "BEGIN:VEVENT\n", "A:\n ", "\\n")

SHAPES: list[tuple[Read, str, str]] = [
    *((text, "", unit) for unit in TEXTS),
    *((html, "", unit) for unit in SOURCES),
    *((flowed, "", unit) for unit in ("a ", ">", "> a \n", "a \n", ">a \n>>b \n", "-- \n", "\n")),
    *((addresses, "", unit) for unit in FIELDS),
    *((decode_words, "", unit) for unit in FIELDS),
    *((results, "", unit) for unit in RESULTS),
    *((read_event, "BEGIN:VEVENT\n", unit) for unit in LINES),
]


def measure(read: Callable[[int], object], size: int) -> float:
    """The shortest of some times, in seconds of the processor."""
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        read(size)
        best = min(best, time.process_time() - began)
    return best


def ratio(read: Callable[[int], object]) -> float:
    """How much longer four times as much takes; the best of some trials on a busy machine."""
    best = float("inf")
    for _ in range(3):
        large = measure(read, 4 * SMALLEST)
        small = measure(read, SMALLEST) if large > LEAST_SECONDS else large
        best = min(best, large / small)
        if best <= LARGEST_RATIO:
            break
    return best


@pytest.mark.parametrize(
    ("read", "begin", "unit"),
    SHAPES,
    ids=lambda value: getattr(value, "__name__", repr(value)[:24]),
)
def test_the_time_is_proportional_to_what_is_read(read: Read, begin: str, unit: str) -> None:
    assert ratio(lambda size: read(begin + unit * (size // len(unit)))) <= LARGEST_RATIO


HEAD = b"From: a@b.c\nSubject: Re: x\nIn-Reply-To: <a@b>\n"
MIXED = b"Content-Type: multipart/mixed; boundary=b\n\n"
MAILS = {
    "lines": (HEAD + b"\n", b"x\n"),
    "parts": (HEAD + MIXED, b"--b\n\nx\n"),
    "near boundaries": (HEAD + MIXED + b"--b\n\n", b"--bx\n"),
    "headers": (b"", b"A: b\n"),
    "continued headers": (b"A: b\n", b" c\n"),
    "no headers": (b"", b" c\n"),
    "base64": (HEAD + b"Content-Transfer-Encoding: base64\n\n", b"=QUJD\n"),
    "quoted-printable": (HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n", b"=\n=4"),
    "uuencode": (HEAD + b"Content-Transfer-Encoding: x-uuencode\n\nbegin 666 a\n", b"#86)C\n"),
    "parameters": (HEAD + MIXED + b"--b\n", b'Content-Type: a/b; a="b' + b";" * 900 + b"\n"),
    "report": (
        (
            b"Content-Type: multipart/report; boundary=b\n\n--b\n"
            b"Content-Type: message/delivery-status\n\n"
        ),
        b"Final-Recipient: a\nAction: failed\n\n",
    ),
    "formatting elements": (
        HEAD + b"Content-Type: text/html\n\n<p>" + b"".join(b"<b a=%d>" % n for n in range(250)),
        b"</p><p>x",
    ),
}


@pytest.mark.parametrize("shape", MAILS)
def test_the_time_is_proportional_to_the_mail(shape: str) -> None:
    begin, unit = MAILS[shape]

    def read(size: int) -> None:
        with suppress(UnreadableMail):
            read_mail(begin + unit * (size // len(unit)), "mx")

    assert ratio(read) <= LARGEST_RATIO
