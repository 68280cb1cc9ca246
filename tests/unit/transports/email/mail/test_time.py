"""No mail takes long: whatever is repeated, the time is proportional to the size."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from aitp_desk.transports.email.mail import UnreadableMail, read_mail
from aitp_desk.transports.email.mail.addresses import read_addresses
from aitp_desk.transports.email.mail.authentication import find_proof
from aitp_desk.transports.email.mail.calendar import is_calendar_reply
from aitp_desk.transports.email.mail.headers import decode_words
from aitp_desk.transports.email.mail.html_text import MailReader
from aitp_desk.transports.email.mail.message import Address
from aitp_desk.transports.email.mail.quotation import divide
from aitp_desk.transports.email.mail.soft_breaks import join_flowed
from tests.unit.transports.email.mail.shapes import MAILS, SOURCES, TEXTS, make_adversarial

pytestmark = pytest.mark.slow

Read = Callable[[str], object]
SMALLEST = 30_000
"""Characters; then twice and four times as many."""
LARGEST_RATIO = 9.0
"""Of four times as much: four by the size, sixteen if the time were its square."""
A_TENTH = 100_000
LARGEST_RATIO_OF_TEN = 15.0
"""Of a mail of 1 MB and one of a tenth: ten by the size, a hundred if it were its square."""
LEAST_SECONDS = 0.004
"""What takes less shows the clock and no ratio."""


def text(source: str) -> object:
    return divide(source, is_reply=True)


def html(source: str) -> object:
    return MailReader().read(source, len(source))


def flowed(source: str) -> object:
    return join_flowed(source, delete_space=True)


def addresses(source: str) -> object:
    return read_addresses(source, 100)


def results(source: str) -> object:
    return find_proof([f"mx; {source}"], "mx", Address("a@b.c"))


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
LINES = ("METHOD;L", ";", ":", "METHOD:\n", "METHOD;A:\n ", "METHOD: ", "\n")

SHAPES: list[tuple[Read, str, str]] = [
    *((text, "", unit) for unit in TEXTS),
    *((html, "", unit) for unit in SOURCES),
    *((flowed, "", unit) for unit in ("a ", ">", "> a \n", "a \n", ">a \n>>b \n", "-- \n", "\n")),
    *((addresses, "", unit) for unit in FIELDS),
    *((decode_words, "", unit) for unit in FIELDS),
    *((results, "", unit) for unit in RESULTS),
    *((is_calendar_reply, "", unit) for unit in LINES),
]


def measure(read: Callable[[int], object], size: int) -> float:
    """The shortest of some times, in seconds of the processor."""
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        read(size)
        best = min(best, time.process_time() - began)
    return best


def ratio(read: Callable[[int], object], size: int = SMALLEST, times: int = 4) -> float:
    """How much longer so many times as much takes; the best of some trials on a busy machine."""
    best = float("inf")
    for _ in range(4):
        large = measure(read, times * size)
        small = measure(read, size) if large > LEAST_SECONDS else large
        best = min(best, large / small)
        if best <= times * 1.2:
            break
    return best


@pytest.mark.parametrize(
    ("read", "begin", "unit"),
    SHAPES,
    ids=lambda value: getattr(value, "__name__", repr(value)[:24]),
)
def test_the_time_is_proportional_to_what_is_read(read: Read, begin: str, unit: str) -> None:
    assert ratio(lambda size: read(begin + unit * (size // len(unit)))) <= LARGEST_RATIO


@pytest.mark.parametrize("shape", MAILS)
def test_a_megabyte_takes_no_more_than_its_share(shape: str) -> None:
    def read(size: int) -> None:
        with suppress(UnreadableMail):
            read_mail(make_adversarial(shape, size), "mx")

    assert ratio(read, A_TENTH, 10) <= LARGEST_RATIO_OF_TEN
