"""Carries out the operations of A2A for every form: send, list, subscribe."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from aitp_desk.agent.base import Clarification
from aitp_desk.agent.history.message_codec import write_reply
from aitp_desk.agent.history.offer import Offer
from aitp_desk.config import THREADS
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.tools.json_arguments import split_consent, split_payment
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.direct.calls import DirectCall
from aitp_desk.desk.tasks.types import TaskMessage
from aitp_desk.desk.threads.streams import Stream
from aitp_desk.model.calls.task import Push, Result, Task, TaskState
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import METADATA_VALUE_LENGTH, Attachment, Draft
from aitp_desk.model.errors import (
    InvalidRequest,
    MissingField,
    RequestNotFound,
    TaskIsOver,
    TaskNotFound,
    UnsupportedMedia,
)
from aitp_desk.protocols.a2a.members import ObjectReader
from aitp_desk.protocols.a2a.requests_wire import SendParams, read_list, write_token
from aitp_desk.protocols.a2a.stream_wire import Event, TaskEventFormat
from aitp_desk.protocols.a2a.tasks_wire import MESSAGE_ID, TaskWriter
from aitp_desk.protocols.base.call_members import MAX_INTENT, MAX_QUESTION
from aitp_desk.protocols.base.payments.x402_wire import read_payment
from aitp_desk.protocols.base.protocol import Call
from aitp_desk.protocols.base.sse import KEEPALIVE

BEAT_SECONDS = 15.0
MAX_WAIT = 20.0
"""The longest wait in seconds: clients commonly give up after 30."""
FILE_PURPOSE = "a2a"
_INTENT = "intent"


class _NoRun(Exception):
    """Raised when a message started no run that could be followed."""


async def send_message(desk: Desk, call: Call, params: SendParams) -> Task:
    """Send a message, and wait for its outcome where the caller asks for that.

    The wait is bounded by ``threads.max_wait`` and :data:`MAX_WAIT`, and never includes people: the
    task is then returned unfinished.
    """
    task = await _begin(desk, call, params)
    if not params.blocks or task.waits_for_people:
        return task
    call.release_slot()
    return await desk.tasks.wait_for_rest(call.principal, task, min(desk.max_wait, MAX_WAIT))


async def send_streaming(
    desk: Desk, call: Call, params: SendParams, words: TaskWriter, event: Event
) -> Stream:
    """Send a message, and stream its outcome."""
    begun: list[Task] = []
    if _called(params) is not None or params.payment is not None:
        task = await _begin(desk, call, params)
        return await _follow_call(desk, call, task, words, event, params.history_length)

    async def start() -> Run:
        task = await _begin(desk, call, params)
        if task.run_id is None:
            begun.append(task)
            raise _NoRun
        # it may have been answered by now; the stream reports that in order
        begun.append(replace(task, state=TaskState.SUBMITTED, asks=None, result=None))
        return await desk.tasks.find_run(call.principal, task)

    def word(_run: Run) -> TaskEventFormat:
        return TaskEventFormat(begun[0], words, event, params.history_length)

    try:
        return await desk.streams.open_run(call.principal, start, word)
    except _NoRun:
        return await _follow_call(desk, call, begun[0], words, event, params.history_length)


async def subscribe(
    desk: Desk, call: Call, task_id: str, words: TaskWriter, event: Event
) -> Stream:
    """Follow a task from now on.

    Raises:
        TaskIsOver: the task has ended.
    """
    task = await desk.tasks.get_task(call.principal, task_id)
    if task.state.is_over:
        raise TaskIsOver(f"This task is {task.state.value}. Get it to read its result.", param="id")
    if task.run_id is None or task.state.is_at_rest:
        return await _follow_call(desk, call, task, words, event, None)

    async def start() -> Run:
        return await desk.tasks.find_run(call.principal, task)

    return await desk.streams.open_run(
        call.principal, start, lambda _run: TaskEventFormat(task, words, event)
    )


async def list_tasks(
    desk: Desk, call: Call, params: ObjectReader, words: TaskWriter
) -> dict[str, Any]:
    """Return one page of the caller's tasks, the newest first."""
    wanted = read_list(params)
    page = await desk.tasks.listing.list_page(
        call.principal,
        context=wanted.context,
        state=wanted.state,
        after=wanted.after,
        since=wanted.since,
        limit=wanted.limit,
    )
    tasks = [
        words.task(task, wanted.history_length, with_artifacts=wanted.with_artifacts)
        for task in page.tasks
    ]
    return {
        "tasks": tasks,
        "nextPageToken": write_token(page.after),
        "pageSize": wanted.limit,
        "totalSize": page.total,
    }


