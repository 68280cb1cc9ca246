"""Threads and messages with the OpenAI SDK, and in AITP's dialect next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.clients.openai import DEPRECATED, exact
from tests.support.clients.threads import Talker

if TYPE_CHECKING:
    from openai import AsyncOpenAI

pytestmark = [pytest.mark.asyncio(loop_scope="module"), DEPRECATED]


def texts(content: object) -> list[str]:
    """The texts of a message's content as the SDK gives it."""
    assert isinstance(content, list)
    assert all(block.type == "text" and block.text.annotations == [] for block in content)
    return [block.text.value for block in content]


async def test_a_thread_is_created_retrieved_and_changed(client: AsyncOpenAI) -> None:
    created = exact(await client.beta.threads.create(metadata={"order": "A-17"}))
    assert created.metadata == {"order": "A-17"}
    assert exact(await client.beta.threads.retrieve(created.id)) == created
    changed = exact(await client.beta.threads.update(created.id, metadata={"order": "A-18"}))
    assert changed.metadata == {"order": "A-18"}
    assert await client.beta.threads.retrieve(created.id) == changed
    bare = exact(await client.beta.threads.create())
    assert bare.metadata == {}


async def test_messages_are_created_and_listed(client: AsyncOpenAI) -> None:
    thread = await client.beta.threads.create(
        messages=[{"role": "user", "content": "One.", "metadata": {"mood": "good"}}]
    )
    assistants = await client.beta.threads.messages.create(
        thread.id, role="assistant", content=[{"type": "text", "text": "Two."}]
    )
    assert exact(assistants).role == "assistant"
    page = await client.beta.threads.messages.list(thread.id, order="asc")
    first, second = map(exact, page.data)
    assert second == assistants
    assert (texts(first.content), texts(second.content)) == (["One."], ["Two."])
    assert first.metadata is not None
    assert first.metadata["mood"] == "good"
    assert (first.run_id, first.assistant_id, first.completed_at) == (
        None,
        None,
        first.created_at,
    )


async def test_pages_are_walked_by_the_sdk_itself(client: AsyncOpenAI) -> None:
    thread = await client.beta.threads.create(
        messages=[{"role": "user", "content": f"{n}"} for n in range(7)]
    )
    listed = client.beta.threads.messages.list(thread.id, limit=3)
    assert [texts(message.content) async for message in listed] == [
        [f"{n}"] for n in reversed(range(7))
    ]


async def test_what_is_posted_in_one_dialect_is_read_in_the_other(
    client: AsyncOpenAI, owner: Talker
) -> None:
    thread = (await owner.open("How much does gift wrapping cost?", wait=20)).ok
    (reply,) = thread["replies"]
    posted = await client.beta.threads.messages.create(thread["id"], role="user", content="Thanks.")

    seen = (await client.beta.threads.messages.list(thread["id"], order="asc")).data
    assert [texts(exact(message).content) for message in seen] == [
        ["How much does gift wrapping cost?"],
        reply["content"],
        ["Thanks."],
    ]
    assert [message.run_id for message in seen] == [None, thread["run"]["id"], None]
    assert [message.assistant_id for message in seen] == [None, "desk", None]
    assert [message.metadata for message in seen] == [
        message["metadata"] for message in (await owner.read(thread["id"])).ok["messages"]
    ]

    read = (await owner.read(thread["id"])).ok
    assert [message["id"] for message in read["messages"]] == [message.id for message in seen]
    assert read["messages"][2]["content"] == ["Thanks."]
    assert read["messages"][2]["id"] == posted.id
    assert read["metadata"]["actors"][0]["id"] == owner.desk.url
    assert exact(await client.beta.threads.retrieve(thread["id"])).metadata == {}


async def test_a_message_is_retrieved_changed_and_deleted(
    client: AsyncOpenAI, owner: Talker
) -> None:
    import openai

    messages = client.beta.threads.messages
    thread = await client.beta.threads.create()
    kept = await messages.create(thread.id, role="user", content="One.")
    posted = await messages.create(thread.id, role="user", content="Two.", metadata={"a": "1"})
    assert exact(await messages.retrieve(posted.id, thread_id=thread.id)) == posted
    assert posted.metadata is not None

    changed = exact(
        await messages.update(
            posted.id, thread_id=thread.id, metadata={**posted.metadata, "a": "2", "b": "3"}
        )
    )
    assert changed.metadata == {"a": "2", "b": "3", "actor": posted.metadata["actor"]}
    assert await messages.update(posted.id, thread_id=thread.id) == changed
    assert await messages.retrieve(posted.id, thread_id=thread.id) == changed

    gone = exact(await messages.delete(posted.id, thread_id=thread.id))
    assert (gone.id, gone.deleted) == (posted.id, True)
    assert (await messages.list(thread.id)).data == [kept]
    for again in (
        messages.retrieve(posted.id, thread_id=thread.id),
        messages.update(posted.id, thread_id=thread.id, metadata={}),
        messages.delete(posted.id, thread_id=thread.id),
    ):
        with pytest.raises(openai.NotFoundError) as refused:
            await again
        assert (refused.value.code, refused.value.param) == ("message_not_found", "message_id")
    read = (await owner.read(thread.id)).ok
    assert [message["id"] for message in read["messages"]] == [kept.id]


async def test_a_deleted_thread_is_gone_for_both_dialects(
    client: AsyncOpenAI, owner: Talker
) -> None:
    import openai

    thread = await client.beta.threads.create(messages=[{"role": "user", "content": "One."}])
    gone = exact(await client.beta.threads.delete(thread.id))
    assert (gone.id, gone.deleted) == (thread.id, True)
    for again in (
        client.beta.threads.retrieve(thread.id),
        client.beta.threads.delete(thread.id),
        client.beta.threads.messages.create(thread.id, role="user", content="Hello?"),
    ):
        with pytest.raises(openai.NotFoundError) as refused:
            await again
        assert refused.value.code == "thread_not_found"
    assert (await owner.read(thread.id)).status == 404


async def test_the_messages_of_one_run_are_listed_alone(client: AsyncOpenAI, owner: Talker) -> None:
    opened = (await owner.open("How much does gift wrapping cost?", wait=20)).ok
    run_id = opened["run"]["id"]
    page = await client.beta.threads.messages.list(opened["id"], run_id=run_id)
    assert [message.id for message in page.data] == [opened["replies"][0]["id"]]
    none = await client.beta.threads.messages.list(opened["id"], run_id="run_unknown")
    assert none.data == []


async def test_a_refusal_is_an_error_of_the_sdk(client: AsyncOpenAI, talker: Talker) -> None:
    import openai

    foreign = (await (await talker.with_key()).open("Hello.")).id
    with pytest.raises(openai.NotFoundError) as refused:
        await client.beta.threads.retrieve(foreign)
    assert (refused.value.code, refused.value.param) == ("thread_not_found", "thread_id")
    with pytest.raises(openai.BadRequestError) as unread:
        await client.beta.threads.create(metadata={"k": 1})  # type: ignore[dict-item]
    assert unread.value.param == "metadata.k"
