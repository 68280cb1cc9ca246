"""Reads and writes messages as JSON: create, list, and replies to a waiting caller.

Source: AITP 0.1, Thread Specification and Messages API. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import Attachment, Draft, Message, Origin
from aitp_desk.model.conversation.ticket import get_operator
from aitp_desk.model.error_kind import FailureCode
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.aitp.objects import Deleted, DeletedReply
from aitp_desk.protocols.aitp.shapes import decode_object, read_list, read_object, read_strings
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.wire import Dialect, encode, encode_list
from aitp_desk.protocols.base.protocol import Reply

OPENAI_TOOLS = frozenset({"code_interpreter", "file_search"})
"""The tools of an attachment in the OpenAI API; its clients accept no others."""


def decode_message(body: bytes) -> Draft:
    """Decode the body of a create-message call.

    Source: AITP 0.1, Messages API, Create message: ``role``, ``content`` (a string or an array),
    ``attachments``. An absent role is ``user``.

    Raises:
        MissingField: there is no content.
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    given = decode_json(body) if body.strip() else {}
    if not isinstance(given, dict):
        raise InvalidRequest(
            'A message must be a JSON object such as {"role": "user", "content": "…"}.'
        )
    return read_draft(given, "")


def decode_message_update(body: bytes) -> tuple[str | None, dict[str, str]] | None:
    """Decode the body of a POST to a message: None retrieves, metadata updates.

    Returns:
        ``metadata.actor``, where it is given, and the rest of the metadata.

    Raises:
        InvalidRequest: the body or its metadata has the wrong shape.
    """
    given = decode_object(body)
    return None if given.get("metadata") is None else _metadata(given["metadata"], "metadata")


def _metadata(given: Any, at: str) -> tuple[str | None, dict[str, str]]:
    """Return the actor that the metadata names, if any, and the rest of it."""
    metadata = dict(read_object(given, at))
    actor = metadata.pop("actor", None)
    if actor is not None and not isinstance(actor, str):
        raise InvalidRequest("`metadata.actor` must be a string.", param=f"{at}.actor")
    return actor, read_strings(metadata, at)


def read_draft(given: Any, at: str) -> Draft:
    """Return a message as its sender requests it.

    Parameters:
        at: its path in the body, such as ``messages[0]``; empty for the body itself.

    Raises:
        MissingField, InvalidRequest: as :func:`decode_message`.
    """
    if isinstance(given, str):
        return Draft("user", (given,))
    if not isinstance(given, dict):
        raise InvalidRequest(
            "A message must be a string or an object with role and content.", param=at
        )
    prefix = f"{at}." if at else ""
    if given.get("content") is None:
        raise MissingField(
            "A message needs `content`: a string or a list of strings.", param=f"{prefix}content"
        )
    role = given.get("role", "user")
    if not isinstance(role, str):
        raise InvalidRequest("`role` must be a string.", param=f"{prefix}role")
    actor: str | None = None
    metadata: dict[str, str] = {}
    if given.get("metadata") is not None:
        actor, metadata = _metadata(given["metadata"], f"{prefix}metadata")
    files = given.get("attachments")
    if files is not None:
        files = read_list(files, f"{prefix}attachments")
    said = given["content"]
    content = (said,) if isinstance(said, str) else _content(said, f"{prefix}content")
    attachments = _attachments(files, f"{prefix}attachments") if files else ()
    return Draft(role, content, attachments, actor, metadata)


def _content(given: Any, at: str) -> tuple[str, ...]:
    parts = given if isinstance(given, list) else [given]
    return tuple(_text(part, at) for part in parts)


def _text(part: Any, at: str) -> str:
    """Return a part of text: a string, or OpenAI's ``{"type": "text", "text": …}``."""
    if isinstance(part, dict) and part.get("type") == "text":
        part = part.get("text")
        if isinstance(part, dict):
            part = part.get("value")
    if not isinstance(part, str):
        raise InvalidRequest(
            "`content` must be a string, or a list of strings and text blocks. Send files"
            " as `attachments`.",
            param=at,
        )
    return part


def _attachments(given: Sequence[Any], at: str) -> tuple[Attachment, ...]:
    return tuple(_attachment(file, f"{at}[{i}]") for i, file in enumerate(given))


