"""Processes answers within runs: calls continue, and the agent receives the chosen option."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.agent.base import Answer, Clarification, Said, Turn
from aitp_desk.agent.history.message_codec import ANSWERS
from aitp_desk.desk.calls.invocation import AcceptedCall, CompletedCall
from aitp_desk.desk.dialogue.consent import make_question_outcome
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.prompts import describe_accepted, find_question, match_option
from aitp_desk.desk.dialogue.statements import Ask, Decline, Refuse, Remind, Statement
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.payments.run_receipts import WriteReply
from aitp_desk.desk.plugins.desk_messages import DeskQuestion, Utterance
from aitp_desk.desk.plugins.resumption import TOO_LATE
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import ActionCall, Answered, CallState
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.errors import DeskError, Forbidden, NotAuthenticated, StoreBusy, UnknownAction
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.units.calls.calls import ExtraStatements, forgetting_answer, one_after_another


class ContinuedCall(msgspec.Struct, frozen=True):
    """The outcome of resuming an answered call.

    Parameters:
        extra_statements: statements that change the call's state, stored with the reply.
        said: the reply; None for none.
        asks: the question of the reply.
        is_made: whether the call was made, so that an agent can report it.
        is_reminder: whether the call waits as before, for what the reply repeats.
    """

    call_id: str
    extra_statements: ExtraStatements
    said: Said | None = None
    asks: DeskQuestion | None = None
    is_made: bool = False
    is_reminder: bool = False


class ContinuedCalls(msgspec.Struct, frozen=True):
    """The result of continuing answered calls.

    Parameters:
        said: the desk's messages about them.
        extra_statements: their state changes, written in the same unit.
        is_made: whether one was made.
        rest: the messages that still need an answer.
    """

    said: tuple[Utterance, ...] = ()
    extra_statements: ExtraStatements | None = None
    is_made: bool = False
    rest: tuple[Message, ...] = ()


class RunAnswers:
    """Applies answers in the runs of one desk, and makes its requests.

    Parameters:
        agent_tools: calls the site's actions.
        write: builds a message of the desk.
    """

    def __init__(
        self,
        store: Store,
        agent_tools: AgentTools,
        write: WriteReply,
    ) -> None:
        self._store = store
        self._agent_tools = agent_tools
        self._desk_messages = agent_tools.desk_messages
        self._invoker = agent_tools.invoker
        self._write = write

    async def filter_unsettled(
        self, claim: ClaimedRun, due: Sequence[Message]
    ) -> tuple[Message, ...]:
        """Return the messages to answer, without those that plugins answered meanwhile."""
        kept = []
        for message in due:
            if claim.options is None and message.run_id is None and self._desk_messages.may_ask:
                whole = await reads.message(self._store, claim.thread_id, message.id)
                if whole is not None and self._desk_messages.is_judged(whole.content):
                    continue
            kept.append(message)
        return tuple(kept)

    async def continue_calls(
        self,
        claim: ClaimedRun,
        due: tuple[Message, ...],
        conversation: Conversation,
        *,
        amends: Principal | None,
        tells: bool,
    ) -> ContinuedCalls:
        """Continue the calls that were answered, also by words.

        Parameters:
            amends: the caller whose words may do so; None if an agent reads them.
            tells: whether the agent reports the results of the calls that were made.
        """
        went = ContinuedCalls(rest=due)
        if self._desk_messages.may_ask:
            went = await self._continue_answered(claim, due, conversation, tells=tells)
        if amends is None or went.said or not went.rest:
            return went
        amended = await self._amend(went.rest, conversation, amends)
        if not amended:
            return went
        said = tuple(words for one in amended for words in self._write_statement(one))
        written = [one.extra_statements for one in amended]
        rest = tuple(one for one in went.rest if conversation.named and ANSWERS not in one.metadata)
        return ContinuedCalls(
            said, one_after_another(went.extra_statements, *written), went.is_made, rest
        )

    async def _continue_answered(
        self,
        claim: ClaimedRun,
        due: tuple[Message, ...],
        conversation: Conversation,
        *,
        tells: bool,
    ) -> ContinuedCalls:
        if claim.is_again:
            await self._agent_tools.list_earlier_calls(
                claim.id
            )  # an earlier attempt's calls are over
        said: list[Utterance] = []
        extra_statements: list[ExtraStatements] = []
        is_made = False
        left = {message.id for message in due}
        for call in await self._invoker.calls.list_answered(claim.thread_id):
            if call.answer is None:
                continue
            one = await self._continue(call, call.answer, _of(due), conversation)
            extra_statements.append(one.extra_statements)
            is_made = is_made or one.is_made
            if one.is_made and tells:
                continue
            left.discard(call.answer.message_id)
            said.extend(self._write_statement(one))
        rest = tuple(message for message in due if message.id in left)
        return ContinuedCalls(tuple(said), one_after_another(*extra_statements), is_made, rest)

    async def _continue(
        self, call: ActionCall, answer: Answered, of: str, conversation: Conversation
    ) -> ContinuedCall:
        """Resume an answered call.

        Parameters:
            of: the actor asked for missing arguments; empty for any participant.

        Raises:
            StoreBusy: it resumes later.
        """
        if not call.waits_for_asker:
            said = self._tell(call)
            was_made = call.run_id is not None and call.run_id == conversation.run_id
            return ContinuedCall(call.id, forgetting_answer(call.id), said, is_made=was_made)
        dialogues = self._agent_tools.dialogues
        try:
            offered = self._invoker.find(answer.by, call.action)
            dialogue = dialogues.continue_waiting(offered, call, conversation.run_id)
            stated = await dialogues.hold(
                answer.by,
                offered,
                dialogue.resume(call, answer.value),
                conversation.note_begun,
                conversation.note_ended,
            )
            return await self._state(stated, call, answer.by, of)
        except StoreBusy:
            raise
        except DeskError as error:
            return await self._state(Refuse(call, error), call, answer.by, of)

    async def _amend(
        self, due: Sequence[Message], conversation: Conversation, asker: Principal
    ) -> list[ContinuedCall]:
        """Read texts as answers to the questions about the desk's pending calls.

        Returns:
            none for words that mean something else.
        """
        found = [
            await self._amend_one(due, conversation, asker, call_id, words)
            for call_id, words in conversation.list_answers()
        ]
        return [one for one in found if one is not None]

    async def _amend_one(
        self,
        due: Sequence[Message],
        conversation: Conversation,
        asker: Principal,
        call_id: str,
        words: str,
    ) -> ContinuedCall | None:
        call = await self._invoker.calls.find_pending(call_id, asker)
        if call is None or call.answer is not None or call.thread_id != conversation.thread_id:
            return None
        try:
            offered = self._invoker.find(asker, call.action)
            dialogue = self._agent_tools.dialogues.continue_waiting(
                offered, call, conversation.run_id
            )
            stated = await self._agent_tools.dialogues.hold(
                asker,
                offered,
                dialogue.amend(words, call),
                conversation.note_begun,
                conversation.note_ended,
            )
            return None if stated is None else await self._state(stated, call, asker, _of(due))
        except (UnknownAction, Forbidden, NotAuthenticated):
            return None
        except StoreBusy:
            raise
        except DeskError as error:
            return await self._state(Refuse(call, error), call, asker, _of(due))

    async def _state(
        self, stated: Statement, call: ActionCall, asker: Principal, of: str
    ) -> ContinuedCall:
        """Return what the desk states, with the call's move."""
        pending_calls = self._invoker.pending_calls
        match stated:
            case CompletedCall(ended):
                offer = self._invoker.offer_result(ended)
                return ContinuedCall(call.id, forgetting_answer(call.id), offer, is_made=True)
            case AcceptedCall(accepted):
                said = describe_accepted(accepted)
                return ContinuedCall(call.id, forgetting_answer(call.id), said, is_made=True)
            case Ask(needed, words, question, memory):
                needed = await self._invoker.renew(needed)
                pending = await pending_calls.make_pending(asker, needed, memory)
                asks = None if question is None else DeskQuestion(question, of, pending.id)
                words = msgspec.structs.replace(words, waits=pending.id)
                moves = (
                    pending_calls.make_move(pending, call)
                    if pending.id == call.id
                    else pending_calls.make_begin(pending, after=call)
                )
                return ContinuedCall(pending.id, moves, words, asks)
            case Remind(_, words):  # asked only once: a payment that has begun may still settle
                words = msgspec.structs.replace(words, waits=call.id)
                return ContinuedCall(call.id, forgetting_answer(call.id), words, is_reminder=True)
            case Decline(_, words):
                return ContinuedCall(
                    call.id, pending_calls.make_move(pending_calls.make_declined(call), call), words
                )
            case Refuse(_, error):
                stands = await self._invoker.calls.find(call.id)
                if stands is None or not stands.waits_for_asker:
                    told = Answer(error.message, tools_used=(call.action,))
                    return ContinuedCall(call.id, forgetting_answer(call.id), told, is_made=True)
                refused = pending_calls.make_refused(call, error)
                return ContinuedCall(
                    call.id, pending_calls.make_move(refused, call), Answer(error.message)
                )

    def _tell(self, call: ActionCall) -> Said | None:
        """Return the reply for a call that an interrupted attempt already resumed."""
        if call.state is CallState.EXPIRED and call.accepted_at is None:
            return Answer(TOO_LATE)
        if call.is_over:
            return self._invoker.offer_result(call)
        return describe_accepted(call) if call.accepted_at is not None else None

    def _write_statement(self, continued: ContinuedCall) -> tuple[Utterance, ...]:
        """Return the message about a call that was continued; empty for none."""
        if continued.said is None:
            return ()
        # a question is about a call, but reports none, and so is a reminder of one
        is_asked = continued.asks is not None or continued.is_reminder
        calls = () if is_asked else (continued.call_id,)
        return (Utterance(self._write(continued.said, calls), continued.asks),)

    async def with_chosen_option(self, turn: Turn, thread_id: str, due: Sequence[Message]) -> Turn:
        """Return the turn with the text of the option that the message chose."""
        if turn.pending is None or not turn.pending.options or not self._desk_messages.may_ask:
            return turn
        whole = await reads.message(self._store, thread_id, due[-1].id)
        if whole is None or not self._desk_messages.is_judged(whole.content):
            return turn
        option = match_option(due[-1].content[-1], turn.pending.options)
        return turn if option is None else msgspec.structs.replace(turn, question=option)

    async def make_reply(
        self,
        message_id: str,
        outcome: Said,
        due: Sequence[Message],
        conversation: Conversation,
        turn: Turn,
        asker: Principal,
    ) -> Utterance:
        """Build the reply message, with the question it asks of the answered speaker.

        Parameters:
            turn: the agent's turn.
            asker: the answered principal.
        """
        question = None
        if self._desk_messages.may_ask:
            outcome = await self._asked_again(
                make_question_outcome(outcome), conversation, turn, asker
            )
            question = await find_question(outcome, self._agent_tools.invoker)
        asks = None if question is None else DeskQuestion(question, _of(due), outcome.waits)
        return Utterance(self._write(outcome, tuple(conversation.made), message_id), asks)

    async def _asked_again(
        self, outcome: Said, conversation: Conversation, turn: Turn, asker: Principal
    ) -> Said:
        """Keep a repeated question bound to its waiting call.

        Answering a question of the agent's would not continue the call.
        """
        if not isinstance(outcome, Clarification) or outcome.waits is not None:
            return outcome
        if conversation.answers is None or turn.pending is None:
            return outcome
        if outcome.question != turn.pending.question:
            return outcome
        call = await self._agent_tools.invoker.calls.find_pending(conversation.answers, asker)
        return outcome if call is None else msgspec.structs.replace(outcome, waits=call.id)


def _of(due: Sequence[Message]) -> str:
    """Return the single actor to ask; empty if there are several."""
    actors = {message.actor for message in due}
    return actors.pop() if len(actors) == 1 else ""
