"""The client of a facilitator. A settlement has three outcomes, not two.

An inconclusive response, or none, is :class:`Unknown`: the coins may have moved. No new payment is
asked for then; :mod:`aitp_payments.x402.settlement` finds out.
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
"""A facilitator responds once the transfer is on the network; the desk cannot wait longer."""
_TRANSACTION = re.compile("0x[0-9a-fA-F]{64}")
_CODE = re.compile("[a-z0-9_]{1,100}")
_NOT_TAKEN = frozenset({401, 403, 404, 405, 413, 415, 429})
"""Statuses of requests that a facilitator has not processed."""
_REFUSING = frozenset({400, 402, 422})
"""Statuses of invalid payments; some facilitators use 200, as specified."""
_UNSAID = frozenset({"settlement_pending", "unexpected_settle_error", "unexpected_verify_error"})
"""Inconclusive reasons: the transfer may have been sent."""
_SENT = frozenset({"transaction_failed", "invalid_transaction_state"})
"""Reasons after the transfer was sent; another may still be under way."""
_NEVER = re.compile(
    "invalid_exact_evm_payload_(?:signature|recipient|authorization_value|undeployed)"
    "|invalid_(?:network|scheme|payload|payment_requirements|x402_version)$"
    "|unsupported_|network_mismatch|missing_eip712|invalid_exact_evm_token_"
)
"""Reasons that exclude any transfer by the authorisation."""


class Valid(msgspec.Struct, frozen=True):
    """The authorisation would move the coins."""


class Settled(msgspec.Struct, frozen=True):
    """The coins have moved.

    Parameters:
        transaction: its hash.
    """

    transaction: str


class Refused(msgspec.Struct, frozen=True):
    """The facilitator refuses.

    Parameters:
        reason: its code, of lowercase letters, digits and ``_``; empty for none.
    """

    reason: str = ""

    @property
    def is_for_good(self) -> bool:
        """Whether no earlier transfer by this authorisation is possible either."""
        return _NEVER.match(self.reason) is not None


class NotTaken(msgspec.Struct, frozen=True):
    """The facilitator has not processed it: wrong credential, or too many requests."""

    why: str


class Unknown(msgspec.Struct, frozen=True):
    """It is unknown whether the coins have moved.

    Parameters:
        why: for operators.
        transaction: the hash of a possible transfer; empty for none.
    """

    why: str
    transaction: str = ""


T = TypeVar("T", Verified, SettledWord)


Credential = Callable[[str, str], Mapping[str, str]]
"""Returns the authentication headers of a request, by its method and URL."""


class Facilitator:
    """A server that verifies and settles payments of x402.

    Parameters:
        url: the base URL of ``/verify``, ``/settle`` and ``/supported``.
    """

    def __init__(self, url: str, credential: Credential) -> None:
        self._url = url.rstrip("/")
        self._credential = credential

    async def verify(
        self, send: Send, question: Mapping[str, Any]
    ) -> Valid | Refused | NotTaken | Unknown:
        """Ask whether a payment would settle; nothing moves."""
        answer = await self._ask(send, "/verify", question, VERIFY_SECONDS, Verified)
        if not isinstance(answer, Verified):
            return answer
        return Valid() if answer.is_valid else Refused(_code(answer.invalid_reason))

    async def settle(
        self, send: Send, question: Mapping[str, Any]
    ) -> Settled | Refused | NotTaken | Unknown:
        """Settle a payment.

        Parameters:
            question: from :func:`aitp_payments.x402.payload.for_facilitator`.
        """
        answer = await self._ask(send, "/settle", question, SETTLE_SECONDS, SettledWord)
        if not isinstance(answer, SettledWord):
            return answer
        transaction = answer.transaction if is_transaction(answer.transaction) else ""
        if not answer.success:
            reason = _code(answer.error_reason)
            if transaction or not reason or reason in _UNSAID | _SENT:
                why = (
                    f"The facilitator reports {reason or 'no'}, and that the transfer may"
                    " have been sent."
                )
                return Unknown(why, transaction)
            return Refused(reason)
        if not transaction:
            return Unknown("The facilitator reports success without a transaction.")
        if other := _other(answer, question):
            why = f"The facilitator reports success with a different {other}."
            return Unknown(why, transaction)
        return Settled(transaction.lower())

    async def supported(self, send: Send) -> Supported:
        """Return the kinds of payment that it settles.

        Raises:
            Unanswered: there is no usable response.
        """
        url = f"{self._url}/supported"
        answer = await send(Request(url=url, headers=self._credential("GET", url)))
        if answer.status != 200:
            raise Unanswered(f"The facilitator responds with status {answer.status}.")
        try:
            return msgspec.json.decode(answer.body, type=Supported)
        except msgspec.DecodeError:
            raise Unanswered("The facilitator does not list what it supports.") from None

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
            return NotTaken(f"The facilitator responds with status {answer.status}.")
        if answer.status != 200 and answer.status not in _REFUSING:
            return Unknown(f"The facilitator responds with status {answer.status}.")
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except msgspec.DecodeError:
            if answer.status != 200:
                return Refused()
            return Unknown("The facilitator's response cannot be read.")


def is_transaction(text: str) -> bool:
    """Return whether a text is the hash of a transaction."""
    return _TRANSACTION.fullmatch(text) is not None


def _code(reason: str | None) -> str:
    """Return a reason if it is a code: foreign text is not passed on."""
    return reason if reason is not None and _CODE.fullmatch(reason) else ""


def _other(answer: SettledWord, question: Mapping[str, Any]) -> str:
    """Return how a settlement differs from the request; empty if it does not."""
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
