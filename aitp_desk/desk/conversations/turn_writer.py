"""Closing a turn of a session: what was said is written down, as the question that it asks."""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import Answer, Clarification, Pending, Said
from aitp_desk.agent.history.message_codec import reply_metadata, write_reply
from aitp_desk.agent.speech.person_request import PersonWanted
from aitp_desk.desk.calls.invoker import Invoking
from aitp_desk.desk.dialogue.answer_cache import Kept
from aitp_desk.desk.dialogue.prompts import asked_by
from aitp_desk.desk.dialogue.recorder import Recording
from aitp_desk.desk.dialogue.tools.person_requests import People
from aitp_desk.desk.dialogue.turn import Ask
from aitp_desk.desk.plugins.desk_messages import DeskQuestion, Speaking
from aitp_desk.desk.threads.sessions import Session, Sessions
from aitp_desk.model.access.principal import Principal


class Closing:
    """Writes down what was said to a question.

    Parameters:
        site_url: of the desk, without a slash at its end.
    """

    def __init__(
        self,
        *,
        people: People,
        invoking: Invoking,
        speaking: Speaking,
        sessions: Sessions,
        recording: Recording,
        site_url: str,
    ) -> None:
        self._people = people
        self._invoking = invoking
        self._speaking = speaking
        self._sessions = sessions
        self._recording = recording
        self._site_url = site_url

    async def finish(
        self,
        principal: Principal,
        session: Session,
        ask: Ask,
        outcome: Said,
        tokens: int,
        kept: Kept | None = None,
    ) -> Said:
        """Have a turn written down, and return what was said in it."""
        if isinstance(outcome, Answer) and outcome.person is not None:
            return await self._finish_asking(principal, session, ask, outcome, outcome.person)
        pending = None
        if isinstance(outcome, Answer) and outcome.offers_person:
            pending = Pending(ask.words, outcome.text, offers_person=True)
        elif isinstance(outcome, Clarification):
            about = _about(session, ask, outcome)
            pending = Pending(about, outcome.question, outcome.options, outcome.waits)
        reply, notes = self._put_down(outcome, kept)
        question = None
        if self._speaking.may_ask and (
            outcome.waits is not None or isinstance(outcome, Clarification)
        ):
            question = await asked_by(outcome, self._invoking)
        if question is not None or ask.is_written or self._speaking.is_judged(reply):
            turn = self._recording.turn(
                principal,
                session,
                question=ask.unwritten,
                reply=(reply, notes),
                pending=pending,
                tokens=tokens,
            )
            asks = None
            if question is not None:
                asks = DeskQuestion(question, self._recording.speaker(principal), outcome.waits)
            try:
                message = await self._recording.speak(self._speaking, turn, asks)
            except BaseException:
                self._sessions.forget(session)
                raise
            self._sessions.add_turn(session, ask.words, reply, pending, tokens)
            return self._speaking.told(outcome, question, message)
        first, words = not session.is_written, ask.words
        self._sessions.add_turn(session, words, reply, pending, tokens)
        try:
            await self._recording.record(principal, session, words, reply, notes, first)
        except BaseException:
            self._sessions.forget(session)
            raise
        return outcome

    async def _finish_asking(
        self,
        principal: Principal,
        session: Session,
        ask: Ask,
        said: Answer,
        wanted: PersonWanted,
    ) -> Answer:
        """Have a person asked, with the turn that says so; it is on disk before it is said."""
        person = self._people.ask(said, wanted, principal, session.thread_id, ask.max_tokens)
        turn = self._recording.turn(
            principal,
            session,
            question=ask.unwritten,
            reply=(person.asked, reply_metadata(said)),
            tokens=said.tokens_used,
        )
        try:
            told = await self._recording.write_asking(turn, person)
        finally:
            self._sessions.forget(session)  # it may be kept for longer now
        return msgspec.structs.replace(said, text=told.content[0])

    def _put_down(self, outcome: Said, kept: Kept | None) -> tuple[tuple[str, ...], dict[str, str]]:
        """The parts of a reply and its metadata, as they are written down."""
        if kept is not None and kept.recorded is not None:
            return kept.recorded
        recorded = write_reply(outcome, self._site_url), reply_metadata(outcome)
        if kept is not None:
            kept.recorded = recorded
        return recorded


def _about(session: Session, ask: Ask, outcome: Clarification) -> str:
    """Which question is meant where the desk asks back: the first, while that is being settled."""
    before = session.pending
    if (
        before is not None
        and not before.offers_person
        and (ask.clarification is not None or set(outcome.options) <= set(before.options))
    ):
        return before.about
    return ask.query
