"""Stripe's API, through its library and the desk's client for other servers.

Every request therefore follows the rules of the desk's requests and is bounded in bytes and
seconds. There are three outcomes: the result, :class:`Refused`, or :class:`Unsettled` if it is
unknown whether it was done; a repetition with the same idempotency key finds out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
import stripe
from stripe.params import PaymentIntentCreateParams
from stripe.params.checkout import SessionCreateParams

from aitp_desk.capability import Request, Retry, Send
from aitp_payments.stripe.objects import Intent, Refund, Session

# disable the library's telemetry of request times and machine
stripe.enable_telemetry = False
logging.getLogger("stripe").setLevel(logging.WARNING)

T = TypeVar("T", Intent, Refund, Session)

_METHODS: Mapping[str, Any] = {"get": "GET", "post": "POST"}
_SENT = frozenset({"authorization", "content-type", "idempotency-key", "stripe-version"})
_READ = frozenset({"request-id", "stripe-should-retry"})
_MOST_BYTES = 256 * 1024
_SECONDS = 15.0
_KEY_IN_USE_SECONDS = (0.1, 0.2, 0.4, 0.8)
"""Waits while Stripe still processes another request with the same idempotency key."""


class Unsettled(Retry):
    """The outcome is unknown or pending: retry with the same key."""


class KeyInUse(Unsettled):
    """Stripe still processes another request with the same idempotency key."""


class Refused(Exception):
    """Stripe refuses a request.

    Parameters:
        reason: Stripe's text for the payer, or a general sentence.
        code: Stripe's error code.
        is_declined: whether the card is the reason, not the request.
    """

    def __init__(self, reason: str, code: str, *, is_declined: bool = False) -> None:
        super().__init__(f"{code}: {reason}")
        self.reason = reason
        self.code = code
        self.is_declined = is_declined


class Api:
    """The API of one account.

    Parameters:
        key: the account's. It is in no text form and no error.
        base: the API's URL.
    """

    def __init__(self, key: str, base: str) -> None:
        self._key = key
        self._base = base

    async def open_session(self, send: Send, params: SessionCreateParams, key: str) -> Session:
        """Create a Checkout Session.

        A link that is opened twice at once sends two requests with one key. The second waits, and
        returns the same session.

        Parameters:
            key: the idempotency key, as of all requests.
        """
        for seconds in _KEY_IN_USE_SECONDS:
            try:
                return await self._create_session(send, params, key)
            except KeyInUse:
                await asyncio.sleep(seconds)
        return await self._create_session(send, params, key)

    async def _create_session(self, send: Send, params: SessionCreateParams, key: str) -> Session:
        asked = self._client(send).v1.checkout.sessions.create_async(
            params, {"idempotency_key": key}
        )
        return await _answered(asked, Session)

    async def session(self, send: Send, id: str) -> Session:
        """Fetch a Checkout Session."""
        return await _answered(self._client(send).v1.checkout.sessions.retrieve_async(id), Session)

    async def close_session(self, send: Send, id: str) -> Session:
        """Expire a Checkout Session, so that it can no longer be paid."""
        asked = self._client(send).v1.checkout.sessions.expire_async(
            id, options={"idempotency_key": f"expire-{id}"}
        )
        return await _answered(asked, Session)

    async def charge(self, send: Send, params: PaymentIntentCreateParams, key: str) -> Intent:
        """Charge a payment method."""
        asked = self._client(send).v1.payment_intents.create_async(params, {"idempotency_key": key})
        return await _answered(asked, Intent)

    async def intent(self, send: Send, id: str) -> Intent:
        """Fetch a PaymentIntent."""
        return await _answered(self._client(send).v1.payment_intents.retrieve_async(id), Intent)

    async def cancel(self, send: Send, id: str) -> Intent:
        """Cancel a PaymentIntent that is not complete."""
        asked = self._client(send).v1.payment_intents.cancel_async(
            id, options={"idempotency_key": f"cancel-{id}"}
        )
        return await _answered(asked, Intent)

    async def refund(
        self, send: Send, intent: str, key: str, metadata: Mapping[str, str]
    ) -> Refund:
        """Refund all of a payment."""
        asked = self._client(send).v1.refunds.create_async(
            {"payment_intent": intent, "metadata": dict(metadata)}, {"idempotency_key": key}
        )
        return await _answered(asked, Refund)

    def _client(self, send: Send) -> stripe.StripeClient:
        return stripe.StripeClient(
            self._key,
            http_client=_StripeHttpClient(send),
            base_addresses=_base_addresses(self._base),
            max_network_retries=0,  # the caller decides on retries
        )


def _base_addresses(api: str) -> Any:
    """Return the base URL of the API; the others are the library's defaults."""
    return {"api": api}


class _StripeHttpClient(stripe.HTTPClient):
    """Sends the library's requests."""

    name = "aitp-desk"

    def __init__(self, send: Send) -> None:
        super().__init__()
        self._send = send

    async def request_async(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        post_data: Any = None,
        *,
        _usage: list[str] | None = None,
    ) -> tuple[bytes, int, Mapping[str, str]]:
        """Send one request."""
        sent = {name: text for name, text in (headers or {}).items() if name.lower() in _SENT}
        answer = await self._send(
            Request(
                url=url,
                method=_METHODS[method],
                body=(post_data or "").encode(),
                headers=sent,
                max_bytes=_MOST_BYTES,
                seconds=_SECONDS,
                wants_reasons=True,
            )
        )
        told = {name: text for name, text in answer.headers.items() if name in _READ}
        return answer.body, answer.status, told


async def _answered(asked: Any, kind: type[T]) -> T:
    """Return Stripe's result.

    Raises:
        Unsettled, Refused: there is none. Unanswered passes through.
    """
    try:
        found = await asked
    except stripe.CardError as error:
        raise Refused(
            error.user_message or "The card was declined.", error.code or "", is_declined=True
        ) from None
    except (
        stripe.InvalidRequestError,
        stripe.AuthenticationError,
        stripe.PermissionError,
    ) as error:
        raise Refused(_plain(error), error.code or type(error).__name__) from None
    except stripe.IdempotencyError:
        # Stripe remembers this key for another request: a fault of the desk that no retry fixes
        raise Refused(
            "A different request was sent with the same idempotency key.", "idempotency"
        ) from None
    except stripe.StripeError as error:
        if error.http_status == HTTPStatus.CONFLICT:
            raise KeyInUse("Stripe still processes the same request.") from None
        raise Unsettled(f"Stripe responds with status {error.http_status}.") from None
    try:
        return msgspec.convert(found.to_dict(), kind)
    except msgspec.ValidationError as error:
        raise Unsettled(f"Stripe's response cannot be read: {error}.") from None


def _plain(error: stripe.StripeError) -> str:
    """Describe a faulty request for operators, without the key that Stripe's text repeats."""
    if isinstance(error, stripe.InvalidRequestError):
        return error.user_message or "Stripe rejected the request."
    return "Stripe rejected the API key, or the key lacks a permission."
