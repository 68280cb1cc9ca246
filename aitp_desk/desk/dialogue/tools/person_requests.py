"""Requests a person when a visitor asks for one, or the agent cannot answer.

The setting ``tickets.people`` says how far this goes. The reply is stored in one commit with the
ticket, and its text depends on the outcome (``store/units/tickets/requests.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, tzinfo

import msgspec

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Answer, Said, SiteFacts
from aitp_desk.agent.extractive.agent import cut_text
from aitp_desk.agent.extractive.dialogue.context import asks_backwards
from aitp_desk.agent.history.message_codec import OFFERS_PERSON, write_reply
from aitp_desk.agent.history.window import get_text
from aitp_desk.agent.speech import Speech, speech_of
from aitp_desk.agent.speech.person_request import PersonRequest, agrees_to_person, asks_for_person
from aitp_desk.config import Tickets
from aitp_desk.config.opening_hours import read_opening_hours
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.model.conversation.ticket import (
    LONGEST_NOTE,
    TICKET_PREFIX,
    StoredTicket,
    TicketKind,
    TicketState,
    shorten,
    to_summary_line,
)
from aitp_desk.model.ids import new_id
from aitp_desk.store.units.tickets.requests import PersonAsked

PEOPLE_FROM = "people_from"
"""Metadata of a message that says that a person was asked: Unix seconds when people answer next."""
_BETWEEN = "\n\n"
_HOUR = 60 * 60
_DIGITS = 32
"""Kept length of a digest, in hexadecimal digits."""


class PersonRequests:
    """Requests people, at one desk.

    Parameters:
        desk: its name; empty for the site's own.
        digest: pseudonymizes a caller: identity and address cannot be read from the result.
        clock: Unix seconds.
        zone: the time zone of the opening hours.
    """

    def __init__(
        self,
        settings: Tickets,
        *,
        desk: str,
        site: SiteFacts,
        digest: Callable[[bytes], bytes],
        clock: Callable[[], float],
        zone: tzinfo = UTC,
    ) -> None:
        self._settings = settings
        self._hours = read_opening_hours(settings.hours, settings.exceptions)
        self._zone = zone
        self._desk = desk
        self._site = site
        self._digest = digest
        self._clock = clock

    @property
    def is_available(self) -> bool:
        """Whether a visitor who asks for a person gets one."""
        return self._settings.people != "off"

    def is_request(self, words: str) -> bool:
        """Return whether a whole sentence asks for a person, and there are some."""
        return self.parse_request(words, None, in_full=True) is not None

    def parse_request(
        self, words: str, unanswered: str | None, *, in_full: bool = False
    ) -> PersonRequest | None:
        """Return what a visitor's words ask of people; None for the agent's.

        Parameters:
            unanswered: the question for which the desk's last reply offered to ask a person; None
                for no such offer.
            in_full: whether only a sentence asks for a person, and not a word such as ``human``.
        """
        if not self.is_available:
            return None
        if unanswered is not None:
            agreed = agrees_to_person(words) or asks_for_person(words, in_full=in_full)
            return None if agreed is None else PersonRequest("question", unanswered, "", agreed.tag)
        asked = asks_for_person(words, in_full=in_full)
        return None if asked is None else PersonRequest("request", words, "", asked.tag)

    def review_reply(
        self,
        said: Said,
        question: str,
        unanswered: str | None,
        language: str,
        max_tokens: int | None,
    ) -> Said:
        """Add the offer or request of a person to an agent's reply.

        It is added if the reply does not answer, or the agent wants a person.

        Parameters:
            question: the visitor's words.
            unanswered: as of :meth:`parse_request`.
            language: of the offer, if the reply is in no other.
            max_tokens: maximum length of the text; an offer that does not fit is omitted.
        """
        if not isinstance(said, Answer):
            return said
        speech = speech_of(language)
        if said.person is not None:
            wanted = msgspec.structs.replace(said.person, language=speech.tag)
            if unanswered is not None:
                wanted = msgspec.structs.replace(wanted, why="question", about=unanswered)
            return msgspec.structs.replace(said, person=wanted)
        if said.found or asks_backwards(
            question, language
        ):  # only the agent knows the earlier turns
            return said
        speech = speech_of(said.locale or language)
        if self._settings.people == "at_once":
            wanted = PersonRequest("question", question, "", speech.tag)
            return msgspec.structs.replace(said, person=wanted)
        text = _BETWEEN.join(filter(None, (said.text, speech.person.offer)))
        if self._settings.people != "offered" or _is_too_long(text, max_tokens):
            return said
        return msgspec.structs.replace(said, text=text, offers_person=True)

    def make_request(
        self,
        said: Answer,
        wanted: PersonRequest,
        principal: Principal,
        thread_id: str,
        max_tokens: int | None = None,
    ) -> PersonAsked:
        """Build the ticket, and the replies for each of its outcomes.

        Parameters:
            said: the reply before it.
            wanted: the request for a person.
            principal: the caller.
            max_tokens: maximum length of the text.
        """
        now = self._clock()
        speech = speech_of(wanted.language)
        person = speech.person
        ticket = StoredTicket(
            new_id(TICKET_PREFIX, now),
            self._desk,
            TicketKind(wanted.why),
            TicketState.OPEN,
            to_summary_line(wanted.about),
            int(now),
            shorten(_note(wanted), LONGEST_NOTE),
            thread_id,
            None,
            principal.party,
            int(now) + self._settings.expire_hours * _HOUR,
            asked_from=self._place_of(principal),
        )

        def parts(words: str) -> tuple[str, ...]:
            text = _BETWEEN.join(filter(None, (said.text, words)))
            if max_tokens is not None and _is_too_long(text, max_tokens):
                text = cut_text(words, max_tokens * CHARACTERS_PER_TOKEN)
            return write_reply(msgspec.structs.replace(said, text=text), self._site.url)

        return PersonAsked(
            ticket,
            self._settings.max_waiting_per_caller,
            parts(person.asked),
            parts(person.waits),
            parts(self._sorry(speech)),
            self._note_hours(now),
        )

    def _note_hours(self, now: float) -> dict[str, str]:
        """Return when people answer next, if they are not there now; 0 for not soon."""
        if self._hours is None:
            return {}
        opening = self._hours.find_opening(now, self._zone)
        return {} if opening == now else {PEOPLE_FROM: str(int(opening or 0))}

    def _sorry(self, speech: Speech) -> str:
        """Return the reply if no person can be asked, with the contact."""
        contact = self._site.contact
        more = speech.says.people.format(contact=contact) if contact else None
        return " ".join(filter(None, (speech.person.full, more)))

    def _place_of(self, principal: Principal) -> str:
        whose = f"{principal.desk}\n{principal.limited_as}".encode()
        return self._digest(whose).hex()[:_DIGITS]


def find_unanswered(before: Sequence[Message]) -> str | None:
    """Return the question for which the desk's last reply offered a person.

    Parameters:
        before: a thread's messages in order, before the present question.

    Returns:
        None if it makes no such offer.
    """
    desks = [place for place, message in enumerate(before) if message.origin is Origin.DESK]
    if not desks or OFFERS_PERSON.items() - before[desks[-1]].metadata.items():
        return None
    first = desks[-2] + 1 if len(desks) > 1 else 0
    asked = (message for message in before[first : desks[-1]] if message.role == "user")
    return "\n".join(map(get_text, asked))


def _note(wanted: PersonRequest) -> str:
    """Return what a ticket's summary line leaves out, and the agent's note."""
    whole = wanted.about if to_summary_line(wanted.about) != wanted.about else ""
    return _BETWEEN.join(filter(None, (whole, wanted.note)))


def _is_too_long(text: str, max_tokens: int | None) -> bool:
    return max_tokens is not None and len(text) > max_tokens * CHARACTERS_PER_TOKEN
