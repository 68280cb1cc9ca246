"""The desk asks by capabilities: what is answered has the call go on, at whatever door."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.agent.extractive.dialogue.choice import read_choice
from aitp_desk.agent.speech import ENGLISH, speech_of
from aitp_desk.capability.journal import MOST_OPEN
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.calls.call import WAITS_SECONDS
from tests.support.access.audit_log import somebody
from tests.support.doubles.agent import Clock, ScriptedAgent
from tests.support.plugins.decisions import SIZE, upstream_errors
from tests.support.sites.tents import SLUG, Buyer, buying, decision, declare, part, requests_in

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASKED = "I want to order a tent"
WHICH = "Which tent?\n1. Ridge: 349 USD\n2. Cove: 199 USD\nReply 1 or 2."
COLOUR = "Which colour?\n1. red\n2. blue\nReply 1 or 2."
SURE = (
    "Orders a tent: tent cove; colour blue. It cannot be undone. It costs 199 USD."
    " Shall I go ahead?\n1. Yes\n2. No\nReply 1 or 2."
)
DONE = "The blue cove is yours."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def anybody(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Buyer]:
    """A desk at which requests are enabled, without a model."""
    async with buying(tmp_path_factory.mktemp("desk")) as somebody:
        yield somebody


@pytest_asyncio.fixture(loop_scope="module")
async def buyer(anybody: Buyer) -> Buyer:
    """A new caller who may buy."""
    anybody.forget()
    return await anybody.with_key("actions", "threads")


async def up_to_the_consent(buyer: Buyer) -> tuple[str, str]:
    """A session and its thread, on which only a yes is waited for."""
    session, thread = await buyer.begin("order the blue cove tent")
    assert (await buyer.asked(thread))["type"] == "confirmation"
    return session, thread


async def test_words_alone_buy_a_tent_in_a_session(buyer: Buyer) -> None:
    first = (await buyer.ask(ASKED)).ok
    session = first["session_id"]
    assert (first["status"], first["clarification_question"]) == ("clarification_needed", WHICH)
    second = (await buyer.ask("the second one", session)).ok
    assert second["clarification"]["question"] == "Which colour?"
    assert second["clarification"]["options"] == ["red", "blue"]
    third = (await buyer.ask(ASKED, session, clarification="blue")).ok
    assert third["clarification"]["options"] == ["yes", "no"]
    last = (await buyer.ask("yes", session)).ok
    assert (last["status"], last["response"]["answer"]) == ("success", DONE)
    assert buyer.orders == ["cove blue"]
    thread = await buyer.talker.thread_of(session)
    assert await buyer.said(thread) == [
        [ASKED],
        [WHICH],
        ["the second one", "Chosen: Cove."],
        [COLOUR],
        ["blue", "Chosen: blue."],
        [SURE],
        ["yes", "Chosen: Yes."],
        [DONE],
    ]


async def test_messages_buy_a_tent_on_a_thread_without_a_model(buyer: Buyer) -> None:
    _, thread = await buyer.begin()
    (asked,) = requests_in(await buyer.said(thread))
    assert asked.get("type", "radio") == "radio"
    (next_,) = await buyer.post(thread, decision(asked["id"], "t-cove"))
    assert json.loads(next_)["request_decision"]["title"] == "Which colour?"
    (sure,) = await buyer.post(thread, decision((await buyer.asked(thread))["id"], "blue"))
    assert json.loads(sure)["request_decision"]["type"] == "confirmation"
    assert buyer.orders == []
    assert await buyer.post(thread, decision((await buyer.asked(thread))["id"], "yes")) == [DONE]
    assert buyer.orders == ["cove blue"]
    for said in await buyer.said(thread):
        for text in said:
            if text.startswith("{"):
                assert upstream_errors(json.loads(text)) == []


async def test_an_answer_on_the_thread_is_gone_on_with_in_the_session(buyer: Buyer) -> None:
    session, thread = await buyer.begin()
    await buyer.post(thread, "the first")
    assert (await buyer.asked(thread))["title"] == "Which colour?"
    consent = (await buyer.ask("red", session)).ok
    assert consent["clarification"]["options"] == ["yes", "no"]
    assert await buyer.post(thread, "yes") == ["The red ridge is yours."]
    assert buyer.orders == ["ridge red"]


async def test_a_no_ends_the_call_and_is_reported(buyer: Buyer) -> None:
    session, thread = await up_to_the_consent(buyer)
    told = await buyer.post(thread, decision((await buyer.asked(thread))["id"], "no"))
    assert told == ["Nothing was done."]
    again = (await buyer.ask("yes", session)).ok
    assert again["status"] != "success"
    assert buyer.orders == []


async def test_words_that_answer_nothing_have_the_very_same_asked_again(buyer: Buyer) -> None:
    _, thread = await buyer.begin()
    before = await buyer.asked(thread)
    await buyer.post(thread, "yes")
    again = await buyer.asked(thread)
    assert [one["id"] for one in again["options"]] == ["t-ridge", "t-cove"]
    (old,) = await buyer.post(thread, decision(before["id"], "t-ridge"))
    assert old.endswith("was replaced by a newer request.")
    await buyer.post(thread, decision(again["id"], "t-cove"))
    assert (await buyer.asked(thread))["title"] == "Which colour?"


async def test_what_is_answered_twice_goes_on_once(buyer: Buyer) -> None:
    _, thread = await up_to_the_consent(buyer)
    yes = decision((await buyer.asked(thread))["id"], "yes")
    told = await asyncio.gather(*(buyer.post(thread, yes) for _ in range(4)))
    assert buyer.orders == ["cove blue"]
    assert [DONE] in told
    assert (await buyer.post(thread, yes))[0].endswith("was answered before: Yes.")


async def test_only_who_has_asked_may_answer(buyer: Buyer) -> None:
    _, thread = await up_to_the_consent(buyer)
    other = await buyer.with_key("actions", "threads")
    joining = {
        "id": "friend",
        "principal": f"key:{other.key_id}",
        "capabilities": [{"schema": SLUG}],
    }
    path = f"/v1/threads/{thread}/actors"
    assert (await buyer.talker.send("POST", path, joining)).status == 200
    yes = decision((await buyer.asked(thread))["id"], "yes")
    told = await other.post(thread, yes, metadata={"actor": "friend"})
    assert told[0].endswith("Shall I go ahead?” must be answered by another participant.")
    assert buyer.orders == []
    assert await buyer.post(thread, yes) == [DONE], "it still waits for who has asked"


async def test_what_was_declined_in_words_meanwhile_is_reported(buyer: Buyer) -> None:
    session, thread = await up_to_the_consent(buyer)
    asked = await buyer.asked(thread)
    told = (await buyer.ask("never mind", session)).ok
    assert told["response"]["answer"] == "Nothing was done."
    late = await buyer.post(thread, decision(asked["id"], "yes"))
    assert late == ["This was already decided; nothing more is done."]
    assert buyer.orders == []
    parts = [json.loads(text) for one in await buyer.said(thread) for text in one if "{" in text]
    assert not any("decision" in one for one in parts[-1:]), "nobody takes it for one that counts"
    rejected = parts[-1]["rejected_decision"]
    assert (rejected["reason"], rejected["message"]) == ("settled", *late)
    operator = await buyer.with_key("operator")
    assert ["Rejected: Yes."] in await operator.said(thread), "in words, too"


async def test_what_is_not_wanted_any_more_is_open_no_longer(buyer: Buyer) -> None:
    session, thread = await buyer.begin()
    assert await buyer.listed(thread) == ["Which tent?"]
    told = (await buyer.ask("never mind", session)).ok
    assert told["response"]["answer"] == "Nothing was done."
    assert await buyer.listed(thread) == []
    assert "settled" not in (await buyer.post(thread, "2"))[0], "it is for the agent"
    assert (await buyer.ask("I want to order a tent", session)).ok["clarification"]
    assert await buyer.listed(thread) == ["Which tent?"]
    again = (await buyer.ask("2", session)).ok
    assert again["clarification"]["question"] == "Which colour?"


async def test_of_several_that_wait_a_number_answers_what_was_asked_last(buyer: Buyer) -> None:
    session, thread = await buyer.begin()
    other = (await buyer.ask("How heavy?", session, capability="weigh_tent")).ok
    assert other["clarification"]["options"] == ["ridge", "cove"]
    assert len(await buyer.listed(thread)) == 2
    told = await buyer.post(thread, "the second one")
    assert told == ["The cove has two kilos."]
    again = (await buyer.ask("2", session)).ok
    assert again["clarification"]["question"] == "Which colour?"
    assert (await buyer.ask("How heavy?", session, capability="weigh_tent")).ok["clarification"]
    told = await buyer.post(thread, "red")
    assert "colour red" in told[0], "a name is heard for another"


async def test_what_a_call_waits_for_is_open_no_longer_than_it_waits(tmp_path: Path) -> None:
    clock = Clock()
    async with buying(tmp_path, "capabilities.requests.open_for=604800", clock=clock) as buyer:
        _, thread = await up_to_the_consent(buyer)
        clock.advance(WAITS_SECONDS - 60)
        assert len(await buyer.listed(thread)) == 1
        clock.advance(61)
        assert await buyer.listed(thread) == []


async def test_what_is_meant_instead_is_asked_again_and_replaces_the_question(
    buyer: Buyer,
) -> None:
    session, thread = await up_to_the_consent(buyer)
    before = await buyer.asked(thread)
    changed = (await buyer.ask("no, in red", session)).ok
    assert "colour red" in changed["clarification"]["question"]
    (old,) = await buyer.post(thread, decision(before["id"], "yes"))
    assert old.endswith("was replaced by a newer request.")
    assert await buyer.post(thread, decision((await buyer.asked(thread))["id"], "yes")) == [
        "The red cove is yours."
    ]


async def test_what_cannot_be_done_any_more_is_reported(buyer: Buyer) -> None:
    _, thread = await up_to_the_consent(buyer)
    (buyer.site / "no-cove").touch()
    yes = decision((await buyer.asked(thread))["id"], "yes")
    assert await buyer.post(thread, yes) == ["It is sold out."]
    (buyer.site / "no-cove").unlink()
    assert (await buyer.post(thread, yes))[0].endswith("was answered before: Yes.")
    assert buyer.orders == []


async def test_what_an_agent_asks_back_is_a_choice_and_the_agent_gets_the_answer(
    tmp_path: Path,
) -> None:
    options = ("Shipping abroad", "Returns")

    async def script(turn: Turn) -> Outcome:
        if turn.pending is None:
            return Clarification("Do you mean one of these?", options)
        said = f"{turn.pending.question} {turn.pending.options} {turn.question}"
        chosen = read_choice(turn.question, turn.pending.options, speech_of(ENGLISH)).option
        return Answer(f"{said}: {chosen}")

    agent = ScriptedAgent(script)
    async with buying(tmp_path, agent=agent) as buyer:
        for answer in ("the second", None):
            opened = await buyer.talker.open("What about it?", wait=10)
            await declare(buyer, opened.id)
            asked = await buyer.asked(opened.id)
            assert [one["name"] for one in asked["options"]] == list(options)
            (told,) = await buyer.post(opened.id, answer or decision(asked["id"], "2"))
            assert told.startswith("Do you mean one of these? ('Shipping abroad', 'Returns') ")
            assert told.endswith(": Returns")


async def test_in_a_session_a_choice_is_passed_to_the_agent(tmp_path: Path) -> None:
    async def script(turn: Turn) -> Outcome:
        if turn.pending is None:
            return Clarification("Which?", ("One", "Two"))
        return Answer(f"{turn.pending.about} {turn.clarification or turn.question}")

    async with buying(tmp_path, agent=ScriptedAgent(script)) as buyer:
        first = (await buyer.search("About it?")).ok
        assert first["clarification"]["options"] == ["One", "Two"]
        session = first["session_id"]
        last = (await buyer.search("About it?", session, clarification="Two")).ok
        assert last["response"]["answer"] == "About it? Two"
        thread = await buyer.talker.thread_of(session)
        assert await buyer.said(thread) == [
            ["About it?"],
            ["Which?\n1. One\n2. Two\nReply 1 or 2."],
            ["Two", "Chosen: Two."],
            ["About it? Two"],
        ]
        again = (await buyer.search("And this?")).ok
        session = again["session_id"]
        thread = await buyer.talker.thread_of(session)
        await declare(buyer, thread)
        chosen = decision((await buyer.asked(thread))["id"], "1")
        last = (await buyer.search(chosen, session)).ok
        assert last["response"]["answer"] == "And this? One"


async def test_a_visitors_own_request_is_passed_to_the_agent(tmp_path: Path) -> None:
    async def script(turn: Turn) -> Outcome:
        return Answer(f"asked: {turn.question}")

    async with buying(tmp_path, agent=ScriptedAgent(script)) as buyer:
        told = (await buyer.search(part(request_decision=SIZE))).ok
        words = "asked: Size?\n1. S\n2. m\nReply 1 or 2."
        assert told["response"]["answer"] == words
        session = told["session_id"]
        again = (await buyer.search("2", session)).ok
        assert again["response"]["answer"] == "asked: 2", "what one has asked one does not answer"
        thread = await buyer.talker.thread_of(session)
        assert [len(one) for one in await buyer.said(thread)] == [1, 1, 1, 1]


async def test_a_run_may_bring_the_answer(buyer: Buyer) -> None:
    _, thread = await up_to_the_consent(buyer)
    yes = decision((await buyer.asked(thread))["id"], "yes")
    body = {
        "assistant_id": buyer.talker.desk.desk.agents.default.id,
        "additional_messages": [{"role": "user", "content": yes}],
    }
    started = await buyer.talker.send("POST", f"/v1/threads/{thread}/runs", body)
    run = started.ok
    while run["status"] != "completed":
        run = (await buyer.talker.send("GET", f"/v1/threads/{thread}/runs/{run['id']}")).ok
        assert run["status"] in {"queued", "in_progress", "completed"}
    assert (await buyer.said(thread))[-1] == [DONE]
    assert buyer.orders == ["cove blue"]
    wrong = {
        **body,
        "additional_messages": [{"role": "user", "content": part(decision={"options": []})}],
    }
    refused = await buyer.talker.send("POST", f"/v1/threads/{thread}/runs", wrong)
    assert refused.refusal[2] == "additional_messages[0].content[0].decision.options"


async def test_an_answer_waits_where_a_person_has_the_thread_and_goes_with_it(
    buyer: Buyer,
) -> None:
    _, thread = await up_to_the_consent(buyer)
    by = somebody()
    stepping = Takeover(buyer.talker.desk.store, time.time)
    await stepping.take_thread(thread, "anna", by)
    await buyer.talker.post(thread, decision((await buyer.asked(thread))["id"], "yes"))
    kept = "SELECT answer IS NOT NULL FROM calls WHERE thread_id = '" + thread + "'"
    assert (buyer.orders, buyer.talker.rows(kept)) == ([], [(1,)])
    await stepping.release_thread(thread, by)
    assert await buyer.post(thread, "Are you there?") != [], "now the desk goes on"
    assert buyer.orders == ["cove blue"]
    _, thread = await up_to_the_consent(buyer)
    await stepping.take_thread(thread, "anna", by)
    await buyer.talker.post(thread, decision((await buyer.asked(thread))["id"], "yes"))
    assert (await buyer.talker.send("DELETE", f"/v1/threads/{thread}")).status == 200
    kept = "SELECT answer, arguments FROM calls WHERE thread_id = '" + thread + "'"
    assert buyer.talker.rows(kept) == [(None, "{}")]


async def test_what_has_waited_too_long_is_not_done(tmp_path: Path) -> None:
    clock = Clock()
    async with buying(tmp_path, clock=clock) as buyer:
        _, thread = await up_to_the_consent(buyer)
        clock.advance(WAITS_SECONDS + 1)
        told = await buyer.post(thread, decision((await buyer.asked(thread))["id"], "yes"))
        (late,) = told
        assert late.endswith(
            "was not answered in time, and nothing was done. Please ask for it again."
        )
        assert buyer.orders == []


async def test_who_has_no_credential_is_asked_and_answers_too(anybody: Buyer) -> None:
    visitor = anybody.anonymous()
    first = (await visitor.ask("How heavy?", capability="weigh_tent")).ok
    session = first["session_id"]
    assert first["clarification"]["options"] == ["ridge", "cove"]
    told = (await visitor.ask("cove", session, capability="weigh_tent")).ok
    assert told["response"]["answer"] == "The cove has two kilos."
    first = (await visitor.ask("How heavy?", capability="weigh_tent")).ok
    thread = await visitor.talker.thread_of(first["session_id"])
    assert await visitor.post(thread, "the first one") == ["The ridge has two kilos."]
    first = (await visitor.ask("How heavy?", capability="weigh_tent")).ok
    thread = await visitor.talker.thread_of(first["session_id"])
    await declare(visitor, thread)
    asked = await visitor.asked(thread)
    for more in ({}, {"metadata": {"actor": "https://buyer.example"}}):
        told = await visitor.post(thread, decision(asked["id"], "cove"), **more)
    assert told[0].endswith("was answered before: cove.")
    assert ["The cove has two kilos."] in await visitor.said(thread)


async def test_of_answers_over_two_protocols_at_once_one_has_it_done(buyer: Buyer) -> None:
    session, thread = await up_to_the_consent(buyer)
    yes = decision((await buyer.asked(thread))["id"], "yes")
    over_ahp, _, _ = await asyncio.gather(
        buyer.ask("yes", session), buyer.post(thread, yes), buyer.ask(yes, session)
    )
    assert over_ahp.status in {200, 409}
    assert buyer.orders == ["cove blue"]
    assert [DONE] in await buyer.said(thread)


async def test_where_too_much_is_open_the_desk_asks_in_words(tmp_path: Path) -> None:
    arguments = json.dumps({"tent": "cove", "colour": "blue"})
    async with buying(tmp_path, "sessions.max_turns=50") as buyer:
        session, thread = await buyer.begin(arguments)
        for _ in range(MOST_OPEN):
            assert (await buyer.ask(arguments, session)).ok["clarification"]
        said = await buyer.said(thread)
        assert len(requests_in(said)) == MOST_OPEN
        assert said[-1][0].endswith("Shall I go ahead?\n1. yes\n2. no")
        told = (await buyer.ask("yes", session)).ok
        assert told["response"]["answer"] == DONE
        assert buyer.orders == ["cove blue"]
