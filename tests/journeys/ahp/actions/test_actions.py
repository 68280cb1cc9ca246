"""A site's own actions over AHP: called by arguments and by words, agreed to, and long ones."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.model.calls.action import ACTION_RESULT, DATA, TEXT_ANSWER
from tests.support.clients.ahp import CONVERSE, MANIFEST
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import Clock
from tests.support.sites.orders import Caller, Research, calling, write_site


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path)


# --- what is announced ----------------------------------------------------------------------


@pytest.mark.requirement("AHP-5.3-2", "AHP-5.3-3", "AHP-5.3-5")
async def test_the_manifest_declares_actions_with_what_they_take_and_give(
    tmp_path: Path, site: Path
) -> None:
    async with calling(tmp_path, site) as caller, caller.talker.http.get(MANIFEST) as response:
        manifest = await response.json()
    assert manifest["modes"] == ["MODE1", "MODE2", "MODE3"]
    assert manifest["authentication"] == "bearer"
    named = {one["name"]: one for one in manifest["capabilities"] if one["mode"] == "MODE3"}
    assert {name: one["action_type"] for name, one in named.items()} == {
        "check_stock": "query",
        "opening_hours": "query",
        "place_order": "action",
        "close_account": "action",
    }
    assert {name: one["description"] for name, one in named.items()} == {
        "check_stock": "Says how many of an article there are.",
        "opening_hours": "Says when the shop is open.",
        "place_order": "Orders an article. It can be undone within 30 days. It may cost"
        " something. You are asked to agree to the price first.",
        "close_account": "Closes the account. It cannot be undone.",
    }
    assert manifest["async"] == {"supported": False}
    assert named["place_order"]["input_schema"]["required"] == ["sku", "quantity"]
    assert "left" in json.dumps(named["place_order"]["output_schema"])


@pytest.mark.requirement("AHP-5.3-4", "AHP-8.2-2")
async def test_what_is_not_open_needs_a_credential_that_opens_it(
    tmp_path: Path, site: Path
) -> None:
    order = {"sku": "ABC-01", "quantity": 1}
    async with calling(tmp_path, site, scopes=()) as nobody:
        assert (await nobody.ask(order, "place_order")).refusal[:2] == (401, "auth_required")
        assert (await nobody.ask("When?", "opening_hours")).answer == "monday: 9 to 17"
        for scopes, refusal in (
            (("threads",), (403, "forbidden")),
            (("actions:check_stock",), (403, "forbidden")),
        ):
            caller = Caller(await nobody.talker.with_key(*scopes), site)
            assert (await caller.ask(order, "place_order")).refusal[:2] == refusal
        assert nobody.booked == []


# --- by arguments ---------------------------------------------------------------------------


@pytest.mark.requirement("AHP-13-2")
async def test_a_json_object_is_the_arguments(tmp_path: Path, site: Path) -> None:
    async with calling(tmp_path, site) as caller:
        said = await caller.ask({"sku": "ABC-01"}, "check_stock", accept_types=[DATA, TEXT_ANSWER])
        in_words = await caller.ask({"sku": "ABC-01"}, "check_stock")
        thread = await caller.talker.thread_of(said.session_id)
        texts = caller.talker.rows(
            f"SELECT role, content FROM messages WHERE thread_id = '{thread}' ORDER BY seq"
        )
    assert said.body["response"]["content_type"] == DATA
    assert said.body["response"]["payload"]["data"] == {"sku": "ABC-01", "left": 7}
    assert "Moth" not in str(said.body)  # what the function's result does not declare
    assert said.answer == in_words.answer == "There are 7 of ABC-01 left."
    assert said.body["meta"]["mode"] == "MODE3"
    assert said.body["meta"]["tools_used"] == ["check_stock"]
    assert [role for role, _ in texts] == ["user", "assistant"]


@pytest.mark.slow
async def test_wrong_arguments_are_told_by_their_path_and_nothing_is_left_of_them(
    tmp_path: Path, site: Path, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[Any, str]] = [
        ({"sku": "abc"}, "sku"),
        ({"sku": "ABC-01", "quantity": 0}, "quantity"),
        ({"sku": "ABC-01", "quantity": "2"}, "quantity"),
        ({"sku": "ABC-01", "quantity": 2, "gift": True}, "gift"),
        ({"quantity": 2}, "sku"),
        ({"sku": "ABC-01", "quantity": 2, "_confirm": "yes"}, "_confirm"),
        ({"sku": "ABC-01", "quantity": 2, "_confirm": {"amount": "x"}}, "_confirm"),
        (
            {"sku": "ABC-01", "quantity": 2, "_confirm": {"amount": 19.00, "currency": "EUR"}},
            "_confirm",
        ),
    ]
    async with calling(tmp_path, site) as caller:
        for query, param in cases:
            with subtests.test(query=query, param=param):
                before = caller.talker.counts()
                said = await caller.ask(query, "place_order")
                assert said.status == 400
                assert said.body["param"] == param
                assert caller.talker.counts() == before
                assert caller.booked == []


async def test_an_object_that_can_be_read_in_two_ways_is_refused_and_not_read_as_words(
    tmp_path: Path, site: Path
) -> None:
    queries = [
        '{"sku": "ABC-01", "sku": "ABC-02"}',
        '{"sku": "ABC-01", "count": NaN}',
        '{"sku": "ABC-01", "count": 1e999}',
        '{"sku": "ABC-01", "note": "\\ud800"}',
        '{"sku": "ABC-01", "note": ' + "[" * 40 + "]" * 40 + "}",
    ]
    async with calling(tmp_path, site) as caller:
        before = caller.talker.counts()
        for query in queries:
            said = await caller.ask(query, "check_stock")
            assert (said.status, said.body.get("param")) == (400, "query"), query
        assert caller.talker.counts() == before
        said = await caller.ask("{how many of ABC-01?}", "check_stock")
        assert said.answer == "There are 7 of ABC-01 left."


async def test_what_costs_is_done_for_who_agrees_to_its_price(tmp_path: Path, site: Path) -> None:
    order: dict[str, Any] = {"sku": "ABC-01", "quantity": 2}
    async with calling(tmp_path, site) as caller:
        asked = await caller.ask(order, "place_order")
        assert asked.body["status"] == "clarification_needed"
        assert "19.00 EUR" in asked.body["clarification"]["question"]
        assert asked.body["clarification"]["options"] == ["yes", "no"]
        low = {**order, "_confirm": {"amount": "18.99", "currency": "EUR"}}
        assert (await caller.ask(low, "place_order")).body["status"] == "clarification_needed"
        assert caller.booked == []
        agreed = {**order, "_confirm": {"amount": "19.00", "currency": "EUR"}}
        done = await caller.ask(agreed, "place_order", accept_types=[ACTION_RESULT, TEXT_ANSWER])
        assert caller.booked == ["2 of ABC-01"]
    payload = done.body["response"]["payload"]
    assert payload == {
        "action": "place_order",
        "success": True,
        "result": {"sku": "ABC-01", "left": 5},
        "side_effects": [{"type": "email", "description": "A confirmation was sent."}],
    }


async def test_a_refusal_of_the_site_is_reported_and_recorded(tmp_path: Path, site: Path) -> None:
    order = {"sku": "ABC-01", "quantity": 8, "_confirm": {"amount": "76", "currency": "EUR"}}
    async with calling(tmp_path, site) as caller:
        said = await caller.ask(order, "place_order")
        assert said.refusal == (409, "invalid_request", "precondition_failed")
        assert said.body["message"] == "There are only 7 left."
        assert caller.talker.rows("SELECT state FROM calls") == [("failed",)]


async def test_who_can_read_none_of_an_actions_types_is_answered_in_text(
    tmp_path: Path, site: Path
) -> None:
    async with calling(tmp_path, site) as caller:
        said = await caller.ask({"sku": "ABC-01"}, "check_stock", accept_types=["media/video"])
    assert said.body["response"]["content_type"] == TEXT_ANSWER
    assert said.body["meta"]["fallback_from"] == DATA


# --- by words -------------------------------------------------------------------------------


async def test_words_are_read_by_the_schema(tmp_path: Path, site: Path) -> None:
    async with calling(tmp_path, site) as caller:
        said = await caller.ask("How many of ABC-01 do you have?", "check_stock")
        assert said.answer == "There are 7 of ABC-01 left."


async def test_what_is_missing_is_asked_and_what_was_said_is_kept(
    tmp_path: Path, site: Path
) -> None:
    async with calling(tmp_path, site) as caller:
        asked = await caller.ask("I would like to order ABC-01.", "place_order")
        assert asked.body["status"] == "clarification_needed"
        priced = await caller.reply(asked, "three", "place_order")
        assert "28.50 EUR" in priced.body["clarification"]["question"]
        assert caller.booked == []
        done = await caller.reply(priced, "yes", "place_order")
        assert done.body["status"] == "success"
        assert caller.booked == ["3 of ABC-01"]
        again = await caller.reply(done, "yes", "place_order")
        assert again.body["status"] == "clarification_needed"
        assert caller.booked == ["3 of ABC-01"]


@pytest.mark.parametrize("answer", ["no", "never mind", "what is that?"])
async def test_only_a_yes_has_done_what_cannot_be_undone(
    tmp_path: Path, site: Path, answer: str
) -> None:
    async with calling(tmp_path, site) as caller:
        asked = await caller.ask("Close my account, please.", "close_account")
        assert asked.body["clarification"]["options"] == ["yes", "no"]
        await caller.reply(asked, answer, "close_account")
        assert caller.booked == []
        asked = await caller.ask("Close my account, please.", "close_account")
        await caller.ask("yes", "close_account")  # in no session
        stranger = Caller(await caller.talker.with_key("actions"), site)
        said = await stranger.reply(asked, "yes", "close_account")
        assert said.refusal == (400, "invalid_request", "unknown_session")
        assert caller.booked == []
        await caller.reply(asked, "Yes.", "close_account")
        assert caller.booked == ["closed"]


async def test_what_could_stand_for_the_first_of_two_choices_is_no_yes(
    tmp_path: Path, site: Path
) -> None:
    async with calling(tmp_path, site) as caller:
        asked = await caller.ask("3x ABC-01", "place_order")
        for words in ("yes, but only 1", "1", "a", "the first one", "yes, 1", "if it is the first"):
            said = await caller.reply(asked, words, "place_order")
            assert said.body["status"] == "clarification_needed", words
        assert caller.booked == []
        await caller.reply(asked, "\u201cYES!\u201d", "place_order")
    assert len(caller.booked) == 1


async def test_a_call_that_waits_goes_on_after_a_restart(tmp_path: Path, site: Path) -> None:
    async with calling(tmp_path, site) as caller:
        key = caller.talker.key
        asked = await caller.ask("I would like to order ABC-01.", "place_order")
    async with talking(tmp_path, site=site) as talker:
        caller = Caller(Talker(talker.desk, tmp_path / "data", talker.http, key), site)
        priced = await caller.reply(asked, "2", "place_order")
        assert "19.00 EUR" in priced.body["clarification"]["question"]
        await caller.reply(priced, "yes", "place_order")
        assert caller.booked == ["2 of ABC-01"]


async def test_an_owner_may_want_to_know_what_for(tmp_path: Path, site: Path) -> None:
    order = {"sku": "ABC-01", "quantity": 1, "_confirm": {"amount": "9.50", "currency": "EUR"}}
    async with calling(tmp_path, site, "actions.require_intent=true") as caller:
        for blank in ({}, {"user_intent": " "}):
            said = await caller.ask(order, "place_order", **blank)
            assert said.refusal[:2] == (400, "missing_field")
            assert said.body["param"] == "context.user_intent"
        await caller.ask(order, "place_order", user_intent="A present for Ada.")
        assert caller.booked == ["1 of ABC-01"]
        assert caller.talker.rows("SELECT intent FROM calls") == [("A present for Ada.",)]


@pytest.mark.requirement("AHP-11.2-5")
async def test_actions_have_a_limit_of_their_own(tmp_path: Path, site: Path) -> None:
    async with calling(
        tmp_path, site, "limits.enabled=true", "limits.actions_per_minute=2"
    ) as caller:
        for _ in range(2):
            assert (await caller.ask("Close it.", "close_account")).status == 200
        said = await caller.ask("Close it.", "close_account")
        assert said.refusal[:2] == (429, "rate_limited")
        assert (await caller.ask({"sku": "ABC-01"}, "check_stock")).status == 200


# --- what goes on after it was accepted -----------------------------------------------------


async def test_a_client_that_prefers_an_asynchronous_response_gets_202(
    tmp_path: Path, site: Path
) -> None:
    research = Research()
    async with calling(tmp_path, site, actions=(research.offered,)) as caller:
        body = {"ahp": "0.1", "capability": "research", "query": json.dumps({"topic": "moths"})}
        for prefer, status, applied in (
            ("respond-async, wait=1", 202, "respond-async"),
            ("wait=1", 200, None),
        ):
            headers = [("Prefer", prefer)]
            said = await caller.talker.send("POST", CONVERSE, body, headers=headers)
            assert (said.status, said.body["status"]) == (status, "accepted")
            assert said.headers.get("Preference-Applied") == applied
            research.go_on.set()  # a desk that stops waits for calls that are at work
            await caller.ended(said.body["session_id"])


@pytest.mark.requirement(
    "AHP-5.3-6", "AHP-6.4-1", "AHP-6.4-4", "AHP-9.1-1", "AHP-9.1-2", "AHP-9.1-4", "AHP-9.2-1"
)
async def test_a_long_call_is_accepted_and_asked_after(tmp_path: Path, site: Path) -> None:
    research = Research()
    async with calling(tmp_path, site, actions=(research.offered,)) as caller:
        said = await caller.ask({"topic": "moths"}, "research")
        poll = said.body["poll"]
        assert (said.status, said.body["status"]) == (200, "accepted")
        assert poll == f"/agent/converse/status/{said.session_id}"
        await research.begun.wait()
        await caller.talker.desk.store.settled()
        await caller.reply(said, json.dumps({"sku": "ABC-01"}), "check_stock")
        pending = await caller.status(said.session_id)
        assert pending.body["status"] == "pending"
        assert pending.body["progress"] == "Reading books."
        stranger = Caller(await caller.talker.with_key("actions", "operator"), site)
        refused = await stranger.status(said.session_id)
        nothing = await stranger.status("session_none")
        assert (refused.status, refused.body) == (nothing.status, nothing.body)
        async with caller.talker.http.get(MANIFEST) as response:
            tag, before = response.headers["ETag"], (await response.json())["async"]
        research.go_on.set()
        done = await caller.ended(said.session_id)
        assert done.body["status"] == "success"
        assert done.body["response"]["payload"]["data"] == {"found": "moths"}
        thread = await caller.talker.thread_of(said.session_id)
        assert (await (await caller.talker.with_key("operator")).texts(thread))[-1] == (
            "All about moths."
        )
        # how long it took is told to who asks next
        research.go_on.set()
        again = await caller.ask({"topic": "bees"}, "research")
        assert again.body["eta_seconds"] is not None
        async with caller.talker.http.get(MANIFEST, headers={"If-None-Match": tag}) as response:
            assert response.status == 200
            after = (await response.json())["async"]
        assert before == {"supported": True}
        assert after == {"supported": True, "max_eta_seconds": again.body["eta_seconds"]}
        await caller.ended(again.session_id)


async def test_a_long_call_that_fails_says_why(tmp_path: Path, site: Path) -> None:
    research = Research()
    research.go_on.set()
    async with calling(tmp_path, site, actions=(research.offered,)) as caller:
        said = await caller.ask({"topic": "nothing"}, "research")
        done = await caller.ended(said.session_id)
    assert done.body["status"] == "failed"
    assert done.body["progress"] == "There is nothing to find."


@pytest.mark.slow
@pytest.mark.parametrize(("is_idempotent", "ends"), [(True, "success"), (False, "failed")])
async def test_a_long_call_that_was_cut_short_is_made_again_or_said_to_be_unknown(
    tmp_path: Path, site: Path, is_idempotent: bool, ends: str
) -> None:
    first = Research(is_idempotent=is_idempotent)
    stop = "server.shutdown_seconds=1"
    async with calling(tmp_path, site, stop, actions=(first.offered,)) as caller:
        key = caller.talker.key
        said = await caller.ask({"topic": "moths"}, "research")
        await first.begun.wait()
    second = Research(is_idempotent=is_idempotent)
    second.go_on.set()
    async with talking(tmp_path, site=site, actions=(second.offered,)) as talker:
        caller = Caller(Talker(talker.desk, tmp_path / "data", talker.http, key), site)
        done = await caller.ended(said.session_id)
        assert done.body["status"] == ends
        assert second.calls == (first.calls if is_idempotent else [])


@pytest.mark.slow
@pytest.mark.requirement("AHP-9.2-2")
async def test_a_call_that_is_not_over_in_its_time_has_expired(tmp_path: Path, site: Path) -> None:
    clock, first, second = Clock(), Research(is_idempotent=True), Research(is_idempotent=True)
    stop = "server.shutdown_seconds=1"
    async with calling(tmp_path, site, stop, actions=(first.offered,), clock=clock) as caller:
        key = caller.talker.key
        said = await caller.ask({"topic": "moths"}, "research")
        await first.begun.wait()
    clock.advance(169 * 60 * 60)
    async with talking(tmp_path, site=site, actions=(second.offered,), clock=clock) as talker:
        caller = Caller(Talker(talker.desk, tmp_path / "data", talker.http, key), site)
        assert (await caller.ended(said.session_id)).body["status"] == "expired"
        assert second.calls == []


@pytest.mark.slow
async def test_a_short_call_that_a_crash_cut_short_is_said_to_be_unknown(
    tmp_path: Path, site: Path
) -> None:
    async with calling(tmp_path, site) as caller:
        said = await caller.ask({}, "close_account")
        session, thread = said.session_id, await caller.talker.thread_of(said.session_id)
    database = tmp_path / "data" / "desk.db"
    change = "UPDATE calls SET state = 'started', ended_at = NULL, result = 'null'"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(change)
        connection.commit()
    async with talking(tmp_path, site=site) as talker:
        assert talker.rows("SELECT state FROM calls") == [("unknown",)]
        operator = await talker.with_key("operator")
        assert (await operator.texts(thread))[-1] == (
            "The call has started. The outcome is unknown."
        )
    assert session
