"""What a run says: the agent's reply to what waits on a thread, or what it calls of its caller's.

Nothing is written down here; :class:`~aitp_desk.desk.runs.executor.Turns` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

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
from aitp_desk.agent.history.message_codec import (
    attached_files,
    messages_due,
    read_turn,
    waited_for,
)
from aitp_desk.config import Threads
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.tools.agent_tools import Tooling, in_words, round_of
from aitp_desk.desk.dialogue.tools.person_requests import People, unanswered_in
from aitp_desk.desk.events.broadcaster import Tell
from aitp_desk.desk.payments.run_receipts import PaidInRuns
from aitp_desk.desk.payments.settlement import PaidEnds
from aitp_desk.desk.plugins.desk_messages import Utterance
from aitp_desk.desk.plugins.registry import Capabilities
from aitp_desk.desk.runs.answered_calls import AnswersInRuns
from aitp_desk.desk.runs.context import read_context
from aitp_desk.desk.runs.tool_steps import (
    limit_met,
    rounds_of,
    steps_of,
    tools_for,
    total,
    usage_of,
)
from aitp_desk.desk.threads.files import Filing
from aitp_desk.model.access.principal import Principal, anonymous
from aitp_desk.model.conversation.run import RunOptions, RunUsage
from aitp_desk.model.conversation.run_step import Step
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.errors import Unavailable
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.reads import runs as run_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.units.calls.calls import Along
from aitp_desk.store.units.tickets.requests import PersonAsked

ATTACHED = 50
"""Of how many of a thread's newest messages the agent is given the files, told whole or not."""
GONE = "The agent that this thread talks with does not serve here any more."


class Replied(msgspec.Struct, frozen=True):
    """How a run ends that was answered, or that met a limit.

    Parameters:
        usage: what models counted in all of the run.
        limit_met: as in ``finish_run``.
        person: who is asked with the reply.
        along: what is written with it.
    """

    replies: tuple[Utterance, ...] = ()
    usage: RunUsage | None = None
    limit_met: str | None = None
    person: PersonAsked | None = None
    along: Along | None = None


class Paused(msgspec.Struct, frozen=True):
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


class RunReplies:
    """Has the agent of one desk answer runs.

    Parameters:
        desk: its name; empty for the site's own.
        actor: id of the desk's own actor.
        tooling: calls the site's actions for whoever asked for the run.
        people: has people asked.
        language: gives the tag of the language in which the content is.
        bounds: how much of a thread the agent is told.
        capabilities: tell the agent in words what was said in messages of theirs.
    """

    def __init__(
        self,
        *,
        desk: str,
        store: Store,
        agent: Agent,
        actor: str,
        site: SiteFacts,
        tooling: Tooling,
        people: People,
        language: Callable[[], str],
        filing: Filing,
        bounds: Threads,
        clock: Callable[[], float],
        capabilities: Capabilities,
        paid_ends: PaidEnds,
    ) -> None:
        def new_message_id() -> str:
            return new_id("msg", clock())

        self._answers = AnswersInRuns(
            store, tooling, new_message_id, actor=actor, site_url=site.url
        )
        self._paid = PaidInRuns(
            paid_ends,
            store,
            tooling.invoking,
            new_message_id,
            actor=actor,
            site_url=site.url,
        )
        self._desk = desk
        self._store = store
        self._agent = agent
        self._calling = calling(agent)
        self._site = site
        self._tooling = tooling
        self._people = people
        self._language = language
        self._filing = filing
        self._bounds = bounds
        self._clock = clock
        self._capabilities = capabilities

    async def reply(
        self,
        claim: ClaimedRun,
        caller: Callable[[], str | None],
        message_id: str,
        tell: Tell,
    ) -> Replied | Paused:
        """Have a claimed run answered.

        Parameters:
            caller: says who asked for it, as limits count them; None where that is not known.
            message_id: of the reply.
            tell: told what is said on its way.

        Raises:
            Unavailable: the agent that it is for does not serve here.
            DeskError: whatever the agent is refused; the run fails by it.
        """
        if claim.desk != self._desk:
            raise Unavailable(GONE)
        options = claim.options or RunOptions()
        called = await run_reads.called_steps(self._store, claim.id) if claim.is_resumed else ()
        spent = total([step.usage for step in called])
        if (limit := limit_met(options, spent, room=1)) is not None:
            return Replied(usage=spent, limit_met=limit)
        told = await read_context(
            self._store,
            claim.thread_id,
            claim.upto_seq,
            self._bounds,
            options.last_messages,
            self._capabilities,
        )
        due = messages_due(told.messages, claim.answered_seq, again=claim.options is not None)
        due = await self._answers.unsettled(claim, due)
        paid = await self._paid.tell(claim.thread_id, due)
        due = paid.rest
        if not due:
            return Replied(paid.said, spent)
        turn = read_turn(told.messages, self._site, due, told.before, told.summary)
        if turn is None:
            return Replied(usage=spent)
        conversation = Conversation(
            claim.thread_id,
            run_id=claim.id,
            words=turn.question,
            answers=waited_for(told.messages),
        )
        may_call = self._calling is not None and self._calling.calls_tools
        may_call = may_call and options.tool_choice != "none"
        went = await self._answers.go_on(claim, due, conversation, tells=may_call)
        if went.rest != due:
            turn = read_turn(told.messages, self._site, went.rest, told.before, told.summary)
        if turn is None:
            return Replied((*paid.said, *went.said), spent, along=went.along)
        turn = await self._answers.as_chosen(turn, claim.thread_id, went.rest)
        most = min(ATTACHED, options.last_messages or ATTACHED)
        newest = await reads.newest_messages(
            self._store, claim.thread_id, most, upto_seq=claim.upto_seq
        )
        asker = _asker(claim, due)
        files = await self._filing.read_texts(asker, attached_files((*told.before, *newest)))
        turn = msgspec.structs.replace(turn, files=files)
        if claim.is_again or went.is_made:
            conversation.precede(await self._tooling.earlier(claim.id))
        if may_call:
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
                return Paused(steps, total([spent, usage_of(given.usage)]))
            outcome = self._consider(given, turn, conversation, unanswered, telling)
        usage = total([spent, usage_of(outcome.usage)])
        reply = await self._answers.utter(message_id, outcome, due, conversation, turn, asker)
        person = None
        if isinstance(outcome, Answer) and outcome.person is not None:
            asker = msgspec.structs.replace(asker, address=caller() or "")
            person = self._people.ask(
                outcome, outcome.person, asker, claim.thread_id, turn.max_tokens
            )
        limit = limit_met(options, usage, room=0)
        return Replied((*paid.said, *went.said, reply), usage, limit, person, went.along)

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


def _asker(claim: ClaimedRun, due: Sequence[Message]) -> Principal:
    """Return whose rights a reply has: who asked for the run, if all that is asked is theirs.

    What somebody else has said must not be carried out with the rights of who asked.
    """
    party = claim.asked_by.party
    return claim.asked_by if all(said.principal == party for said in due) else anonymous("")
