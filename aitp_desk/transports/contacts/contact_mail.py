"""Offers visitors who have left an email address to go on by mail.

The address is unproven until its owner presses the button of the first mail, which says nothing of
the conversation: anybody can leave anybody's address. Who has unsubscribed gets none, nor who is
blocked, nor who has got some that day.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from aitp_desk.agent.history.message_codec import LOCALE
from aitp_desk.config import Site
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.jobs.kinds import JobKind
from aitp_desk.model.access.principal import name_contact
from aitp_desk.model.ids import id_from
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.transports import Control, ConversationState, NewConversation
from aitp_desk.store.units.tickets.contacts import CONTACT_KIND
from aitp_desk.store.units.transports import note_sent, offer_conversation
from aitp_desk.transports.base import Failed
from aitp_desk.transports.host.failures import job_failure
from aitp_desk.transports.host.people import HashPerson, is_blocked
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.messages import Button, Outgoing

CONFIRMATION = "confirmation"
"""In place of a capability: the button confirms an address."""
KEPT_SECONDS = 3 * 24 * 60 * 60
MOST_UNANSWERED = 3
"""Questions to an address within a day, from all threads."""
DELAYS = (10, 60, 300, 1800)
SECONDS = 60
AT_ONCE = 4
NEWEST = 20
"""How many messages of a thread are searched for the visitor's language."""


class ContactMail:
    """Asks the owners of addresses whether they want mail.

    Parameters:
        mail: the transport whose people are addresses.
        secret: derives what only this desk can derive from a text.
        hash_person: hashes the callers that people are.
        clock: Unix seconds.
    """

    def __init__(
        self,
        mail: EnabledTransport,
        *,
        store: Store,
        site: Site,
        secret: bytes,
        hash_person: HashPerson,
        clock: Callable[[], float],
    ) -> None:
        self._mail = mail
        self._store = store
        self._site = site
        self._secret = secret
        self._hash_person = hash_person
        self._clock = clock

    def make_kind(self) -> JobKind:
        """Create the kind of job that asks."""
        return JobKind(CONTACT_KIND, self.ask, SECONDS, DELAYS, AT_ONCE)

    async def ask(self, claim: ClaimedJob) -> None:
        """Send the mail with the button; a repeated job sends the same mail.

        Raises:
            Retry: the mail server does not take it now.
            GiveUp: it takes it at no time.
        """
        ticket_id, _, _ = claim.ref.partition(" ")
        ticket = await ticket_reads.ticket(self._store, ticket_id)
        if ticket is None or not ticket.contact or ticket.thread_id is None or ticket.is_over:
            return
        person = ticket.contact.lower()  # as in the mails that it sends
        if is_blocked(person, self._mail.common.blocked):
            return
        proven, unproven = (
            name_contact(self._mail.name, person, is_proven=one) for one in (True, False)
        )
        language = await self._find_language(ticket.thread_id)
        random = hashlib.shake_256(self._secret + claim.id.encode()).digest(64)
        id_ = id_from("conversation", claim.created_at, random)
        token = hashlib.sha256(b"confirm" + random).hexdigest()[:48]
        address = f"offered {id_}"
        now = int(self._clock())
        await self._store.run(
            offer_conversation,
            conversation=NewConversation(
                id=id_,
                transport=self._mail.name,
                address=address,
                desk=claim.desk,
                person=person,
                principal=proven,
                language=language,
                subject=say("confirm_subject", language, site=self._site.name),
            ),
            unproven=unproven,
            thread_id=ticket.thread_id,
            control=Control(
                token=token,
                conversation=id_,
                capability=CONFIRMATION,
                request="",
                answer="{}",
                expires_at=now + KEPT_SECONDS,
            ),
            now=now,
            most=MOST_UNANSWERED,
            after=now - DAY_SECONDS,
            people=(self._hash_person(proven), self._hash_person(unproven)),
        )
        offered = await transport_reads.conversation(self._store, id_)
        if offered is None or offered.state is not ConversationState.OFFERED:
            return
        try:
            sent = await self._mail.send(
                Outgoing(
                    id=claim.id,
                    conversation=offered.address,
                    recipient=person,
                    text=say("confirm", language, site=self._site.name),
                    buttons=(
                        Button(label=say("confirm_label", language), token=token, style="primary"),
                    ),
                    subject=offered.subject,
                    language=language,
                    is_reply=False,
                )
            )
        except Failed as failure:
            raise job_failure(failure) from None
        await self._store.run(
            note_sent,
            conversation_id=id_,
            seq=0,
            part=0,
            ref=sent.message_ref,
            is_last=True,
            address=sent.conversation,
        )

    async def _find_language(self, thread_id: str) -> str:
        """Return the language of the page on which a visitor wrote last."""
        newest = await reads.newest_messages(self._store, thread_id, NEWEST)
        named = (one.metadata[LOCALE] for one in reversed(newest) if LOCALE in one.metadata)
        return next(named, self._site.language)
