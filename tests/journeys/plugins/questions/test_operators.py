"""What an operator asks in a message of a capability is told in the session's next turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.clients.operator import Operator, operating, write_site
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.decisions import SIZE

IN_WORDS = "anna: Size?\n1. S\n2. m\nReply 1 or 2."


async def say(
    guest: Talker, query: str, session: str | None = None, *declared: str
) -> dict[str, Any]:
    """One turn of a session."""
    body: dict[str, Any] = {"capability": "content_search", "query": query}
    if declared:
        body["context"] = {"accept_types": [f"x-aitp/{slug}" for slug in declared]}
    if session is not None:
        body["session_id"] = session
    said: dict[str, Any] = (await guest.send("POST", "/agent/converse", body)).ok
    return said


async def asked(guest: Talker, anna: Operator, *declared: str) -> dict[str, Any]:
    """What a session is told in its next turn after an operator has asked there."""
    session = (await say(guest, "Hello?"))["session_id"]
    await guest.desk.store.settled()
    thread = await guest.thread_of(session)
    await anna.post(f"threads/{thread}/take")
    message = {"capability": "requests", "message": {"request_decision": SIZE}}
    await anna.post(f"threads/{thread}/messages", **message)
    await anna.post(f"threads/{thread}/release")
    return await say(guest, "Are you there?", session, *declared)


async def test_an_operators_request_is_rendered_as_text_and_as_data(tmp_path: Path) -> None:
    setting = "capabilities.requests.open_for=3600"
    async with (
        talking(tmp_path, setting, site=write_site(tmp_path), agent=ScriptedAgent()) as guest,
        operating(guest.desk, tmp_path / "data", "anna") as anna,
    ):
        told = [await asked(guest, anna, *declared) for declared in ((), ("requests",))]
    for one in told:
        assert one["response"]["answer"].startswith(IN_WORDS)
        assert one["meta"]["people"][0]["text"] == IN_WORDS.removeprefix("anna: ")
    in_words, as_it_is = (one["response"] for one in told)
    assert "messages" not in in_words
    (message,) = as_it_is["messages"]
    assert message["request_decision"]["id"] == "size"
    assert "Size?" not in as_it_is["besides"]
