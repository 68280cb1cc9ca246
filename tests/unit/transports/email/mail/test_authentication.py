"""Which addresses count as proven, by what the receiving server says (RFC 8601)."""

from __future__ import annotations

import pytest

from aitp_desk.transports.email.mail import Claim, Mail, Proof, read_mail

OURS = "mx.shop.example"


def read(*results: str, sender: str = "Mia <mia@home.example>") -> Mail:
    fields = "".join(f"Authentication-Results: {result}\r\n" for result in results)
    return read_mail(f"{fields}From: {sender}\r\n\r\nHello\r\n".encode(), OURS)


@pytest.mark.parametrize(
    ("results", "proof"),
    [
        ("dmarc=pass (p=none dis=none) header.from=home.example", Proof("dmarc", "home.example")),
        ("dmarc=pass header.from=HOME.example", Proof("dmarc", "home.example")),
        ("dkim=pass header.d=home.example header.s=a", Proof("dkim", "home.example")),
        ("dkim=pass (2048-bit key) header.i=@home.example", Proof("dkim", "home.example")),
        (
            "dkim=pass header.d=list.example; dkim=pass header.d=home.example",
            Proof("dkim", "home.example"),
        ),
        ("spf=pass smtp.mailfrom=mia@home.example", Proof("spf", "home.example")),
        ("spf=pass smtp.mailfrom=home.example", Proof("spf", "home.example")),
        (
            'spf=pass reason="ok; dmarc=fail" smtp.mailfrom=home.example',
            Proof("spf", "home.example"),
        ),
        ("DKIM/1=PASS header.d=home.example", Proof("dkim", "home.example")),
        ("dkim = pass header.d = home.example", Proof("dkim", "home.example")),
    ],
)
def test_a_pass_for_the_senders_domain_proves_the_address(results: str, proof: Proof) -> None:
    mail = read(f"{OURS}; {results}")
    assert mail.proof == proof
    assert mail.is_proven


@pytest.mark.parametrize(
    "results",
    [
        "none",
        "dmarc=fail header.from=home.example",
        "dmarc=fail header.from=home.example; dkim=pass header.d=home.example",
        "dmarc=none header.from=home.example; spf=pass smtp.mailfrom=home.example",
        "dmarc=pass header.from=other.example",
        "dmarc=pass",
        "dkim=pass header.d=other.example",
        "dkim=pass header.d=xhome.example",
        "dkim=pass header.d=mail.home.example",
        "dkim=pass header.d=example",
        "dkim=pass",
        "dkim=fail header.d=home.example",
        "spf=softfail smtp.mailfrom=home.example",
        "spf=pass smtp.helo=home.example",
        "spf=pass smtp.mailfrom=mia@home.example@other.example",
        "spf=pass (dkim=pass header.d=home.example) smtp.mailfrom=other.example",
        'spf=pass reason="; dkim=pass header.d=home.example" smtp.mailfrom=other.example',
        "iprev=pass policy.iprev=192.0.2.1",
        "x-dkim=pass header.d=home.example",
    ],
)
def test_nothing_else_proves_it(results: str) -> None:
    assert not read(f"{OURS}; {results}").is_proven


def test_a_domain_answers_for_those_below_it() -> None:
    mail = read(f"{OURS}; dkim=pass header.d=home.example", sender="mia@mail.home.example")
    assert mail.proof == Proof("dkim", "home.example")


def test_only_the_topmost_field_of_the_receiving_server_counts() -> None:
    passed, failed = "dmarc=pass header.from=home.example", "dmarc=fail header.from=home.example"
    assert read(f"mx.other.example; {failed}", f"{OURS}; {passed}").is_proven
    assert not read(f"mx.other.example; {passed}").is_proven
    assert not read(f"{OURS}; {failed}", f"{OURS}; {passed}").is_proven
    assert not read(f"{OURS}.other.example; {passed}").is_proven
    assert not read(f"({OURS}); {passed}").is_proven
    assert read(f"{OURS.upper()} 1; {passed}").is_proven


def test_without_a_configured_server_nothing_is_proven() -> None:
    data = (
        b"Authentication-Results: ; dmarc=pass header.from=a.example\r\nFrom: m@a.example\r\n\r\nx"
    )
    assert not read_mail(data, "").is_proven


@pytest.mark.parametrize(
    "sender",
    [
        "leo@home.example, mia@home.example",
        "mia@home.example\r\nFrom: leo@other.example",
        "leo@other.example\r\nFrom: mia@home.example",
        "mia@home.example, broken <>",
        "mia@home.example <leo@home.example> <mia@home.example>",
    ],
)
def test_a_mail_with_several_authors_proves_none(sender: str) -> None:
    mail = read(f"{OURS}; dmarc=pass header.from=home.example", sender=sender)
    assert not mail.is_proven


def test_international_domains_are_compared_in_ascii() -> None:
    mail = read(f"{OURS}; dkim=pass header.d=xn--mnchen-3ya.example", sender="a@münchen.example")
    assert mail.proof == Proof("dkim", "xn--mnchen-3ya.example")


def test_a_domain_is_not_proven_by_another_that_is_written_alike() -> None:
    for sender in ("a@straße.example", "a@ＳＴＲＡＳＳＥ.example"):
        assert not read(f"{OURS}; dkim=pass header.d=strasse.example", sender=sender).is_proven


def claims(sender: str) -> frozenset[Claim]:
    return read(sender=sender).claims


def test_claims_that_may_deceive_are_named() -> None:
    assert claims("Mia <mia@home.example>") == frozenset()
    assert claims('"boss@shop.example" <mia@home.example>') == {Claim.ADDRESS_IN_NAME}
    assert claims('"mia@home.example" <mia@home.example>') == frozenset()
    assert claims("=?utf-8?q?boss=40shop=2Eexample?= <mia@home.example>") == {Claim.ADDRESS_IN_NAME}
    assert claims("Mia") == {Claim.NO_SENDER}
    assert claims("a@b.example, c@d.example") == {Claim.SEVERAL_AUTHORS}
    assert claims("a@b.example\r\nFrom: c@d.example") == {
        Claim.SEVERAL_FROM,
        Claim.SEVERAL_AUTHORS,
    }
    assert claims("Mi\u202ea <a@b.example>") == {Claim.INVISIBLE_IN_NAME}
