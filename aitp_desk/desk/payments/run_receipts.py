"""Answers payment messages in runs with the outcome of the payment, without an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from aitp_desk.agent.base import Answer, Said
from aitp_desk.agent.extractive.dialogue.courtesy import says_pay
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.dialogue.prompts import PAID_ALREADY, describe_accepted
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.plugins.desk_messages import Utterance
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.thread import Message
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import NewMessage

_REFUNDED = frozenset((CallState.FAILED, CallState.EXPIRED))


class WriteReply(Protocol):
    """Builds a message of the desk."""

    def __call__(
        self, said: Said, calls: Sequence[str] = (), message_id: str | None = None
    ) -> NewMessage:
        """Return the message.

        Parameters:
            calls: ids of the calls that it reports.
            message_id: None for a new id.
        """


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
        write: builds a message of the desk.
    """

    def __init__(
        self,
        settlement: PaymentSettlement,
        store: Store,
        invoker: ActionInvoker,
        write: WriteReply,
    ) -> None:
        self._settlement = settlement
        self._store = store
        self._invoker = invoker
        self._write = write

    async def write_receipts(self, thread_id: str, due: tuple[Message, ...]) -> PaymentStatement:
        """Wait for the outcome of payments among the messages to answer, and report it.

        For a rejected payment the plugin's reply is repeated. Words that pay once more are answered
        that it is paid.
        """
        pays = [message for message in due if await self._pays(thread_id, message)]
        if not pays:
            again = len(due) == 1 and says_pay("\n".join(due[0].content))
            return await self._answer_words(thread_id, due) if again else PaymentStatement((), due)
        since = min(message.created_at for message in pays)
        known = await self._settlement.list_paid_since(thread_id, since)
        calls = [call for call in known if call.answer is None]  # a declined call goes on
        paid = await self._settlement.filter_paid([call.id for call in calls])
        if paid:
            told = [self._tell(await self._settlement.wait_settled(call)) for call in paid]
        elif calls and (words := await self._settlement.read_reply_after(thread_id, pays[-1].seq)):
            told = [Utterance(self._write(Answer(words)))]
        else:
            return PaymentStatement((), due)
        return PaymentStatement(
            tuple(told), tuple(message for message in due if message not in pays)
        )

    async def _answer_words(self, thread_id: str, due: tuple[Message, ...]) -> PaymentStatement:
        """Answer words that pay once more; nothing while a call waits for its payment."""
        calls = await self._settlement.list_paid_since(thread_id, 0)
        paid = await self._settlement.filter_paid([call.id for call in calls])
        if not paid or len(paid) < len(calls):
            return PaymentStatement((), due)
        call = paid[-1]
        if call.state in _REFUNDED:
            return PaymentStatement((), due)
        if call.state is CallState.WAITING_PAYMENT:
            return PaymentStatement((self._tell(call),), ())
        words = PAID_ALREADY.format(price=call.price)
        return PaymentStatement((Utterance(self._write(Answer(words), (call.id,))),), ())

    async def _pays(self, thread_id: str, told: Message) -> bool:
        whole = await reads.message(self._store, thread_id, told.id)
        return whole is not None and self._settlement.is_payment(whole.content)

    def _tell(self, call: ActionCall) -> Utterance:
        if call.is_over:
            said = Answer(
                self._invoker.deferred_calls.describe_result(call), tools_used=(call.action,)
            )
        elif call.state is CallState.WAITING_PAYMENT:  # the payment is being checked
            said = Answer(call.how_far)
        else:
            said = describe_accepted(call)
        return Utterance(self._write(said, (call.id,)))
