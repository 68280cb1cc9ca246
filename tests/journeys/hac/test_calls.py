"""Calls tell agents how they stand, where people decide too, and the site's content answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.protocols.hac import MEDIA_TYPE
from aitp_desk.store.reads.audit_log import audit_rows
from tests.journeys.actions.test_approval import write_site
from tests.journeys.actions.test_resources import make_site
from tests.support.clients.hac import ACCEPT, face
from tests.support.clients.threads import Talker, talking

pytestmark = pytest.mark.asyncio(loop_scope="module")
REFUND = {"order": "A7", "amount": 500}


async def test_a_call_that_waits_for_a_person_says_so_until_it_ends(tmp_path: Path) -> None:
    async with talking(tmp_path, site=write_site(tmp_path)) as talker:
        caller = await talker.with_key("actions")
        listed = await face(caller, "GET", "/capabilities/refund")
        call = listed.action("refund")
        assert "A person of the site may have to approve it first." in call["description"]
        assert "_callback_url" in {one["name"] for one in call["fields"]}
        taken = await face(caller, "POST", call["href"], REFUND)
        assert (taken.status, taken.data["status"]) == (202, "accepted")
        assert taken.headers["Location"] == taken.link("status")
        assert "continues in the background" in taken.told["description"]
        stands = await face(caller, "GET", taken.link("status"))
        assert stands.data["status"] == "pending"
        assert "people decide" in stands.told["description"]
        other = await talker.with_key("actions")
        refused = await face(other, "GET", taken.link("status"))
        assert (refused.status, refused.error["code"]) == (404, "call_not_found")

        asked = {"capability": "refund", "query": json.dumps(REFUND)}
        session = (await caller.send("POST", "/agent/converse", asked)).body["session_id"]
        stands = await face(caller, "GET", f"/agent/converse/status/{session}")
        assert stands.data["status"] == "pending"
        assert "people decide" in stands.told["description"]
        assert (await face(caller, "GET", stands.link("self"))).data == stands.data


async def test_the_purpose_of_a_call_is_required_where_the_owner_wants_that(tmp_path: Path) -> None:
    settings = ("actions.require_intent=true",)
    async with talking(tmp_path, *settings, site=make_site(tmp_path)) as talker:
        buyer = await talker.with_key("actions")
        found = await face(buyer, "GET", "/bookings/7")
        fields = {one["name"]: one for one in found.action("cancel")["fields"]}
        assert fields["_intent"]["required"]
        body: dict[str, Any] = {"booking_id": 7}
        refused = await face(buyer, "POST", "/capabilities/cancel", body)
        assert (refused.status, refused.error["x-param"]) == (400, "_intent")
        done = await face(buyer, "POST", "/capabilities/cancel", {**body, "_intent": "A test."})
        assert done.data["status"] == "success"


async def test_what_the_content_answers_leads_to_its_conversation(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        found = await face(talker, "GET", "/capabilities")
        search = found.action("content-search")
        answered = await face(
            talker, search["method"], search["href"], {"query": "When are you open?"}
        )
        assert answered.data["status"] in {"success", "clarification_needed"}
        thread = await face(talker, "GET", answered.link("thread"))
        assert "post-message" in thread.rels


async def test_the_second_face_is_noted_as_the_first_is(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        buyer = await talker.with_key("actions")
        await buyer.send("GET", "/bookings/7")
        await face(buyer, "GET", "/bookings/7")
        rows = [row async for row in audit_rows(talker.desk.store) if row.action == "resource.read"]
        assert len(rows) == 2
        assert len({(row.principal, row.object, row.outcome) for row in rows}) == 1


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_head_alone_is_that_of_the_face(talker: Talker, method: str) -> None:
    async with talker.http.request(method, "/capabilities", headers=[ACCEPT]) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == MEDIA_TYPE
        assert response.headers["ETag"]
