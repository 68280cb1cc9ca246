"""Opening, reading and changing a thread through the Threads API (AITP 0.1, Threads API)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.clients.threads import THREADS, Talker

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAYMENT = "https://aitp.dev/v1/payment.schema.json"
SHOPPER = "https://agents.example/shopper"


@pytest.mark.requirement(
    "AITP-threads-api-1",
    "AITP-threads-api-2",
    "AITP-threads-api-3",
    "AITP-supported-transports-1",
    "AITP-thread-specification-1",
    "AITP-thread-specification-2",
    "AITP-thread-specification-3",
    "AITP-thread-specification-12",
    "AITP-thread-specification-13",
)
@pytest.mark.parametrize("path", ["/v1/thread", "/v1/threads"])
async def test_a_thread_is_opened_with_strings_and_comes_back_bare(
    talker: Talker, path: str
) -> None:
    began = int(time.time())
    opened = await talker.send("POST", path, {"messages": ["Hello.", "Do you ship to Oslo?"]})
    thread = opened.ok
    assert thread["object"] == "thread"
    assert began <= thread["created_at"] <= time.time()
    assert [message["content"] for message in thread["messages"]] == [
        ["Hello."],
        ["Do you ship to Oslo?"],
    ]
    for message in thread["messages"]:
        assert message["object"] == "thread.message"
        assert message["thread_id"] == thread["id"]
        assert message["role"] == "user"
        assert message["status"] == "completed"
        assert message["attachments"] == []
        assert type(message["created_at"]) is int
        assert began <= message["created_at"] <= time.time()
    assert "run" not in thread
    assert "replies" not in thread
    assert (await talker.read(thread["id"])).ok["id"] == thread["id"]


async def test_messages_may_be_objects_with_role_content_attachments_and_metadata(
    owner: Talker,
) -> None:
    tools = [{"type": "file_search"}, {"type": "code_interpreter"}]
    one, two = (await owner.upload()).id, (await owner.upload()).id
    opened = await owner.open(
        {"role": "assistant", "content": "We spoke before."},
        {
            "role": "user",
            "content": ["One part.", "Another part."],
            "attachments": [{"file_id": one, "tools": tools}, {"file_id": two}],
            "metadata": {"colour": "green"},
        },
        {"content": "Role and attachments may be left out.", "attachments": None},
    )
    first, second, third = opened.ok["messages"]
    assert (first["role"], first["content"]) == ("assistant", ["We spoke before."])
    assert second["content"] == ["One part.", "Another part."]
    assert second["attachments"] == [
        {"file_id": one, "tools": tools},
        {"file_id": two, "tools": []},
    ]
    assert second["metadata"]["colour"] == "green"
    assert (third["role"], third["attachments"]) == ("user", [])


@pytest.mark.requirement("AITP-compatibility-1")
async def test_the_forms_of_the_openai_api_and_properties_of_others_are_taken(
    talker: Talker,
) -> None:
    text = {"type": "text", "text": "As their clients send it."}
    read = {"type": "text", "text": {"value": "As their servers do.", "annotations": []}}
    opened = await talker.open(
        {"role": "user", "content": [text, read], "extra": 1},
        tool_resources={"file_search": {}},
        assistant_id="asst_1",
    )
    (message,) = opened.ok["messages"]
    assert message["content"] == ["As their clients send it.", "As their servers do."]
    posted = await talker.post(opened.id, "More.", temperature=0.5, status="in_progress")
    assert posted.ok["status"] == "completed"


@pytest.mark.parametrize("body", [None, b"", b" \n", {}, {"messages": []}, {"messages": None}])
async def test_an_empty_thread_has_no_messages_and_starts_no_run(talker: Talker, body: Any) -> None:
    opened = await talker.send("POST", THREADS, body, headers=[("Prefer", "wait=5")])
    assert opened.ok["messages"] == []
    assert (opened.ok["run"], opened.ok["replies"]) == (None, [])
    assert opened.headers["Preference-Applied"] == "wait"


@pytest.mark.requirement(
    "AITP-threads-1",
    "AITP-threads-2",
    "AITP-threads-3",
    "AITP-capabilities-2",
    "AITP-thread-specification-9",
    "AITP-thread-specification-10",
    "AITP-thread-specification-11",
    "AITP-thread-specification-16",
)
@pytest.mark.parametrize("place", ["metadata", "top"])
async def test_actors_are_listed_with_capabilities_given_in_any_published_form(
    talker: Talker, place: str
) -> None:
    actors = [
        {"id": SHOPPER, "capabilities": [{"schema": PAYMENT}, {"$schema": "https://a.example/1"}]},
        {"id": "alice", "capabilities": ["https://a.example/2", {"id": "https://a.example/3"}]},
        {"id": "bob", "capabilities": None},
        "carol",
    ]
    body = {"metadata": {"actors": actors}} if place == "metadata" else {"actors": actors}
    opened = await talker.open("Hello.", **body)
    desk, *brought = opened.ok["metadata"]["actors"]
    assert desk == {"id": talker.desk.url, "capabilities": []}
    assert brought == [
        {"id": SHOPPER, "capabilities": [{"schema": PAYMENT}, {"schema": "https://a.example/1"}]},
        {
            "id": "alice",
            "capabilities": [{"schema": "https://a.example/2"}, {"schema": "https://a.example/3"}],
        },
        {"id": "bob", "capabilities": []},
        {"id": "carol", "capabilities": []},
    ]
    again = (await talker.read(opened.id)).ok
    assert again["metadata"] == opened.ok["metadata"]
    assert again["messages"][0]["content"] == ["Hello."]


@pytest.mark.parametrize(
    ("members", "refusal"),
    [
        ({"actors": ["a"], "metadata": {"actors": ["b"]}}, (400, "invalid_request", "actors")),
        ({"actors": "a"}, (400, "invalid_request", "actors")),
        ({"actors": [7]}, (400, "invalid_request", "actors[0]")),
        ({"actors": [{"capabilities": []}]}, (400, "missing_field", "actors[0].id")),
        (
            {"actors": [{"id": "a", "capabilities": [{"schema": 1}]}]},
            (400, "invalid_request", "actors[0].capabilities[0]"),
        ),
        (
            {"metadata": {"actors": [{"id": "a", "capabilities": "b"}]}},
            (400, "invalid_request", "metadata.actors[0].capabilities"),
        ),
        ({"actors": [" "]}, (400, "invalid_request", "metadata.actors")),
        ({"actors": ["a", {"id": "a"}]}, (400, "invalid_request", "metadata.actors")),
        ({"actors": ["a" * 513]}, (400, "invalid_request", "metadata.actors")),
        ({"actors": [f"a{n}" for n in range(21)]}, (400, "invalid_request", "metadata.actors")),
        (
            {"actors": [{"id": "a", "capabilities": [f"c{n}" for n in range(51)]}]},
            (400, "invalid_request", "metadata.actors"),
        ),
        (
            {"actors": [{"id": "a", "capabilities": ["c" * 513]}]},
            (400, "invalid_request", "metadata.actors"),
        ),
    ],
)
async def test_actors_that_cannot_be_understood_are_refused(
    talker: Talker, members: dict[str, Any], refusal: tuple[int, str, str]
) -> None:
    before = talker.counts()
    assert (await talker.open("Hello.", **members)).refusal == refusal
    assert talker.counts() == before


async def test_nobody_brings_an_actor_of_the_desks_own_name(talker: Talker) -> None:
    refused = await talker.open("Hello.", actors=[talker.desk.url])
    assert refused.refusal == (403, "forbidden", "metadata.actors")


@pytest.mark.requirement("AITP-thread-specification-14", "AITP-thread-specification-15")
async def test_metadata_is_kept_next_to_the_actors_and_a_null_parent(talker: Talker) -> None:
    opened = await talker.open("Hello.", metadata={"order": "A-17", "parent_id": None})
    metadata = opened.ok["metadata"]
    assert metadata["order"] == "A-17"
    assert metadata["parent_id"] is None
    assert metadata.keys() == {"order", "parent_id", "actors"}
    assert (await talker.read(opened.id)).ok["metadata"] == metadata


@pytest.mark.requirement("AITP-threads-api-4", "AITP-threads-api-5", "AITP-threads-api-6")
@pytest.mark.parametrize("body", [None, b"", {}, {"metadata": None}, {"foreign": 1}])
async def test_a_thread_is_retrieved_by_post_as_by_get(talker: Talker, body: Any) -> None:
    opened = await talker.open("Hello.", wait=10)
    await talker.open("Another thread.")
    got = await talker.read(opened.id)
    assert got.id == opened.id
    posted = await talker.send("POST", f"{THREADS}/{opened.id}", body)
    assert posted.ok == got.ok


async def test_metadata_is_replaced_by_post_and_the_actors_stay(talker: Talker) -> None:
    opened = await talker.open("Hello.", actors=["alice"], metadata={"a": "1", "b": "2"})
    path = f"{THREADS}/{opened.id}"
    updated = await talker.send("POST", path, {"metadata": {"b": "3"}})
    assert updated.ok["metadata"] == {
        "b": "3",
        "parent_id": None,
        "actors": opened.ok["metadata"]["actors"],
    }
    assert (await talker.read(opened.id)).ok["metadata"] == updated.ok["metadata"]
    for name, wrong in (("actors", "alice"), ("parent_id", []), ("parent_id", opened.id)):
        refused = await talker.send("POST", path, {"metadata": {name: wrong}})
        assert refused.refusal == (400, "invalid_request", f"metadata.{name}")
    refused = await talker.send("POST", path, {"metadata": {"b": 4}})
    assert refused.refusal == (400, "invalid_request", "metadata.b")
    assert (await talker.read(opened.id)).ok["metadata"] == updated.ok["metadata"]


@pytest.mark.requirement("AITP-thread-specification-13")
async def test_a_thread_shows_its_newest_hundred_messages_in_order(talker: Talker) -> None:
    manual = [("OpenAI-Beta", "assistants=v2")]
    opened = await talker.open(*(f"Message {n}" for n in range(1, 101)), headers=manual)
    assert len((await talker.read(opened.id)).ok["messages"]) == 100
    await talker.post(opened.id, "Message 101", headers=manual)
    texts = [message["content"][0] for message in (await talker.read(opened.id)).ok["messages"]]
    assert texts == [f"Message {n}" for n in range(2, 102)]


@pytest.mark.requirement("AITP-why-chat-threads-1")
async def test_plain_words_are_answered_from_the_content_with_sources(talker: Talker) -> None:
    opened = await talker.open("How much does gift wrapping cost?", wait=20)
    assert opened.ok["run"]["status"] == "completed"
    (reply,) = opened.ok["replies"]
    answer, sources = reply["content"]
    assert "2 EUR" in answer
    assert sources.startswith("Sources:\n- ")
    assert f"{talker.desk.url}/guides/gift-wrapping" in sources
    assert opened.ok["messages"][-1] == reply


async def test_the_desk_speaks_under_its_own_name(talker: Talker) -> None:
    (reply,) = (await talker.open("Hello.", wait=10)).ok["replies"]
    assert reply["role"] == "assistant"
    assert reply["metadata"]["actor"] == talker.desk.url
