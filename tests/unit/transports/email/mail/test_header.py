"""The fields of a mail: ids, addresses, words, dates; bounded and never guessed."""

from __future__ import annotations

import pytest

from aitp_desk.transports.email.mail import (
    Address,
    Bounds,
    Mail,
    MailFault,
    UnreadableMail,
    read_mail,
)


def read(fields: str, bounds: Bounds | None = None) -> Mail:
    return read_mail(f"{fields}\r\n\r\nHello\r\n".encode(), "", bounds=bounds)


def test_ids_are_read_without_brackets() -> None:
    mail = read(
        "Message-ID: <a@b.c>\r\nIn-Reply-To: Your mail of Tuesday <d@e.f> (x)\r\n"
        "References: <g@h.i>\r\n <d@e.f>\r\n\t<d@e.f>junk"
    )
    assert (mail.message_id, mail.in_reply_to) == ("a@b.c", "d@e.f")
    assert mail.references == ("g@h.i", "d@e.f")


def test_of_many_references_the_first_and_the_last_are_kept() -> None:
    mail = read("References: " + " ".join(f"<{n}@a.b>" for n in range(500)))
    assert len(mail.references) == 50
    assert mail.references[0] == "0@a.b"
    assert mail.references[-1] == "499@a.b"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Mia Example <mia@Home.Example>", [("mia@home.example", "Mia Example")]),
        ('"Example, Mia" <mia@home.example>', [("mia@home.example", "Example, Mia")]),
        ("mia@home.example (Mia)", [("mia@home.example", "Mia")]),
        ("=?utf-8?q?M=C3=ADa=2C_x?= <a@b.c>, d@e.f", [("a@b.c", "Mía, x"), ("d@e.f", "")]),
        ("Friends: a@b.c, d@e.f;, g@h.i", [("a@b.c", ""), ("d@e.f", ""), ("g@h.i", "")]),
        ("undisclosed-recipients:;", []),
        ("<@route.example,@b.example:a@b.c>", [("a@b.c", "")]),
        ("a@b.c)d@e.f", []),
        ("a@b.c <d@e.f> <g@h.i>", []),
        ("a@b@c.d", []),
        ("a b@c.d", []),
        ("<>", []),
        ("a@b.c\0", [("a@b.c", "")]),
        ('"a\\"b" <a@b.c>', [("a@b.c", 'a"b')]),
        ("Mía <a@b.c>", [("a@b.c", "Mía")]),
    ],
)
def test_addresses_are_read_or_left_out(value: str, found: list[tuple[str, str]]) -> None:
    assert read(f"To: {value}").recipients == tuple(Address(a, n) for a, n in found)


def test_recipients_are_those_of_all_fields_up_to_the_bound() -> None:
    mail = read("To: a@b.c\r\nCc: d@e.f\r\nCc: " + ", ".join(f"x{n}@y.z" for n in range(500)))
    assert [address.address for address in mail.recipients[:3]] == ["a@b.c", "d@e.f", "x0@y.z"]
    assert len(mail.recipients) == 100


def test_where_a_mail_was_delivered_is_read() -> None:
    mail = read(
        "Delivered-To: desk+a@shop.example\r\n"
        "X-Original-To: desk@shop.example\r\nDelivered-To: desk+a@shop.example"
    )
    assert mail.delivered_to == ("desk+a@shop.example", "desk@shop.example")


@pytest.mark.parametrize(
    ("value", "subject"),
    [
        ("Order", "Order"),
        ("=?utf-8?B?TGFtcGUg8J+SoQ==?=", "Lampe 💡"),
        ("=?utf-8?Q?two_?= =?utf-8?Q?lamps?= now", "two lamps now"),
        ("=?utf-8?Q?=E3=83?=\r\n =?utf-8?Q?=A9?=", "ラ"),
        ("=?iso-2022-jp?B?GyRCJWkbKEI=?=", "ラ"),
        ("=?nonsense?Q?a=FCb?=", "aüb"),
        ("=?utf-8*de?Q?L=C3=A4mpchen?=", "Lämpchen"),
        ("=?utf-8?X?a?=", "=?utf-8?X?a?="),
        ("Grüße", "Grüße"),
        ("a\tb\r\n c", "a b c"),
        ("=?utf-8?Q?a=0D=0ABcc:_x=40y.z?=", "a Bcc: x@y.z"),
        ("x" * 2000, "x" * 500),
    ],
)
def test_subjects_are_decoded_on_one_line(value: str, subject: str) -> None:
    assert read(f"Subject: {value}").subject == subject


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Tue, 3 Nov 2026 10:12:00 +0100", 1793697120),
        ("3 Nov 2026 09:12:00 GMT", 1793697120),
        ("Tue, 03 Nov 26 10:12:00 +0100 (CET)", 1793697120),
        ("yesterday", None),
        ("Tue, 99 Nov 2026 10:12:00 +0100", None),
        ("Tue, 3 Nov 99999 10:12:00 +9999", None),
        ("", None),
    ],
)
def test_dates_are_read_or_unknown(value: str, seconds: int | None) -> None:
    assert read(f"Date: {value}").date == seconds


def deep(levels: int) -> bytes:
    parts = (
        f"Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n" for n in range(levels)
    )
    return "".join(parts).encode() + b"\r\nHello\r\n"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", MailFault.EMPTY),
        (b"\r\n \r\n", MailFault.EMPTY),
        (b"A: b\r\n\r\n" + b"x" * (26 * 1024 * 1024), MailFault.TOO_LARGE),
        (b"A: b\r\n\r\n" + b"\n" * 200_000, MailFault.TOO_MANY_LINES),
        (b"A: b\r\n\r\n" + b"\r" * 200_000, MailFault.TOO_MANY_LINES),
        (b"A: b\r\n" * 3000 + b"\r\n", MailFault.TOO_MANY_HEADERS),
        (b"A: " + b"b" * 600_000 + b"\r\n\r\n", MailFault.TOO_MANY_HEADERS),
        (
            b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 300,
            MailFault.TOO_MANY_PARTS,
        ),
        (deep(20), MailFault.TOO_DEEP),
    ],
)
def test_a_mail_beyond_a_bound_is_refused_with_a_reason(data: bytes, fault: MailFault) -> None:
    with pytest.raises(UnreadableMail) as refused:
        read_mail(data, "")
    assert refused.value.fault is fault
    assert refused.value.message.endswith(".")
    assert str(refused.value) == refused.value.message


def test_what_is_within_the_bounds_is_read() -> None:
    assert read_mail(deep(10), "").text == "Hello"
