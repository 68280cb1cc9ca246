"""Messages of the desk on WhatsApp, and deliveries to it."""

from __future__ import annotations

import json
import logging

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable, WindowClosed
from aitp_desk.transports.events import Choice, DeliveryFailure, IncomingFile, TextMessage
from aitp_desk.transports.messages import Button, Field, Form, Outgoing, OutgoingFile, Source
from aitp_desk.transports.whatsapp.client import GraphApi
from aitp_desk.transports.whatsapp.message_wire import Media, build_messages
from aitp_desk.transports.whatsapp.transport import WhatsAppTransport
from tests.support.transports.small_desk import SmallDesk, open_small_desk
from tests.support.transports.whatsapp_platform import (
    ACCOUNT_ID,
    APP_SECRET,
    NOW,
    TOKEN,
    WhatsAppPlatform,
    sign,
)
from tests.support.transports.whatsapp_rules import check_message

ANN = "4915100010000"
DAY = 24 * 60 * 60
FORM = Form(
    token="f",
    title="Delivery",
    fields=(Field(name="city", label="City"), Field(name="day", label="Day", kind="date")),
    submit="Fill in the form now",
    url="https://shop.example/form/1",
)


def outgoing(text: str = "Hello", conversation: str = ANN, **more: object) -> Outgoing:
    values = {"id": "m1", "conversation": conversation, "recipient": ANN, "text": text}
    return msgspec.convert({**values, "last_heard": NOW, **more}, Outgoing)


@pytest.fixture(autouse=True)
def known(whatsapp: WhatsAppPlatform) -> None:
    assert whatsapp.number("ann") == ANN


# Deliveries


