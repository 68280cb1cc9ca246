"""Answering a question within its request: the conversation in questions and answers.

A first question may be answered from the cache. Every turn is a pair of messages on the session's
thread; the record is written behind the answer, or before it where the owner has said so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from aitp_desk.agent.base import (
    Answer,
    Clarification,
    Pending,
    Said,
)
from aitp_desk.agent.people import PersonWanted
from aitp_desk.agent.tools import Tool
from aitp_desk.config import Cache, Site
from aitp_desk.desk.acting import Acting
from aitp_desk.desk.answering import Answering
from aitp_desk.desk.budgets import Budgets
from aitp_desk.desk.cache import AnswerCache, CacheCounts, Kept, normalise_query
from aitp_desk.desk.capabilities.in_sessions import InSessions
from aitp_desk.desk.exchange import ActionReply, ActionRequest, Ask, CallStatus
from aitp_desk.desk.holding import Holding, is_said_alone, told_after
from aitp_desk.desk.limits import Allowance, Limiter
from aitp_desk.desk.people import People
from aitp_desk.desk.recording import Recording
from aitp_desk.desk.registry import Registry
from aitp_desk.desk.replying import reply_metadata, write_reply
from aitp_desk.desk.sessions import Session, Sessions
from aitp_desk.desk.tooling import Tooling
from aitp_desk.knowledge.languages import spell_tag
from aitp_desk.knowledge.watch import Knowledge
from aitp_desk.model.action import Action
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.principal import Principal
from aitp_desk.model.ticket import PersonSaid


class Asked(msgspec.Struct, frozen=True):
    """What became of a question.

    Parameters:
        kept: set for an answer from the cache: where its encoded form may be kept.
        age_seconds: how long ago that answer was made.
        hit_rate: the share of first questions that were answered from the cache since the desk
            started, 0 to 1; None where nothing is kept.
        reply: set where an action of the site's own was asked for.
    """

    session_id: str
    action: str
    outcome: Said
    kept: Kept | None = None
    age_seconds: int = 0
    hit_rate: float | None = None
    reply: ActionReply | None = None

    @property
    def cached(self) -> bool:
        """Whether the answer was given before."""
        return self.kept is not None


class Asking:
    """Answers questions, remembers first answers, and has every turn written down."""

    def __init__(
        self,
        *,
        answering: Answering,
        people: People,
        registry: Registry,
        tooling: Tooling,
        acting: Acting,
        sessions: Sessions,
        recording: Recording,
        holding: Holding,
        in_sessions: InSessions,
        knowledge: Knowledge,
        site: Site,
        cache: Cache,
        limiter: Limiter,
        budgets: Budgets,
        clock: Callable[[], float],
    ) -> None:
        self._answering = answering
        self._people = people
        self._registry = registry
        self._tooling = tooling
        self._acting = acting
        self._own = acting.invoking.names
        self._sessions = sessions
        self._recording = recording
        self._holding = holding
        self._in_sessions = in_sessions
        self._knowledge = knowledge
        self._site = site
        self._answers = AnswerCache(cache, clock)
        self._limiter = limiter
        self._budgets = budgets

    async def ask(self, principal: Principal, ask: Ask, allowance: Allowance | None) -> Asked:
        """Answer one question, or ask back.

        Parameters:
            allowance: what the caller has left; it becomes less where the agent that is named, or
                the session, has less.

        Raises:
            RateLimited: the agent or the session has asked too often, or tokens are used up.
            UnknownAction, UnsupportedType: what was asked for is not there.
            Forbidden: the agent that is named may not call the action.
            whatever an action of the site's own refuses (:meth:`Acting.act`).
            UnknownSession, SessionLimit: the conversation cannot go on.
            InvalidRequest: a clarification of something that was not asked.
            Unavailable: the agent or the store cannot work now.
        """
        self._limiter.count_agent(principal, ask.requesting_agent, allowance)
        action = self._registry.action(ask.action)
        if allowance is not None:
            allowance.check_action(action.name)
        if ask.locale is not None:
            ask = msgspec.structs.replace(ask, locale=self._settle(ask.locale))
        if action.name in self._own:
            return await self._act(principal, ask, action, allowance)
        tools = self._tooling.tools(principal)
        if allowance is not None and allowance.agents:
            tools = tuple(tool for tool in tools if allowance.lets_call(tool.name))
        if ask.session_id is None:
            return await self._ask_first(principal, ask, action, tools)
        found = await self._sessions.resume(principal, ask.session_id)
        self._limiter.count_session(found.id, allowance)
        async with self._sessions.turn(principal, found) as session:
            outcome = await self._go_on(principal, ask, action, session, tools)
        return Asked(session.id, action.name, outcome, hit_rate=self._answers.hit_rate)

    async def call_status(self, principal: Principal, session_id: str) -> CallStatus:
        """How the newest call stands that was accepted in a session of the caller's.

        Raises:
            CallNotFound: there is none, or it is somebody else's.
        """
        return await self._acting.status(principal, session_id)

    async def ended_call(self, call_id: str) -> CallStatus | None:
        """How a call ended; None where it has not, or there is none."""
        return await self._acting.ended(call_id)

    async def _act(
        self, principal: Principal, ask: Ask, action: Action, allowance: Allowance | None
    ) -> Asked:
        """Have an action of the site's own done, in a session."""
        if action.kind != "query":
            self._limiter.count_action(principal, allowance)
        if ask.session_id is None:
            session = self._sessions.open(principal)
            return await self._act_in(principal, session, ask, action)
        found = await self._sessions.resume(principal, ask.session_id)
        self._limiter.count_session(found.id, allowance)
        async with self._sessions.turn(principal, found) as session:
            held = await self._holding.hold(principal, session, ask.words, self._language(ask))
            if held is not None:
                return Asked(session.id, action.name, held)
            self._sessions.check_turns(session)
            self._budgets.check_session(principal, session.tokens)
            # nothing is told with a call that goes on by itself: the next turn tells it
            heard = () if action.kind == "async" else await self._holding.hear(session)
            return await self._act_in(principal, session, ask, action, heard)

    async def _act_in(
        self,
        principal: Principal,
        session: Session,
        ask: Ask,
        action: Action,
        heard: tuple[PersonSaid, ...] = (),
    ) -> Asked:
        """Have an action done in a session.

        Parameters:
            heard: what people have said there, which is told first.
        """
        request = ActionRequest(
            words=ask.words,
            is_reply=ask.clarification is not None,
            accepts=ask.accepts,
            max_tokens=ask.max_tokens,
            locale=ask.locale,
            intent=ask.intent,
            callback_url=ask.callback_url,
            written_by=ask.written_by,
            call_id=ask.call_id,
        )
        try:
            is_query = action.kind == "query"
            asks = self._answering.ask_person(ask, action, session) if is_query else None
            if asks is not None:
                outcome = await self._finish(principal, session, ask, asks, 0)
                return Asked(session.id, action.name, told_after(heard, outcome))
            reply = await self._acting.act(principal, action.name, request, session)
        except BaseException:
            self._sessions.forget(session)
            raise
        return Asked(session.id, action.name, told_after(heard, reply.outcome), reply=reply)

    async def _go_on(
        self,
        principal: Principal,
        ask: Ask,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
    ) -> Said:
        """What is said in a session that goes on; what people have said there comes first.

        They are heard also where it has had all its turns with the agent.
        """
        held = await self._holding.hold(principal, session, ask.words, self._language(ask))
        if held is not None:
            return held
        taken = await self._in_sessions.take(principal, session, ask.words)
        if taken is not None:
            return taken
        heard = await self._holding.hear(session)
        if heard and not self._sessions.has_turns(session):
            await self._holding.note(principal, session, ask.words)
            return Answer("", heard=heard)
        try:
            self._sessions.check_turns(session)
            self._budgets.check_session(principal, session.tokens)
            outcome = await self._answering.reply(principal, ask, action, session, tools)
            tokens = outcome.tokens_used
            # somebody may have taken it over while the agent was at work
            held = await self._holding.hold(
                principal, session, ask.words, self._language(ask), heard, tokens
            )
        except BaseException:
            if heard:
                self._sessions.forget(session)
            raise
        if held is not None:
            return held
        if is_said_alone(heard, outcome):
            await self._holding.note(principal, session, ask.words, tokens)
            return Answer("", tokens_used=tokens, heard=heard)
        outcome = await self._finish(principal, session, ask, outcome, tokens)
        return told_after(heard, outcome)

    @property
    def longest_eta(self) -> int | None:
        """How long a call goes on, of the action that takes longest; None where it is not known."""
        return self._acting.invoking.calls.longest_eta

    @property
    def cache_counts(self) -> CacheCounts:
        """What became of first questions and of kept answers, to be read and not written."""
        return self._answers.counts

    def forget(self) -> None:
        """Drop what is held of questions, answers and conversations; what is written down stays."""
        self._answers.forget()
        self.forget_conversations()

    def forget_conversations(self) -> None:
        """Drop what is held of conversations; it is read back as it was written down."""
        self._sessions.forget_all()

    async def _ask_first(
        self, principal: Principal, ask: Ask, action: Action, tools: tuple[Tool, ...]
    ) -> Asked:
        if ask.clarification is not None:
            raise InvalidRequest(
                "A clarification needs the session_id of the question that it answers.",
                param="session_id",
            )
        key = (
            action.name,
            normalise_query(ask.query),
            ask.accepts,
            ask.max_tokens,
            ask.locale,
            # the access class: all content is public, but an answer may tell what can be called
            principal.kind.value,
            tuple([tool.name for tool in tools]),
            # who has tools is told the date
            self._tooling.now().date() if tools else None,
        )
        session = self._sessions.open(principal)
        taken = await self._in_sessions.take(principal, session, ask.words)
        if taken is not None:
            return Asked(session.id, action.name, taken, hit_rate=self._answers.hit_rate)
        given = await self._answers.give(
            self._knowledge.editions.revision,
            key,
            partial(self._answering.reply, principal, ask, action, session, tools),
        )
        tokens = 0 if given.kept else given.outcome.tokens_used
        outcome = await self._finish(principal, session, ask, given.outcome, tokens, given.kept)
        return Asked(
            session.id,
            action.name,
            outcome,
            given.kept,
            given.age_seconds,
            self._answers.hit_rate,
        )

    def _language(self, ask: Ask) -> str:
        """The language of what the desk itself says."""
        return self._knowledge.editions.speaking(ask.locale).language

    def _settle(self, locale: str) -> str:
        """The language as the content has it, else as it was asked for, in its usual spelling."""
        return self._knowledge.editions.look_up(locale) or spell_tag(locale) or locale.lower()

    async def _finish(
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
        first = not session.is_written
        self._sessions.add_turn(session, ask.words, reply[0], pending, tokens)
        try:
            await self._recording.record(principal, session, ask.words, reply, notes, first)
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
            question=ask.words,
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
        recorded = write_reply(outcome, self._site.url), reply_metadata(outcome)
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
