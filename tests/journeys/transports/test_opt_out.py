"""Who wants no more messages gets none until they write again, whatever the desk forgets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.transports.events import IncomingFile, OptOut, TextMessage
from aitp_desk.transports.host.texts import say as say_own
from tests.journeys.transports.test_attacks import handled, pigeons, say, threads
from tests.journeys.transports.test_contact_mail import SETTINGS, Shop, until_said
from tests.journeys.transports.test_contract import has, shown
from tests.journeys.transports.test_limits import ASKING
from tests.journeys.transports.test_repetition import forget
from tests.journeys.transports.test_structured import FORM, Counter
from tests.support.clients.operator import operating
from tests.support.desk.command import run
from tests.support.desk.conditions import until
from tests.support.doubles.agent import Clock
from tests.support.transports.email_platform import EmailPlatform
from tests.support.transports.platforms import LOOPBACK, CarriedDesk, carrying

ASKED = "There is a request to send the answers"
STATES = "SELECT address, state FROM transport_conversations ORDER BY address"
OPT_OUTS = "SELECT count(*) FROM transport_opt_outs"
PUT_OFF = "SELECT count(*) FROM jobs WHERE kind = 'transport_event' AND last_error IS NOT NULL"


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "pigeon") as carried:
        yield carried


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with (
        carrying(tmp_path, "email", *SETTINGS) as desk,
        operating(desk.talker.desk, tmp_path / "data", "anna") as anna,
    ):
        assert isinstance(desk.platform, EmailPlatform)
        yield Shop(desk, desk.platform, anna, "")


def stopped(desk: CarriedDesk) -> str:
    """What confirms an opt-out."""
    return say_own("stopped", "en", site=desk.talker.desk.desk.site.name)


async def drop_all(shop: Shop, folder: Path) -> None:
    """Delete every thread, and with it what the desk knows of people there."""
    operator = await shop.visitor.with_key("threads", "operator")
    for (thread,) in shop.visitor.rows("SELECT id FROM threads WHERE deleted_at IS NULL"):
        assert (await operator.send("DELETE", f"/v1/threads/{thread}")).ok
    for proven in ("contact:email:ada@people.example", "contact:email?ada@people.example"):
        code, _, problems = await run("erase", "--data", folder / "data", "--actor", proven)
        assert code == 0, problems
    assert shop.visitor.rows("SELECT id FROM transport_conversations") == []


@pytest.mark.sqlite
@pytest.mark.parametrize("how", ["STOP", "unsubscribe", "the link"])
async def test_it_outlives_the_conversation_and_the_erasure_of_the_person(
    shop: Shop, tmp_path: Path, how: str
) -> None:
    mail = shop.mail
    await mail.write("ada", "Do you sell books?")
    await shown(shop.desk, "ada", len)
    if how == "the link":
        await mail.block("ada")
    else:
        await mail.reply("ada", how)
    await until(lambda: shop.visitor.rows(OPT_OUTS) == [(1,)])
    await handled(shop.desk)
    count = len(await mail.shown("ada"))
    await drop_all(shop, tmp_path)
    await shop.leave_again("ada")
    assert len(await mail.shown("ada")) == count
    kept = shop.visitor.rows("SELECT * FROM transport_opt_outs")
    assert "ada" not in str(kept), "the row names the person"
    await mail.write("ada", "Do you sell maps?")
    await until_said_anywhere(shop, "maps")
    assert shop.visitor.rows(OPT_OUTS) == [(0,)]
    await shop.leave_again("ada")
    await shown(shop.desk, "ada", lambda found: any(ASKED in one.text for one in found))


async def until_said_anywhere(shop: Shop, words: str) -> None:
    found = f"SELECT count(*) FROM messages WHERE content LIKE '%{words}%'"
    await until(lambda: shop.visitor.rows(found) != [(0,)])


async def test_a_button_of_consent_ends_it(shop: Shop) -> None:
    opened = await shop.visitor.open("Can I talk to a person, please?", wait=10)
    assert await shop.leave("ada", opened.id) == 200
    (asked,) = await shown(shop.desk, "ada", len)
    await shop.mail.block("ada")
    await until(lambda: shop.visitor.rows(OPT_OUTS) == [(1,)])
    await shop.mail.press("ada", asked.ref, asked.buttons[0])
    await until(lambda: shop.visitor.rows(OPT_OUTS) == [(0,)])
    await shop.anna.post(f"threads/{opened.id}/take")
    await shop.anna.post(f"threads/{opened.id}/say", words="We have it here for you.")
    await until_said(Shop(shop.desk, shop.mail, shop.anna, opened.id), "We have it here")
    await shown(shop.desk, "ada", lambda found: "We have it here" in found[-1].text)


async def test_it_ends_all_conversations_and_another_message_resumes_one(
    desk: CarriedDesk,
) -> None:
    platform = pigeons(desk)
    for place in ("chat-1", "chat-2"):
        await say(desk, "ada", f"Hello from {place}.", conversation=place)
    await say(desk, "bob", "Do you sell books?")
    await platform.deliver("ada", OptOut(), conversation="chat-1")
    await handled(desk)
    stopped = [("chat-1", "stopped"), ("chat-2", "stopped"), ("chat-bob", "open")]
    assert desk.talker.rows(STATES) == stopped
    await say(desk, "ada", "And maps?", conversation="chat-2")
    resumed = [("chat-1", "stopped"), ("chat-2", "open"), ("chat-bob", "open")]
    assert desk.talker.rows(STATES) == resumed
    assert desk.talker.rows(OPT_OUTS) == [(0,)]


async def test_one_conversation_that_is_left_ends_no_other(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    for place in ("chat-1", "chat-2"):
        await say(desk, "ada", f"Hello from {place}.", conversation=place)
    await platform.deliver("ada", OptOut(is_of_all=False), conversation="chat-1")
    await platform.deliver("ada", OptOut(is_of_all=False), conversation="chat-3")
    await handled(desk)
    assert desk.talker.rows(STATES) == [("chat-1", "stopped"), ("chat-2", "open")]
    assert desk.talker.rows(OPT_OUTS) == [(0,)]
    await say(desk, "ada", "And maps?", conversation="chat-1")
    assert desk.talker.rows(STATES) == [("chat-1", "open"), ("chat-2", "open")]


async def test_it_ends_the_conversations_of_the_person_that_nothing_proves(
    desk: CarriedDesk,
) -> None:
    await say(desk, "ada", "Do you sell books?", conversation="chat-1")
    await say(desk, "ada", "And maps?", conversation="chat-2", is_proven=False)
    await say(desk, "bob", "And pens?", conversation="chat-3", is_proven=False)
    await pigeons(desk).deliver("ada", OptOut(), conversation="chat-1")
    await handled(desk)
    stopped = [("chat-1", "stopped"), ("chat-2", "stopped"), ("chat-3", "open")]
    assert desk.talker.rows(STATES) == stopped


@pytest.mark.parametrize("secret", [True, False])
async def test_one_whom_nothing_proves_ends_the_messages_of_nobody(
    desk: CarriedDesk, *, secret: bool
) -> None:
    platform = pigeons(desk)
    await platform.deliver("ada", OptOut(), is_proven=False, holds_secret=secret)
    await handled(desk)
    assert desk.talker.rows(OPT_OUTS) == [(int(secret),)]


@pytest.mark.parametrize("name", ["telegram", "whatsapp"])
async def test_a_command_writes_to_nobody_who_has_opted_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    async with carrying(tmp_path, name) as desk:
        for variable, value in desk.platform.environment.items():
            monkeypatch.setenv(variable, value)
        await desk.platform.write("ada", "Do you sell books?")
        await shown(desk, "ada", len)
        ((chat,),) = desk.talker.rows("SELECT address FROM transport_conversations")
        command = ("transport", "send", name, "We are open.", tmp_path / "site", "--to", chat)
        more = ("--data", tmp_path / "data", "--set", LOOPBACK)
        _, _, faults = await run(*command, *more)
        assert "has opted out" not in " ".join(faults)
        await desk.platform.write("ada", "STOP")
        await until(lambda: desk.talker.rows(OPT_OUTS) != [(0,)])
        await handled(desk)
        count = len(await desk.platform.shown("ada"))
        code, _, faults = await run(*command, *more)
        assert code == 1
        assert "this person has opted out" in " ".join(faults)
        assert len(await desk.platform.shown("ada")) == count


async def test_a_person_is_known_by_the_number_when_the_conversation_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with carrying(tmp_path, "whatsapp") as desk:
        for variable, value in desk.platform.environment.items():
            monkeypatch.setenv(variable, value)
        await desk.platform.write("ada", "Do you sell books?")
        await shown(desk, "ada", len)
        ((chat, thread),) = desk.talker.rows(
            "SELECT address, thread_id FROM transport_conversations"
        )
        await desk.platform.write("ada", "STOP")
        await until(lambda: desk.talker.rows(OPT_OUTS) != [(0,)])
        await handled(desk)
        operator = await desk.talker.with_key("threads", "operator")
        assert (await operator.send("DELETE", f"/v1/threads/{thread}")).ok
        assert desk.talker.rows(STATES) == []
        command = ("transport", "send", "whatsapp", "We are open.", tmp_path / "site", "--to", chat)
        more = ("--data", tmp_path / "data", "--set", LOOPBACK)
        code, _, faults = await run(*command, *more)
        assert code == 1
        assert "this person has opted out" in " ".join(faults)
        await desk.platform.write("ada", "Do you sell maps?")
        await until(lambda: desk.talker.rows(OPT_OUTS) == [(0,)])


@pytest.mark.parametrize("event", [OptOut(message_ref="wish"), None], ids=["wish", "stop word"])
async def test_one_that_comes_again_after_days_does_not_stop_what_was_resumed(
    desk: CarriedDesk, event: OptOut | None
) -> None:
    platform = pigeons(desk)
    stop = TextMessage(text="STOP", message_ref="stop")
    await say(desk, "ada", "Do you sell books?")
    first = await platform.deliver("ada", event or stop)
    await handled(desk)
    assert desk.talker.rows(STATES) == [("chat-ada", "stopped")]
    await say(desk, "ada", "And maps?")
    await forget(desk)
    sent = len(platform.sent)
    await platform.redeliver(first)
    await handled(desk)
    assert desk.talker.rows(STATES) == [("chat-ada", "open")]
    assert len(platform.sent) == sent
    assert desk.talker.rows(OPT_OUTS) == [(0,)]
    again = event and OptOut(message_ref="wish 2")
    await platform.deliver("ada", again or TextMessage(text="stop", message_ref="stop 2"))
    await handled(desk)
    assert desk.talker.rows(STATES) == [("chat-ada", "stopped")]
    assert [len(said) for said in threads(desk).values()] == [2]


async def test_its_confirmation_is_sent_though_the_platform_fails_at_first(
    desk: CarriedDesk,
) -> None:
    platform = pigeons(desk)
    await say(desk, "ada", "Do you sell books?")
    platform.break_next()
    await platform.write("ada", "STOP")
    await until(lambda: platform.sent[-1].text == stopped(desk))
    assert desk.talker.rows(STATES) == [("chat-ada", "stopped")]


async def test_it_is_confirmed_at_once_while_a_choice_waits_for_the_limit(tmp_path: Path) -> None:
    limits = ("limits.enabled=true", "limits.authenticated_per_minute=2")
    async with (
        carrying(tmp_path, "pigeon", *limits, *ASKING) as desk,
        operating(desk.talker.desk, tmp_path / "data", "anna") as anna,
    ):
        platform = pigeons(desk)
        await say(desk, "ada", "I need a tent.")
        ((thread,),) = desk.talker.rows("SELECT id FROM threads")
        await anna.post(f"threads/{thread}/take")
        counter = Counter(desk, anna, thread)
        await counter.ask("data", request_data=FORM)
        (*_, asked) = await shown(desk, "ada", has("Where to?"))
        await platform.write("ada", "One.")
        await platform.submit("ada", asked.ref, {"street": "Elm Street 5"})
        await until(lambda: desk.talker.rows(PUT_OFF) == [(1,)])
        await platform.write("ada", "STOP")
        await until(lambda: platform.sent[-1].text == stopped(desk))
        assert desk.talker.rows(STATES) == [("chat-ada", "stopped")]
        assert desk.talker.rows(PUT_OFF) == [(1,)]


@pytest.mark.parametrize("is_begun", [True, False])
async def test_what_waited_when_the_person_opted_out_resumes_nothing(
    desk: CarriedDesk, *, is_begun: bool
) -> None:
    platform = pigeons(desk)
    if is_begun:
        await say(desk, "ada", "Do you sell books?")
    platform.is_halted = True
    file = IncomingFile(name="list.txt", content_type="text/plain", ref="list")
    platform.keep("list", b"maps")
    await platform.deliver("ada", TextMessage(text="My list.", message_ref="m1", files=(file,)))
    await platform.write("ada", "/continue")
    await platform.write("ada", "STOP")
    await until(lambda: platform.sent and platform.sent[-1].text == stopped(desk))
    count = len(platform.sent)
    platform.is_halted = False
    await handled(desk)
    assert desk.talker.rows(STATES) == [("chat-ada", "stopped")]
    assert desk.talker.rows(OPT_OUTS) == [(1,)]
    assert len(platform.sent) == count
    await say(desk, "ada", "And pens?")
    assert desk.talker.rows(OPT_OUTS) == [(0,)]
    ((*_, listed, asked),) = threads(desk).values()
    assert ("My list." in listed, "And pens?" in asked) == (True, True)


async def test_it_ends_an_answer_of_several_messages(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    await say(desk, "ada", "Do you sell books?")
    platform.go_on = asyncio.Event()
    await platform.write("ada", "word " * 500)
    await until(lambda: platform.is_waiting)
    await platform.deliver("ada", OptOut())
    await until(lambda: desk.talker.rows(STATES) == [("chat-ada", "stopped")])
    platform.go_on.set()
    await handled(desk)
    assert len(platform.sent) == 2, "more than the part that was on its way"


async def test_it_is_confirmed_once_within_the_limit(tmp_path: Path) -> None:
    limits = ("limits.enabled=true", "limits.authenticated_per_minute=1")
    async with carrying(tmp_path, "pigeon", *limits) as desk:
        platform = pigeons(desk)
        await say(desk, "ada", "Do you sell books?")
        for _ in range(3):
            await platform.write("ada", "STOP")
        await handled(desk)
        assert [one.text for one in platform.sent[1:]] == [stopped(desk)]


async def test_what_is_written_after_it_is_handled_after_it(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    await say(desk, "ada", "Do you sell books?")
    platform.break_next(retry_after=1)
    await platform.write("ada", "STOP")
    await say(desk, "ada", "And maps?")
    assert desk.talker.rows(STATES) == [("chat-ada", "open")]
    texts = [one.text for one in platform.sent]
    assert texts[1:] == [stopped(desk), "You asked: And maps?"]


async def test_what_is_written_after_it_resumes_also_by_a_process_whose_clock_is_slow(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with carrying(tmp_path, "pigeon", clock=clock) as desk:
        await say(desk, "ada", "Do you sell books?")
        await pigeons(desk).write("ada", "STOP")
        await handled(desk)
        clock.advance(-3)
        await say(desk, "ada", "And maps?")
        await handled(desk)
        assert desk.talker.rows(STATES) == [("chat-ada", "open")]
        assert desk.talker.rows(OPT_OUTS) == [(0,)]


async def test_a_message_that_is_overtaken_by_it_resumes_the_person_as_a_whole(
    desk: CarriedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = pigeons(desk)
    await say(desk, "ada", "Do you sell books?")
    read = transport_reads.conversation_at_rest
    is_overtaken = False

    async def read_late(*given: Any) -> Any:
        nonlocal is_overtaken
        found = await read(*given)
        if not is_overtaken:
            is_overtaken = True
            await platform.write("ada", "STOP")
            await until(lambda: desk.talker.rows(OPT_OUTS) == [(1,)])
            await handled(desk)
        return found

    monkeypatch.setattr(transport_reads, "conversation_at_rest", read_late)
    await say(desk, "ada", "And maps?")
    await handled(desk)
    assert is_overtaken
    assert desk.talker.rows(STATES) == [("chat-ada", "open")]
    assert desk.talker.rows(OPT_OUTS) == [(0,)], "the conversation alone was resumed"
