"""Mails of strangers, and what stands within them."""

from __future__ import annotations

from aitp_desk.transports.email.mail import UnreadableMail, read_mail
from aitp_desk.transports.email.mail.addresses import read_addresses
from aitp_desk.transports.email.mail.authentication import find_proof
from aitp_desk.transports.email.mail.bounds import Bounds
from aitp_desk.transports.email.mail.calendar import is_calendar_reply
from aitp_desk.transports.email.mail.charset import decode
from aitp_desk.transports.email.mail.content import clean_text
from aitp_desk.transports.email.mail.headers import decode_words, read_date, read_ids
from aitp_desk.transports.email.mail.html_text import MailReader
from aitp_desk.transports.email.mail.message import Address, Claim, MailKind
from aitp_desk.transports.email.mail.quotation import divide
from aitp_desk.transports.email.mail.quotation.marks import SPACE
from aitp_desk.transports.email.mail.soft_breaks import join_flowed
from tests.fuzz.target import REFUSALS, Target

_BOUNDS = Bounds(parts=20, depth=5)
_UNPROVEN = {Claim.NO_SENDER, Claim.SEVERAL_FROM, Claim.SEVERAL_AUTHORS}


def _mail(data: bytes) -> None:
    """What is read is within its bounds, and only one author of one field can be proven."""
    mail = read_mail(data, "mx.example", own_addresses=["desk@shop.example"], bounds=_BOUNDS)
    assert len(mail.subject) <= _BOUNDS.subject
    assert len(mail.references) <= _BOUNDS.references
    assert len(mail.attachments) <= _BOUNDS.parts
    assert not mail.is_proven or (mail.sender is not None and not mail.claims & _UNPROVEN)
    assert (mail.bounce is not None) == (mail.kind is MailKind.BOUNCE) or (
        mail.kind is MailKind.LOOP
    )
    for text in (mail.text, mail.subject, *(piece.text for piece in mail.trimmed)):
        text.encode()
        assert not any(ord(c) < 32 and c not in "\n\t" for c in text)


def _text(data: bytes) -> None:
    """Every line of a text is written or trimmed, and none is in both.

    A line of nothing but ``&nbsp;`` is an empty one, which programs have left.
    """
    text = clean_text(data.decode("utf-8", "replace"))
    for is_reply in (False, True):
        division = divide(text, is_reply=is_reply)
        kept = [line.rstrip() for line in division.text.split("\n") if line.strip()]
        cut = [line for piece in division.trimmed for line in piece.text.split("\n")]
        lines = sorted(line.strip() for line in text.split("\n") if line.strip() not in {"", SPACE})
        assert sorted(line.strip() for line in [*kept, *cut] if line.strip()) == lines


def _html(data: bytes) -> None:
    html = data.decode("utf-8", "replace")
    text, _ = MailReader().read(clean_text(html), 4096)
    divide(text, is_reply=True)


def _addresses(data: bytes) -> None:
    for found in read_addresses(data.decode("ascii", "surrogateescape"), 20):
        assert found.address.count("@") == 1
        assert not any(c.isspace() for c in found.address)
        assert found.domain == found.domain.lower()


def _authentication(data: bytes) -> None:
    field = data.decode("ascii", "surrogateescape")
    found = find_proof([field], "mx.example", Address("mia@home.example"))
    if found is not None:
        assert found.domain == "home.example"
        assert "mx.example" in field.lower()
        assert "pass" in field.lower()


def _fields(data: bytes) -> None:
    value = data.decode("ascii", "surrogateescape")
    decode_words(value).encode()
    read_date(value)
    for id in read_ids([value], 5):
        assert "<" not in id


def _body(data: bytes) -> None:
    charset, _, body = data.partition(b"\n")
    text = decode(body, charset.decode("latin-1"))
    join_flowed(text, delete_space=True)
    is_calendar_reply(text)


_REPLY = (
    b"Authentication-Results: mx.example; dmarc=pass header.from=home.example\r\n"
    b"From: =?utf-8?q?M=C3=ADa?= <mia@home.example>\r\nTo: desk@shop.example\r\n"
    b"Subject: Re: Lamp\r\nMessage-ID: <a@home.example>\r\nIn-Reply-To: <b@shop.example>\r\n"
    b"References: <c@shop.example> <b@shop.example>\r\nDate: Tue, 3 Nov 2026 10:12:00 +0100\r\n"
    b"Content-Type: text/plain; charset=utf-8; format=flowed\r\n\r\n"
    b"Yes, please.\r\n-- \r\nMia\r\n\r\nOn 3 Nov 2026 at 10:12, Desk <desk@shop.example> wrote:\r\n"
    b"> Really?\r\n"
)
_PARTS = (
    b"From: mia@home.example\r\nSubject: Lamp\r\n"
    b'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\n'
    b"Content-Type: multipart/alternative; boundary=y\r\n\r\n--y\r\n\r\nPlain\r\n--y\r\n"
    b"Content-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable"
    b"\r\n\r\n<p>Gr=FC=DFe<blockquote type=3Dcite>alt</blockquote>\r\n--y--\r\n--x\r\n"
    b"Content-Type: application/pdf; name*=utf-8''%C3%A4.pdf\r\n"
    b"Content-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0=\r\n"
    b"--x\r\nContent-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n"
    b"SUMMARY:Lamp\r\nEND:VEVENT\r\n--x--\r\n"
)
_BOUNCE = (
    b"From: MAILER-DAEMON@mx.example\r\nReturn-Path: <>\r\nContent-Type: multipart/report; "
    b"report-type=delivery-status; boundary=z\r\n\r\n--z\r\n\r\nSorry\r\n--z\r\n"
    b"Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\n"
    b"Final-Recipient: rfc822; mia@home.example\r\nAction: failed\r\nStatus: 5.1.1\r\n"
    b"Diagnostic-Code: smtp; 550 no\r\n\r\n--z\r\nContent-Type: message/rfc822\r\n\r\n"
    b"Message-ID: <out@shop.example>\r\n\r\n--z--\r\n"
)
_MIME_WORDS = (
    *(b"\r\n", b"\r\n\r\n", b"--x", b"--x--", b"--y", b"--z", b"boundary=", b"Content-Type: "),
    *(b"multipart/mixed; boundary=x", b"message/rfc822", b"text/html", b"text/calendar"),
    *(b"base64", b"quoted-printable", b"x-uuencode", b"charset=", b"utf-16", b"iso-2022-jp"),
    *(b"format=flowed", b"=?utf-8?b?", b"?=", b"*0*=", b"''", b"%00", b"\x00", b"\xff", b"From: "),
    *(b"Subject: ", b"Received: x\r\n", b"begin 666 a\r\n", b"=\r\n", b"\x1b$B", b"\xef\xbb\xbf"),
)
_TEXT_WORDS = (
    *(b"\n", b"\n\n", b"> ", b">>", b"-- \n", b"On 3 Nov 2026 at 10:12, A <a@b.c> wrote:\n"),
    *(b"From: a@b.c\n", b"Sent: 3 Nov 2026\n", b"To: b\n", b"Subject: c\n", b"_" * 32 + b"\n"),
    *(b"-----Original Message-----\n", b"---------- Forwarded message ---------\n", b"Fwd: "),
    *(b"Sent from my iPhone\n", b">>> ", b"* wrote:\n", "写道：\n".encode(), b"below", b"\x02\n"),
)

