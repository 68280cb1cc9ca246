"""Webhooks of Postmark, Mailgun and Amazon SES in their documented forms, and forged ones."""

from __future__ import annotations

import asyncio
import base64
import datetime
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote_to_bytes, urlencode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import Response
from aitp_desk.model.errors import DeskError, InvalidRequest, NotAuthenticated, Unavailable
from aitp_desk.transports.base import Delivery, HookResult
from aitp_desk.transports.email.inbound.providers import mailgun as mailgun_hook
from aitp_desk.transports.email.inbound.providers.mailgun import MailgunHook
from aitp_desk.transports.email.inbound.providers.postmark import PostmarkHook
from aitp_desk.transports.email.inbound.providers.ses import (
    FETCH_SECONDS,
    MOST_FETCHES,
    SesHook,
    is_certificate_url,
)
from aitp_desk.transports.events import TextMessage
from tests.support.transports.mail_desk import ADDRESS, NOW, MailDesk, make_mail

MAIL = make_mail("Größe?", files={"a.txt": b"Two books."})


def delivery(body: bytes, now: int = NOW, **headers: str) -> Delivery:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Delivery(method="POST", body=body, headers=named, query={}, now=now)


def check_taken(result: HookResult) -> None:
    (incoming,) = result.events
    assert isinstance(incoming.event, TextMessage)
    assert incoming.event.text == "Größe?"
    assert list(result.kept.values()) == [b"Two books."]
    assert result.reply.status == 200


# Postmark


def postmark_body(**members: Any) -> bytes:
    """Its documented members, of which the raw mail and the recipient are read."""
    body: dict[str, Any] = {
        "FromName": "Ada",
        "MessageStream": "inbound",
        "From": "ada@people.example",
        "FromFull": {"Email": "ada@people.example", "Name": "Ada", "MailboxHash": ""},
        "To": ADDRESS,
        "ToFull": [{"Email": ADDRESS, "Name": "", "MailboxHash": ""}],
        "Cc": "",
        "CcFull": [],
        "Bcc": "",
        "BccFull": [],
        "OriginalRecipient": ADDRESS,
        "Subject": "A question",
        "MessageID": "73e6d360-66eb-11e1-8e72-a8904824019b",
        "ReplyTo": "",
        "MailboxHash": "",
        "Date": "Tue, 3 Nov 2026 10:00:00 +0000",
        "TextBody": "Größe?",
        "HtmlBody": "",
        "StrippedTextReply": "",
        "RawEmail": MAIL.decode(),
        "Tag": "",
        "Headers": [{"Name": "X-Spam-Status", "Value": "No"}],
        "Attachments": [],
    }
    return json.dumps(body | members).encode()


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def postmark() -> PostmarkHook:
    return PostmarkHook(MailDesk().inbox, "postmark", "pass:word")


async def test_postmark() -> None:
    check_taken(
        await postmark().read(
            delivery(postmark_body(), authorization=basic("postmark", "pass:word"))
        )
    )


@pytest.mark.parametrize(
    "header",
    ["", "Basic", "Basic !!!", basic("postmark", "other"), basic("other", "pass:word"), "Bearer x"],
)
async def test_postmark_needs_its_password(header: str) -> None:
    with pytest.raises(NotAuthenticated):
        await postmark().read(delivery(postmark_body(), authorization=header))


async def test_postmark_without_the_raw_mail_says_what_to_set() -> None:
    proof = basic("postmark", "pass:word")
    with pytest.raises(InvalidRequest, match="Include raw email"):
        await postmark().read(delivery(postmark_body(RawEmail=""), authorization=proof))
    with pytest.raises(InvalidRequest):
        await postmark().read(delivery(b"[]", authorization=proof))


@pytest.mark.parametrize(
    "members", [{"OriginalRecipient": "x@elsewhere.example"}, {"RawEmail": " "}]
)
async def test_postmark_gives_up_what_the_desk_never_takes(members: dict[str, str]) -> None:
    proof = basic("postmark", "pass:word")
    result = await postmark().read(delivery(postmark_body(**members), authorization=proof))
    assert result.events == ()
    assert result.reply.status == 403


# Mailgun

KEY = "key-of-the-account"


def mailgun_fields(
    mail: bytes = MAIL, timestamp: int = NOW, token: str = "t" * 50, key: str = KEY
) -> dict[str, bytes]:
    signature = hmac.new(key.encode(), f"{timestamp}{token}".encode(), "sha256").hexdigest()
    return {
        "recipient": ADDRESS.encode(),
        "sender": b"ada@people.example",
        "from": b"Ada <ada@people.example>",
        "subject": b"A question",
        "body-mime": mail,
        "timestamp": str(timestamp).encode(),
        "token": token.encode(),
        "signature": signature.encode(),
    }


