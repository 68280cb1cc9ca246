"""Handles one event: posts what a person says, and does what they choose."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

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
from aitp_desk.store.base import Work
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.transports import EDITS, Conversation, ConversationState, has_left
from aitp_desk.store.units.transports import (
    STOP_REASON,
    AlsoDone,
    begin_conversation,
    confirm_conversation,
    hear_person,
    move_conversation,
    note_command,
    opt_out_again,
)
from aitp_desk.transports.base import Failed
from aitp_desk.transports.contacts.contact_mail import CONFIRMATION
from aitp_desk.transports.contacts.continuation import (
    NO_CODE,
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
    name_caller,
    principal_of,
)
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.visitors import changes
from aitp_desk.transports.visitors.endings import end_all, end_one, leave, name_person
from aitp_desk.transports.visitors.machines import find_thread, record_automatic
from aitp_desk.transports.visitors.notices import NO_MESSAGE, Notices
from aitp_desk.transports.visitors.services import VisitorServices

_OPT_OUT = OptOut()


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
            language=incoming.language or self._desk.site.language,
            failures=claim.failures,
        )

    async def run(self) -> Finish | None:
        """Handle the event, and return how its job ends."""
        conversation = await self._find()
        if isinstance(self._incoming.event, MessageEdit | MessageRemoval):
            named = (self._enabled, self._address, self._incoming, self._principal)
            conversation = await changes.find_changed(self._store, *named) or conversation
        is_found = conversation is not None and self._address == self._incoming.conversation
        if conversation is not None and (
            self._incoming.is_private or is_of_group(conversation, self._principal.id)
        ):
            self._principal = principal_of(conversation, self._actions)
            self._desk = self._services.desks[conversation.desk]
        if conversation is None and not self._incoming.is_addressed:
            return None
        if await self._is_handled():
            return None  # by a job that is forgotten already
        self._notices = Notices(
            self._services,
            self._enabled,
            self._incoming,
            self._claim,
            desk=self._desk,
            principal=self._principal,
            is_stranger=not (self._incoming.is_proven or is_found),
        )
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
                ref, deletion = removal.message_ref, self._desk.deletion
                await changes.remove_message(
                    self._store, deletion, conversation, ref, self._principal
                )
            case Choice() as choice:
                await self._choose(conversation, choice)
            case ChatStart(code=code):
                joins = code and find_code(f"join {code}")
                await (self._join(code) if joins else self._notices.tell("greeting"))
            case ConversationMove(former=former):
                moved = {"transport": self._enabled.name, "address": self._incoming.conversation}
                await self._store.run(move_conversation, former=former, **moved)
            case OptOut() as wish:
                await self._opt_out(conversation, wish)
                return await self._end_command(wish.message_ref)
            case DeliveryFailure() as failure:
                return await self._note_failure(conversation, failure)
            case AutomaticMessage() as message:
                return await self._note_automatic(conversation, message)
        return self._end.finish

    async def _find(self) -> Conversation | None:
        """Return the conversation of the event.

        Where another caller writes it is another one: the first one's thread is not theirs.
        """
        found = await self._read(self._address)
        if found is None or is_theirs(found, self._incoming, self._principal.id):
            return found
        self._address = address_apart(self._address, self._principal.id)
        return await self._read(self._address)

    async def _read(self, address: str) -> Conversation | None:
        return await transport_reads.conversation_at(self._store, self._enabled.name, address)

    async def _is_handled(self) -> bool:
        event = self._incoming.event
        ref = event.message_ref if isinstance(event, TextMessage | OptOut) else ""
        caller = name_caller(self._enabled.name, self._incoming)
        named = (self._enabled.name, self._address, ref, caller)
        return bool(ref) and await transport_reads.is_handled(self._store, *named)

    async def _obey(self, conversation: Conversation | None, message: TextMessage) -> bool:
        """Return whether a message was a command to the desk, having done it."""
        if self._enabled.common.is_stop_word(message.text):
            is_new = await self._opt_out(conversation) or self._claim.failures > 0
            await self._notices.tell("stopped", is_owed=is_new)
        elif asks_for_code(message.text) and (conversation is None or self._may_leave):
            await self._give_code(conversation)
        elif code := find_code(message.text):
            await self._join(code)
        elif asks_to_leave(message.text):
            ref = message.message_ref or self._claim.id
            self._address = await leave(self._store, self._address, conversation, ref)
            await self._notices.tell("left")
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
                await self._notices.send("\n\n".join(refusals))

    @property
    def _may_leave(self) -> bool:
        """Whether a code reaches the person alone, at their own wish."""
        incoming = self._incoming
        return incoming.is_private and (incoming.is_proven or incoming.holds_secret)

    async def _give_code(self, conversation: Conversation | None) -> None:
        if conversation is None:  # there is nothing to go on with
            await self._notices.tell("greeting")
            return
        code = await self._services.continuations.give_code(conversation, self._notices.language)
        await self._notices.send(code)

    async def _join(self, code: str) -> None:
        told = NO_CODE
        if self._incoming.is_private and self._incoming.is_proven:  # a secret may be forwarded
            name, incoming = self._enabled.name, self._incoming
            principal = find_principal(name, incoming, self._desk.name)
            also, take = self._opt_out_again(principal.id), self._services.continuations.take_code
            told = await take(incoming, name, principal, self._address, code, self._claim, also)
        await self._notices.tell(told)

    async def _say(
        self,
        conversation: Conversation | None,
        draft: Draft,
        message: TextMessage = NO_MESSAGE,
        token: str = "",
        *,
        is_answered: bool = True,
    ) -> None:
        """Post a message on its thread or a new one, and end the job.

        Parameters:
            token: of the pressed button, which is used up; empty for none.
        """
        request = self._request(is_counted=self._notices.refusal is None and is_answered)
        ref, trimmed = message.message_ref, (message.trimmed, self._enabled.name, self._now)
        noted = self._services.notes.add_trimmed
        if conversation is not None:
            also = partial(
                hear_person,
                conversation.id,
                ref,
                self._incoming.language,
                now=self._now,
                token=token,
                end=self._end_of(conversation.principal),
                resumed=find_resumed(conversation, self._services.hash_person),
            )
            try:
                await self._desk.messages.post_message(
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
        person = (self._principal.id, self._enabled.name, self._address)
        await self._desk.creation.open_thread(
            self._principal,
            ThreadDraft((draft,), metadata={VIA: self._enabled.name}),
            request,
            also=noted(
                partial(
                    begin_conversation,
                    begun,
                    ref,
                    now=self._now,
                    end=self._end_of(self._principal.id),
                    resumed=hash_names(*person, self._services.hash_person),
                ),
                *trimmed,
            ),
        )

    def _request(self, *, is_counted: bool = True) -> RequestInfo:
        """Return what makes a repetition of the event harmless.

        Parameters:
            is_counted: whether an answer is allowed; else the message is only recorded.
        """
        path = f"/transports/{self._enabled.name}"
        return RequestInfo("POST", path, b"", self._claim.ref, manual=not is_counted)

    async def _take_edit(self, conversation: Conversation | None, edit: MessageEdit) -> None:
        ref = edit.message_ref
        found = await changes.find_own_message(self._store, conversation, ref, self._principal)
        if conversation is None or found is None or not edit.text.strip():
            return
        text = say("edited", self._notices.language, text=edit.text)
        if await changes.says_already(self._store, conversation.thread_id, found, edit.text, text):
            return
        draft = Draft("user", (text,), metadata=self._drafts.make_metadata(**{EDITS: found}))
        if not has_left(conversation):
            await self._say(conversation, draft)
            return
        request = self._request(is_counted=False)  # there, nothing is answered any more
        post = self._desk.messages.post_message
        with suppress(ThreadNotFound):
            await post(self._principal, conversation.thread_id, draft, request)

    async def _choose(self, conversation: Conversation | None, choice: Choice) -> None:
        control = await transport_reads.control(self._store, choice.token)
        if (
            conversation is None
            or control is None
            or control.conversation != conversation.id
            or control.expires_at < self._now
            or conversation.person != self._incoming.sender
        ):
            await self._acknowledge(self._notices.say("choice_over"))
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
        if self._notices.refusal is not None:  # what was chosen counts when the limit allows it
            raise self._notices.refusal
        also = partial(
            hear_person,
            conversation.id,
            "",
            self._incoming.language,
            now=self._now,
            end=self._opt_out_again(conversation.principal),
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
            await self._acknowledge(str(error))
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
            also=self._opt_out_again(conversation.principal),
        )
        if thread_id is not None:
            self._services.on_change(thread_id)
        await self._acknowledge(self._notices.say("confirmed"))

    async def _acknowledge(self, notice: str) -> None:
        """Say what has become of a choice, where nothing else says so."""
        await self._enabled.acknowledge(self._incoming, notice, self._claim.failures)

    async def _opt_out(self, conversation: Conversation | None, wish: OptOut = _OPT_OUT) -> bool:
        """Send the person nothing more, and return whether they got messages until now."""
        if not wish.is_of_all:
            if conversation is not None:
                await end_one(self._store, conversation, ConversationState.STOPPED, STOP_REASON)
            return False
        whose = (self._incoming, self._principal, conversation)
        return await end_all(self._services, self._enabled, *whose)

    def _opt_out_again(self, whose: str) -> AlsoDone:
        """Return what keeps an opt-out that came after the event.

        Parameters:
            whose: id of the caller who would be resumed.
        """
        named = name_person(self._services, self._enabled, self._incoming, whose)
        return partial(opt_out_again, job=self._claim, **named)

    def _end_of(self, whose: str) -> AlsoDone:
        """Return the end of the job of an event that resumes a person."""
        keep = self._opt_out_again(whose)

        def end() -> Work[None]:
            yield from keep()
            yield from self._end.write()

        return end

    async def _note_failure(
        self, conversation: Conversation | None, failure: DeliveryFailure
    ) -> Finish | None:
        if conversation is not None and (failure.is_final or failure.is_window_closed):
            state = ConversationState.UNREACHABLE if failure.is_final else ConversationState.WAITING
            await end_one(self._store, conversation, state, failure.reason)
        ref, words = failure.message_ref, f"A message was not delivered. {failure.reason}"
        return await self._note(conversation, ref, words)

    async def _note_automatic(
        self, conversation: Conversation | None, message: AutomaticMessage
    ) -> Finish:
        words = f"{message.reason}\n\n{message.text}"
        if (noted := await self._note(conversation, message.answers_ref, words)) is not None:
            return noted
        if not self._incoming.holds_secret:  # else its conversation is gone, maybe erased
            metadata, request = self._drafts.make_metadata(), self._request(is_counted=False)
            record = partial(record_automatic, self._desk, self._services.notes, self._principal)
            await record(message, request, metadata, self._end, self._now)
        return self._end.finish

    async def _note(self, about: Conversation | None, ref: str, words: str) -> Finish | None:
        """Return the end of the job that writes a note for operators; None without a thread."""
        name, make = self._enabled.name, self._services.notes.make
        thread_id = await find_thread(self._store, name, about, self._address, ref)
        return make(thread_id, words, name, self._now) if thread_id is not None else None
