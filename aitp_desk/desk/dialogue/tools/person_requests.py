"""Having people asked by visitors: where they ask for a person, and where the agent cannot answer.

How far this goes the site's owner says (``tickets.people``). Nothing is promised here: what is said
is written in one commit with the ticket, and reads as that went (``store/work/asking.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Answer, Said, SiteFacts
from aitp_desk.agent.extractive.agent import cut_text
from aitp_desk.agent.extractive.dialogue.context import asks_backwards
from aitp_desk.agent.history.message_codec import OFFERS_PERSON, write_reply
from aitp_desk.agent.history.window import get_text
from aitp_desk.agent.speech import Speech, speech_of
from aitp_desk.agent.speech.person_request import PersonRequest, agrees_to_person, asks_for_person
from aitp_desk.config import Tickets
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.model.conversation.ticket import (
    LONGEST_NOTE,
    TICKET_PREFIX,
    KeptTicket,
    TicketKind,
    TicketState,
    shorten,
    to_summary_line,
)
from aitp_desk.model.ids import new_id
from aitp_desk.store.units.tickets.requests import PersonAsked

_BETWEEN = "\n\n"
_HOUR = 60 * 60
_DIGITS = 32
"""How much of a digest is kept, in hexadecimal digits."""


class PersonRequests:
    """Has people asked, at one desk.

    Parameters:
        desk: its name; empty for the site's own.
        digest: makes of a caller what may be kept: who it is, or where, cannot be read from it.
        clock: Unix seconds.
    """

    def __init__(
        self,
        settings: Tickets,
        *,
        desk: str,
        site: SiteFacts,
        digest: Callable[[bytes], bytes],
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._desk = desk
        self._site = site
        self._digest = digest
        self._clock = clock

    @property
    def is_available(self) -> bool:
        """Whether a visitor who asks for a person gets one."""
        return self._settings.people != "off"

    def parse_request(
        self, words: str, unanswered: str | None, *, in_full: bool = False
    ) -> PersonRequest | None:
        """What a visitor's words ask of people; None where they are for the agent.

        Parameters:
            unanswered: the question about which the desk has offered to ask a person, in what it
                said last; None where it has not.
            in_full: whether a word such as ``human`` does not ask for one, but a sentence only.
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
        """What an agent says, with what follows where that is no answer, or it wants a person.

        Parameters:
            question: the visitor's words.
            unanswered: as of :meth:`parse_request`.
            language: in which it is told.
            max_tokens: how long the text may be; an offer that has no room is not made.
        """
        if not isinstance(said, Answer):
            return said
        speech = speech_of(language)
        if said.person is not None:
            wanted = msgspec.structs.replace(said.person, language=speech.tag)
            if unanswered is not None:
                wanted = msgspec.structs.replace(wanted, why="question", about=unanswered)
            return msgspec.structs.replace(said, person=wanted)
        if said.found or asks_backwards(question, language):  # nobody else knows what was said
            return said
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
        """Put together what is written where a person is to be asked.

        Parameters:
            said: what is said before it.
            wanted: of it.
            principal: who asks.
            max_tokens: how long the text may be.
        """
        now = self._clock()
        speech = speech_of(wanted.language)
        person = speech.person
        ticket = KeptTicket(
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
        )

    def _sorry(self, speech: Speech) -> str:
        """That nobody can be asked, and who else would know."""
        contact = self._site.contact
        more = speech.says.people.format(contact=contact) if contact else None
        return " ".join(filter(None, (speech.person.full, more)))

    def _place_of(self, principal: Principal) -> str:
        whose = f"{principal.desk}\n{principal.limited_as}".encode()
        return self._digest(whose).hex()[:_DIGITS]


def find_unanswered(before: Sequence[Message]) -> str | None:
    """The question about which the desk's last reply offers to ask a person.

    Parameters:
        before: a thread's messages in order, up to what is asked now.

    Returns:
        None where it makes no such offer.
    """
    desks = [place for place, message in enumerate(before) if message.origin is Origin.DESK]
    if not desks or OFFERS_PERSON.items() - before[desks[-1]].metadata.items():
        return None
    first = desks[-2] + 1 if len(desks) > 1 else 0
    asked = (message for message in before[first : desks[-1]] if message.role == "user")
    return "\n".join(map(get_text, asked))


def _note(wanted: PersonRequest) -> str:
    """What the line that a ticket is about leaves out, and what else is to be known."""
    whole = wanted.about if to_summary_line(wanted.about) != wanted.about else ""
    return _BETWEEN.join(filter(None, (whole, wanted.note)))


def _is_too_long(text: str, max_tokens: int | None) -> bool:
    return max_tokens is not None and len(text) > max_tokens * CHARACTERS_PER_TOKEN