def urlencoded(fields: dict[str, bytes], now: int = NOW) -> Delivery:
    body = urlencode(fields).encode()
    return delivery(body, now, content_type="application/x-www-form-urlencoded")


def multipart(fields: dict[str, bytes]) -> Delivery:
    parts = b"".join(
        b'--b0undary\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
        % (name.encode(), value)
        for name, value in fields.items()
    )
    return delivery(
        parts + b"--b0undary--\r\n", content_type="multipart/form-data; boundary=b0undary"
    )


def mailgun(desk: MailDesk | None = None) -> MailgunHook:
    desk = desk or MailDesk()
    return MailgunHook(desk.inbox, desk.host, KEY, 300)


@pytest.mark.parametrize("make", [urlencoded, multipart])
async def test_mailgun(make: Callable[[dict[str, bytes]], Delivery]) -> None:
    check_taken(await mailgun().read(make(mailgun_fields())))


@pytest.mark.parametrize(
    "fields",
    [
        mailgun_fields(key="another"),
        mailgun_fields() | {"signature": b""},
        mailgun_fields() | {"token": b"u" * 50},
        mailgun_fields() | {"timestamp": str(NOW + 1).encode()},
        mailgun_fields(timestamp=NOW - 301),
        mailgun_fields(timestamp=NOW + 301),
        mailgun_fields(token=""),
    ],
)
async def test_mailgun_needs_a_fresh_signature(fields: dict[str, bytes]) -> None:
    with pytest.raises(NotAuthenticated):
        await mailgun().read(urlencoded(fields))


async def test_mailgun_decodes_no_long_field_before_the_signature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoded = 0

    def decode(text: bytes) -> bytes:
        nonlocal decoded
        decoded += len(text)
        return unquote_to_bytes(text)

    monkeypatch.setattr(mailgun_hook, "unquote_to_bytes", decode)
    mail = b"%41" * 100_000
    with pytest.raises(NotAuthenticated):
        await mailgun().read(urlencoded(mailgun_fields(mail) | {"signature": b""}))
    assert decoded < 2000
    await mailgun().read(urlencoded(mailgun_fields(mail)))
    assert decoded > len(mail)


async def test_mailgun_may_repeat_a_mail_but_not_send_another_with_its_signature() -> None:
    desk = MailDesk()
    hook = mailgun(desk)
    first = await hook.read(urlencoded(mailgun_fields()))
    for process in (hook, mailgun(desk)):  # another one, or the same after a restart
        with pytest.raises(NotAuthenticated, match="another mail"):
            await process.read(urlencoded(mailgun_fields(make_mail("Another"))))
        again = await process.read(urlencoded(mailgun_fields()))
        assert again.events == first.events


async def test_of_two_mails_with_one_token_one_is_taken_whichever_process_they_reach() -> None:
    desk = MailDesk()
    mails = [make_mail(text) for text in ("One", "Another")]
    read = [mailgun(desk).read(urlencoded(mailgun_fields(mail))) for mail in mails]
    taken, refused = await asyncio.gather(*read, return_exceptions=True)
    assert isinstance(taken, HookResult)
    assert isinstance(refused, NotAuthenticated)


async def test_the_sender_of_an_unreadable_mail_learns_of_it_from_the_desk() -> None:
    fields = mailgun_fields(make_mail("a\r\n" * 33_000))
    result = await mailgun().read(urlencoded(fields))
    assert result.reply.status == 200
    (event,) = [one.event for one in result.events]
    assert isinstance(event, TextMessage)
    assert "could not be read" in event.refusals[0]


async def test_mailgun_gives_up_what_the_desk_never_takes() -> None:
    other = mailgun_fields() | {"recipient": b"x@elsewhere.example"}
    assert (await mailgun().read(urlencoded(other))).reply.status == 406
    with pytest.raises(InvalidRequest, match="must end with mime"):
        await mailgun().read(urlencoded(mailgun_fields(b"")))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/plain", b"x"),
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b"--b\r\nX"),
        ("multipart/form-data; boundary=b", b"\r\n--b" * 200),
        ("application/x-www-form-urlencoded", b"a=1&" * 200),
    ],
)
async def test_what_is_no_form_is_refused(kind: str, body: bytes) -> None:
    with pytest.raises((InvalidRequest, NotAuthenticated)):
        await mailgun().read(delivery(body, content_type=kind))