MAILS: tuple[Target, ...] = (
    Target(
        "mail",
        _mail,
        (_REPLY, _PARTS, _BOUNCE),
        (*_MIME_WORDS, *_TEXT_WORDS),
        3,
        (*REFUSALS, UnreadableMail),
    ),
    Target(
        "text of a mail",
        _text,
        (
            b"Yes\n\nOn 3 Nov 2026 at 10:12, A <a@b.c> wrote:\n> Really?\n> B\n\n-- \nMia\n",
            b"Yes\n____________________\nFrom: a@b.c\nSent: 3 Nov 2026\nSubject: c\n\nReally?\n",
            b"> One?\nYes\n> Two?\nNo\n\nSent from my iPhone\n",
            b"Yes\n&nbsp;\n-- \nMia\n",
        ),
        _TEXT_WORDS,
    ),
    Target(
        "HTML of a mail",
        _html,
        (
            b"<div>Yes<br></div><div class=gmail_quote><blockquote type=cite>Old</blockquote>",
            b"<table><tr><td>a<td>b</table><ul><li>c</ul><a href='https://a.example'>d</a>&amp;",
            b"<p class=MsoNormal>x<div id=divRplyFwdMsg><b>From:</b> a<br><b>Sent:</b> b</div>y",
        ),
        (
            *(b"<div>", b"</div>", b"<p>", b"<table>", b"<td>", b"</td>", b"<pre>", b"</pre>"),
            *(b"<blockquote>", b"</blockquote>", b"<a href=", b"</a>", b"<!--", b"-->", b"<br>"),
            *(b"<script>", b"</script>", b"style='display:none'", b"class=yahoo_quoted", b"&#x"),
            *(b"id=Signature", b"<li>", b"<hr id=zwchr>", b"<img alt=", b"'", b'"', b">", b"&#0;"),
        ),
    ),
    Target(
        "addresses of a mail",
        _addresses,
        (
            b'"Example, Mia" <mia@home.example>, leo@home.example (Leo), Group: a@b.c;',
            b"=?utf-8?b?TcOtYQ==?= <mia@home.example>, <@route.example:b@c.d>, a@[127.0.0.1]",
        ),
        (b'"', b"\\", b"(", b")", b"<", b">", b"@", b",", b";", b":", b"=?utf-8?q?", b"?=", b"["),
        0.5,
    ),
    Target(
        "authentication results",
        _authentication,
        (
            (
                b"mx.example; dmarc=pass (p=none) header.from=home.example; spf=pass "
                b"smtp.mailfrom=mia@home.example; dkim=pass header.d=home.example"
            ),
            b'mx.example 1; dkim=fail reason="no; key=x" header.i=@other.example',
        ),
        (b"=", b";", b"(", b")", b'"', b"\\", b"pass", b"header.d", b"header.from=", b"mx.example"),
        0.5,
    ),
    Target(
        "fields of a mail",
        _fields,
        (
            b"=?utf-8?b?TcOtYQ==?= =?iso-2022-jp?b?GyRCJDM=?= x",
            b"Tue, 3 Nov 2026 10:12:00 +0100 (CET)",
            b"<a@b.c> <d@e.f>",
        ),
        (b"=?utf-8?q?", b"=?utf-8?b?", b"?=", b"=20", b"<", b">", b" +9999", b"Nov", b"GMT", b"99"),
        0.5,
    ),
    Target(
        "body of a mail",
        _body,
        (
            b"utf-8\n> a \n> b\n-- \nc \nd",
            b'shift_jis\nBEGIN:VEVENT\nSUMMARY;LANGUAGE=de:a\\, b\nDTSTART;TZID="x":2026\n y',
        ),
        (b"utf-16", b"hz", b"zlib", b"idna", b" \n", b"-- \n", b"BEGIN:VEVENT\n", b":", b";", b'"'),
        0.5,
    ),
)
