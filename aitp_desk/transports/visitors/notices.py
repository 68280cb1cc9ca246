"""Sends sentences about a conversation, which are on no thread."""

from __future__ import annotations

from functools import cached_property

from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import RateLimited
from aitp_desk.store.reads.transports import has_stop_after
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.units.transport_events import EVENT_KIND
from aitp_desk.transports.events import Incoming, TextMessage
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.messages import Outgoing
from aitp_desk.transports.visitors.services import VisitorServices

NO_MESSAGE = TextMessage(text="", message_ref="")


class Notices:
    """The sentences that answer one event.

    Parameters:
        desk, principal: of the conversation.
        is_stranger: as of :meth:`~aitp_desk.transports.host.answer_limits.AnswerLimits.count`.
    """

    def __init__(
        self,
        services: VisitorServices,
        enabled: EnabledTransport,
        incoming: Incoming,
        claim: ClaimedJob,
        *,
        desk: Desk,
        principal: Principal,
        is_stranger: bool,
    ) -> None:
        self._services = services
        self._enabled = enabled
        self._incoming = incoming
        self._claim = claim
        self._desk = desk
        self._principal = principal
        self._is_stranger = is_stranger

    @cached_property
    def refusal(self) -> RateLimited | None:
        """Count the event once, and return the refusal if the limits allow no answer."""
        count, limiter = self._services.limits.count, self._desk.limiter
        return count(limiter, self._principal, self._enabled, is_stranger=self._is_stranger)

    @property
    def language(self) -> str:
        """The language of the person's app; by default the site's."""
        return self._incoming.language or self._desk.site.language

    def say(self, key: str) -> str:
        """Return a sentence in that language."""
        return say(key, self.language, site=self._desk.site.name)

    async def tell(self, key: str, *, is_owed: bool = False) -> None:
        """Send a sentence, as :meth:`send` does."""
        await self.send(self.say(key), is_owed=is_owed)

    async def send(self, text: str, *, is_owed: bool = False) -> None:
        """Send a text; nothing if it is empty, or if the person has opted out since.

        Parameters:
            is_owed: whether it is sent whatever the limits of answers are.

        Raises:
            Failed, Unanswered: it was not sent.
        """
        incoming, store = self._incoming, self._services.store
        if not text or (self.refusal is not None and not is_owed):
            return
        if self._claim.kind == EVENT_KIND and await has_stop_after(store, self._claim):
            return
        answered = incoming.event if isinstance(incoming.event, TextMessage) else NO_MESSAGE
        await self._enabled.send(
            Outgoing(
                id=self._claim.id,
                conversation=incoming.conversation,
                recipient=incoming.sender,
                text=text,
                answers_ref=answered.message_ref,
                subject=answered.subject,
                language=self.language,
                is_proven=incoming.is_proven,
            )
        )
