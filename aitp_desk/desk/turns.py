"""One run: the agent's reply to what waits on a thread, written down once.

An agent that wants one of the caller's own tools ends its reply with a request. The run is then
paused with everything that was called so far; when the caller has handed in the results, it is
taken up again, and the agent is asked again with all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final

import msgspec
import structlog

from aitp_desk.agent.base import (
    Agent,
    Answer,
    Delta,
    Passing,
    Said,
    SiteFacts,
    ToolRequest,
    Turn,
    calling,
    outcome_of,
)
from aitp_desk.config import Threads
from aitp_desk.desk.agents import SITE_AGENT
from aitp_desk.desk.calling import (
    limit_met,
    owed_calls,
    rounds_of,
    steps_of,
    tools_for,
    total,
    usage_of,
)
from aitp_desk.desk.capabilities.enabled import Capabilities
from aitp_desk.desk.context import read_context
from aitp_desk.desk.conversation import Conversation
from aitp_desk.desk.filing import Filing
from aitp_desk.desk.following import Following, Tell
from aitp_desk.desk.people import People, unanswered_in
from aitp_desk.desk.replying import (
    attached_files,
    messages_due,
    read_turn,
    reply_metadata,
    waited_for,
    write_reply,
)
from aitp_desk.desk.tooling import Tooling, in_words, round_of
from aitp_desk.model.chain import new_salt
from aitp_desk.model.errors import DeskError, Unavailable
from aitp_desk.model.figures import Histogram
from aitp_desk.model.ids import new_id
from aitp_desk.model.principal import Principal, anonymous
from aitp_desk.model.run import RunOptions, RunUsage
from aitp_desk.model.run_step import Step
from aitp_desk.model.thread import Actor, Message, Origin
from aitp_desk.store import reads, run_reads
from aitp_desk.store.base import Store
from aitp_desk.store.records import NewMessage
from aitp_desk.store.run_records import ClaimedRun
from aitp_desk.store.work.asking import PersonAsked
from aitp_desk.store.work.runs import fail_run, finish_run, pause_run
from aitp_desk.tracing import Span, span

OWED_SECONDS = 600
"""How long a run waits for what its caller owes, as in the OpenAI API."""
ATTACHED = 50
"""Of how many of a thread's newest messages the agent is given the files, told whole or not."""
RUN_SECONDS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
GONE = "The agent that this thread talks with does not serve here any more."
FAULT = "The desk could not answer this because of a fault of its own."

_log = structlog.get_logger()


class _Said(msgspec.Struct, frozen=True):
    """How a run ends that was answered, or that met a limit.

    Parameters:
        usage: what models counted in all of the run.
        limit_met: as in ``finish_run``.
        person: who is asked with the reply.
    """

    replies: tuple[NewMessage, ...] = ()
    usage: RunUsage | None = None
    limit_met: str | None = None
    person: PersonAsked | None = None


class _Paused(msgspec.Struct, frozen=True):
    """What the agent called, when it waits for the caller's tools."""

    steps: tuple[Step, ...]
    usage: RunUsage | None


