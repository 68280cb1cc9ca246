"""AITP 0.1's Threads and Messages as JSON, to and from the model.

The shapes are those of the AITP Thread Specification, with the members that clients of the OpenAI
Threads API look for (``object``, ``status``, list pages). Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from aitp_desk.model.errors import DeskError, ErrorKind, InvalidRequest, MissingField
from aitp_desk.model.run import Run
from aitp_desk.model.thread import Actor, Attachment, Draft, Message, Thread, ThreadDraft
from aitp_desk.protocols.refusal import refusal_headers, status_of
from aitp_desk.protocols.reply import Reply
from aitp_desk.protocols.strict_json import decode_json

DEFAULT_PAGE = 20
MAX_PAGE = 100
_encode = msgspec.json.Encoder().encode
_DIGITS = re.compile(r"\d{1,3}", re.ASCII)
_PREFERENCE = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*+")++')
_WAIT = re.compile(r'\s*wait\s*=\s*(?:(\d+)|"(\d+)")\s*(?:;.*)?', re.IGNORECASE | re.ASCII)
_LONGEST_WAIT = 1_000_000


class Page(msgspec.Struct, frozen=True):
    """Which part of a list is asked for.

    Parameters:
        limit: 1 to 100 items.
        order: by time of creation.
        after: id of the item before the first one wanted.
        before: id of the item after the last one wanted.
    """

    limit: int = DEFAULT_PAGE
    order: Literal["asc", "desc"] = "desc"
    after: str | None = None
    before: str | None = None


# --- in -------------------------------------------------------------------------------------


def decode_thread(body: bytes) -> ThreadDraft:
    """Read the body of a create-thread call; an empty body is an empty thread.

    Source: AITP 0.1, Threads API, Create thread. Members that the desk does not know pass,
    for compatibility with the OpenAI API (AITP 0.1, Compatibility).

    Raises:
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    given = _object(decode_json(body) if body.strip() else {}, None)
    messages = _list(given.get("messages"), "messages")
    metadata = dict(_object(given.get("metadata"), "metadata"))
    if metadata.pop("parent_id", None) is not None:
        raise InvalidRequest(
            "Forking a thread is not served: leave parent_id out or null.",
            param="metadata.parent_id",
        )
    inside = metadata.pop("actors", None)
    if inside is not None and given.get("actors") is not None:
        raise InvalidRequest(
            "Name the actors once: in metadata.actors or in actors.", param="actors"
        )
    name = "actors" if inside is None else "metadata.actors"
    actors = _list(given.get("actors") if inside is None else inside, name)
    return ThreadDraft(
        tuple(_draft(message, f"messages[{i}]") for i, message in enumerate(messages)),
        tuple(_actor(actor, f"{name}[{i}]") for i, actor in enumerate(actors)),
        _strings(metadata, "metadata"),
    )


