"""Every address at which something could be told, filled in with what a history has made.

The tables below are every route of a desk, with those that are left out and why;
:func:`unwalked` says which are missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.access_walk.conversation import V1
from tests.access_walk.model import File, Thread
from tests.access_walk.world import Call, World
from tests.support.clients.dispatcher import Headers

BETA: Headers = (("OpenAI-Beta", "assistants=v2"),)
HAC: Headers = (("Accept", "application/vnd.hac+json"),)
FROM_START: Headers = (("Last-Event-ID", "0"),)
V03: Headers = (("A2A-Version", "0.3"),)
THREAD = (
    "GET /v1/threads/{thread_id}",
    "POST /v1/threads/{thread_id}",
    "GET /v1/threads/{thread_id}/messages?order=asc&limit=100",
    "GET /v1/threads/{thread_id}/messages?limit=100",
    "GET /v1/threads/{thread_id}/messages/{message_id}",
    "POST /v1/threads/{thread_id}/messages/{message_id}",
    "GET /v1/threads/{thread_id}/events",
    "GET /v1/threads/{thread_id}/actors",
    "GET /v1/threads/{thread_id}/requests",
    "GET /v1/threads/{thread_id}/threads",
    "GET /v1/threads/{thread_id}/grants",
    "GET /v1/threads/{thread_id}/transcript",
    "GET /v1/threads/{thread_id}/runs",
    "GET /v1/threads/{thread_id}/runs/{run_id}",
    "POST /v1/threads/{thread_id}/runs/{run_id}",
    "GET /v1/threads/{thread_id}/runs/{run_id}/steps",
    "GET /v1/threads/{thread_id}/runs/{run_id}/steps/{step_id}",
    "GET /v1/responses/{response_id}",
    "GET /v1/responses/{response_id}/input_items",
    "GET /a2a/tasks?contextId={context}",
    "GET /agent/converse/status/{session_id}",
    "GET /console/api/threads/{thread_id}",
    "GET /console/api/threads/{thread_id}/messages",
    "GET /console/api/threads/{thread_id}/events",
    "GET /console/api/tickets/{ticket_id}",
    "GET /console/api/tickets/{ticket_id}/similar",
)
"""What is read of a thread."""
WRITES = (
    "POST /v1/threads/{thread_id}/messages",
    "POST /v1/threads/{thread_id}/runs",
    "POST /v1/threads/{thread_id}/actors",
    "POST /v1/threads/{thread_id}/grants",
    "POST /v1/threads/{thread_id}/claim",
    "POST /v1/threads/{thread_id}/requests/{capability}/{request_id}",
    "POST /v1/threads/{thread_id}/runs/{run_id}/cancel",
    "POST /v1/threads/{thread_id}/runs/{run_id}/submit_tool_outputs",
    "POST /v1/threads/{thread_id}/messages/{message_id} with metadata",
    "POST /v1/threads/{thread_id}/messages/{message_id}/feedback",
    "POST /v1/threads/{thread_id}/contact",
    "POST /v1/threads/{thread_id}/transcript/signatures",
    "DELETE /v1/threads/{thread_id}",
    "DELETE /v1/threads/{thread_id}/messages/{message_id}",
    "DELETE /v1/threads/{thread_id}/actors/{actor}",
    "DELETE /v1/threads/{thread_id}/grants/{grant_id}",
    "POST /v1/chat/completions",
    "POST /v1/responses",
    "DELETE /v1/responses/{response_id}",
    "POST /v1/responses/{response_id}/cancel",
    "POST /agent/converse",
    "POST /a2a/message:send",
    "POST /a2a/message:stream",
    "POST /mcp",
    "POST /capabilities/{name}",
)
"""What changes a thread: asked only by those who may not, and it must not be let through."""
TASK = (
    "GET /a2a/tasks/{task_id}",
    "GET /a2a/tasks/{task_id}:subscribe",
    "POST /a2a/tasks/{task_id}:subscribe",
    "GET /a2a/tasks/{task_id}/pushNotificationConfigs",
    "GET /a2a/tasks/{task_id}/pushNotificationConfigs/{push_id}",
    "GET /a2a/v1/tasks/{task_id}",
    "GET /a2a/v1/tasks/{task_id}:subscribe",
    "POST /a2a/v1/tasks/{task_id}:subscribe",
    "GET /a2a/v1/tasks/{task_id}/pushNotificationConfigs",
    "GET /a2a/v1/tasks/{task_id}/pushNotificationConfigs/{push_id}",
)
TASK_WRITES = (
    "POST /a2a/tasks/{task_id}:cancel",
    "POST /a2a/tasks/{task_id}/pushNotificationConfigs",
    "DELETE /a2a/tasks/{task_id}/pushNotificationConfigs/{push_id}",
    "POST /a2a/v1/tasks/{task_id}:cancel",
    "POST /a2a/v1/tasks/{task_id}/pushNotificationConfigs",
    "DELETE /a2a/v1/tasks/{task_id}/pushNotificationConfigs/{push_id}",
)
CALL = (
    "GET /capabilities/{name}/calls/{call_id}",
    "GET /agent/converse/status/{session_id}",
)
FILE = ("GET /v1/files/{file_id}", "GET /v1/files/{file_id}/content")
METHODS = {
    "1.0": ("GetTask", "SubscribeToTask", "ListTaskPushNotificationConfigs"),
    "0.3": ("tasks/get", "tasks/resubscribe", "tasks/pushNotificationConfig/list"),
}
TELL_NOTHING = {
    "POST /v1/thread": "opens a thread, as POST /v1/threads does",
    "POST /v1/threads": "a step of the history",
    "POST /v1/threads/runs": "opens a thread, as POST /v1/threads does",
    "POST /v1/files": "a step of the history",
    "DELETE /v1/files/{file_id}": "gives back nothing but the id",
    "POST /v1/assistants": "nobody may",
    "POST /v1/assistants/{assistant_id}": "nobody may",
    "DELETE /v1/assistants/{assistant_id}": "nobody may",
    "POST /hooks/till/bank": "of the capability, which tells nothing back",
    "POST /peers/callbacks/{call_id}/{proof}": "tells nothing back; test_callbacks.py of the peers",
    "POST /a2a": "walked by its methods",
    "POST /a2a/": "the same address as POST /a2a",
    "POST /a2a/v1/message:send": "the same as POST /a2a/message:send in another form",
    "POST /a2a/v1/message:stream": "the same as POST /a2a/message:stream in another form",
    "POST /ask": "a question that names nothing, answered from the site's pages",
    "POST /who": "the site's agents",
    "POST /oauth/token": "gives credentials to whoever proves to be a client",
    "GET /oauth/authorize": "refuses always",
    "GET /v1/sealed/{ref}": "test_sealed_values plants and searches what is sealed",
}
"""Addresses that are not walked, and why."""


@dataclass(frozen=True)
class Asked:
    """One request of the walk.

    Parameters:
        template: the address, as it stands in a table above.
        thread: on which it would write; None where it only reads.
    """

    template: str
    method: str
    target: str
    headers: Headers = ()
    body: Any = None
    thread: Thread | None = None


def of_thread(world: World, thread: Thread) -> Iterator[Asked]:
    """What is asked about a thread."""
    choose = world.model.random.choice
    contexts = [thread.id, *thread.sessions]
    for template in THREAD:
        run_id = choose(thread.runs or ["run_nobody"])
        places = {
            "thread_id": choose(contexts),
            "message_id": choose(thread.messages or ["msg_nobody"]),
            "run_id": run_id,
            "response_id": run_id.replace("run_", "resp_"),
            "step_id": "step_nobody",
            "context": choose(contexts),
            "ticket_id": "ticket_nobody",
            "session_id": choose(contexts),
        }
        every: Headers = V1 if template.startswith("GET /a2a") else ()
        if template.endswith("/events"):
            every = FROM_START
        yield _filled(template, places, (*every, *choose(((), BETA, HAC))))
    params = {"contextId": choose(contexts), "includeArtifacts": True}
    yield _rpc("1.0", "ListTasks", params)
    for task in thread.tasks:
        yield from of_task(task)


def writes(world: World, thread: Thread) -> Iterator[Asked]:
    """What would change a thread, or have the desk speak on it."""
    choose = world.model.random.choice
    context = choose([thread.id, *thread.sessions])
    run_id = choose(thread.runs or ["run_nobody"])
    response_id = run_id.replace("run_", "resp_")
    places = {
        "thread_id": choose([thread.id, *thread.sessions]),
        "message_id": choose(thread.messages or ["msg_nobody"]),
        "run_id": run_id,
        "response_id": response_id,
        "actor": "actor-nobody",
        "grant_id": choose([grant.id for grant in thread.grants] or ["grant_nobody"]),
        "capability": "till",
        "request_id": choose([id_ for id_ in thread.ids if id_.startswith("ask_")] or ["nobody"]),
        "name": "content_search",
    }
    said = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Hello?"}]}
    sent = {"message": {**said, "contextId": context}}
    question = {"query": "Hello?", "session_id": context}
    tool = {"name": "content_search", "arguments": question}
    output = {"role": "tool", "tool_call_id": f"{thread.id}.{run_id}.call_1", "content": ""}
    bodies: dict[str, Any] = {
        "POST /v1/threads/{thread_id}/messages": {"content": "Hello?"},
        "POST /v1/threads/{thread_id}/runs": {"assistant_id": "desk"},
        "POST /v1/threads/{thread_id}/actors": {"id": "actor-new"},
        "POST /v1/threads/{thread_id}/messages/{message_id}/feedback": {"rating": "down"},
        "POST /v1/threads/{thread_id}/contact": {"email": "visitor@reader.example"},
        "POST /v1/threads/{thread_id}/grants": {"link": True, "may": "read"},
        "POST /v1/threads/{thread_id}/transcript/signatures": {"seq": 1, "jws": "e30..e30"},
        "POST /v1/chat/completions": {"model": "desk", "messages": [output]},
        "POST /v1/responses": {
            "model": "desk",
            "input": "Hello?",
            **choose([{"previous_response_id": response_id}, {"conversation": thread.id}]),
        },
        "POST /agent/converse": {"ahp": "0.1", "capability": "content_search", **question},
        "POST /a2a/message:send": sent,
        "POST /a2a/message:stream": sent,
        "POST /mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool},
        "POST /capabilities/{name}": question,
    }
    for template in WRITES:
        if template.endswith(" with metadata"):
            body: Any = {"metadata": {"a": "b"}}
        else:
            body = bodies.get(template, {} if template.startswith("POST") else None)
        headers = V1 if "/a2a" in template else ()
        yield _filled(template, places, headers, body, thread)
    for task in thread.tasks[-2:]:
        for template in TASK_WRITES:
            headers = V03 if "/a2a/v1" in template else V1
            places = {"task_id": task, "push_id": task}
            body = {"url": "https://told.example"} if template.startswith("POST") else None
            yield _filled(template, places, headers, body, thread)


def of_task(task: str) -> Iterator[Asked]:
    """What is asked about a task, over plain HTTP and JSON-RPC of both versions."""
    for template in TASK:
        headers = V03 if "/a2a/v1" in template else V1
        yield _filled(template, {"task_id": task, "push_id": task}, headers)
    for version, methods in METHODS.items():
        for method in methods:
            yield _rpc(version, method, {"id": task, "taskId": task})


def of_call(call: Call) -> Iterator[Asked]:
    """What is asked about a call, and what its quote might open."""
    for template in CALL:
        for headers in ((), HAC):
            yield _filled(
                template, {"name": call.name, "call_id": call.id, "session_id": call.id}, headers
            )
    params = {"name": "call_status", "arguments": {"call_id": call.id}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    yield Asked("POST /mcp", "POST", "/mcp", (), body)


def with_quote(call: Call) -> Iterator[Asked]:
    """The same call as another caller's, with a worthless payment that names its quote."""
    payment = {"payment": {"quote_id": call.quote, "token": "bad"}}
    arguments = {"note": call.note, "_payment": payment}
    yield Asked("POST /capabilities/{name}", "POST", "/capabilities/buy", (), arguments)
    yield Asked("POST /capabilities/{name}", "POST", "/capabilities/buy", HAC, arguments)
    params = {"name": "buy", "arguments": arguments}
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    yield Asked("POST /mcp", "POST", "/mcp", (), rpc)
    query = {"ahp": "0.1", "capability": "buy", "query": json.dumps(arguments)}
    yield Asked("POST /agent/converse", "POST", "/agent/converse", (), query)
    part = {"data": {"action": "buy", "arguments": arguments}}
    said = {"messageId": "m", "role": "ROLE_USER", "parts": [part]}
    send = "/a2a/message:send"
    yield Asked(f"POST {send}", "POST", send, V1, {"message": said})


