"""Calls over plain HTTP: what HAC, agents.txt and OpenAPI describe in their ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote as quote_url

import msgspec
from yarl import URL

from aitp_desk.egress import Fetched
from aitp_desk.visitor.base import Answer, Choice, Endpoint, Outcome, SiteAction
from aitp_desk.visitor.clients.replies import (
    decode,
    read_answer,
    read_outcome,
    read_refusal,
    read_status,
)
from aitp_desk.visitor.discovery.descriptions import QUESTION_NAMES, read_question_name
from aitp_desk.visitor.errors import (
    NO_POLL,
    CredentialNeeded,
    NotOffered,
    PolicyRefused,
    SiteFailed,
)
from aitp_desk.visitor.fetcher import Fetcher, Method

Place = Literal["query", "path", "header", "body"]
QUESTION_MEMBERS = ("query", "question", "q", "text")
"""What sites call the argument that holds a question."""
OWN_HEADERS = frozenset(
    "accept authorization connection content-length content-type cookie host signature "
    "signature-agent signature-input transfer-encoding user-agent x-ahp-key".split()
)
"""Headers that no argument may set: a site could have secrets or messages changed by them."""
POLL_SECONDS = 1.0
"""The pause before the first poll where the site names none; each further one is twice as long."""
LONGEST_POLL_SECONDS = 30.0
CONFIRMATION = "_confirm"
"""The argument by which desks take agreement to a price."""
CALLBACK = "_callback_url"
"""The argument by which desks take an address to post to when a long call ends."""
PAYMENT = "_payment"
"""The argument by which desks take the payment of a quote."""


class Operation(msgspec.Struct, frozen=True):
    """How an action is called.

    Parameters:
        url: absolute; ``{name}`` stands for an argument in its path.
        places: where each argument goes; others go into the body, or the query of a GET.
    """

    action: SiteAction
    method: Method
    url: str
    places: Mapping[str, Place] = msgspec.field(default_factory=dict[str, Place])


class OperationClient:
    """Calls operations, and asks through the one that answers questions.

    The protocol's own class finds the operations.
    """

    media_type = "application/json"

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        self.endpoint = endpoint
        self.fetcher = fetcher
        self._operations: Sequence[Operation] | None = None
        self._refused: set[str] = set()
        self._session = ""
        self._question = ""
        self._pending: dict[str, tuple[Operation, Mapping[str, Any], str]] = {}

    async def find_operations(self) -> Sequence[Operation]:
        """Return what the site describes."""
        raise NotImplementedError

    async def prepare(self, operation: Operation) -> None:
        """Do what has to be done before a call, such as to wait."""

    async def renew(self, operation: Operation) -> Operation | None:
        """Return an operation as the site describes it now; None if it is gone."""
        del operation
        return None

    async def explain(self, operation: Operation) -> str:
        """Return what the site says about its credentials: data."""
        del operation
        return ""

    async def ask(self, question: str) -> Answer:
        """Put a question to the action that answers questions.

        Raises:
            NotOffered: no action takes a question and nothing else.
        """
        operation, member = await self._find_question()
        self._question = question
        arguments: dict[str, Any] = {member: question}
        if self._session and "session_id" in operation.places:
            arguments["session_id"] = self._session
        return await self._put(operation, arguments)

    async def choose(self, choice: Choice) -> Answer:
        """Answer a question of the site's, where it takes that; else ask with the choice."""
        operation, member = await self._find_question()
        if not self._session or "clarification" not in operation.places:
            return await self.ask(choice.value)
        arguments = {
            member: self._question,
            "session_id": self._session,
            "clarification": choice.value,
        }
        return await self._put(operation, arguments)

    async def actions(self) -> Sequence[SiteAction]:
        """Return what the site describes."""
        return [operation.action for operation in await self._list()]

    async def call(self, action: SiteAction, arguments: Mapping[str, Any], key: str) -> Outcome:
        """Call an action."""
        operation = await self._find(action.name)
        url = self.fetcher.identity.callback_url
        if url is not None and CALLBACK in operation.places:
            arguments = {**arguments, CALLBACK: url}
        found = await self._send(operation, arguments, key)
        return self._note_pending(read_outcome(found, action), operation, arguments, key)

    async def poll(self, outcome: Outcome) -> Outcome:
        """Ask once how a waiting call goes, not sooner than the site says."""
        if outcome.kind != "waiting":
            return outcome
        if not outcome.reference:
            raise SiteFailed(NO_POLL)
        url = self.fetcher.resolve(self.endpoint.url, outcome.reference)
        pause = outcome.retry_after or POLL_SECONDS
        await self.fetcher.wait(pause)
        found = await self.fetcher.send(url, headers={"Accept": self.media_type})
        polled = read_status(found, outcome.reference)
        if polled.kind == "waiting" and polled.retry_after is None:
            return msgspec.structs.replace(polled, retry_after=min(pause * 2, LONGEST_POLL_SECONDS))
        return polled

    async def accept(self, outcome: Outcome) -> Outcome:
        """Make a call again with its payment, or with agreement to exactly its price."""
        operation, arguments, key = self._pending[outcome.reference]
        quote, payer = outcome.quote, self.fetcher.identity.payer
        member = PAYMENT if quote is not None and quote.prepaid else CONFIRMATION
        if quote is None or member not in operation.places:
            raise NotOffered(f"{operation.action.name} cannot be paid through this protocol.")
        if not quote.prepaid:
            extra: Any = {"amount": str(quote.money.amount), "currency": quote.money.currency}
        elif payer is None:
            raise PolicyRefused("The visit has nothing to pay from.")
        else:
            extra = {"payment": payer.pay(quote)["payment"]}
        found = await self._send(operation, {**arguments, member: extra}, key)
        return self._note_pending(read_outcome(found, operation.action), operation, arguments, key)

    async def close(self) -> None:
        """Do nothing: conversations over plain HTTP end by themselves."""

    def _note_pending(
        self, outcome: Outcome, operation: Operation, arguments: Mapping[str, Any], key: str
    ) -> Outcome:
        """Keep a call that wants to be paid, by its key: two calls may have the same price."""
        if outcome.kind == "waiting":
            poll = self.fetcher.resolve_poll(self.endpoint.url, outcome.reference)
            return msgspec.structs.replace(outcome, reference=poll)
        if outcome.kind != "payable":
            return outcome
        self._pending[key] = (operation, arguments, key)
        return msgspec.structs.replace(outcome, reference=key)

    async def _list(self) -> Sequence[Operation]:
        if self._operations is None:
            self._operations = await self.find_operations()
        return self._operations

    async def _find(self, name: str) -> Operation:
        for operation in await self._list():
            if operation.action.name == name:
                return operation
        raise NotOffered(f"{self.endpoint.url} describes no action {name}.")

    async def _find_question(self) -> tuple[Operation, str]:
        """Return the operation that takes a question alone, and the name of that argument."""
        found: dict[str, tuple[Operation, str]] = {}
        for operation in await self._list():
            schema = operation.action.input_schema
            required = schema.get("required") or []
            member = next((one for one in QUESTION_MEMBERS if one in operation.places), "")
            name = read_question_name(operation.action.name)
            safety = operation.action.safety
            is_harmless = operation.method == "GET" or name in QUESTION_NAMES[:2]
            is_harmless = is_harmless or (safety is not None and safety.mutability == "read_only")
            if member and is_harmless and set(required) <= {member} and name in QUESTION_NAMES:
                found.setdefault(name, (operation, member))
        for name in QUESTION_NAMES:
            if name in found:
                return found[name]
        raise NotOffered(f"{self.endpoint.url} describes no action that answers questions.")

    async def _put(self, operation: Operation, arguments: Mapping[str, Any]) -> Answer:
        found = await self._send(operation, arguments, "")
        if found.status >= 400:
            raise read_refusal(found)
        answer, session = read_answer(decode(found))
        self._session = session or self._session
        return answer

    async def _send(self, operation: Operation, arguments: Mapping[str, Any], key: str) -> Fetched:
        """Send a call; once more at its new address if the site has moved it.

        A credential that was refused is not sent again (agents.txt 1.0, section 9.2).
        """
        name = operation.action.name
        if name in self._refused:
            raise CredentialNeeded(f"{name} was refused with this credential before.", status=403)
        await self.prepare(operation)
        found = await self._request(operation, arguments, key)
        if found.status == 404:
            self._operations = None
            renewed = await self.renew(operation)
            if renewed is not None and renewed.url != operation.url:
                found = await self._request(renewed, arguments, key)
        if found.status in {401, 403}:
            self._refused.add(name)
            told = read_refusal(found)
            recovery = await self.explain(operation) or told.recovery
            raise CredentialNeeded(str(told), status=found.status, recovery=recovery)
        return found

    async def _request(
        self, operation: Operation, arguments: Mapping[str, Any], key: str
    ) -> Fetched:
        url, headers, body = _write(operation, arguments)
        address = self.fetcher.resolve(self.endpoint.url, url)
        headers |= {"Accept": self.media_type}
        if key and operation.method != "GET":
            headers["Idempotency-Key"] = key
        if operation.method == "GET":
            return await self.fetcher.send(address, headers=headers)
        return await self.fetcher.send(address, body, method=operation.method, headers=headers)


def _write(
    operation: Operation, arguments: Mapping[str, Any]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Return the address, headers and body of a call."""
    url, headers = operation.url, dict[str, str]()
    query: dict[str, str] = {}
    body: dict[str, Any] = {}
    rest: Place = "query" if operation.method == "GET" else "body"
    for name, value in arguments.items():
        place = operation.places.get(name, rest)
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if place == "path" or f"{{{name}}}" in url:
            url = url.replace(f"{{{name}}}", quote_url(text, safe=""))
        elif place == "query":
            query[name] = text
        elif place == "body":
            body[name] = value
        elif name.lower() not in OWN_HEADERS and text.isascii() and text.isprintable():
            headers[name] = text
        else:
            raise SiteFailed(f"The site wants {name[:64]!r} as a header, which no argument sets.")
    if "{" in URL(url).raw_path or "%7B" in URL(url).raw_path:
        raise NotOffered(f"{operation.action.name} needs the arguments of its address.")
    return str(URL(url).update_query(query)) if query else url, headers, body
