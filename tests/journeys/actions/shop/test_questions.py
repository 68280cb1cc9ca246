"""Ordering from the example shop by answering what it asks: in plain words, and by messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import load_config
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import in_turn, say, tool_results, use
from tests.support.sites.shop import RUTH, SAM, STOVE, TENT, Shopper, make_shop, shopping
from tests.support.sites.tent_order import (
    ASKING,
    BEGIN,
    IN_WORDS,
    READER,
    STORY,
    SURE,
    answer,
    check_order,
    join,
    message,
    read,
    story,
    structured,
)


async def begun(shopper: Shopper) -> tuple[str, str]:
    """Begin to order in words: the session's id and what is asked."""
    told = (await shopper.ask("ship_order", BEGIN)).ok
    return told["session_id"], told["clarification"]["question"]


async def test_in_plain_words(tmp_path: Path) -> None:
    """A caller who reads and writes nothing but text, over AHP."""
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        session, asked = await begun(shopper)
        assert asked == (
            "Which Tarn Larkspur 2 Tent?\n"
            "1. Sage: 10 in the warehouse. 349.00 USD\n"
            "2. Lake blue: 10 in the warehouse. 349.00 USD\n"
            "Reply with a number, or with a quantity: 2 of number 2."
        )
        for words, question in (
            ("the lake blue one, two of them", "Address and email\n- Name: Who gets it.\n- Street"),
            (IN_WORDS.strip(), SURE),
        ):
            told = (await shopper.ask("ship_order", words, session_id=session)).ok
            assert told["clarification"]["question"].startswith(question)
        done = (await shopper.ask("ship_order", "yes", session_id=session)).ok
        assert done["response"]["answer"].startswith("Order TH10482318 to Boise, ID is placed.")
        check_order(shopper)
        thread = await shopper.talker.thread_of(session)
        await join(shopper, thread)
        assert story(await read(shopper, thread)) == STORY


async def test_by_messages(tmp_path: Path) -> None:
    """An agent that answers with structured messages on the thread."""
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        session, _ = await begun(shopper)
        thread = await shopper.talker.thread_of(session)
        await join(shopper, thread)

        await answer(shopper, thread)
        check_order(shopper)
        told = await read(shopper, thread)
        assert story(told) == STORY
        asked = [next(structured(one["content"])) for one in told[1:7:2]]
        assert {"request_decision", "request_data"} == {key for one in asked for key in one} - {
            "$schema"
        }


async def test_what_does_not_fit_is_asked_again(tmp_path: Path) -> None:
    """First the form, as it is; then, of what only the shop can tell, that field alone."""
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        session, _ = await begun(shopper)

        async def ask(words: str) -> str:
            told = (await shopper.ask("ship_order", words, session_id=session)).ok
            return str(told["clarification"]["question"])

        await ask("2 of number 2")
        wrong = IN_WORDS.strip().replace("ID", "IX")
        assert (await ask(wrong)).startswith("“State” must be one of the options of the form.")
        assert (await ask("Hm, one moment")).startswith("Address and email\n- Name: Who gets it.")
        wrong = IN_WORDS.strip().replace("83702", "837")
        asked = await ask(wrong)
        assert asked.startswith(
            "Postal code\n"
            "- Postal code: The postal code is not in the required form. The ZIP code, of"
            " five digits.\n"
            "Reply with the value alone, or with “Postal code: …”."
        )
        assert await ask("83702") == SURE


async def test_where_no_capability_asks_by_forms(tmp_path: Path) -> None:
    """The fields are told in the desk's own words, and read from the answer."""
    async with shopping(tmp_path, *ASKING[:1]) as (shopper, _):
        session, _ = await begun(shopper)
        told = (await shopper.ask("ship_order", "2 of number 2", session_id=session)).ok
        assert told["clarification"]["question"] == (
            "Address and email\n- Name: Who gets it.\n- Street: With its number, or a PO box.\n"
            "- City\n- State\n- Postal code: The ZIP code, of five digits.\n"
            "- Extra: An apartment, a company.\n"
            "- Email: A mail address for the link; with the order's number it opens the order."
        )
        told = (await shopper.ask("ship_order", IN_WORDS.strip(), session_id=session)).ok
        assert told["clarification"]["question"].startswith(SURE)


