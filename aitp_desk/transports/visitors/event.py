"""Handles one event: posts what a person says, and does what they choose."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

import msgspec
import structlog

from aitp_desk.capability import Unanswered
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.jobs.kinds import EarlyEnd, Finish
from aitp_desk.model.conversation.thread import Draft, ThreadDraft
from aitp_desk.model.errors import (
    DeskError,
    MessageNotFound,
    RateLimited,
    StoreBusy,
    ThreadNotFound,
    Unavailable,
)
from aitp_desk.model.ids import new_id
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.transports import Conversation, ConversationState
from aitp_desk.store.units.transports import (
    begin_conversation,
    confirm_conversation,
    hear_person,
    move_conversation,
    note_command,
)
from aitp_desk.transports.base import Failed
from aitp_desk.transports.contacts.contact_mail import CONFIRMATION
from aitp_desk.transports.contacts.continuation import (
    asks_for_code,
    asks_to_leave,
    find_code,
)
from aitp_desk.transports.events import (
    AutomaticMessage,
    ChatStart,
    Choice,
    ConversationMove,
    DeliveryFailure,
    Incoming,
    MessageEdit,
    MessageRemoval,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.host.controls import OPTION
from aitp_desk.transports.host.drafts import VIA, DraftMaker
from aitp_desk.transports.host.people import (
    address_apart,
    find_principal,
    find_resumed,
    hash_names,
    is_of_group,
    is_theirs,
    principal_of,
)
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.messages import Outgoing
from aitp_desk.transports.visitors.endings import end_all, end_one, leave
from aitp_desk.transports.visitors.services import VisitorServices

_NONE = TextMessage(text="", message_ref="")

_log = structlog.get_logger()


class VisitorEvent:
    """The handling of one event."""

    def __init__(
        self,
        services: VisitorServices,
        enabled: EnabledTransport,
        incoming: Incoming,
        claim: ClaimedJob,
    ) -> None:
        self._services = services
        self._store = services.store
        self._enabled = enabled
        self._incoming = incoming
        self._claim = claim
        self._now = int(services.clock())
        self._end = EarlyEnd(claim, self._now)
        self._desk = services.desks[incoming.agent or enabled.common.agent]
        # a secret that another person may have forwarded opens none
        self._actions = enabled.common.actions if incoming.is_proven else ()
        self._principal = find_principal(enabled.name, incoming, self._desk.name, self._actions)
        self._address = incoming.conversation
        self._drafts = DraftMaker(
            enabled,
            incoming,
            self._desk.files,
            language=self._language,
            failures=claim.failures,
        )

    async def run(self) -> Finish | None:
        """Handle the event, and return how its job ends."""
        conversation = await self._find()
        is_found = conversation is not None and self._address == self._incoming.conversation
        self._is_stranger = not (self._incoming.is_proven or is_found)
        if conversation is not None and (
            self._incoming.is_private or is_of_group(conversation, self._principal)
        ):
            self._principal = principal_of(conversation, self._actions)
            self._desk = self._services.desks[conversation.desk]
        if conversation is None and not self._incoming.is_addressed:
            return None
        if conversation is not None and await self._is_handled(conversation):
            return None  # by a job that is forgotten already
        return await self._handle(conversation)

    async def _handle(self, conversation: Conversation | None) -> Finish | None:
        match self._incoming.event:
            case TextMessage() as message:
                if await self._obey(conversation, message):
                    return await self._end_command(message.message_ref)
                await self._take_message(conversation, message)
            case MessageEdit() as edit:
                await self._take_edit(conversation, edit)
            case MessageRemoval() as removal:
                await self._remove(conversation, removal)
            case Choice() as choice:
                await self._choose(conversation, choice)
            case ChatStart(code=code):
                joins = code and find_code(f"join {code}")
                await (self._join(code) if joins else self._notify(self._say_of("greeting")))
            case ConversationMove(former=former):
                moved = {"transport": self._enabled.name, "address": self._incoming.conversation}
                await self._store.run(move_conversation, former=former, **moved)
            case OptOut() as wish:
                reason = "The person wants no more messages."
                await self._opt_out(conversation, reason, is_of_all=wish.is_of_all)
                return await self._end_command(wish.message_ref)
            case DeliveryFailure() as failure:
                return await self._note_failure(conversation, failure)
            case AutomaticMessage() as message:
                return self._note(conversation, f"{message.reason}\n\n{message.text}")
        return self._end.finish

    async def _find(self) -> Conversation | None:
        """Return the conversation of the event.

        Where another caller writes it is another one: the first one's thread is not theirs.
        """
        found = await self._read(self._address)
        if found is None or is_theirs(found, self._incoming, self._principal):
            return found
        self._address = address_apart(self._address, self._principal.id)
        return await self._read(self._address)

    async def _read(self, address: str) -> Conversation | None:
        return await transport_reads.conversation_at(self._store, self._enabled.name, address)

    async def _is_handled(self, conversation: Conversation) -> bool:
        event = self._incoming.event
        ref = event.message_ref if isinstance(event, TextMessage | OptOut) else ""
        return bool(ref) and await transport_reads.is_handled(self._store, conversation.id, ref)

    async def _obey(self, conversation: Conversation | None, message: TextMessage) -> bool:
        """Return whether a message was a command to the desk, having done it."""
        word = " ".join(message.text.split()).strip(" .!").casefold()
        if word in {one.casefold() for one in self._enabled.common.stop_words}:
            await self._opt_out(conversation, "The person has written a stop word.")
            await self._notify(self._say_of("stopped"))
        elif asks_for_code(message.text) and (conversation is None or self._may_leave):
            await self._give_code(conversation)
        elif code := find_code(message.text):
            await self._join(code)
        elif asks_to_leave(message.text):
            ref = message.message_ref or self._claim.id
            left = await leave(self._store, self._enabled.name, self._address, conversation, ref)
            if left is None:
                return True
            self._address = left
            await self._notify(self._say_of("left"))
        else:
            return False
        return True

    async def _end_command(self, ref: str) -> Finish:
        """Return the end of a job that has obeyed a message, which counts once."""
        conversation = await self._read(self._address) if ref else None
        if conversation is None:
            return self._end.finish
        return Finish(partial(note_command, conversation.id, ref))

    async def _take_message(self, conversation: Conversation | None, message: TextMessage) -> None:
        draft, refusals = await self._drafts.draft_message(self._principal, message)
        if draft is not None:
            has_words = draft.content != refusals or bool(draft.attachments)
            said = self._say(conversation, draft, message, is_answered=has_words)
            await asyncio.gather(said, self._enabled.show_typing(self._incoming))
            with suppress(Failed, Unanswered):  # they are on the thread too
                await self._notify("\n\n".join(refusals))

    @property
    def _may_leave(self) -> bool:
        """Whether a code reaches the person alone, at their own wish."""
        incoming = self._incoming
        return incoming.is_private and (incoming.is_proven or incoming.holds_secret)

    async def _give_code(self, conversation: Conversation | None) -> None:
        if conversation is None:  # there is nothing to go on with
            await self._notify(self._say_of("greeting"))
            return
        code = await self._services.continuations.give_code(conversation, self._language)
        await self._notify(code)

    async def _join(self, code: str) -> None:
        is_joined = False
        if self._incoming.is_private and self._incoming.is_proven:  # a secret may be forwarded
            principal = find_principal(self._enabled.name, self._incoming, self._desk.name)
            is_joined = await self._services.continuations.take_code(
                self._incoming, self._enabled.name, principal, self._address, code, self._claim
            )
        await self._notify(self._say_of("joined" if is_joined else "code_invalid"))

    async def _say(
        self,
        conversation: Conversation | None,
        draft: Draft,
        message: TextMessage = _NONE,
        token: str = "",
        *,
        is_answered: bool = True,
    ) -> None:
        """Post a message on its thread or a new one, and end the job.

        Parameters:
            token: of the pressed button, which is used up; empty for none.
        """
        request = self._request(is_counted=self._may_be_answered and is_answered)
        ref, trimmed = message.message_ref, (message.trimmed, self._enabled.name, self._now)
        noted = self._services.notes.add_trimmed
        if conversation is not None:
            language, now, end = self._incoming.language, self._now, self._end.write
            also = partial(
                hear_person,
                conversation.id,
                ref,
                language,
                now=now,
                token=token,
                end=end,
                resumed=find_resumed(conversation, self._services.hash_person),
            )
            try:
                await self._desk.threads.post(
                    self._principal, conversation.thread_id, draft, request, noted(also, *trimmed)
                )
            except ThreadNotFound:  # it was deleted, or has passed its time
                pass
            except MessageNotFound:  # an earlier attempt has posted it, and it was deleted
                return
            else:
                return
        begun = self._drafts.make_conversation(
            self._principal, self._address, message.subject, self._now
        )
        await self._desk.threads.open(
            self._principal,
            ThreadDraft((draft,), metadata={VIA: self._enabled.name}),
            request,
            noted(
                partial(
                    begin_conversation,
                    begun,
                    ref,
                    now=self._now,
                    end=self._end.write,
                    resumed=hash_names(
                        self._principal.id,
                        self._enabled.name,
                        self._address,
                        self._services.hash_person,
                    ),
                ),
                *trimmed,
            ),
        )

    @cached_property
    def _refusal(self) -> RateLimited | None:
        """Count the event once, and return the refusal if the limits allow no answer."""
        count, limiter = self._services.limits.count, self._desk.limiter
        return count(limiter, self._principal, self._enabled, is_stranger=self._is_stranger)

    @property
    def _may_be_answered(self) -> bool:
        return self._refusal is None

    def _request(self, *, is_counted: bool = True) -> RequestInfo:
        """Return what makes a repetition of the event harmless.

        Parameters:
            is_counted: whether an answer is allowed; else the message is only recorded.
        """
        path = f"/transports/{self._enabled.name}"
        return RequestInfo("POST", path, b"", self._claim.ref, manual=not is_counted)

    async def _take_edit(self, conversation: Conversation | None, edit: MessageEdit) -> None:
        found = await self._own_message(conversation, edit.message_ref)
        if conversation is None or found is None or not edit.text.strip():
            return
        text = say("edited", self._language, text=edit.text)
        draft = Draft("user", (text,), metadata=self._drafts.make_metadata(edits=found))
        await self._say(conversation, draft)

    async def _remove(self, conversation: Conversation | None, removal: MessageRemoval) -> None:
        found = await self._own_message(conversation, removal.message_ref)
        if conversation is None or found is None:
            return
        with suppress(MessageNotFound, ThreadNotFound):  # it is gone already
            await self._desk.threads.delete_message(self._principal, conversation.thread_id, found)

    async def _own_message(self, conversation: Conversation | None, ref: str) -> str | None:
        """Return the id of a message of this person, by its platform id."""
        if conversation is None:
            return None
        found = await transport_reads.message_called(self._store, conversation.id, ref)
        return found.id if found is not None and found.principal == self._principal.id else None

    async def _choose(self, conversation: Conversation | None, choice: Choice) -> None:
        control = await transport_reads.control(self._store, choice.token)
        if (
            conversation is None
            or control is None
            or control.conversation != conversation.id
            or control.expires_at < self._now
            or conversation.person != self._incoming.sender
        ):
            await self._enabled.acknowledge(self._incoming, self._say_of("choice_over"))
            return
        if control.capability == CONFIRMATION:
            await self._confirm(conversation, control.token)
            return
        values: dict[str, Any] = msgspec.json.decode(control.answer)
        if control.capability == OPTION:
            text = values.pop("text")
            draft = Draft("user", (text,), metadata=self._drafts.make_metadata(**values))
            await self._say(conversation, draft, token=control.token)
            await self._enabled.acknowledge(self._incoming, "")
            return
        if self._refusal is not None:  # what was chosen counts when the limit allows it
            raise self._refusal
        also = partial(
            hear_person,
            conversation.id,
            "",
            self._incoming.language,
            now=self._now,
            resumed=find_resumed(conversation, self._services.hash_person),
        )
        try:
            await self._desk.open_requests.answer_request(
                self._principal,
                conversation.thread_id,
                (control.capability, control.request),
                {**choice.values, **values},
                self._request(),
                also,
            )
        except (RateLimited, Unavailable, StoreBusy):
            raise
        except DeskError as error:
            await self._enabled.acknowledge(self._incoming, str(error))
            return
        await self._enabled.acknowledge(self._incoming, "")

    async def _confirm(self, conversation: Conversation, token: str) -> None:
        """Open a conversation whose person has confirmed the address."""
        thread_id = await self._store.run(
            confirm_conversation,
            conversation_id=conversation.id,
            token=token,
            grant_id=new_id("grant", self._now),
            now=self._now,
            resumed=find_resumed(conversation, self._services.hash_person),
        )
        if thread_id is not None:
            self._services.on_change(thread_id)
        await self._enabled.acknowledge(self._incoming, self._say_of("confirmed"))

    async def _opt_out(
        self, conversation: Conversation | None, reason: str, *, is_of_all: bool = True
    ) -> None:
        services, principal = self._services, self._principal
        if is_of_all:
            await end_all(services, self._enabled, self._incoming, principal, conversation, reason)
        elif conversation is not None:
            await end_one(self._store, conversation, ConversationState.STOPPED, reason)

    async def _note_failure(
        self, conversation: Conversation | None, failure: DeliveryFailure
    ) -> Finish | None:
        if conversation is None:
            return None
        if failure.is_final or failure.is_window_closed:
            state = ConversationState.UNREACHABLE if failure.is_final else ConversationState.WAITING
            await end_one(self._store, conversation, state, failure.reason)
        return self._note(conversation, f"A message was not delivered. {failure.reason}")

    def _note(self, conversation: Conversation | None, words: str) -> Finish | None:
        """Return the end of the job that writes a note for operators."""
        if conversation is None:
            _log.info("automatic_message_dropped", transport=self._enabled.name)
            return None
        make = self._services.notes.make
        return make(conversation.thread_id, words, self._enabled.name, self._now)

    @property
    def _language(self) -> str:
        """The language of the person's app; by default the site's."""
        return self._incoming.language or self._desk.site.language

    def _say_of(self, key: str) -> str:
        return say(key, self._language, site=self._desk.site.name)

    async def _notify(self, text: str) -> None:
        """Send a sentence about the conversation, which is on no thread; empty for none."""
        if not text or not self._may_be_answered:
            return
        incoming = self._incoming
        answered = incoming.event if isinstance(incoming.event, TextMessage) else _NONE
        await self._enabled.send(
            Outgoing(
                id=self._claim.id,
                conversation=incoming.conversation,
                recipient=incoming.sender,
                text=text,
                answers_ref=answered.message_ref,
                subject=answered.subject,
                language=self._language,
                is_proven=incoming.is_proven,
            )
        )