def of_file(file: File) -> Iterator[Asked]:
    """What is asked about a file."""
    for template in FILE:
        yield _filled(template, {"file_id": file.id}, ())


def alone(world: World) -> Iterator[Asked]:
    """What is asked about nothing that a caller names: lists, and what there is for everybody."""
    yield Asked("GET /a2a/tasks", "GET", "/a2a/tasks?pageSize=100&includeArtifacts=true", V1)
    yield _rpc("1.0", "ListTasks", {"pageSize": 100, "includeArtifacts": True})
    for method in ("tools/list", "resources/list", "prompts/list"):
        rpc = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
        yield Asked("POST /mcp", "POST", "/mcp", (), rpc)
    for method, path in sorted(routes_of(world)):
        if method == "GET" and "{" not in path:
            yield Asked(f"GET {path}", "GET", path, V1 if "/a2a" in path else ())


def routes_of(world: World) -> set[tuple[str, str]]:
    """Every route of the desk."""
    return {(route.method, route.path) for _, route in world.desk.dispatcher.routes}


def unwalked(world: World) -> set[str]:
    """Routes that no table has; those below a further agent's name stand as the site's own."""
    known = {
        template.partition("?")[0].partition(" with ")[0]
        for table in (THREAD, WRITES, TASK, TASK_WRITES, CALL, FILE, tuple(TELL_NOTHING))
        for template in table
    }
    missing = set()
    for method, path in routes_of(world):
        below = path.removeprefix("/books")
        address = f"{method} {below or '/'}"
        is_walked = method == "GET" and "{" not in path
        if method == "OPTIONS":
            continue  # tells what methods there are
        if address.startswith("POST /console/") or address == "DELETE /console/api/session":
            continue  # test_access_table: nothing but the console's cookie is looked at
        if not is_walked and address not in known and address not in PUBLIC:
            missing.add(address)
    return missing


PUBLIC = {
    "GET /v1/assistants/{assistant_id}": "the site's agents",
    "GET /v1/models/{model}": "the site's models",
    "GET /capabilities/{name}": "what a capability takes and gives",
    "GET /assets/{name}": "the pages' own files",
    "GET /assets/desk/{name}": "the pages' own files",
    "GET /console/assets/{version}/{name:.*}": "the console's own files",
    "GET /widget/{version}/{name:.*}": "the chat component's own files",
    "GET /widget/logo": "the chat's picture",
    "GET /{path:.*}": "the site's pages",
    "GET /capabilities/till/v1/schema.json": "a schema",
}
"""Addresses of what everybody may read, and which is the site's."""


def _filled(
    template: str,
    places: dict[str, str],
    headers: Headers,
    body: Any = None,
    thread: Thread | None = None,
) -> Asked:
    method, _, path = template.partition(" with ")[0].partition(" ")
    for place, value in places.items():
        path = path.replace(f"{{{place}}}", value)
    return Asked(template, method, path, headers, body, thread)


def _rpc(version: str, method: str, params: Any) -> Asked:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Asked("POST /a2a", "POST", "/a2a", (("A2A-Version", version),), body)
