"""What a capability has sealed: kept apart, and nowhere else; and what it has for itself alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from aitp_desk.config import ConfigError
from aitp_desk.model.access.sealed_value import is_ref, make_ref, read_ref
from aitp_desk.testing import CapabilityContract
from tests.support.plugins.sealed_values import Safe, guarded, part
from tests.support.store.secret_search import bytes_below, found_in

CODE = "Sesame-4711"


class TestSafe(CapabilityContract):
    """It keeps the contract of all capabilities."""

    capability = Safe
    examples: ClassVar = {
        1: [
            {"ask_code": {"safe": "s-1"}},
            {"code": {"safe": "s-1", "code": CODE}},
            {"ask_code": {"safe": "s-2"}},
        ]
    }


async def test_what_is_sealed_stands_nowhere_else(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guest:
        thread = (await guest.open()).id
        said = await guest.post(thread, [part(code={"safe": "s-1", "code": CODE})])
        (kept,) = said.ok["content"]
        assert kept == "The code of s-1 (sealed)."
        texts = await guest.texts(thread)
        assert texts == [kept, "s-1 is open."]
        ((ref, of, by_message),) = guest.rows(
            "SELECT ref, thread_id, message_id FROM sealed_values"
        )
        assert is_ref(ref)
        assert (of, by_message) == (thread, said.id)
        ((content,),) = guest.rows("SELECT content FROM messages WHERE seq = 1")
        (stored,) = json.loads(content)
        assert read_ref(json.loads(stored)["code"]["code"]) == ref
        await guest.desk.store.settled()
        places = bytes_below(tmp_path, but=["master.key"])
    assert any(thread.encode() in content for content in places.values()), "it looks where rows are"
    assert found_in(places, [CODE]) == set()


@pytest.mark.parametrize("door", ["thread", "session"])
async def test_words_that_bring_what_is_sealed_are_not_kept(tmp_path: Path, door: str) -> None:
    async with guarded(tmp_path) as guest:
        if door == "thread":
            thread = (await guest.open(part(ask_code={"safe": "s-1"}))).id
            told = (await guest.post(thread, f"code {CODE}")).ok["content"]
            assert told == ["The code of s-1 (sealed)."]
        else:
            body = {"ahp": "0.1", "capability": "content_search"}
            asked = await guest.send(
                "POST", "/agent/converse", {**body, "query": part(ask_code={"safe": "s-1"})}
            )
            session = asked.ok["session_id"]
            assert asked.ok["clarification_question"] == "What is the code of s-1?"
            body |= {"session_id": session, "query": f"code {CODE}"}
            answered = (await guest.send("POST", "/agent/converse", body)).ok
            assert answered["response"]["answer"] == "s-1 is open."
            thread = await guest.thread_of(session)
        told = await guest.texts(thread)
        assert told.count("The code of s-1 (sealed).") == 1
        assert told[-2:] == ["The code of s-1 (sealed).", "s-1 is open."]
        assert len(guest.rows("SELECT ref FROM sealed_values")) == 1
        await guest.desk.store.settled()
        places = bytes_below(tmp_path, but=["master.key"])
    assert found_in(places, [CODE]) == set()


async def test_a_question_in_a_session_does_not_keep_what_was_sealed_with_it(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path, "capabilities.safe.asks_again=true") as guest:
        body = {"ahp": "0.1", "capability": "content_search"}
        first = {**body, "query": part(ask_code={"safe": "s-1"})}
        session = (await guest.send("POST", "/agent/converse", first)).ok["session_id"]
        body |= {"session_id": session, "query": part(code={"safe": "s-1", "code": CODE})}
        asked = (await guest.send("POST", "/agent/converse", body)).ok
        assert asked["status"] == "clarification_needed"
        assert guest.rows("SELECT pending FROM sessions") != [(None,)]
        await guest.desk.store.settled()
        places = bytes_below(tmp_path, but=["master.key"])
    assert found_in(places, [CODE]) == set()


async def test_documents_are_served_and_their_key_stays_the_same(tmp_path: Path) -> None:
    documents = []
    for folder in (tmp_path, tmp_path, tmp_path / "other"):
        async with guarded(folder) as guest:
            told = await guest.send("GET", "/capabilities/safe/stamp.json")
            documents.append(told.ok)
            tag = told.headers["ETag"]
            assert told.headers["Access-Control-Allow-Origin"] == "*"
            async with guest.http.get(
                "/capabilities/safe/stamp.json", headers={"If-None-Match": tag}
            ) as again:
                assert (again.status, await again.read()) == (304, b"")
    first, again, elsewhere = documents
    assert first == again != elsewhere


async def test_a_document_that_cannot_be_served_is_reported_at_the_start(tmp_path: Path) -> None:
    class Nameless(Safe):
        """Has a document of a name that is none."""

        def documents(self) -> Mapping[str, Mapping[str, Any]]:
            return {"../secrets": {}}

    with pytest.raises(ConfigError, match="a document is named"):
        async with guarded(tmp_path, kind=Nameless):
            pass


def test_a_reference_is_that_of_one_place_alone() -> None:
    one = make_ref("msg_1", "0", "code")
    assert one == make_ref("msg_1", "0", "code")
    assert is_ref(one)
    others = {
        make_ref("msg_1", "1", "code"),
        make_ref("msg_2", "0", "code"),
        make_ref("msg_1", "0", "x"),
    }
    assert one not in others
    assert len(others) == 3


@pytest.mark.parametrize("given", [None, "sealed_x", {"sealed": "x"}, {"sealed": 7}, {"a": "b"}])
def test_what_is_no_reference_is_none(given: object) -> None:
    assert read_ref(given) is None
