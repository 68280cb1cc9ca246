"""Serves the OpenAI API's responses: each is a run on a thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import ThreadDraft
from aitp_desk.model.errors import ResourceNotFound, RunNotFound, ThreadNotFound
from aitp_desk.protocols.aitp import wire
from aitp_desk.protocols.aitp.agents_wire import find_model
from aitp_desk.protocols.aitp.responses.drafts_wire import ResponseRequest, decode_response
from aitp_desk.protocols.aitp.responses.stream_wire import ResponseFormat
from aitp_desk.protocols.aitp.responses.wire import read_id, write_input, write_response
from aitp_desk.protocols.aitp.runs.further_desks import FurtherDesks, count_there
from aitp_desk.protocols.aitp.wire import MAX_PAGE
from aitp_desk.protocols.base.protocol import EVENT_STREAM, Call, Reply, Route
from aitp_desk.protocols.base.sse import UNBUFFERED
from aitp_desk.store.records.pages import PageRequest


async def create_response(others: FurtherDesks, desk: Desk, call: Call) -> Reply:
    """``POST /v1/responses``."""
    draft = decode_response(call.body)
    previous = draft.previous
    desk, call = others.choose(desk, call, draft.model)
    agent = find_model((*desk.agents, *others.agents), draft.model)
    start, continued = await _find_start(desk, call, draft, agent.id)
    if draft.streams:

        def word(run: Run) -> ResponseFormat:
            agent = desk.agents.find_for_run(run.agent)
            return ResponseFormat(agent, continued=continued, previous=previous)

        ended = None if draft.is_kept else desk.disposal.dispose
        stream = await desk.streams.open_run(call.principal, start, word, ended)
        return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)
    run = await start()
    call.release_slot()
    seconds = 0 if draft.is_background else desk.max_wait
    followed, replies = await desk.reader.wait_for_run(call.principal, run.id, seconds)
    run = followed or run
    if not draft.is_kept:
        await desk.disposal.dispose(run)
    response = write_response(
        run,
        desk.agents.find_for_run(run.agent),
        replies,
        continued=continued,
        previous=previous,
        is_background=draft.is_background,
    )
    return Reply(200, wire.encode(response))


async def retrieve_response(others: FurtherDesks, desk: Desk, call: Call) -> Reply:
    """``GET /v1/responses/{id}``."""
    desk, call, run, continued = await _find(others, desk, call)
    followed, replies = await desk.reader.wait_for_run(call.principal, run.id, 0)
    agent = desk.agents.find_for_run(run.agent)
    return Reply(
        200, wire.encode(write_response(followed or run, agent, replies, continued=continued))
    )


async def cancel_response(others: FurtherDesks, desk: Desk, call: Call) -> Reply:
    """``POST /v1/responses/{id}/cancel``."""
    asked = (others, desk, call)
    desk, call, run, continued = await _find(*asked)
    if run.is_over:
        return await retrieve_response(*asked)
    run = await desk.runs.cancel(call.principal, run.thread_id, run.id)
    agent = desk.agents.find_for_run(run.agent)
    return Reply(200, wire.encode(write_response(run, agent, (), continued=continued)))


async def delete_response(others: FurtherDesks, desk: Desk, call: Call) -> Reply:
    """``DELETE /v1/responses/{id}``: its question and its answer leave the thread."""
    desk, call, run, _ = await _find(others, desk, call)
    if not run.is_over:
        await desk.runs.cancel(call.principal, run.thread_id, run.id)
    await desk.deletion.delete_exchange(call.principal, run)
    return wire.encode_deleted(call.params["response_id"], "response")


async def list_input(others: FurtherDesks, desk: Desk, call: Call) -> Reply:
    """``GET /v1/responses/{id}/input_items``."""
    desk, call, run, _ = await _find(others, desk, call)
    part = wire.decode_page(call.query)
    given = await desk.reader.read_input(call.principal, run)
    page = part.cut([write_input(one) for one in given], "an input item of this response")
    return wire.encode_list(page.items, page.has_more)


async def _find(others: FurtherDesks, desk: Desk, call: Call) -> tuple[Desk, Call, Run, int]:
    """Return the run of a response, and the desk that has made it."""
    run_id, continued = read_id(call.params["response_id"], "response_id")
    for one, seen in others.see_all(desk, call):
        with suppress(ResourceNotFound):
            run = await _find_run(one, seen, run_id, "response_id")
            return one, seen if one is desk else count_there(one, seen, "static"), run, continued
    raise ResourceNotFound("There is no response with this id.", param="response_id")


async def _find_run(desk: Desk, call: Call, run_id: str, param: str) -> Run:
    try:
        return await desk.runs.find_asked(call.principal, run_id)
    except RunNotFound:
        raise ResourceNotFound("There is no response with this id.", param=param) from None


async def _find_start(
    desk: Desk, call: Call, draft: ResponseRequest, agent_id: str
) -> tuple[Callable[[], Awaitable[Run]], int]:
    """Return what starts or continues the run, and how often it was continued."""
    run = msgspec.structs.replace(draft.run, agent=agent_id)
    request = msgspec.structs.replace(wire.read_request(call), manual=True)
    principal, begun = call.principal, draft.begun
    if begun is not None:
        place = (principal, begun.thread_id, begun.run_id)
        waiting, page = await desk.runs.steps(*place, PageRequest(MAX_PAGE, "asc"))
        continued = sum(step.message_id is None for step in page.items)
        owed = {owed.id for owed in waiting.owed}
        # a caller that sends all that was said repeats the outputs of earlier calls
        outputs = [one for one in begun.outputs if one.call_id in owed] or begun.outputs
        return lambda: desk.runs.submit(*place, outputs), continued
    thread_id = draft.thread_id
    if draft.previous is not None:
        run_id, _ = read_id(draft.previous, "previous_response_id")
        thread_id = (await _find_run(desk, call, run_id, "previous_response_id")).thread_id
    if thread_id is None:
        thread = ThreadDraft(draft.messages)
        also = None if draft.is_kept else desk.disposal.make_job(principal)
        return lambda: desk.runs.start_with_thread(principal, thread, run, request, also), 0
    going_on = msgspec.structs.replace(run, messages=draft.messages)

    async def go_on() -> Run:
        try:
            return await desk.runs.start(principal, thread_id, going_on, request)
        except ThreadNotFound as error:
            raise ThreadNotFound(error.message, param="conversation") from None

    return go_on, 0


def response_routes(max_body: int, others: FurtherDesks) -> tuple[Route, ...]:
    """Return the routes of responses.

    Parameters:
        max_body: the most bytes of a body.
        others: whose agents may be named as well.
    """
    response = "/v1/responses/{response_id}"
    return (
        Route("POST", "/v1/responses", partial(create_response, others), "converse", max_body),
        Route("GET", response, partial(retrieve_response, others), "static"),
        Route("DELETE", response, partial(delete_response, others), "converse"),
        Route("GET", f"{response}/input_items", partial(list_input, others), "static"),
        Route("POST", f"{response}/cancel", partial(cancel_response, others), "converse", max_body),
    )
