"""What a mail is to the desk: whose conversation, which event, which files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.email.mail import UnreadableMail
from aitp_desk.transports.events import (
    AutomaticMessage,
    DeliveryFailure,
    Incoming,
    OptOut,
    TextMessage,
)
from tests.support.transports.mail_desk import (
    ADDRESS,
    AUTHORITY,
    PROVEN,
    MailDesk,
    make_bounce,
    make_mail,
)

DESK = MailDesk()
OTHER_CONVERSATION = "b" * 16
CONVERSATION = "a" * 16
OWN = DESK.addresses.make(CONVERSATION)
OWN_ID = DESK.message_ids.make(CONVERSATION, "m1")


def read(data: bytes, *recipients: str, desk: MailDesk = DESK) -> Incoming:
    return desk.arrivals.read(data, recipients or (ADDRESS,)).incoming


def text_of(incoming: Incoming) -> TextMessage:
    assert isinstance(incoming.event, TextMessage)
    return incoming.event


def test_a_proven_mail() -> None:
    incoming = read(make_mail("Hello", headers={"Authentication-Results": PROVEN}))
    assert incoming.is_proven
    assert (incoming.sender, incoming.sender_name) == ("ada@people.example", "Ada")
    assert incoming.sent_at == 1_793_700_000
    message = text_of(incoming)
    assert (message.text, message.subject) == ("Hello", "A question")
    assert message.message_ref == "q1@people.example"


def test_the_case_of_an_address_is_the_same_person() -> None:
    assert read(make_mail("Hello", headers={"From": "Ada@People.example"})).sender == (
        "ada@people.example"
    )


@pytest.mark.parametrize(
    "sender", ['"boss@shop.example" <eve@elsewhere.example>', "B\u202eoss <eve@elsewhere.example>"]
)
def test_a_name_that_deceives_is_not_shown(sender: str) -> None:
    incoming = read(f"From: {sender}\r\nMessage-ID: <a@b>\r\n\r\nHello\r\n".encode())
    assert (incoming.sender, incoming.sender_name) == ("eve@elsewhere.example", "")


def test_a_mail_with_only_a_subject_asks_with_it() -> None:
    assert text_of(read(make_mail(" ", headers={"Subject": "When do you open?"}))).text == (
        "When do you open?"
    )


def test_a_reply_that_only_quotes_asks_nothing() -> None:
    text = "On Mon, 2 Nov 2026 at 10:00, Desk <desk@shop.example> wrote:\n> We open at nine.\n"
    message = text_of(read(make_mail(text, headers={"Subject": "Re: When do you open?"}), OWN))
    assert message.text == ""
    assert message.refusals == (
        "Your mail holds only the earlier conversation. Please write your answer above it.",
    )


def test_the_files_of_an_automatic_mail_are_named() -> None:
    sent = {"Auto-Submitted": "auto-replied"}
    event = read(make_mail("I am away.", headers=sent, files={"plan.pdf": b"%PDF-1.7"})).event
    assert isinstance(event, AutomaticMessage)
    assert event.reason.endswith("Its files are not kept: plan.pdf.")


def test_the_reply_address_names_the_conversation() -> None:
    for data, to in (
        (make_mail("Hello"), OWN),
        (make_mail("Hello", headers={"To": f"Desk <{OWN.upper()}>"}), ADDRESS),
        (make_mail("Hello", headers={"Delivered-To": OWN}), ADDRESS),
    ):
        assert read(data, to).conversation == CONVERSATION


def test_the_desks_message_ids_name_the_conversation() -> None:
    for headers in (
        {"In-Reply-To": f"<{OWN_ID}>"},
        {"References": f"<x@people.example> <{OWN_ID}> <y@people.example>"},
    ):
        assert read(make_mail("Hello", headers=headers)).conversation == CONVERSATION


def test_the_reply_address_counts_more_than_a_reference() -> None:
    other = DESK.message_ids.make(OTHER_CONVERSATION, "m1")
    data = make_mail("Hello", headers={"In-Reply-To": f"<{other}>"})
    assert read(data, OWN).conversation == CONVERSATION


@pytest.mark.parametrize(
    "headers",
    [
        {"In-Reply-To": f"<{OWN_ID.replace(CONVERSATION, OTHER_CONVERSATION)}>"},
        {"In-Reply-To": "<q1@people.example>", "References": "<q1@people.example>"},
        {"To": f"desk+{OTHER_CONVERSATION}{'a' * 16}@shop.example"},
    ],
)
def test_what_the_desk_has_not_signed_joins_no_conversation(headers: dict[str, str]) -> None:
    first = read(make_mail("Hello"))
    incoming = read(make_mail("Me too", headers={**headers, "From": "eve@elsewhere.example"}))
    assert incoming.conversation not in {CONVERSATION, OTHER_CONVERSATION, first.conversation}


def test_the_same_mail_on_another_way_is_the_same_event() -> None:
    data = make_mail("Hello")
    trace = b"Received: from a by b; Tue, 03 Nov 2026 10:00:01 +0000\r\nX-Spam: no\r\n"
    assert read(trace + data).event_id == read(data).event_id


def test_a_copied_message_id_is_another_event_and_conversation() -> None:
    first = read(make_mail("Hello", headers={"Authentication-Results": PROVEN}))
    for copy in (
        make_mail("Hello, I am Ada", headers={"Authentication-Results": PROVEN}),
        make_mail("Hello"),  # as somebody sends it who has only seen it
        make_mail("Hello", headers={"From": "eve@elsewhere.example"}),
        make_mail("Hello", files={"a.txt": b"x"}),
    ):
        other = read(copy)
        assert other.event_id != first.event_id
        assert other.conversation != first.conversation


def test_another_desk_names_conversations_otherwise() -> None:
    data = make_mail("Hello")
    assert len(read(data).conversation) == 16
    assert read(data).event_id.startswith(read(data).conversation)


def bounce(action: str = "failed", status: str = "5.1.1", message_id: str = OWN_ID) -> bytes:
    return make_bounce(OWN, f"<{message_id}>", action=action, status=status)


@pytest.mark.parametrize(
    ("status", "is_final"), [("5.1.1", True), ("5.2.1", True), ("5.2.2", False), ("5.7.1", False)]
)
def test_a_bounce_is_a_failure_of_the_desks_mail(status: str, is_final: bool) -> None:
    for recipient in (OWN, ADDRESS):
        incoming = read(bounce(status=status), recipient)
        assert incoming.conversation == CONVERSATION
        assert incoming.event == DeliveryFailure(
            message_ref=OWN_ID, reason=f"The mail came back ({status}).", is_final=is_final
        )


def test_a_mail_that_is_delayed_has_not_failed() -> None:
    assert isinstance(read(bounce("delayed", "4.4.1"), OWN).event, AutomaticMessage)


def test_a_bounce_of_a_mail_that_the_desk_has_not_sent_is_no_failure() -> None:
    data = bounce(message_id="x@elsewhere.example").replace(OWN.encode(), ADDRESS.encode())
    assert isinstance(read(data).event, AutomaticMessage)


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto-Submitted": "auto-replied"},
        {"Precedence": "bulk"},
        {"List-Id": "<news.people.example>"},
        {"From": f"Desk <{ADDRESS}>"},
        {"From": ""},
    ],
)
def test_automatic_mails_are_recorded_and_not_messages(headers: dict[str, str]) -> None:
    incoming = read(make_mail("I am on holiday.", headers=headers), OWN)
    assert isinstance(incoming.event, AutomaticMessage)
    assert incoming.event.text == "I am on holiday."
    assert incoming.event.reason.endswith(".")
    assert incoming.sender
    assert incoming.conversation == CONVERSATION


def test_a_mail_to_unsubscribe_ends_the_mails() -> None:
    data = make_mail("\n", headers={"Subject": "unsubscribe"})
    assert read(data, OWN).event == OptOut(message_ref="q1@people.example")
    assert isinstance(read(data).event, TextMessage)  # to the desk's address, it ends nothing


def test_files_are_kept_by_what_they_are() -> None:
    files = {"a.txt": b"Two books.", "b.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 20}
    arrival = DESK.arrivals.read(make_mail("See here", files=files), (ADDRESS,))
    first, second = text_of(arrival.incoming).files
    assert (first.name, first.content_type, first.size) == ("a.txt", "text/plain", 10)
    assert (second.name, second.content_type) == ("b.png", "image/png")
    assert arrival.kept == {first.ref: files["a.txt"], second.ref: files["b.png"]}


def test_files_that_the_site_refuses_are_named_to_their_sender() -> None:
    desk = MailDesk(refused_types=("image/*",), max_files=1)
    png = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
    files = {"a.png": png, "b.txt": b"one", "c.txt": b"two"}
    arrival = desk.arrivals.read(make_mail("See here", files=files), (ADDRESS,))
    message = text_of(arrival.incoming)
    assert [one.name for one in message.files] == ["b.txt"]
    assert list(arrival.kept.values()) == [b"one"]
    assert message.refusals == (
        "The attachment a.png was not taken: this kind of file is not accepted here.",
        (
            "The attachment c.txt was not taken: a mail may have at most 1 files. Please send it in"
            " another mail."
        ),
    )


PE = b"MZ\x90\x00\x03\x00\x00\x00" + b"\0" * 60


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("photo.png", PE),
        ("setup", PE),
        ("tool.pdf", b"\x7fELF\x02\x01\x01" + b"\0" * 60),
        ("tool", b"\xcf\xfa\xed\xfe" + b"\0" * 60),
        ("clean.txt", b"#!/bin/sh\nrm -rf .\n"),
        ("invoice.pdf.JS", b"WScript.Echo(1)"),
        ("invoice.bat", b"@echo off"),
        ("invoice.lnk", b"L\0\0\0"),
    ],
)
def test_programs_are_not_taken_whatever_they_are_called(name: str, data: bytes) -> None:
    arrival = DESK.arrivals.read(make_mail("See here", files={name: data}), (ADDRESS,))
    message = text_of(arrival.incoming)
    assert message.files == ()
    assert arrival.kept == {}
    (refusal,) = message.refusals
    assert name in refusal


@pytest.mark.parametrize(
    ("name", "data"), [("MZ.txt", b"MZ is a letter."), ("exe", b"Text."), ("a.b", b"\0\1\2")]
)
def test_files_that_only_resemble_programs_are_taken(name: str, data: bytes) -> None:
    arrival = DESK.arrivals.read(make_mail("See here", files={name: data}), (ADDRESS,))
    message = text_of(arrival.incoming)
    assert [one.name for one in message.files] == [name]
    assert message.refusals == ()


def test_a_sender_learns_that_a_text_was_cut_but_not_that_a_quotation_was() -> None:
    text = text_of(read(make_mail("lamp " * 100_000)))
    assert text.refusals == ("Your mail is very long; only its beginning was read.",)
    quotation = "> Shall we send it?\r\n" * 12_000
    quoted = make_mail(f"Yes.\r\n\r\n{quotation}", headers={"In-Reply-To": "<a@b.c>"})
    assert text_of(read(quoted)).refusals == ()


def test_what_cannot_be_opened_is_said_in_the_sites_language() -> None:
    desk = MailDesk(language="de")
    mail = make_mail("Siehe Anhang", files={"winmail.dat": b"\x78\x9f\x3e\x22" + b"\0" * 20})
    message = text_of(desk.arrivals.read(mail, (ADDRESS,)).incoming)
    assert message.text == "Siehe Anhang"
    (refusal,) = message.refusals
    assert refusal.startswith("Der Anhang winmail.dat ließ sich nicht öffnen")


@pytest.mark.parametrize("ends", [b"\r\n", b"\n"])
def test_of_a_mail_that_exceeds_a_bound_the_header_is_read(ends: bytes) -> None:
    desk = MailDesk(max_bytes=1000)
    mail = make_mail("word " * 500).replace(b"\r\n", b"\n").replace(b"\n", ends)
    arrival = desk.arrivals.read_header(mail)
    assert arrival is not None
    message = text_of(arrival.incoming)
    assert (arrival.incoming.sender, message.subject) == ("ada@people.example", "A question")
    assert message.text == ""
    assert "could not be read" in message.refusals[0]
    automatic = make_mail("word " * 500, headers={"Auto-Submitted": "auto-replied"})
    found = desk.arrivals.read_header(automatic)
    assert found is not None
    assert isinstance(found.incoming.event, AutomaticMessage)
    assert desk.arrivals.read_header(b"a: b\n" * 100_000) is None


def test_automatic_mails_keep_no_files() -> None:
    data = make_mail("Away", headers={"Auto-Submitted": "auto-replied"}, files={"a.txt": b"x"})
    assert DESK.arrivals.read(data, (ADDRESS,)).kept == {}


def test_a_mail_that_exceeds_a_bound_is_refused() -> None:
    with pytest.raises(UnreadableMail):
        read(make_mail("word " * 500), desk=MailDesk(max_bytes=1000))


def test_only_the_own_server_proves_a_sender() -> None:
    for results in ("", PROVEN.replace(AUTHORITY, "mx.elsewhere.example")):
        headers = {"Authentication-Results": results}
        assert not read(make_mail("Hello", headers=headers)).is_proven


@given(st.binary(max_size=400), st.binary(max_size=100))
def test_any_bytes_are_an_event_or_refused(head: bytes, body: bytes) -> None:
    for data in (head, make_mail("Hello") + body, head + b"\r\n\r\n" + body):
        if (found := DESK.arrivals.read_header(data)) is not None:
            assert found.kept == {}
            event = found.incoming.event
            assert not (isinstance(event, TextMessage) and event.text)
        try:
            incoming = read(data)
        except UnreadableMail:
            continue
        assert incoming.sender
        assert len(incoming.conversation) == 16
        assert len(incoming.event_id) <= 100
