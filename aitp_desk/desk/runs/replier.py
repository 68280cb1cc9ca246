"""Produces a run's reply: the agent's answer, or calls of caller's tools.

Nothing is stored here; :class:`~aitp_desk.desk.runs.executor.RunExecutor` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from aitp_desk.agent.base import (
    Agent,
    Answer,
    Delta,
    ProgressEvent,
    Said,
    SiteFacts,
    ToolRequest,
    Turn,
    find_tool_caller,
    read_outcome,
)
from aitp_desk.agent.extractive.agent import EXTRACTIVE
from aitp_desk.agent.history.message_codec import (
    UNPROVEN,
    find_awaited_call,
    list_attached_files,
    list_due_messages,
    list_named_answers,
    make_quotes,
    make_reply_metadata,
    make_suggestions,
    read_turn,
    write_reply,
)
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.tools.agent_tools import describe_outcome, make_round
from aitp_desk.desk.dialogue.tools.person_requests import PersonRequests, find_unanswered
from aitp_desk.desk.events.broadcaster import ReportAnswer
from aitp_desk.desk.payments.run_receipts import RunReceipts
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.plugins.desk_messages import Utterance
from aitp_desk.desk.runs.action_requests import ActionRequests
from aitp_desk.desk.runs.answered_calls import RunAnswers
from aitp_desk.desk.runs.context import read_context
from aitp_desk.desk.runs.tool_steps import (
    find_reached_limit,
    list_tools,
    make_rounds,
    make_steps,
    make_usage,
    sum_usage,
)
from aitp_desk.desk.threads.files import FileService
from aitp_desk.model.access.principal import Principal, make_anonymous
from aitp_desk.model.conversation.run import RunOptions, RunUsage
from aitp_desk.model.conversation.run_step import Step
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.errors import Unavailable
from aitp_desk.store.reads import runs as run_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.units.calls.calls import ExtraStatements
from aitp_desk.store.units.tickets.requests import PersonAsked

ATTACHED = 50
"""How many of a thread's newest messages have their files read for the agent."""
GONE = "The agent of this thread is no longer served here."


class RunReply(msgspec.Struct, frozen=True):
    """The outcome of a run that was answered, or that reached a limit.

    Parameters:
        usage: token usage of the whole run.
        limit_met: as in ``finish_run``.
        person: the request for an operator that comes with the reply.
        extra_statements: statements written in the same unit.
    """

    replies: tuple[Utterance, ...] = ()
    usage: RunUsage | None = None
    limit_met: str | None = None
    person: PersonAsked | None = None
    extra_statements: ExtraStatements | None = None


class RunPause(msgspec.Struct, frozen=True):
    """The agent's calls, when it waits for the caller's tools."""

    steps: tuple[Step, ...]
    usage: RunUsage | None


class _ProgressReporter:
    """Reports an answer in progress.

    Attributes:
        is_shown: whether the beginning of the answer was sent.
    """

    def __init__(self, tell: ReportAnswer) -> None:
        self._tell = tell
        self.is_shown = False

    def __call__(self, event: ProgressEvent) -> None:
        self.is_shown = isinstance(event, Delta)
        self._tell(event)


