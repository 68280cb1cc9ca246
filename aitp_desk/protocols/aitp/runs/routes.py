"""Serves runs and their steps at the OpenAI API's addresses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.conversation.run import Run
from aitp_desk.protocols.aitp import wire
from aitp_desk.protocols.aitp.runs import drafts_wire as run_drafts_wire
from aitp_desk.protocols.aitp.runs import wire as runs_wire
from aitp_desk.protocols.aitp.runs.stream_wire import OpenAiRunFormat
from aitp_desk.protocols.aitp.threads.affordances import describe_run, describe_runs
from aitp_desk.protocols.base.preferences import decode_wait
from aitp_desk.protocols.base.protocol import EVENT_STREAM, Call, Reply, Route, with_description
from aitp_desk.protocols.base.sse import UNBUFFERED


async def create_run(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/runs``."""
    draft = run_drafts_wire.decode_run(call.body)
    thread_id, request = call.params["thread_id"], wire.read_request(call)
    return await _answer(
        desk, call, lambda: desk.runs.start(call.principal, thread_id, draft, request), is_new=True
    )


async def create_thread_and_run(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/runs``."""
    thread, draft = run_drafts_wire.decode_thread_and_run(call.body)
    request = wire.read_request(call)
    return await _answer(
        desk,
        call,
        lambda: desk.runs.start_with_thread(call.principal, thread, draft, request),
        is_new=True,
    )


async def list_runs(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/runs``."""
    page = await desk.runs.list(
        call.principal,
        call.params["thread_id"],
        wire.decode_page(call.query),
    )
    bodies = [
        runs_wire.write_run(
            run, desk.agents.find_for_run(run.agent), dialect=wire.read_dialect(call.headers)
        )
        for run in page.items
    ]
    return wire.encode_list(bodies, page.has_more)


async def retrieve_run(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/runs/{run}``."""
    run = await desk.runs.retrieve(call.principal, call.params["thread_id"], call.params["run_id"])
    return _encode(desk, call, run)


async def retrieve_or_update_run(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/runs/{run}``: without metadata retrieves, with it updates."""
    metadata = run_drafts_wire.decode_run_update(call.body)
    if metadata is None:
        return await retrieve_run(desk, call)
    run = await desk.runs.update(
        call.principal, call.params["thread_id"], call.params["run_id"], metadata
    )
    return _encode(desk, call, run)


async def cancel_run(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/runs/{run}/cancel``."""
    run = await desk.runs.cancel(call.principal, call.params["thread_id"], call.params["run_id"])
    return _encode(desk, call, run)


async def submit_outputs(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/runs/{run}/submit_tool_outputs``."""
    outputs = run_drafts_wire.decode_outputs(call.body)
    thread_id, run_id = call.params["thread_id"], call.params["run_id"]
    return await _answer(
        desk,
        call,
        lambda: desk.runs.submit(call.principal, thread_id, run_id, outputs),
        is_new=False,
    )


async def list_steps(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/runs/{run}/steps``."""
    run, page = await desk.runs.steps(
        call.principal,
        call.params["thread_id"],
        call.params["run_id"],
        wire.decode_page(call.query),
    )
    agent = desk.agents.find_for_run(run.agent)
    bodies = [runs_wire.write_step(step, run, agent) for step in page.items]
    return wire.encode_list(bodies, page.has_more)


async def retrieve_step(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/runs/{run}/steps/{step}``."""
    params = call.params
    run, step = await desk.runs.step(
        call.principal, params["thread_id"], params["run_id"], params["step_id"]
    )
    return Reply(
        200, wire.encode(runs_wire.write_step(step, run, desk.agents.find_for_run(run.agent)))
    )


def run_routes(max_body: int) -> tuple[Route, ...]:
    """Return the routes of runs.

    Parameters:
        max_body: the most bytes of a body.
    """
    runs = "/v1/threads/{thread_id}/runs"
    run = f"{runs}/{{run_id}}"
    return (
        Route("POST", "/v1/threads/runs", create_thread_and_run, "converse", max_body),
        Route("POST", runs, create_run, "converse", max_body),
        Route("GET", runs, list_runs, "static", second=with_description(list_runs, describe_runs)),
        Route(
            "GET", run, retrieve_run, "static", second=with_description(retrieve_run, describe_run)
        ),
        Route("POST", run, retrieve_or_update_run, "converse", max_body),
        Route(
            "POST",
            f"{run}/cancel",
            cancel_run,
            "converse",
            max_body,
            second=with_description(cancel_run, describe_run),
        ),
        Route("POST", f"{run}/submit_tool_outputs", submit_outputs, "converse", max_body),
        Route("GET", f"{run}/steps", list_steps, "static"),
        Route("GET", f"{run}/steps/{{step_id}}", retrieve_step, "static"),
    )


async def _answer(
    desk: Desk, call: Call, start: Callable[[], Awaitable[Run]], *, is_new: bool
) -> Reply:
    """Queue a run; reply with the run or, with ``stream``, with its events.

    With ``Prefer: wait=N`` the reply is the run when it is over or waits for its caller, or after N
    seconds. A stream always waits.

    Parameters:
        is_new: whether the run is created by this call.
    """
    if not run_drafts_wire.decode_stream(call.body):
        run, seconds = await start(), decode_wait(call.get_list_header("Prefer"))
        if seconds is None:
            return _encode(desk, call, run)
        call.release_slot()
        followed, _ = await desk.reader.wait_for_run(
            call.principal, run.id, min(seconds, desk.max_wait)
        )
        waited = (("Preference-Applied", "wait"),)
        return msgspec.structs.replace(_encode(desk, call, followed or run), headers=waited)

    def word(run: Run) -> OpenAiRunFormat:
        agent = desk.agents.find_for_run(run.agent)
        return OpenAiRunFormat(run, agent, wire.read_dialect(call.headers), is_new=is_new)

    stream = await desk.streams.open_run(call.principal, start, word)
    return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)


def _encode(desk: Desk, call: Call, run: Run) -> Reply:
    agent = desk.agents.find_for_run(run.agent)
    return runs_wire.encode_run(run, agent, dialect=wire.read_dialect(call.headers))
