"""Claude has a person asked: a tool where the site allows it, and the desk's own words on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aitp_desk.agent.base import Delta
from aitp_desk.agent.speech import speech_of
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind
from aitp_desk.store.reads.console import tickets as ticket_reads
from tests.support.doubles.claude_agent import WRAPPED, asking
from tests.support.doubles.claude_desk import Met, meeting
from tests.support.doubles.messages_api import Say, Text, Use, in_turn, say, tool_results, use

TOOL = "ask_a_person"
WORDS = "I'd feel better if somebody of flesh and blood looked into this."
SAYS = speech_of("en").person
PEOPLE = 'tickets.people="offered"'


def names(request: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in request["tools"]}


async def test_there_is_such_a_tool_only_where_a_person_may_be_asked(tmp_path: Path) -> None:
    async with asking(tmp_path, say(WRAPPED), say(WRAPPED)) as asked:
        for may_want_person in (False, True):
            await asked.answer(may_want_person=may_want_person)
        without, with_it = asked.api.requests
    assert names(with_it) - names(without) == {TOOL}


async def test_what_it_is_about_stands_in_the_visitors_words(tmp_path: Path) -> None:
    asks = Say((Text("Let me see."), Use(TOOL, {"reason": "They distrust\nmachines."})))
    async with asking(tmp_path, use(TOOL, reason=""), asks) as asked:
        outcome = await asked.answer(WORDS, may_want_person=True)
        assert (outcome.text, outcome.found) == ("", True)
        assert outcome.person is not None
        assert (outcome.person.about, outcome.person.note) == (WORDS, "")

        *deltas, last = await asked.events(WORDS, may_want_person=True)
    assert "".join(one.text for one in deltas if isinstance(one, Delta)) == "Let me see."
    assert last.text == "Let me see."  # type: ignore[union-attr]
    assert last.person.note == "The agent says why: They distrust machines."  # type: ignore[union-attr]


async def test_where_nobody_may_be_asked_the_call_is_none(tmp_path: Path) -> None:
    async with asking(tmp_path, use(TOOL, reason="Please."), say(WRAPPED)) as asked:
        outcome = await asked.answer()
        [result] = tool_results(asked.api.requests[1])
    assert result["is_error"]
    assert (outcome.text, outcome.person) == (WRAPPED, None)


async def tickets(met: Met) -> list[StoredTicket]:
    found = ticket_reads.tickets(met.talker.desk.store, open_only=False)
    return [ticket async for ticket in found]


async def test_the_desk_says_what_became_of_it_once_on_each_thread(tmp_path: Path) -> None:
    asks = use(TOOL, reason="They want a person.")
    talking = Say((Text("I see."), Use(TOOL, {"reason": "Again."})))
    async with meeting(tmp_path, in_turn(asks, talking, asks, asks), PEOPLE) as met:
        opened = await met.talker.open({"role": "user", "content": WORDS}, wait=10)
        assert opened.ok["replies"][0]["content"] == [SAYS.asked]
        posted = (await met.talker.post(opened.id, "Please!!!", wait=10)).ok
        assert posted["replies"][0]["content"] == [f"I see.\n\n{SAYS.waits}"]
        (ticket,) = await tickets(met)
        assert (ticket.kind, ticket.about) == (TicketKind.REQUEST, WORDS)
        assert ticket.note == "The agent says why: They want a person."

        said = await met.visitor.ask(WORDS)
        assert said.answer == SAYS.asked
        again = await met.visitor.ask("Go on then.", session_id=said.session_id)
        assert again.answer == SAYS.waits
        assert len(await tickets(met)) == 2


async def test_who_asks_in_plain_words_gets_a_person_without_the_model(tmp_path: Path) -> None:
    async with meeting(tmp_path, in_turn(), PEOPLE) as met:
        said = await met.visitor.ask("Can I talk to a human, please?")
        assert said.answer == SAYS.asked
        assert said.body["meta"]["tokens_used"] == 0
        assert met.api.requests == []
        assert len(await tickets(met)) == 1


async def test_what_the_model_does_not_find_is_offered_to_a_person(tmp_path: Path) -> None:
    nothing = "∅ The site does not tell."
    agrees = use(TOOL, reason="They agree.")
    async with meeting(tmp_path, in_turn(say(nothing), say(nothing), agrees), PEOPLE) as met:
        question = "Who owns the building?"
        said = await met.visitor.ask(question)
        assert said.answer == f"The site does not tell.\n\n{SAYS.offer}"
        taken = await met.visitor.ask("Yes please.", session_id=said.session_id)
        assert taken.answer == SAYS.asked

        opened = await met.talker.open({"role": "user", "content": question}, wait=10)
        assert opened.ok["replies"][0]["content"] == [said.answer]
        posted = await met.talker.post(opened.id, "That would be kind of you.", wait=10)
        assert posted.ok["replies"][0]["content"] == [SAYS.asked]
        kept = [(one.kind, one.about) for one in await tickets(met)]
        assert kept == 2 * [(TicketKind.QUESTION, question)]
