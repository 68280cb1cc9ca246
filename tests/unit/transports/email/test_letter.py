"""A message of the desk as a mail: what every mail program shows, and nothing injected."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.transports.email.letter.letter import Envelope, Site, write_letter
from aitp_desk.transports.email.letter.texts import LANGUAGES, say
from aitp_desk.transports.messages import EarlierMessage, Outgoing, OutgoingFile, Source
from aitp_desk.transports.pages.html import Link

SITE = Site(address="desk@shop.example", name="Lamp shop", colour="#0b5fff")
ENVELOPE = Envelope(
    message_id="abc.def.ghi@shop.example",
    recipient="ada@people.example",
    reply_to="desk+token@shop.example",
    unsubscribe="https://shop.example/transports/email/unsubscribe?link=" + "u" * 300,
    now=1_000_000_000.0,
)


def outgoing(text: str = "We open at nine.", **values: Any) -> Outgoing:
    return Outgoing(
        id="m1", conversation="c" * 16, recipient="ada@people.example", text=text, **values
    )


def written(message: Outgoing, site: Site = SITE, **envelope: Any) -> tuple[bytes, EmailMessage]:
    data = write_letter(message, site, msgspec.structs.replace(ENVELOPE, **envelope))
    return data, message_from_bytes(data, policy=policy.default)


def part(mail: EmailMessage, subtype: str) -> str:
    found = mail.get_body((subtype,))
    assert found is not None
    return str(found.get_content())


def test_the_headers_of_an_answer() -> None:
    _, mail = written(
        outgoing(subject="Opening hours", answers_ref="q1@people.example", previous_refs=("a@x",))
    )
    assert mail["From"] == "Lamp shop <desk@shop.example>"
    assert mail["To"] == "ada@people.example"
    assert mail["Reply-To"] == "Lamp shop <desk+token@shop.example>"
    assert mail["Subject"] == "Re: Opening hours"
    assert mail["Message-ID"] == "<abc.def.ghi@shop.example>"
    assert mail["In-Reply-To"] == "<q1@people.example>"
    assert mail["References"] == "<a@x> <q1@people.example>"
    assert mail["Auto-Submitted"] == "auto-replied"
    assert mail["X-Auto-Response-Suppress"] == "All"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert f"<{ENVELOPE.unsubscribe}>" in mail["List-Unsubscribe"]
    assert mail["Date"] == "Sun, 09 Sep 2001 01:46:40 +0000"


def test_a_mail_has_a_text_and_an_html_form() -> None:
    _, mail = written(outgoing("We open at **nine**, see [hours](https://shop.example/hours)."))
    assert mail.get_content_type() == "multipart/alternative"
    assert "see hours <https://shop.example/hours>" in part(mail, "plain")
    page = LexborHTMLParser(part(mail, "html"))
    link = page.css_first('a[href="https://shop.example/hours"]')
    assert link is not None
    assert link.text() == "hours"
    assert page.css_first("strong") is not None


@pytest.mark.parametrize("subject", ["Re: Re: hours", "AW: RE: hours", "SV: hours", "hours"])
def test_an_answer_has_one_re(subject: str) -> None:
    _, mail = written(outgoing(subject=subject, answers_ref="a@x"))
    assert mail["Subject"] == "Re: hours"


def test_a_conversation_that_the_desk_begins_has_no_re() -> None:
    _, mail = written(outgoing(subject="Your lamp", is_reply=False))
    assert mail["Subject"] == "Your lamp"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert "In-Reply-To" not in mail
    assert written(outgoing())[1]["Subject"] == "Lamp shop"


def test_an_operators_name_is_next_to_the_address() -> None:
    _, mail = written(outgoing(speaker="Anna"))
    assert mail["From"] == "Anna from Lamp shop <desk@shop.example>"


def test_nothing_in_the_html_is_markup_of_a_message_or_is_loaded() -> None:
    text = (
        "<script>alert(1)</script> ![logo](https://spy.example/p.gif) [x](javascript:alert(1))"
        ' <img src="https://spy.example/q.gif">'
    )
    _, mail = written(
        outgoing(text, sources=(Source(title="<b>S</b>", url='https://x.example/?"><script>'),))
    )
    page = LexborHTMLParser(part(mail, "html"))
    for tag in ("script", "img", "style", "link", "iframe", "svg"):
        assert page.css(tag) == []
    for link in page.css("a"):
        assert re.match("https?://", link.attributes["href"] or "")
    for element in page.css("*"):
        assert not [name for name in element.attributes if name.startswith("on")]
        assert "url(" not in (element.attributes.get("style") or "")
    assert "<script>alert(1)</script>" in part(mail, "plain")


def test_sources_buttons_and_the_conversation_so_far_are_shown() -> None:
    message = outgoing(
        sources=(Source(title="Hours", url="https://shop.example/hours"),),
        earlier=(
            EarlierMessage(speaker="ada@people.example", text="When?", sent_at=0),
            EarlierMessage(speaker="", text="At **nine**.", sent_at=60),
        ),
    )
    _, mail = written(message, buttons=(Link("Yes", "https://shop.example/press", "primary"),))
    text, page = part(mail, "plain"), LexborHTMLParser(part(mail, "html"))
    assert "Yes: https://shop.example/press" in text
    assert "- Hours: https://shop.example/hours" in text
    assert text.index("> Lamp shop, 1970-01-01 00:01 UTC") < text.index("> ada@people.example")
    assert "> At **nine**." in text
    button = page.css_first('a[href="https://shop.example/press"]')
    assert button is not None
    assert button.text() == "Yes"
    quotation = page.css_first('blockquote[type="cite"]')
    assert quotation is not None
    assert "When?" in quotation.text()


def test_attachments_keep_their_names_and_types() -> None:
    files = (
        OutgoingFile(name="Größe\r\n.pdf", content_type="application/pdf", data=b"%PDF"),
        OutgoingFile(name="", content_type="message/rfc822\r\nX: y", data=b"From: a"),
    )
    _, mail = written(outgoing(files=files))
    first, second = mail.iter_attachments()
    assert first.get_filename() == "Größe .pdf"
    assert first.get_content_type() == "application/pdf"
    assert first.get_content() == b"%PDF"
    assert second.get_content_type() == "application/octet-stream"


def test_mail_to_an_address_in_unicode_has_headers_in_unicode() -> None:
    data, mail = written(outgoing(), recipient="ädä@people.example")
    assert "To: ädä@people.example" in data.decode()
    assert mail["To"] == "ädä@people.example"
    assert written(outgoing("Größe"))[0].isascii()


HOSTILE = st.text(
    st.characters(codec="utf-8") | st.sampled_from('\r\n\0\x0b\x0c\x85\u2028<>@,;:"\\()'),
    max_size=300,
)


@given(subject=HOSTILE, speaker=HOSTILE, text=HOSTILE, name=HOSTILE, ref=HOSTILE)
def test_no_text_becomes_a_header_or_a_long_line(
    subject: str, speaker: str, text: str, name: str, ref: str
) -> None:
    files = (OutgoingFile(name=name, content_type=name, data=b"x"),)
    message = outgoing(
        text,
        subject=subject,
        speaker=speaker,
        answers_ref=ref,
        previous_refs=(ref, "a@x"),
        files=files,
        earlier=(EarlierMessage(speaker=name, text=text, sent_at=1),),
    )
    data, mail = written(message, Site(address="desk@shop.example", name=name or "Shop"))
    expected = {"from", "to", "reply-to", "subject", "date", "message-id", "in-reply-to"}
    expected |= {"references", "content-language", "auto-submitted", "x-auto-response-suppress"}
    expected |= {"list-unsubscribe", "list-unsubscribe-post", "mime-version", "content-type"}
    assert {found.lower() for found in mail} <= expected
    assert mail["From"].addresses[0].addr_spec == "desk@shop.example"
    assert mail["Reply-To"].addresses[0].addr_spec == "desk+token@shop.example"
    assert mail["List-Unsubscribe"].startswith(f"<{ENVELOPE.unsubscribe}>")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert max(map(len, data.split(b"\r\n"))) < 998
    assert [one.get_content() for one in mail.iter_attachments()] == [b"x"]


SHOWN = st.characters(exclude_categories=("Cc", "Cs"), include_characters="\n\t")
"""Control characters are left out of mails."""


@given(st.text(SHOWN, max_size=3000))
def test_every_text_arrives_whole_in_the_text_form(text: str) -> None:
    _, mail = written(outgoing(f"begin {text} end"))
    words = [word for word in re.findall(r"[\w]+", text) if word.isascii()]
    assert set(words) <= set(re.findall(r"[\w]+", part(mail, "plain")))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_in_every_language(language: str) -> None:
    mails = [
        part(
            written(outgoing(language=tag, sources=(Source(title="a", url="https://a.example"),)))[
                1
            ],
            "html",
        )
        for tag in (language, f"{language}-XX")
    ]
    assert say("reply", language) in mails[0].replace("&#x27;", "'")
    assert f'<html lang="{language}"' in mails[1]


def test_an_unknown_language_is_english() -> None:
    assert "Reply to this mail" in part(written(outgoing(language="tlh"))[1], "html")