async def test_the_webhook_is_verified_by_the_word(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    assert await whatsapp.handshake() == (200, "1158201444")
    assert (await whatsapp.handshake("another word"))[0] == 401


async def test_a_delivery_is_acknowledged_when_it_is_on_disk(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    desk.failing = 1
    event_id = await whatsapp.write("ann", "Größe 44/2 😀?")
    assert whatsapp.delivered == [503, 200]
    [incoming] = desk.received
    assert incoming.event == TextMessage(text="Größe 44/2 😀?", message_ref=event_id)
    assert incoming.event_id == event_id
    assert incoming.sender_name == "Ann"
    await whatsapp.redeliver(event_id)
    assert desk.repeated == 1


async def test_a_forged_delivery_is_refused(whatsapp: WhatsAppPlatform, desk: SmallDesk) -> None:
    assert await whatsapp.deliver_forged("ann", "Hello") == 401
    assert desk.received == []


async def test_a_signed_body_that_is_not_json_is_refused(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    assert await whatsapp.post(b"{", sign(b"{")) == 400


async def test_a_press_names_the_message_and_the_token(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    message = outgoing(buttons=[{"label": "Yes", "token": "tok_1"}])
    sent = await desk.transport.send(message)
    await whatsapp.press("ann", sent.message_ref, "Yes")
    assert desk.received[0].event == Choice(token="tok_1", message_ref=sent.message_ref)
    await desk.transport.acknowledge(desk.received[0], "")
    assert len(whatsapp.sent) == 1
    await desk.transport.acknowledge(desk.received[0], "It was answered already.")
    assert whatsapp.sent[1].shown == "It was answered already."


async def test_what_became_of_a_message_is_reported(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    sent = await desk.transport.send(outgoing())
    for status in ("sent", "delivered", "read"):
        await whatsapp.deliver_status(sent.message_ref, status)
    assert desk.received == []
    await whatsapp.deliver_status(sent.message_ref, "failed", 131047)
    failure = desk.received[0].event
    assert isinstance(failure, DeliveryFailure)
    assert failure.is_window_closed
    assert failure.message_ref == sent.message_ref


# Messages


async def test_a_text_is_sent_with_its_sources(whatsapp: WhatsAppPlatform, desk: SmallDesk) -> None:
    source = Source(title="Hours", url="https://shop.example/hours")
    message = msgspec.structs.replace(outgoing("We open at **nine**."), sources=(source,))
    sent = await desk.transport.send(msgspec.structs.replace(message, speaker="Ada"))
    [one] = whatsapp.sent
    assert one.id == sent.message_ref
    assert one.shown == "*Ada*\n\nWe open at *nine*.\n\n↗ Hours: https://shop.example/hours"
    assert one.body["text"]["preview_url"] is False
    assert one.body["to"] == ANN
    assert one.body["biz_opaque_callback_data"] == "m1"


async def test_a_person_without_a_visible_number_is_reached_by_user_id(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    whatsapp.hidden.add("bob")
    await whatsapp.write("bob", "Hi")
    await desk.transport.send(outgoing(conversation=desk.received[0].conversation))
    assert whatsapp.sent[0].body["recipient"] == whatsapp.user_id("bob")
    assert "to" not in whatsapp.sent[0].body


async def test_up_to_three_short_choices_are_buttons(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    labels = ("Yes", "No", "Yes")
    buttons = [{"label": label, "token": f"t{n}"} for n, label in enumerate(labels)]
    await desk.transport.send(outgoing(buttons=buttons))
    [one] = whatsapp.sent
    replies = [button["reply"] for button in one.body["interactive"]["action"]["buttons"]]
    assert replies == [
        {"id": "t0", "title": "Yes"},
        {"id": "t1", "title": "No"},
        {"id": "t2", "title": "Yes 2"},
    ]


async def test_more_or_longer_choices_are_a_list(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    long = "A rather long label of a choice that does not fit a row"
    buttons = [{"label": f"Size {n}", "token": f"t{n}"} for n in range(9)]
    buttons.append({"label": long, "token": "t9"})
    await desk.transport.send(outgoing(buttons=buttons, language="de-AT"))
    action = whatsapp.sent[0].body["interactive"]["action"]
    assert action["button"] == "Auswählen"
    [section] = action["sections"]
    assert section["rows"][0] == {"id": "t0", "title": "Size 0"}
    assert section["rows"][9]["description"] == long
    assert len(section["rows"][9]["title"]) <= 24
    [shown] = await whatsapp.shown("ann")
    assert shown.buttons[-1] == long


async def test_choices_beyond_a_list_are_text(whatsapp: WhatsAppPlatform, desk: SmallDesk) -> None:
    buttons = [{"label": f"Size {n}", "token": f"t{n}"} for n in range(12)]
    await desk.transport.send(outgoing(buttons=buttons))
    assert "- Size 10\n- Size 11" in whatsapp.sent[0].shown


async def test_a_long_text_precedes_its_buttons(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    paragraphs = [f"Paragraph {n}. " + "word " * 60 for n in range(12)]
    buttons = [{"label": "OK", "token": "t"}]
    sent = await desk.transport.send(outgoing("\n\n".join(paragraphs), buttons=buttons))
    assert [one.body["type"] for one in whatsapp.sent] == ["text", "interactive"]
    assert whatsapp.sent[1].shown.startswith("Paragraph")
    assert sent.message_ref == whatsapp.sent[1].id


async def test_a_form_is_a_link_to_its_page(whatsapp: WhatsAppPlatform, desk: SmallDesk) -> None:
    await desk.transport.send(msgspec.structs.replace(outgoing("Where to?"), form=FORM))
    interactive = whatsapp.sent[0].body["interactive"]
    assert interactive["type"] == "cta_url"
    assert interactive["action"]["parameters"] == {
        "display_text": "Delivery",
        "url": "https://shop.example/form/1",
    }
    both = msgspec.structs.replace(
        outgoing("Where to?"), form=FORM, buttons=(Button(label="Later", token="t"),)
    )
    await desk.transport.send(both)
    assert "https://shop.example/form/1" in whatsapp.sent[1].shown
    assert whatsapp.sent[1].body["interactive"]["type"] == "button"


async def test_a_file_is_uploaded_and_shown(whatsapp: WhatsAppPlatform, desk: SmallDesk) -> None:
    pdf = OutgoingFile(name="a.pdf", content_type="application/pdf", data=b"%PDF\r\n--")
    png = OutgoingFile(name="b.png", content_type="image/png", data=b"\x89PNG")
    await desk.transport.send(msgspec.structs.replace(outgoing("See here"), files=(pdf,)))
    [one] = whatsapp.sent
    assert (one.shown, one.file) == ("See here", pdf.data)
    assert one.body["document"]["filename"] == "a.pdf"
    await desk.transport.send(msgspec.structs.replace(outgoing("Both"), files=(pdf, png)))
    assert [one.body["type"] for one in whatsapp.sent[1:]] == ["document", "image", "text"]


async def test_files_that_whatsapp_does_not_take_are_refused(desk: SmallDesk) -> None:
    script = OutgoingFile(name="a.sh", content_type="application/x-sh", data=b"x")
    with pytest.raises(Refused, match="kind of file"):
        await desk.transport.send(msgspec.structs.replace(outgoing(), files=(script,)))
    empty = OutgoingFile(name="a.txt", content_type="text/plain", data=b"")
    with pytest.raises(Refused, match="100 MB"):
        await desk.transport.send(msgspec.structs.replace(outgoing(), files=(empty,)))


# The window of 24 hours


async def test_after_a_day_there_is_no_free_text(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    await desk.transport.send(outgoing(last_heard=NOW - DAY + 120))
    for late in (outgoing(last_heard=NOW - DAY), outgoing(last_heard=NOW - DAY + 30)):
        with pytest.raises(WindowClosed):
            await desk.transport.send(late)
    assert len(whatsapp.sent) == 1


async def test_what_whatsapp_knows_better_closes_the_window(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    whatsapp.closed.add("ann")
    for message in (outgoing(), outgoing(last_heard=0)):
        with pytest.raises(WindowClosed):
            await desk.transport.send(message)


class TestTemplate:
    @pytest.fixture
    async def whatsapp(self, whatsapp: WhatsAppPlatform) -> WhatsAppPlatform:
        whatsapp.template = "desk_message"
        return whatsapp

    async def test_carries_the_text_on_one_line(
        self, whatsapp: WhatsAppPlatform, desk: SmallDesk
    ) -> None:
        message = outgoing("Your book\n\n- is **here**\n- waits", last_heard=NOW - 2 * DAY)
        await desk.transport.send(msgspec.structs.replace(message, form=FORM))
        [one] = whatsapp.sent
        assert one.body["template"]["language"] == {"code": "en"}
        assert one.shown == (
            "The Paper Lantern writes: Your book • is here • waits"
            " Delivery: https://shop.example/form/1"
        )

    async def test_is_used_when_whatsapp_says_that_the_window_is_closed(
        self, whatsapp: WhatsAppPlatform, desk: SmallDesk
    ) -> None:
        whatsapp.closed.add("ann")
        await desk.transport.send(outgoing("Your book is here…"))
        [one] = whatsapp.sent
        assert one.body["type"] == "template"
        assert one.shown.endswith("here…")

    @pytest.mark.parametrize(
        ("text", "files"), [("x" * 2000, ""), ("", "a.txt"), ("Here", "a.txt")]
    )
    async def test_announces_what_it_cannot_carry(
        self, whatsapp: WhatsAppPlatform, desk: SmallDesk, text: str, files: str
    ) -> None:
        file = OutgoingFile(name=files, content_type="text/plain", data=b"a")
        late = outgoing(text, last_heard=NOW - 2 * DAY)
        with pytest.raises(WindowClosed):
            await desk.transport.send(msgspec.structs.replace(late, files=(file,) if files else ()))
        [one] = whatsapp.sent
        assert (text[:100] or files) in one.shown

    async def test_that_is_wrong_says_what_is(
        self, whatsapp: WhatsAppPlatform, desk: SmallDesk
    ) -> None:
        late = outgoing(last_heard=NOW - 2 * DAY)
        whatsapp.templates[("desk_message", "en")] = 2
        with pytest.raises(Refused, match="one variable"):
            await desk.transport.send(late)
        whatsapp.templates.clear()
        with pytest.raises(Refused, match="no approved template"):
            await desk.transport.send(late)


# What fails


@pytest.mark.parametrize("conversation", ["4916000000000", "nonsense", "../messages"])
async def test_who_is_not_on_whatsapp_is_unreachable(desk: SmallDesk, conversation: str) -> None:
    with pytest.raises(Unreachable):
        await desk.transport.send(outgoing(conversation=conversation))


async def test_limits_and_faults_pass(whatsapp: WhatsAppPlatform, desk: SmallDesk) -> None:
    whatsapp.break_next(retry_after=1)
    with pytest.raises(TryLater) as caught:
        await desk.transport.send(outgoing())
    assert caught.value.after
    whatsapp.break_next()
    with pytest.raises(TryLater):
        await desk.transport.send(outgoing())
    await desk.transport.send(outgoing())


async def test_nothing_is_deleted(desk: SmallDesk) -> None:
    with pytest.raises(Refused):
        await desk.transport.retract(ANN, "wamid.x")


async def test_a_message_is_marked_as_read_with_typing(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    event_id = await whatsapp.write("ann", "Hello")
    await desk.transport.show_typing(desk.received[0])
    assert whatsapp.read == [(event_id, True)]


# Files


async def test_a_file_is_read(whatsapp: WhatsAppPlatform, desk: SmallDesk) -> None:
    await whatsapp.attach("ann", "see", "note.txt", b"content")
    event = desk.received[0].event
    assert isinstance(event, TextMessage)
    assert event.text == "see"
    assert await desk.transport.fetch(event.files[0], 100) == b"content"
    with pytest.raises(Refused, match="6 bytes"):
        await desk.transport.fetch(event.files[0], 6)


ELSEWHERE = [
    "https://files.evil.example/",
    "http://lookaside.fbsbx.com/x",
    "https://lookaside.fbsbx.com.evil.example/x",
    "https://evilfbsbx.com/x",
    "https://user@lookaside.fbsbx.com/x",
    "https://lookaside.fbsbx.com:8443/x",
    "https://evil.example\\.fbsbx.com/x",
    "http://127.0.0.1:1/x",
    "//lookaside.fbsbx.com/x",
    "https://[::1",
]


@pytest.mark.parametrize("url", ELSEWHERE)
async def test_the_token_goes_to_hosts_of_meta_only(
    whatsapp: WhatsAppPlatform, desk: SmallDesk, url: str
) -> None:
    whatsapp.media_url = url
    media_id = whatsapp.keep_media("text/plain", b"x")
    file = IncomingFile(name="a", content_type="text/plain", ref=media_id)
    with pytest.raises(Refused, match="server of Meta"):
        await desk.transport.fetch(file, 100)
    assert {request.url.partition("?")[0] for request in desk.requests} == {
        f"{whatsapp.url}/v26.0/{media_id}"
    }


@pytest.mark.parametrize("ref", ["", "../x", "1?fields=x", "a b"])
async def test_an_id_that_is_none_is_refused(desk: SmallDesk, ref: str) -> None:
    with pytest.raises(Refused):
        await desk.transport.fetch(IncomingFile(name="", content_type="", ref=ref), 100)
    assert desk.requests == []


# Set-up


async def test_an_invitation_opens_the_chat_with_the_code(whatsapp: WhatsAppPlatform) -> None:
    async with open_small_desk(WhatsAppTransport, whatsapp) as desk:
        assert desk.transport.invite("ABCD-EFGH-JKMN") == ""
    whatsapp.number_in_settings = "15550783881"
    async with open_small_desk(WhatsAppTransport, whatsapp) as desk:
        assert desk.transport.invite("ABCD-EFGH-JKMN") == (
            "WhatsApp: https://wa.me/15550783881?text=%2Fjoin%20ABCD-EFGH-JKMN"
        )


async def test_the_check_says_what_works(whatsapp: WhatsAppPlatform, desk: SmallDesk) -> None:
    steps = [step async for step in desk.transport.check()]
    assert [step.is_done for step in steps] == [True] * 6
    assert "+1 555-078-3881" in steps[0].detail
    assert f"{whatsapp.desk}/transports/whatsapp/webhook" in steps[3].detail


OTHER_HOOK = "https://elsewhere.example/hook"


@pytest.mark.parametrize(
    ("wrong", "value", "done", "told"),
    [
        ("number_states", ("PENDING", "CLOUD_API"), 2, "PHONE_NUMBER_ID/register"),
        ("number_states", ("CONNECTED", "NOT_APPLICABLE"), 2, "PHONE_NUMBER_ID/register"),
        ("subscribed_apps", [], 4, f"{ACCOUNT_ID}/subscribed_apps"),
        ("subscribed_apps", ["1"], 4, f"{ACCOUNT_ID}/subscribed_apps"),
        ("fields", ["account_update"], 5, "not subscribed to messages"),
        ("callback", OTHER_HOOK, 5, OTHER_HOOK),
        ("override", OTHER_HOOK, 5, OTHER_HOOK),
    ],
)
async def test_the_check_says_what_is_still_to_be_done_at_meta(
    whatsapp: WhatsAppPlatform, desk: SmallDesk, wrong: str, value: object, done: int, told: str
) -> None:
    setattr(whatsapp, wrong, value)
    steps = [step async for step in desk.transport.check()]
    assert [step.is_done for step in steps] == [True] * done + [False]
    assert told in steps[-1].detail


async def test_an_override_that_leads_to_the_desk_is_right(
    whatsapp: WhatsAppPlatform, desk: SmallDesk
) -> None:
    whatsapp.callback = OTHER_HOOK
    whatsapp.override = f"{whatsapp.desk}/transports/whatsapp/webhook"
    assert all([step.is_done async for step in desk.transport.check()])


@pytest.mark.parametrize(
    ("variable", "value", "done"),
    [("WHATSAPP_ACCESS_TOKEN", "EAAwrong", 0), ("WHATSAPP_APP_SECRET", "wrong", 1)],
)
async def test_the_check_says_what_does_not(
    whatsapp: WhatsAppPlatform,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    done: int,
) -> None:
    environment = {**whatsapp.environment, variable: value}
    monkeypatch.setattr(WhatsAppPlatform, "environment", environment)
    async with open_small_desk(WhatsAppTransport, whatsapp) as desk:
        steps = [step async for step in desk.transport.check()]
    assert [step.is_done for step in steps] == [True] * done + [False]
    assert steps[-1].detail


@pytest.mark.parametrize("variable", ["ACCESS_TOKEN", "APP_SECRET", "VERIFY_TOKEN"])
async def test_a_missing_variable_is_named(
    whatsapp: WhatsAppPlatform, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    environment = {**whatsapp.environment, f"WHATSAPP_{variable}": ""}
    monkeypatch.setattr(WhatsAppPlatform, "environment", environment)
    with pytest.raises(ValueError, match=f"WHATSAPP_{variable}"):
        async with open_small_desk(WhatsAppTransport, whatsapp):
            raise AssertionError


async def test_secrets_are_in_no_log_and_no_error(
    whatsapp: WhatsAppPlatform, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_small_desk(WhatsAppTransport, whatsapp) as desk:
        desk.now = NOW
        await whatsapp.write("ann", "Hello")
        await desk.transport.send(outgoing())
        await whatsapp.close()
        with pytest.raises(Failed) as caught:
            await desk.transport.send(outgoing())
        steps = [step async for step in desk.transport.check()]
        shown = f"{caught.value!r} {json.dumps([one.detail for one in steps])} {caplog.text}"
    assert TOKEN not in shown
    assert APP_SECRET not in shown


def test_a_token_with_a_line_end_is_refused_unrepeated() -> None:
    with pytest.raises(ValueError, match="copy it again") as caught:
        GraphApi(None, "https://graph.facebook.com/v26.0", "1", "EAAx\n")  # type: ignore[arg-type]
    assert "EAAx" not in str(caught.value)


labels = st.text(min_size=1, max_size=75)
buttons = st.builds(
    Button,
    label=labels,
    token=st.integers(0, 10**9).map(lambda n: f"t{n}"),
)


@given(
    st.text(max_size=3600) | st.integers(0, 900).map(lambda n: "word\n\n" * n),
    st.lists(buttons, max_size=12, unique_by=lambda one: one.token),
    st.booleans(),
    st.sampled_from(["en", "de", "th", "xx", ""]),
)
def test_every_message_is_as_the_documentation_wants_it(
    text: str, chosen: list[Button], has_form: bool, language: str
) -> None:
    message = msgspec.structs.replace(
        outgoing(text),
        buttons=tuple(chosen),
        form=FORM if has_form else None,
        language=language,
    )
    built = build_messages(message)
    assert built
    for one in built:
        assert not isinstance(one, Media)
        check_message(one)
