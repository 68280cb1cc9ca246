"""What holds for every mail, whatever the words are."""

from __future__ import annotations

import base64
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.email.mail import UnreadableMail, read_mail
from aitp_desk.transports.email.mail.content import clean_text
from aitp_desk.transports.email.mail.headers import decode_words
from aitp_desk.transports.email.mail.quotation import divide
from aitp_desk.transports.email.mail.soft_breaks import join_flowed

LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp", "Zs"))
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=8).map(" ".join)
PROSE = st.lists(
    WORDS.filter(lambda line: line[0].isalpha() and not line.endswith((":", "：", "︰"))),
    min_size=1,
    max_size=8,
).map("\n".join)
"""Lines that begin with a letter and do not end with a colon."""


@given(st.binary(max_size=3000))
def test_any_bytes_are_a_mail_or_refused(data: bytes) -> None:
    try:
        mail = read_mail(data, "mx.example")
    except UnreadableMail:
        return
    mail.text.encode()
    assert not mail.is_proven


@given(PROSE)
def test_a_new_mail_of_prose_is_kept_whole(prose: str) -> None:
    assert divide(prose).text == prose.strip()


@given(PROSE, PROSE)
def test_a_quotation_is_trimmed_whatever_it_says(said: str, old: str) -> None:
    quoted = "\n".join(f"> {line}" for line in old.split("\n"))
    line = "On Tue, 3 Nov 2026 at 10:12, Shop <desk@shop.example> wrote:"
    division = divide(f"{said}\n\n{line}\n{quoted}\n", subject="Re: x", is_reply=True)
    assert division.text == divide(said).text
    assert division.trimmed[-1].text == f"{line}\n{quoted}"


@given(st.text(LETTERS | st.sampled_from("\n\n>: -"), max_size=400), st.booleans())
def test_every_line_is_kept_or_trimmed(text: str, is_reply: bool) -> None:
    division = divide(text, is_reply=is_reply)
    pieces = [division.text, *(piece.text for piece in division.trimmed)]
    kept = sorted(line.strip() for piece in pieces for line in piece.split("\n") if line.strip())
    assert kept == sorted(line.strip() for line in text.split("\n") if line.strip())


@given(PROSE, st.sampled_from(["utf-8", "utf-16", "gb18030"]), st.sampled_from(["base64", "8bit"]))
def test_text_survives_its_way(prose: str, charset: str, encoding: str) -> None:
    data = prose.encode(charset)
    if encoding == "base64" or charset == "utf-16":
        encoding, data = "base64", base64.encodebytes(data)
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
    assert read_mail(head.encode() + data, "").text == clean_text(prose).strip()


@given(WORDS, WORDS.map(lambda name: name.strip('"\\')), PROSE)
def test_what_the_standard_library_writes_is_read(subject: str, name: str, prose: str) -> None:
    message = EmailMessage(policy=SMTP)
    message["To"] = "desk@shop.example"
    message.set_content(prose)
    message.add_alternative("<p>x</p>", subtype="html")
    message.add_attachment(name.encode(), "application", "x-lamp", filename="lamp.bin")
    field = Header(subject, "utf-8").encode(linesep="\r\n")
    mail = read_mail(f"Subject: {field}\r\n".encode() + message.as_bytes(), "")
    assert mail.subject == " ".join(subject.split())[:500]
    assert mail.text == clean_text(prose).strip()
    assert mail.recipients[0].address == "desk@shop.example"
    assert [attachment.data for attachment in mail.attachments] == [name.encode()][: len(name)]


@given(st.text(max_size=200))
def test_decoded_words_are_one_line(value: str) -> None:
    found = decode_words(value.encode("utf-8", "replace").decode("ascii", "surrogateescape"))
    assert "\n" not in found
    found.encode()


@given(st.text(st.sampled_from("a >-\n"), max_size=60))
def test_joined_lines_keep_all_words(text: str) -> None:
    joined = join_flowed(text, delete_space=False)
    assert joined.count("a") == text.count("a")
