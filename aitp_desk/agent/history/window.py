"""Selects the newest messages of a thread that a turn includes, and shortens them. Pure.

The window has a budget of tokens, and contains whole messages. A message longer than half of it
loses its middle, if that is plain text. A structured message is data that is meaningful only as a
whole (AITP 0.1, Capabilities): it is included whole, or replaced by its schemas and size. The
window never begins between a structured message and its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.agent.generative.prompt import MAX_SAID
from aitp_desk.model.conversation.thread import Message, Origin

FRAME = 8
"""Tokens around a message in a prompt."""
_CHARACTERS_A_TOKEN = 5
"""The most characters of a token, by the estimate."""
_MAX_SCHEMAS = 120
_UNDRAWN = re.compile(r"[\x00-\x20\x7f-\x9f]+")


class _Structured(msgspec.Struct):
    """Distinguishes a structured part from text that happens to be JSON."""

    schema: str = msgspec.field(name="$schema")


class WindowMessage(msgspec.Struct, frozen=True):
    """A message as a turn includes it.

    Parameters:
        place: its number on the thread; messages before a fork end at 0 and count down.
        message: as it is included: if it is too long, with shorter content.
        tokens: its size, estimated.
        is_structured: whether the original has a structured part.
    """

    place: int
    message: Message
    tokens: int
    is_structured: bool


def read_message(place: int, message: Message, room: int) -> WindowMessage:
    """Return a message as a window includes it.

    Parameters:
        room: tokens of the window; the result takes no more.
    """
    is_structured = any(map(_schema, message.content))
    text = get_text(message)
    most = room - FRAME if is_structured else room // 2 - FRAME
    if not is_structured:
        told = shorten_middle(text, most)
    elif len(text) <= MAX_SAID and estimate_tokens(text) <= most:
        told = text
    else:
        told = _name(message)
    if told is not text:
        message = msgspec.structs.replace(message, content=(told,))
    return WindowMessage(place, message, estimate_tokens(told) + FRAME, is_structured)


def get_text(message: Message) -> str:
    """Return the text of a message; of the desk's replies without the list of sources."""
    if message.origin is Origin.DESK:
        first, *others = message.content
        return "\n".join([first, *filter(_schema, others)])
    return "\n".join(message.content)


def open_window(messages: Sequence[WindowMessage], room: int) -> tuple[WindowMessage, ...]:
    """Return the newest messages that fit, whole pairs of them, oldest first.

    Parameters:
        messages: oldest first, each read for a window of at least this size.
        room: in tokens, at least some hundreds.

    Returns:
        At least one, if there is any. If the newest pair alone is too large, its messages are
        shortened and replaced; if they still do not fit, only the newest is returned.
    """
    newest = _newest(messages, room)
    if newest or not messages:
        return newest
    start = len(messages) - 1
    while (earlier := _before_pair(messages, start)) != start:
        start = earlier
    share = room // (len(messages) - start)
    pair = tuple(_in_few_words(one, share) for one in messages[start:])
    left = room - sum(one.tokens for one in pair)
    if left < 0:
        return (_in_few_words(messages[-1], room),)
    return (*_newest(messages[:start], left), *pair)


def _newest(messages: Sequence[WindowMessage], room: int) -> tuple[WindowMessage, ...]:
    """Return the newest messages that fit unchanged, whole pairs of them; none if no pair does."""
    start, left = len(messages), room
    while start and messages[start - 1].tokens <= left:
        start -= 1
        left -= messages[start].tokens
    return tuple(messages[_after_pair(messages, start) :])


def read_first_part(messages: Sequence[WindowMessage], room: int) -> tuple[WindowMessage, ...]:
    """Return the oldest messages that fit, whole pairs of them; at least the first pair.

    Parameters:
        messages: oldest first.
    """
    end, left = 0, room
    while end < len(messages) and messages[end].tokens <= left:
        left -= messages[end].tokens
        end += 1
    whole = end
    while (earlier := _before_pair(messages, whole)) != whole:
        whole = earlier
    return tuple(messages[: whole or _after_pair(messages, max(end, 1))])


def shorten_middle(text: str, tokens: int) -> str:
    """Shorten a text to a number of tokens. A mark replaces the omitted middle."""
    most = min(MAX_SAID, max(0, tokens) * _CHARACTERS_A_TOKEN)
    if len(text) <= most and estimate_tokens(text) <= tokens:
        return text
    half = most // 2
    while half:
        shortened = f"{text[:half]}{_mark(len(text) - 2 * half)}{text[-half:]}"
        if len(shortened) <= MAX_SAID and estimate_tokens(shortened) <= tokens:
            return shortened
        half = half * 9 // 10
    return _mark(len(text))


def _mark(characters: int) -> str:
    return f" [… {characters} characters left out …] "


def _schema(part: str) -> str:
    """Return the schema of a structured part; empty for any other."""
    if '"$schema"' not in part:
        return ""
    try:
        return msgspec.json.decode(part, type=_Structured).schema
    except (msgspec.DecodeError, RecursionError):
        return ""


def _name(message: Message) -> str:
    schemas = _UNDRAWN.sub(" ", ", ".join(filter(None, map(_schema, message.content))))
    if len(schemas) > _MAX_SCHEMAS:
        schemas = schemas[: _MAX_SCHEMAS - 1] + "…"
    size = sum(len(part.encode()) for part in message.content)
    return f"[A structured message of {size} bytes, too long to be shown here: {schemas}]"


def _in_few_words(original: WindowMessage, room: int) -> WindowMessage:
    """Return a message within a number of tokens, whole only if it fits."""
    is_named = original.is_structured and not any(map(_schema, original.message.content))
    if original.tokens <= room or is_named:
        return original
    if original.is_structured:
        text = _name(original.message)
    else:
        text = shorten_middle(get_text(original.message), room - FRAME)
    message = msgspec.structs.replace(original.message, content=(text,))
    return msgspec.structs.replace(original, message=message, tokens=estimate_tokens(text) + FRAME)


def _after_pair(messages: Sequence[WindowMessage], start: int) -> int:
    """Return the next position that is not between a structured message and its answer."""
    for first, last in sorted(_pairs(messages)):
        if first < start <= last:
            start = last + 1
    return start


def _before_pair(messages: Sequence[WindowMessage], start: int) -> int:
    return min([start, *(first for first, last in _pairs(messages) if first < start <= last)])


def _pairs(messages: Sequence[WindowMessage]) -> Iterable[tuple[int, int]]:
    """Yield the ranges of each structured message with its answer."""
    asked: dict[str, list[int]] = {}
    for index, one in enumerate(messages):
        message = one.message
        if message.origin is Origin.VISITOR:
            if message.run_id is not None:
                asked.setdefault(message.run_id, []).append(index)
            continue
        before = messages[index - 1] if index else None
        if (
            before is not None
            and before.message.origin is Origin.VISITOR
            and before.is_structured
            and one.is_structured
        ):
            yield index - 1, index
        for question in asked.get(message.run_id or "", ()):
            if one.is_structured or messages[question].is_structured:
                yield question, index
                break
