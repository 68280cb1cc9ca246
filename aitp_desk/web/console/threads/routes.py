"""The console's routes of conversations (``/console/api/threads``)."""

from __future__ import annotations

from contextlib import AbstractContextManager

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.access.idempotency import IdempotencyKeys, RequestInfo, thread_scope
from aitp_desk.desk.plugins.messages.parts import SCHEMA, write_part
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.tickets.inbox import OperatorInbox
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.conversation.ticket import OPERATORS
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.base.protocol import Call, Reply, Route
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.web.console.objects import (
    ConsoleClosing,
    ConsoleMessages,
    ConsoleStructured,
    ConsoleThreads,
    ConsoleWords,
    EmptyBody,
)
from aitp_desk.web.console.operator import MAX_BODY, OperatorActions
from aitp_desk.web.console.sessions import SessionRoutes
from aitp_desk.web.console.threads.wire import (
    decode_thread_filter,
    write_line,
    write_listed_message,
    write_note,
    write_thread,
)
from aitp_desk.web.console.wire import decode_body, decode_limit, encode


class ThreadsRoutes:
    """Lists and shows conversations, and lets operators take part."""

    def __init__(
        self,
        inbox: OperatorInbox,
        stepping_in: Takeover,
        operator_actions: OperatorActions,
        capabilities: PluginRegistry,
        idempotency: IdempotencyKeys,
        audit_log: AuditLog,
    ) -> None:
        self._audit_log = audit_log
        self._idempotency = idempotency
        self._capabilities = capabilities
        self._inbox = inbox
        self._stepping_in = stepping_in
        self._operator_actions = operator_actions

    async def list_all(self, session: Session, call: Call) -> Reply:
        """``GET threads``: those with the latest messages first."""
        asked = decode_thread_filter(call.query, session.operator, self._inbox.agents)
        await self._audit_log.note_operator_list(call.principal, "threads", asked.text)
        page, names = await self._inbox.list_threads(
            asked, call.query.get("after") or None, decode_limit(call.query)
        )
        data = [write_line(line, names) for line in page.items]
        return Reply(200, encode(ConsoleThreads(data, page.next)))

    async def show(self, _session: Session, call: Call) -> Reply:
        """``GET threads/{thread_id}``: participants, tickets and notes."""
        return Reply(200, encode(write_thread(await self._inbox.read_thread(_id(call)))))

    async def messages(self, _session: Session, call: Call) -> Reply:
        """``GET threads/{thread_id}/messages``: a page of messages, the newest first."""
        before = call.query.get("before") or None
        page = await self._inbox.list_messages(_id(call), before, decode_limit(call.query))
        data = [write_listed_message(shown) for shown in page.items]
        return Reply(200, encode(ConsoleMessages(data, page.next)))

    async def take(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/take``: the agent is silent from now on."""
        decode_body(call.body, EmptyBody)
        await self._stepping_in.take_thread(
            _id(call), session.operator, self._operator_actions.make_auditor(call)
        )
        return await self._done(session, call)

    async def release(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/release``: the agent answers again."""
        decode_body(call.body, EmptyBody)
        await self._stepping_in.release_thread(_id(call), self._operator_actions.make_auditor(call))
        return await self._done(session, call)

    async def say(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/say``: sends a text to the visitor."""
        words = decode_body(call.body, ConsoleWords).words
        with self._hold_key(call) as idempotency:
            await self._stepping_in.say(
                _id(call),
                words,
                session.operator,
                self._operator_actions.make_auditor(call),
                idempotency,
            )
        return await self._done(session, call)

    async def tell_typing(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/typing``: shows the visitor that the operator is typing.

        Nothing is stored. Of a thread that this operator does not have nothing is shown.
        """
        decode_body(call.body, EmptyBody)
        thread = (await self._inbox.read_thread(_id(call))).thread
        if thread.line.operator == session.operator:
            actor = f"{thread.actors[0].id}/{OPERATORS}/{session.operator}"
            self._operator_actions.notify_typing(_id(call), actor)
        return Reply(200, encode(EmptyBody()))

    async def send(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/messages``: sends a message of a capability."""
        part = self._part(decode_body(call.body, ConsoleStructured))
        with self._hold_key(call) as idempotency:
            await self._stepping_in.send(
                _id(call),
                part,
                session.operator,
                call.principal,
                self._operator_actions.make_auditor(call),
                idempotency,
            )
        return await self._done(session, call)

    async def resolve(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/resolve``: ends its tickets; the agent answers again."""
        words = decode_body(call.body, ConsoleClosing).words
        await self._stepping_in.resolve(
            _id(call), words, session.operator, self._operator_actions.make_auditor(call)
        )
        return await self._done(session, call)

    async def note(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/notes``: adds a note for operators only."""
        words = decode_body(call.body, ConsoleWords).words
        note = await self._stepping_in.note(
            _id(call), words, session.operator, self._operator_actions.make_auditor(call)
        )
        self._operator_actions.notify_change(None)
        return Reply(200, encode(write_note(note)))

    def routes(self, signing_in: SessionRoutes) -> tuple[Route, ...]:
        """Return the routes, except that of the events."""
        acts = {
            "take": self.take,
            "release": self.release,
            "say": self.say,
            "typing": self.tell_typing,
            "messages": self.send,
            "resolve": self.resolve,
            "notes": self.note,
        }
        return (
            signing_in.route("GET", "threads", self.list_all),
            signing_in.route("GET", "threads/{thread_id}", self.show),
            signing_in.route("GET", "threads/{thread_id}/messages", self.messages),
            *(
                signing_in.route("POST", f"threads/{{thread_id}}/{name}", act, MAX_BODY)
                for name, act in acts.items()
            ),
        )

    def _hold_key(self, call: Call) -> AbstractContextManager[IdempotencyRecord | None]:
        """Hold the idempotency key: a request may be repeated when no response came."""
        asked = RequestInfo(call.method, call.path, call.body, call.headers.get("Idempotency-Key"))
        return self._idempotency.hold_key(asked, thread_scope(call.principal, _id(call)))

    def _part(self, said: ConsoleStructured) -> str:
        """Write a message of a capability as a part.

        Raises:
            InvalidRequest: the site has not enabled its capability, or it names a schema.
        """
        found = [one for one in self._capabilities.all if one.slug == said.capability]
        if not found:
            raise InvalidRequest("The site has not enabled this capability.", param="capability")
        if SCHEMA in said.message:
            raise InvalidRequest(f"Leave out {SCHEMA}; the desk sets it.", param="message")
        return write_part(said.message, found[0].url_of(found[0].newest))

    async def _done(self, session: Session, call: Call) -> Reply:
        """Notify followers, and show the conversation."""
        self._operator_actions.notify_change(_id(call))
        return await self.show(session, call)


def _id(call: Call) -> str:
    return call.params["thread_id"]
