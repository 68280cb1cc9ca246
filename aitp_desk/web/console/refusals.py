"""The console's list of questions without an answer (``/console/api/unanswered``)."""

from __future__ import annotations

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.tickets.similarity import TicketSimilarity
from aitp_desk.knowledge.refusals import RefusalGroup
from aitp_desk.protocols.base.protocol import Call, Reply
from aitp_desk.web.console.objects import ConsoleQuestions, ConsoleUnanswered
from aitp_desk.web.console.wire import encode, write_timestamp

_MOST = 100
"""How many groups of questions are listed."""
_OTHERS = 5
"""How many other wordings of a group are listed."""


class RefusalRoutes:
    """Serves visitors' questions that the content did not answer."""

    def __init__(self, similarity: TicketSimilarity, audit_log: AuditLog) -> None:
        self._similarity = similarity
        self._audit_log = audit_log

    async def show(self, _session: Session, call: Call) -> Reply:
        """``GET unanswered``: groups of questions, the most frequent first."""
        await self._audit_log.note_operator_list(call.principal, "threads", "")
        groups = await self._similarity.list_unanswered()
        return Reply(200, encode(ConsoleUnanswered([_write_group(one) for one in groups[:_MOST]])))


def _write_group(one: RefusalGroup) -> ConsoleQuestions:
    return ConsoleQuestions(
        question=one.newest.question,
        others=one.others[:_OTHERS],
        times=one.times,
        last_at=write_timestamp(one.newest.at),
        thread=one.newest.thread_id,
        agent=one.newest.desk or None,
    )
