"""What a task takes over A2A: beside calling the desk itself, and beside the SDK's server.

    python -m tests.bench.a2a [--rounds 5] [--calls 200]

The same, one after the other over one kept connection: to a desk (`aitp-desk serve` over
`examples/shop`), and to a sample of the official SDK that answers at once and keeps its tasks in
memory, each in a process of its own, in turn. At the desk a message is a thread with a run, and a
call is a session's turn, both with a task on disk before the answer is sent. So that what is on
disk can be told from the door, the same is sent over AITP (`Prefer: wait`), or over AHP, as well.
The figure is what the door takes more than that, as a share of what the sample takes, the median of
the rounds.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tests.bench.harness.comparison import Load, ahp_call, compare

QUESTION = "What is your return policy?"
HEADERS = {"Content-Type": "application/json", "A2A-Version": "1.0"}


def task(part: dict[str, Any], path: str) -> Load:
    """A message as a client of 1.0 sends it, by JSON-RPC."""
    message = {"messageId": "bench", "role": "ROLE_USER", "parts": [part]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    return Load(path, json.dumps(body).encode(), HEADERS)


def thread() -> Load:
    """The same message over AITP."""
    headers = {"Content-Type": "application/json", "Prefer": "wait=10"}
    return Load("/v1/threads", json.dumps({"messages": [QUESTION]}).encode(), headers)


def serve_sample(port: int) -> None:
    """Run the SDK's own server with an agent that answers at once."""
    import uvicorn
    from a2a.helpers.proto_helpers import new_task_from_user_message
    from a2a.server.agent_execution import AgentExecutor, RequestContext
    from a2a.server.events import EventQueue
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_jsonrpc_routes
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
    from a2a.types import AgentCapabilities, AgentCard, Part
    from starlette.applications import Starlette

    class Sample(AgentExecutor):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            message = context.message
            assert message is not None
            begun = new_task_from_user_message(message)
            await event_queue.enqueue_event(begun)
            updater = TaskUpdater(event_queue, begun.id, begun.context_id)
            await updater.add_artifact([Part(text="You may return it within 30 days.")])
            await updater.complete()

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            raise NotImplementedError

    handler = DefaultRequestHandler(
        agent_executor=Sample(),
        task_store=InMemoryTaskStore(),
        agent_card=AgentCard(
            name="sample",
            description="Answers at once.",
            version="1",
            capabilities=AgentCapabilities(),
        ),
    )
    routes = create_jsonrpc_routes(request_handler=handler, rpc_url="/a2a")
    uvicorn.run(Starlette(routes=[*routes]), host="127.0.0.1", port=port, log_level="error")


def main() -> int:
    """Measure and say what came of it; 1 where a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--sample", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.sample:
        serve_sample(chosen.sample)
        return 0
    arguments = {"query": QUESTION}
    call = {"data": {"action": "content_search", "arguments": arguments}}
    kinds = {
        "a message": (task({"text": QUESTION}, "/a2a"), thread()),
        "a call": (task(call, "/a2a"), ahp_call()),
    }
    return compare(
        kinds,
        "tests.bench.a2a",
        rounds=chosen.rounds,
        calls=chosen.calls,
        beside="without the door",
    )


if __name__ == "__main__":
    sys.exit(main())
