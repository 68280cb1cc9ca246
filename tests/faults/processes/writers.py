"""People on a platform that fails now and then, and what the desk has acknowledged to them."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import aiohttp
import msgspec
from aiohttp import web

from aitp_desk.transports.events import (
    AutomaticMessage,
    ChatStart,
    Choice,
    DeliveryFailure,
    Event,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.messages import Outgoing
from tests.faults.processes.carrying_desk import LONG, OFFER
from tests.support.transports.pigeon import SECRET
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.reservations import RESERVE, item_of

FAILING = 0.02
"""How often the platform fails: in each of several ways."""
REPEATED = 0.08
"""How often an event is delivered twice at once, and how often once more later."""
REORDERED = 0.15
"""How often events of a conversation come in another order than they happened."""
CODE_AT = 3
"""Which event of some people asks for a code."""
ELSEWHERE = 0.3
"""How often those who have joined write in their other conversation."""
WISH = "I want to talk to a person."
QUESTION_SECONDS = 5.0
"""How long a person waits for a question of the desk before writing on."""
LATER_SECONDS = 3.0
AGAIN_SECONDS = 0.02
LINGERING_SECONDS = 20

_CODE = re.compile("[2-9A-Z]{4}-[2-9A-Z]{4}-[2-9A-Z]{4}")


class FailingPlatform(PigeonPlatform):
    """A platform that refuses, breaks, and takes messages without saying so.

    Attributes:
        seen: what people see, by conversation: repeated ids are dropped.
        repeated: how many messages were taken again.
        is_calm: whether it does not fail any more.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._chance = random.Random(seed)
        self.seen: dict[str, list[Outgoing]] = defaultdict(list)
        self.repeated = 0
        self.is_calm = False
        self._refs: dict[str, str] = {}

    @property
    def secret(self) -> str:
        (secret,) = self.environment.values()
        return secret

    def keep_file(self, ref: str, data: bytes) -> None:
        self._files[ref] = data

    def ref_of(self, sent: Outgoing) -> str:
        """Return what the platform calls a message."""
        return self._refs[sent.id]

    async def _take(self, request: web.Request) -> web.Response:
        luck = 1.0 if self.is_calm else self._chance.random()
        if luck < FAILING:
            return web.Response(status=429, headers={"Retry-After": "1"})
        if luck < 2 * FAILING:
            return web.Response(status=503)
        outgoing = msgspec.json.decode(await request.read(), type=Outgoing)
        assert len(outgoing.text) <= 1000
        if outgoing.id in self._refs:
            self.repeated += 1
        else:
            self._refs[outgoing.id] = f"sent-{len(self._refs)}"
            self.seen[outgoing.conversation].append(outgoing)
        if luck < 3 * FAILING:  # it has taken the message, and its response is lost
            assert request.transport is not None
            request.transport.abort()
        return web.Response(text=json.dumps({"ref": self._refs[outgoing.id]}))

    async def _take_notice(self, request: web.Request) -> web.Response:
        luck = 1.0 if self.is_calm else self._chance.random()
        if luck < 2 * FAILING:
            return web.Response(status=429 if luck < FAILING else 503)
        taken = await super()._take_notice(request)
        if luck < 3 * FAILING:  # as of a message
            assert request.transport is not None
            request.transport.abort()
        return taken


class Said(msgspec.Struct):
    """What a visitor must have said on a thread, once.

    Parameters:
        files: how many are attached.
        is_elsewhere: whether it was said in the person's other conversation.
    """

    text: str
    files: int = 0
    is_removed: bool = False
    is_elsewhere: bool = False


