"""Sends the desk's messages to the conversations that a thread carries, in their order.

A conversation knows up to which message jobs are queued, and up to which messages are sent. Both
numbers only rise, so a process that dies between two steps leaves work, and never a gap.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from zoneinfo import ZoneInfo

import msgspec
import structlog

from aitp_desk.agent.history.message_codec import SUGGESTED, WAITS, list_sources
from aitp_desk.capability import Unanswered
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.desk.jobs.kinds import Finish, GiveUp, JobKind
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.model.errors import Forbidden, MessageNotFound, StoreBusy, ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store, StoreError, Work
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.records.jobs import ClaimedJob, NewJob
from aitp_desk.store.records.transports import Conversation, ConversationState, platform_address
from aitp_desk.store.units.transports import (
    MESSAGE_KIND,
    end_conversation,
    note_on_thread,
    note_sent,
    put_controls,
    queue_messages,
)
from aitp_desk.transports.base import Failed, TryLater, Unreachable, WindowClosed
from aitp_desk.transports.host.attachments import read_attachments
from aitp_desk.transports.host.controls import Controls, offer_options, offer_request
from aitp_desk.transports.host.failures import job_failure
from aitp_desk.transports.host.operator_notes import OperatorNotes
from aitp_desk.transports.host.people import (
    SENDER,
    find_sending_time,
    principal_of,
)
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.messages import EarlierMessage, Outgoing, Source
from aitp_desk.transports.wire.splitter import split_text

DELAYS = (2, 5, 10, 30, 60, 120, 300, 900, 1800, 3600, 7200)
"""Seconds after each failure; see those of events."""
SECONDS = 180
AT_ONCE = 16
REVIEW_SECONDS = 60
"""How often threads are searched for messages that have no job, as of a process that died."""
AGAIN_SECONDS = 1.0
PAGE = 200
AT_A_TIME = 50
"""How many messages of a thread one job sends at most."""
EARLIER_REFS = 20

_log = structlog.get_logger()


class Outbox:
    """Queues and sends messages.

    Parameters:
        transports: those of the site, by name.
        desks: of the site's agents, by name.
        notes: writes notes for operators.
        zone: of quiet hours.
        link_form: returns the link to the page of a form, by its token.
        clock: Unix seconds.
    """

    def __init__(
        self,
        transports: Mapping[str, EnabledTransport],
        desks: Mapping[str, Desk],
        *,
        store: Store,
        jobs: JobQueue,
        notes: OperatorNotes,
        zone: ZoneInfo,
        link_form: Callable[[str], str],
        clock: Callable[[], float],
    ) -> None:
        self._transports = transports
        self.desks = desks
        self.store = store
        self._jobs = jobs
        self._notes = notes
        self._zone = zone
        self.link_form = link_form
        self.clock = clock
        self._changed: dict[str, None] = {}
        self._wanted = asyncio.Event()

    def make_kind(self) -> JobKind:
        """Create the kind of job that sends messages."""
        return JobKind(
            MESSAGE_KIND,
            self.send_messages,
            SECONDS,
            DELAYS,
            AT_ONCE,
            given_up=self._give_up,
            in_order=True,
            longest_wait=2 * DAY_SECONDS,
        )

    def on_change(self, thread_id: str) -> None:
        """Look whether the desk has spoken on a thread: called after each commit there."""
        self._changed[thread_id] = None
        self._wanted.set()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Queue jobs for new messages while the context lasts."""
        async with keep_running(self._queue_changed), keep_running(self._review):
            yield

    async def _queue_changed(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            while self._changed:
                thread_id = next(iter(self._changed))
                del self._changed[thread_id]
                try:
                    await self.queue(thread_id)
                except (StoreBusy, StoreError) as error:
                    _log.warning("messages_not_queued", reason=str(error))
                    self._changed[thread_id] = None
                    await asyncio.sleep(AGAIN_SECONDS)
                except Exception as error:  # noqa: BLE001 -- others go on
                    _log.error("messages_not_queued", exc_info=error)

    async def _review(self) -> None:
        while True:
            after = ""
            with suppress(StoreBusy, StoreError):
                while found := await transport_reads.threads_behind(self.store, after, PAGE):
                    for after, thread_id in found:  # noqa: B007 -- the last one is the next page's
                        self.on_change(thread_id)
            await asyncio.sleep(REVIEW_SECONDS)

    async def queue(self, thread_id: str) -> None:
        """Queue a job for each conversation of a thread with new replies."""
        if not await transport_reads.is_behind(self.store, thread_id):
            return
        carried = await transport_reads.conversations_of_thread(self.store, thread_id)
        jobs = [self._job(one) for one in carried if one.state is ConversationState.OPEN]
        if jobs:
            is_queued = await self.store.run(queue_messages, thread_id=thread_id, jobs=jobs)
            if is_queued:
                self._jobs.wake()

    def _job(self, conversation: Conversation) -> NewJob:
        now = self.clock()
        enabled = self._transports.get(conversation.transport)
        hours = "" if enabled is None else enabled.common.quiet_hours
        return NewJob(
            id=new_id("job", now),
            kind=MESSAGE_KIND,
            ref=conversation.id,
            payload={},
            created_at=int(now),
            desk=conversation.desk,
            thread_id=conversation.thread_id,
            principal=conversation.id,
            available_at=find_sending_time(hours, now, conversation.heard_at, self._zone),
        )

    async def send_messages(self, claim: ClaimedJob) -> Finish | None:
        """Send a conversation's messages up to the one that a job names.

        Raises:
            Retry: the platform does not take it now.
            GiveUp: it takes one of them at no time, or the transport is not enabled any more.
        """
        id_, _, upto = claim.ref.partition(" ")
        conversation = await transport_reads.conversation(self.store, id_)
        if conversation is None or conversation.state is not ConversationState.OPEN:
            return None
        enabled = self._transports.get(conversation.transport)
        if enabled is None:
            raise GiveUp(f"The transport {conversation.transport} is not enabled.")
        sending = _Sending(self, enabled, conversation)
        try:
            return await sending.send_upto(int(upto))
        except Unreachable as failure:
            return self._end(conversation, ConversationState.UNREACHABLE, failure)
        except WindowClosed as failure:
            return self._end(conversation, ConversationState.WAITING, failure)
        except (Failed, Unanswered) as failure:
            raise job_failure(failure, has_progressed=sending.has_sent) from None

    def _end(self, conversation: Conversation, state: ConversationState, failure: Failed) -> Finish:
        """Return the end of a job after which the conversation takes no messages."""
        _log.info("conversation_ended", transport=conversation.transport, state=state.value)
        id_, note = conversation.id, self._note(failure.reason, conversation.transport)

        def end() -> Work[None]:
            yield from end_conversation(conversation_id=id_, state=state, reason=failure.reason)
            yield from note_on_thread(id_, note)

        return Finish(end)

    def _give_up(self, claim: ClaimedJob, reason: str) -> Finish:
        id_, _, _ = claim.ref.partition(" ")
        return Finish(lambda: note_on_thread(id_, self._note(reason, "transports")))

    def _note(self, reason: str, transport: str) -> Callable[[str], Work[None]]:
        words = f"A message was not delivered. {reason}"
        return self._notes.write(words, transport, int(self.clock()))


class _Sending:
    """The messages that one job sends to a conversation."""

    def __init__(
        self, outbox: Outbox, enabled: EnabledTransport, conversation: Conversation
    ) -> None:
        self._outbox = outbox
        self._store = outbox.store
        self._enabled = enabled
        self._transport = enabled.transport
        self._conversation = conversation
        self._desk = outbox.desks[conversation.desk]
        self._principal: Principal = principal_of(conversation)
        self._address = platform_address(conversation.address)
        self._refusal: Failed | None = None
        self.has_sent = False

    async def send_upto(self, upto: int) -> Finish | None:
        """Send the messages after the last one that was sent."""
        done = self._conversation.sent_seq
        heard = await self._last_heard(done)
        while done < upto:
            page = await reads.messages_between(
                self._store,
                self._conversation.thread_id,
                above=done,
                below=upto + 1,
                limit=AT_A_TIME,
                order="asc",
            )
            for message in page.items:
                if message.origin is Origin.VISITOR:
                    heard = message.seq
                elif self._conversation.active_seq >= heard and not await self._send(message):
                    return None
                done = message.seq
            if not page.has_more:
                break
        if self._refusal is not None:  # the messages after it are sent
            raise self._refusal
        return Finish(lambda: self._note(upto, 0, "", is_last=True))

    async def _last_heard(self, upto: int) -> int:
        """Return the number of the last message of a visitor up to one."""
        page = await reads.messages_between(
            self._store,
            self._conversation.thread_id,
            above=0,
            below=upto + 1,
            limit=AT_A_TIME,
            order="desc",
        )
        seqs = (one.seq for one in page.items if one.origin is Origin.VISITOR)
        return next(seqs, 0)

    async def _send(self, message: Message) -> bool:
        """Send one message in its parts; return False if nothing more may be sent."""
        conversation = self._conversation
        try:
            shown = await self._desk.reader.read_message(
                self._principal, conversation.thread_id, message.id
            )
        except MessageNotFound:  # it was deleted meanwhile
            return True
        except (ThreadNotFound, Forbidden) as error:
            await self._store.run(
                end_conversation,
                conversation_id=conversation.id,
                state=ConversationState.STOPPED,
                reason=f"The person may not read the thread: {error}",
            )
            return False
        controls = await self._controls(message, shown)
        language = conversation.language or self._desk.site.language
        bounds = self._transport.bounds
        if shown.attachments:
            bounds = await self._transport.find_bounds()
        files, links = await read_attachments(
            self._desk, self._principal, shown.attachments, bounds=bounds, language=language
        )
        text = f"{_text_of(shown)}\n\n{links}".strip()
        pieces = split_text(text, self._transport.bounds.characters) or ("…",)
        refs = await transport_reads.newest_refs(self._store, conversation.id, EARLIER_REFS)
        known = [one.ref for one in refs if one.ref != conversation.last_ref]
        earlier = await self._earlier(message.seq)
        begun = conversation.sent_seq == message.seq - 1
        first = conversation.sent_parts if begun else 0
        for part, text in enumerate(pieces[first:], first):
            is_last = part == len(pieces) - 1
            outgoing = Outgoing(
                id=f"{message.id}-{part}-{conversation.id[-12:]}",
                conversation=self._address,
                recipient=conversation.person,
                text=text,
                speaker=_speaker_of(message),
                answers_ref=conversation.last_ref,
                previous_refs=tuple(known),
                sources=_sources_of(shown) if is_last else (),
                buttons=controls.buttons if is_last else (),
                form=controls.form if is_last else None,
                files=files if is_last else (),
                subject=conversation.subject,
                language=language,
                is_reply=bool(message.run_id),
                last_heard=conversation.heard_at,
                is_proven=self._principal.kind is PrincipalKind.USER,
                earlier=earlier if is_last else (),
            )
            await self._enabled.pace.wait(self._address)
            if not await self._is_open():  # the person has opted out meanwhile
                return False
            try:
                sent = await self._transport.send(outgoing)
            except (TryLater, Unreachable, WindowClosed):
                raise
            except Failed as failure:
                await self._store.run(self._note, message.seq, part, "", is_last=True)
                self._refusal = failure
                return True
            self.has_sent = True
            known.append(sent.message_ref)
            moved = sent.conversation if sent.conversation != self._address else ""
            await self._store.run(
                self._note, message.seq, part, sent.message_ref, is_last=is_last, address=moved
            )
            if moved:
                self._address, known = moved, [sent.message_ref]
                conversation = msgspec.structs.replace(conversation, last_ref="")
                self._conversation = conversation
        return True

    async def _is_open(self) -> bool:
        found = await transport_reads.conversation(self._store, self._conversation.id)
        return found is not None and found.state is ConversationState.OPEN

    async def _earlier(self, seq: int) -> tuple[EarlierMessage, ...]:
        """Return the conversation before a message, as far as the platform shows it again."""
        count = self._transport.bounds.earlier
        if not count:
            return ()
        page = await reads.messages_between(
            self._store,
            self._conversation.thread_id,
            above=0,
            below=seq,
            limit=count,
            order="desc",
        )
        shown = await self._desk.reader.filter_readable(
            self._principal, self._conversation.thread_id, tuple(reversed(page.items))
        )
        return tuple(
            EarlierMessage(speaker=_author_of(one), text=_text_of(one), sent_at=one.created_at)
            for one in shown
        )

    def _note(
        self, seq: int, part: int, ref: str, *, is_last: bool, address: str = ""
    ) -> Work[None]:
        return note_sent(
            conversation_id=self._conversation.id,
            seq=seq,
            part=part,
            ref=ref,
            is_last=is_last,
            address=address,
        )

    async def _controls(self, message: Message, shown: Message) -> Controls:
        """Return the buttons or the form of a message, stored before it is sent."""
        now = int(self._outbox.clock())
        controls = Controls()
        if shown.content != message.content or any("{" in part for part in message.content):
            requests = await self._desk.open_requests.list_for_thread(
                self._principal, self._conversation.thread_id
            )
            whole = "".join(message.content)
            asked = [one for one in requests if one.answers_as is not None and one.id in whole]
            if asked:
                language = self._conversation.language or self._desk.site.language
                controls = offer_request(self._conversation.id, asked[0], now, language)
                if controls.form is not None:
                    url = self._outbox.link_form(controls.form.token)
                    form = msgspec.structs.replace(controls.form, url=url)
                    controls = msgspec.structs.replace(controls, form=form)
        elif options := message.metadata.get(SUGGESTED, ""):
            waits = message.metadata.get(WAITS, "")
            controls = offer_options(self._conversation.id, options.split("\n"), now, waits)
        if controls.kept:
            await self._store.run(put_controls, controls=controls.kept)
        return controls


def _text_of(message: Message) -> str:
    """Return the text of a message without its sources."""
    return "\n\n".join(part for part in message.content if not list_sources(part)).strip()


def _sources_of(message: Message) -> tuple[Source, ...]:
    found: Sequence[tuple[str, str]] = [
        source for part in message.content[1:] for source in list_sources(part)
    ]
    return tuple(Source(title=title, url=url) for title, url in found)


def _author_of(message: Message) -> str:
    """Return who wrote a message, as the others see them; empty for the agent."""
    if message.origin is Origin.DESK:
        return _speaker_of(message)
    return message.metadata.get(SENDER) or message.actor


def _speaker_of(message: Message) -> str:
    """Return the name of the operator who wrote a message; empty for the agent's."""
    _, found, name = message.actor.partition("/operators/")
    return name if found else ""
