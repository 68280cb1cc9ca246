"""A visitor asks for a person, or the agent cannot answer: a ticket, and where its answer comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aitp_desk.agent.base import Agent, Answer, Delta
from aitp_desk.agent.speech import speech_of
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.units.tickets.answers import NOBODY_CAME
from tests.support.clients.ahp import Said, Visitor
from tests.support.clients.event_stream import following
from tests.support.clients.threads import HELD, Talker, talking
from tests.support.doubles.agent import Clock, PacedAgent
from tests.support.sites.orders import Caller

WAIT = 10
SECONDS = 60
MANUAL = [("OpenAI-Beta", "assistants=v2")]
SAYS = speech_of("en").person
UNKNOWN = "Do you sell kayaks?"
KNOWN = "What are your opening hours?"
NOTHING = "I found nothing"
ACTIONS = '''
"""The actions of these tests."""

from typing import Literal

from aitp_desk.actions import action


@action(kind="query")
def stock(lamp: Literal["tall", "small"]) -> str:
    """Says how many lamps there are."""
    return f"7 of {lamp}."
'''
BY = make_own_auditor(AuditKeys(bytes(32), bytes(32)), 0)


class Site:
    """One desk, its callers, and the people behind it."""

    def __init__(self, talker: Talker, clock: Clock) -> None:
        self.talker = talker
        self.clock = clock
        self.visitor = Visitor(talker.desk, talker.http)
        self.people = EscalationService(talker.desk.store, clock)

    async def tickets(self) -> list[StoredTicket]:
        """Every ticket."""
        found = ticket_reads.tickets(self.talker.desk.store, open_only=False)
        return [ticket async for ticket in found]

    async def the_ticket(self) -> StoredTicket:
        """The only one."""
        (ticket,) = await self.tickets()
        return ticket

    async def answer(self, words: str) -> None:
        """Have anna answer the only ticket that waits."""
        (ticket,) = [one for one in await self.tickets() if not one.is_over]
        assert await self.people.answer(ticket.id, words, "anna", BY)

    async def say(self, *words: str, thread: str | None = None) -> tuple[str, list[str]]:
        """Say this on a thread, one after the other: the thread, and all that stands there."""
        for said in words:
            if thread is None:
                thread = (await self.talker.open(visitors(said), wait=WAIT)).id
            else:
                (await self.talker.post(thread, said, wait=WAIT)).ok  # noqa: B018
        return thread or "", await self.talker.texts(thread or "")

    async def ask(self, first: str, *more: str, session: str | None = None) -> Said:
        """Ask this over AHP in one session, one after the other: the last answer."""
        said = await self.visitor.ask(first, session_id=session)
        for asked in more:
            said = await self.visitor.ask(asked, session_id=said.session_id)
        return said


def visitors(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


@asynccontextmanager
async def a_site(
    folder: Path, people: str, *settings: str, agent: Agent | None = None
) -> AsyncIterator[Site]:
    clock = Clock()
    wanted = (f"tickets.people={json.dumps(people)}", *settings)
    async with talking(folder, *wanted, clock=clock, agent=agent) as talker:
        yield Site(talker, clock)


async def test_a_visitor_who_asks_for_a_person_learns_that_one_was_asked(tmp_path: Path) -> None:
    async with a_site(tmp_path, "on_request") as site:
        thread, said = await site.say(KNOWN, "Thanks. Can I talk to a person about my order?")
        assert said[-1] == SAYS.asked
        ticket = await site.the_ticket()
        assert (ticket.kind, ticket.thread_id) == (TicketKind.REQUEST, thread)
        assert ticket.about == "Thanks. Can I talk to a person about my order?"
        assert ticket.due_at == site.clock() + 72 * 3600
        assert (await site.say("human please!", thread=thread))[1][-1] == SAYS.waits
        assert await site.the_ticket() == ticket

        await site.answer("Your order is on its way.")
        texts = await site.talker.texts(thread)
        assert texts[-1] == "Your order is on its way."
        # the agent answers what it can, and a person may be asked once more
        assert (await site.say(KNOWN, thread=thread))[1][-1] == said[1]
        assert (await site.say("Human!", thread=thread))[1][-1] == SAYS.asked
        assert len(await site.tickets()) == 2
        assert NOTHING in (await site.say(UNKNOWN, thread=thread))[1][-1]
        assert len(await site.tickets()) == 2


async def test_over_ahp_the_answer_comes_with_the_next_turn_and_once(tmp_path: Path) -> None:
    async with a_site(tmp_path, "on_request") as site:
        said = await site.ask("I want to talk to a human")
        session = said.session_id
        assert said.answer == SAYS.asked
        assert (await site.ask("a person, please", session=session)).answer == SAYS.waits
        ticket = await site.the_ticket()
        assert ticket.thread_id == await site.talker.thread_of(session)

        site.clock.advance(48 * 3600)  # longer than a session without turns is kept
        await site.answer("Here I am.")
        told = await site.ask("Any answer yet?", session=session)
        assert told.answer == "anna: Here I am."
        anna = f"{site.talker.desk.url}/operators/anna"
        assert told.body["meta"]["people"] == [{"actor": anna, "text": "Here I am."}]
        answered = (await site.ask(KNOWN, session=session)).answer
        assert answered == (await site.ask(KNOWN)).answer

        # what was said meanwhile comes before what the agent has found
        assert (await site.ask("human", session=session)).answer == SAYS.asked
        await site.answer("And again.")
        told = await site.ask(KNOWN, session=session)
        assert told.answer == f"anna: And again.\n\n{answered}"
        thread = await site.talker.thread_of(session)
        assert (await site.talker.texts(thread))[-3:] == ["And again.", KNOWN, answered]
        assert (await site.ask(KNOWN, session=session)).answer == answered


async def test_people_are_heard_when_a_session_has_had_its_turns(tmp_path: Path) -> None:
    async with a_site(tmp_path, "on_request", "sessions.max_turns=2") as site:
        session = (await site.ask(KNOWN, "human please")).session_id
        refused = await site.ask(KNOWN, session=session)
        assert "2 turns" in refused.body["message"]
        ticket = await site.the_ticket()
        await site.people.take_ticket(ticket.id, "anna", BY)
        for words in ("Hello.", "How are you?"):
            await site.people.say(ticket.id, words, "anna", BY)
            assert (await site.ask("Hello!", session=session)).answer == f"anna: {words}"
        await site.answer("Goodbye.")
        assert (await site.ask(KNOWN, session=session)).answer == "anna: Goodbye."
        assert (await site.ask(KNOWN, session=session)).refusal == refused.refusal


async def test_what_follows_a_streamed_answer_is_streamed_too(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with a_site(tmp_path, "offered", agent=agent) as site:
        thread = (await site.talker.open(visitors(UNKNOWN))).id
        async with following(site.talker, thread, "?after=0") as listener:
            await agent.asked.get()
            agent.say(Delta("Nothing "), Delta("here."), Answer("Nothing here.", found=False))
            events = await listener.until(lambda event: SAYS.offer in str(event.data))
            while "content" not in events[-1].data:
                events += await listener.until(lambda event: SAYS.offer in str(event.data))
        assert events[-1].data["content"] == [f"Nothing here.\n\n{SAYS.offer}"]


async def test_nobody_is_offered_to_who_asks_about_the_conversation(tmp_path: Path) -> None:
    async with a_site(tmp_path, "offered") as site:
        said = await site.ask("What did I just ask you?")
        assert SAYS.offer not in said.answer


async def test_what_a_person_says_while_the_agent_answers_is_not_lost(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with a_site(tmp_path, "on_request", agent=agent) as site:
        session = (await site.ask("I want to talk to a human")).session_id
        asking = asyncio.create_task(site.ask("Do you open on Sundays?", session=session))
        await agent.asked.get()
        await site.answer("We have moved.")
        agent.say(Answer("On Sundays we are closed."))
        assert (await asking).answer == "On Sundays we are closed."
        agent.say(Answer("We are."))
        told = await site.ask("Are you there?", session=session)
        assert told.answer == "anna: We have moved.\n\nWe are."


async def test_where_it_is_off_nobody_is_asked_or_offered(tmp_path: Path) -> None:
    async with a_site(tmp_path, "off") as site:
        assert NOTHING in (await site.say("I want to talk to a human"))[1][-1]
        said = await site.ask(UNKNOWN)
        assert NOTHING in said.answer
        assert SAYS.offer not in said.answer
        await site.ask("I want to talk to a human", session=said.session_id)
        assert await site.tickets() == []


async def test_an_agent_that_cannot_answer_offers_a_person_and_takes_a_yes(tmp_path: Path) -> None:
    async with a_site(tmp_path, "offered") as site:
        thread, said = await site.say(UNKNOWN)
        assert said[-1].startswith(NOTHING)
        assert said[-1].endswith(SAYS.offer)
        assert await site.tickets() == []
        assert (await site.say("Yes, please!", thread=thread))[1][-1] == SAYS.asked
        ticket = await site.the_ticket()
        assert (ticket.kind, ticket.about) == (TicketKind.QUESTION, UNKNOWN)

        first = await site.ask(UNKNOWN)
        cached = await site.ask(UNKNOWN)
        assert (first.is_cached, cached.is_cached) == (False, True)
        for told in (first, cached):
            assert told.answer.endswith(SAYS.offer)
            session = told.session_id
            assert (await site.ask("yes", session=session)).answer == SAYS.asked
            assert (await site.ask("yes", session=session)).answer != SAYS.waits
        assert [one.about for one in await site.tickets()] == 3 * [UNKNOWN]
        clarified = await site.visitor.ask(
            UNKNOWN, session_id=(await site.ask(UNKNOWN)).session_id, clarification="Yes."
        )
        assert clarified.answer == SAYS.asked
        assert len(await site.tickets()) == 4


async def test_a_yes_means_the_offer_alone_and_nothing_else_takes_it(tmp_path: Path) -> None:
    async with a_site(tmp_path, "offered") as site:
        thread, _ = await site.say("yes")
        known = (await site.say(KNOWN))[1][-1]
        for reply in ("no", "No thanks.", "yes but what does it cost", KNOWN):
            thread, _ = await site.say(UNKNOWN)
            told = (await site.say(reply, thread=thread))[1][-1]
            assert SAYS.asked not in told
            assert (told == known) is (reply == KNOWN)
        assert NOTHING not in (await site.say("yes", thread=thread))[1][-1]
        session = (await site.ask(UNKNOWN)).session_id
        assert (await site.ask(KNOWN, session=session)).answer == known
        assert (await site.ask("yes", session=session)).body["status"] != "error"
        assert await site.tickets() == []


async def test_what_cannot_be_answered_is_asked_at_once(tmp_path: Path) -> None:
    async with a_site(tmp_path, "at_once") as site:
        thread, said = await site.say(UNKNOWN)
        assert said[-1].startswith(NOTHING)
        assert said[-1].endswith(f"\n\n{SAYS.asked}")
        assert (await site.the_ticket()).kind is TicketKind.QUESTION
        assert (await site.say("And canoes?", thread=thread))[1][-1].endswith(SAYS.waits)
        # each asks for themselves: nothing of it is kept for others, or shared with them
        both = await asyncio.gather(site.ask(UNKNOWN), site.ask(UNKNOWN))
        assert all(one.answer.endswith(SAYS.asked) and not one.is_cached for one in both)
        assert not (await site.ask(UNKNOWN)).is_cached
        tickets = await site.tickets()
        assert len({one.thread_id for one in tickets}) == len(tickets) == 4
        assert (await site.ask(KNOWN)).answer
        assert len(await site.tickets()) == 4


async def test_what_is_said_is_on_disk_with_its_ticket(tmp_path: Path) -> None:
    """Other turns of a session are written behind their answers; this one promises something."""
    async with a_site(tmp_path, "on_request") as site:
        rows = "SELECT m.content, t.id FROM tickets AS t JOIN messages AS m USING (thread_id)"
        for words in (["I want a person"], [KNOWN, "I want a person"]):
            await site.ask(*words)
            stands = [content for content, _ in site.talker.rows(rows)]
            assert stands.count(json.dumps([SAYS.asked])) == len(await site.tickets())


async def test_who_floods_the_list_is_held_and_others_are_not(tmp_path: Path) -> None:
    bound = "tickets.max_waiting_per_caller=2"
    async with a_site(tmp_path, "on_request", bound) as site:
        for _ in range(2):
            await site.say("I want to talk to a human")
        for door in (site.say, site.ask):
            await door("I want to talk to a human")
        assert (await site.say("human please"))[1][-1] == SAYS.full
        assert (await site.ask("human please")).answer == SAYS.full
        assert len(await site.tickets()) == 2

        known = Site(await site.talker.with_key("threads"), site.clock)
        assert (await known.say("human please"))[1][-1] == SAYS.asked
        closed = next(one for one in await site.tickets() if one.principal is None)
        await site.people.close(closed.id, "", "anna", BY)
        assert (await site.ask("human please")).answer == SAYS.asked
        stored = site.talker.rows("SELECT asked_from FROM tickets")
        assert "127.0.0.1" not in str(stored)


@pytest.mark.slow
async def test_where_no_person_comes_the_conversation_is_notified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.tickets.service.LOOK_SECONDS", 0.05)
    async with a_site(tmp_path, "on_request", "tickets.expire_hours=5") as site:
        session = (await site.ask("human please")).session_id
        thread = await site.talker.thread_of(session)
        async with following(site.talker, thread, "?after=0") as listener:
            site.clock.advance(5 * 3600)
            await listener.until(lambda event: NOBODY_CAME in str(event.data))
        assert (await site.the_ticket()).state is TicketState.EXPIRED
        assert (await site.ask("Any answer yet?", session=session)).answer == NOBODY_CAME


async def test_a_person_who_takes_the_conversation_over_is_heard_once_too(tmp_path: Path) -> None:
    async with a_site(tmp_path, "on_request") as site:
        session = (await site.ask("human please")).session_id
        ticket = await site.the_ticket()
        assert await site.people.take_ticket(ticket.id, "anna", BY)
        await site.people.say(ticket.id, "Anna here.", "anna", BY)
        assert (await site.ask("Hello?", session=session)).answer == "anna: Anna here."
        held = await site.ask("human please", session=session)
        assert held.answer == HELD
        await site.people.say(ticket.id, "One moment.", "anna", BY)
        await site.answer("Done.")
        told = await site.ask("Any answer yet?", session=session)
        assert told.answer == "anna: One moment.\n\nanna: Done."
        answered = (await site.ask(KNOWN)).answer
        assert (await site.ask(KNOWN, session=session)).answer == answered


async def test_it_is_understood_and_told_in_the_language_of_the_words(tmp_path: Path) -> None:
    async with a_site(tmp_path, "offered") as site:
        for words, tag in (
            ("Ich möchte mit einem Menschen sprechen", "de"),
            ("Puis-je parler à quelqu'un ?", "fr"),
            ("Quiero hablar con una persona", "es"),
        ):
            said = await site.ask(words)
            assert said.answer == speech_of(tag).person.asked
            assert said.body["meta"]["locale"] == tag
            assert (await site.say(words))[1][-1] == said.answer


async def test_the_offer_is_in_the_language_of_the_refusal(tmp_path: Path) -> None:
    async with a_site(tmp_path, "offered") as site:
        thread, said = await site.say("Wie teuer ist die Miete eines Kajaks?")
        assert said[-1].startswith("Über")
        assert said[-1].endswith(speech_of("de").person.offer)
        assert (await site.say("ja", thread=thread))[1][-1] == speech_of("de").person.asked


async def test_a_run_that_its_caller_starts_asks_too(tmp_path: Path) -> None:
    async with a_site(tmp_path, "on_request") as site:
        thread = (await site.talker.open(visitors("human please"), headers=MANUAL)).id
        path = f"/v1/threads/{thread}/runs"
        async with following(site.talker, thread, "?after=0") as listener:
            await site.talker.send("POST", path, {"assistant_id": "desk"}, headers=MANUAL)
            await listener.until(lambda event: SAYS.asked in str(event.data))
        assert (await site.the_ticket()).thread_id == thread


@pytest.mark.slow
async def test_people_are_told_of_such_a_ticket(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    command = f'notify.command=["tee", "{told}"]'
    async with a_site(tmp_path, "on_request", command) as site:
        thread, _ = await site.say("human please")
        async with asyncio.timeout(SECONDS):
            while not (told.exists() and told.read_bytes()):
                await site.talker.read(thread)
        notice = json.loads(told.read_bytes())
        assert (notice["kind"], notice["thread"], notice["call"]) == ("request", thread, None)


async def test_an_answer_that_must_be_short_still_says_that_a_person_was_asked(
    tmp_path: Path,
) -> None:
    async with a_site(tmp_path, "at_once") as site:
        said = await site.visitor.ask(UNKNOWN, max_tokens=25)
        assert said.answer == SAYS.asked[: 4 * 25]
    async with a_site(tmp_path / "2", "offered") as site:
        said = await site.visitor.ask(UNKNOWN, max_tokens=25)
        assert said.answer.startswith(NOTHING)
        assert (await site.ask("yes", session=said.session_id)).answer != SAYS.asked


async def test_an_action_that_only_asks_is_no_way_around_a_person(tmp_path: Path) -> None:
    """Who is in the middle of a question to an action may ask for a person as well."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", "utf-8")
    (site / "desk.toml").write_text('[tickets]\npeople = "on_request"\n', "utf-8")
    (site / "actions.py").write_text(ACTIONS, "utf-8")
    async with talking(tmp_path, site=site) as talker:
        who = Caller(await talker.with_key("actions", "threads"), site)
        asked = await who.ask("How many?", "stock")
        assert asked.body["status"] == "clarification_needed"
        session = asked.session_id
        said = await who.ask("I want to talk to a person", "stock", session_id=session)
        assert said.answer == SAYS.asked
        (ticket,) = await Site(talker, Clock()).tickets()
        assert await EscalationService(talker.desk.store, Clock()).answer(
            ticket.id, "Nine.", "anna", BY
        )
        told = await who.ask({"lamp": "tall"}, "stock", session_id=session)
        assert told.answer == "anna: Nine.\n\n7 of tall."
        again = await who.ask({"lamp": "tall"}, "stock", session_id=session)
        assert again.answer == "7 of tall."
