"""Several site agents on one store: each has its address, its threads, its content and limits."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Agent, Answer, Event, Outcome, Turn
from aitp_desk.app.protocols.site import make_site_routes
from aitp_desk.app.server import open_server
from aitp_desk.config import ConfigError, load_config
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.aitp.routes import make_routes
from tests.docs.snippets import ROOT, blocks
from tests.support.access.keys import make_key
from tests.support.clients.openai import DEPRECATED
from tests.support.clients.threads import Talker, Told
from tests.support.desk.first_start import begin_desk
from tests.support.desk.server import UNLIMITED
from tests.support.doubles.agent import ScriptedAgent
from tests.support.sites.actions import Perform, offering

SITE, BOOKS, TOOLS = "", "/books", "/tools"
DESKS = (SITE, BOOKS, TOOLS)

PAGE = ROOT / "docs/run/configuration.md"
(DESK_TOML, *_) = [one.code for one in blocks(PAGE, "Several site agents")]
"""The settings are those that the documentation shows."""

ATTACHING = {"content": "Hello?", "attachments": [{"file_id": "{file_id}"}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site whose three agents know one fact each, in pages of the same name."""
    site = tmp_path / "site"
    for name, fact in {
        "content": "The shop opens at nine in the morning.",
        "books": "The oldest book is a herbal of 1597.",
        "tools": "The longest ladder measures twelve metres.",
    }.items():
        (site / name).mkdir(parents=True)
        (site / name / "facts.md").write_text(f"# Facts\n\n{fact}\n", encoding="utf-8")
    (site / "desk.toml").write_text(DESK_TOML, encoding="utf-8")
    return site


