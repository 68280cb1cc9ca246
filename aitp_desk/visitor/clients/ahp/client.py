"""A visitor of AHP 0.1: asks, clarifies, calls and polls at the conversational endpoint."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from yarl import URL

from aitp_desk.egress import Fetched
from aitp_desk.model.calls.action import ACTION_RESULT, DATA, TEXT_ANSWER, Safety
from aitp_desk.model.calls.call import CONFIRMATION, PAYMENT
from aitp_desk.visitor.base import Answer, Choice, Endpoint, Outcome, SiteAction, Source
from aitp_desk.visitor.clients.ahp.wire import Capability, Manifest, Problem, Turn
from aitp_desk.visitor.clients.aitp.wire import find_later
from aitp_desk.visitor.clients.hac import read_safety
from aitp_desk.visitor.clients.responses import make_refusal, read_body, shorten
from aitp_desk.visitor.errors import (
    NO_POLL,
    CallFailed,
    NotOffered,
    PolicyRefused,
    SiteFailed,
    SiteRefused,
)
from aitp_desk.visitor.fetcher import Fetcher, read_retry_after
from aitp_desk.visitor.payments import read_quote

VERSION = "0.1"
KNOWN = "0."
"""How the versions begin that this visitor speaks; of others it reads the content alone."""
POLL_SECONDS = 1.0
"""The first pause before a poll where the site names none; each further one is twice as long."""
LONGEST_POLL_SECONDS = 30.0
SEARCH = "content_search"
"""What most sites call the capability that answers questions."""
SAFETY = "x-safety"
"""The word of an input schema by which desks say what harm a call may do."""
CHANGES = "PUT"
"""A method that changes something: a capability that is no query is never only reading."""
UNDER_WAY = frozenset({"pending", "active"})
"""The statuses of a call that has not ended; the latter is a word of AHP's reference server."""
MESSAGES = "x-aitp/"
"""Types of capability messages, which this visitor reads as text."""


