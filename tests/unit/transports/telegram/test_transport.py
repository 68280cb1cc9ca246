"""Messages of the desk on Telegram."""

from __future__ import annotations

import msgspec
import pytest

from aitp_desk.transports.base import Refused, TryLater, Unreachable
from aitp_desk.transports.events import IncomingFile
from aitp_desk.transports.messages import Button, Field, Form, Outgoing, OutgoingFile, Source
from aitp_desk.transports.telegram.settings import TelegramSettings
from aitp_desk.transports.telegram.transport import TelegramTransport
from tests.support.transports.small_desk import SmallDesk, open_small_desk
from tests.support.transports.telegram_platform import TelegramPlatform

GROUP = -1_001_234_567_890


def outgoing(text: str = "Hello", conversation: str = "5000001", **more: object) -> Outgoing:
    return msgspec.convert(
        {"id": "m1", "conversation": conversation, "recipient": "5000001", "text": text, **more},
        Outgoing,
    )


@pytest.fixture(autouse=True)
async def written(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    """Ann has written to the bot, which may answer from then on."""
    assert telegram.user("Ann")["id"] == 5_000_001
    await telegram.write("Ann", "Hi")


async def test_a_text_is_shown_without_previews(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    sources = (Source(title="Hours & days", url="https://shop.example/hours?a=1&b=2"),)
    message = msgspec.structs.replace(
        outgoing("We open at **nine** <sharp>."), sources=sources, speaker="Ada & Co"
    )
    sent = await desk.transport.send(message)
    [shown] = await telegram.shown("Ann")
    assert shown.ref == sent.message_ref
    assert shown.text == "Ada & Co\n\nWe open at nine <sharp>.\n\n↗ Hours & days"
    [one] = telegram.sent
    assert one.params["link_preview_options"] == {"is_disabled": True}
    assert 'href="https://shop.example/hours?a=1&amp;b=2"' in one.params["text"]


async def test_a_long_text_is_several_messages(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    sent = await desk.transport.send(
        outgoing("😀 " * 1800, buttons=[{"label": "Yes", "token": "t"}])
    )
    shown = await telegram.shown("Ann")
    assert "".join(one.text for one in shown).count("😀") == 1800
    assert [one.buttons for one in shown] == [*[()] * (len(shown) - 1), ("Yes",)]
    assert sent.message_ref == shown[-1].ref


async def test_buttons_are_in_rows(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    buttons = (
        Button(label="Yes", token="a" * 64, style="primary"),
        Button(label="No", token="b", style="danger"),
        Button(label="Perhaps at another time", token="c"),
        Button(label="Site", url="https://shop.example/"),
        Button(label="Nothing", url="javascript:alert(1)"),
    )
    await desk.transport.send(msgspec.structs.replace(outgoing(), buttons=buttons))
    [one] = telegram.sent
    assert one.params["reply_markup"]["inline_keyboard"] == [
        [
            {"text": "Yes", "callback_data": "a" * 64, "style": "primary"},
            {"text": "No", "callback_data": "b", "style": "danger"},
        ],
        [
            {"text": "Perhaps at another time", "callback_data": "c"},
            {"text": "Site", "url": "https://shop.example/"},
        ],
    ]


async def test_a_token_that_is_too_long_is_refused(desk: SmallDesk) -> None:
    message = outgoing(buttons=[{"label": "Yes", "token": "é" * 33}])
    with pytest.raises(Refused, match="64"):
        await desk.transport.send(message)


FORM = Form(
    token="f",
    title="Delivery",
    fields=(Field(name="city", label="City <x>"), Field(name="day", label="Day", kind="date")),
    submit="Fill in",
    url="https://shop.example/form/1",
)


async def test_a_form_is_a_link_to_its_page(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    await desk.transport.send(msgspec.structs.replace(outgoing(), form=FORM))
    [one] = telegram.sent
    assert one.params["reply_markup"]["inline_keyboard"] == [
        [{"text": "Delivery", "url": "https://shop.example/form/1"}]
    ]


async def test_links_that_telegram_takes_no_buttons_for_are_in_the_text(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    form = msgspec.structs.replace(FORM, url="http://localhost:8000/form")
    buttons = (Button(label="Later", token="t"),)
    message = msgspec.structs.replace(outgoing("Where to?"), form=form, buttons=buttons)
    await desk.transport.send(message)
    [one] = telegram.sent
    assert "localhost:8000/form" in one.params["text"]
    assert [one.buttons for one in await telegram.shown("Ann")] == [("Later",)]


async def test_a_refused_markup_is_sent_as_plain_text(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    telegram.unparsable = True
    await desk.transport.send(outgoing("**5 < 6** & more", buttons=[{"label": "OK", "token": "t"}]))
    [one] = await telegram.shown("Ann")
    assert one.text == "5 < 6 & more"
    assert one.buttons == ("OK",)


async def test_a_file_with_a_short_text_has_it_as_caption(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    file = OutgoingFile(
        name='in"voice.pdf', content_type="application/pdf", data=b"%PDF-1.7\r\n--x"
    )
    message = msgspec.structs.replace(
        outgoing("Your **invoice**"), files=(file,), buttons=(Button(label="OK", token="t"),)
    )
    await desk.transport.send(message)
    [one] = telegram.sent
    assert (one.plain, one.file, one.file_type) == ("Your invoice", file.data, "application/pdf")
    assert [one.buttons for one in await telegram.shown("Ann")] == [("OK",)]


async def test_files_precede_a_long_text(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    file = OutgoingFile(name="a.txt", content_type="text/plain", data=b"a")
    message = msgspec.structs.replace(outgoing("word " * 300), files=(file, file))
    sent = await desk.transport.send(message)
    assert [bool(one.file) for one in telegram.sent] == [True, True, False]
    assert str(telegram.sent[-1].id) == sent.message_ref


@pytest.mark.parametrize("size", [0, 50 * 1024**2 + 1])
async def test_files_of_a_size_that_telegram_refuses(desk: SmallDesk, size: int) -> None:
    file = OutgoingFile(name="a.bin", content_type="", data=bytes(size))
    with pytest.raises(Refused, match="50 MB"):
        await desk.transport.send(msgspec.structs.replace(outgoing(), files=(file,)))


async def test_in_a_group_an_answer_shows_whom_it_answers(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    telegram.add_group(GROUP, "Readers", {42})
    await desk.transport.send(outgoing(conversation=f"{GROUP}/42", answers_ref="77"))
    [one] = telegram.sent
    assert (one.chat, one.params["message_thread_id"]) == (GROUP, 42)
    assert one.params["reply_parameters"]["message_id"] == 77


async def test_a_group_that_became_a_supergroup_is_followed(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    telegram.add_group(-4711, "Readers")
    telegram.add_group(GROUP, "Readers")
    telegram.chats[-4711].became = GROUP
    sent = await desk.transport.send(outgoing(conversation="-4711", answers_ref="77"))
    assert sent.conversation == str(GROUP)
    assert telegram.sent[0].chat == GROUP


async def test_a_deleted_topic_of_a_private_chat_falls_back_to_the_chat(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    await desk.transport.send(outgoing(conversation="5000001/9"))
    assert [one.text for one in await telegram.shown("Ann")] == ["Hello"]


FAULTS = [
    "Forbidden: bot was blocked by the user",
    "Forbidden: user is deactivated",
    "Bad Request: not enough rights to send text messages to the chat",
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_who_takes_no_messages_is_unreachable(
    telegram: TelegramPlatform, desk: SmallDesk, fault: str
) -> None:
    telegram.chats[5_000_001].fault = fault
    with pytest.raises(Unreachable):
        await desk.transport.send(outgoing())


@pytest.mark.parametrize("conversation", ["5999999", "nonsense", f"{GROUP}/7"])
async def test_a_chat_that_is_unknown_is_unreachable(desk: SmallDesk, conversation: str) -> None:
    with pytest.raises(Unreachable):
        await desk.transport.send(outgoing(conversation=conversation))


async def test_limits_and_faults_pass(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    telegram.break_next(retry_after=17)
    with pytest.raises(TryLater) as caught:
        await desk.transport.send(outgoing())
    assert caught.value.after == 17
    telegram.break_next()
    with pytest.raises(TryLater):
        await desk.transport.send(outgoing())
    await desk.transport.send(outgoing())
    assert len(telegram.sent) == 1


async def test_a_message_is_deleted(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    sent = await desk.transport.send(outgoing())
    await desk.transport.retract("5000001", sent.message_ref)
    await desk.transport.retract("5000001", sent.message_ref)
    assert await telegram.shown("Ann") == ()
    old = await desk.transport.send(outgoing())
    telegram.sent[0].params["is_old"] = True
    with pytest.raises(Refused):
        await desk.transport.retract("5000001", old.message_ref)
    with pytest.raises(Refused):
        await desk.transport.retract("5000001", "x")


async def test_a_file_that_is_too_large_is_refused(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    ref = telegram.keep_file("a.txt", b"x" * 100)
    file = IncomingFile(name="a.txt", content_type="text/plain", ref=ref)
    with pytest.raises(Refused, match="99"):
        await desk.transport.fetch(file, 99)
    telegram.max_download = 50
    with pytest.raises(Refused, match="too big"):
        await desk.transport.fetch(file, 1000)


async def test_typing_is_shown_in_the_topic(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    telegram.add_group(GROUP, "Readers", {42})
    in_topic = msgspec.structs.replace(desk.received[0], conversation=f"{GROUP}/42")
    await desk.transport.show_typing(in_topic)
    assert telegram.calls[-1] == (
        "sendChatAction",
        {"chat_id": GROUP, "action": "typing", "message_thread_id": 42},
    )
    # a courtesy: what fails is nobody's concern
    await desk.transport.show_typing(msgspec.structs.replace(in_topic, conversation="5999999"))


def test_an_invitation_starts_the_bot_with_the_code(desk: SmallDesk) -> None:
    link = "https://t.me/lantern_bot?start=ABCD-EFGH-JKMN"
    assert desk.transport.invite("ABCD-EFGH-JKMN") == f"Telegram: {link}"


async def test_a_webhook_needs_a_public_address(
    telegram: TelegramPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telegram, "url", "https://api.telegram.org")
    with pytest.raises(ValueError, match="polling"):
        async with open_small_desk(TelegramTransport, telegram, listens=False):
            raise AssertionError


@pytest.mark.parametrize(
    ("url", "is_taken"),
    [
        ("https://shop.example", True),
        ("https://shop.example:8443", True),
        ("https://shop.example:8000", False),
        ("http://shop.example", False),
    ],
)
def test_telegram_delivers_to_few_ports(
    telegram: TelegramPlatform, desk: SmallDesk, url: str, is_taken: bool
) -> None:
    host = msgspec.structs.replace(desk.transport.host, url=url)
    settings = TelegramSettings(username="lantern_bot")
    if is_taken:
        assert "updates" in TelegramTransport(settings, host).endpoints()
    else:
        with pytest.raises(ValueError, match="port 443"):
            TelegramTransport(settings, host)


async def test_the_check_says_what_works(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    steps = [step async for step in desk.transport.check()]
    assert [step.is_done for step in steps] == [True, True, True]
    assert "@lantern_bot" in steps[0].detail


async def test_the_check_says_what_to_do(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    telegram.username = "another_bot"
    *_, last = [step async for step in desk.transport.check()]
    assert not last.is_done
    assert "username" in last.detail


async def test_without_a_token_it_says_which_variable_is_missing(
    telegram: TelegramPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TelegramPlatform, "environment", {})
    with pytest.raises(ValueError, match="TELEGRAM_BOT_TOKEN"):
        async with open_small_desk(TelegramTransport, telegram):
            raise AssertionError
