"""Executes one run: has the agent answer, and stores its reply once.

An agent that wants one of the caller's own tools ends its reply with a request. The run is then
paused with all its calls so far. When the caller has submitted the results, the run is claimed
again, and the agent receives all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final

import structlog

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.desk.events.broadcaster import Broadcaster, ReportAnswer
from aitp_desk.desk.plugins.desk_messages import DeskMessages
from aitp_desk.desk.runs.replier import RunPause, RunReplier, RunReply
from aitp_desk.desk.runs.tool_steps import owed_calls
from aitp_desk.model.errors import DeskError, StoreBusy
from aitp_desk.model.ids import new_id
from aitp_desk.observability.figures import Histogram
from aitp_desk.observability.tracing import Span, span
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.units.runs.workers import fail_run, finish_run, pause_run

OWED_SECONDS = 600
"""How long a run waits for the caller's tool outputs, as in the OpenAI API."""
RUN_SECONDS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
FAULT = "The desk could not answer this because of an internal error."

_log = structlog.get_logger()


class RunExecutor:
    """Executes the runs of one desk.

    Parameters:
        replies: has the agent answer them.
        desk_messages: lets plugins judge the desk's messages.
        answered: called with a thread's id and the number of its newest answered message.
        recover_calls: ends the calls of a run that an earlier attempt has left.

    Attributes:
        ended: number of runs that have ended here, by outcome.
        seconds: durations of the work on them.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        replies: RunReplier,
        desk_messages: DeskMessages,
        events: Broadcaster,
        answered: Callable[[str, int], None],
        recover_calls: Callable[[str], Awaitable[None]],
    ) -> None:
        self._desk = context.name
        self._store = context.store
        self._replies = replies
        self._desk_messages = desk_messages
        self._events = events
        self._answered = answered
        self._recover_calls = recover_calls
        self._clock = context.clock
        self.ended: Counter[str] = Counter()
        self.seconds = Histogram(RUN_SECONDS)

    async def execute_run(self, claim: ClaimedRun, caller: Callable[[], str | None]) -> None:
        """Answer a claimed run, and commit the reply with the run's end.

        Nothing is written if the lease was lost meanwhile: another worker answers.

        Parameters:
            caller: the caller's key for limits; None if it is not known.
        """
        began = perf_counter()
        message_id = new_id("msg", self._clock())
        with (
            span("run", {"aitp_desk.agent": self._desk or SITE_AGENT}) as made,
            self._events.broadcast_answer(
                claim.thread_id, claim.id, message_id, after=claim.last_event, again=claim.is_again
            ) as tell,
        ):
            await self._finish(claim, caller, message_id, tell, made)
        self.seconds.observe(perf_counter() - began)
        self._events.notify_end(claim.id)
        self._events.notify_change(claim.thread_id)

    async def stop_run(self, claim: ClaimedRun) -> None:
        """End a run that was cancelled while it was being answered."""
        await self._store.run(finish_run, claim=claim, replies=(), now=int(self._clock()))
        self.ended["cancelled"] += 1
        self._events.notify_end(claim.id)
        self._events.notify_change(claim.thread_id)

    async def _finish(
        self,
        claim: ClaimedRun,
        caller: Callable[[], str | None],
        message_id: str,
        tell: ReportAnswer,
        made: Span,
    ) -> None:
        try:
            if claim.is_again:
                await self._recover_calls(claim.id)
            outcome = await self._replies.reply_to_run(claim, caller, message_id, tell)
        except DeskError as error:
            made.fail(error.kind.value)
            await self._fail(claim, error.message)
        except Exception:  # noqa: BLE001 -- a run ends whatever error its agent raises
            made.fail("fault")
            _log.exception("fault", run=claim.id)
            await self._fail(claim, FAULT)
        else:
            try:
                await self._write(claim, outcome)
            except StoreBusy:
                raise
            except DeskError as error:  # the reply is refused, or a call was settled meanwhile
                await self._fail(claim, error.message)

    async def _write(self, claim: ClaimedRun, outcome: RunReply | RunPause) -> None:
        now = int(self._clock())
        if isinstance(outcome, RunPause):
            await self._store.run(
                pause_run,
                claim=claim,
                steps=outcome.steps,
                owed=owed_calls(outcome.steps[-1]),
                usage=outcome.usage,
                expires_at=now + OWED_SECONDS,
                now=now,
            )
            self.ended["paused"] += 1
        else:
            said = outcome

            async def write(replies: tuple[NewMessage, ...], effects: NewEffects | None) -> None:
                await self._store.run(
                    finish_run,
                    claim=claim,
                    replies=replies,
                    now=now,
                    usage=said.usage,
                    limit_met=said.limit_met,
                    person=said.person,
                    effects=effects,
                    extra_statements=said.extra_statements,
                )

            await self._desk_messages.say(claim.thread_id, outcome.replies, write)
            self.ended["completed" if outcome.limit_met is None else "incomplete"] += 1
            self._answered(claim.thread_id, claim.upto_seq)

    async def _fail(self, claim: ClaimedRun, error: str) -> None:
        await self._store.run(fail_run, claim=claim, error=error, now=int(self._clock()))
        self.ended["failed"] += 1
