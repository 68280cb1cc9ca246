"""What people answer: an action hands them its call, or nobody knows what became of one."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.desk.jobs.kinds import Retry
from aitp_desk.desk.tickets.notifications import run_command
from aitp_desk.store.reads.audit_log import audit_rows
from tests.support.clients.event_stream import following
from tests.support.clients.threads import HELD, Talker, talking
from tests.support.desk.command import run
from tests.support.doubles.agent import Clock, PacedAgent, ScriptedAgent
from tests.support.doubles.callback_receiver import receiving
from tests.support.sites.orders import Caller, Research

SECONDS = 30
MANUAL = [("OpenAI-Beta", "assistants=v2")]
ACTIONS = '''
"""The actions of these tests."""

from aitp_desk.actions import Context, Ticket, action


@action(kind="async", mutability="read_only", blast_radius="self")
def custom_quote(wish: str, context: Context) -> Ticket:
    """Has a person quote what is not in the catalogue."""
    if wish == "nothing":
        return Ticket(" ")
    return Ticket(f"Quote:\\n {wish}", note=f"Asked by {context.caller.id}.")
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", encoding="utf-8")
    (folder / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (folder / "desk.toml").write_text("", encoding="utf-8")
    return folder


class People:
    """The people of a site, at its command line."""

    def __init__(self, folder: Path) -> None:
        self._data = ("--data", folder / "data")

    async def run(self, command: str, *arguments: object) -> tuple[int | None, list[str], str]:
        """Run a command of tickets: its code, what it says, and what is wrong."""
        code, out, wrong = await run("tickets", command, *self._data, *arguments)
        return code, out, "\n".join(wrong)

    async def wait_for_one(self) -> dict[str, Any]:
        """Wait until a ticket is open."""
        async with asyncio.timeout(SECONDS):
            while True:
                _, lines, _ = await self.run("list", "--json")
                if lines:
                    found: dict[str, Any] = json.loads(lines[0])
                    return found


async def ask(talker: Talker, site: Path, wish: str = "40 lamps") -> tuple[Caller, str]:
    """Have a quote asked for: who asked, and their session."""
    caller = Caller(await talker.with_key("actions", "threads"), site)
    said = await caller.ask({"wish": wish}, "custom_quote")
    assert said.body["status"] == "accepted"
    return caller, said.session_id


@pytest.mark.slow
async def test_a_person_answers_what_an_action_has_handed_to_people(
    tmp_path: Path, site: Path
) -> None:
    people = People(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        caller, session = await ask(talker, site)
        ticket = await people.wait_for_one()
        assert (ticket["kind"], ticket["state"]) == ("action", "open")
        assert ticket["about"] == "Quote: 40 lamps"
        assert ticket["note"].startswith("Asked by key:")
        pending = (await caller.status(session)).body
        assert (pending["status"], pending["progress"]) == ("pending", "Waiting for a person.")

        thread = await talker.thread_of(session)
        _, shown, _ = await people.run("show", ticket["id"])
        assert '{"wish": "40 lamps"}' in shown
        async with following(caller.talker, thread, "?after=0") as listener:
            words = "-10 %: we can do it for 900 EUR."
            told = await people.run("answer", ticket["id"], words, "--as", "anna")
            assert told == (0, [f"Answered ticket {ticket['id']}."], "")
            heard = await listener.until(lambda event: words in str(event.data))
        assert heard[-1].data["metadata"]["actor"].endswith("/operators/anna")
        done = (await caller.ended(session)).body
        assert done["status"] == "success"
        assert done["response"]["answer"] == f"anna: {words}"
        (over,) = (await people.run("list", "--all"))[1]
        assert "answered" in over
        code, _, wrong = await people.run("answer", ticket["id"], "Again.")
        assert (code, wrong) == (1, "The ticket is answered; nothing was changed.")
        noted = [
            (row.principal.split(":")[0], row.action)
            async for row in audit_rows(talker.desk.store)
            if row.action in ("ticket.answered", "action.ended")
        ]
        assert noted == [("cli", "action.ended"), ("cli", "ticket.answered")]


async def test_while_a_person_has_a_thread_nobody_else_speaks_there(
    tmp_path: Path, site: Path
) -> None:
    people = People(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        caller, session = await ask(talker, site)
        who, ticket = caller.talker, (await people.wait_for_one())["id"]
        thread = await talker.thread_of(session)
        assert (await people.run("take", ticket, "--as", "anna"))[:2] == (
            0,
            [f"Took ticket {ticket}."],
        )
        _, (line,), _ = await people.run("list")
        assert "taken by anna" in line

        posted = await who.post(thread, "Is anybody there?", wait=5)
        assert (posted.ok["run"], posted.ok["replies"]) == (None, [])
        run = {"assistant_id": "desk"}
        refused = await who.send("POST", f"/v1/threads/{thread}/runs", run, headers=MANUAL)
        assert refused.status == 409
        held = await caller.reply(await caller.status(session), "Hello?", "content_search")
        assert held.body["response"]["answer"] == HELD
        assert (await people.run("say", ticket, "I look it up.", "--as", "anna"))[0] == 0
        held = await caller.reply(held, "And now?", "content_search")
        assert held.body["response"]["answer"] == "anna: I look it up."
        for command in (("take", ticket), ("answer", ticket, "Mine."), ("close", ticket)):
            code, _, wrong = await people.run(*command, "--as", "ben")
            assert (code, wrong) == (1, "anna has taken the ticket; nothing was changed.")
        texts = await who.texts(thread)
        assert texts[-4:] == ["Is anybody there?", "Hello?", "I look it up.", "And now?"]

        assert (await people.run("release", ticket))[0] == 0
        assert (await people.run("release", ticket))[0] == 1
        code, _, wrong = await people.run("say", ticket, "I have it.", "--as", "anna")
        assert (code, wrong) == (1, "No operator has taken the ticket; take it first.")
        again = await who.post(thread, "What do you sell?", wait=5)
        assert again.ok["run"]["status"] == "completed"
        assert (await people.run("take", ticket, "--as", "ben"))[0] == 0
        assert (await people.run("answer", ticket, "900 EUR.", "--as", "ben"))[0] == 0
        again = await who.post(thread, "What else?", wait=5)
        assert again.ok["run"]["status"] == "completed"
        async with following(who, thread, "?after=0") as listener:
            heard = await listener.until(lambda event: "What else?" in str(event.data))
        handed = [
            (event.name, event.data["id"].rpartition("/")[2])
            for event in heard
            if event.name.startswith("thread.handed")
        ]
        assert handed == [
            ("thread.handed_over", "anna"),
            ("thread.handed_back", "anna"),
            ("thread.handed_over", "ben"),
            ("thread.handed_back", "ben"),
        ]


@pytest.mark.slow
async def test_the_agent_learns_afterwards_what_a_person_has_said(
    tmp_path: Path, site: Path
) -> None:
    told: list[str] = []

    async def listen(turn: Turn) -> Outcome:
        told[:] = [one.text for one in turn.transcript]
        return Answer("Certainly.")

    people, agent = People(tmp_path), ScriptedAgent(listen)
    async with talking(tmp_path, site=site, agent=agent) as talker:
        caller, session = await ask(talker, site)
        ticket = (await people.wait_for_one())["id"]
        said = await caller.status(session)
        await caller.reply(said, "Is that much?", "content_search")
        thread = await talker.thread_of(session)
        async with following(caller.talker, thread) as listener:
            assert (await people.run("answer", ticket, "900 EUR."))[0] == 0
            await listener.until(lambda event: "900 EUR." in str(event.data))
        await caller.reply(said, "And now?", "content_search")
        assert told[-1] == "900 EUR."


@pytest.mark.slow
async def test_a_run_at_work_says_nothing_once_a_person_has_the_thread(
    tmp_path: Path, site: Path
) -> None:
    people, agent = People(tmp_path), PacedAgent()
    async with talking(tmp_path, site=site, agent=agent) as talker:
        caller, session = await ask(talker, site)
        ticket, thread = (await people.wait_for_one())["id"], await talker.thread_of(session)
        who = caller.talker
        async with following(who, thread, "?after=0") as listener:
            posting = asyncio.create_task(who.post(thread, "What do you sell?", wait=3 * SECONDS))
            await listener.until_named("run.in_progress")
            assert (await people.run("take", ticket))[0] == 0
            heard = await listener.until_named("thread.handed_over")
            # who waits for the answer is told at once that none comes, in whatever process it was
            async with asyncio.timeout(SECONDS):
                posted = (await posting).ok
            agent.say(Answer("We sell lamps."))
        assert (posted["run"]["status"], posted["replies"]) == ("failed", [])
        assert "run.failed" in [event.name for event in heard]
        assert (await who.texts(thread))[-1] == "What do you sell?"


async def test_a_closed_ticket_fails_its_call_and_says_why(tmp_path: Path, site: Path) -> None:
    people = People(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        for reason, told in (("We make none.", "We make none."), ("", "closed without an answer")):
            caller, session = await ask(talker, site)
            ticket = await people.wait_for_one()
            assert (await people.run("close", ticket["id"], "--reason", reason))[0] == 0
            done = (await caller.ended(session)).body
            assert done["status"] == "failed"
            assert told in done["progress"]


@pytest.mark.slow
async def test_what_nobody_takes_on_expires_with_its_call(tmp_path: Path, site: Path) -> None:
    clock, people = Clock(), People(tmp_path)
    async with talking(tmp_path, site=site, clock=clock) as talker:
        caller, session = await ask(talker, site)
        ticket = await people.wait_for_one()
        clock.advance(169 * 60 * 60)
        assert (await caller.ended(session)).body["status"] == "expired"
        assert "expired" in (await people.run("list", "--all"))[1][0]
        code, _, wrong = await people.run("answer", ticket["id"], "Too late.")
        assert (code, wrong) == (1, "The ticket is expired; nothing was changed.")


async def test_a_ticket_outlives_the_process_and_is_answered_while_nothing_serves(
    tmp_path: Path, site: Path
) -> None:
    people = People(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        caller, session = await ask(talker, site)
        key, ticket = caller.talker.key, await people.wait_for_one()
    assert (await people.run("answer", ticket["id"], "900 EUR."))[0] == 0
    async with talking(tmp_path, site=site) as talker:
        caller = Caller(Talker(talker.desk, tmp_path / "data", talker.http, key), site)
        assert (await caller.status(session)).body["response"]["answer"] == "operator: 900 EUR."


async def test_errors_are_reported_and_nothing_changed(tmp_path: Path, site: Path) -> None:
    people = People(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        await ask(talker, site)
        ticket = await people.wait_for_one()
        for arguments, reason in (
            (("answer", "ticket_none", "Yes."), "There is no ticket 'ticket_none'"),
            (("close", "ticket_none"), "There is no ticket 'ticket_none'"),
            (("show", "ticket_none"), "There is no ticket 'ticket_none'"),
            (("answer", ticket["id"], " "), "An answer must not be empty."),
            (("answer", ticket["id"], "x" * 16_001), "at most 16000 characters"),
            (("answer", ticket["id"], "Yes.", "--as", "Anna B"), "is not a valid operator name"),
        ):
            code, out, wrong = await people.run(*arguments)
            assert (code, out) == (1, []), arguments
            assert reason in wrong
        assert (await people.wait_for_one())["state"] == "open"


@pytest.mark.slow
async def test_the_answer_is_called_back_where_the_caller_asked_for_that(
    tmp_path: Path, site: Path
) -> None:
    people = People(tmp_path)
    async with (
        receiving() as receiver,
        talking(tmp_path, "egress.allow_loopback=true", site=site) as talker,
    ):
        caller = Caller(await talker.with_key("actions"), site)
        said = await caller.ask({"wish": "40"}, "custom_quote", callback_url=receiver.url)
        ticket = (await people.wait_for_one())["id"]
        assert receiver.got == []
        assert (await people.run("answer", ticket, "900 EUR."))[0] == 0
        async with asyncio.timeout(SECONDS):
            while not receiver.got:
                await people.run("list")
        (delivery,) = receiver.got
        assert json.loads(delivery.body) == (await caller.status(said.session_id)).body
        assert "webhook-signature" in delivery.headers


@pytest.mark.slow
async def test_people_say_what_became_of_a_call_of_which_nobody_knew(
    tmp_path: Path, site: Path
) -> None:
    people, first, second = People(tmp_path), Research(), Research()
    stop = "server.shutdown_seconds=1"
    async with talking(tmp_path, stop, site=site, actions=(first.offered,)) as talker:
        caller = Caller(await talker.with_key("actions", "threads"), site)
        key = caller.talker.key
        said = await caller.ask({"topic": "moths"}, "research")
        await first.begun.wait()
    async with talking(tmp_path, site=site, actions=(second.offered,)) as talker:
        caller = Caller(Talker(talker.desk, tmp_path / "data", talker.http, key), site)
        assert (await caller.ended(said.session_id)).body["status"] == "failed"
        ticket = await people.wait_for_one()
        assert (ticket["kind"], ticket["due_at"]) == ("unknown", None)
        assert ticket["about"] == "Was research done? The call was interrupted."
        found = "The moths were found; the list is in your mail."
        assert (await people.run("answer", ticket["id"], found))[0] == 0
        status = (await caller.status(said.session_id)).body
        assert (status["status"], status["progress"]) == ("failed", found)
        thread = await talker.thread_of(said.session_id)
        assert (await caller.talker.texts(thread))[-1] == found
        assert second.calls == []


async def test_of_two_operators_one_has_a_thread(tmp_path: Path, site: Path) -> None:
    people = People(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        caller, session = await ask(talker, site)
        await people.wait_for_one()
        again = await caller.reply(await caller.status(session), "Quote 3 more", "custom_quote")
        assert again.body["status"] in ("accepted", "clarification_needed")
        if again.body["status"] == "clarification_needed":
            await caller.reply(again, "yes", "custom_quote")
        async with asyncio.timeout(SECONDS):
            while len(lines := (await people.run("list"))[1]) < 2:
                pass
        one, other = (line.split()[0] for line in lines)
        assert (await people.run("take", one, "--as", "anna"))[0] == 0
        code, _, wrong = await people.run("take", other, "--as", "ben")
        assert (code, wrong) == (1, "anna has taken the conversation over; nothing was changed.")
        # and she has it until the last of its tickets is over
        assert (await people.run("take", other, "--as", "anna"))[0] == 0
        who, thread = caller.talker, await talker.thread_of(session)
        for ticket, runs in ((one, False), (other, True)):
            assert (await people.run("close", ticket, "--as", "anna"))[0] == 0
            posted = await who.post(thread, "Is anybody there?", wait=5)
            assert (posted.ok["run"] is not None) is runs


async def test_what_visitors_write_gives_the_terminal_no_orders(tmp_path: Path, site: Path) -> None:
    people = People(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        await ask(talker, site, "\x1b[2J40 \x9b1mlamps\u202e")
        ticket = await people.wait_for_one()
        (listed,) = (await people.run("list"))[1]
        assert listed.endswith("Quote: \ufffd[2J40 \ufffd1mlamps\ufffd")
        _, shown, _ = await people.run("show", ticket["id"])
        assert all(line.isprintable() for line in shown)


async def test_a_ticket_about_nothing_is_a_fault_of_the_action(tmp_path: Path, site: Path) -> None:
    async with talking(tmp_path, site=site) as talker:
        caller, session = await ask(talker, site, "nothing")
        done = (await caller.ended(session)).body
        assert done["status"] == "failed"
        assert "because of a fault on our side" in done["progress"]
        assert (await People(tmp_path).run("list"))[1] == []


async def test_nobody_else_speaks_in_an_operators_name(tmp_path: Path, site: Path) -> None:
    async with talking(tmp_path, site=site) as talker:
        actor = {"id": f"{talker.desk.desk.site.url}/Operators/anna", "capabilities": []}
        told = await talker.open(
            {"role": "user", "content": "Hello."}, metadata={"actors": [actor]}
        )
        assert told.status == 403


async def test_a_deleted_thread_takes_the_words_of_its_tickets_with_it(
    tmp_path: Path, site: Path
) -> None:
    people = People(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        caller, session = await ask(talker, site)
        await people.wait_for_one()
        thread = await talker.thread_of(session)
        assert (await caller.talker.send("DELETE", f"/v1/threads/{thread}")).status == 200
        assert talker.rows("SELECT state, about, note, principal FROM tickets") == [
            ("closed", "", "", None)
        ]
        assert (await people.run("list"))[1] == []


async def test_people_are_told_of_a_ticket_by_a_webhook_and_a_command(
    tmp_path: Path, site: Path
) -> None:
    told = tmp_path / "told.json"
    async with receiving() as receiver:
        settings = (
            "egress.allow_loopback=true",
            f'notify.webhook="{receiver.url}"',
            f'notify.command=["tee", "{told}"]',
        )
        async with talking(tmp_path, *settings, site=site) as talker:
            await ask(talker, site, "40 lamps; $(touch x)")
            people = People(tmp_path)
            ticket = await people.wait_for_one()
            async with asyncio.timeout(SECONDS):
                while not (receiver.got and told.exists() and told.read_bytes()):
                    await people.run("list")
            async with talker.http.get("/.well-known/jwks.json") as response:
                jwks = await response.json()
    (delivery,) = receiver.got
    assert delivery.body == told.read_bytes()
    notice = json.loads(delivery.body)
    assert notice["id"] == ticket["id"] == delivery.headers["webhook-id"]
    assert notice["about"] == "Quote: 40 lamps; $(touch x)"
    assert delivery.headers["webhook-key-id"] in [key["kid"] for key in jwks["keys"]]


async def test_a_command_is_run_without_a_shell_in_bounds_and_with_little_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    around = tmp_path / "around"
    script = f"import os; open({str(around)!r}, 'w').write(' '.join(sorted(os.environ)))"
    await run_command((sys.executable, "-c", script, "$(touch x)"), b"{}", SECONDS)
    assert set(around.read_text("utf-8").split()) <= {"PATH", "HOME", "LANG", "LC_CTYPE"}
    for command, reason in (
        ((str(tmp_path / "missing"),), "could not be run"),
        (("false",), "ended with code 1"),
        (("sleep", "60"), "took longer than 0.1 seconds"),
    ):
        with pytest.raises(Retry, match=reason):
            await run_command(command, b"{}", 0.1 if command[0] == "sleep" else SECONDS)


@pytest.mark.slow
async def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    number = tmp_path / "pid"
    script = f"import os, time; open({str(number)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    with pytest.raises(Retry, match="took longer"):
        await run_command((sys.executable, "-c", script), b"{}", 2)
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text("utf-8")), 0)
