"""Persons get answers; programs, servers, lists and the desk itself do not."""

from __future__ import annotations

import pytest

from aitp_desk.transports.email.mail import Bounce, FailedRecipient, Mail, MailKind, read_mail
from tests.unit.transports.email.mail.corpus.builders import mail, multipart, part

DESK = "desk@shop.example"


def read(fields: str, body: str = "Hello") -> Mail:
    if "From:" not in fields:
        fields = f"From: Mia <mia@home.example>\r\n{fields}"
    data = f"{fields}\r\n\r\n{body}\r\n".encode()
    return read_mail(data, "", own_addresses=[DESK])


@pytest.mark.parametrize(
    "fields",
    [
        "Subject: My lamp",
        "Auto-Submitted: no",
        "Auto-Submitted: No; a=b",
        "Precedence: first-class",
        "X-Auto-Response-Suppress: All",
        "From: reply@home.example",
        "From: norbert.plyer@home.example",
        "Subject: Your automatic reply was wrong",
        "Return-Path: <mia@home.example>",
        f"Delivered-To: {DESK}\r\nX-Loop: other@home.example",
    ],
)
def test_a_person_gets_an_answer(fields: str) -> None:
    found = read(fields)
    assert (found.kind, found.reason, found.is_answerable) == (MailKind.PERSON, "", True)


@pytest.mark.parametrize(
    "fields",
    [
        "Auto-Submitted: auto-replied",
        "Auto-Submitted: auto-generated (cron)",
        "Auto-Submitted: auto-notified; owner-email=a@b.c",
        "X-Autoreply: yes",
        "X-Autorespond: away",
        "X-Auto-Response: 1",
        "Precedence: bulk",
        "Precedence: junk",
        "Precedence: auto_reply",
        "Return-Path: <>",
        "X-POST-MessageClass: 9; Autoresponder",
        "From: no-reply@home.example",
        "From: noreply@home.example",
        "From: do_not_reply@home.example",
        "From: orders-noreply@home.example",
        "From: noreply+orders@home.example",
        "From: nicht-antworten@home.example",
        "From: ne-pas-repondre@home.example",
        "From: MAILER-DAEMON@home.example",
        "From: bounce+1234@home.example",
        "Subject: Automatic reply: Order",
        "Subject: Out of Office: Re: Order",
        "Subject: Out of the office until Monday",
        "Subject: [Out of office] Order",
        "Subject: Auto-Response from Mia",
        "Subject: Automatische Antwort: Bestellung",
        "Subject: =?utf-8?q?R=C3=A9ponse_automatique_=3A_commande?=",
        "Subject: =?utf-8?b?6Ieq5YuV5b+c562U?=: a",
        "Content-Type: multipart/report; report-type=disposition-notification; boundary=b",
        "Content-Type: multipart/report; report-type=feedback-report; boundary=b",
    ],
)
def test_a_program_gets_none(fields: str) -> None:
    found = read(fields)
    assert found.kind is MailKind.AUTOMATIC
    assert found.reason
    assert not found.is_answerable


@pytest.mark.parametrize(
    "subject",
    ["Out of office supplies: staplers", "Automatic reply settings", "Re: Out of office: lamps"],
)
def test_a_person_may_write_of_offices_and_replies(subject: str) -> None:
    assert read(f"Subject: {subject}").kind is MailKind.PERSON


def test_an_accepted_appointment_gets_none() -> None:
    reply = "BEGIN:VCALENDAR\nMETHOD:REPLY\nBEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\nEND:VCALENDAR\n"
    body = multipart("alternative", part("Accepted"), part(reply, "text/calendar"))
    found = read_mail(mail("From: mia@home.example\r\n", body), "")
    assert found.kind is MailKind.AUTOMATIC


@pytest.mark.parametrize(
    "fields",
    [
        "List-Id: Lamps <lamps.lists.example>",
        "List-Post: <mailto:lamps@lists.example>",
        "List-Unsubscribe: <https://news.example/u>",
        "Precedence: list",
        "X-Mailing-List: lamps",
    ],
)
def test_a_list_gets_none(fields: str) -> None:
    found = read(fields)
    assert (found.kind, found.is_answerable) == (MailKind.LIST, False)


@pytest.mark.parametrize(
    "fields",
    [
        f"From: Shop <{DESK}>",
        f"From: Shop <{DESK.upper()}>",
        f"X-Loop: {DESK}",
        "\r\n".join("Received: from a by b; Tue, 3 Nov 2026 10:12:00 +0100" for _ in range(60)),
        "\r\n".join(f"Delivered-To: {DESK}" for _ in range(4)),
    ],
)
def test_a_mail_that_goes_in_circles_gets_none(fields: str) -> None:
    found = read(fields)
    assert (found.kind, found.is_answerable) == (MailKind.LOOP, False)


