"""Asking a facilitator, and what its answers mean. Settling has three outcomes, not two.

An answer that says neither yes nor no, or none at all, is :class:`Unknown`: the coins may have
moved. Nothing is asked for anew then; somebody finds out (:mod:`aitp_payments.x402.settlement`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from aitp_desk.capability import Request, Send, Unanswered
from aitp_payments.x402.networks import network_named
from aitp_payments.x402.wire import SettledWord, Supported, Verified

VERIFY_SECONDS = 10.0
SETTLE_SECONDS = 30.0
"""A facilitator answers once the transfer stands on the network; longer than this the desk may not
wait."""
_TRANSACTION = re.compile("0x[0-9a-fA-F]{64}")
_CODE = re.compile("[a-z0-9_]{1,100}")
_NOT_TAKEN = frozenset({401, 403, 404, 405, 413, 415, 429})
"""Statuses by which a facilitator says that it has not looked at what was sent."""
_REFUSING = frozenset({400, 402, 422})
"""Statuses by which it says that what was sent is wrong; some say so with 200, as they should."""
_UNSAID = frozenset({"settlement_pending", "unexpected_settle_error", "unexpected_verify_error"})
"""Reasons that name no reason: the transfer may have been sent."""
_SENT = frozenset({"transaction_failed", "invalid_transaction_state"})
"""Reasons that come after the transfer was sent; another may still be under way."""
_NEVER = re.compile(
    "invalid_exact_evm_payload_(?:signature|recipient|authorization_value|undeployed)"
    "|invalid_(?:network|scheme|payload|payment_requirements|x402_version)$"
    "|unsupported_|network_mismatch|missing_eip712|invalid_exact_evm_token_"
)
"""Reasons for which no transfer can ever have been made by the authorisation."""


class Valid(msgspec.Struct, frozen=True):
    """The authorisation would move the coins."""


class Settled(msgspec.Struct, frozen=True):
    """The coins have moved.

    Parameters:
        transaction: its hash.
    """

    transaction: str


class Refused(msgspec.Struct, frozen=True):
    """The facilitator says no.

    Parameters:
        reason: its code, of small letters, digits and ``_``; empty for none.
    """

    reason: str = ""

    @property
    def is_for_good(self) -> bool:
        """Whether nothing can have moved by this authorisation before either."""
        return _NEVER.match(self.reason) is not None


class NotTaken(msgspec.Struct, frozen=True):
    """The facilitator has not looked at it: our credential is wrong, or we ask too often."""

    why: str


class Unknown(msgspec.Struct, frozen=True):
    """Whether the coins have moved is not known.

    Parameters:
        why: for operators.
        transaction: the hash of what may be under way; empty where none is known.
    """

    why: str
    transaction: str = ""


T = TypeVar("T", Verified, SettledWord)


Credential = Callable[[str, str], Mapping[str, str]]
"""What proves to a facilitator who asks: the headers of a request, by its method and address."""


class Facilitator:
    """A server that verifies and settles payments of x402.

    Parameters:
        url: below it stand ``/verify``, ``/settle`` and ``/supported``.
    """

    def __init__(self, url: str, credential: Credential) -> None:
        self._url = url.rstrip("/")
        self._credential = credential

    async def verify(
        self, send: Send, question: Mapping[str, Any]
    ) -> Valid | Refused | NotTaken | Unknown:
        """Ask whether a payment would settle; nothing moves by asking."""
        answer = await self._ask(send, "/verify", question, VERIFY_SECONDS, Verified)
        if not isinstance(answer, Verified):
            return answer
        return Valid() if answer.is_valid else Refused(_code(answer.invalid_reason))

    async def settle(
        self, send: Send, question: Mapping[str, Any]
    ) -> Settled | Refused | NotTaken | Unknown:
        """Have a payment settled.

        Parameters:
            question: as :func:`aitp_payments.x402.payload.for_facilitator` makes it.
        """
        answer = await self._ask(send, "/settle", question, SETTLE_SECONDS, SettledWord)
        if not isinstance(answer, SettledWord):
            return answer
        transaction = answer.transaction if is_transaction(answer.transaction) else ""
        if not answer.success:
            reason = _code(answer.error_reason)
            if transaction or not reason or reason in _UNSAID | _SENT:
                why = f"The facilitator says {reason or 'no'}, and that it may have been sent."
                return Unknown(why, transaction)
            return Refused(reason)
        if not transaction:
            return Unknown("The facilitator says yes, and names no transaction.")
        if other := _other(answer, question):
            why = f"The facilitator says yes, of another {other} than was to be settled."
            return Unknown(why, transaction)
        return Settled(transaction.lower())

    async def supported(self, send: Send) -> Supported:
        """What it settles.

        Raises:
            Unanswered: it does not say.
        """
        url = f"{self._url}/supported"
        answer = await send(Request(url=url, headers=self._credential("GET", url)))
        if answer.status != 200:
            raise Unanswered(f"The facilitator answers with status {answer.status}.")
        try:
            return msgspec.json.decode(answer.body, type=Supported)
        except msgspec.DecodeError:
            raise Unanswered("The facilitator does not say what it supports.") from None

    async def _ask(
        self, send: Send, path: str, question: Mapping[str, Any], seconds: float, kind: type[T]
    ) -> T | Refused | NotTaken | Unknown:
        url = self._url + path
        headers = dict(self._credential("POST", url)) | {"Content-Type": "application/json"}
        body = msgspec.json.encode(question)
        request = Request(
            url=url,
            method="POST",
            body=body,
            headers=headers,
            seconds=seconds,
            wants_reasons=True,
        )
        try:
            answer = await send(request)
        except Unanswered as failure:
            return NotTaken(failure.reason) if failure.is_refused else Unknown(failure.reason)
        if answer.status in _NOT_TAKEN:
            return NotTaken(f"The facilitator answers with status {answer.status}.")
        if answer.status != 200 and answer.status not in _REFUSING:
            return Unknown(f"The facilitator answers with status {answer.status}.")
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except msgspec.DecodeError:
            if answer.status != 200:
                return Refused()
            return Unknown("The facilitator's answer cannot be read.")


def is_transaction(text: str) -> bool:
    """Whether a text is the hash of a transaction."""
    return _TRANSACTION.fullmatch(text) is not None


def _code(reason: str | None) -> str:
    """A reason, where it is a code: it is told to others, and anybody's words are not."""
    return reason if reason is not None and _CODE.fullmatch(reason) else ""


def _other(answer: SettledWord, question: Mapping[str, Any]) -> str:
    """What of a settlement is not as it was to be; empty where all is."""
    asked = question["paymentRequirements"]
    signed = question["paymentPayload"]["payload"]["authorization"]
    network = network_named(answer.network)
    if network is None or network.id != asked["network"]:
        return "network"
    if answer.payer is not None and answer.payer.lower() != signed["from"].lower():
        return "payer"
    if answer.amount is not None and answer.amount != asked["amount"]:
        return "amount"
    return ""