def decode_message(body: bytes) -> Draft:
    """Read the body of a create-message call.

    Source: AITP 0.1, Messages API, Create message: ``role``, ``content`` (a string or an array),
    ``attachments``. An absent role is ``user``.

    Raises:
        MissingField: there is no content.
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    given = decode_json(body) if body.strip() else {}
    if not isinstance(given, dict):
        raise InvalidRequest('A message is a JSON object such as {"role": "user", "content": "…"}.')
    return _draft(given, "")


def decode_update(body: bytes) -> dict[str, str] | None:
    """Read the body of a POST to a thread: None retrieves, a metadata object updates.

    Source: AITP 0.1, Threads API, Retrieve thread (a POST). The OpenAI API updates by this call.

    Raises:
        InvalidRequest: the body or its metadata has the wrong shape.
    """
    given = _object(decode_json(body) if body.strip() else {}, None)
    if given.get("metadata") is None:
        return None
    metadata = dict(_object(given["metadata"], "metadata"))
    for name in ("actors", "parent_id"):
        if name in metadata:
            raise InvalidRequest(
                f"metadata.{name} is set when the thread is opened and cannot be changed here.",
                param=f"metadata.{name}",
            )
    return _strings(metadata, "metadata")


def decode_page(query: Mapping[str, str]) -> Page:
    """Read ``limit, order, after, before`` from a query string.

    Raises:
        InvalidRequest: a value is out of range, or both ``after`` and ``before`` are given.
    """
    limit = query.get("limit", str(DEFAULT_PAGE))
    if not (_DIGITS.fullmatch(limit) and 1 <= int(limit) <= MAX_PAGE):
        raise InvalidRequest(f"limit is a whole number from 1 to {MAX_PAGE}.", param="limit")
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise InvalidRequest("order is asc or desc.", param="order")
    after, before = query.get("after") or None, query.get("before") or None
    if after and before:
        raise InvalidRequest("Give after or before, not both.", param="before")
    return Page(int(limit), "asc" if order == "asc" else "desc", after, before)


def decode_wait(prefer: str) -> float | None:
    """Seconds that a ``Prefer: wait=N`` header asks to wait (RFC 7240, 4.3); None without one.

    Of several the first counts. What stands behind a semicolon is a preference's parameter.
    """
    for preference in _PREFERENCE.findall(prefer):
        found = _WAIT.fullmatch(preference)
        if found is not None:
            digits = found[1] or found[2]
            return float(digits) if len(digits) < len(str(_LONGEST_WAIT)) else float(_LONGEST_WAIT)
    return None


def decode_hops(header: str | None) -> int:
    """How many desks a message has passed already, from its ``Desk-Hops`` header.

    Raises:
        InvalidRequest: the header is not a small whole number.
    """
    if header is None:
        return 0
    if not _DIGITS.fullmatch(header):
        raise InvalidRequest("Desk-Hops is a whole number.", param="Desk-Hops")
    return int(header)


def _draft(given: Any, at: str) -> Draft:
    if isinstance(given, str):
        return Draft("user", (given,))
    if not isinstance(given, dict):
        raise InvalidRequest("A message is a string or an object with role and content.", param=at)
    prefix = f"{at}." if at else ""
    if given.get("content") is None:
        raise MissingField(
            "A message needs content: a string or a list of strings.", param=f"{prefix}content"
        )
    role = given.get("role", "user")
    if not isinstance(role, str):
        raise InvalidRequest("role is a string.", param=f"{prefix}role")
    metadata = dict(_object(given.get("metadata"), f"{prefix}metadata"))
    actor = metadata.pop("actor", None)
    if actor is not None and not isinstance(actor, str):
        raise InvalidRequest("metadata.actor is a string.", param=f"{prefix}metadata.actor")
    attachments = _list(given.get("attachments"), f"{prefix}attachments")
    return Draft(
        role,
        _content(given["content"], f"{prefix}content"),
        tuple(_attachment(file, f"{prefix}attachments[{i}]") for i, file in enumerate(attachments)),
        actor,
        _strings(metadata, f"{prefix}metadata"),
    )


def _content(given: Any, at: str) -> tuple[str, ...]:
    parts = given if isinstance(given, list) else [given]
    return tuple(_text(part, at) for part in parts)


def _text(part: Any, at: str) -> str:
    """A part of text: a string, or OpenAI's ``{"type": "text", "text": …}``."""
    if isinstance(part, dict) and part.get("type") == "text":
        part = part.get("text")
        if isinstance(part, dict):
            part = part.get("value")
    if not isinstance(part, str):
        raise InvalidRequest("content is a string or a list of strings.", param=at)
    return part


def _attachment(given: Any, at: str) -> Attachment:
    file = _object(given, at)
    if not isinstance(file.get("file_id"), str) or not file["file_id"]:
        raise MissingField("An attachment names its file_id.", param=f"{at}.file_id")
    tools = _list(file.get("tools"), f"{at}.tools")
    if not all(isinstance(tool, dict) and isinstance(tool.get("type"), str) for tool in tools):
        raise InvalidRequest(
            'A tool is an object such as {"type": "file_search"}.', param=f"{at}.tools"
        )
    return Attachment(file["file_id"], tuple(tool["type"] for tool in tools))


def _actor(given: Any, at: str) -> Actor:
    if isinstance(given, str):
        return Actor(given)
    actor = _object(given, at)
    if not isinstance(actor.get("id"), str):
        raise MissingField("An actor has an id: an URL or a name.", param=f"{at}.id")
    capabilities = _list(actor.get("capabilities"), f"{at}.capabilities")
    return Actor(
        actor["id"],
        tuple(_capability(c, f"{at}.capabilities[{i}]") for i, c in enumerate(capabilities)),
    )


