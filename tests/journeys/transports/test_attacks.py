"""What people on a platform try with the conversations of others."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import structlog

from aitp_desk.capability import Unanswered
from aitp_desk.desk.jobs.kinds import GiveUp, Retry
from aitp_desk.transports.base import Failed, TryLater
from aitp_desk.transports.events import (
    AutomaticMessage,
    ChatStart,
    Choice,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.host import drafts, intake
from aitp_desk.transports.host.failures import job_failure
from aitp_desk.transports.host.outbox import Outbox
from aitp_desk.transports.host.texts import say as say_own
from aitp_desk.transports.visitors import handler
from aitp_desk.transports.wire.payload import Payload
from tests.support.desk.conditions import until
from tests.support.transports.pigeon import Pigeon
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

OVER = say_own("choice_over", "en")
SECRET = "The parcel is below the stairs."
GROUP: dict[str, Any] = {"conversation": "group-1", "is_private": False}


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "pigeon") as carried:
        yield carried


def pigeons(desk: CarriedDesk) -> PigeonPlatform:
    assert isinstance(desk.platform, PigeonPlatform)
    return desk.platform


async def say(desk: CarriedDesk, person: str, text: str, **more: Any) -> None:
    """Write, and wait for the answer."""
    platform = pigeons(desk)
    await platform.deliver(person, TextMessage(text=text, message_ref=f"{person}-{text}"), **more)
    await until(lambda: [one for one in platform.sent if text in one.text])


async def notice(desk: CarriedDesk, event: str) -> str:
    """What the desk says of a pressed button."""
    return str(await until(lambda: pigeons(desk).notices.get(event)))


async def handled(desk: CarriedDesk) -> None:
    """Wait until every event is handled."""
    waiting = "SELECT count(*) FROM jobs WHERE state IN ('queued', 'at_work')"
    await until(lambda: desk.talker.rows(waiting) == [(0,)])


def threads(desk: CarriedDesk) -> dict[str, list[str]]:
    """What visitors have said, by the principal of the thread."""
    rows = desk.talker.rows(
        "SELECT t.owner, m.content FROM messages m JOIN threads t ON t.id = m.thread_id"
        " WHERE m.origin = 'visitor' AND m.content IS NOT NULL ORDER BY m.thread_id, m.seq"
    )
    found: dict[str, list[str]] = {}
    for owner, content in rows:
        found.setdefault(owner, []).append(content)
    return found


@pytest.mark.parametrize(
    "other",
    [
        {"sender": "eve"},
        {"sender": "ada", "is_proven": False},
        {"sender": "?ada"},
        {"sender": ":ada", "is_proven": False},
        {"sender": "pigeon:ada"},
        {"sender": "ADA"},
        {"sender": "ada "},
    ],
    ids=str,
)
async def test_another_in_a_private_conversation_has_another_thread(
    desk: CarriedDesk, other: dict[str, Any]
) -> None:
    await say(desk, "ada", SECRET)
    await say(desk, "ada", "What did I say before?", **other)
    found = threads(desk)
    assert len(found) == 2
    assert [len(said) for said in found.values()] == [1, 1]
    sent = pigeons(desk).sent[-1]
    assert (sent.conversation, sent.recipient) == ("chat-ada", other["sender"])
    await say(desk, "ada", "And now?")
    assert len(threads(desk)["contact:pigeon:ada"]) == 2


@pytest.mark.parametrize("sender", ["eve", "ada"])
async def test_a_message_is_changed_and_deleted_by_its_sender_alone(
    desk: CarriedDesk, sender: str
) -> None:
    platform = pigeons(desk)
    more: dict[str, Any] = {"conversation": "chat-ada", "is_proven": sender == "eve"}
    await say(desk, "ada", SECRET)
    ref = f"ada-{SECRET}"
    await platform.deliver(sender, MessageEdit(message_ref=ref, text="I never said so."), **more)
    await platform.deliver(sender, MessageRemoval(message_ref=ref), **more)
    await platform.deliver(sender, OptOut(), **more)
    await handled(desk)
    assert threads(desk) == {"contact:pigeon:ada": [f'["{SECRET}"]']}
    await say(desk, "ada", "Am I still answered?")


async def test_a_token_counts_only_where_and_for_whom_it_was_offered(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    await say(desk, "eve", "Hello.")
    await platform.write("ada", "Which colours?")
    (asked,) = await until(lambda: [one for one in platform.sent if one.buttons])
    token = asked.buttons[0].token
    tries: list[dict[str, Any]] = [
        {},  # forwarded to the own conversation
        {"conversation": "chat-ada"},
        {"conversation": "chat-ada", "is_private": False},
        {"conversation": "chat-ada", "sender": "ada", "is_proven": False},
    ]
    for one in tries:
        assert await notice(desk, await platform.deliver("eve", Choice(token=token), **one)) == OVER
    for bad in ("", "option", token[:-1], token + "A", "%", "' OR 1=1 --"):
        assert await notice(desk, await platform.deliver("ada", Choice(token=bad))) == OVER
    assert not any("Red" in text for said in threads(desk).values() for text in said)
    await platform.deliver("ada", Choice(token=token))
    await until(lambda: any("You asked: Red" in one.text for one in platform.sent))


async def test_a_button_in_a_group_is_of_the_one_who_was_asked(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    await say(desk, "ada", "My number is 1234.", **GROUP)
    await platform.deliver("ada", TextMessage(text="Which colours?", message_ref="c"), **GROUP)
    (asked,) = await until(lambda: [one for one in platform.sent if one.buttons])
    await say(desk, "bob", "What is the number?", **GROUP)
    event = await platform.deliver("bob", Choice(token=asked.buttons[0].token), **GROUP)
    assert await notice(desk, event) == OVER
    await platform.deliver("bob", OptOut(), **GROUP)
    await platform.deliver("ada", Choice(token=asked.buttons[0].token), **GROUP)
    await until(lambda: any("You asked: Red" in one.text for one in platform.sent))
    assert {one.conversation for one in platform.sent} == {"group-1"}
    assert {owner: len(said) for owner, said in threads(desk).items()} == {
        "contact:pigeon:all of group-1": 4
    }


async def test_one_who_writes_without_end_delays_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_WAITING", 300)
    async with carrying(tmp_path, "pigeon", "limits.enabled=true") as desk:
        platform = pigeons(desk)
        flood = tuple(
            Incoming(
                event_id=f"flood-{number}",
                conversation="chat-eve",
                sender="eve",
                event=TextMessage(text=f"Number {number}.", message_ref=f"m{number}"),
            )
            for number in range(1000)
        )
        assert await platform.post(flood) == 200
        await say(desk, "bob", "Do you sell books?")
        waiting = desk.talker.rows("SELECT count(*) FROM jobs WHERE state = 'queued'")
        assert waiting[0][0] > 50, "the flood was over before"
        await handled(desk)
        said = threads(desk)["contact:pigeon:eve"]
        assert 300 <= len(said) < 600
        numbers = [int(re.findall(r"\d+", text)[0]) for text in said]
        assert numbers[:300] == list(range(300)), "those that are taken are the first, in order"
        answered = [one for one in platform.sent if one.recipient == "eve"]
        assert len(answered) < 60, "more were answered than the limit of a person allows"


@pytest.mark.parametrize("event", [ChatStart(), TextMessage(text="STOP", message_ref="m")])
async def test_the_desk_says_no_more_of_itself_than_it_answers(
    tmp_path: Path, event: ChatStart | TextMessage
) -> None:
    limits = ("limits.enabled=true", "limits.converse_per_minute=3", "limits.agent_per_minute=3")
    async with carrying(tmp_path, "pigeon", *limits) as desk:
        for number in range(12):
            await pigeons(desk).deliver("eve", event, f"start-{number}", is_proven=False)
        await handled(desk)
        assert len(pigeons(desk).sent) == 3


async def test_an_automatic_message_is_never_answered(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    await say(desk, "ada", "Hello.")
    count = len(platform.sent)
    for number in range(3):
        automatic = AutomaticMessage(text="I am away.", reason="It says so.", message_ref="a")
        await platform.deliver("ada", automatic, f"auto-{number}")
    await handled(desk)
    await say(desk, "ada", "Are you there?")
    assert len(platform.sent) == count + 1


async def test_the_log_names_nobody_and_quotes_nothing(tmp_path: Path) -> None:
    private = ("ada-4711", "chat-", SECRET, "stairs", "Which colours")
    with structlog.testing.capture_logs() as logs:
        async with carrying(tmp_path, "pigeon") as desk:
            platform = pigeons(desk)
            platform.break_next()
            await say(desk, "ada-4711", SECRET)
            await platform.deliver("ada-4711", TextMessage(text="Which colours?", message_ref="m"))
            (asked,) = await until(lambda: [one for one in platform.sent if one.buttons])
            await platform.press("eve", "sent-1", "Red")
            await platform.deliver("ada-4711", OptOut(), conversation="\x00")
            await platform.bounce("ada-4711")
            await platform.deliver(
                "ada-4711", TextMessage(text=SECRET, message_ref="x"), agent="stairs-agent"
            )
            await handled(desk)
    told = repr(logs)
    assert "job_failed" in told
    assert "events_dropped" in told
    assert not [one for one in (*private, asked.buttons[0].token) if one in told]


async def test_a_file_that_is_never_given_keeps_no_message_back(
    desk: CarriedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_self: Pigeon, _file: IncomingFile, _most: int) -> bytes:
        raise TryLater("the platform is overloaded.")

    monkeypatch.setattr(Pigeon, "fetch", refuse)
    monkeypatch.setattr(drafts, "MOST_WAITS", 1)
    await pigeons(desk).attach("ada", "See the list.", "list.txt", b"Two books.")
    await until(lambda: pigeons(desk).sent)
    ((said,),) = threads(desk).values()
    assert "See the list." in said
    assert "list.txt was not taken: the platform is overloaded." in said


@pytest.mark.parametrize("name", ["pigeon", "telegram", "whatsapp"])
async def test_a_file_of_unknown_size_that_is_too_long_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    number, waits = Payload.number, list[str]()

    def hide(payload: Payload, of: str) -> int:
        return 0 if of == "file_size" else number(payload, of)

    def count(failure: Failed | Unanswered) -> Retry | GiveUp:
        waits.append(failure.reason)
        return job_failure(failure)

    monkeypatch.setattr(Payload, "number", hide)
    monkeypatch.setattr(handler, "job_failure", count)
    async with carrying(tmp_path, name, "files.max_bytes=1024") as desk:
        if isinstance(desk.platform, PigeonPlatform):
            desk.platform.keep("list", b"x" * 2000)
            file = IncomingFile(name="list.txt", content_type="text/plain", ref="list")
            message = TextMessage(text="See the list.", message_ref="m", files=(file,))
            await desk.platform.deliver("ada", message)
        else:
            await desk.platform.attach("ada", "See the list.", "list.txt", b"x" * 2000)
        await until(lambda: threads(desk) or waits)
        assert not waits
        ((said,),) = (texts[:1] for texts in threads(desk).values())
        assert "See the list." in said
        assert "list.txt was not taken" in said


async def test_a_fault_on_one_thread_keeps_no_other_from_being_answered(
    desk: CarriedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued, faults = Outbox.queue, [RuntimeError("once")]

    async def queue(outbox: Outbox, thread_id: str) -> None:
        if faults:
            raise faults.pop()
        await queued(outbox, thread_id)

    monkeypatch.setattr(Outbox, "queue", queue)
    await say(desk, "ada", "Do you sell books?")
    await say(desk, "bob", "Do you sell maps?")
    assert not faults


async def test_who_is_blocked_is_neither_heard_nor_answered(tmp_path: Path) -> None:
    blocked = 'transports.pigeon.blocked=["Eve", "@spam.example"]'
    async with carrying(tmp_path, "pigeon", blocked) as desk:
        platform = pigeons(desk)
        for person in ("eve", "EVE", "mal@spam.example", "mal@SPAM.example"):
            await platform.write(person, SECRET)
            await platform.deliver(person, ChatStart())
        for person in ("eve2", "eve@example.org", "mal@spam.example.org", "spam.example"):
            await say(desk, person, f"I am {person}.")
        await handled(desk)
        assert {one.recipient for one in platform.sent} == {
            "eve2",
            "eve@example.org",
            "mal@spam.example.org",
            "spam.example",
        }
        assert len(desk.talker.rows("SELECT id FROM threads")) == 4
