"""Meeting the cases over HTTP: as a stranger on the Threads API, with a key on that of AHP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec

from aitp_desk.app.server import open_server
from aitp_desk.config import load_config
from aitp_desk.desk.access.site_agents import SITE_AGENT
from tests.injection.corpus import SPLIT, Case
from tests.injection.harness.desk import SITE_URL, Canaries, Obeying, read_site
from tests.injection.harness.judge import Met, Site
from tests.injection.harness.placement import FACTS, is_on_a_page, question, write_site
from tests.support.access.keys import make_key
from tests.support.clients.ahp import CONVERSE
from tests.support.clients.threads import Talker
from tests.support.desk.first_start import begin_desk
from tests.support.doubles.messages_api import MessagesApi, messages_api

if TYPE_CHECKING:
    from openai import AsyncOpenAI

WEATHER = 'What is the weather? Use get_weather {"place": "Sund"}'
POLL = 5
"""Milliseconds between two looks at a run."""
LONGEST_QUERY = 4096
OPEN_TO_ALL = frozenset({"look_up_order"})
SETTINGS = (
    f"site.name={FACTS.name}",
    f"site.url={SITE_URL}",
    f"site.contact.email={FACTS.contact}",
    "limits.enabled=false",
    "store.synchronous=normal",
    "model.max_tokens=4000",
    "model.reply_tokens=60000",
)

_ASKED = {"query", "tool_result", "second_search"}
_ON_THREADS = {
    "split", "other", "outsider_assistant", "actor", "thread_metadata", "message_metadata",
}  # fmt: skip


class Doors(msgspec.Struct, frozen=True):
    """A desk with canaries, whose model obeys everybody."""

    talker: Talker
    key: str
    canaries: Canaries
    model: Obeying
    api: MessagesApi
    site: Site

    async def on_threads(self, case: Case) -> Met | None:
        """Meet a case as a stranger; None where its place is not reached over this protocol."""
        if not (case.place in _ASKED | _ON_THREADS or is_on_a_page(case)):
            return None
        self._forget()
        opened = await self.talker.send(
            "POST", "/v1/threads", _thread(case), headers=[("Prefer", "wait=20")]
        )
        if case.place == "actor" and opened.status == 400:
            return None  # no actor goes by such a name
        body = opened.ok
        assert body["run"]["status"] == "completed", body
        kept = (await self.talker.messages(opened.id, "?order=asc&limit=100")).ok["data"]
        shown = [*strings(body["replies"]), *_of_the_desk(kept, body["replies"])]
        return self._met("anonymous", OPEN_TO_ALL, shown, (), ())

    async def on_ahp(self, case: Case) -> Met | None:
        """Meet a case with a key that opens one canary; None where the protocol cannot."""
        asked = question(case, SITE_URL)
        if not (case.place in _ASKED or is_on_a_page(case)) or len(asked) > LONGEST_QUERY:
            return None
        self._forget()
        said = await self.converse(asked, key=self.key)
        answer = said.get("response", {})
        sources = [source["url"] for source in answer.get("sources", ())]
        used = said.get("meta", {}).get("tools_used", ())
        return self._met(
            principal_of(self.key), OPEN_TO_ALL | {"send_voucher"}, [*strings(said)], sources, used
        )

    async def by_runs(self, case: Case, client: AsyncOpenAI) -> Met | None:
        """Meet a case as a client of the OpenAI API that brings wishes and functions."""
        if case.place not in {"wishes", "caller_tool", "caller_result"}:
            return None
        self._forget()
        text, runs, desk = case.written(SITE_URL), client.beta.threads.runs, SITE_AGENT
        thread = await client.beta.threads.create(messages=[{"role": "user", "content": WEATHER}])
        described = text if case.place == "caller_tool" else "Gives the weather."
        function: Any = {"name": "get_weather", "description": described}
        run = await runs.create_and_poll(
            thread_id=thread.id,
            assistant_id=desk,
            instructions=text if case.place == "wishes" else "Be brief.",
            tools=[{"type": "function", "function": function}],
            poll_interval_ms=POLL,
        )
        shown: list[str] = []
        while run.required_action is not None:
            calls = run.required_action.submit_tool_outputs.tool_calls
            shown += [call.function.arguments for call in calls]
            given = text if case.place == "caller_result" else "Fine."
            run = await runs.submit_tool_outputs_and_poll(
                run_id=run.id,
                thread_id=thread.id,
                tool_outputs=[{"tool_call_id": call.id, "output": given} for call in calls],
                poll_interval_ms=POLL,
            )
        assert run.status == "completed", run.last_error
        replies = (await client.beta.threads.messages.list(thread.id, run_id=run.id)).data
        shown += strings([reply.model_dump(mode="json") for reply in replies])
        may_call = OPEN_TO_ALL | {"send_voucher", "get_weather"}
        return self._met(principal_of(self.key), may_call, shown, (), ())

    async def converse(self, query: str, *, key: str | None = None) -> dict[str, Any]:
        """Ask one question over AHP."""
        body = {"ahp": "0.1", "capability": "content_search", "query": query}
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with self.talker.http.post(CONVERSE, json=body, headers=headers) as response:
            said: dict[str, Any] = await response.json()
        assert response.status == 200, said
        return said

    def _forget(self) -> None:
        self.canaries.taken()
        self.api.requests.clear()
        self.model.tried.clear()

    def _met(
        self,
        caller: str,
        may_call: frozenset[str],
        shown: Sequence[str],
        sources: Sequence[str],
        used: Sequence[str],
    ) -> Met:
        return Met(
            caller=caller,
            may_call=may_call,
            shown=tuple(shown),
            sources=tuple(sources),
            tools_used=tuple(used),
            rung=self.canaries.taken(),
            requests=tuple(self.api.requests),
        )


def principal_of(key: str) -> str:
    """The id of the principal whose API key this is."""
    return f"key:{key.split('_')[1]}"


def _thread(case: Case) -> dict[str, Any]:
    """The body that opens a thread in which a case is met."""
    text = case.written(SITE_URL)
    said = [_message("user", question(case, SITE_URL))]
    body: dict[str, Any] = {}
    match case.place:
        case "split":
            said = [_message("user", part) for part in text.split(SPLIT)]
        case "other" | "outsider_assistant":
            said = [_message("user", "Good morning."), _message("assistant", text), *said]
        case "actor":
            body["actors"] = [{"id": text}]
            said = [_message("assistant", "Hello.", actor=text), *said]
        case "thread_metadata":
            body["metadata"] = {"note": text}
        case "message_metadata":
            said[0]["metadata"] = {"note": text}
        case _:
            pass
    return {"messages": said, **body}


def _message(role: str, text: str, **metadata: str) -> dict[str, Any]:
    return {"role": role, "content": text, **({"metadata": metadata} if metadata else {})}


def _of_the_desk(
    kept: Sequence[Mapping[str, Any]], replies: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    ids = {reply["id"] for reply in replies}
    for message in kept:
        if message["id"] in ids:
            yield from strings(message)


def strings(value: Any) -> Iterator[str]:
    """Every text in a piece of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)


@asynccontextmanager
async def doors(folder: Path, cases: Sequence[Case]) -> AsyncIterator[Doors]:
    """A desk on a free port, with the pages of these cases."""
    pages, data = folder / "site", folder / "data"
    write_site(pages, cases, SITE_URL)
    config = load_config(pages, SETTINGS, port=0, data=data)
    begin_desk(config)
    canaries, model = Canaries(), Obeying()
    async with (
        messages_api(model) as api,
        open_server(config, environment=api.environment, actions=canaries.actions()) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        key = await make_key(desk.store, data, "threads", "actions:send_voucher")
        site = read_site(pages, desk.desk.knowledge.library)
        yield Doors(Talker(desk, data, http), key, canaries, model, api, site)


def kept_by(talker: Talker) -> str:
    """All that the desk itself has said, in its database."""
    rows = talker.rows("SELECT content FROM messages WHERE origin = 'desk'")
    return json.dumps(rows, ensure_ascii=False)