def _capability(given: Any, at: str) -> str:
    """A capability in any published form: ``{"schema": …}``, ``{"$schema": …}``, a string."""
    if isinstance(given, dict):
        given = given.get("schema", given.get("$schema", given.get("id")))
    if not isinstance(given, str):
        raise InvalidRequest(
            'A capability is {"schema": "https://…"} or its schema\'s URL.', param=at
        )
    return given


def _object(given: Any, at: str | None) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InvalidRequest(f"{at or 'The body'} is a JSON object.", param=at)
    return given


def _list(given: Any, at: str) -> list[Any]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise InvalidRequest(f"{at} is a list.", param=at)
    return given


def _strings(given: dict[str, Any], at: str) -> dict[str, str]:
    for key, value in given.items():
        if not isinstance(value, str):
            raise InvalidRequest("A metadata value is a string.", param=f"{at}.{key[:64]}")
    return given


# --- out ------------------------------------------------------------------------------------


def thread_body(thread: Thread, messages: Sequence[Message]) -> dict[str, Any]:
    """A thread as the AITP Thread Specification has it, with its newest messages in order."""
    return {
        "id": thread.id,
        "object": "thread",
        "created_at": thread.created_at,
        "messages": [message_body(message) for message in messages],
        "metadata": {
            **thread.metadata,
            "parent_id": thread.parent_id,
            "actors": [
                {"id": actor.id, "capabilities": [{"schema": s} for s in actor.capabilities]}
                for actor in thread.actors
            ],
        },
    }


def message_body(message: Message) -> dict[str, Any]:
    """A message as the AITP Thread Specification has it."""
    return {
        "id": message.id,
        "object": "thread.message",
        "created_at": message.created_at,
        "thread_id": message.thread_id,
        "status": "completed",
        "role": message.role,
        "content": message.content,
        "attachments": [
            {"file_id": file.file_id, "tools": [{"type": tool} for tool in file.tools]}
            for file in message.attachments
        ],
        "metadata": {**message.metadata, "actor": message.actor},
        "run_id": message.run_id,
    }


def encode_thread(
    thread: Thread, messages: Sequence[Message], run: Run | None, replies: Sequence[Message] | None
) -> Reply:
    """The answer of a create, retrieve or update thread call; see :func:`_with_run`."""
    return _with_run(thread_body(thread, messages), run, replies)


def encode_message(message: Message, run: Run | None, replies: Sequence[Message] | None) -> Reply:
    """The answer of a create-message call; see :func:`_with_run`."""
    return _with_run(message_body(message), run, replies)


def encode_messages(messages: Sequence[Message], has_more: bool) -> Reply:
    """One page of a thread's messages, in the OpenAI API's list form."""
    return Reply(
        200,
        _encode(
            {
                "object": "list",
                "data": [message_body(message) for message in messages],
                "first_id": messages[0].id if messages else None,
                "last_id": messages[-1].id if messages else None,
                "has_more": has_more,
            }
        ),
    )


def _with_run(body: dict[str, Any], run: Run | None, replies: Sequence[Message] | None) -> Reply:
    """Where the caller preferred to wait, its object gets ``run`` and ``replies`` as well.

    ``replies`` is None where nobody waited, empty where the run is not ready yet.
    """
    if replies is None:
        return Reply(200, _encode(body))
    body["run"] = run and {
        "id": run.id,
        "object": "thread.run",
        "thread_id": run.thread_id,
        "status": run.state.value,
        "created_at": run.created_at,
        "last_error": run.error and {"code": "server_error", "message": run.error},
    }
    body["replies"] = [message_body(reply) for reply in replies]
    return Reply(200, _encode(body), headers=(("Preference-Applied", "wait"),))


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """A refusal in the OpenAI API's form: ``{"error": {"message", "type", "param", "code"}}``."""
    body = {
        "error": {
            "message": error.message,
            "type": _error_type(error.kind),
            "param": error.param,
            "code": error.kind.value,
        }
    }
    return Reply(status_of(error.kind), _encode(body), headers=refusal_headers(error))


def _error_type(kind: ErrorKind) -> str:
    match kind:
        case ErrorKind.NOT_AUTHENTICATED:
            return "authentication_error"
        case ErrorKind.FORBIDDEN:
            return "permission_error"
        case ErrorKind.RATE_LIMITED:
            return "rate_limit_error"
        case ErrorKind.UNAVAILABLE | ErrorKind.INTERNAL:
            return "server_error"
        case _:
            return "invalid_request_error"