@asynccontextmanager
async def talking(
    folder: Path, *settings: str, agent: Agent | None = None, **actions: OfferedAction
) -> AsyncIterator[Talker]:
    data = folder.parent / "data"
    config = load_config(folder, (*UNLIMITED, *settings), port=0, data=data)
    begin_desk(config)
    by_name = {name: (performed,) for name, performed in actions.items()}
    own = by_name.pop("site", ())
    async with (
        open_server(config, agent=agent, actions=own, agent_actions=by_name) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield Talker(desk, data, http)


async def open_at(talker: Talker, desk: str, text: str, **members: object) -> Told:
    body = {"messages": [{"role": "user", "content": text}], **members}
    wait = [("Prefer", "wait=20")]
    return await talker.send("POST", f"{desk}/v1/threads", body, headers=wait)


def replied(told: Told) -> str:
    text: str = told.ok["replies"][0]["content"][0]
    return text


@pytest.mark.parametrize(
    ("desk", "question", "fact"),
    [
        (SITE, "When does the shop open?", "nine in the morning"),
        (BOOKS, "What is the oldest book?", "1597"),
        (TOOLS, "How long is the longest ladder?", "twelve metres"),
    ],
)
async def test_each_agent_answers_from_its_own_content_alone(
    folder: Path, desk: str, question: str, fact: str
) -> None:
    async with talking(folder) as talker:
        for other in DESKS:
            told = await open_at(talker, other, question)
            assert (fact in replied(told)) is (other == desk)


async def test_a_source_is_a_page_that_is_served_below_the_agents_name(folder: Path) -> None:
    async with talking(folder) as talker:
        told = await open_at(talker, BOOKS, "What is the oldest book?")
        sources = told.ok["replies"][0]["content"][1]
        assert f"{talker.desk.url}/books/facts" in sources
        async with talker.http.get("/books/facts") as page:
            assert page.status == 200
            assert "herbal of 1597" in await page.text()
        async with talker.http.get("/facts") as page:
            assert "herbal" not in await page.text()


async def test_the_transcript_of_its_thread_is_signed_by_the_site(folder: Path) -> None:
    async with talking(folder) as talker:
        thread = (await open_at(talker, BOOKS, "What is the oldest book?")).id
        path = f"{BOOKS}/v1/threads/{thread}/transcript"
        statement = (await talker.send("GET", path)).ok["statement"]
        assert statement["head"]["site"] == talker.desk.url
        assert statement["actors"][0] == f"{talker.desk.url}/books"
        assert (await talker.send("GET", path.removeprefix(BOOKS))).status == 404
        async with talker.http.get(statement["keys"]) as keys:
            assert keys.status == 200


Row = tuple[str, str, object]
"""Method, path below the agent, body. Names in braces are filled in, in the body as well."""
THREAD = "/v1/threads/{thread_id}"
MESSAGE, RUN = THREAD + "/messages/{message_id}", THREAD + "/runs/{run_id}"

THREAD_ID = "{thread_id}"
OWED = {"tool_call_id": "{thread_id}.{run_id}.call_1"}
GOING_ON = {"input": "?", "previous_response_id": "{response_id}"}

# Every address by which a caller could name what is another agent's. `elsewhere` is the
# assistant of the agent that is asked: the one thing named there that is its own.
NAMING: list[Row] = [
    ("POST", "/v1/thread", {"metadata": {"parent_id": "{thread_id}"}}),
    ("POST", "/v1/threads", {"metadata": {"parent_id": "{thread_id}"}}),
    ("POST", "/v1/threads", {"messages": [ATTACHING]}),
    ("POST", "/v1/threads/runs", {"assistant_id": "{assistant_id}"}),
    (
        "POST",
        "/v1/threads/runs",
        {"assistant_id": "{elsewhere}", "thread": {"metadata": {"parent_id": "{thread_id}"}}},
    ),
    (
        "POST",
        "/v1/threads/runs",
        {"assistant_id": "{elsewhere}", "thread": {"messages": [ATTACHING]}},
    ),
    ("GET", THREAD, None),
    ("POST", THREAD, {}),
    ("POST", THREAD, {"metadata": {"a": "b"}}),
    ("GET", f"{THREAD}/messages", None),
    ("POST", f"{THREAD}/messages", {"role": "user", "content": "Hello?"}),
    ("GET", f"{THREAD}/actors", None),
    ("POST", f"{THREAD}/actors", {"id": "courier"}),
    ("DELETE", f"{THREAD}/actors/{{actor}}", None),
    ("GET", f"{THREAD}/threads", None),
    ("GET", f"{THREAD}/grants", None),
    ("POST", f"{THREAD}/grants", {"link": True, "may": "read"}),
    ("GET", f"{THREAD}/events", None),
    ("GET", f"{THREAD}/requests", None),
    ("GET", f"{THREAD}/transcript", None),
    ("POST", f"{THREAD}/transcript/signatures", {"seq": 1, "jws": "e30..e30"}),
    ("GET", MESSAGE, None),
    ("POST", MESSAGE, {"metadata": {"a": "b"}}),
    ("POST", f"{MESSAGE}/feedback", {"rating": "down"}),
    ("POST", f"{THREAD}/contact", {"email": "visitor@reader.example"}),
    ("GET", f"{THREAD}/runs", None),
    ("POST", f"{THREAD}/runs", {"assistant_id": "{elsewhere}"}),
    ("POST", f"{THREAD}/runs", {"assistant_id": "{elsewhere}", "stream": True}),
    ("GET", RUN, None),
    ("POST", RUN, {"metadata": {"a": "b"}}),
    ("POST", f"{RUN}/cancel", {}),
    ("POST", f"{RUN}/submit_tool_outputs", {"tool_outputs": [{"tool_call_id": "a", "output": ""}]}),
    (
        "POST",
        "/v1/chat/completions",
        {"model": "{elsewhere}", "messages": [{"role": "tool", **OWED, "content": ""}]},
    ),
    ("POST", "/v1/responses", {"model": "{elsewhere}", "input": "?", "conversation": THREAD_ID}),
    ("POST", "/v1/responses", {"model": "{elsewhere}", **GOING_ON}),
    ("GET", "/v1/responses/{response_id}", None),
    ("GET", "/v1/responses/{response_id}/input_items", None),
    ("POST", "/v1/responses/{response_id}/cancel", {}),
    ("GET", f"{RUN}/steps", None),
    ("GET", f"{RUN}/steps/{{step_id}}", None),
    ("GET", "/v1/files/{file_id}", None),
    ("GET", "/v1/files/{file_id}/content", None),
    ("GET", "/v1/assistants/{assistant_id}", None),
    ("DELETE", "/v1/files/{file_id}", None),
    ("DELETE", MESSAGE, None),
    ("DELETE", "/v1/responses/{response_id}", None),
    ("DELETE", THREAD, None),
]
# What names nothing, and what nobody may.
NAMING_NOTHING = {
    ("GET", "/v1/assistants"),
    ("POST", "/v1/assistants"),
    ("POST", "/v1/assistants/{assistant_id}"),
    ("DELETE", "/v1/assistants/{assistant_id}"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{model}"),
    ("GET", "/v1/files"),
    ("POST", "/v1/files"),
    ("GET", "/.well-known/aitp-transcript-keys.json"),
}
# What nobody does without a credential; test_access_table.py asks these of each agent as well.
NEEDING_AN_OWNER = {("POST", f"{THREAD}/claim"), ("DELETE", f"{THREAD}/grants/{{grant_id}}")}

# What is there with a capability alone: test_open_requests.py and test_sealed_values.py ask these.
OF_CAPABILITIES = {
    ("POST", f"{THREAD}/requests/{{capability}}/{{request_id}}"),
    ("GET", "/v1/sealed/{ref}"),
}


def test_every_address_of_the_protocol_is_in_the_table() -> None:
    protocol = make_routes(max_body=1, max_file=1)
    served = {(route.method, route.path) for route in protocol.routes}
    naming = {(method, path) for method, path, _ in NAMING}
    assert served == naming | NAMING_NOTHING | NEEDING_AN_OWNER | OF_CAPABILITIES


async def make_all_that_has_an_id(talker: Talker, home: str) -> dict[str, str]:
    """A thread at an agent, a message, a run, a step and a file, by the names in the table."""
    form = aiohttp.FormData({"purpose": "assistants"})
    form.add_field("file", b"A herbal.", filename="list.txt")
    headers = {"Authorization": f"Bearer {talker.key}"} if talker.key else {}
    async with talker.http.post(f"{home}/v1/files", data=form, headers=headers) as uploaded:
        file_id = (await uploaded.json())["id"]
    told = await open_at(talker, home, "Who is there?", metadata={"actors": ["visitor"]})
    run = f"{home}/v1/threads/{told.id}/runs/{told.ok['run']['id']}"
    (step,) = (await talker.send("GET", f"{run}/steps")).ok["data"]
    asked = {"model": assistant_of(home), "input": "And now?", "conversation": told.id}
    response = (await talker.send("POST", f"{home}/v1/responses", asked)).ok
    return {
        "thread_id": told.id,
        "message_id": told.ok["messages"][0]["id"],
        "actor": "visitor",
        "run_id": told.ok["run"]["id"],
        "response_id": response["id"],
        "step_id": step["id"],
        "file_id": file_id,
        "assistant_id": assistant_of(home),
    }


def assistant_of(desk: str) -> str:
    return desk.removeprefix("/") or "desk"


def filled(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: names[name[1]], text)


@pytest.mark.slow
@pytest.mark.parametrize("as_", ["anonymous", "threads", "operator", "admin"])
async def test_what_is_one_agents_does_not_exist_at_the_address_of_another(
    folder: Path, as_: str
) -> None:
    unlimited = "[agents.limits]\nenabled = false\n[agents.content]"
    toml = DESK_TOML.replace("[agents.content]", unlimited)
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    async with talking(folder, "files.anonymous=true") as anybody:
        talker = anybody if as_ == "anonymous" else await anybody.with_key(as_)
        for home in (SITE, BOOKS):
            names = await make_all_that_has_an_id(talker, home)
            before = talker.counts()
            # at home last, where the table's last rows delete what it names
            for desk in sorted(DESKS, key=lambda desk: desk == home):
                assert talker.counts() == before
                names["elsewhere"] = assistant_of(desk)
                for method, path, body in NAMING:
                    if desk == SITE != home and path.startswith("/v1/responses/"):
                        continue  # the site's own address reaches the responses of all
                    sent = json.loads(filled(json.dumps(body), names))
                    status = await status_of(talker, method, desk + filled(path, names), sent)
                    assert (status == 404) is (desk != home), (method, desk + path, status)


async def status_of(talker: Talker, method: str, path: str, body: object) -> int:
    """The status alone: what is a stream does not end."""
    headers = {"Authorization": f"Bearer {talker.key}"} if talker.key else {}
    async with talker.http.request(method, path, json=body, headers=headers) as response:
        return response.status


async def test_one_idempotency_key_opens_one_thread_at_each_agent(folder: Path) -> None:
    async with talking(folder) as anybody:
        for talker in (anybody, await anybody.with_key("threads")):
            key = [("Idempotency-Key", "a-key-of-more-than-twenty-characters")]
            opened = [
                (await talker.send("POST", f"{desk}/v1/threads", {}, headers=key)).id
                for desk in (*DESKS, *DESKS)
            ]
            assert opened[:3] == opened[3:]
            assert len(set(opened)) == 3


async def test_an_agent_is_a_model_at_the_sites_own_address(folder: Path) -> None:
    own = '[agents.limits]\nconverse_per_minute = 2\n[[agents]]\nname = "tools"'
    toml = DESK_TOML.replace('[[agents]]\nname = "tools"', own)
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    async with talking(folder, "limits.enabled=true") as anybody:
        talker, stranger = await anybody.with_key("threads"), await anybody.with_key("threads")
        listed = (await talker.send("GET", "/v1/models")).ok["data"]
        assert {"books", "tools"} <= {one["id"] for one in listed}
        assert (await talker.send("GET", "/v1/models/books")).ok["id"] == "books"
        said = [{"role": "user", "content": "Who is there?"}]
        asked = {"model": "books", "messages": said}
        told = (await talker.send("POST", "/v1/chat/completions", asked)).ok
        thread = f"/v1/threads/{told['metadata']['thread_id']}"
        assert (await talker.send("GET", f"/books{thread}")).ok
        assert (await talker.send("GET", thread)).status == 404
        first = (await talker.send("POST", "/v1/responses", {"model": "books", "input": "?"})).ok
        going_on = {"model": "books", "input": "And?", "previous_response_id": first["id"]}
        second = (await talker.send("POST", "/v1/responses", going_on)).ok
        assert second["conversation"] == first["conversation"]
        elsewhere = {**going_on, "model": "tools"}
        assert (await talker.send("POST", "/v1/responses", elsewhere)).status == 404
        path = f"/v1/responses/{first['id']}"
        assert (await talker.send("GET", path)).ok["output"] == first["output"]
        assert (await stranger.send("GET", path)).status == 404
        assert (await talker.send("GET", f"/tools{path}")).status == 404
        assert (await talker.send("DELETE", path)).ok["deleted"]
        assert (await talker.send("GET", f"/books{path}")).status == 404
        unknown = await talker.send("POST", "/tools/v1/chat/completions", asked)
        assert unknown.status == 404
        statuses = [
            (await anybody.send("POST", "/v1/chat/completions", asked)).status for _ in range(3)
        ]
        assert statuses == [200, 200, 429]
        assert (await anybody.send("POST", "/v1/chat/completions", {**asked, "model": "desk"})).ok


async def test_each_agent_counts_what_it_is_asked(folder: Path) -> None:
    own = '[agents.limits]\nconverse_per_minute = 2\n[[agents]]\nname = "tools"'
    toml = DESK_TOML.replace('[[agents]]\nname = "tools"', own)
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    async with talking(folder, "limits.enabled=true", "limits.converse_per_minute=1") as talker:

        async def statuses(desk: str) -> list[int]:
            path = f"{desk}/v1/threads"
            return [(await talker.send("POST", path, {})).status for _ in range(3)]

        assert await statuses(SITE) == [200, 429, 429]
        assert await statuses(BOOKS) == [200, 200, 429]
        assert await statuses(TOOLS) == [200, 200, 200]


async def test_the_site_s_switch_switches_off_the_limits_of_all_agents(folder: Path) -> None:
    own = '[agents.limits]\nconverse_per_minute = 1\n[[agents]]\nname = "tools"'
    toml = DESK_TOML.replace('[[agents]]\nname = "tools"', own)
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    async with talking(folder, "limits.enabled=false") as talker:
        for desk in (SITE, BOOKS):
            statuses = [(await talker.send("POST", f"{desk}/v1/threads", {})) for _ in range(3)]
            assert [told.status for told in statuses] == [200, 200, 200]


def ringing(rung: list[str], name: str) -> OfferedAction:
    async def perform(who: str, arguments: object) -> str:
        rung.append(name)
        return "rung"

    call: Perform = perform
    return offering(Action("ring", f"Rings at {name}."), call)


async def test_each_agent_calls_its_own_actions(folder: Path) -> None:
    rung: list[str] = []

    async def describe(turn: Turn) -> Outcome:
        return Answer(" ".join(tool.description for tool in turn.tools) or "nothing to ring")

    async with talking(
        folder,
        agent=ScriptedAgent(describe),
        site=ringing(rung, "site"),
        books=ringing(rung, "books"),
    ) as talker:
        said = [replied(await open_at(talker, desk, "What can you do?")) for desk in DESKS]
    assert said == ["Rings at site.", "Rings at books.", "nothing to ring"]


@pytest.mark.slow
async def test_each_agent_is_the_one_assistant_of_its_address(folder: Path) -> None:
    from openai import AsyncOpenAI

    async with talking(folder) as talker:
        key = await make_key(talker.desk.store, folder.parent / "data", "threads")
        for desk, id_, name in [(SITE, "desk", "Shop"), (BOOKS, "books", "The bookshelf")]:
            async with AsyncOpenAI(base_url=f"{talker.desk.url}{desk}/v1", api_key=key) as client:
                with pytest.warns(DeprecationWarning, match="deprecated"):
                    listed = await client.beta.assistants.list()
            assert [(agent.id, agent.name) for agent in listed.data] == [(id_, name)]


@DEPRECATED
@pytest.mark.parametrize(("desk", "id_"), [(SITE, "desk"), (BOOKS, "books")])
async def test_a_reply_names_the_assistant_of_its_address(
    folder: Path, desk: str, id_: str
) -> None:
    from openai import AsyncOpenAI

    async with talking(folder) as talker:
        key = await make_key(talker.desk.store, folder.parent / "data", "threads")
        async with AsyncOpenAI(base_url=f"{talker.desk.url}{desk}/v1", api_key=key) as client:
            threads = client.beta.threads
            opened = await threads.create(messages=[{"role": "user", "content": "Who is there?"}])
            async with threads.runs.stream(thread_id=opened.id, assistant_id=id_) as stream:
                await stream.until_done()
            (told,) = await stream.get_final_messages()
            (listed,) = (await threads.messages.list(opened.id, run_id=told.run_id or "")).data
            run = await stream.get_final_run()
        assert {told.assistant_id, listed.assistant_id, run.assistant_id} == {id_}


async def test_a_file_of_one_agent_does_not_exist_at_the_address_of_another(folder: Path) -> None:
    from openai import AsyncOpenAI

    async with talking(folder) as anybody:
        talker = await anybody.with_key("threads")
        assert talker.key is not None
        url = talker.desk.url
        async with AsyncOpenAI(base_url=f"{url}{BOOKS}/v1", api_key=talker.key) as client:
            file = await client.files.create(file=("list.txt", b"A herbal."), purpose="assistants")
        attached = {"messages": [{"content": "Hello?", "attachments": [{"file_id": file.id}]}]}
        for desk in DESKS:
            at_home = desk == BOOKS
            path = f"{desk}/v1/files/{file.id}"
            assert (await talker.send("GET", path)).status == (200 if at_home else 404)
            listed = (await talker.send("GET", f"{desk}/v1/files")).ok
            assert [each["id"] for each in listed["data"]] == ([file.id] if at_home else [])
            opened = await talker.send("POST", f"{desk}/v1/threads", attached)
            assert opened.status == (200 if at_home else 404)
            if not at_home:
                assert (await talker.send("GET", f"{path}/content")).status == 404
                assert (await talker.send("DELETE", path)).status == 404
        assert (await talker.send("DELETE", f"{BOOKS}/v1/files/{file.id}")).status == 200


@pytest.mark.slow
async def test_a_name_that_is_no_agents_has_no_threads(folder: Path) -> None:
    async with talking(folder) as talker:
        assert (await talker.send("POST", "/nobody/v1/threads", {})).status == 404


class Silent:
    """An agent that is for ever about to answer, and says when it was asked."""

    name = "silent"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        self.asked.set()
        await asyncio.Event().wait()
        yield Answer("never")


@pytest.mark.slow
async def test_what_waits_for_an_agent_that_was_taken_away_is_answered_by_no_other(
    folder: Path,
) -> None:
    silent = Silent()
    async with talking(folder, "server.shutdown_seconds=1", agent=silent) as talker:
        waiting = {"messages": [{"role": "user", "content": "How long is the ladder?"}]}
        thread = (await talker.send("POST", f"{TOOLS}/v1/threads", waiting)).id
        async with asyncio.timeout(60):
            await silent.asked.wait()
    toml = DESK_TOML[: DESK_TOML.rindex("[[agents]]")]
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    state = f"SELECT state FROM runs WHERE thread_id = '{thread}'"
    async with talking(folder) as talker:
        async with asyncio.timeout(60):
            while talker.rows(state) != [("failed",)]:
                await open_at(talker, SITE, "When does the shop open?")
        for desk in (SITE, BOOKS):
            assert (await talker.send("GET", f"{desk}/v1/threads/{thread}")).status == 404
    said = talker.rows(f"SELECT count(*) FROM messages WHERE thread_id = '{thread}'")
    assert said == [(1,)]


async def test_no_visitor_brings_an_actor_that_would_be_taken_for_an_agent_of_the_site(
    folder: Path, subtests: pytest.Subtests
) -> None:
    async with talking(folder) as talker:
        for name in ("", "/", "/books", "/tools", "/tools/", "/Tools"):
            for desk in (SITE, BOOKS):
                with subtests.test(desk=desk, name=name):
                    actor = {"id": talker.desk.url + name}
                    brought = {"metadata": {"actors": ["visitor", actor]}}
                    told = await talker.send("POST", f"{desk}/v1/threads", brought)
                    assert told.refusal == (403, "forbidden", "metadata.actors")
                    opened = await talker.send("POST", f"{desk}/v1/threads", {})
                    thread = f"{desk}/v1/threads/{opened.id}"
                    told = await talker.send("POST", f"{thread}/actors", actor)
                    assert told.refusal == (403, "forbidden", "actor")
                    if name != desk:
                        told = await talker.send("POST", thread, brought)
                        assert told.refusal == (403, "forbidden", "metadata.actors")
                    read = (await talker.send("GET", thread)).ok["metadata"]
                    assert [one["id"] for one in read["actors"]] == [talker.desk.url + desk]
                    assert (await talker.send("POST", thread, {"metadata": read})).status == 200


async def test_the_streams_of_all_agents_are_counted_together(folder: Path) -> None:
    async with talking(folder, "events.max_streams_per_address=1") as talker:
        events = [
            f"{desk}/v1/threads/{(await talker.send('POST', f'{desk}/v1/threads', {})).id}/events"
            for desk in DESKS
        ]
        async with talker.http.get(events[0]) as stream:
            assert stream.status == 200
            for other in events[1:]:
                assert (await talker.send("GET", other)).refusal == (429, "rate_limited", None)


async def test_no_agent_takes_a_name_with_which_an_address_of_the_desk_begins(folder: Path) -> None:
    config = load_config(folder, port=0, data=folder.parent / "data")
    async with open_server(config) as serving:
        protocols = make_site_routes(serving.desk, (), config)
    begins = {route.path.split("/")[1] for protocol in protocols for route in protocol.routes}
    names = {begin for begin in begins if re.fullmatch("[a-z][a-z0-9_-]*", begin)}
    assert names >= {"v1", "health", "ready", "agent", "assets"}
    for name in names:
        toml = DESK_TOML.replace('"tools"', f'"{name}"', 1)
        (folder / "desk.toml").write_text(toml, encoding="utf-8")
        with pytest.raises(ConfigError, match=f"'{name}' is reserved for an address of the desk"):
            load_config(folder)


async def test_a_conversation_by_questions_stays_with_the_agent_that_it_was_begun_with(
    folder: Path,
) -> None:
    async with talking(folder) as talker:
        question = {"query": "What is the oldest book?"}
        begun = await talker.send("POST", f"{BOOKS}/capabilities/content_search", question)
        session = begun.ok["session_id"]
        for other in (SITE, TOOLS):
            more = {"query": "And the next one?", "session_id": session}
            refused = await talker.send("POST", f"{other}/capabilities/content_search", more)
            assert (refused.status, refused.body["code"]) == (400, "unknown_session")
            assert (await talker.send("GET", f"{other}/v1/threads/{session}")).status == 404
        more = {"query": "And how old is it?", "session_id": session}
        told = await talker.send("POST", f"{BOOKS}/capabilities/content_search", more)
        assert told.ok["session_id"] == session
        read = await talker.send("GET", f"{BOOKS}/v1/threads/{session}/messages?order=asc")
        said = [message["content"][0] for message in read.ok["data"]]
        assert said[0::2] == ["What is the oldest book?", "And how old is it?"]