class RunReplier:
    """Lets the agent of one desk answer runs.

    Parameters:
        requests: calls or proposes the actions that words ask for.
        people: asks operators.
        language: returns the language tag of the content.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        agent: Agent,
        site: SiteFacts,
        requests: ActionRequests,
        people: PersonRequests,
        language: Callable[[], str],
        files: FileService,
        settlement: PaymentSettlement,
    ) -> None:
        def write(
            said: Said, calls: Sequence[str] = (), message_id: str | None = None
        ) -> NewMessage:
            notes = {
                **make_reply_metadata(said, calls),
                **make_suggestions(said),
                **make_quotes(said),
            }
            return context.make_message(write_reply(said, site.url), notes, message_id)

        agent_tools = requests.agent_tools
        self._answers = RunAnswers(context.store, agent_tools, write)
        self._paid = RunReceipts(settlement, context.store, agent_tools.invoker, write)
        self._context = context
        self._store = context.store
        self._agent = agent
        self._tool_caller = find_tool_caller(agent)
        self._site = site
        self._agent_tools = agent_tools
        self._requests = requests
        self._people = people
        self._language = language
        self._files = files
        self._capabilities = settlement.capabilities

    async def reply_to_run(
        self,
        claim: ClaimedRun,
        caller: Callable[[], str | None],
        message_id: str,
        tell: ReportAnswer,
    ) -> RunReply | RunPause:
        """Let the agent answer a claimed run.

        Parameters:
            caller: the caller's key for limits; None if it is not known.
            message_id: of the reply.
            tell: receives the answer in progress.

        Raises:
            Unavailable: the run's agent does not serve here.
            DeskError: the agent was refused something; the run fails.
        """
        if claim.desk != self._context.name:
            raise Unavailable(GONE)
        options = claim.options or RunOptions()
        called = await run_reads.called_steps(self._store, claim.id) if claim.is_resumed else ()
        spent = sum_usage([step.usage for step in called])
        if (limit := find_reached_limit(options, spent, room=1)) is not None:
            return RunReply(usage=spent, limit_met=limit)
        told = await read_context(
            self._store,
            claim.thread_id,
            claim.upto_seq,
            self._context.threads,
            options.last_messages,
            self._capabilities,
        )
        due = list_due_messages(told.messages, claim.answered_seq, again=claim.options is not None)
        due = await self._answers.filter_unsettled(claim, due)
        paid = await self._paid.write_receipts(claim.thread_id, due)
        due = paid.rest
        if not due:
            return RunReply(paid.said, spent)
        turn = read_turn(told.messages, self._site, due, told.before, told.summary)
        if turn is None:
            return RunReply(usage=spent)
        conversation = Conversation(
            claim.thread_id,
            run_id=claim.id,
            words=turn.question,
            answers=find_awaited_call(told.messages),
            named=list_named_answers(due),
        )
        calls_tools = self._tool_caller is not None and self._tool_caller.calls_tools
        may_call = calls_tools and options.tool_choice != "none"
        asker = _asker(claim, due)
        went = await self._answers.continue_calls(
            claim,
            due,
            conversation,
            # an agent that calls actions reads such words itself
            amends=None if calls_tools or not (conversation.named or turn.pending) else asker,
            tells=may_call,
        )
        if went.rest != due:
            turn = read_turn(told.messages, self._site, went.rest, told.before, told.summary)
        if turn is None:
            return RunReply((*paid.said, *went.said), spent, extra_statements=went.extra_statements)
        turn = await self._answers.with_chosen_option(turn, claim.thread_id, went.rest)
        most = min(ATTACHED, options.last_messages or ATTACHED)
        newest = await reads.newest_messages(
            self._store, claim.thread_id, most, upto_seq=claim.upto_seq
        )
        files = await self._files.read_texts(asker, list_attached_files((*told.before, *newest)))
        turn = msgspec.structs.replace(turn, files=files)
        if claim.is_again or went.is_made:
            conversation.add_earlier_calls(await self._agent_tools.list_earlier_calls(claim.id))
        if may_call:
            await self._agent_tools.apply_answer(asker, conversation)
        turn = self._equip(turn, options, asker, called, spent, conversation)
        unanswered = find_unanswered([one for one in told.messages if one.seq < due[0].seq])
        outcome = (
            None
            if called
            else await self._answer_request(asker, turn, options, conversation, due, unanswered)
        )
        if outcome is None:
            telling = _ProgressReporter(tell)
            given = await read_outcome(self._agent, turn, telling)
            if isinstance(given, ToolRequest):
                steps = make_steps(given, options, claim.id, len(called), self._context.clock())
                return RunPause(steps, sum_usage([spent, make_usage(given.usage)]))
            outcome = self._consider(given, turn, conversation, unanswered, telling)
        usage = sum_usage([spent, make_usage(outcome.usage)])
        reply = await self._answers.make_reply(message_id, outcome, due, conversation, turn, asker)
        person = None
        if isinstance(outcome, Answer) and outcome.person is not None:
            asker = msgspec.structs.replace(asker, address=caller() or "")
            person = self._people.make_request(
                outcome, outcome.person, asker, claim.thread_id, turn.max_tokens
            )
        limit = find_reached_limit(options, usage, room=0)
        return RunReply(
            (*paid.said, *went.said, reply), usage, limit, person, went.extra_statements
        )

    async def _answer_request(
        self,
        asker: Principal,
        turn: Turn,
        options: RunOptions,
        conversation: Conversation,
        due: Sequence[Message],
        unanswered: str | None,
    ) -> Said | None:
        """Return the reply to words that ask for a person or an action; None for the agent's."""
        wanted = self._people.parse_request(turn.question, unanswered)
        if wanted is not None:
            return Answer("", person=wanted)
        caller = self._tool_caller
        extracts = self._agent.name == EXTRACTIVE if caller is None else not caller.calls_tools
        if not extracts:
            return None  # the agent chooses an action itself
        said = await self._requests.answer(asker, turn, options, conversation, due)
        return None if said is None else self._review(said, turn, unanswered)

    def _review(self, said: Said, turn: Turn, unanswered: str | None) -> Said:
        """Return a reply with the offer of a person, if it needs one."""
        return self._people.review_reply(
            said, turn.question, unanswered, self._language(), turn.max_tokens
        )

    def _consider(
        self,
        given: Said,
        turn: Turn,
        conversation: Conversation,
        unanswered: str | None,
        tell: _ProgressReporter,
    ) -> Said:
        """Return the agent's outcome with the desk's additions, which are streamed as well."""
        said = describe_outcome(given, conversation, self._agent_tools)
        outcome = self._review(said, turn, unanswered)
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
        """Add the tools, limits and earlier rounds to a turn."""
        written = 0 if spent is None else spent.completion
        most = options.max_completion_tokens
        return msgspec.structs.replace(
            turn,
            wishes=options.wishes,
            tools=list_tools(options, asker, self._agent_tools),
            called_first=options.called_first,
            one_by_one=not options.parallel_tool_calls,
            invoke=self._agent_tools.make_invoker(asker, conversation),
            now=self._agent_tools.now(),
            rounds=make_rounds(called, self._context.threads.window_tokens)
            + make_round(conversation.earlier, {call.id for step in called for call in step.calls}),
            max_tokens=None if most is None else most - written,
            may_want_person=self._people.is_available,
        )


def _asker(claim: ClaimedRun, due: Sequence[Message]) -> Principal:
    """Return the principal whose rights a reply has.

    It is the run's caller if all messages to answer are its own, otherwise an anonymous one:
    another party's message must not be carried out with the caller's rights. Nor must words that
    came by a secret alone: they may have waited for this run of a proven sender.
    """
    caller = claim.asked_by
    if any(said.principal != caller.party for said in due):
        return make_anonymous("", caller.via)
    if any(UNPROVEN.items() <= said.metadata.items() for said in due):
        return msgspec.structs.replace(caller, scopes=caller.scopes & {"threads"})
    return caller
