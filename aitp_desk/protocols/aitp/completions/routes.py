"""Serves the OpenAI API's chat completions: each is a run on a thread."""

from __future__ import annotations

from functools import partial

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.errors import Unavailable
from aitp_desk.protocols.aitp import wire
from aitp_desk.protocols.aitp.agents_wire import find_model
from aitp_desk.protocols.aitp.completions.stream_wire import CompletionFormat
from aitp_desk.protocols.aitp.completions.wire import decode_completion, write_completion
from aitp_desk.protocols.aitp.runs.further_desks import FurtherDesks
from aitp_desk.protocols.base.protocol import EVENT_STREAM, Call, Reply, Route
from aitp_desk.protocols.base.sse import UNBUFFERED

NO_RETRY = ("x-should-retry", "false")
"""A header by which the OpenAI SDK does not repeat a request."""


async def create_completion(others: FurtherDesks, desk: Desk, call: Call) -> Reply:
    """``POST /v1/chat/completions``."""
    draft = decode_completion(call.body)
    desk, call = others.choose(desk, call, draft.model)
    agent = find_model((*desk.agents, *others.agents), draft.model)
    run_draft = msgspec.structs.replace(draft.run, agent=agent.id)
    request = msgspec.structs.replace(wire.read_request(call), manual=True)

    async def start() -> Run:
        if (begun := draft.begun) is not None:
            return await desk.runs.submit(
                call.principal, begun.thread_id, begun.run_id, begun.outputs
            )
        also = None if draft.is_kept else desk.disposal.make_job(call.principal)
        return await desk.runs.start_with_thread(
            call.principal, draft.thread, run_draft, request, also
        )

    if draft.streams:

        def word(run: Run) -> CompletionFormat:
            return CompletionFormat(run, draft.model, counts_tokens=draft.counts_tokens)

        ended = None if draft.is_kept else desk.disposal.dispose
        stream = await desk.streams.open_run(call.principal, start, word, ended)
        return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)
    run = await start()
    call.release_slot()
    followed, replies = await desk.reader.wait_for_run(call.principal, run.id, desk.max_wait)
    if followed is None:
        raise Unavailable("The conversation was deleted.")
    if not draft.is_kept:
        await desk.disposal.dispose(followed)
    try:
        completion = write_completion(followed, draft.model, replies)
    except Unavailable as error:  # the SDK would repeat it, each time as another run
        reply = wire.render_error(error, call.headers)
        return msgspec.structs.replace(reply, headers=(*reply.headers, NO_RETRY))
    return Reply(200, wire.encode(completion))


def completion_routes(max_body: int, others: FurtherDesks) -> tuple[Route, ...]:
    """Return the routes of chat completions.

    Parameters:
        max_body: the most bytes of a body.
        others: whose agents may be named as well.
    """
    create = partial(create_completion, others)
    return (Route("POST", "/v1/chat/completions", create, "converse", max_body),)
