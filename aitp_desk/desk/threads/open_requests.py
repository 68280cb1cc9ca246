"""Lists the open requests of a thread, and accepts answers by form.

Every protocol presents them from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import structlog

from aitp_desk.capability import Record
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.plugins.messages.parts import SCHEMA, PlacedPart, read_part, write_part
from aitp_desk.desk.plugins.messages.plain_text import describe_part
from aitp_desk.desk.plugins.messages.speakers import read_speakers
from aitp_desk.desk.plugins.open_calls import read_open_requests
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry, SchemaMatch
from aitp_desk.desk.threads.messages import MessageService, PostedMessage
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.model.access.principal import Principal, may_operate_threads
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.conversation.thread import VISITOR, Draft
from aitp_desk.model.errors import PaymentRequired, RequestNotFound
from aitp_desk.store.units.threads.threads import AlsoWritten

_log = structlog.get_logger()
_Found = tuple[EnabledPlugin, Record, OpenRequest]


class OpenRequests:
    """Lists open requests on threads, and accepts their answers."""

    def __init__(
        self,
        capabilities: PluginRegistry,
        context: DeskContext,
        *,
        reader: ThreadReader,
        messages: MessageService,
        sessions: SessionService,
    ) -> None:
        self._capabilities = capabilities
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._reader = reader
        self._messages = messages
        self._sessions = sessions

    @property
    def is_enabled(self) -> bool:
        """Whether any plugin is enabled, so that requests can be open at all."""
        return bool(self._capabilities)

    async def list_for_thread(
        self, principal: Principal, thread_id: str
    ) -> tuple[OpenRequest, ...]:
        """Return a thread's open requests, newest first; none for a participant that has left.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            Forbidden: the caller's key does not open threads.
        """
        check_scope(principal)
        return tuple(one for _, _, one in await self._reach(principal, thread_id, AccessNeed.READ))

    async def list_for_session(
        self, principal: Principal, session_id: str
    ) -> tuple[OpenRequest, ...]:
        """Return the open requests on the thread of a session of the caller's.

        Raises:
            UnknownSession: the caller has no such session.
        """
        thread_id = await self._sessions.find_thread(principal, session_id)
        return tuple(one for _, _, one in await self._reach(principal, thread_id, AccessNeed.READ))

    async def find_unpaid(self, principal: Principal, session_id: str) -> PaymentRequired | None:
        """Return the payment due in a caller's session as a refusal, or None.

        Raises:
            UnknownSession: the caller has no such session.
        """
        thread_id = await self._sessions.find_thread(principal, session_id)
        for _, _, one in await self._reach(principal, thread_id, AccessNeed.READ):
            if one.terms is not None:
                return PaymentRequired(
                    one.words,
                    price=one.terms.price,
                    terms=one.terms,
                    call_id=one.call_id,
                    thread_id=thread_id,
                )
        return None

    async def list_open(self, thread_id: str) -> tuple[OpenRequest, ...]:
        """Return a thread's open requests, addressed to no caller. Access is checked elsewhere."""
        return tuple(one for _, _, one in await self._look(thread_id, ()))

    async def answer_request(
        self,
        principal: Principal,
        thread_id: str,
        named: tuple[str, str],
        given: Mapping[str, Any],
        request: RequestInfo,
        also: AlsoWritten | None = None,
    ) -> PostedMessage:
        """Answer a request by its form.

        The answer is posted and judged like any message.

        Parameters:
            named: as in :meth:`draft_answer`.
            also: as of :meth:`.messages.MessageService.post_message`.

        Raises:
            RequestNotFound, InvalidRequest: as :meth:`draft_answer`.
            as :meth:`list_for_thread`, and as :meth:`.messages.MessageService.post_message`.
        """
        check_scope(principal)
        await self._reader.get_access(principal, thread_id)
        posted = await self._messages.find_posted(principal, thread_id, request)
        if posted is not None:
            return posted
        draft = await self.draft_answer(principal, thread_id, named, given)
        return await self._messages.post_message(principal, thread_id, draft, request, also)

    async def draft_answer(
        self,
        principal: Principal,
        thread_id: str,
        named: tuple[str, str],
        given: Mapping[str, Any],
    ) -> Draft:
        """Build the message that answers a request from the values of its form.

        Parameters:
            named: the plugin's slug, and the request's id.

        Raises:
            RequestNotFound: there is no such request, or it is not open any more.
            InvalidRequest: the values do not fit the form.
            ThreadNotFound, Forbidden: the caller may not write to the thread.
        """
        for enabled, record, found in await self._reach(principal, thread_id, AccessNeed.WRITE):
            if (found.capability, found.id) == named:
                message = enabled.capability.answer(record, given)
                content = write_part(message, enabled.url_of(enabled.newest))
                # the plugin refuses a caller that may not answer, under the caller's own actor name
                return Draft("user", (content,), actor=found.answers_as)
        raise RequestNotFound(
            "There is no open request with this name: it was answered or replaced, or it"
            " has expired.",
            param="request_id",
        )

    async def _reach(
        self, principal: Principal, thread_id: str, need: AccessNeed
    ) -> tuple[_Found, ...]:
        kept, access = await self._reader.find_thread(principal, thread_id)
        access.check(need)
        if not self._capabilities or access.has_left:
            return ()
        names = await read_speakers(self._store, principal, kept) if access.may_write else ()
        return await self._look(thread_id, names, for_desk=may_operate_threads(principal))

    async def _look(
        self, thread_id: str, names: Sequence[str], *, for_desk: bool = False
    ) -> tuple[_Found, ...]:
        if not self._capabilities:
            return ()
        now = int(self._clock())
        waiting = await read_open_requests(self._store, self._capabilities, thread_id, now)
        found = (self._read(slug, record, names, for_desk=for_desk) for slug, record in waiting)
        return tuple(one for one in found if one is not None)

    def _read(
        self, slug: str, record: Record, names: Sequence[str], *, for_desk: bool
    ) -> _Found | None:
        enabled = self._capabilities.get(slug)
        if enabled is None or not enabled.asks:
            return None
        version = enabled.newest
        url = enabled.url_of(version)
        try:
            waits = enabled.capability.waiting(record)
            if waits is None:
                return None
            message = {SCHEMA: url, **msgspec.to_builtins(waits.message)}
            part = read_part(message, SchemaMatch(enabled, version), "message")
            words = describe_part(PlacedPart(0, enabled, part))
        except Exception:  # noqa: BLE001 -- a plugin's failure must not hide the others' requests
            _log.exception("waiting_failed", capability=slug)
            return None
        by = waits.by or self._context.actor.id
        meant = {"", self._context.actor.id} if for_desk else {""}
        may = [name for name in names if name != by and waits.of in {*meant, name}]
        if may[:1] == [VISITOR]:  # a claimed thread has no anonymous visitor to speak as
            may = [names[0]]
        shown = OpenRequest(
            id=waits.id,
            capability=slug,
            words=words,
            message=message,
            form=waits.form,
            by=by,
            of=waits.of,
            until=record.open_until or 0,
            is_own=by == self._context.actor.id,
            answers_as=next(iter(may), None),
            call_id=waits.call_id,
            terms=waits.terms,
            rejected=waits.rejected,
        )
        return enabled, record, shown
