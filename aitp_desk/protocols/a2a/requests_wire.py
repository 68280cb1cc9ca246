"""Reads requests of callers in each form of the protocol.

Source: A2A 1.0, section 3.1 (operations); A2A 0.3, section 7. Pure: no I/O, no clock.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from aitp_desk.model.calls.task import Push, TaskState
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.members import ObjectReader
from aitp_desk.protocols.a2a.parts_wire import MessageParts, read_parts
from aitp_desk.protocols.a2a.payments import read_payment

DEFAULT_PAGE = 50
MAX_PAGE = 100
_STATES = {f"TASK_STATE_{state.name}": state for state in TaskState}
_ANY_STATE = ("", "TASK_STATE_UNSPECIFIED")
_USER = ("user", "ROLE_USER")


class SendParams(msgspec.Struct, frozen=True):
    """A message to send.

    Parameters:
        message_id: its sender's id.
        context, task_id: what it belongs to; empty starts a new one.
        history_length: the most earlier messages to return; None for all.
        blocks: whether the response waits until the task is at rest.
        push: the address for notifications about the task.
        payment: a message that pays for it; None for none.
    """

    parts: MessageParts
    message_id: str
    context: str = ""
    task_id: str = ""
    history_length: int | None = None
    blocks: bool = True
    push: Push | None = None
    payment: Mapping[str, Any] | None = None


class ListParams(msgspec.Struct, frozen=True):
    """The requested tasks.

    Parameters:
        context: empty for all.
        state: None for every state.
        after: the task after which the page begins.
        since: Unix seconds.
    """

    context: str
    state: TaskState | None
    limit: int
    after: tuple[int, str] | None
    since: int
    history_length: int | None
    with_artifacts: bool


def read_send(given: Any, dialect: Dialect) -> SendParams:
    """Read the parameters of sending a message.

    Raises:
        InvalidRequest, MissingField, RequestTooLarge, UnsupportedMedia: ``param`` is the path.
    """
    params = ObjectReader(given)
    name = "message"
    if dialect is Dialect.V03_HTTP and name not in params:
        name = "request"
    message = params.get_object(name)
    message_id = message.get_required_text("messageId")
    role = message.get_required_text("role")
    if role not in _USER:
        raise InvalidRequest(
            f"{message.get_path('role')} must be ROLE_USER (in 0.3: user).",
            param=message.get_path("role"),
        )
    member = "content" if dialect is Dialect.V03_HTTP else "parts"
    parts = read_parts(message.get_value(member), dialect, message.get_path(member))
    configuration = params.get_object("configuration")
    push_member = "taskPushNotificationConfig"
    if dialect is not Dialect.V1:
        push_member = "pushNotificationConfig"
        if dialect is Dialect.V03_HTTP and "pushNotification" in configuration:
            push_member = "pushNotification"
    push = None
    if push_member in configuration:
        push = read_push(configuration.get_object(push_member), dialect, "")
    return SendParams(
        parts,
        message_id,
        message.get_text("contextId"),
        message.get_text("taskId"),
        configuration.get_count("historyLength"),
        _blocks(configuration, dialect, is_there="configuration" in params),
        push,
        read_payment(message),
    )


def _blocks(configuration: ObjectReader, dialect: Dialect, *, is_there: bool) -> bool:
    """Return whether the response waits until the task is at rest.

    Parameters:
        is_there: whether there is a configuration at all.
    """
    if dialect is Dialect.V1:
        return not configuration.get_boolean("returnImmediately")
    blocking = configuration.get_boolean("blocking")
    if dialect is Dialect.V03_HTTP and is_there:
        return blocking is True  # writers of ProtoJSON leave out a false member
    return blocking is not False


def read_push(config: ObjectReader, dialect: Dialect, task_id: str) -> Push:
    """Read the address for notifications about a task.

    Parameters:
        task_id: of the task; empty for the new one.
    """
    authentication = config.get_object("authentication")
    scheme = authentication.get_text("scheme", None)
    if dialect is not Dialect.V1:
        schemes = authentication.get_value("schemes") or [""]
        if not isinstance(schemes, list) or not isinstance(schemes[0], str):
            raise InvalidRequest(
                f"{authentication.get_path('schemes')} must be a list of names.",
                param=authentication.get_path("schemes"),
            )
        scheme = schemes[0]
    if "url" not in config:
        config.get_required_text("url")
    return Push(
        config.get_text("id"),
        task_id,
        config.get_text("url", None),
        config.get_text("token", None),
        scheme,
        authentication.get_text("credentials", None),
        dialect.version,
    )


def read_list(params: ObjectReader) -> ListParams:
    """Read which tasks to list.

    Raises:
        InvalidRequest: ``param`` is the path.
    """
    named = params.get_text("status")
    if named not in _STATES and named not in _ANY_STATE:
        raise InvalidRequest(
            f"status must be one of {', '.join(_STATES)}.", param=params.get_path("status")
        )
    limit = params.get_count("pageSize", MAX_PAGE)
    if limit == 0 and params.get_value("pageSize") is not None:
        raise InvalidRequest(f"pageSize must be from 1 to {MAX_PAGE}.", param="pageSize")
    includes = params.get_value("includeArtifacts")
    return ListParams(
        params.get_text("contextId"),
        _STATES.get(named),
        limit or DEFAULT_PAGE,
        _read_token(params.get_text("pageToken")),
        _read_moment(params.get_text("statusTimestampAfter")),
        params.get_count("historyLength"),
        includes is True or includes == "true",
    )


def write_token(after: tuple[int, str] | None) -> str:
    """Return the token of the next page; empty without one."""
    if after is None:
        return ""
    return urlsafe_b64encode(f"{after[0]} {after[1]}".encode()).decode().rstrip("=")


def _read_token(token: str) -> tuple[int, str] | None:
    if not token:
        return None
    try:
        text = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        changed_at, id_ = text.split(" ")
        return int(changed_at[:18]), id_
    except (binascii.Error, ValueError):
        raise InvalidRequest(
            "pageToken must be the nextPageToken of the previous page.", param="pageToken"
        ) from None


def _read_moment(text: str) -> int:
    if not text:
        return 0
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError):
        raise InvalidRequest(
            "statusTimestampAfter must be a time such as 2026-01-31T12:00:00Z.",
            param="statusTimestampAfter",
        ) from None
