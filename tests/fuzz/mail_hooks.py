"""What strangers and providers send to the mail transport, before anything of it is proven."""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from aitp_desk.model.errors import NotAuthenticated, Unavailable
from aitp_desk.transports.base import Delivery
from aitp_desk.transports.email.address import sendable
from aitp_desk.transports.email.inbound.providers.mailgun import MailgunHook, read_form
from aitp_desk.transports.email.inbound.providers.postmark import PostmarkHook
from aitp_desk.transports.email.inbound.providers.ses import SesHook, is_certificate_url
from aitp_desk.transports.email.letter.letter import Envelope, Site, write_letter
from aitp_desk.transports.email.mail import UnreadableMail
from aitp_desk.transports.messages import Field, Form, Outgoing
from aitp_desk.transports.pages.questionnaire import read_fields, read_values
from tests.fuzz.target import JSON_WORDS, REFUSALS, Target
from tests.support.transports.mail_desk import ADDRESS, NOW, MailDesk, make_mail

_DESK = MailDesk()
_TOPIC = "arn:aws:sns:eu-west-1:123456789012:mail"
_FORM = Form(
    token="t",
    title="Form",
    submit="Send",
    fields=(
        Field(name="text", label="Text"),
        Field(name="number", label="Number", kind="number"),
        Field(name="day", label="Day", kind="date"),
        Field(name="sizes", label="Sizes", kind="choices", choices=(("s", "S"), ("l", "L"))),
    ),
)
_REFUSALS = (*REFUSALS, UnreadableMail)


def _finish(work: Coroutine[Any, Any, Any]) -> Any:
    """Run what never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def _delivery(body: bytes, content_type: str, authorization: str = "") -> Delivery:
    headers = {"content-type": content_type, "authorization": authorization}
    return Delivery(method="POST", body=body, headers=headers, query={}, now=NOW)


def _arrival(data: bytes) -> None:
    arrival = _DESK.arrivals.read(data, (ADDRESS,))
    assert len(arrival.incoming.conversation) == 16
    assert arrival.incoming.sender
    again = _DESK.arrivals.read(data, (ADDRESS,))
    assert again == arrival


def _mailgun(data: bytes) -> None:
    kind, _, body = data.partition(b"\n")
    content_type = kind.decode("latin-1")
    read_form(content_type, body, lambda _fields: None)
    with suppress(NotAuthenticated):  # nothing here has the key
        _finish(
            MailgunHook(_DESK.inbox, _DESK.host, "key", 300).read(_delivery(body, content_type))
        )


def _postmark(data: bytes) -> None:
    authorization, _, body = data.partition(b"\n")
    hook = PostmarkHook(_DESK.inbox, "a", "b")
    _finish(hook.read(_delivery(body, "", authorization.decode("latin-1"))))


def _ses(data: bytes) -> None:
    """Nothing is asked of a server that is not Amazon's."""
    desk = MailDesk()
    with suppress(Unavailable):  # no server has a certificate here
        _finish(SesHook(desk.inbox, _TOPIC, desk.host.send).read(_delivery(data, "")))
    assert all(is_certificate_url(one.url) for one in desk.requests)


def _values(data: bytes) -> None:
    values, _ = read_values(_FORM, read_fields(data))
    assert values.keys() <= {field.name for field in _FORM.fields}


def _addresses(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    assert _DESK.addresses.read(text) is None
    assert _DESK.message_ids.read(text) is None
    found = sendable(text)
    assert found is None or found.isprintable()


def _letter(data: bytes) -> None:
    """No text of a conversation becomes a header, or a line that a server cuts."""
    subject, _, text = data.decode("utf-8", "replace").partition("\n")
    outgoing = Outgoing(
        id="m",
        conversation="a" * 16,
        recipient="a@b.example",
        text=text,
        subject=subject,
        speaker=subject,
        answers_ref=subject,
    )
    envelope = Envelope(
        message_id="m@shop.example", recipient="a@b.example", reply_to="desk+a@shop.example"
    )
    mail = write_letter(outgoing, Site(address=ADDRESS, name=subject or "Shop"), envelope)
    assert max(map(len, mail.split(b"\r\n"))) < 998
    assert b"\nBcc:" not in mail.partition(b"\r\n\r\n")[0]


MAIL_HOOKS = (
    Target(
        "mail to the desk",
        _arrival,
        (
            make_mail("Hello", files={"a.txt": b"Two books."}),
            make_mail("Away", headers={"Auto-Submitted": "auto-replied"}),
            make_mail("", headers={"Subject": "unsubscribe", "To": _DESK.addresses.make("a" * 16)}),
        ),
        (b"\r\n\r\n", b"In-Reply-To: <", b"References: ", b"Content-Type: ", b"; boundary=b"),
        refusals=_REFUSALS,
    ),
    Target(
        "Mailgun's route",
        _mailgun,
        (
            b"application/x-www-form-urlencoded\ntimestamp=1&token=a&signature=b&body-mime=c",
            (
                b"multipart/form-data; boundary=b\n--b\r\n"
                b'Content-Disposition: form-data; name="token"\r\n\r\na\r\n--b--\r\n'
            ),
        ),
        (b"--b", b"\r\n", b"Content-Disposition: form-data; name=", b"&", b"%", b"="),
        0.5,
        _REFUSALS,
    ),
    Target(
        "Postmark's webhook",
        _postmark,
        (b'Basic YTpi\n{"RawEmail": "A: a\\n\\nb", "OriginalRecipient": "desk@shop.example"}',),
        (*JSON_WORDS, b'"RawEmail"', b"Basic "),
        0.5,
        _REFUSALS,
    ),
    Target(
        "message of Amazon SNS",
        _ses,
        (
            (
                b'{"Type": "Notification", "MessageId": "a", "Message": "{}", "Timestamp": "b",'
                b' "TopicArn": "arn:aws:sns:eu-west-1:123456789012:mail", "SignatureVersion": "2",'
                b' "Signature": "YQ==", "SigningCertURL":'
                b' "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem"}'
            ),
        ),
        (*JSON_WORDS, b'"SubscriptionConfirmation"', b'"SubscribeURL"', b"https://", b"@"),
        0.5,
        _REFUSALS,
    ),
    Target(
        "form of a mail's page",
        _values,
        (b"f0=a&f1=2&f2=2026-11-03&f3=s&f3=l",),
        (b"f0=", b"&", b"%", b"nan", b"1e999", b"-"),
        0.5,
    ),
    Target(
        "addresses and Message-IDs",
        _addresses,
        (
            b"desk+" + b"a" * 32 + b"@shop.example",
            b"a.b.c@shop.example",
            "ada@größe.example".encode(),
        ),
        (b"@", b"desk+", b".", b"xn--", b"\r\n"),
        0.5,
    ),
    Target(
        "answer as a mail",
        _letter,
        ("Grüße\n# Hi\n\n[a](https://a.example) | b\n\n```\nc\n```".encode(), b"a\nb"),
        (b"\r\nBcc: a@b", b"](", b"<", b"\xc2\x85", b"\xe2\x80\xa8", b"=?utf-8?q?", b"`"),
        0.2,
    ),
)