async def test_a_question_in_words_is_no_yes_or_no(tmp_path: Path) -> None:
    """Without forms a thread is asked in words, without buttons."""
    async with shopping(tmp_path, *ASKING[:1]) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        wanted = "Book a boot fitting in Bend"
        opened = await shopper.talker.open(wanted, wait=10, metadata={"actors": [READER]})
        ((_, how, asked),) = story(opened.ok["replies"])
        assert how == "says"
        assert asked.startswith("Which day, what is the time")


@pytest.mark.slow
async def test_begun_by_a_model(tmp_path: Path) -> None:
    """Claude begins the call; what it lacks the desk asks for, and Claude tells the end."""
    site = make_shop(tmp_path)
    begins = use("site_ship_order", items=[{"sku": TENT}])
    script = in_turn(begins, say("Two lake blue tents are on their way."))
    actions = load_actions(load_config(site)).offered
    settings = (*ASKING, "capabilities.payments.quote_minutes=30")  # the shop sells maps
    async with meeting(tmp_path / "desk", script, *settings, actions=actions) as met:
        shopper = Shopper(await met.talker.with_key("actions", "threads"), site)
        opened = await shopper.talker.open(
            "I'd like the blue tent", wait=10, metadata={"actors": [READER]}
        )
        assert len(met.api.requests) == 1
        await answer(shopper, opened.id)
        check_order(shopper)
        told = story(await read(shopper, opened.id))
        assert told[0] == ("user", "says", "I'd like the blue tent")
        assert told[1:-1] == STORY[1:-1]
        assert told[-1][-1].startswith("Two lake blue tents are on their way.")
        (_, once_more) = met.api.requests
        (result,) = tool_results(once_more)
        assert "Order TH10482318 to Boise, ID is placed." in result["content"]


async def test_a_stove_that_is_collected_and_then_not_wanted(tmp_path: Path) -> None:
    """Which store, which address for mail, and of one's orders which is cancelled."""
    async with shopping(tmp_path, *ASKING) as (shopper, _):

        async def talk(action: str, *words: str) -> list[str]:
            told: list[str] = []
            session: dict[str, str] = {}
            for one in words:
                body = (await shopper.ask(action, one, **session)).ok
                session = {"session_id": body["session_id"]}
                asked = body.get("clarification")
                told.append(body["response"]["answer"] if asked is None else asked["question"])
            return told

        ordering = ("A Pika stove, please", "the second one", "kai@customer.example", "yes")
        where, mail, sure, done = await talk("place_order", *ordering)
        assert where == (
            "In which store do you collect it?\n1. Bend\n2. Portland\n3. Boise\nReply 1, 2 or 3."
        )
        assert mail.startswith("What is the email?\n- Email: A mail address of who collects it;")
        assert "items 1 × TO-5103; store Portland; email kai@customer.example." in sure
        assert done.startswith("Order TH10482318 in Portland is placed.")
        assert shopper.count(STOVE, "Portland") == 12

        cancelling = ("I want to cancel an order", "1", "yes")
        which, sure, done = await talk("cancel_order", *cancelling)
        assert which == "Which order?\n1. TH10482318: Lomond Pika Stove. 64.00 USD\nReply 1."
        assert "order number TH10482318. It cannot be undone." in sure
        assert done.startswith("Order TH10482318 in Portland is cancelled.")
        assert shopper.count(STOVE, "Portland") == 13


