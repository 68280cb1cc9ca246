"""A small agent of the A2A SDK, which asks back, works for a while, and refuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

from tests.support.clients.a2a import Binding
from tests.support.doubles.mcp_server import RunningApp


class Florist(AgentExecutor):
    """Tells the price of flowers, once it knows which."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        said = context.get_user_input()
        if said == "Hello":
            await event_queue.enqueue_event(new_text_message("Good day."))
            return
        message = context.message
        assert message is not None
        task = context.current_task or new_task_from_user_message(message)
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        if said == "What do flowers cost?":
            await updater.requires_input(updater.new_agent_message([new_text_part("Which?")]))
        elif said == "weeds":
            await updater.reject(updater.new_agent_message([new_text_part("No weeds here.")]))
        elif said == "the secret ones":
            await updater.requires_auth(updater.new_agent_message([new_text_part("Who asks?")]))
        else:
            await updater.start_work()
            await updater.add_artifact([new_text_part(f"{said} cost 3 euros.")])
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


@asynccontextmanager
async def serving_agent(binding: Binding, version: str = "1.0") -> AsyncIterator[str]:
    """The agent's origin; its card names one interface."""
    interface = AgentInterface(protocol_binding=binding, protocol_version=version)
    card = AgentCard(
        name="Florist",
        description="Sells flowers.",
        version="1",
        supported_interfaces=[interface],
        capabilities=AgentCapabilities(),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="prices", name="Prices", description="Tells prices.", tags=["x"])],
    )
    handler = DefaultRequestHandler(
        agent_executor=Florist(), task_store=InMemoryTaskStore(), agent_card=card
    )
    app = Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True),
            *create_rest_routes(handler),
        ]
    )
    running = RunningApp(
        uvicorn.Config(app, "127.0.0.1", 0, log_config=None, timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(running.serve())
    try:
        async with asyncio.timeout(60):
            await running.ready.wait()
        url = f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
        card.supported_interfaces[0].url = f"{url}/rpc" if binding == "JSONRPC" else url
        yield url
    finally:
        running.should_exit = True
        await task