DAEMON = "From: Mail Delivery System <MAILER-DAEMON@mx.example>\r\nReturn-Path: <>\r\n"
ORIGINAL = "Message-ID: <out.1@shop.example>\r\nSubject: Your lamp\r\n\r\nHello\r\n"


def report(status: str, original_type: str = "message/rfc822", **more: str) -> bytes:
    body = multipart(
        "report",
        part("I am sorry."),
        b"Content-Type: message/delivery-status\r\n\r\n" + status.encode(),
        f"Content-Type: {original_type}\r\n\r\n{ORIGINAL}".encode(),
        report_type="delivery-status",
    )
    return mail(f"{DAEMON}Subject: Undelivered Mail\r\n", body)


def test_a_bounce_names_the_recipient_the_status_and_the_own_mail() -> None:
    status = (
        "Reporting-MTA: dns; mx.example\r\nArrival-Date: x\r\n\r\nFinal-Recipient: rfc822; "
        "mia@home.example\r\nOriginal-Recipient: rfc822;mia@old.example\r\nAction: failed\r\n"
        "Status: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 no\r\n such user\r\n"
    )
    found = read_mail(report(status), "")
    assert found.kind is MailKind.BOUNCE
    assert not found.is_answerable
    recipient = FailedRecipient("mia@home.example", "failed", "5.1.1")
    assert found.bounce == Bounce((recipient,), "out.1@shop.example")
    assert recipient.is_permanent


def test_a_delay_is_not_permanent() -> None:
    fields = ("Final-Recipient: rfc822;a@b.c", "Action: delayed", "Status: 4.4.1")
    status = "\r\n".join(("Reporting-MTA: a", "", *fields, ""))
    found = read_mail(report(status, "text/rfc822-headers"), "")
    assert found.bounce is not None
    assert found.bounce.message_id == "out.1@shop.example"
    assert [r.is_permanent for r in found.bounce.recipients] == [False]


def test_every_recipient_of_a_bounce_is_named() -> None:
    blocks = "".join(
        f"\r\nFinal-Recipient: rfc822;a{number}@b.c\r\nAction: failed\r\nStatus: 5.0.0\r\n"
        for number in range(3)
    )
    found = read_mail(report(f"Reporting-MTA: a\r\n{blocks}"), "")
    assert found.bounce is not None
    assert [r.address for r in found.bounce.recipients] == ["a0@b.c", "a1@b.c", "a2@b.c"]


@pytest.mark.parametrize("status", ["", "\0", "Final-Recipient", "Action: failed\r\n\r\n\r\n"])
def test_a_broken_report_is_a_bounce_without_recipients(status: str) -> None:
    found = read_mail(report(status), "")
    assert found.kind is MailKind.BOUNCE
    assert found.bounce == Bounce((), "out.1@shop.example")


QMAIL = (
    "Hi. This is the qmail-send program at mx.example.\nI'm afraid I wasn't able to deliver your "
    "message.\n\n<mia@home.example>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n--- Below "
    "this line is a copy of the message.\n\nReturn-Path: <desk@shop.example>\nMessage-ID: "
    "<out.1@shop.example>\n"
)
EXIM = (
    "This message was created automatically by mail delivery software.\n\nA message that you sent "
    "could not be delivered:\n\n  mia@home.example\n    550 5.1.1 no such user\n\n------ This is a "
    "copy of the message ------\n\nMessage-Id: <out.1@shop.example>\n"
)


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (f"{DAEMON}Subject: failure notice", QMAIL),
        (f"{DAEMON}X-Failed-Recipients: mia@home.example\r\nSubject: x", EXIM),
        (f"{DAEMON}Subject: Mail delivery failed: returning message to sender", EXIM),
        ("From: postmaster@home.example\r\nSubject: Undeliverable: Your lamp", EXIM),
    ],
)
def test_bounces_without_a_report_are_recognized(fields: str, body: str) -> None:
    found = read(fields, body)
    assert found.kind is MailKind.BOUNCE
    assert found.bounce is not None
    assert [(r.address, r.status) for r in found.bounce.recipients] == [
        ("mia@home.example", "5.1.1")
    ]
    assert found.bounce.message_id == "out.1@shop.example"


def test_a_person_who_writes_about_a_bounce_is_a_person() -> None:
    assert read("Subject: Undeliverable: my lamp", QMAIL).kind is MailKind.PERSON
