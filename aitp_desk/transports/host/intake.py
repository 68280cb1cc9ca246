"""Stores the events of platforms, before these get their acknowledgement.

Each is a job, named by the platform's id of the event: a repetition changes nothing. A plain
message needs no job: it is posted in the same commit.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import structlog

from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.transports import StoredBytes
from aitp_desk.store.units.transport_events import (
    EVENT_KIND,
    STOP_KIND,
    enqueue_jobs,
    name_event,
)
from aitp_desk.transports.events import (
    AutomaticMessage,
    ChatStart,
    Choice,
    ConversationMove,
    DeliveryFailure,
    Event,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.host.drafts import MOST_FILES
from aitp_desk.transports.host.people import ALL_OF, name_caller
from aitp_desk.transports.host.registry import EnabledTransport

LONGEST_TEXT = 50_000
"""How much of a message is read, in characters; the rest counts as trimmed."""
LONGEST_PERSON = 400
"""The longest id of a person or a conversation, in characters."""
LONGEST_ID = 1000
"""The longest id of an event or a message, in characters."""
LONGEST_REF = 2000
"""The longest name by which a file is found again, in characters."""
LONGEST_NAME = 200
"""How much of other names is read, in characters."""
LONGEST_REASON = 500
MOST_VALUES = 100
DEEPEST = 3
"""How deep values of a form may be nested."""
MOST_WAITING = 1000
"""How many events of one person may wait; further ones are dropped."""

_UNREAL = re.compile("[\x00\ud800-\udfff]")
"""What no database stores as text: NUL, and halves of characters."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LANGUAGE = re.compile("[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,4}")

PostPlain = Callable[[str, Incoming], Awaitable[bool]]
"""Posts the message of an event, given the transport's name; returns whether it did."""

_log = structlog.get_logger()


class EventIntake:
    """Stores events, each as a job of its sender.

    An opt-out is a job of another kind, so that it waits for no other event.

    Parameters:
        transports: those of the site, by name.
        clock: Unix seconds.
        wake: called after a commit that queued jobs; None in another process than the desk.
        post: posts plain messages; None in another process.
    """

    def __init__(
        self,
        store: Store,
        transports: Mapping[str, EnabledTransport],
        clock: Callable[[], float],
        wake: Callable[[], object] | None = None,
        post: PostPlain | None = None,
    ) -> None:
        self._store = store
        self._transports = transports
        self._clock = clock
        self._wake = wake
        self._post = post

    async def receive(self, transport: str, events: Sequence[Incoming]) -> None:
        """Store events; they are on disk when this returns.

        Dropped are events without an id, a person or a conversation, as nobody could be answered,
        and those of a person of whom too many wait.

        Raises:
            StoreBusy: nothing was stored; the platform should deliver it again.
        """
        clean = [one for event in events if (one := clean_event(event)) is not None]
        # one of several would come before the others
        is_alone = len(events) == len(clean) == 1
        if self._post is not None and is_alone and await self._post(transport, clean[0]):
            return
        dropped = len(events) - len(clean)
        if clean:
            dropped += await self._store.run(
                enqueue_jobs,
                jobs=[self._job(transport, event) for event in clean],
                most=MOST_WAITING,
                is_outside=self._wake is None,
                kept=[one for event in clean for one in _files_of(transport, event)],
            )
            if self._wake is not None:
                self._wake()
        if dropped:
            _log.warning("events_dropped", transport=transport, count=dropped)

    def _job(self, transport: str, event: Incoming) -> NewJob:
        now = self._clock()
        return NewJob(
            id=new_id("job", now),
            kind=STOP_KIND if self._is_opt_out(transport, event.event) else EVENT_KIND,
            ref=name_event(transport, event.event_id),
            payload=event,
            created_at=int(now),
            principal=name_caller(transport, event),
        )

    def _is_opt_out(self, transport: str, event: Event) -> bool:
        match event:
            case OptOut():
                return event.is_of_all
            case TextMessage() if transport in self._transports:
                return self._transports[transport].common.is_stop_word(event.text)
            case _:
                return False


