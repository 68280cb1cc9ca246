"""Stores a turn of a session, with the question that it asks."""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import Answer, Clarification, PendingQuestion, Said
from aitp_desk.agent.history.message_codec import make_reply_metadata, write_reply
from aitp_desk.agent.speech.person_request import PersonRequest
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.dialogue.answer_cache import RenderSlot
from aitp_desk.desk.dialogue.prompts import find_question
from aitp_desk.desk.dialogue.recorder import TurnRecorder
from aitp_desk.desk.dialogue.tools.person_requests import PersonRequests
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.plugins.desk_messages import DeskMessages, DeskQuestion
from aitp_desk.desk.threads.sessions import Session, SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.store.units.tickets.requests import ASKED_PERSON


class TurnWriter:
    """Stores the answers to questions.

    Parameters:
        site_url: the site's address, without a trailing slash.
    """

    def __init__(
        self,
        *,
        people: PersonRequests,
        invoker: ActionInvoker,
        desk_messages: DeskMessages,
        sessions: SessionService,
        recorder: TurnRecorder,
        site_url: str,
    ) -> None:
        self._people = people
        self._invoker = invoker
        self._desk_messages = desk_messages
        self._sessions = sessions
        self._recorder = recorder
        self._site_url = site_url

    async def write_turn(
        self,
        principal: Principal,
        session: Session,
        ask: AskRequest,
        outcome: Said,
        tokens: int,
        kept: RenderSlot | None = None,
    ) -> Said:
        """Store a turn, and return its reply as the reader gets it."""
        if isinstance(outcome, Answer) and outcome.person is not None:
            return await self._finish_asking(principal, session, ask, outcome, outcome.person)
        pending = None
        if isinstance(outcome, Answer) and outcome.offers_person:
            pending = PendingQuestion(ask.words, outcome.text, offers_person=True)
        elif isinstance(outcome, Clarification):
            about = _about(session, ask, outcome)
            pending = PendingQuestion(about, outcome.question, outcome.options, outcome.waits)
        recorded = None if kept is None else kept.recorded
        if recorded is None:
            recorded = write_reply(outcome, self._site_url), make_reply_metadata(outcome)
            if kept is not None:
                kept.recorded = recorded
        reply, notes = recorded
        question = None
        if self._desk_messages.may_ask and (
            outcome.waits is not None or isinstance(outcome, Clarification)
        ):
            question = await find_question(outcome, self._invoker)
        if question is not None or ask.is_written or self._desk_messages.is_judged(reply):
            turn = self._recorder.make_turn(
                principal,
                session,
                question=ask.unwritten,
                reply=(reply, notes),
                pending=pending,
                tokens=tokens,
                is_limited=True,
            )
            asks = None
            if question is not None:
                asks = DeskQuestion(question, self._recorder.speaker(principal), outcome.waits)
            try:
                message = await self._recorder.write_spoken(self._desk_messages, turn, asks)
            except BaseException:
                self._sessions.evict(session)
                raise
            self._sessions.add_turn(session, ask.words, reply, pending, tokens)
            return self._desk_messages.render_for_reader(outcome, question, message)
        first, words = not session.is_written, ask.words
        self._sessions.add_turn(session, words, reply, pending, tokens)
        try:
            await self._recorder.record(
                principal, session, words, reply, notes, first=first, tokens=tokens
            )
        except BaseException:
            self._sessions.evict(session)
            raise
        return outcome

    async def _finish_asking(
        self,
        principal: Principal,
        session: Session,
        ask: AskRequest,
        said: Answer,
        wanted: PersonRequest,
    ) -> Answer:
        """Store a turn together with the ticket for a person, before the reply."""
        person = self._people.make_request(
            said, wanted, principal, session.thread_id, ask.max_tokens
        )
        turn = self._recorder.make_turn(
            principal,
            session,
            question=ask.unwritten,
            reply=(person.asked, make_reply_metadata(said)),
            tokens=said.tokens_used,
            is_limited=True,
        )
        try:
            told = await self._recorder.write_with_ticket(turn, person)
        finally:
            self._sessions.evict(session)  # the ticket may have extended its retention
        ticket = told.metadata.get(ASKED_PERSON, "")
        return msgspec.structs.replace(said, text=told.content[0], asked_person=ticket)


def _about(session: Session, ask: AskRequest, outcome: Clarification) -> str:
    """Return the original question when the desk asks back about it again."""
    before = session.pending
    if (
        before is not None
        and not before.offers_person
        and (ask.clarification is not None or set(outcome.options) <= set(before.options))
    ):
        return before.about
    return ask.query