def _attachment(given: Any, at: str) -> Attachment:
    file = read_object(given, at)
    if not isinstance(file.get("file_id"), str) or not file["file_id"]:
        raise MissingField("An attachment needs a file_id.", param=f"{at}.file_id")
    tools = read_list(file.get("tools"), f"{at}.tools")
    if not all(isinstance(tool, dict) and isinstance(tool.get("type"), str) for tool in tools):
        raise InvalidRequest(
            'A tool must be an object such as {"type": "file_search"}.', param=f"{at}.tools"
        )
    return Attachment(file["file_id"], tuple(tool["type"] for tool in tools))


def write_message(message: Message, dialect: Dialect, assistant: str) -> objects.Message:
    """Write a message as the AITP Thread Specification or the OpenAI API has it.

    The metadata has only strings, in both dialects as in the OpenAI API: the caller's own, and
    ``actor``.

    Parameters:
        assistant: id of the agent that answers here.
    """
    body = objects.Message(
        id=message.id,
        created_at=message.created_at,
        thread_id=message.thread_id,
        status="completed",
        role=message.role,
        content=message.content,
        attachments=list(map(_write_file, message.attachments)),
        metadata={**message.metadata, "actor": message.actor},
        run_id=message.run_id,
    )
    if dialect is Dialect.OPENAI:
        said_in_run = message.origin is Origin.DESK
        body.content = [objects.TextBlock(objects.TextValue(text)) for text in message.content]
        body.attachments = [_write_file(file, OPENAI_TOOLS) for file in message.attachments]
        # in the OpenAI API it is the run that wrote the message, never the one that answers it
        body.run_id = message.run_id if said_in_run else None
        # a person of the site is not an assistant
        is_agents = said_in_run and get_operator(message.actor) is None
        body.assistant_id = assistant if is_agents else None
        body.completed_at = message.created_at
        body.incomplete_at = body.incomplete_details = None
    return body


def _write_file(file: Attachment, known: Collection[str] | None = None) -> objects.Attachment:
    """Write an attached file with its tools. ``known`` limits them."""
    tools = file.tools if known is None else [tool for tool in file.tools if tool in known]
    return objects.Attachment(file.file_id, [objects.AttachmentTool(tool) for tool in tools])


def write_followed_run(run: Run) -> objects.RunFollowed:
    """Write a run as a member of the message that it answers."""
    failed = run.state is RunState.FAILED
    return objects.RunFollowed(
        run.id,
        run.thread_id,
        run.state,
        run.created_at,
        objects.RunFailure(FailureCode.SERVER_ERROR.value, run.error) if failed else None,
    )


def encode_message(
    message: Message,
    run: Run | None,
    replies: Sequence[Message] | None,
    dialect: Dialect,
    assistant: str,
) -> Reply:
    """Encode the response of a create-message call; see :func:`add_run`."""
    return add_run(write_message(message, dialect, assistant), run, replies, dialect, assistant)


def encode_messages(
    messages: Sequence[Message], has_more: bool, dialect: Dialect, assistant: str
) -> Reply:
    """Encode one page of a thread's messages, in the OpenAI API's list form."""
    bodies = [write_message(message, dialect, assistant) for message in messages]
    return encode_list(bodies, has_more)


def add_run(
    body: objects.Message | objects.Thread,
    run: Run | None,
    replies: Sequence[Message] | None,
    dialect: Dialect,
    assistant: str,
) -> Reply:
    """Add ``run`` and ``replies`` to an object whose caller preferred to wait.

    ``replies`` is None where the caller did not wait, empty where the run is not ready yet.
    """
    if replies is None:
        return Reply(200, encode(body))
    body.run = None if run is None else write_followed_run(run)
    body.replies = [write_message(reply, dialect, assistant) for reply in replies]
    return Reply(200, encode(body), headers=(("Preference-Applied", "wait"),))


def decode_with_replies(query: Mapping[str, str]) -> bool:
    """Return whether the desk's replies to a message are deleted with it.

    Raises:
        InvalidRequest: it is neither true nor false.
    """
    given = query.get("with_replies", "false")
    if given not in {"true", "false"}:
        raise InvalidRequest("`with_replies` must be true or false.", param="with_replies")
    return given == "true"


def encode_deleted_message(id_: str, replies: Sequence[str], *, are_deleted: bool) -> Reply:
    """Encode a deletion, with the replies that may quote the message."""
    listed = [DeletedReply(reply, are_deleted) for reply in replies]
    return Reply(200, encode(Deleted(id_, "thread.message.deleted", True, listed)))
