"""Run operations for callers: start, read, cancel, and submit tool outputs.

``executor.py`` executes runs; this module checks who may do what, and when.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.idempotency import IdempotencyKeys, RequestInfo, check_hops, thread_scope
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.access.site_agents import SiteAgents
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.desk.threads.creation import ThreadCreation
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.run_draft import (
    RunDraft,
    ToolOutput,
    check_outputs,
    check_run_draft,
)
from aitp_desk.model.conversation.run_step import Step
from aitp_desk.model.conversation.thread import ThreadDraft, check_metadata
from aitp_desk.model.errors import RunNotFound, ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.reads import runs as run_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import Page, PageRequest
from aitp_desk.store.records.runs import NewRun
from aitp_desk.store.units.runs.callers import cancel_run, set_run_metadata, submit_outputs
from aitp_desk.store.units.threads.threads import AlsoWritten


class RunService:
    """Starts, reads, changes and cancels runs for callers.

    Every method raises ThreadNotFound if the thread does not exist, is closed, or is not the
    caller's; RunNotFound if the thread has no such run; Forbidden if the caller has left the
    thread, or its key does not open threads.

    Parameters:
        worker: is woken after a commit that queued a run, and stops cancelled runs.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        agents: SiteAgents,
        creation: ThreadCreation,
        messages: MessageService,
        reader: ThreadReader,
        idempotency: IdempotencyKeys,
        events: Broadcaster,
        worker: RunWorker,
    ) -> None:
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._agents = agents
        self._creation = creation
        self._messages = messages
        self._reader = reader
        self._idempotency = idempotency
        self._events = events
        self._worker = worker

    async def start(
        self, principal: Principal, thread_id: str, draft: RunDraft, request: RequestInfo
    ) -> Run:
        """Start a run on a thread, after the messages that come with it.

        Returns:
            The run; for a repeated request, the first request's run in its current state.

        Raises:
            AgentNotFound: the site has no such agent.
            InvalidRequest and its subclasses: the draft breaks a limit, or a run is active on the
                thread.
            FileNotFound: a message names a file that is not the caller's.
            IdempotencyConflict, IdempotencyInFlight: the key is in use.
            StoreBusy: nothing was written.
        """
        check_scope(principal)
        check_hops(request)
        run = self._new_run(principal, draft, self._clock())
        with self._idempotency.hold_key(request, thread_scope(principal, thread_id)) as idempotency:
            placed = await self._messages.start_run(
                principal, thread_id, run, draft.messages, idempotency
            )
        if placed.run is None:
            return await self.retrieve(principal, thread_id, placed.run_id or "")
        self._events.notify_change(thread_id)
        self._worker.wake(placed.run.id, principal.limited_as)
        return placed.run

    async def start_with_thread(
        self,
        principal: Principal,
        thread: ThreadDraft,
        draft: RunDraft,
        request: RequestInfo,
        also: AlsoWritten | None = None,
    ) -> Run:
        """Create a thread and start a run on it.

        Parameters:
            also: committed together with them; not for a repeated request.

        Raises:
            as :meth:`start`, and as :meth:`.creation.ThreadCreation.open_thread`.
        """
        check_scope(principal)
        run = self._new_run(principal, draft, self._clock())
        opened = await self._creation.open_thread(principal, thread, request, run, also)
        return await self.retrieve(principal, opened.thread.id, opened.run_id or "")

    async def retrieve(self, principal: Principal, thread_id: str, run_id: str) -> Run:
        """Return a run in its current state."""
        check_scope(principal)
        await self._check_reach(principal, thread_id)
        run = await reads.run(self._store, run_id)
        if run is None or run.thread_id != thread_id:
            raise RunNotFound("This thread has no run with this id.", param="run_id")
        return run.at(int(self._clock()))

    async def find(self, principal: Principal, run_id: str) -> Run:
        """Return a run in its current state, by its id alone.

        Raises:
            RunNotFound: there is none, or its thread is not the caller's.
        """
        run = await reads.run(self._store, run_id)
        if run is None:
            raise RunNotFound("There is no run with this id.", param="run_id")
        try:
            return await self.retrieve(principal, run.thread_id, run_id)
        except ThreadNotFound:
            raise RunNotFound("There is no run with this id.", param="run_id") from None

    async def find_asked(self, principal: Principal, run_id: str) -> Run:
        """Return a run by its id alone, unless its question was deleted.

        Raises:
            RunNotFound: as :meth:`find`, or it was.
        """
        run = await self.find(principal, run_id)
        if await run_reads.is_withdrawn(self._store, run):
            raise RunNotFound("There is no run with this id.", param="run_id")
        return run

    async def list(self, principal: Principal, thread_id: str, part: PageRequest) -> Page[Run]:
        """Return one page of a thread's runs.

        Raises:
            InvalidRequest: ``after`` or ``before`` names no run of this thread.
        """
        check_scope(principal)
        await self._check_reach(principal, thread_id)
        page = await run_reads.runs(self._store, thread_id, part)
        now = int(self._clock())
        return Page(tuple(run.at(now) for run in page.items), page.has_more)

    async def update(
        self, principal: Principal, thread_id: str, run_id: str, metadata: dict[str, str]
    ) -> Run:
        """Replace a run's metadata.

        Raises:
            InvalidRequest: the metadata breaks a limit.
        """
        check_scope(principal)
        check_metadata(metadata)
        return await self._store.run(
            set_run_metadata,
            thread_id=thread_id,
            run_id=run_id,
            principal=principal,
            metadata=metadata,
            now=int(self._clock()),
            idle_before=self._context.idle_before,
        )

    async def cancel(self, principal: Principal, thread_id: str, run_id: str) -> Run:
        """Cancel a run, at once or by asking its worker to stop.

        Raises:
            InvalidRequest: the run is over.
        """
        check_scope(principal)
        done = await self._store.run(
            cancel_run,
            thread_id=thread_id,
            run_id=run_id,
            principal=principal,
            now=int(self._clock()),
            idle_before=self._context.idle_before,
        )
        self._events.notify_change(thread_id)
        if done.run.state is RunState.CANCELLING:
            self._worker.stop_run(run_id)
        else:
            self._events.notify_end(run_id)
            self._worker.wake()  # the next run of the thread may start
        return done.run

    async def submit(
        self, principal: Principal, thread_id: str, run_id: str, outputs: Sequence[ToolOutput]
    ) -> Run:
        """Submit the outputs of the caller's tools. Repeating it changes nothing.

        Raises:
            Forbidden: also if the run waits for another principal.
            InvalidRequest: the run does not wait for outputs, or not for these.
            RequestTooLarge: an output is too long.
        """
        check_scope(principal)
        check_outputs(outputs)
        done = await self._store.run(
            submit_outputs,
            thread_id=thread_id,
            run_id=run_id,
            principal=principal,
            outputs={given.call_id: given.output for given in outputs},
            now=int(self._clock()),
            idle_before=self._context.idle_before,
        )
        self._events.notify_change(thread_id)
        self._worker.wake(run_id, principal.limited_as)
        return done.run

    async def steps(
        self, principal: Principal, thread_id: str, run_id: str, part: PageRequest
    ) -> tuple[Run, Page[Step]]:
        """Return a run and one page of its steps.

        Raises:
            InvalidRequest: ``after`` or ``before`` names no step of this run.
        """
        run = await self.retrieve(principal, thread_id, run_id)
        return run, part.cut(await run_reads.steps(self._store, run), "a step of this run")

    async def step(
        self, principal: Principal, thread_id: str, run_id: str, step_id: str
    ) -> tuple[Run, Step]:
        """Return a run and one of its steps.

        Raises:
            RunNotFound: the run has no such step.
        """
        run = await self.retrieve(principal, thread_id, run_id)
        for step in await run_reads.steps(self._store, run):
            if step.id == step_id:
                return run, step
        raise RunNotFound("This run has no step with this id.", param="step_id")

    async def _check_reach(self, principal: Principal, thread_id: str) -> None:
        """Refuse a caller that may not write to the thread."""
        access = await self._reader.get_access(principal, thread_id)
        access.check(AccessNeed.WRITE)

    def _new_run(self, principal: Principal, draft: RunDraft, now: float) -> NewRun:
        check_run_draft(draft)
        agent = self._agents.find(draft.agent)
        options = draft.options
        if options.model is None:
            options = msgspec.structs.replace(options, model=agent.model)
        return NewRun(new_id("run", now), principal, agent.id, options, draft.metadata)
