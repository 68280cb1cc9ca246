"""Every address of every protocol, asked by every kind of caller about own and foreign things.

What is right stands in docs/build/access.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.capability import (
    Accept,
    Capability,
    Hook,
    Onward,
    Redirect,
    Schema,
    Visit,
    document_of,
)
from aitp_desk.config import load_config
from tests.docs.tables import access
from tests.docs.tables.access import Cells
from tests.support.access.callers import (
    AYA,
    AYAS,
    BEN,
    BENS,
    DORA,
    NOBODY,
    NOBODYS,
    OWNERLESS,
    SCOPES,
    Ground,
    Thing,
    a_form,
    a_question,
    make_keys,
)
from tests.support.clients.dispatcher import Answered
from tests.support.doubles.agent import Clock, ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

Served = tuple[RunningServer, Ground, Ground]
FURTHER = "books"
DESK_TOML = """
[content]
folder = "content"
[[agents]]
name = "books"
[agents.content]
folder = "books"
"""
LEVELS = ("reads", "writes", "manages")
NEEDS_LEVEL = {"read": "reads", "write": "writes", "manage": "manages"}
NOTHING_IN_PARTICULAR = frozenset(
    {
        "nothing",
        "presented",
        "nobody",
        "threads",
        "key",
        "known",
        "operator",
        "call",
        "task",
        "console",
        "sensitive",
    }
)
"""Needs of addresses that are about nothing that a caller has."""
CHANGES = {
    "DELETE /v1/threads/{thread_id}",
    "POST /v1/threads/{thread_id}/claim",
    "DELETE /v1/threads/{thread_id}/messages/{message_id}",
    "POST /v1/threads/{thread_id}/actors",
    "DELETE /v1/threads/{thread_id}/actors/{actor}",
    "DELETE /v1/files/{file_id}",
    "DELETE /v1/responses/{response_id}",
}
"""After these, where they are let through, what was asked about is made again."""


class Parcel(msgspec.Struct):
    number: str


class Parcels(Capability):
    """A capability to which another server may tell something."""

    slug = "parcels"

    def schemas(self) -> tuple[Schema, ...]:
        messages = {"track": Parcel}
        return (Schema(version=1, messages=messages, document=document_of(messages, "Parcels")),)

    def hooks(self) -> Mapping[str, Hook]:
        return {"carrier": lambda _delivery: Accept()}

    def redirects(self) -> Mapping[str, Redirect]:
        return {"where": self.where}

    async def where(self, visit: Visit) -> Onward:
        return Onward("https://carrier.example/")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A desk with a further agent and everything switched on, and what is kept at both."""
    folder = tmp_path_factory.mktemp("access")
    for name in ("content", FURTHER):
        (folder / name).mkdir()
        (folder / name / "facts.md").write_text("# Facts\n\nHello is a greeting.\n", "utf-8")
    (folder / "desk.toml").write_text(DESK_TOML, "utf-8")
    data, clock = folder / "data", Clock()
    settings = (
        "limits.enabled=false",
        "files.anonymous=true",
        "files.max_files=1000",
        "oauth.registration.enabled=true",
        "threads.max_auto_replies=1000",
        "capabilities.parcels={}",
    )
    config = load_config(folder, settings, port=0, data=data)
    beside = {"parcels": Parcels}
    agent = ScriptedAgent()
    async with open_server(config, clock=clock, agent=agent, capabilities_beside=beside) as desk:
        keys = await make_keys(desk, data)
        grounds = Ground(desk, clock, keys, ""), Ground(desk, clock, keys, FURTHER)
        for ground in grounds:
            await ground.make()
        yield desk, *grounds


def addresses(desk: RunningServer) -> set[tuple[str, str]]:
    """Every address that is served, after the name of the further agent whose it is.

    Where the further agent has what the site's own has it goes by the same address.
    """
    own = {(route.method, route.path) for door, route in desk.dispatcher.routes if not door.desk}
    found = set()
    for door, route in desk.dispatcher.routes:
        name = "" if door.desk is None else door.desk.name
        path = route.path
        if door.name == "hooks":
            path = "/hooks/{slug}/{name}"
        elif door.name == "redirects":
            path = "/capabilities/{slug}/{name}/{ref}"
        elif door.name == "schemas":
            path = "/capabilities/{slug}/v{version}/schema.json"
        if name:
            below = path.removeprefix(f"/{name}")
            path = below if (route.method, below) in own else f"/{{agent}}{below}"
        found.add((name, f"{route.method} {path}"))
    return found


async def test_every_address_stands_in_the_table_and_nothing_else(
    served: Served,
) -> None:
    desk, *_ = served
    listed = {address.partition(" with ")[0] for address in access.needs()}
    assert {address for _, address in addresses(desk)} == listed


