"""Answers payment messages in runs with the outcome of the payment, without an agent."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.agent.base import Answer
from aitp_desk.agent.history.message_codec import make_reply_metadata, write_reply
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.dialogue.prompts import describe_accepted
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.plugins.desk_messages import Utterance
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import NewMessage


class PaymentStatement(msgspec.Struct, frozen=True):
    """The replies to payment messages.

    Parameters:
        said: the run's messages.
        rest: the messages that still need an answer.
    """

    said: tuple[Utterance, ...]
    rest: tuple[Message, ...]


class RunReceipts:
    """Reports the outcomes of payments in the runs of one desk.

    Parameters:
        new_message_id: returns a new message id.
        actor: id of the desk's own actor.
        site_url: of the desk, without a slash at its end.
    """

    def __init__(
        self,
        ends: PaymentSettlement,
        store: Store,
        invoking: ActionInvoker,
        new_message_id: Callable[[], str],
        *,
        actor: str,
        site_url: str,
    ) -> None:
        self._ends = ends
        self._store = store
        self._invoking = invoking
        self._new_message_id = new_message_id
        self._actor = actor
        self._site_url = site_url

    async def write_receipts(self, thread_id: str, due: tuple[Message, ...]) -> PaymentStatement:
        """Wait for the outcome of payments among the messages to answer, and report it.

        For a rejected payment the plugin's reply is repeated.
        """
        pays = [message for message in due if await self._pays(thread_id, message)]
        if not pays:
            return PaymentStatement((), due)
        since = min(message.created_at for message in pays)
        known = await self._ends.list_paid_since(thread_id, since)
        calls = [call for call in known if call.answer is None]  # a declined call goes on
        paid = await self._ends.filter_paid([call.id for call in calls])
        if paid:
            told = [self._tell(await self._ends.wait_settled(call)) for call in paid]
        elif calls and (words := await self._ends.read_reply_after(thread_id, pays[-1].seq)):
            told = [self._say(Answer(words), ())]
        else:
            return PaymentStatement((), due)
        return PaymentStatement(
            tuple(told), tuple(message for message in due if message not in pays)
        )

    async def _pays(self, thread_id: str, told: Message) -> bool:
        whole = await reads.message(self._store, thread_id, told.id)
        return whole is not None and self._ends.is_payment(whole.content)

    def _tell(self, call: ActionCall) -> Utterance:
        if call.is_over:
            words = self._invoking.describe_result(call)
            return self._say(Answer(words, tools_used=(call.action,)), (call.id,))
        if call.state is CallState.WAITING_PAYMENT:  # the payment is being checked
            return self._say(Answer(call.how_far), (call.id,))
        return self._say(describe_accepted(call), (call.id,))

    def _say(self, said: Answer, calls: tuple[str, ...]) -> Utterance:
        message = NewMessage(
            self._new_message_id(),
            new_salt(),
            "assistant",
            self._actor,
            Origin.DESK,
            write_reply(said, self._site_url),
            metadata=make_reply_metadata(said, calls),
        )
        return Utterance(message)