class AhpClient:
    """One conversation with a site by AHP."""

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        self._endpoint = endpoint
        self._fetcher = fetcher
        self._manifest: Manifest | None = None
        self._session: str | None = None
        self._question: dict[str, Any] = {}
        self._calls: dict[str, dict[str, Any]] = {}
        self._polls: dict[str, tuple[float, float]] = {}

    async def ask(self, question: str) -> Answer:
        """Put a question; where the site asks back, :meth:`choose` replies."""
        manifest = await self._read_manifest()
        if not manifest.ahp.startswith(KNOWN) or not {"MODE2", "MODE3"} & {*manifest.modes}:
            return await self._read_content(manifest)
        capability = find_answering(manifest)
        self._question = {"capability": capability.name, "query": question}
        return await self._converse(capability)

    async def choose(self, choice: Choice) -> Answer:
        """Send the question again, with what it means (section 6.3)."""
        capability = await self._find_asking()
        return await self._converse(capability, clarification=choice.value)

    async def _find_asking(self) -> Capability:
        """Return the capability whose question is open."""
        for one in (await self._read_manifest()).capabilities:
            if one.name == self._question.get("capability"):
                return one
        raise NotOffered("The site has not asked anything.")

    async def actions(self) -> Sequence[SiteAction]:
        """Return the capabilities of MODE3; only desks say what harm the others may do."""
        manifest = await self._read_manifest()
        origin = str(URL(self._converse_url(manifest)).origin())
        return [
            SiteAction(
                one.name,
                one.description,
                origin,
                input_schema={k: v for k, v in one.input_schema.items() if k != SAFETY},
                safety=Safety()
                if one.action_type == "query"
                else read_safety(one.input_schema.get(SAFETY), CHANGES),
            )
            for one in manifest.capabilities
            if one.mode == "MODE3"
        ]

    async def call(self, action: SiteAction, arguments: Mapping[str, Any], key: str) -> Outcome:
        """Call a capability with its arguments as the query's JSON, and the intent declared."""
        manifest = await self._read_manifest()
        capability = next((one for one in manifest.capabilities if one.name == action.name), None)
        if capability is None:
            raise NotOffered(f"The site has no capability {action.name}.")
        request = self._make_call(capability, arguments)
        self._calls[key] = {"capability": capability, "arguments": dict(arguments)}
        return await self._make_outcome(self._read(await self._send(request, key)), key)

    async def poll(self, outcome: Outcome) -> Outcome:
        """Ask for a call's status, not sooner than the site has said (section 9)."""
        return await self._poll(outcome.reference)

    async def accept(self, outcome: Outcome) -> Outcome:
        """Pay, or agree to exactly the quoted price; the site refuses another."""
        quote = outcome.quote
        if quote is None:
            raise NotOffered("Nothing is to be paid.")
        known = self._calls.get(outcome.reference)
        if known is None:
            turn = await self._agree_in_words(outcome)
            return await self._make_outcome(turn, outcome.reference)
        extra: dict[str, Any]
        if quote.prepaid:
            payer = self._fetcher.identity.payer
            if payer is None:
                raise PolicyRefused("The visit has nothing to pay from.")
            extra = {PAYMENT: {"payment": payer.pay(quote)["payment"]}}
        else:
            agreed = {"amount": f"{quote.money.amount:f}", "currency": quote.money.currency}
            extra = {CONFIRMATION: agreed}
        request = self._make_call(known["capability"], {**known["arguments"], **extra})
        key = f"{outcome.reference}-agreed"
        found = await self._send(request, key)
        while found.status == 409 and (pause := find_retry(found)) is not None:
            # the payment is being verified: the same again is one payment
            await self._fetcher.wait(pause)
            found = await self._send(request, key)
        return await self._make_outcome(self._read(found), outcome.reference)

    async def read_late(self, waiting: Mapping[str, Any]) -> Answer:
        """Poll once for an answer that the site has accepted to give."""
        turn = await self._get_status(waiting["poll"])
        if turn.status in UNDER_WAY:
            return Answer(turn.progress or "", "waiting", data=waiting)
        return await self._make_answer(turn)

    def save(self) -> Mapping[str, Any]:
        """Return the session, and the question that a clarification belongs to."""
        return {"session": self._session, "question": self._question}

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on in a session; one that has ended is replaced when the next question is put."""
        self._session, self._question = saved["session"], dict(saved["question"])

    async def close(self) -> None:
        """Forget the conversation; AHP has no message that ends one."""
        self._session = None

    async def _read_manifest(self) -> Manifest:
        if self._manifest is None:
            if self._endpoint.document:
                try:
                    self._manifest = msgspec.convert(self._endpoint.document, Manifest)
                except msgspec.ValidationError as error:
                    raise SiteFailed(f"The manifest is not in the form of AHP: {error}.") from None
            else:
                found = await self._fetcher.send(self._endpoint.url)
                if found.status != 200:
                    raise make_refusal(found, "it has no AHP manifest")
                self._manifest = read_body(found, Manifest, "AHP")
        return self._manifest

    def _converse_url(self, manifest: Manifest) -> str:
        return self._fetcher.resolve(self._endpoint.url, manifest.endpoints.converse)

    async def _read_content(self, manifest: Manifest) -> Answer:
        """Return the site's content: MODE1 leaves it to the visitor (section 5.1)."""
        url = self._fetcher.resolve(self._endpoint.url, manifest.endpoints.content)
        found = await self._fetcher.send(url, headers={"Accept": "text/markdown, text/plain"})
        if found.status != 200:
            raise make_refusal(found, "its content cannot be read")
        kind = found.headers.get("Content-Type", "text/plain").partition(";")[0].strip()
        return Answer(
            found.body.decode("utf-8", "replace"),
            sources=(Source(found.url),),
            content_type=kind,
            may_train=manifest.content_signals.ai_train,
        )

    async def _converse(self, capability: Capability, **more: Any) -> Answer:
        """Send the question; in a new session where the one so far has ended."""
        request = {
            **self._question,
            **more,
            "context": self._make_context(capability, TEXT_ANSWER),
        }
        if self._session is not None:
            request["session_id"] = self._session
        try:
            turn = await self._post(request)
        except SiteRefused as refusal:
            if self._session is None or not ends_session(refusal):
                raise
            self._session = request["session_id"] = None
            request.pop("clarification", None)
            turn = await self._post(request)
        return await self._make_answer(turn)

    def _make_context(self, capability: Capability, *preferred: str) -> dict[str, Any]:
        """Return the agent, its purpose, and the types that it reads."""
        identity = self._fetcher.identity
        declared = [one for one in capability.response_types if not one.startswith(MESSAGES)]
        accepts = dict.fromkeys((*preferred, *declared))
        context: dict[str, Any] = {
            "requesting_agent": identity.name,
            "accept_types": list(accepts)[:20],
        }
        if identity.intent:
            context["user_intent"] = identity.intent
        return context

    def _make_call(self, capability: Capability, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request of a call; MODE3 has its intent declared (section 5.3)."""
        context = self._make_context(capability, ACTION_RESULT, DATA, TEXT_ANSWER)
        context.setdefault("user_intent", f"A person asked for {capability.name}.")
        if self._fetcher.identity.callback_url is not None and capability.action_type == "async":
            context["callback_url"] = self._fetcher.identity.callback_url
        query = msgspec.json.encode(arguments).decode()
        return {"capability": capability.name, "query": query, "context": context}

    async def _send(self, request: Mapping[str, Any], key: str = "") -> Fetched:
        """Send a request; desks take its key for one call, which AHP itself has no word for."""
        url = self._converse_url(await self._read_manifest())
        return await self._fetcher.send(
            url,
            {"ahp": VERSION, **request},
            method="POST",
            headers={"Idempotency-Key": key} if key else {},
            is_final=is_session_spent,
        )

    async def _post(self, request: Mapping[str, Any]) -> Turn:
        return self._read(await self._send(request))

    def _read(self, found: Fetched) -> Turn:
        """Return a response, unless it is a refusal without a price.

        Raises:
            SiteRefused, SiteFailed: as their names say.
        """
        if found.status >= 500 and not found.body.lstrip().startswith(b"{"):
            raise make_refusal(found, "")
        turn = read_body(found, Turn, "AHP")
        if turn.status == "error" and turn.price is None:
            detail = turn.detail if isinstance(turn.detail, str) else ""
            refusal = make_refusal(found, turn.message or turn.code, recovery=detail or turn.code)
            if turn.retry_after is None and found.status == 429:
                refusal.recovery = "new_session"
            raise refusal
        pause = find_retry(found)
        if pause is not None and not isinstance(turn.retry_after, float):
            turn = msgspec.structs.replace(turn, retry_after=pause)
        return turn

    async def _agree_in_words(self, outcome: Outcome) -> Turn:
        """Agree to a question that names a price: by yes, or its payment."""
        quote, payer = outcome.quote, self._fetcher.identity.payer
        capability, query = await self._find_asking(), "yes"
        if quote is not None and quote.prepaid and payer is not None:
            capability = find_answering(await self._read_manifest())
            query = msgspec.json.encode(payer.pay(quote)).decode()
        context = self._make_context(capability, ACTION_RESULT, DATA, TEXT_ANSWER)
        return await self._post(
            {
                "capability": capability.name,
                "query": query,
                "session_id": self._session,
                "context": context,
            }
        )

    async def _make_answer(self, turn: Turn) -> Answer:
        self._session = turn.session_id or self._session
        meta = turn.meta
        manifest = await self._read_manifest()
        may_train = meta.content_signals.ai_train
        if may_train is None:
            may_train = manifest.content_signals.ai_train
        if turn.status == "clarification_needed" and turn.clarification is not None:
            asked = turn.clarification
            if any(one.name == meta.capability_used for one in manifest.capabilities):
                self._question["capability"] = meta.capability_used
            told = {"price": meta.price, "payment": meta.payment}
            return Answer(
                asked.question,
                "question",
                choices=tuple(Choice(one, one) for one in asked.options or ()),
                tokens=meta.tokens_used,
                may_train=may_train,
                quote=read_quote(told, shorten(asked.question)),
            )
        if turn.status == "accepted":
            return await self._wait_for_answer(turn)
        if turn.status == "success" and turn.response is not None:
            response = turn.response
            payload = response.payload
            return Answer(
                response.answer or write_data(payload),
                sources=tuple(
                    Source(self._absolute(one.url), one.title, one.quote)
                    for one in response.sources
                    if one.url
                ),
                content_type=response.content_type,
                data=payload if isinstance(payload, dict) else {},
                tokens=meta.tokens_used,
                may_train=may_train,
                later=find_later(self._session, meta.asked_person),
            )
        raise fail(turn)

    def _absolute(self, url: str) -> str:
        """Return a source's address; it is shown, never fetched."""
        try:
            return str(URL(self._endpoint.url).join(URL(url)))
        except ValueError:
            return url

    async def _wait_for_answer(self, turn: Turn) -> Answer:
        """Poll for an answer while the visit lasts; then say that it is still coming."""
        reference = self._note_poll(turn)
        while True:
            not_before, _ = self._polls[reference]
            if not_before - time.monotonic() >= self._fetcher.patience:
                return Answer(turn.progress or "", "waiting", data={"poll": reference})
            turn = await self._get_status(reference)
            if turn.status not in UNDER_WAY:
                return await self._make_answer(turn)

    async def _make_outcome(self, turn: Turn, key: str) -> Outcome:
        """Return how a call went."""
        if turn.status == "error" or turn.clarification is not None:
            meta = turn.meta
            told = {"price": turn.price or meta.price, "payment": turn.payment or meta.payment}
            text = turn.message if turn.clarification is None else turn.clarification.question
            quote = read_quote(told, shorten(text))
            if quote is None and turn.status == "error":
                raise SiteFailed(f"The site names no price that can be read: {shorten(text)}")
            kind = "question" if quote is None else "payable"
            return Outcome(kind, text, key, quote=quote)  # type: ignore[arg-type]
        if turn.status == "accepted":
            reference = self._note_poll(turn)
            return make_waiting(turn, reference)
        if turn.status == "success" and turn.response is not None:
            payload = turn.response.payload
            result = payload
            if isinstance(payload, dict):
                result = payload.get("result", payload.get("data", payload))
            return Outcome("done", turn.response.answer or write_data(payload), key, result)
        raise fail(turn)

    def _note_poll(self, turn: Turn, reference: str = "") -> str:
        """Remember when a call may be polled next."""
        reference = reference or self._fetcher.resolve_poll(self._endpoint.url, turn.poll)
        if not reference:
            raise SiteFailed(NO_POLL)
        _, before = self._polls.get(reference, (0.0, POLL_SECONDS / 2))
        own = min(before * 2, LONGEST_POLL_SECONDS)
        wait = turn.eta_seconds if turn.eta_seconds is not None else own
        if isinstance(turn.retry_after, float):
            wait = max(wait, turn.retry_after)
        self._polls[reference] = (time.monotonic() + wait, own)
        return reference

    async def _get_status(self, reference: str) -> Turn:
        """Poll once, when the site wants it; note when it may be polled again."""
        not_before, _ = self._polls.get(reference, (0.0, 0.0))
        pause = not_before - time.monotonic()
        if pause > 0:
            await self._fetcher.wait(pause)
        found = await self._fetcher.send(self._fetcher.resolve(self._endpoint.url, reference))
        turn = self._read(found)
        if turn.status in UNDER_WAY:
            self._polls.setdefault(reference, (0.0, POLL_SECONDS / 2))
            self._note_poll(turn, reference)
        return turn

    async def _poll(self, reference: str) -> Outcome:
        turn = await self._get_status(reference)
        if turn.status in UNDER_WAY:
            return make_waiting(turn, reference)
        return await self._make_outcome(turn, reference)


def make_waiting(turn: Turn, reference: str) -> Outcome:
    """Return a call that goes on; a site's estimate is a reason to wait, but not for hours."""
    pause = min(turn.eta_seconds or 0.0, LONGEST_POLL_SECONDS)
    if isinstance(turn.retry_after, float):
        pause = max(pause, turn.retry_after)
    return Outcome("waiting", turn.progress or "", reference, retry_after=pause or None)


def find_answering(manifest: Manifest) -> Capability:
    """Return the capability that answers questions.

    Raises:
        NotOffered: there is none.
    """
    answering = [one for one in manifest.capabilities if one.mode != "MODE3"]
    answering.sort(key=lambda one: (one.name != SEARCH, one.mode != "MODE2"))
    if not answering:
        raise NotOffered("The site has no capability that answers questions.")
    return answering[0]


def ends_session(refusal: SiteRefused) -> bool:
    """Return whether a question may be put again in a new session: asking has no effect."""
    return refusal.status in {400, 404, 410} or refusal.recovery == "new_session"


def is_session_spent(found: Fetched) -> bool:
    """Return whether a 429 is about the session alone: waiting does not help (section 11.4)."""
    if found.status != 429:
        return False
    try:
        return msgspec.json.decode(found.body, type=Turn).retry_after is None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def find_retry(found: Fetched) -> float | None:
    """Return after how many seconds the site wants the same request again."""
    return read_retry_after(found.headers.get("Retry-After"))


def write_data(payload: Any) -> str:
    """Return data as text, where a site sends no text with it."""
    return "" if payload is None else msgspec.json.encode(payload).decode()


def fail(turn: Turn) -> SiteFailed | CallFailed:
    """Return what a turn says of its failure, or that it says nothing known."""
    if turn.status in {"failed", "expired"}:
        error = turn.error or Problem(turn.message)
        told = f"The site could not do it: {shorten(error.message) or turn.status}"
        return CallFailed(told, recovery=shorten(error.kind))
    return SiteFailed(f"The site responded with the status {shorten(turn.status)}.")