async def test_every_caller_of_the_table_calls(served: Served) -> None:
    for ground in served[1:]:
        assert ground.callers.keys() == access.callers().keys()


async def test_everybody_may_what_the_table_says_and_what_is_foreign_is_as_what_does_not_exist(
    served: Served,
) -> None:
    desk, own, further = served
    served_at = addresses(desk)
    wrong: list[str] = []
    seen: set[str] = set()
    for address, need in access.needs().items():
        route = address.partition(" with ")[0]
        if ("", route) in served_at:
            wrong += await walk(own, "", address, need)
        if (FURTHER, route) in served_at:
            wrong += await walk(own, FURTHER, address, need)
            if need not in seen:  # what is kept there: one address of each need tells
                wrong += await walk(further, FURTHER, address, need)
                seen.add(need)
    assert wrong == []
    assert seen >= {"read", "write", "manage", "own", "own or manage", "claim", "file"}


async def walk(ground: Ground, name: str, address: str, need: str) -> list[str]:
    """Ask at one address as everybody, about everything; what was not as the tables have it.

    Parameters:
        name: of the further agent at whose address is asked; empty for the site's own.
    """
    wrong: list[str] = []
    for who, row in access.callers().items():
        nothing: Answered | None = None
        for whose in asked_about(need):
            answered = await ask(ground, who, name, address, need, whose)
            nothing = nothing or answered
            right = expected(need, row, who, whose, address, is_kept_here=name == ground.name)
            if right == "the same":
                right = (await ask(ground, NOBODY, name, address, need, whose)).outcome
            if answered.outcome != right:
                wrong.append(f"{who}, /{name} {address}, {whose}: {answered} and not {right}")
            elif right in {"404", "400"} and answered != nothing:
                wrong.append(
                    f"{who}, /{name} {address}, {whose}: it is told from what is not there"
                )
            if right == "yes" and address in CHANGES and name == ground.name and whose != NOBODYS:
                await (ground.renew_file if need == "file" else ground.renew_thread)(whose)
    return wrong


def asked_about(need: str) -> tuple[str, ...]:
    """Whose things are asked about where an address needs this; what does not exist is first."""
    if need == "file":
        return NOBODYS, OWNERLESS, AYAS
    if need == "session":
        return NOBODYS, OWNERLESS, AYAS
    if need in NOTHING_IN_PARTICULAR:
        return (NOBODYS,)
    return NOBODYS, OWNERLESS, AYAS, BENS


def thing(ground: Ground, need: str, whose: str) -> Thing:
    """What is asked about."""
    if need == "file":
        return ground.files[whose]
    return (ground.sessions if need in {"session", "call"} else ground.threads)[whose]


async def ask(ground: Ground, who: str, name: str, address: str, need: str, whose: str) -> Answered:
    """Ask at one address about something."""
    places = thing(ground, need, whose).places
    route, _, _ = address.partition(" with ")
    method, _, template = route.partition(" ")
    template = template.replace("/capabilities/{name}", "/capabilities/content_search")
    path = template.replace("{path:.*}", "facts").replace("/{slug}/v{version}/", "/parcels/v1/")
    path = path.replace("/capabilities/{slug}/{name}/{ref}", "/capabilities/parcels/where/P-1")
    path = path.replace("/{slug}/{name}", "/parcels/carrier").replace("{name}", "ask.css")
    path = path.replace("{assistant_id}", name or "desk").replace("{model}", "scripted")
    for place, value in places.items():
        path = path.replace(f"{{{place}}}", value)
    if path == "/ask" and method == "GET":
        path = "/ask?query=Hello&streaming=false"
    if name and "{agent}" not in path:
        path = f"/{{agent}}{path}"
    path = path.replace("{agent}", name)
    if address == "POST /v1/files":
        body, content_type = a_form()
        return await ground.ask(who, method, path, body, content_type=content_type)
    if address == "POST /oauth/token":
        form, content_type = b"grant_type=client_credentials", "application/x-www-form-urlencoded"
        return await ground.ask(who, method, path, form, content_type=content_type)
    if "/a2a" in path:
        headers = (("A2A-Version", "0.3" if "/a2a/v1/" in path else "1.0"),)
        return await ground.ask(who, method, path, task_body_for(address), headers=headers)
    return await ground.ask(who, method, path, body_for(address, name, places))


def task_body_for(address: str) -> Any:
    """What is sent to an address of A2A."""
    if "/message:" in address:
        part = {"text": "Hello?"}
        said = {"messageId": "m", "role": "ROLE_USER", "parts": [part], "content": [part]}
        return {"message": said, "configuration": {"returnImmediately": True, "blocking": False}}
    return {"url": "https://told.example"} if address.startswith("POST") else None


