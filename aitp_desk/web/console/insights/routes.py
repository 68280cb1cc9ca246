"""The console's routes of insights (``/console/api/insights``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.access.scopes import check_insights
from aitp_desk.desk.tickets.insights.figures import MAX_DAYS, DayFigures, FigureReader, rank_uses
from aitp_desk.desk.tickets.insights.questions import QuestionGroup, QuestionReview
from aitp_desk.model.timestamps import write_day, write_timestamp
from aitp_desk.protocols.base.protocol import Call, Reply, Route
from aitp_desk.web.console.insights import csv_wire
from aitp_desk.web.console.insights.objects import (
    ConsoleAnswered,
    ConsoleDay,
    ConsoleInsights,
    ConsoleOpenGroup,
    ConsoleOpenQuestions,
    ConsolePage,
    ConsoleUse,
)
from aitp_desk.web.console.objects import EmptyBody
from aitp_desk.web.console.operator import MAX_BODY, OperatorActions
from aitp_desk.web.console.sessions import SessionRoutes, SignedInHandler
from aitp_desk.web.console.wire import (
    decode_body,
    decode_choice,
    decode_count,
    encode,
)

DEFAULT_DAYS: Final = 30
MOST_GROUPS: Final = 100
"""How many groups of questions are listed."""
_MOST_USES: Final = 20
"""How many pages, and how many actions, are listed."""
_MOST_PAGES: Final = 1000
"""How many pages can be chosen from."""
_MOST_WORDINGS: Final = 199
_MOST_REASONS: Final = 5
_CSV: Final = "text/csv"


class InsightsRoutes:
    """Serves what owners learn from conversations.

    Parameters:
        agents: the names of all site agents; the main one's is empty.
        site_url: the site's address, without a trailing slash.
    """

    def __init__(
        self,
        figures: FigureReader,
        review: QuestionReview,
        operator_actions: OperatorActions,
        audit_log: AuditLog,
        agents: Sequence[str],
        site_url: str,
    ) -> None:
        self._figures = figures
        self._review = review
        self._operator_actions = operator_actions
        self._audit_log = audit_log
        self._agents = agents
        self._site_url = site_url

    async def show(self, _session: Session, call: Call) -> Reply:
        """``GET insights``: the figures of each day, and what was used most."""
        days = await self._figures.read_days(_days(call))
        titles = {path: title for desk in self._agents for path, title in self._pages(desk).items()}
        pages = [(self._path(url), times) for url, times in rank_uses(day.pages for day in days)]
        actions = rank_uses(day.actions for day in days)
        body = ConsoleInsights(
            [_write_day(day) for day in days],
            [ConsoleUse(name, titles.get(name, name), times) for name, times in pages[:_MOST_USES]],
            [ConsoleUse(name, name, times) for name, times in actions[:_MOST_USES]],
        )
        return Reply(200, encode(body))

    async def list_questions(self, _session: Session, call: Call) -> Reply:
        """``GET insights/questions``: groups of open questions, the most frequent first."""
        await self._audit_log.note_operator_list(call.principal, "threads", "")
        groups = await self._review.list_open(_days(call))
        pages = [
            ConsolePage(path, title, desk or None)
            for desk in self._agents
            for path, title in self._pages(desk).items()
        ]
        data = [_write_group(one) for one in groups[:MOST_GROUPS]]
        return Reply(200, encode(ConsoleOpenQuestions(data, pages[:_MOST_PAGES])))

    async def mark(self, session: Session, call: Call) -> Reply:
        """``POST insights/answered``: marks questions as answered by a page."""
        asked = decode_body(call.body, ConsoleAnswered)
        by = self._operator_actions.make_auditor(call)
        await self._review.mark(
            asked.questions, asked.page, asked.agent or "", session.operator, by
        )
        return Reply(200, encode(EmptyBody()))

    async def export(self, _session: Session, call: Call) -> Reply:
        """``GET insights/export``: a table as CSV."""
        days = _days(call)
        table = decode_choice(call.query, "table", ("days", "questions", "pages", "actions"))
        if table == "questions":
            await self._audit_log.note_operator_list(call.principal, "threads", "")
            text = csv_wire.write_questions(await self._review.list_open(days))
        else:
            counted = await self._figures.read_days(days)
            if table == "pages":
                text = csv_wire.write_uses("page", rank_uses(day.pages for day in counted))
            elif table == "actions":
                text = csv_wire.write_uses("action", rank_uses(day.actions for day in counted))
            else:
                text = csv_wire.write_days(counted)
        name = f"insights-{table or 'days'}.csv"
        return Reply(
            200,
            text.encode("utf-8-sig"),  # the mark tells spreadsheets the encoding
            f"{_CSV}; charset=utf-8",
            (("Content-Disposition", f'attachment; filename="{name}"'),),
        )

    def routes(self, signing_in: SessionRoutes) -> tuple[Route, ...]:
        """Return the routes."""

        def route(
            method: Literal["GET", "POST"], path: str, handler: SignedInHandler, gives: str = ""
        ) -> Route:
            more = {"gives": gives} if gives else {}
            max_body = MAX_BODY if method == "POST" else 0
            return signing_in.route(method, path, _for_readers(handler), max_body, **more)

        return (
            route("GET", "insights", self.show),
            route("GET", "insights/questions", self.list_questions),
            route("POST", "insights/answered", self.mark),
            route("GET", "insights/export", self.export, _CSV),
        )

    def _pages(self, desk: str) -> dict[str, str]:
        return self._review.list_pages(desk)

    def _path(self, url: str) -> str:
        return url.removeprefix(self._site_url)


def _for_readers(handler: SignedInHandler) -> SignedInHandler:
    """Wrap a handler: refuse operators that may not read insights."""

    async def checked(session: Session, call: Call) -> Reply:
        check_insights(session.principal)
        return await handler(session, call)

    return checked


def _days(call: Call) -> int:
    return decode_count(call.query, "days", DEFAULT_DAYS, MAX_DAYS)


def _write_day(day: DayFigures) -> ConsoleDay:
    return ConsoleDay(
        write_day(day.at),
        day.questions,
        day.answered,
        day.refused,
        day.asked_back,
        day.handed,
        day.up,
        day.down,
    )


def _write_group(one: QuestionGroup) -> ConsoleOpenGroup:
    return ConsoleOpenGroup(
        one.question,
        one.others[:_MOST_WORDINGS],
        one.refused,
        one.down,
        one.reasons[:_MOST_REASONS],
        write_timestamp(one.last_at),
        one.thread_id,
        one.desk or None,
    )