async def find_push(desk: Desk, call: Call, task_id: str, push_id: str) -> Push:
    """Return one notification address of a task; without an id the first one.

    Raises:
        TaskNotFound: it does not exist.
    """
    for push in await desk.task_receivers.list_receivers(call.principal, task_id):
        if push_id in ("", push.id, task_id):
            return push
    raise TaskNotFound(
        "No push notification configuration with this id exists for this task.", param="id"
    )


async def _begin(desk: Desk, call: Call, params: SendParams) -> Task:
    sent = TaskMessage(params.context, params.task_id, params.push, call.mark)
    request = RequestInfo(
        call.method, call.path, call.body, call.headers.get("Idempotency-Key"), hops=_hops(call)
    )
    called = _called(params)
    if called is not None:
        name = called["action"]
        if name in OWN_NAMES:
            return await _ask(desk, call, sent, name, called)
        asked = _direct(name, called, params.payment)
        if asked.payment is not None:
            call.release_slot()
        return await desk.tasks.call_action(
            call.principal, sent, asked, called, request, call.allowance
        )
    if params.payment is not None:
        if not sent.task_id:
            raise InvalidRequest(
                "A payment must name its task in taskId, or come with the call that it pays.",
                param="message.taskId",
            )
        call.release_slot()
        return await desk.tasks.pay_call(call.principal, sent, params.payment)
    if call.allowance is not None:
        call.allowance.check_action(THREADS)
    for file in params.parts.files:
        if file.media_type and not desk.files.accepts_type(file.media_type):
            raise UnsupportedMedia(
                f"This site does not accept files of the type {file.media_type[:64]}.",
                param="message.parts",
            )
    if params.parts.files:
        await desk.tasks.check(call.principal, sent)  # a refused message is not stored
    files = [
        await desk.files.save_file(
            call.principal, file.name or "file", FILE_PURPOSE, file.data, None
        )
        for file in params.parts.files
    ]
    answer_reader = _answering(params)
    if answer_reader is not None:
        draft = await _answer(desk, call, sent, answer_reader)
        noted = msgspec.structs.replace(draft, metadata=_noted(params))
        return await desk.tasks.send_message(call.principal, sent, noted, request)
    texts = params.parts.texts
    if not any(text.strip() for text in texts):
        texts = (*texts, *(file.name for file in files))
    draft = Draft(
        "user",
        texts,
        tuple(Attachment(file.id) for file in files),
        metadata=_noted(params),
    )
    return await desk.tasks.send_message(call.principal, sent, draft, request)


def _noted(params: SendParams) -> dict[str, str]:
    """Return the metadata of a message: its sender's id."""
    is_short = len(params.message_id) <= METADATA_VALUE_LENGTH
    return {MESSAGE_ID: params.message_id} if is_short else {}


def _answering(params: SendParams) -> ObjectReader | None:
    """Return the answer in a message; None for any other message.

    An answer is a single data part that names a request and answers it.
    """
    parts = params.parts
    if len(parts.data) != 1 or parts.files or len(parts.texts) != 1:
        return None
    (data,) = parts.data
    is_one = isinstance(data, dict) and isinstance(data.get("request"), str) and "answer" in data
    return ObjectReader(data, "message.parts[0].data.") if is_one else None


async def _answer(desk: Desk, call: Call, sent: TaskMessage, answer_reader: ObjectReader) -> Draft:
    """Return the message that answers an open request.

    Raises:
        RequestNotFound: no open request has this name.
        InvalidRequest: the answer does not fit the form.
    """
    if sent.task_id:
        thread_id = (await desk.tasks.get_task(call.principal, sent.task_id)).thread_id
    else:
        thread_id = await desk.sessions.find_thread(call.principal, sent.context)
    named = answer_reader.get_text("capability"), answer_reader.get_text("request")
    answer = answer_reader.get_object("answer")
    given = answer_reader.get_value("answer") or {}
    try:
        return await desk.open_requests.draft_answer(call.principal, thread_id, named, given)
    except RequestNotFound as error:
        error.param = answer_reader.get_path("request")
        raise
    except InvalidRequest as error:
        error.param = (
            answer.get_path(error.param) if error.param else answer_reader.get_path("answer")
        )
        raise


