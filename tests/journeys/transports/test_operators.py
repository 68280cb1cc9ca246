"""Operators who work on a platform: tickets arrive there, and are answered from there."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.desk.tickets.bindings import CODE_SECONDS, OperatorBindings
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console import platforms as platform_reads
from aitp_desk.store.units.keys.tokens import revoke_token, rotate_token
from aitp_desk.transports.events import Choice, IncomingFile, MessageEdit, TextMessage
from aitp_desk.transports.messages import Outgoing, SentMessage
from aitp_desk.transports.operators.buttons import CONFIRM_SECONDS
from tests.support.access.keys import make_key
from tests.support.clients.operator import ACTIONS, Operator, browsing
from tests.support.clients.threads import Talker
from tests.support.desk.command import run
from tests.support.doubles.agent import Clock
from tests.support.sites.orders import Caller
from tests.support.transports.pigeon import MOST_FILE_BYTES, Pigeon
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import carrying

SECONDS = 60
ROOM = "room-of-operators"
TELLING = "SELECT id FROM jobs WHERE kind = 'transport_ticket' AND state <> 'done'"
WISH = "I want to talk to a person."
OTHER_ACTION = '''

@action(kind="async", mutability="reversible", blast_radius="self", approval=True)
def set_aside(article: str) -> str:
    """Sets an article aside."""
    with BOOK.open("a") as book:
        book.write(f"aside {article}" + chr(10))
    return article
'''


class Office(msgspec.Struct, frozen=True):
    """A desk, visitors and operators on the same platform, and consoles."""

    talker: Talker
    platform: PigeonPlatform
    folder: Path
    anna: Operator
    keys: dict[str, str]

    @property
    def in_room(self) -> list[Outgoing]:
        """What the desk has said where the operators are."""
        return [one for one in self.platform.sent if one.conversation == ROOM]

    def told(self, person: str) -> list[str]:
        """What the desk has said to a person alone."""
        chat = f"chat-{person}"
        return [one.text for one in self.platform.sent if one.conversation == chat]

    def place(self, message: Outgoing) -> str:
        """What the platform calls a message."""
        return f"sent-{self.platform.sent.index(message)}"

    async def until(self, *texts: str) -> list[Outgoing]:
        """What is said in the room, once all of this is."""
        await eventually(
            lambda: all(any(text in one.text for one in self.in_room) for text in texts),
            lambda: [one.text for one in self.in_room],
        )
        return self.in_room

    async def answered(self, person: str, text: str) -> None:
        """Wait until a person has got this."""
        await eventually(
            lambda: any(text in one for one in self.told(person)), lambda: self.told(person)
        )

    async def bind(self, person: str, name: str = "anna", **more: Any) -> None:
        """Let a person act as the holder of a key."""
        code = await self.code(name)
        await self.platform.deliver(person, message(f"bind {code}"), **more)

    async def code(self, name: str = "anna", clock: Callable[[], float] = time.time) -> str:
        """Get a code for the holder of a key."""
        keys = await open_data_keys(self.talker.desk.store, self.folder / "data", {})
        bindings = OperatorBindings(self.talker.desk.store, derive_audit_keys(keys), clock)
        key = await reads.unrevoked_token(self.talker.desk.store, name)
        assert key is not None
        code, _ = await bindings.make_code("pigeon", key)
        return code

    async def ask_for_person(self, visitor: str = "vera") -> Outgoing:
        """Let a visitor ask for a person, and return the ticket in the room."""
        before = len(self.in_room)
        await self.platform.write(visitor, WISH)
        await eventually(lambda: len(self.in_room) > before, lambda: self.told(visitor))
        return self.in_room[-1]

    async def press(self, person: str, shown: Outgoing, label: str) -> str:
        """Press a button in the room, and return what the platform shows the person then."""
        (token,) = [one.token for one in shown.buttons if one.label == label]
        return await self.press_token(person, token, self.place(shown))

    async def press_token(self, person: str, token: str, ref: str) -> str:
        choice = Choice(token=token, message_ref=ref)
        event = await self.platform.deliver(person, choice, conversation=ROOM, is_private=False)
        await eventually(lambda: event in self.platform.notices, lambda: self.platform.notices)
        return self.platform.notices[event]

    async def reply(self, person: str, shown: Outgoing, text: str, **more: Any) -> str:
        """Answer a message in the room."""
        said = message(text, answers=self.place(shown), **more)
        return await self.platform.deliver(
            person, said, said.message_ref, conversation=ROOM, is_private=False, is_addressed=False
        )

    async def change(self, person: str, event: str, text: str) -> str:
        """Change a message in the room."""
        edit = MessageEdit(message_ref=event, text=text)
        return await self.platform.deliver(
            person, edit, conversation=ROOM, is_private=False, is_addressed=False
        )

    async def ticket(self) -> dict[str, Any]:
        """The newest ticket, as the console has it."""
        found = await self.anna.get("tickets?state=all")
        newest: dict[str, Any] = max(found["data"], key=lambda one: one["id"])
        return newest

    async def revoke(self, name: str) -> None:
        """Revoke a key."""
        now = int(time.time())
        assert await self.talker.desk.store.run(revoke_token, id_or_name=name, now=now)

    async def rotate(self, name: str, now: int) -> None:
        """Replace the secret of a key, at once."""
        key = await reads.unrevoked_token(self.talker.desk.store, name)
        assert key is not None
        await self.talker.desk.store.run(
            rotate_token,
            id=key.id,
            version=key.version,
            hash=b"another",
            data_key=key.data_key,
            previous_until=now,
            now=now,
        )

    async def in_console(self, state: str) -> dict[str, Any]:
        """The ticket in the console, which is in a state already when the platform says so."""
        ticket = await self.ticket()
        assert ticket["state"] == state, ticket
        return ticket

    @property
    def done(self) -> list[str]:
        """What actions have done."""
        book = self.folder / "site" / "book.txt"
        return book.read_text("utf-8").splitlines() if book.exists() else []

    async def call(self, action: str, *, key: str = "", **arguments: Any) -> Outgoing:
        """Let a caller call an action that takes people, and return the ticket in the room."""
        before = len(self.in_room)
        talker = Talker(
            self.talker.desk, self.folder / "data", self.talker.http, key or self.keys["shop"]
        )
        caller = Caller(talker, self.folder / "site")
        said = await caller.ask(arguments, action)
        assert said.body["status"] == "accepted", said.body
        await eventually(lambda: len(self.in_room) > before, lambda: self.in_room)
        return self.in_room[-1]

    async def refund(self, order: str) -> Outgoing:
        """Let money be asked back, which costs something and cannot be undone."""
        price = {"amount": "2.50", "currency": "EUR"}
        return await self.call("refund", order=order, amount=500, _confirm=price)


_numbers = iter(range(1, 10_000))


def message(text: str, answers: str = "", files: int = 0) -> TextMessage:
    """A message with an id of its own."""
    file = IncomingFile(name="a.txt", content_type="text/plain", ref="1")
    number = f"message-{next(_numbers)}"
    return TextMessage(text=text, message_ref=number, answers_ref=answers, files=(file,) * files)


async def eventually(is_so: Callable[[], object], shown: Callable[[], object]) -> None:
    """Wait until something is so."""
    try:
        async with asyncio.timeout(SECONDS):
            while not is_so():  # noqa: ASYNC110 -- other code sets nothing that could be awaited
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(shown()) from None


async def eventually_async(
    read: Callable[[], Awaitable[Any]], is_so: Callable[[Any], object]
) -> None:
    """Wait until what is read is so."""
    found = None
    try:
        async with asyncio.timeout(SECONDS):
            while not is_so(found := await read()):  # noqa: ASYNC110 -- as above
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(found) from None


@asynccontextmanager
async def opening(
    folder: Path, *settings: str, clock: Callable[[], float] = time.time
) -> AsyncIterator[Office]:
    """A desk whose operators are in a room of the platform."""
    site = folder / "site"
    site.mkdir(exist_ok=True)
    (site / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS + OTHER_ACTION, encoding="utf-8")
    room = f"transports.pigeon.operators={ROOM}"
    people = "tickets.people=on_request"
    async with carrying(folder, "pigeon", room, people, *settings, clock=clock) as desk:
        assert isinstance(desk.platform, PigeonPlatform)
        store, data = desk.talker.desk.store, folder / "data"
        keys = {
            name: await make_key(store, data, *scopes, name=name)
            for name, scopes in (
                ("anna", ("operator",)),
                ("ben", ("operator",)),
                ("shop", ("actions", "threads")),
            )
        }
        async with browsing(desk.talker.desk) as anna:
            assert (await anna.sign_in(keys["anna"])).status == 200
            yield Office(desk.talker, desk.platform, folder, anna, keys)


@pytest_asyncio.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with opening(tmp_path) as opened:
        await opened.bind("ada")
        await opened.bind("bob", "ben")
        await opened.answered("ada", "You act as anna now.")
        await opened.answered("bob", "You act as ben now.")
        yield opened


async def test_a_ticket_arrives_with_what_it_is_about_and_buttons(office: Office) -> None:
    await office.platform.write("vera", "Do you sell *maps*?")
    await office.answered("vera", "You asked:")
    shown = await office.ask_for_person()
    assert [one.label for one in shown.buttons] == ["Take", "Answer", "Close"]
    assert "> Do you sell *maps*?" in shown.text
    ticket = await office.ticket()
    assert f"/console#/tickets/{ticket['id']}" in shown.text
    assert shown.recipient == ROOM
    assert len(office.in_room) == 1


async def test_operators_take_write_and_close_and_the_visitor_answers(office: Office) -> None:
    shown = await office.ask_for_person()
    assert await office.press("ada", shown, "Take") == "Taken."
    assert (await office.in_console("taken"))["taken_by"] == "anna"
    (*_, taken) = await office.until("Taken by anna.")
    assert [one.label for one in taken.buttons] == ["Release", "Answer", "Close"]

    await office.reply("ada", shown, "What can I do for you?")
    await office.answered("vera", "What can I do for you?")
    for number in range(3):
        await office.platform.write("vera", f"Wish {number}.")
    found = await office.until("Wish 0.", "Wish 1.", "Wish 2.")
    wishes = [text for one in found for text in re.findall(r"Wish \d", one.text)]
    assert wishes == ["Wish 0", "Wish 1", "Wish 2"]
    assert not any("What can I do" in one.text for one in office.in_room)

    await office.reply("ada", found[-1], "It is done.")
    await office.answered("vera", "It is done.")
    assert await office.press("ada", taken, "Close") == "Closed."
    await office.until("Closed by anna.")
    ticket = await office.in_console("closed")
    assert ticket["ended_by"] == "anna"
    await office.platform.write("vera", "Are you still there?")
    await office.answered("vera", "Are you still there?")
    assert not any("without an answer" in one for one in office.told("vera"))


async def test_a_reply_takes_the_ticket(office: Office) -> None:
    shown = await office.ask_for_person()
    await office.reply("bob", shown, "Hello, I am Ben.")
    await office.answered("vera", "Hello, I am Ben.")
    await office.until("Taken by ben.")
    assert (await office.ticket())["taken_by"] == "ben"


async def test_what_an_operator_changes_goes_to_the_visitor(office: Office) -> None:
    shown = await office.ask_for_person()
    event = await office.reply("ada", shown, "We open at nine.")
    await office.answered("vera", "We open at nine.")
    change = await office.change("ada", event, "We open at ten.")
    await office.answered("vera", "Correction: We open at ten.")
    await office.platform.redeliver(change)
    await office.reply("ada", shown, "And close at five.")
    await office.answered("vera", "And close at five.")
    assert [one for one in office.told("vera") if "Correction" in one] == [
        "Correction: We open at ten."
    ]
    ((said, metadata),) = office.talker.rows(
        "SELECT m.id, c.metadata FROM messages m, messages c"
        " WHERE m.content LIKE '%at nine%' AND c.content LIKE '%at ten%'"
    )
    assert msgspec.json.decode(metadata)["edits"] == said


async def test_what_an_operator_changes_in_a_note_stays_one(office: Office) -> None:
    shown = await office.ask_for_person()
    event = await office.reply("ada", shown, "// Rather slow.")
    await office.until("Noted for operators only.")
    await office.change("ada", event, "Rather fast.")
    notes = "SELECT words FROM notes ORDER BY id"
    await eventually(lambda: len(office.talker.rows(notes)) == 2, lambda: office.in_room)
    assert office.talker.rows(notes)[-1] == ("Correction: Rather fast.",)
    assert not any("fast" in one for one in office.told("vera"))


@pytest.mark.parametrize("how", ["answered", "closed", "of a stranger"])
async def test_what_is_changed_too_late_is_sent_to_nobody(office: Office, how: str) -> None:
    shown = await office.ask_for_person()
    if how == "answered":
        await office.press("ada", shown, "Answer")
        (*_, shown) = await office.until("write the answer as a reply now")
    event = await office.reply("ada", shown, "We open at nine.")
    await office.answered("vera", "We open at nine.")
    if how == "closed":
        (*_, taken) = [one for one in await office.until("Taken by anna.") if one.buttons]
        await office.press("ada", taken, "Close")
        await office.in_console("closed")
    person = "eve" if how == "of a stranger" else "ada"
    await office.change(person, event, "We open at ten.")
    if how == "of a stranger":
        await office.reply("ada", shown, "And close at five.")
        await office.answered("vera", "And close at five.")
    else:
        await office.until("Your change was not sent to the visitor.")
    assert not any("at ten" in one for one in office.told("vera"))


async def test_the_reply_after_answer_is_the_answer(office: Office) -> None:
    shown = await office.ask_for_person()
    await office.press("ada", shown, "Answer")
    (*_, asked) = await office.until("write the answer as a reply now")
    await office.reply("ada", asked, "We open at nine.")
    await office.answered("vera", "We open at nine.")
    await office.until("Answered by anna:")
    ticket = await office.in_console("answered")
    assert (ticket["answer"], ticket["ended_by"]) == ("We open at nine.", "anna")


async def test_a_released_ticket_is_free_again(office: Office) -> None:
    shown = await office.ask_for_person()
    await office.press("ada", shown, "Answer")
    (*_, taken) = [one for one in await office.until("Taken by anna.") if one.buttons]
    assert await office.press("ada", taken, "Release") == "Released."
    (*_, free) = await office.until("Nobody has the ticket any more.")
    assert [one.label for one in free.buttons] == ["Take", "Answer", "Close"]
    await office.reply("ada", free, "Only a word.")
    await office.answered("vera", "Only a word.")
    assert (await office.ticket())["state"] == "taken"


async def test_of_two_operators_one_has_the_ticket(office: Office) -> None:
    shown = await office.ask_for_person()
    told = await asyncio.gather(
        office.press("ada", shown, "Take"), office.press("bob", shown, "Take")
    )
    assert "Taken." in told
    (refusal,) = [one for one in told if one != "Taken."]
    holder = (await office.ticket())["taken_by"]
    assert holder in ("anna", "ben")
    assert refusal == f"{holder} has taken the ticket; nothing was changed."
    other = "ada" if holder == "ben" else "bob"
    await office.reply(other, shown, "Me too.")
    await office.until(f"{holder} has taken the ticket")
    assert not any("Me too." in one for one in office.told("vera"))


async def test_what_happens_in_the_console_is_told_once(office: Office) -> None:
    shown = await office.ask_for_person()
    ticket = await office.ticket()
    path = f"tickets/{ticket['id']}"
    await office.anna.post(f"{path}/take")
    await office.until("Taken by anna.")
    await office.anna.post(f"threads/{ticket['thread']}/say", words="From the console.")
    await office.until("From the console.")
    await office.anna.post(f"{path}/answer", words="All is well.")
    await office.until("Answered by anna:\n> All is well.")
    assert "nothing was changed" in await office.press("ada", shown, "Close")
    await office.reply("ada", shown, "Too late.")
    await office.until("The ticket has ended; nothing was said.")
    assert not any("Too late." in one for one in office.told("vera"))
    texts = [one.text for one in office.in_room]
    assert sum("Taken by anna." in one for one in texts) == 1
    assert sum("Answered by anna" in one for one in texts) == 1
    assert sum("From the console." in one for one in texts) == 1


async def test_who_is_not_bound_does_nothing(office: Office) -> None:
    shown = await office.ask_for_person()
    assert "not known as an operator" in await office.press("eve", shown, "Take")
    await office.reply("eve", shown, "I am an operator.")
    await office.until("not known as an operator")
    assert not any("I am an operator." in one for one in office.told("vera"))
    assert (await office.ticket())["state"] == "open"


async def test_nobody_acts_whom_the_platform_has_not_proven(office: Office) -> None:
    shown = await office.ask_for_person()
    said = message("It is me, Ada.", answers=office.place(shown))
    unproven: dict[str, Any] = {"conversation": ROOM, "is_private": False, "is_proven": False}
    await office.platform.deliver("ada", said, **unproven)
    await office.until("not known as an operator")
    (token, *_) = [one.token for one in shown.buttons]
    event = await office.platform.deliver("ada", Choice(token=token), **unproven)
    await eventually(lambda: event in office.platform.notices, lambda: office.platform.notices)
    assert "not known as an operator" in office.platform.notices[event]
    assert (await office.ticket())["state"] == "open"
    assert not any("It is me" in one for one in office.told("vera"))


async def test_a_revoked_key_ends_what_it_has_opened(office: Office) -> None:
    shown = await office.ask_for_person()
    await office.press("bob", shown, "Take")
    await office.revoke("ben")
    assert "not known as an operator" in await office.press("bob", shown, "Close")
    assert (await office.ticket())["state"] == "taken"


async def test_a_call_is_approved_at_once_where_nothing_grave_follows(office: Office) -> None:
    shown = await office.call("set_aside", article="A7")
    assert [one.label for one in shown.buttons] == ["Approve", "Decline", "Take"]
    assert await office.press("ada", shown, "Approve") == "Done."
    await office.until("Approved by anna.")
    await eventually(lambda: office.done == ["aside A7"], lambda: office.done)
    assert (await office.ticket())["ended_by"] == "anna"
    again = await office.press("bob", shown, "Approve")
    assert again == "The ticket is answered; nothing was changed."
    assert await office.press("ada", shown, "Approve") == "Done."
    assert office.done == ["aside A7"]


async def test_a_grave_approval_is_asked_again(office: Office) -> None:
    shown = await office.refund("B12")
    assert await office.press("ada", shown, "Approve") == ""
    (*_, asked) = await office.until("Approve: Pays money back")
    assert "2.50 EUR" in asked.text
    assert [one.label for one in asked.buttons] == ["Approve now"]
    assert office.done == []
    assert (await office.ticket())["state"] == "open"

    assert "Only the operator" in await office.press("bob", asked, "Approve now")
    assert "not known" in await office.press("eve", asked, "Approve now")
    await office.reply("ada", asked, "Approve")
    await office.until("Taken by anna.")
    assert office.done == []

    assert await office.press("ada", asked, "Approve now") == "Done."
    await office.until("Approved by anna.")
    await eventually(lambda: office.done == ["B12 500"], lambda: office.done)
    assert await office.press("ada", asked, "Approve now") == "Done."
    assert "nothing was changed" in await office.press("bob", shown, "Decline")
    assert office.done == ["B12 500"]


async def test_a_call_is_declined(office: Office) -> None:
    shown = await office.refund("B13")
    assert await office.press("bob", shown, "Decline") == "Closed."
    await office.until("Declined by ben.")
    assert (await office.ticket())["state"] == "closed"
    assert "nothing was changed" in await office.press("ada", shown, "Approve")
    assert office.done == []


async def test_the_question_whether_to_approve_is_valid_for_minutes(tmp_path: Path) -> None:
    clock = Clock(time.time())
    async with opening(tmp_path, clock=clock) as office:
        await office.bind("ada")
        shown = await office.refund("B14")
        await office.press("ada", shown, "Approve")
        (*_, asked) = await office.until("Approve: Pays money back")
        clock.advance(CONFIRM_SECONDS + 1)
        assert await office.press("ada", asked, "Approve now") == "This is no longer open."
        assert office.done == []


async def test_nobody_approves_what_they_have_asked_for(office: Office) -> None:
    shown = await office.call("set_aside", key=office.keys["anna"], article="A9")
    assert "Another operator must" in await office.press("ada", shown, "Approve")
    assert office.done == []
    assert await office.press("bob", shown, "Approve") == "Done."


async def test_a_code_binds_one_person_once(office: Office) -> None:
    code = await office.code()
    for person in ("carl", "dora"):
        await office.platform.deliver(person, message(f"bind {code.lower()}"))
    await office.answered("carl", "You act as anna now.")
    await office.answered("dora", "This code is unknown")
    shown = await office.ask_for_person()
    assert "not known" in await office.press("dora", shown, "Take")
    assert await office.press("carl", shown, "Take") == "Taken."


async def test_a_code_that_others_may_have_read_is_over(office: Office) -> None:
    code = await office.code()
    public: dict[str, Any] = {"conversation": ROOM, "is_private": False}
    await office.platform.deliver("carl", message(f"bind {code}"), **public)
    await office.until("Get a new one")
    await office.platform.deliver("carl", message(f"bind {code}"))
    await office.answered("carl", "This code is unknown")
    code = await office.code()
    await office.platform.deliver("carl", message(f"bind {code}"), is_proven=False)
    await office.answered("carl", "has not proven who you are")
    await office.platform.deliver("carl", message(f"bind {code}"))
    await eventually(
        lambda: sum("This code is unknown" in one for one in office.told("carl")) == 2,
        lambda: office.told("carl"),
    )
    ((kept,),) = office.talker.rows("SELECT count(*) FROM messages WHERE origin = 'visitor'")
    assert kept == 0


async def test_a_code_ends_and_so_does_a_replaced_secret(tmp_path: Path) -> None:
    clock = Clock(time.time())
    async with opening(tmp_path, clock=clock) as office:
        code = await office.code(clock=clock)
        clock.advance(CODE_SECONDS + 1)
        await office.platform.deliver("ada", message(f"bind {code}"))
        await office.answered("ada", "older than ten minutes")
        code = await office.code(clock=clock)
        await office.platform.deliver("ada", message(f"bind {code}"))
        await office.answered("ada", "You act as anna now.")
        shown = await office.ask_for_person()
        assert await office.press("ada", shown, "Take") == "Taken."
        await office.rotate("anna", int(clock()))
        clock.advance(1)
        assert "not known" in await office.press("ada", shown, "Close")


async def test_commands_say_who_acts_as_whom(office: Office) -> None:
    site = (office.folder / "site", "--data", office.folder / "data")
    code, (told,), _ = await run("transport", "bind", "pigeon", "ben", *site)
    assert code == 0
    await office.platform.deliver("carl", message(told))
    await office.answered("carl", "You act as ben now.")
    _, lines, _ = await run("transport", "operators", *site)
    assert [line.split("\t")[:2] for line in lines] == [
        ["pigeon", "ada"],
        ["pigeon", "bob"],
        ["pigeon", "carl"],
    ]
    ended = await run("transport", "unbind", "pigeon", "carl", *site)
    assert ended == (0, ["carl is no operator on pigeon any more."], [])
    shown = await office.ask_for_person()
    assert "not known" in await office.press("carl", shown, "Take")
    for command, named, fault in (
        (("bind", "pigeon"), "nobody", "There is no valid key 'nobody'"),
        (("bind", "pigeon"), "shop", "scope 'operator'"),
        (("bind", "telegram"), "ben", "[transports.telegram]"),
        (("unbind", "pigeon"), "carl", "is no operator there"),
    ):
        code, _, faults = await run("transport", *command, named, *site)
        assert code == 1
        assert fault in " ".join(faults)


async def test_the_console_gives_a_code_to_who_is_signed_in(office: Office) -> None:
    assert (await office.anna.get("session"))["platforms"] == ["pigeon"]
    given = await office.anna.post("platforms/pigeon/code")
    await office.platform.deliver("carl", message(given["message"]))
    await office.answered("carl", "You act as anna now.")
    refused = await office.anna.send("POST", "platforms/telegram/code", {})
    assert refused.refusal == (400, "invalid_request", "name")
    office.anna.csrf = None
    assert (await office.anna.send("POST", "platforms/pigeon/code", {})).status == 403


async def test_only_the_key_of_an_operator_can_be_bound(office: Office) -> None:
    with pytest.raises(InvalidRequest, match="scope 'operator'"):
        await office.code("shop")


async def test_a_button_of_another_platforms_ticket_does_nothing(office: Office) -> None:
    await office.ask_for_person()
    event = await office.platform.deliver("ada", Choice(token="guessed"), conversation=ROOM)
    await eventually(lambda: event in office.platform.notices, lambda: office.platform.notices)
    assert office.platform.notices[event] == "This is no longer open."


async def test_a_note_is_for_operators_only(office: Office) -> None:
    shown = await office.ask_for_person()
    await office.reply("ada", shown, "// He has called before.")
    await office.until("Noted for operators only.")
    ticket = await office.ticket()
    thread = await office.anna.get(f"threads/{ticket['thread']}")
    assert [one["words"] for one in thread["notes"]] == ["He has called before."]
    assert ticket["state"] == "open"
    assert not any("called before" in one for one in office.told("vera"))


async def test_a_visitor_who_takes_an_operators_name_stays_a_visitor(office: Office) -> None:
    note = {"sender_name": "Anna"}
    asks = {"role": "user", "content": WISH, "metadata": note}
    assert (await office.talker.send("POST", "/v1/threads", {"messages": [asks]})).ok
    told = await office.until(WISH)
    assert "Visitor Anna:" in told[-1].text
    assert "\nAnna:" not in told[-1].text


async def test_a_file_of_an_operator_reaches_the_visitor(office: Office) -> None:
    shown = await office.ask_for_person()
    office.platform.keep("1", b"One lamp, 20 EUR.")
    await office.reply("ada", shown, "See the file.", files=1)
    await office.answered("vera", "See the file.")
    (sent,) = [one for one in office.platform.sent if one.files]
    assert sent.recipient == "vera"
    assert [(one.name, one.data) for one in sent.files] == [("a.txt", b"One lamp, 20 EUR.")]


@pytest.mark.sqlite
async def test_a_visitor_who_is_erased_takes_the_operators_files_along(office: Office) -> None:
    shown = await office.ask_for_person()
    office.platform.keep("1", b"One lamp, 20 EUR.")
    await office.reply("ada", shown, "See the file.", files=1)
    await office.answered("vera", "See the file.")
    files = "SELECT count(*) FROM files"
    assert office.talker.rows(files) == [(1,)]
    named = ("--actor", "contact:pigeon:vera")
    code, _, problems = await run("erase", "--data", office.folder / "data", *named)
    assert code == 0, problems
    assert office.talker.rows(files) == [(0,)]


async def test_a_file_alone_is_sent_under_its_name(office: Office) -> None:
    shown = await office.ask_for_person()
    office.platform.keep("1", b"One lamp, 20 EUR.")
    await office.reply("ada", shown, "", files=1)
    await office.answered("vera", "a.txt")


async def test_a_file_that_does_not_fit_is_a_link_in_the_text(office: Office) -> None:
    shown = await office.ask_for_person()
    office.platform.keep("1", b"a" * (MOST_FILE_BYTES + 1))
    await office.reply("ada", shown, "See the file.", files=1)
    await office.answered("vera", "See the file.")
    (text,) = [one for one in office.told("vera") if "See the file." in one]
    found = re.search(r"\[a\.txt\]\(\S+(/v1/files/\S+)\)", text)
    assert found is not None, text
    async with office.talker.http.get(found[1]) as got:
        assert (got.status, await got.read()) == (200, b"a" * (MOST_FILE_BYTES + 1))
    assert not any(one.files for one in office.platform.sent)


async def test_of_a_file_that_is_gone_the_visitor_learns(office: Office) -> None:
    shown = await office.ask_for_person()
    office.platform.keep("1", b"One lamp, 20 EUR.")
    office.platform.is_open = False
    await office.reply("ada", shown, "See the file.", files=1)
    waiting = "SELECT count(*) FROM transport_conversations WHERE state = 'waiting'"
    await eventually(
        lambda: office.talker.rows(waiting) == [(1,)], lambda: office.talker.rows(waiting)
    )
    ((file,),) = office.talker.rows("SELECT id FROM files")
    assert (await office.talker.without_key().send("DELETE", f"/v1/files/{file}")).status == 200
    office.platform.is_open = True
    await office.platform.write("vera", "Are you there?")
    await office.answered("vera", "A file of this message is not available here.")


async def test_an_operator_learns_which_files_are_not_sent(office: Office) -> None:
    shown = await office.ask_for_person()
    await office.reply("ada", shown, "See the file.", files=1)
    await office.answered("vera", "See the file.")
    await office.until("The file a.txt was not taken: the platform has it no more.")
    await office.reply("ada", shown, "// See the file.", files=1)
    await office.until("The files were not sent")


async def test_a_reply_that_is_delivered_again_is_said_once(office: Office) -> None:
    shown = await office.ask_for_person()
    event = await office.reply("ada", shown, "Said once.")
    await office.platform.redeliver(event)
    await office.answered("vera", "Said once.")
    await office.platform.redeliver(event)
    await office.reply("ada", shown, "The last word.")
    await office.answered("vera", "The last word.")
    assert sum("Said once." in one for one in office.told("vera")) == 1


async def test_a_platform_that_fails_gets_the_ticket_later(office: Office) -> None:
    await office.platform.write("vera", "Do you sell books?")
    await office.answered("vera", "You asked:")
    office.platform.break_next(1, retry_after=1)
    shown = await office.call("custom_quote", wish="A lamp")
    assert "Quote: A lamp" in shown.text
    await office.reply("ada", shown, "It costs 12 EUR.")
    await office.until("Taken by anna.")


async def test_a_conversation_whose_name_begins_as_the_rooms_is_a_visitors(tmp_path: Path) -> None:
    async with opening(tmp_path) as office:
        await office.platform.write("vera", "Do you sell books?")
        await office.answered("vera", "Do you sell books?")
        office.platform.break_next(50, retry_after=600)  # the ticket is not shown yet
        await office.platform.write("vera", WISH)
        told = "SELECT failures FROM jobs WHERE kind = 'transport_ticket' AND failures > 0"
        await eventually(
            lambda: office.talker.rows(told), lambda: office.talker.rows("SELECT kind FROM jobs")
        )
        message = TextMessage(text="Do you sell maps?", message_ref="maps")
        await office.platform.deliver("bob", message, conversation=f"{ROOM}-2")
        said = "SELECT content FROM messages WHERE content LIKE '%maps%'"
        events = "SELECT kind, state, last_error FROM jobs"
        await eventually(lambda: office.talker.rows(said), lambda: office.talker.rows(events))


async def test_a_reply_to_a_ticket_that_gets_its_name_meanwhile_is_said(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read = asyncio.Event()
    send, read = Pigeon.send, platform_reads.ticket_of_message

    async def send_slowly(self: Pigeon, outgoing: Outgoing) -> SentMessage:
        sent = await send(self, outgoing)
        if outgoing.conversation == ROOM:
            await is_read.wait()
        return sent

    async def read_early(*where: Any) -> str | None:
        found = await read(*where)
        if not is_read.is_set():
            is_read.set()
            await eventually(lambda: not office.talker.rows(TELLING), lambda: found)
        return found

    monkeypatch.setattr(Pigeon, "send", send_slowly)
    monkeypatch.setattr(platform_reads, "ticket_of_message", read_early)
    await office.reply("ada", await office.ask_for_person(), "We open at nine.")
    await office.answered("vera", "We open at nine.")
