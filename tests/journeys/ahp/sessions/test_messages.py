"""An AHP asker who has declared a capability: is asked by messages, and answers as it likes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.sites.shop import shopping
from tests.support.sites.tent_order import ADDRESS, ASKING, message
from tests.support.sites.tents import Buyer, buying, decision

DECLARED = {"accept_types": ["x-aitp/requests", "text/answer"]}


async def ask(buyer: Buyer, query: str, session: str | None = None) -> dict[str, Any]:
    """One turn of a session."""
    said: dict[str, Any] = (await buyer.ask(query, session, context=DECLARED)).ok
    return said


async def test_a_message_and_words_answer_and_the_reading_of_words_is_reported(
    tmp_path: Path,
) -> None:
    async with buying(tmp_path) as buyer:
        first = await ask(buyer, "I want to order a tent")
        session = first["session_id"]
        (which,) = first["clarification"]["messages"]
        assert len(which["request_decision"]["options"]) == 2
        words = first["clarification"]["question"]
        assert words.startswith("Which tent?"), "a client that shows no message has the text"

        second = await ask(buyer, decision(which["request_decision"]["id"], "t-cove"), session)
        (colour,) = second["clarification"]["messages"]
        assert colour["request_decision"]["title"] == "Which colour?"

        third = await ask(buyer, "the second one", session)
        understood, sure = third["clarification"]["messages"]
        assert understood["decision"] == {
            "request_decision_id": colour["request_decision"]["id"],
            "options": [{"id": "blue", "name": "blue"}],
        }
        assert sure["request_decision"]["type"] == "confirmation"
        assert third["clarification"]["besides"] == ""

        aside = await ask(buyer, "no idea, really", session)
        (again,) = aside["clarification"]["messages"]
        newer = again["request_decision"]
        assert newer["supersedes"] == sure["request_decision"]["id"]

        done = await ask(buyer, decision(newer["id"], "yes"), session)
        assert done["response"]["answer"] == "The blue cove is yours."
        assert "messages" not in done["response"]
        assert buyer.orders == ["cove blue"]


async def test_a_late_receiver_learns_that_and_gets_no_message(tmp_path: Path) -> None:
    async with buying(tmp_path) as buyer:
        first = await ask(buyer, "I want to order a tent")
        session = first["session_id"]
        (which,) = first["clarification"]["messages"]
        answer = decision(which["request_decision"]["id"], "t-cove")
        await ask(buyer, answer, session)
        again = await ask(buyer, answer, session)
        assert "was answered before" in str(again)
        told = again.get("response") or again["clarification"]
        assert not any("decision" in one for one in told.get("messages", []))


async def test_an_answer_to_what_was_asked_before_is_not_taken_for_another(tmp_path: Path) -> None:
    """The shop has asked for an address meanwhile: by another capability than the one before."""
    accepts = {"accept_types": ["x-aitp/requests", "x-aitp/data"]}
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")

        async def say(query: str, session: str | None = None) -> dict[str, Any]:
            more = {} if session is None else {"session_id": session}
            told: dict[str, Any] = (
                await shopper.ask("ship_order", query, context=accepts, **more)
            ).ok
            return told

        first = await say("I want the Larkspur 2 tent")
        session = first["session_id"]
        (which,) = first["clarification"]["messages"]
        second = await say("2 TO-2201-LAKE", session)
        (form,) = [one for one in second["clarification"]["messages"] if "request_data" in one]
        late = await say(decision(which["request_decision"]["id"], "TO-2201-SAGE"), session)
        assert "A newer question is still open" in str(late)
        told = await shopper.talker.texts(await shopper.talker.thread_of(session))
        assert "Rejected: Sage." in told, "a reader of the thread as text"
        fields = [{"id": id, "value": value} for id, value in ADDRESS.items()]
        sure = await say(message("data", data={"fields": fields}), session)
        assert "2 × TO-2201-LAKE" in sure["clarification"]["question"]
        again = await say(
            message("data", data={"request_data_id": form["request_data"]["id"], "fields": fields}),
            session,
        )
        assert "was answered before" in str(again)
        assert shopper.rows("SELECT * FROM parcels") == []