def clean_event(event: Incoming) -> Incoming | None:
    """Return an event whose texts have bounds and can be stored; None if its ids cannot.

    An id is never changed: a shortened one could be another's.
    """
    people = (event.sender, event.conversation)
    if not all(_is_id(one, LONGEST_PERSON) for one in people) or not _is_id(event.event_id):
        return None
    if event.sender.startswith(ALL_OF):
        return None
    return msgspec.structs.replace(
        event,
        sender_name=_name(event.sender_name),
        language=event.language if _LANGUAGE.fullmatch(event.language) else "",
        agent=_name(event.agent),
        event=_clean(event.event),
    )


def _files_of(transport: str, event: Incoming) -> Iterator[StoredBytes]:
    """Yield the names under which a transport may keep an event's files."""
    if isinstance(event.event, TextMessage):
        whose = name_caller(transport, event)
        for file in event.event.files:
            yield StoredBytes(transport, file.ref, whose)


def _clean(event: Event) -> Event:
    replace = msgspec.structs.replace
    match event:
        case TextMessage():
            text, rest = event.text[:LONGEST_TEXT], event.text[LONGEST_TEXT:]
            trimmed = f"{rest[:LONGEST_TEXT]}\n{event.trimmed}" if rest else event.trimmed
            return replace(
                event,
                text=_text(text),
                message_ref=_ref(event.message_ref),
                answers_ref=_ref(event.answers_ref),
                files=tuple(_file(file) for file in event.files if _is_id(file.ref, LONGEST_REF))[
                    :MOST_FILES
                ],
                trimmed=_text(trimmed),
                refusals=tuple(_text(one[:LONGEST_REASON]) for one in event.refusals[:MOST_FILES]),
                subject=_name(event.subject),
            )
        case MessageEdit():
            return replace(event, message_ref=_ref(event.message_ref), text=_text(event.text))
        case Choice():
            values = dict(list(event.values.items())[:MOST_VALUES])
            return replace(
                event,
                token=_ref(event.token),
                values={_name(name): _value(value) for name, value in values.items()},
                message_ref=_ref(event.message_ref),
                reply_to=_ref(event.reply_to),
            )
        case DeliveryFailure():
            reason = _text(event.reason)[:LONGEST_REASON]
            return replace(event, message_ref=_ref(event.message_ref), reason=reason)
        case AutomaticMessage():
            return replace(
                event,
                text=_text(event.text),
                reason=_text(event.reason)[:LONGEST_REASON],
                message_ref=_ref(event.message_ref),
                answers_ref=_ref(event.answers_ref),
            )
        case MessageRemoval():
            return replace(event, message_ref=_ref(event.message_ref))
        case ChatStart():
            return replace(event, code=_name(event.code))
        case ConversationMove():
            return replace(event, former=_ref(event.former))
        case OptOut():
            return replace(event, message_ref=_ref(event.message_ref))


def _file(file: IncomingFile) -> IncomingFile:
    return msgspec.structs.replace(
        file, name=_name(file.name), content_type=_name(file.content_type)
    )


def _is_id(text: str, longest: int = LONGEST_ID) -> bool:
    return 0 < len(text) <= longest and not _has_control(text)


def _ref(text: str) -> str:
    """Return the platform's id of a message; empty if it can be none."""
    return text if _is_id(text) else ""


def _name(text: str) -> str:
    name = text[:LONGEST_NAME]
    return (_CONTROL.sub(" ", name) if _has_control(name) else name).strip()


def _has_control(text: str) -> bool:
    # most are printable, which is known faster
    return not text.isprintable() and _CONTROL.search(text) is not None


def _text(text: str) -> str:
    return _UNREAL.sub("\ufffd", text[:LONGEST_TEXT])


def _value(value: Any, depth: int = 0) -> Any:
    """Return a value of a form; None for what none can be."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple) and depth < DEEPEST:
        return [_value(one, depth + 1) for one in value[:MOST_VALUES]]
    if isinstance(value, dict) and depth < DEEPEST:
        pairs = list(value.items())[:MOST_VALUES]
        return {_name(str(name)): _value(one, depth + 1) for name, one in pairs}
    return value if isinstance(value, bool | int | float) else None