# Amazon SES

TOPIC = "arn:aws:sns:eu-west-1:123456789012:mail"
CERTIFICATE_URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123abc.pem"
SUBSCRIBE_URL = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=abc"
PRIVATE = rsa.generate_private_key(65537, 2048)


def certificate(days: int = 365) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    now = datetime.datetime.fromtimestamp(NOW, datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(PRIVATE.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=700))
        .not_valid_after(now + datetime.timedelta(days=days))
        .sign(PRIVATE, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


def sns(message: str, kind: str = "Notification", version: str = "2", **members: str) -> bytes:
    body = {
        "Type": kind,
        "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
        "TopicArn": TOPIC,
        "Message": message,
        "Timestamp": "2026-11-03T10:00:00.000Z",
        "SignatureVersion": version,
        "SigningCertURL": CERTIFICATE_URL,
        "UnsubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe",
    } | members
    signed = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
    if kind != "Notification":
        signed = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
    text = "".join(f"{name}\n{body[name]}\n" for name in signed if name in body)
    algorithm = hashes.SHA1() if version == "1" else hashes.SHA256()
    signature = PRIVATE.sign(text.encode(), padding.PKCS1v15(), algorithm)
    body.setdefault("Signature", base64.b64encode(signature).decode())
    return json.dumps(body).encode()


def ses_mail(mail: bytes = MAIL, encoding: str = "BASE64", **members: Any) -> str:
    content = base64.b64encode(mail).decode() if encoding == "BASE64" else mail.decode()
    body = {
        "notificationType": "Received",
        "receipt": {
            "timestamp": "2026-11-03T10:00:00.000Z",
            "processingTimeMillis": 222,
            "recipients": [ADDRESS],
            "spamVerdict": {"status": "PASS"},
            "virusVerdict": {"status": "PASS"},
            "spfVerdict": {"status": "PASS"},
            "dkimVerdict": {"status": "PASS"},
            "dmarcVerdict": {"status": "PASS"},
            "action": {"type": "SNS", "topicArn": TOPIC, "encoding": encoding},
        },
        "mail": {"source": "ada@people.example", "messageId": "d6iitobk75ur44p8kdnnp7g2n800"},
        "content": content,
    }
    return json.dumps(body | members)


def ses(desk: MailDesk | None = None, days: int = 365) -> tuple[SesHook, MailDesk]:
    desk = desk or MailDesk()
    desk.responses[CERTIFICATE_URL] = Response(status=200, body=certificate(days))
    desk.responses[SUBSCRIBE_URL] = Response(status=200, body=b"<ok/>")
    return SesHook(desk.inbox, TOPIC, desk.host.send), desk


@pytest.mark.parametrize("encoding", ["BASE64", "UTF-8"])
@pytest.mark.parametrize("version", ["1", "2"])
async def test_ses(encoding: str, version: str) -> None:
    hook, desk = ses()
    body = sns(ses_mail(encoding=encoding), version=version, Subject="Amazon SES Email Receipt")
    for _ in range(2):
        check_taken(await hook.read(delivery(body, x_amz_sns_message_type="Notification")))
    assert [one.url for one in desk.requests] == [CERTIFICATE_URL]


async def test_a_subscription_is_confirmed_once_it_is_proven() -> None:
    hook, desk = ses()
    body = sns("…", "SubscriptionConfirmation", SubscribeURL=SUBSCRIBE_URL, Token="abc")
    result = await hook.read(delivery(body))
    assert result.events == ()
    assert [one.url for one in desk.requests] == [CERTIFICATE_URL, SUBSCRIBE_URL]


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "http://sns.eu-west-1.amazonaws.com/",
        "https://sns.a.amazonaws.com.evil/",
    ],
)
async def test_only_amazon_is_asked_to_confirm(url: str) -> None:
    hook, desk = ses()
    body = sns("…", "SubscriptionConfirmation", SubscribeURL=url, Token="abc")
    with pytest.raises(InvalidRequest):
        await hook.read(delivery(body))
    assert [one.url for one in desk.requests] == [CERTIFICATE_URL]


