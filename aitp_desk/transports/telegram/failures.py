"""What Telegram's errors mean for a message.

Source: Bot API, "Making requests" and "ResponseParameters". The codes are documented; the
descriptions are not, and are those that the server of the Bot API writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable
from aitp_desk.transports.wire.payload import Payload

_QUOTED = re.compile(r'"[^"]*"|\'[^\']*\'|https?://\S+|\S*\d{5,}\S*')
_GONE = (
    "chat not found",
    "chat_id is empty",
    "user not found",
    "group chat was deactivated",
    "group is deactivated",
    "peer_id_invalid",
    "user_is_blocked",
    "input_user_deactivated",
    "not enough rights",
    "have no rights",
    "chat_write_forbidden",
    "need administrator rights",
    "chat_restricted",
    "topic_closed",
    "topic_deleted",
    "message thread not found",
)
"""Descriptions, in small letters, of chats that take no messages."""


class ApiError(Exception):
    """An error of the Bot API.

    Parameters:
        code: as the HTTP status.
        description: in Telegram's words; it may quote the request.
        retry_after: seconds; 0 if it says none.
        new_chat: id of the supergroup that a group has become; 0 for none.
    """

    def __init__(
        self, code: int, description: str, *, retry_after: int = 0, new_chat: int = 0
    ) -> None:
        super().__init__(f"Telegram responded with {code}.")
        self.code = code
        self.description = description.lower()
        self.retry_after = retry_after
        self.new_chat = new_chat

    def mentions(self, *parts: str) -> bool:
        """Return whether the description has one of the parts, in small letters."""
        return any(part in self.description for part in parts)


def read_error(status: int, response: Payload) -> ApiError:
    """Return the error of a response."""
    parameters = response.part("parameters")
    return ApiError(
        response.number("error_code") or status,
        response.text("description", 512),
        retry_after=min(86_400, max(0, parameters.number("retry_after"))),
        new_chat=parameters.number("migrate_to_chat_id"),
    )


@contextmanager
def judged() -> Iterator[None]:
    """Raise what an error of the API means instead of it."""
    try:
        yield
    except ApiError as error:
        raise judge_error(error) from None


def judge_error(error: ApiError) -> Failed:
    """Return what an error means for the message that was to be sent."""
    if error.code == 429:
        return TryLater("Telegram limits how fast the bot sends.", after=error.retry_after or 1)
    if error.code in {401, 404}:
        return TryLater("Telegram does not accept the bot's token.", after=300)
    if error.code == 409:
        return TryLater("Another program receives the bot's updates.", after=10)
    if error.code == 403:
        return Unreachable(f"The chat takes no messages from the bot: {_say(error)}.")
    if error.code >= 500:
        return TryLater("Telegram has a fault.")
    if error.mentions(*_GONE):
        return Unreachable(f"The chat takes no messages: {_say(error)}.")
    return Refused(f"Telegram refused it: {_say(error)}.")


def _say(error: ApiError) -> str:
    """Return the description without what it quotes."""
    text = error.description.partition(": ")[2] or error.description
    shown = _QUOTED.sub("…", text)[:120].strip(" .")
    return shown if shown.isprintable() and shown else f"error {error.code}"
