"""A visitor who waits for a person leaves an email address: it is on the ticket."""

from __future__ import annotations

from pathlib import Path

from aitp_desk.store.reads.console import tickets as ticket_reads
from tests.support.clients.threads import THREADS, Talker, talking

ADDRESS = "ada@example.com"
WISH = {"role": "user", "content": "I want to talk to a person"}
PEOPLE = "tickets.people=on_request"


async def keep(talker: Talker, thread: str, **body: object) -> tuple[int, str]:
    answer = await talker.send("POST", f"{THREADS}/{thread}/contact", body)
    if answer.status == 200:
        assert answer.body["object"] == "thread.contact"
        return 200, str(answer.body["email"])
    return answer.refusal[0], answer.refusal[1]


async def read_contact(talker: Talker) -> str:
    (ticket,) = [one async for one in ticket_reads.tickets(talker.desk.store, open_only=False)]
    return ticket.contact


async def test_an_address_is_kept_replaced_and_taken_back(tmp_path: Path) -> None:
    async with talking(tmp_path, PEOPLE) as talker:
        thread = (await talker.open(WISH, wait=10)).id
        assert await read_contact(talker) == ""
        for address in ("first@example.com", ADDRESS):
            assert await keep(talker, thread, email=address) == (200, address)
            assert await read_contact(talker) == address
        assert await keep(talker, thread, email=None) == (200, "None")
        assert await read_contact(talker) == ""


NO_ADDRESSES = (
    "",
    "ada",
    "ada@example",
    "a b@example.com",
    "a@b@example.com",
    "a@x.y\n",
    7,
    "a" * 250,
)


async def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    async with talking(tmp_path, PEOPLE) as talker:
        thread = (await talker.open(WISH, wait=10)).id
        for email in NO_ADDRESSES:
            assert await keep(talker, thread, email=email) == (400, "invalid_request"), email
        assert await keep(talker, thread) == (400, "invalid_request")


async def test_an_address_needs_a_request_that_waits_and_its_thread(tmp_path: Path) -> None:
    async with talking(tmp_path, PEOPLE) as talker:
        thread = (await talker.open()).id
        status, code = await keep(talker, thread, email=ADDRESS)
        assert (status, code) == (409, "precondition_failed")
        assert (await keep(talker, "thread_nobody", email=ADDRESS))[0] == 404


async def test_an_address_is_deleted_with_its_conversation(tmp_path: Path) -> None:
    async with talking(tmp_path, PEOPLE) as talker:
        thread = (await talker.open(WISH, wait=10)).id
        await keep(talker, thread, email=ADDRESS)
        await talker.send("DELETE", f"{THREADS}/{thread}")
        found = [one async for one in ticket_reads.tickets(talker.desk.store, open_only=False)]
        assert [one.contact for one in found if one.contact] == []


async def test_outside_the_hours_the_reply_notes_when_people_answer(tmp_path: Path) -> None:
    hours = "tickets.hours=['Mo 09:00-09:01']"
    days = "tickets.exceptions=[" + ",".join(f"'2026-{m:02}-01'" for m in range(1, 13)) + "]"
    async with talking(tmp_path, PEOPLE, hours, days) as talker:
        thread = (await talker.open(WISH, wait=10)).id
        messages = (await talker.send("GET", f"{THREADS}/{thread}/messages")).ok["data"]
        notes = [one["metadata"] for one in messages if "asked_person" in one["metadata"]]
        assert len(notes) == 1
        assert int(notes[0]["people_from"]) > 0
