"""A stand-in for Stripe on the loopback: one account in test mode, by the documented wire.

It is as strict as the API where the desk could err (``stripe_rules.py``), it signs what it tells as
Stripe does, and it breaks off where a test wants that.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import html
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

from aiohttp import web

from tests.support.payments import stripe_rules as rules
from tests.support.payments.stripe_rules import Form, Refusal

KEY = "sk_test_51TestKeyOfTheTests"
SECRET = "whsec_0123456789abcdef0123456789abcdef"
CARDS = {
    "pm_card_visa": "",
    "pm_card_chargeDeclined": "generic_decline",
    "pm_card_chargeDeclinedInsufficientFunds": "insufficient_funds",
    "pm_card_authenticationRequired": "3ds",
    "pm_card_authenticationRequiredInApp": "sdk",
    "pm_usBankAccount": "later",
}
"""Payment methods of the tests, and what becomes of a payment by each."""
MINUTE = 60
DAY = 24 * 60 * MINUTE

Break = Literal["before", "after", "error"]
"""Where a request is broken off: before it is done, after that, or with an error in its place."""


class Account:
    """One account.

    Attributes:
        url: where the API stands.
        asked: what was asked, in order: method and path.
        events: what was told, or is to be told, in order.
        delay: seconds that Stripe takes for a request.
        breaks: what the next requests are broken off by; an empty text lets one pass.
        livemode: what its objects say of themselves.
        refunds_fail: whether banks take no money back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.url = ""
        self.asked: list[str] = []
        self.events: list[Form] = []
        self.breaks: list[Break | Literal[""]] = []
        self.delay = 0.0
        self.livemode = False
        self.refunds_fail = False
        self.sessions: dict[str, Form] = {}
        self.intents: dict[str, Form] = {}
        self.refunds: dict[str, Form] = {}
        self._clock = clock
        self._numbers = itertools.count(1)
        self._repeats: dict[str, tuple[str, bytes, int, Form]] = {}
        self._at_work: set[str] = set()

    # --- what a person at Stripe's page, and the account's owner, do -----------------------------

    def pay(self, session_id: str, card: str = "pm_card_visa") -> Form:
        """Pay on the page of a session; return the event."""
        session = self._session(session_id)
        assert session["status"] == "open", "nobody pays on a page that is closed"
        intent = self._new_intent(
            session["amount_total"], session["currency"], session["_intent"]["metadata"]
        )
        later = CARDS[card] == "later"
        intent["status"] = "processing" if later else "succeeded"
        session |= {
            "status": "complete",
            "payment_status": "unpaid" if later else "paid",
            "payment_intent": intent["id"],
            "url": None,
        }
        return self.tell("checkout.session.completed", session)

    def clear(self, session_id: str, *, succeeds: bool = True) -> Form:
        """A payment that takes days has come, or failed; the event that tells of it."""
        session = self._session(session_id)
        intent = self.intents[session["payment_intent"]]
        intent["status"] = "succeeded" if succeeds else "requires_payment_method"
        session["payment_status"] = "paid" if succeeds else "unpaid"
        word = "succeeded" if succeeds else "failed"
        return self.tell(f"checkout.session.async_payment_{word}", session)

    def authenticate(self, intent_id: str, *, succeeds: bool = True) -> Form:
        """Visit the bank's page; return the event."""
        intent = self.intents[intent_id]
        assert intent["status"] == "requires_action"
        intent["next_action"] = None
        intent["status"] = "succeeded" if succeeds else "requires_payment_method"
        return self.tell(f"payment_intent.{'succeeded' if succeeds else 'payment_failed'}", intent)

    def dispute(self, intent_id: str) -> Form:
        """Have the bank take a payment back; return the event."""
        intent = self.intents[intent_id]
        dispute = {
            "id": f"du_{next(self._numbers)}",
            "object": "dispute",
            "livemode": self.livemode,
            "amount": intent["amount"],
            "currency": intent["currency"],
            "status": "needs_response",
            "reason": "fraudulent",
            "payment_intent": intent_id,
        }
        return self.tell("charge.dispute.created", dispute)

    def tell(self, type: str, thing: Form) -> Form:
        """Make an event of something as it is now."""
        event = {
            "id": f"evt_{next(self._numbers)}",
            "object": "event",
            "api_version": "2026-10-28.endive",
            "created": int(self._clock()),
            "type": type,
            "livemode": self.livemode,
            "data": {"object": json.loads(json.dumps(_shown(thing)))},
        }
        self.events.append(event)
        return event

    def signed(
        self, event: Form, *secrets: str, age: int = 0, scheme: str = "v1"
    ) -> tuple[bytes, str]:
        """An event as it is sent: its body and its ``Stripe-Signature``.

        Parameters:
            secrets: of the webhook; several while one is replaced by the next.
        """
        body = json.dumps(event, indent=2).encode()
        at = int(self._clock()) - age
        signatures = (
            hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
            for secret in secrets or (SECRET,)
        )
        return body, ",".join((f"t={at}", *(f"{scheme}={one}" for one in signatures)))

    # --- the API ---------------------------------------------------------------------------------

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request of the API."""
        self.asked.append(f"{request.method} {request.path}")
        broken = self.breaks.pop(0) if self.breaks else ""
        assert request.transport is not None
        if broken == "before":
            request.transport.abort()
        if broken == "error":
            return _reply(500, {"error": {"type": "api_error", "message": "Something is wrong."}})
        try:
            status, body, replayed = await self._answer(request)
        except Refusal as refusal:
            status, body, replayed = refusal.status, {"error": refusal.error}, False
        if broken == "after":
            request.transport.abort()
        headers = {"Request-Id": f"req_{next(self._numbers)}", "Stripe-Should-Retry": "false"}
        return _reply(status, body, headers | ({"Idempotent-Replayed": "true"} if replayed else {}))

    async def _answer(self, request: web.Request) -> tuple[int, Form, bool]:
        self._check_key(request.headers.get("Authorization", ""))
        version = request.headers.get("Stripe-Version", "2026-10-28.endive")
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}(\.[a-z]+)?", version):
            raise Refusal(400, f"Invalid Stripe API version: {version}")
        body = await request.read()
        if request.method == "GET":
            return 200, _shown(self._read(request.path)), False
        if request.content_type != "application/x-www-form-urlencoded":
            raise Refusal(
                400,
                "Invalid request (check that your POST content type is"
                " application/x-www-form-urlencoded).",
            )
        key = request.headers.get("Idempotency-Key", "")
        if len(key) > 255:
            raise Refusal(400, "Idempotency keys are at most 255 characters long.")
        return await self._once(key, request.path, body)

    async def _once(self, key: str, path: str, body: bytes) -> tuple[int, Form, bool]:
        if key in self._repeats:
            known_path, known_body, status, answered = self._repeats[key]
            if (known_path, rules.decode(known_body)) != (path, rules.decode(body)):
                raise Refusal(
                    400,
                    "Keys for idempotent requests can only be used with the same parameters they"
                    f" were first used with. Try using a key other than '{key}'.",
                    type="idempotency_error",
                )
            return status, answered, True
        if key in self._at_work:
            raise Refusal(
                409,
                "There is currently another in-progress request using this Idempotent Key.",
                code="idempotency_key_in_use",
            )
        self._at_work.add(key)
        try:
            await asyncio.sleep(self.delay)
            # what is not valid is not kept: nothing has begun
            do = self._prepare(path, rules.decode(body))
            try:
                status, answered = 200, _shown(do())
            except Refusal as refusal:
                status, answered = refusal.status, {"error": refusal.error}
            answered = json.loads(json.dumps(answered))
            if key:
                self._repeats[key] = (path, body, status, answered)
            return status, answered, False
        finally:
            self._at_work.discard(key)

    def _check_key(self, given: str) -> None:
        if not given:
            raise Refusal(401, "You did not provide an API key.")
        key = given.removeprefix("Bearer ")
        if key != KEY:
            raise Refusal(401, f"Invalid API Key provided: {key[:8]}****{key[-4:]}")

    def _read(self, path: str) -> Form:
        match path.split("/")[2:]:
            case ["checkout", "sessions", id]:
                return self._session(id)
            case ["payment_intents", id]:
                return self._intent(id)
            case _:
                raise Refusal(404, f"Unrecognized request URL (GET: {path}).")

    def _prepare(self, path: str, form: Form) -> Callable[[], Form]:
        match path.split("/")[2:]:
            case ["checkout", "sessions"]:
                given = rules.SESSION(form, "")
                self._check_session(given)
                return lambda: self._open_session(given)
            case ["checkout", "sessions", id, "expire"]:
                rules.NOTHING(form, "")
                return lambda: self._expire(id)
            case ["payment_intents"]:
                given = rules.INTENT(form, "")
                rules.check_amount(given["amount"], given["currency"])
                return lambda: self._charge(given)
            case ["payment_intents", id, "cancel"]:
                rules.NOTHING(form, "")
                return lambda: self._cancel(id)
            case ["refunds"]:
                given = rules.REFUND(form, "")
                return lambda: self._refund(given)
            case _:
                raise Refusal(404, f"Unrecognized request URL (POST: {path}).")

    def _check_session(self, given: Form) -> None:
        total = sum(
            line["price_data"]["unit_amount"] * line["quantity"] for line in given["line_items"]
        )
        codes = {line["price_data"]["currency"] for line in given["line_items"]}
        if len(codes) > 1:
            raise Refusal(400, "All line items have one currency.", param="line_items")
        rules.check_amount(total, *codes)
        until = given.get("expires_at", self._now + DAY)
        if not self._now + 30 * MINUTE <= until <= self._now + DAY:
            raise Refusal(
                400,
                "The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout"
                " Session creation.",
                param="expires_at",
            )

    def _open_session(self, given: Form) -> Form:
        id = f"cs_test_{next(self._numbers)}"
        line, *_ = given["line_items"]
        session = {
            "id": id,
            "object": "checkout.session",
            "livemode": self.livemode,
            "mode": "payment",
            "status": "open",
            "payment_status": "unpaid",
            "amount_total": line["price_data"]["unit_amount"] * line["quantity"],
            "currency": line["price_data"]["currency"],
            "client_reference_id": given.get("client_reference_id"),
            "expires_at": given.get("expires_at", self._now + DAY),
            "metadata": given.get("metadata", {}),
            "payment_intent": None,
            "success_url": given["success_url"],
            "cancel_url": given.get("cancel_url"),
            "url": f"{self.url}/c/pay/{id}",
            "_product": line["price_data"]["product_data"]["name"],
            "_intent": {"metadata": {}} | given.get("payment_intent_data", {}),
        }
        self.sessions[id] = session
        return session

    def _session(self, id: str) -> Form:
        if id not in self.sessions:
            raise _missing("checkout.session", id)
        session = self.sessions[id]
        if session["status"] == "open" and session["expires_at"] <= self._now:
            session |= {"status": "expired", "url": None}
        return session

    def _expire(self, id: str) -> Form:
        session = self._session(id)
        if session["status"] != "open":
            raise Refusal(
                400,
                'Only Checkout Sessions with a status in ["open"] can be expired. This Checkout'
                f" Session has a status of {session['status']}.",
            )
        session |= {"status": "expired", "url": None}
        self.tell("checkout.session.expired", session)
        return session

    def _new_intent(self, amount: int, currency: str, metadata: Form) -> Form:
        id = f"pi_{next(self._numbers)}"
        self.intents[id] = {
            "id": id,
            "object": "payment_intent",
            "livemode": self.livemode,
            "amount": amount,
            "currency": currency,
            "status": "requires_confirmation",
            "next_action": None,
            "metadata": metadata,
            "client_secret": f"{id}_secret_x",
        }
        return self.intents[id]

    def _intent(self, id: str) -> Form:
        if id not in self.intents:
            raise _missing("payment_intent", id)
        return self.intents[id]

    def _charge(self, given: Form) -> Form:
        method = given.get("payment_method", "")
        if method not in CARDS:
            raise _missing("PaymentMethod", method, "payment_method")
        redirects = given.get("automatic_payment_methods", {}).get("allow_redirects", "always")
        if given.get("confirm") and redirects == "always" and "return_url" not in given:
            raise Refusal(400, "This PaymentIntent needs a return_url.", param="return_url")
        intent = self._new_intent(given["amount"], given["currency"], given.get("metadata", {}))
        match CARDS[method]:
            case "":
                intent["status"] = "succeeded"
                self.tell("payment_intent.succeeded", intent)
            case "later":
                intent["status"] = "processing"
            case "3ds":
                to = {"url": f"{self.url}/3ds/{intent['id']}", "return_url": given["return_url"]}
                action = {"type": "redirect_to_url", "redirect_to_url": to}
                intent |= {"status": "requires_action", "next_action": action}
            case "sdk":
                action = {"type": "use_stripe_sdk", "use_stripe_sdk": {}}
                intent |= {"status": "requires_action", "next_action": action}
            case code:
                intent["status"] = "requires_payment_method"
                self.tell("payment_intent.payment_failed", intent)
                raise Refusal(
                    402,
                    "Your card was declined.",
                    code="card_declined",
                    type="card_error",
                    more={"decline_code": code, "payment_intent": _shown(intent)},
                )
        return intent

    def _cancel(self, id: str) -> Form:
        intent = self._intent(id)
        if intent["status"] in {"succeeded", "canceled", "processing"}:
            raise Refusal(
                400,
                f"You cannot cancel this PaymentIntent because it has a status of"
                f" {intent['status']}.",
                code="payment_intent_unexpected_state",
            )
        intent |= {"status": "canceled", "next_action": None}
        return intent

    def _refund(self, given: Form) -> Form:
        intent = self._intent(given["payment_intent"])
        if intent["status"] != "succeeded":
            raise Refusal(400, "This PaymentIntent does not have a successful charge to refund.")
        back = sum(
            one["amount"] for one in self.refunds.values() if one["payment_intent"] == intent["id"]
        )
        amount = given.get("amount", intent["amount"] - back)
        if back == intent["amount"]:
            raise Refusal(400, "Charge has already been refunded.", code="charge_already_refunded")
        if amount > intent["amount"] - back:
            raise Refusal(400, "Refund amount is greater than unrefunded amount on charge.")
        id = f"re_{next(self._numbers)}"
        self.refunds[id] = {
            "id": id,
            "object": "refund",
            "amount": amount,
            "currency": intent["currency"],
            "payment_intent": intent["id"],
            "status": "failed" if self.refunds_fail else "succeeded",
            "metadata": given.get("metadata", {}),
        }
        return self.refunds[id]

    @property
    def _now(self) -> int:
        return int(self._clock())

    # --- the pages -------------------------------------------------------------------------------

    async def page(self, request: web.Request) -> web.StreamResponse:
        """The page of a session: a button pays it and leads back."""
        session = self._session(request.match_info["id"])
        if session["status"] != "open":
            return web.Response(text="This page is closed.", status=410)
        if request.method == "POST":
            self.pay(session["id"])
            raise web.HTTPSeeOther(session["success_url"])
        name = html.escape(session["_product"])
        form = '<form method="post"><button>Pay</button></form>'
        price = f"{session['amount_total']} {session['currency']}"
        return web.Response(text=f"<h1>{name}</h1><p>{price}</p>{form}", content_type="text/html")


def _missing(kind: str, id: str, param: str = "id") -> Refusal:
    return Refusal(
        404 if param == "id" else 400,
        f"No such {kind}: '{id}'",
        code="resource_missing",
        param=param,
    )


def _shown(thing: Form) -> Form:
    return {name: value for name, value in thing.items() if not name.startswith("_")}


def _reply(status: int, body: Form, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers=headers)


@asynccontextmanager
async def account_at(clock: Callable[[], float]) -> AsyncIterator[Account]:
    """An account at an address of this machine.

    Parameters:
        clock: Unix seconds.
    """
    account = Account(clock)
    app = web.Application()
    app.router.add_route("*", "/c/pay/{id}", account.page)
    app.router.add_route("*", "/{path:.*}", account.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        host, port = runner.addresses[0][:2]
        account.url = f"http://{host}:{port}"
        yield account
    finally:
        await runner.cleanup()