class Writer:
    """People of one conversation: mostly one, in a group three.

    Attributes:
        said: in the order in which the desk has acknowledged it.
        notes: words of the notes for operators.
        notices: how many sentences the desk has to say about the conversation itself.
        stopped_notices: how many of them it may leave out, as the person has opted out since.
        other: another conversation of the person, which a code joins to the first one.
        wished: what the desk will ask about now; empty for nothing.
        pressed: items whose button was pressed, by its label.
        written: items that were shown when this was written.
    """

    def __init__(self, number: int, seed: int, platform: FailingPlatform) -> None:
        self._chance = random.Random(f"{seed} {number}")
        self._platform = platform
        self.name = f"person-{number}"
        self.conversation = f"chat-{number}"
        self._is_group, self._is_proven = number % 10 == 3, number % 10 != 7
        self._count = 0
        self.said: list[Said] = []
        self.notes: list[str] = []
        self.notices = self.stopped_notices = 0
        self.other = f"{self.conversation}-b"
        self._may_join = number % 5 == 1
        self._has_joined = False
        self.wished = ""
        self.pressed: dict[str, set[str]] = defaultdict(set)
        self.written: dict[str, set[str]] = defaultdict(set)
        self._open: dict[str, Said] = {}
        self._known: dict[str, Said] = {}
        self._corrections: dict[str, list[Said]] = defaultdict(list)
        self._pressed: set[str] = set()
        self._events: list[Incoming] = []

    @property
    def principal(self) -> str:
        who = f"all of {self.conversation}" if self._is_group else self.name
        return f"contact:pigeon{':' if self._is_proven else '?'}{who}"

    def next(self) -> tuple[Incoming, Callable[[], None]]:
        """What happens next, and what to note when it is acknowledged."""
        self._count += 1
        number = self._count
        if self._may_join and (found := self._go_elsewhere(number)) is not None:
            self._events.append(found[0])
            return found
        mark = f"{self.name} {number}"
        event, note = self._answer_question(number) or self._choose(mark, number)
        sender = self.name
        if self._is_group and not isinstance(event, Choice):
            sender = f"{self.name}-{self._chance.choice('abc')}" if number > 1 else self.name
        incoming = Incoming(
            event_id=f"{self.name}/{number}",
            conversation=self.conversation,
            sender=sender,
            is_proven=self._is_proven,
            is_private=not self._is_group,
            event=event,
        )
        self._events.append(incoming)
        return incoming, note

    def last(self) -> tuple[Incoming, Callable[[], None]]:
        """A message after which everything has to be answered."""
        self._count += 1
        event, note = self._write(f"{self.name} {self._count} the last one?", f"m{self._count}")
        incoming = Incoming(
            event_id=f"{self.name}/{self._count}",
            conversation=self.conversation,
            sender=self.name,
            is_proven=self._is_proven,
            is_private=not self._is_group,
            event=event,
        )
        return incoming, note

    def _go_elsewhere(self, number: int) -> tuple[Incoming, Callable[[], None]] | None:
        """Return an event by which the person asks for a code, joins by it, or writes there."""
        if number == CODE_AT:
            asked = TextMessage(text="/continue", message_ref=f"m{number}")
            return self._incoming(asked, number), self._note_notice
        if not self._has_joined and (code := self._code()):
            self._has_joined = True
            brought = TextMessage(text=f"join {code}", message_ref=f"b{number}")
            return self._incoming(brought, number, is_elsewhere=True), self._note_notice
        if self._platform.seen[self.other] and self._chance.random() < ELSEWHERE:
            said = Said(f"{self.name} {number} elsewhere?", is_elsewhere=True)
            written = TextMessage(text=said.text, message_ref=f"b{number}")
            return self._incoming(written, number, is_elsewhere=True), lambda: self.said.append(
                said
            )
        return None

    def _incoming(self, event: Event, number: int, *, is_elsewhere: bool = False) -> Incoming:
        return Incoming(
            event_id=f"{self.name}/{number}",
            conversation=self.other if is_elsewhere else self.conversation,
            sender=f"{self.name}-b" if is_elsewhere else self.name,
            event=event,
        )

    def _code(self) -> str:
        shown = (_CODE.search(sent.text) for sent in self._platform.seen[self.conversation])
        return next((found[0] for found in shown if found is not None), "")

    def earlier(self) -> Incoming:
        """Any event so far."""
        return self._chance.choice(self._events)

    def is_lucky(self, share: float) -> bool:
        return self._chance.random() < share

    def _choose(self, mark: str, number: int) -> tuple[Event, Callable[[], None]]:
        luck = 1.0 if number == 1 else self._chance.random()
        if luck < 0.06 and (tokens := self._buttons()):
            return self._press(*self._chance.choice(tokens))
        if luck < 0.12 and self._open:
            ref = self._chance.choice(list(self._open))
            return MessageEdit(message_ref=ref, text=f"{mark} corrected"), partial(
                self._note_edit, ref, f"Correction: {mark} corrected"
            )
        if luck < 0.17 and self._open:
            ref = self._chance.choice(list(self._open))
            removed = self._open.pop(ref)
            return MessageRemoval(message_ref=ref), partial(self._note_removal, ref, removed)
        if luck < 0.19:
            return OptOut(), self._note_stop
        if luck < 0.21:
            return TextMessage(text="Stop.", message_ref=f"m{number}"), self._note_stop_word
        if luck < 0.24:
            reason = f"{mark} did not arrive."
            failure = DeliveryFailure(
                message_ref="", reason=reason, is_final=self._chance.random() < 0.5
            )
            words = f"A message was not delivered. {reason}"
            return failure, lambda: self.notes.append(words)
        if luck < 0.27:
            automatic = AutomaticMessage(text=mark, reason="It is one.", message_ref="")
            return automatic, lambda: self.notes.append(f"It is one.\n\n{mark}")
        if luck < 0.28:
            return ChatStart(), self._note_notice
        if luck < 0.33:
            return self._attach(f"{mark} with a file", f"m{number}")
        if luck > 0.97:
            return self._write(WISH, f"m{number}")
        if luck > 0.87 and not self._is_group and number > 1:
            self.wished = f"{mark} {RESERVE}?"
            return self._write(self.wished, f"m{number}")
        words = f" {OFFER}" if luck < 0.43 else f" {LONG}" if luck < 0.46 else ""
        return self._write(f"{mark}{words}?", f"m{number}")

    def question(self) -> Outgoing | None:
        """What the desk asks about the last wish, once it is shown."""
        shown = self._platform.seen[self.conversation]
        return next((one for one in reversed(shown) if self.wished == item_of(one.text)), None)

    def _answer_question(self, number: int) -> tuple[Event, Callable[[], None]] | None:
        """Say yes or no to what the desk has asked; None for something else."""
        question = self.question() if self.wished else None
        self.wished = ""
        if question is None or not question.buttons:
            return None
        item, luck = item_of(question.text), self._chance.random()
        if luck < 0.3:
            self.written["yes"].add(item)
            return self._write("yes", f"m{number}")
        if luck < 0.8:
            button = question.buttons[0 if luck < 0.7 else 1]
            return self._press(button.token, button.label, item)
        return None

    def _press(self, token: str, label: str, item: str) -> tuple[Event, Callable[[], None]]:
        self._pressed.add(token)

        def note() -> None:
            self.said.append(Said(label))
            self.pressed[label].add(item)

        return Choice(token=token), note

    def _write(
        self, text: str, ref: str, files: tuple[IncomingFile, ...] = ()
    ) -> tuple[Event, Callable[[], None]]:
        said = self._open[ref] = Said(text, len(files))

        def note() -> None:
            self.said.append(said)
            self._known[ref] = said

        return TextMessage(text=text, message_ref=ref, files=files), note

    def _attach(self, text: str, ref: str) -> tuple[Event, Callable[[], None]]:
        key = f"{self.name}-{ref}"
        self._platform.keep_file(key, text.encode())
        file = IncomingFile(name="note.txt", content_type="text/plain", size=10, ref=key)
        return self._write(text, ref, (file,))

    def _buttons(self) -> list[tuple[str, str, str]]:
        shown = self._platform.seen[self.conversation][-20:]
        return [
            (one.token, one.label, item_of(sent.text))
            for sent in shown
            for one in sent.buttons
            if one.token not in self._pressed  # each counts once
        ]

    def _note_edit(self, ref: str, text: str) -> None:
        changed = self._known.get(ref)
        if changed is not None and not changed.is_removed:  # else it has come too early or late
            self.said.append(Said(text))
            self._corrections[ref].append(self.said[-1])

    def _note_removal(self, ref: str, removed: Said) -> None:
        removed.is_removed = ref in self._known
        for correction in self._corrections[ref]:
            correction.is_removed = True

    def _note_notice(self) -> None:
        self.notices += 1

    def _note_stop(self) -> None:
        self.stopped_notices = self.notices

    def _note_stop_word(self) -> None:
        self._note_stop()
        self.notices += 1