async def _ask(
    desk: Desk, call: Call, sent: TaskMessage, name: str, called: dict[str, Any]
) -> Task:
    """Ask one of the desk's own actions, which take text."""
    arguments = ObjectReader(called.get("arguments", {}), "message.parts[0].data.arguments.")
    query = arguments.get_text("query", MAX_QUESTION) or desk.registry.get_action(name).summary
    session_id = sent.context or None
    await desk.tasks.check(call.principal, sent)
    if sent.task_id:
        session_id = (await desk.tasks.get_task(call.principal, sent.task_id)).context
    ask = AskRequest(action=name, query=query, session_id=session_id, may_match=True)
    asked = await desk.conversations.ask(call.principal, ask, call.allowance)
    outcome = asked.outcome
    payload = outcome.payload if isinstance(outcome, Offer) else None
    data = None if payload is None else msgspec.json.decode(payload)
    is_asking = isinstance(outcome, Clarification)
    return await desk.tasks.record_turn(
        call.principal,
        replace(sent, context=asked.session_id),
        called,
        TaskState.INPUT_REQUIRED if is_asking else TaskState.COMPLETED,
        Result(write_reply(outcome, desk.site.url), data),
    )


def _called(params: SendParams) -> dict[str, Any] | None:
    """Return the call in a message; None for any other message.

    A call is a single data part that names an action.

    Raises:
        MissingField: arguments without an action, which are no question either.
    """
    parts = params.parts
    if len(parts.data) != 1 or parts.files or len(parts.texts) != 1:
        return None
    (data,) = parts.data
    if not isinstance(data, dict):
        return None
    if "arguments" in data and "action" not in data:
        raise MissingField(
            "`action` is required next to `arguments`: the id of a skill of the agent card.",
            param="action",
        )
    return data if isinstance(data.get("action"), str) else None


def _direct(name: str, called: dict[str, Any], payment: Mapping[str, Any] | None) -> DirectCall:
    """Return a call by its arguments.

    Parameters:
        payment: from the message's metadata.
    """
    given = called.get("arguments", {})
    if not isinstance(given, dict):
        raise InvalidRequest(
            "arguments must be an object.", param="message.parts[0].data.arguments"
        )
    intent = called.get(_INTENT)
    if intent is not None and not (isinstance(intent, str) and len(intent) <= MAX_INTENT):
        raise InvalidRequest(
            f"intent must be a text of at most {MAX_INTENT} characters.",
            param="message.parts[0].data.intent",
        )
    arguments, consent = split_consent(given)
    arguments, member = split_payment(arguments)
    return DirectCall(name, arguments, consent, intent, payment=read_payment(member, payment))


async def _follow_call(
    desk: Desk,
    call: Call,
    task: Task,
    words: TaskWriter,
    event: Event,
    history_length: int | None,
) -> Stream:
    """Stream a task without a run: its present state, then its end."""

    async def tell() -> AsyncIterator[bytes]:
        yield event(words.task_event(task, history_length))
        now = task
        while now.call_id is not None and not now.state.is_at_rest:
            try:
                now = await desk.tasks.wait_for_rest(call.principal, now, BEAT_SECONDS)
            except TaskNotFound:  # the caller has lost access, or it was deleted
                return
            if not now.state.is_at_rest:
                yield KEEPALIVE
        if now is not task:
            if now.result is not None:
                yield event(
                    words.artifact_event(
                        now, f"{now.call_id}-result", now.result, appends=False, is_last=True
                    )
                )
            yield event(words.status_event(now, now.state, now.asks, now.changed_at))

    return await desk.streams.open_pieces(call.principal, tell)


def _hops(call: Call) -> int:
    given = call.headers.get("Desk-Hops", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 4 else 0
