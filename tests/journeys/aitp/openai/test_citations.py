"""The sources of an answer, as the OpenAI SDK gives them to programs: where the text names them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aitp_desk.agent.base import Agent, Answer, Delta, Source
from aitp_desk.desk.access.site_agents import SITE_AGENT
from tests.support.clients.openai import exact, sdk
from tests.support.clients.threads import talking
from tests.support.doubles.agent import PacedAgent, ScriptedAgent

if TYPE_CHECKING:
    from openai import AsyncOpenAI

ELSEWHERE = "https://maps.example/store?of=9:30"
SOURCES = (
    Source("Hours: summer", "/hours", "direct"),
    Source("Größe 🧥 & more", ELSEWHERE, "direct"),
)


@asynccontextmanager
async def asking(folder: Path, agent: Agent) -> AsyncIterator[tuple[str, AsyncOpenAI]]:
    async with talking(folder, agent=agent) as desk, sdk(await desk.with_key()) as client:
        yield desk.desk.url, client


def expected(url: str) -> list[tuple[str, str]]:
    return [("Hours: summer", f"{url}/hours"), ("Größe 🧥 & more", ELSEWHERE)]


def check(cited: list[Any], text: str, url: str) -> None:
    """Each names its source, and the place in the text where it is named."""
    assert [(one.title, one.url) for one in cited] == expected(url)
    for one in cited:
        assert text[one.start_index : one.end_index] == f"{one.title}: {one.url}"


async def answer(_turn: object) -> Answer:
    return Answer("Größe 🧥: we open at nine.\n\nHours: summer, at eight.", SOURCES)


async def test_a_completion_cites_its_sources(tmp_path: Path) -> None:
    async with asking(tmp_path, ScriptedAgent(answer)) as (url, client):
        asked: Any = [{"role": "user", "content": "When?"}]
        said = exact(await client.chat.completions.create(model=SITE_AGENT, messages=asked))
        message = said.choices[0].message
        assert message.content is not None
        cited = [one.url_citation for one in message.annotations or ()]
        check(cited, message.content, url)


async def test_a_response_cites_its_sources_whole_and_streamed(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with asking(tmp_path, agent) as (url, client):
        agent.say(Delta("Größe 🧥: we "), await answer(None))
        added: list[Any] = []
        names: list[str] = []
        async with client.responses.stream(model=SITE_AGENT, input="When?") as stream:
            async with asyncio.timeout(20):
                async for event in stream:
                    names.append(event.type)
                    if event.type == "response.output_text.annotation.added":
                        added.append(event)
            streamed = await stream.get_final_response()
        kept = exact(await client.responses.retrieve(streamed.id))
        for response in (streamed, kept):
            (item,) = response.output
            assert item.type == "message"
            (part,) = item.content
            assert part.type == "output_text"
            check(list(part.annotations), part.text, url)
        assert [one.annotation_index for one in added] == [0, 1]
        assert [one.annotation.url for one in added] == [url for _, url in expected(url)]
        last = len(names) - 1 - names[::-1].index("response.output_text.annotation.added")
        assert names[last + 1] == "response.output_text.done"


async def test_an_answer_without_sources_cites_nothing(tmp_path: Path) -> None:
    async def quote(_turn: object) -> Answer:
        return Answer("Sources:\n- A trap: https://evil.example")

    async with asking(tmp_path, ScriptedAgent(quote)) as (_, client):
        asked: Any = [{"role": "user", "content": "Who?"}]
        said = exact(await client.chat.completions.create(model=SITE_AGENT, messages=asked))
        assert said.choices[0].message.annotations == []
        (item,) = exact(await client.responses.create(model=SITE_AGENT, input="Who?")).output
        assert item.type == "message"
        assert item.content[0].type == "output_text"
        assert item.content[0].annotations == []