FIXED_BODIES: Mapping[str, Any] = {
    "POST /v1/threads/{thread_id}/messages": {"content": "Hello!"},
    "POST /v1/threads/{thread_id}/messages/{message_id}/feedback": {"rating": "up"},
    "POST /v1/threads/{thread_id}/contact": {"email": "a@example.com"},
    "POST /v1/threads/{thread_id}/actors": {"id": "https://new.example"},
    "POST /v1/threads/{thread_id}/grants": {"link": True, "may": "read"},
    "POST /v1/threads/{thread_id}/transcript/signatures": {"seq": 1, "jws": "e30..e30"},
    "POST /ask": {"query": "Hello?", "streaming": False},
}
"""What is sent to addresses that take the same for whatever is asked about."""


def body_for(address: str, name: str, places: Mapping[str, str]) -> Any:
    """What is sent to an address."""
    if address.endswith(" with metadata"):
        return {"metadata": {"a": "b"}}
    match address:
        case "POST /v1/threads with metadata.parent_id":
            return {"metadata": {"parent_id": places["thread_id"]}}
        case "POST /v1/threads/{thread_id}/runs" | "POST /v1/threads/runs":
            return {"assistant_id": name or "desk"}
        case "POST /v1/threads/{thread_id}/runs/{run_id}/submit_tool_outputs":
            return {"tool_outputs": [{"tool_call_id": "call_1", "output": "Done."}]}
        case "POST /v1/chat/completions":
            return {"model": "scripted", "messages": [{"role": "user", "content": "Hello?"}]}
        case "POST /v1/responses":
            return {"model": "scripted", "input": "Hello?"}
        case "POST /v1/responses with previous_response_id":
            return {
                "model": "scripted",
                "input": "Hello?",
                "previous_response_id": places["response_id"],
            }
        case "POST /capabilities/{name}":
            return {"query": "Hello?"}
        case "POST /mcp":
            return {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        case "POST /agent/converse":
            return a_question()
        case "POST /agent/converse with session_id":
            return a_question(places["session_id"])
        case _:
            return FIXED_BODIES.get(address, {} if address.startswith("POST") else None)


def expected(
    need: str, row: Cells, who: str, whose: str, address: str, *, is_kept_here: bool
) -> str:
    """The outcome of a request, by the tables.

    Parameters:
        is_kept_here: whether what is asked about is kept at the address that is asked.
    """
    has_key = row["claims it"] == "claims"
    if need in {"call", "task", "sensitive"}:  # whose: test_ahp_actions, test_a2a, test_sealing
        return "401" if row["no thread"] == "401" else "404"
    if need == "console":  # what the cookie opens: test_console_sign_in
        return "401"
    if need == "known":
        return "401" if row["claims it"] == "401" else "yes"
    if need in {"presented", "nothing", "nobody", "threads", "key", "operator"}:
        refused = row["no thread"] if row["no thread"] != "404" else ""
        return {
            "presented": "the same",
            "nothing": "401" if refused == "401" else "yes",
            "nobody": "401" if refused == "401" else "403",
            "threads": refused or "yes",
            "key": refused or ("yes" if row["claims it"] in {"claims", "403"} else "401"),
            "operator": _operating(row, who),
        }[need]
    kind = need if need in {"file", "session"} else "thread"
    cell = row[f"{kind} {whose}" if whose == OWNERLESS else f"{whose} {kind}"]
    if need == "claim" and not has_key:
        return row["claims it"]
    if cell in {"400", "401", "403", "404"}:
        return cell
    if not is_kept_here:
        return "404"
    return "yes" if need in {"file", "session"} or may(need, cell, who, whose, address) else "403"


def _operating(row: Cells, who: str) -> str:
    """The outcome of a request that is for operators alone."""
    if row["no thread"] == "401":
        return "401"
    if who in {"an operator", "an administrator"}:
        return "yes"
    return "403" if "key" in who or who in SCOPES else "401"


def may(need: str, cell: str, who: str, whose: str, address: str) -> bool:
    """Whether a caller who may know a thread may do something with it."""
    if need in NEEDS_LEVEL:
        return LEVELS.index(cell) >= LEVELS.index(NEEDS_LEVEL[need])
    is_owner = (who, whose) in {(AYA, AYAS), (BEN, BENS)}
    if need == "claim":
        return is_owner or whose == OWNERLESS
    has_said = is_owner or (whose == OWNERLESS and who not in SCOPES)
    if need == "own":
        return has_said
    assert need == "own or manage"
    is_dora = address.endswith("{actor}") and (who, whose) == (DORA, AYAS)
    return has_said or is_dora or cell == "manages"