@pytest.mark.slow
async def test_what_is_called_by_its_name_when_that_is_asked(tmp_path: Path) -> None:
    """An answer may say less than the choice is called, and what nobody understands is asked."""
    async with shopping(tmp_path, *ASKING) as (shopper, _):
        told = (await shopper.ask("ship_order", "Hello")).ok
        session = told["session_id"]
        asked = told["clarification"]["question"]
        assert asked.startswith("What would you like?\n1. Clearbrook Squeeze Filter: 88 in the")
        again = (await shopper.ask("ship_order", "Something nice", session_id=session)).ok
        assert again["clarification"]["question"] == asked
        for words, question in (
            ("the Stormline jacket", "Which Tarn Stormline Jacket?\n1. Moss\n2. Moss, XS: 4 in"),
            ("ink", "Which size of Tarn Stormline Jacket, Ink?\n1. XS: 4 in the warehouse."),
            ("two XL", "Address and email\n"),
            ("never mind", None),
        ):
            told = (await shopper.ask("ship_order", words, session_id=session)).ok
            if question is not None:
                assert told["clarification"]["question"].startswith(question)
        assert told["response"]["answer"] == "Nothing was done."
        assert shopper.rows("SELECT id FROM orders WHERE call_id IS NOT NULL") == []


async def test_a_time_that_is_taken_keeps_what_was_filled_in(tmp_path: Path) -> None:
    """A visit in words on a thread: what is missing, what is refused, and another time."""
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        talker = shopper.talker

        async def say(thread: str, said: str) -> list[tuple[Any, ...]]:
            told = (await talker.post(thread, said, wait=10)).ok
            return story(told["replies"])

        visit = {"store": "Bend", "day": "2027-01-22", "time": "16:30", "email": SAM["email"]}
        await shopper.do("book_visit", **visit)
        opened = await talker.open(
            "Book a boot fitting in Bend", wait=10, metadata={"actors": [READER]}
        )
        thread = opened.id
        asked = [("assistant", "asks", "Day, time and email", ["day", "time", "email"])]
        assert story(opened.ok["replies"]) == asked
        ((_, _, missing),) = await say(thread, "sure")
        assert missing.startswith("Nothing was done yet, because some details are missing. Which")
        filled = [{"id": name, "value": visit[name]} for name in ("day", "time", "email")]
        (again,) = (
            await talker.post(thread, message("data", data={"fields": filled}), wait=10)
        ).ok["replies"]
        (form,) = structured(again["content"])
        assert (
            form["request_data"]["title"]
            == "The fitter in Bend has a visit at 16:30 on 2027-01-22."
        )
        assert form["request_data"]["description"] == "Choose another time."
        kept = {one["id"]: one["default_value"] for one in form["request_data"]["form"]["fields"]}
        assert kept == visit
        whole = "Book a boot fitting in Bend on 2027-01-22 at 16:30, kai@customer.example"
        other = await talker.open(whole, wait=10, metadata={"actors": [READER]})
        ((_, how, title, fields),) = story(other.ok["replies"])
        assert (how, title) == ("asks", "The fitter in Bend has a visit at 16:30 on 2027-01-22.")
        assert fields == list(visit)
        later = [{"id": name, "value": {**visit, "time": "15:30"}[name]} for name in visit]
        ((_, _, done),) = await say(thread, message("data", data={"fields": later}))
        assert "Bend, Friday 2027-01-22, 15:30 to 16:00." in done


async def test_what_the_action_itself_refuses_is_asked_again(tmp_path: Path) -> None:
    """A query has begun when it refuses a value: the next form belongs to a new call."""
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        talker = shopper.talker
        wanted = f"Where is my order? my email is {SAM['email']}"
        opened = await talker.open(wanted, wait=10, metadata={"actors": [READER]})
        assert story(opened.ok["replies"])[0][1:] == (
            "asks",
            "What is the order number?",
            ["order_id"],
        )
        said = []
        for order in (RUTH["order_id"], SAM["order_id"]):
            told = (await talker.post(opened.id, order, wait=10)).ok
            assert told["run"]["status"] == "completed"
            said.append(story(told["replies"])[0])
        assert said[0][1:] == ("asks", "Order number", ["order_id"])
        assert said[1][2].startswith("Order TH… in Portland is placed.")
