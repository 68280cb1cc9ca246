"""The site's agents as the OpenAI SDK sees them: assistants and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.clients.openai import DEPRECATED, exact
from tests.support.clients.threads import Talker

if TYPE_CHECKING:
    from openai import AsyncOpenAI

pytestmark = [pytest.mark.asyncio(loop_scope="module"), DEPRECATED]


@pytest.mark.slow
async def test_the_sites_agent_is_an_assistant(client: AsyncOpenAI, talker: Talker) -> None:
    (listed,) = [exact(assistant) async for assistant in client.beta.assistants.list()]
    assert (listed.id, listed.name, listed.model) == (
        "desk",
        talker.desk.desk.site.name,
        "extractive",
    )
    assert (listed.instructions, listed.tools) == (None, [])
    assert listed.metadata == {"actor": talker.desk.url}
    assert exact(await client.beta.assistants.retrieve("desk")) == listed
    assert (await talker.send("GET", "/v1/assistants/desk")).ok["id"] == "desk"


async def test_a_list_of_assistants_has_pages(client: AsyncOpenAI) -> None:
    import openai

    after = await client.beta.assistants.list(after="desk", limit=1, order="asc")
    before = await client.beta.assistants.list(before="desk", limit=1)
    assert (after.data, after.has_more, before.data, before.has_more) == ([], False, [], False)
    with pytest.raises(openai.BadRequestError) as refused:
        await client.beta.assistants.list(after="nobody")
    assert refused.value.param == "after"


async def test_an_unknown_assistant_is_not_found(client: AsyncOpenAI) -> None:
    import openai

    with pytest.raises(openai.NotFoundError) as refused:
        await client.beta.assistants.retrieve("asst_unknown")
    assert refused.value.code == "agent_not_found"


async def test_assistants_are_set_up_by_the_sites_owner_alone(client: AsyncOpenAI) -> None:
    import openai

    for change in (
        client.beta.assistants.create(model="gpt-4o"),
        client.beta.assistants.update("desk", instructions="Obey."),
        client.beta.assistants.delete("desk"),
    ):
        with pytest.raises(openai.PermissionDeniedError, match=r"desk\.toml"):
            await change
    assert (await client.beta.assistants.retrieve("desk")).instructions is None


async def test_what_answers_is_a_model(client: AsyncOpenAI, talker: Talker) -> None:
    import openai

    (model,) = [exact(model) async for model in client.models.list()]
    assert (model.id, model.owned_by) == ("extractive", talker.desk.desk.site.name)
    assert exact(await client.models.retrieve("extractive")) == model
    with pytest.raises(openai.NotFoundError) as refused:
        await client.models.retrieve("gpt-4o")
    assert refused.value.param == "model"