class Delivery:
    """Delivers what writers do to whichever desk answers, until it has acknowledged it.

    Parameters:
        urls: of the desks that serve now.

    Attributes:
        acknowledged: how many events.
        reordered: how many came in another order than they happened.
        refused: how many answers were neither 200 nor 503.
    """

    def __init__(self, platform: FailingPlatform, urls: Callable[[], list[str]], seed: int) -> None:
        self._headers: Mapping[str, str] = {SECRET: platform.secret}
        self._urls = urls
        self._chance = random.Random(seed)
        self._extra: set[asyncio.Task[None]] = set()
        self.acknowledged = self.refused = self.repeated = self.reordered = 0

    async def deliver_all(self, writer: Writer, count: int, http: aiohttp.ClientSession) -> None:
        """Deliver so many events of a writer, one or some at a time, and the last one."""
        while count > 0:
            batch = [writer.next()]
            most = min(count, self._chance.choice((1, 1, 1, 2, 4)))
            if not writer.said:  # nothing is about a conversation before it has begun
                most = 1
            while len(batch) < most and not writer.wished:
                batch.append(writer.next())
            count -= len(batch)
            if len(batch) > 1 and writer.is_lucky(REORDERED):
                self._chance.shuffle(batch)
                self.reordered += len(batch)
                for one in batch:
                    await self._deliver_first((one,), writer, http)
            else:
                await self._deliver_first(batch, writer, http)
            if writer.is_lucky(REPEATED):
                self._begin(self._repeat((writer.earlier(),), LATER_SECONDS, http))
            if writer.wished:
                with suppress(TimeoutError):
                    async with asyncio.timeout(QUESTION_SECONDS):
                        while writer.question() is None:  # noqa: ASYNC110 -- of another process
                            await asyncio.sleep(AGAIN_SECONDS)

    async def deliver_one(self, incoming: Incoming, http: aiohttp.ClientSession) -> None:
        """Deliver one event, sometimes twice at once, and once more later."""
        for within in (0, LATER_SECONDS):
            if self._chance.random() < REPEATED:
                self._begin(self._repeat((incoming,), within, http))
        await self._deliver((incoming,), http)
        self.acknowledged += 1

    async def _deliver_first(
        self,
        batch: Sequence[tuple[Incoming, Callable[[], None]]],
        writer: Writer,
        http: aiohttp.ClientSession,
    ) -> None:
        """Deliver events in one request, sometimes twice at once."""
        events = tuple(event for event, _ in batch)
        if writer.is_lucky(REPEATED):
            self._begin(self._repeat(events, 0, http))
        await self._deliver(events, http)
        self.acknowledged += len(batch)
        for _, note in batch:
            note()

    async def deliver_last(self, writer: Writer, http: aiohttp.ClientSession) -> None:
        event, note = writer.last()
        await self._deliver((event,), http)
        self.acknowledged += 1
        note()

    async def finish(self) -> None:
        """Wait for what is delivered again."""
        if self._extra:
            await asyncio.wait(self._extra, timeout=LINGERING_SECONDS)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._extra.add(task)
        task.add_done_callback(self._extra.discard)

    async def _repeat(
        self, events: tuple[Incoming, ...], within: float, http: aiohttp.ClientSession
    ) -> None:
        await asyncio.sleep(self._chance.uniform(0, within))
        await self._deliver(events, http)
        self.repeated += len(events)

    async def _deliver(self, events: tuple[Incoming, ...], http: aiohttp.ClientSession) -> None:
        body = msgspec.json.encode(events)
        while True:
            if urls := self._urls():
                url = f"{self._chance.choice(urls)}/transports/pigeon/events"
                try:
                    async with http.post(url, data=body, headers=self._headers) as answer:
                        if answer.status == 200:
                            return
                        self.refused += answer.status != 503
                except aiohttp.ClientError:
                    pass
            await asyncio.sleep(AGAIN_SECONDS)