@pytest.mark.parametrize(
    "body",
    [
        sns(ses_mail(), Signature="AAAA"),
        sns(ses_mail(), Signature="!"),
        sns(ses_mail(), TopicArn=TOPIC + "2"),
        sns(ses_mail(), SigningCertURL="https://evil.example/SimpleNotificationService-1.pem"),
        sns(ses_mail(), version="3"),
        sns(ses_mail()).replace(b"222", b"223"),
    ],
)
async def test_ses_needs_a_signature_of_the_topic(body: bytes) -> None:
    hook, desk = ses()
    with pytest.raises(NotAuthenticated):
        await hook.read(delivery(body))
    assert {one.url for one in desk.requests} <= {CERTIFICATE_URL}


async def test_strangers_make_the_desk_fetch_few_certificates() -> None:
    hook, desk = ses()
    check_taken(await hook.read(delivery(sns(ses_mail()))))
    moment = NOW + FETCH_SECONDS
    for number in range(3 * MOST_FETCHES):
        url = CERTIFICATE_URL.replace("0123abc", f"a{number}")
        desk.responses[url] = Response(status=200, body=certificate())
        forged = sns(ses_mail(), SigningCertURL=url, Signature="AAAA")
        with pytest.raises((NotAuthenticated, Unavailable)):
            await hook.read(delivery(forged, now=moment))
    assert len(desk.requests) == 1 + MOST_FETCHES
    check_taken(await hook.read(delivery(sns(ses_mail()), now=moment)))
    rotated = sns(ses_mail(), SigningCertURL=CERTIFICATE_URL.replace("0123abc", "a29"))
    with pytest.raises(Unavailable, match="later"):
        await hook.read(delivery(rotated, now=moment))
    check_taken(await hook.read(delivery(rotated, now=moment + FETCH_SECONDS)))


async def test_a_certificate_that_has_ended_proves_nothing() -> None:
    hook, _ = ses(days=-1)
    with pytest.raises(NotAuthenticated):
        await hook.read(delivery(sns(ses_mail())))


async def test_ses_tries_again_when_the_certificate_cannot_be_read() -> None:
    hook, desk = ses()
    for response in (Response(status=503), Response(status=200, body=b"no certificate")):
        desk.responses[CERTIFICATE_URL] = response
        with pytest.raises(Unavailable):
            await hook.read(delivery(sns(ses_mail())))


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("Successfully validated SNS topic for Amazon SES", 200),
        (json.dumps({"notificationType": "Delivery"}), 200),
        (ses_mail(receipt={"recipients": ["x@elsewhere.example"]}), 403),
        (ses_mail(b" "), 403),
    ],
)
async def test_what_is_no_mail_for_the_desk_is_dropped(message: str, status: int) -> None:
    hook, _ = ses()
    result = await hook.read(delivery(sns(message)))
    assert result.events == ()
    assert result.reply.status == status


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        (CERTIFICATE_URL, True),
        ("https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem", True),
        (CERTIFICATE_URL.replace("https", "http"), False),
        (CERTIFICATE_URL + "?a", False),
        (CERTIFICATE_URL.replace("amazonaws.com/", "amazonaws.com:444/"), False),
        (CERTIFICATE_URL.replace("https://", "https://a@"), False),
        ("https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-1.pem", False),
        ("https://s3.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem", False),
        ("https://sns.eu-west-1.amazonaws.com/bucket/SimpleNotificationService-1.pem", False),
        ("https://[", False),
        ("", False),
    ],
)
def test_certificates_come_from_addresses_of_sns_alone(url: str, is_one: bool) -> None:
    assert is_certificate_url(url) is is_one


# Any bytes

NESTED = b"[" * 5_000 + b"]" * 5_000


async def test_json_that_is_nested_too_deeply_is_refused() -> None:
    hook, _ = ses()
    with pytest.raises(InvalidRequest):
        await hook.read(delivery(b'{"Type": "Notification", "a": %s}' % NESTED))
    proof = basic("postmark", "pass:word")
    with pytest.raises(InvalidRequest):
        await postmark().read(delivery(b'{"a": %s}' % NESTED, authorization=proof))
    result = await hook.read(delivery(sns(f'{{"receipt": {NESTED.decode()}}}')))
    assert result.events == ()


Hook = Callable[[Delivery], Awaitable[HookResult]]


@given(st.binary(max_size=300), st.sampled_from(["a", "multipart/form-data; boundary=b", ""]))
async def test_any_bytes_are_refused_in_words(body: bytes, kind: str) -> None:
    hooks: tuple[Hook, ...] = (postmark().read, mailgun().read, ses()[0].read)
    for read in hooks:
        with pytest.raises(DeskError):
            await read(delivery(body, content_type=kind, authorization=kind))
