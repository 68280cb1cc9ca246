"""Posts plain messages in the commit that stores their events.

Most events are messages of people whom the desk knows, with nothing to do but to post them. Each of
these costs one commit, and no job that is queued, claimed and ended: it is on its thread when the
platform gets its acknowledgement. All other events are handled by jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.tickets.bindings import find_code as find_operator_code
from aitp_desk.model.conversation.thread import Draft
from aitp_desk.model.errors import DeskError, StoreBusy
from aitp_desk.store.base import Store
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.records.transports import Conversation, ConversationState
from aitp_desk.store.units.transport_events import NotNext, take_message
from aitp_desk.store.units.transports import hear_person
from aitp_desk.transports.base import Transport
from aitp_desk.transports.contacts.continuation import is_command
from aitp_desk.transports.events import Incoming, TextMessage
from aitp_desk.transports.host.answer_limits import AnswerLimits
from aitp_desk.transports.host.drafts import DraftMaker
from aitp_desk.transports.host.operator_notes import OperatorNotes
from aitp_desk.transports.host.people import (
    is_blocked,
    is_of_group,
    is_theirs,
    name_caller,
    principal_of,
)
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.settings import CommonSettings

MOST_SHOWN = 64
"""How many platforms' calls that show typing may run at once."""
MOST_KNOWN = 1024
"""How many conversations are kept in memory."""


class PlainMessages:
    """Posts the messages of events, where nothing else is to be done.

    A conversation whose newest event was posted here is kept in memory until the next one. The unit
    that posts a message verifies that it is still the one at its address.

    Parameters:
        transports: those of the site, by name.
        desks: of the site's agents, by name.
        notes: writes notes for operators.
        limits: of answers.
        clock: Unix seconds.
        start: starts work in the background.
    """

    def __init__(
        self,
        transports: Mapping[str, EnabledTransport],
        desks: Mapping[str, Desk],
        *,
        store: Store,
        notes: OperatorNotes,
        limits: AnswerLimits,
        clock: Callable[[], float],
        start: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._transports = transports
        self._desks = desks
        self._store = store
        self._notes = notes
        self._limits = limits
        self._clock = clock
        self._start = start
        self._shown = 0
        self._known: dict[tuple[str, str], Conversation] = {}

    async def post(self, transport: str, incoming: Incoming) -> bool:
        """Post the message of an event; then it needs no job.

        Returns:
            Whether the message is on its thread; if not, nothing was stored.

        Raises:
            StoreBusy: nothing was stored.
        """
        place = (transport, incoming.conversation)
        known = self._known.pop(place, None)
        enabled, message = self._transports[transport], incoming.event
        if not isinstance(message, TextMessage) or not _is_plain(message, enabled.common):
            return False
        if not incoming.is_proven or is_blocked(incoming.sender, enabled.common.blocked):
            return False
        caller = name_caller(transport, incoming)
        conversation = known or await transport_reads.conversation_at_rest(
            self._store, *place, caller, message.message_ref
        )
        if conversation is None:  # or it is counted when its turn comes
            return await self._is_repeated(transport, incoming, message, caller)
        try:
            if not await self._post(enabled, conversation, incoming, message, caller):
                return False
        except StoreBusy:
            raise
        except NotNext:
            if known is not None:  # it has changed since
                return await self.post(transport, incoming)
            return await self._is_repeated(transport, incoming, message, caller)
        except DeskError:  # what became of the event is for its job to say
            return False
        self._keep(place, conversation)
        if type(enabled.transport).show_typing is not Transport.show_typing:
            self._show_typing(enabled, incoming)
        return True

    def _keep(self, place: tuple[str, str], conversation: Conversation) -> None:
        if len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[place] = conversation

    async def _is_repeated(
        self, transport: str, incoming: Incoming, message: TextMessage, caller: str
    ) -> bool:
        ref = message.message_ref
        return await transport_reads.is_handled(
            self._store, transport, incoming.conversation, ref, caller
        )

    def _show_typing(self, enabled: EnabledTransport, incoming: Incoming) -> None:
        """Show it in the background, unless many of these wait for platforms."""

        async def show() -> None:
            try:
                await enabled.show_typing(incoming)
            finally:
                self._shown -= 1

        if self._shown < MOST_SHOWN:
            self._shown += 1
            self._start(show())

    async def _post(
        self,
        enabled: EnabledTransport,
        conversation: Conversation,
        incoming: Incoming,
        message: TextMessage,
        caller: str,
    ) -> bool:
        desk = self._desks.get(conversation.desk)
        if desk is None or (incoming.agent and incoming.agent not in self._desks):
            return False
        if conversation.state is not ConversationState.OPEN:
            return False
        if not _is_of(conversation, incoming, caller):
            return False
        thread_id, judge = conversation.thread_id, desk.judge
        if judge.read_parts((message.text,)) or (
            judge.understands_words and await judge.list_open_requests(thread_id)
        ):  # what a capability does then may take longer than a platform waits
            return False
        actions = enabled.common.actions if incoming.is_proven else ()
        principal, now = principal_of(conversation, actions), int(self._clock())
        drafts = DraftMaker(
            enabled,
            incoming,
            desk.files,
            language=incoming.language or desk.site.language,
            failures=0,
        )
        draft = Draft("user", (message.text,), metadata=drafts.make_metadata())
        refused = self._limits.count(desk.limiter, principal, enabled)
        path = f"/transports/{enabled.name}"
        also = partial(
            hear_person, conversation.id, message.message_ref, incoming.language, now=now
        )
        first = partial(take_message, conversation, caller, message.message_ref)
        try:
            await desk.messages.post_message(
                principal,
                thread_id,
                draft,
                RequestInfo("POST", path, b"", manual=refused is not None),
                self._notes.add_trimmed(also, message.trimmed, enabled.name, now),
                first,
            )
        except (DeskError, NotNext):
            desk.limiter.give_back(principal, "converse")
            raise
        return True


def _is_plain(message: TextMessage, common: CommonSettings) -> bool:
    """Return whether a message asks for nothing but an answer, and is no operator's."""
    text = message.text
    if common.operators or message.files or message.refusals or not text.strip():
        return False
    if not message.message_ref:  # only its job would tell it from a repetition
        return False
    return not (common.is_stop_word(text) or is_command(text) or find_operator_code(text))


def _is_of(conversation: Conversation, incoming: Incoming, caller: str) -> bool:
    """Return whether an event is of those to whom its conversation belongs."""
    if not is_theirs(conversation, incoming, caller):
        return False
    return incoming.is_private or is_of_group(conversation, caller)