class _Telling:
    """Tells what an agent says on its way.

    Attributes:
        is_shown: whether the beginning of the answer was told.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.is_shown = False

    def __call__(self, passing: Passing) -> None:
        self.is_shown = isinstance(passing, Delta)
        self._tell(passing)


class Turns:
    """Takes the runs of one desk to their end.

    Parameters:
        desk: its name; empty for the site's own.
        tooling: calls the site's actions for whoever asked for the run.
        people: has people asked.
        language: gives the tag of the language in which the content is.
        bounds: how much of a thread the agent is told.
        answered: told of a thread, and of its newest message that has been answered.
        capabilities: tell the agent in words what was said in messages of theirs.

    Attributes:
        ended: how many runs have ended here, by how.
        seconds: how long they were worked on.
    """

    def __init__(
        self,
        *,
        desk: str,
        store: Store,
        agent: Agent,
        actor: Actor,
        site: SiteFacts,
        tooling: Tooling,
        people: People,
        language: Callable[[], str],
        filing: Filing,
        following: Following,
        bounds: Threads,
        answered: Callable[[str, int], None],
        clock: Callable[[], float],
        capabilities: Capabilities,
    ) -> None:
        self._capabilities = capabilities
        self._desk = desk
        self._store = store
        self._agent = agent
        self._calling = calling(agent)
        self._actor = actor
        self._site = site
        self._tooling = tooling
        self._people = people
        self._language = language
        self._filing = filing
        self._following = following
        self._bounds = bounds
        self._answered = answered
        self._clock = clock
        self.ended: Counter[str] = Counter()
        self.seconds = Histogram(RUN_SECONDS)

    async def take(self, claim: ClaimedRun, caller: Callable[[], str | None]) -> None:
        """Answer what a claimed run has to answer, and commit the reply with the run's end.

        When the lease was lost meanwhile nothing is written: somebody else answers.

        Parameters:
            caller: says who asked for it, as limits count them; None where that is not known.
        """
        began = perf_counter()
        message_id = new_id("msg", self._clock())
        with (
            span("run", {"aitp_desk.agent": self._desk or SITE_AGENT}) as made,
            self._following.answering(
                claim.thread_id, claim.id, message_id, after=claim.last_event, again=claim.is_again
            ) as tell,
        ):
            await self._finish(claim, caller, message_id, tell, made)
        self.seconds.observe(perf_counter() - began)
        self._following.ended(claim.id)
        self._following.changed(claim.thread_id)

    async def stop(self, claim: ClaimedRun) -> None:
        """End a run that was cancelled while it was being answered."""
        await self._store.run(finish_run, claim=claim, replies=(), now=int(self._clock()))
        self.ended["cancelled"] += 1
        self._following.ended(claim.id)
        self._following.changed(claim.thread_id)

    async def _finish(
        self,
        claim: ClaimedRun,
        caller: Callable[[], str | None],
        message_id: str,
        tell: Tell,
        made: Span,
    ) -> None:
        try:
            outcome = await self._reply(claim, caller, message_id, tell)
        except DeskError as error:
            made.fail(error.kind.value)
            await self._fail(claim, error.message)
        except Exception:  # noqa: BLE001 -- whatever an agent does, its run ends
            made.fail("fault")
            _log.exception("fault", run=claim.id)
            await self._fail(claim, FAULT)
        else:
            await self._write(claim, outcome)

    async def _reply(
        self,
        claim: ClaimedRun,
        caller: Callable[[], str | None],
        message_id: str,
        tell: Tell,
    ) -> _Said | _Paused:
        if claim.desk != self._desk:
            raise Unavailable(GONE)
        options = claim.options or RunOptions()
        called = await run_reads.called_steps(self._store, claim.id) if claim.is_resumed else ()
        spent = total([step.usage for step in called])
        if (limit := limit_met(options, spent, room=1)) is not None:
            return _Said(usage=spent, limit_met=limit)
        told = await read_context(
            self._store,
            claim.thread_id,
            claim.upto_seq,
            self._bounds,
            options.last_messages,
            self._capabilities,
        )
        due = messages_due(told.messages, claim.answered_seq, again=claim.options is not None)
        turn = read_turn(told.messages, self._site, due, told.before, told.summary)
        if turn is None:
            return _Said(usage=spent)
        most = min(ATTACHED, options.last_messages or ATTACHED)
        newest = await reads.newest_messages(
            self._store, claim.thread_id, most, upto_seq=claim.upto_seq
        )
        files = await self._filing.read_texts(attached_files((*told.before, *newest)))
        turn = msgspec.structs.replace(turn, files=files)
        asker = _asker(claim, due)
        conversation = Conversation(
            claim.thread_id,
            run_id=claim.id,
            words=turn.question,
            answers=waited_for(told.messages),
        )
        if claim.is_again:
            conversation.precede(await self._tooling.earlier(claim.id))
        may_call = self._calling is not None and self._calling.calls_tools
        if may_call and options.tool_choice != "none":
            await self._tooling.take_answer(asker, conversation)
        turn = self._equip(turn, options, asker, called, spent, conversation)
        unanswered = unanswered_in([one for one in told.messages if one.seq < due[0].seq])
        wanted = None if called else self._people.wanted(turn.question, unanswered)
        if wanted is not None:
            outcome: Said = Answer("", person=wanted)
        else:
            telling = _Telling(tell)
            given = await outcome_of(self._agent, turn, telling)
            if isinstance(given, ToolRequest):
                steps = steps_of(given, options, claim.id, len(called), self._clock())
                return _Paused(steps, total([spent, usage_of(given.usage)]))
            outcome = self._consider(given, turn, conversation, unanswered, telling)
        usage = total([spent, usage_of(outcome.usage)])
        reply = NewMessage(
            message_id,
            new_salt(),
            "assistant",
            self._actor.id,
            Origin.DESK,
            write_reply(outcome, self._site.url),
            metadata=reply_metadata(outcome, tuple(conversation.made)),
        )
        person = None
        if isinstance(outcome, Answer) and outcome.person is not None:
            asker = msgspec.structs.replace(asker, address=caller() or "")
            person = self._people.ask(
                outcome, outcome.person, asker, claim.thread_id, turn.max_tokens
            )
        return _Said((reply,), usage, limit_met(options, usage, room=0), person)

    def _consider(
        self,
        given: Said,
        turn: Turn,
        conversation: Conversation,
        unanswered: str | None,
        tell: _Telling,
    ) -> Said:
        """What an agent has said, with what the desk adds; whoever follows is told of that too."""
        said = in_words(given, conversation, self._tooling)
        outcome = self._people.consider(
            said, turn.question, unanswered, self._language(), turn.max_tokens
        )
        if isinstance(outcome, Answer) and isinstance(said, Answer) and tell.is_shown:
            tell(Delta(outcome.text.removeprefix(said.text)))
        return outcome

    def _equip(
        self,
        turn: Turn,
        options: RunOptions,
        asker: Principal,
        called: Sequence[Step],
        spent: RunUsage | None,
        conversation: Conversation,
    ) -> Turn:
        """Give a turn what the run's caller brings, and what the desk does for the caller."""
        written = 0 if spent is None else spent.completion
        most = options.max_completion_tokens
        return msgspec.structs.replace(
            turn,
            wishes=options.wishes,
            tools=tools_for(options, asker, self._tooling),
            called_first=options.called_first,
            one_by_one=not options.parallel_tool_calls,
            invoke=self._tooling.invoker(asker, conversation),
            now=self._tooling.now(),
            rounds=rounds_of(called, self._bounds.window_tokens)
            + round_of(conversation.earlier, {call.id for step in called for call in step.calls}),
            max_tokens=None if most is None else most - written,
            may_want_person=self._people.may_be_asked,
        )

    async def _write(self, claim: ClaimedRun, outcome: _Said | _Paused) -> None:
        now = int(self._clock())
        if isinstance(outcome, _Paused):
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
            await self._store.run(
                finish_run,
                claim=claim,
                replies=outcome.replies,
                now=now,
                usage=outcome.usage,
                limit_met=outcome.limit_met,
                person=outcome.person,
            )
            self.ended["completed" if outcome.limit_met is None else "incomplete"] += 1
            self._answered(claim.thread_id, claim.upto_seq)

    async def _fail(self, claim: ClaimedRun, error: str) -> None:
        await self._store.run(fail_run, claim=claim, error=error, now=int(self._clock()))
        self.ended["failed"] += 1


def _asker(claim: ClaimedRun, due: Sequence[Message]) -> Principal:
    """For whom tools are called: who asked for the run, where all that is asked is theirs.

    What somebody else has said must not be carried out with the rights of who asked.
    """
    party = claim.asked_by.party
    return claim.asked_by if all(said.principal == party for said in due) else anonymous("")
