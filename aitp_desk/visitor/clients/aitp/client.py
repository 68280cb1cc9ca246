"""A visitor of AITP 0.1: a thread with the site, and the messages of its capabilities.

A thread lists no actions: what is wanted is said in words, and what a site asks comes back as a
decision (AITP-02) or a quote (AITP-01).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote as quote_path

import msgspec
from yarl import URL

from aitp_desk.egress import Fetched
from aitp_desk.visitor.base import Answer, Choice, Endpoint, Outcome, Quote
from aitp_desk.visitor.clients.aitp.wire import (
    DECISIONS,
    PAYMENTS,
    Confirmation,
    Message,
    Page,
    Posted,
    Refusal,
    Run,
    Said,
    find_later,
    read_messages,
)
from aitp_desk.visitor.clients.reader import Reader
from aitp_desk.visitor.clients.responses import make_refusal, read_body, shorten
from aitp_desk.visitor.errors import (
    CallFailed,
    NotOffered,
    PolicyRefused,
    SiteFailed,
    SiteRefused,
)
from aitp_desk.visitor.fetcher import Fetcher
from aitp_desk.visitor.payments import read_money

WAIT_SECONDS = 20
"""How long a request asks the site to wait for its replies (RFC 7240)."""
POLL_SECONDS = 1.0
"""The first pause before messages are read again; each further one is twice as long."""
LONGEST_POLL_SECONDS = 30.0
OVER = frozenset({"completed", "incomplete"})
_T = TypeVar("_T")
FAILED = frozenset({"failed", "cancelled", "expired", "capped"})


class AitpClient(Reader):
    """One thread with a site."""

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        self._url = endpoint.url.rstrip("/")
        self._fetcher = fetcher
        self._thread: str | None = None
        self._asked = Said([])
        self._awaited: Mapping[str, Any] = {}

    async def ask(self, question: str) -> Answer:
        """Put a question; the first one opens the thread."""
        return self._make_answer(await self._say(question))

    async def choose(self, choice: Choice) -> Answer:
        """Answer a decision with one of its options, or a question in words."""
        asked = self._asked.decision
        if asked is None:
            return await self.ask(choice.value)
        option: dict[str, Any] = {"id": choice.value}
        if asked.type == "products":
            option["quantity"] = 1
        decision: dict[str, Any] = {"options": [option]}
        if asked.id:
            decision["request_decision_id"] = asked.id
        message = {"$schema": self._asked.decision_schema, "decision": decision}
        return self._make_answer(await self._say(msgspec.json.encode(message).decode()))

    async def read_late(self, waiting: Mapping[str, Any]) -> Answer:
        """Read once what the site has said since, once its work is over."""
        self._awaited = waiting
        if ticket := waiting.get("ticket"):
            url = URL(self._messages_url()) % {"order": "desc", "limit": "100"}
            newest = read(await self._fetcher.send(str(url)), Page).data
            # a session of AHP is a thread under another name: the ticket alone says whose it is
            said = [one for one in reversed(newest) if one.note("ticket") == ticket]
            return self._make_answer(tuple(said))
        if run_id := waiting["run"]:
            run = await self._read_run(run_id)
            if run.status in FAILED:
                raise CallFailed(f"The site's work on the answer ended: {shorten(run.status)}.")
            if run.status not in OVER:
                return self._make_answer(())
        return self._make_answer(await self._list_after(waiting["after"]))

    async def poll(self, outcome: Outcome) -> Outcome:
        """Read what the site has said since; not at once again."""
        await self._fetcher.wait(outcome.retry_after or POLL_SECONDS)
        messages = await self._list_after(outcome.reference)
        if not messages:
            pause = min((outcome.retry_after or POLL_SECONDS) * 2, LONGEST_POLL_SECONDS)
            return msgspec.structs.replace(outcome, retry_after=pause)
        return self._make_outcome(messages)

    async def accept(self, outcome: Outcome) -> Outcome:
        """Send the payment of a quote on its thread."""
        quote, payer = outcome.quote, self._fetcher.identity.payer
        if quote is None:
            raise NotOffered("Nothing is to be paid.")
        if payer is None:
            raise PolicyRefused("The visit has nothing to pay from.")
        message = msgspec.json.encode(payer.pay(quote)).decode()
        # the same payment for a quote counts once, so it needs no other key than the quote's id
        return self._make_outcome(await self._say(message))

    def save(self) -> Mapping[str, Any]:
        """Return the thread; what it asks can be answered in words."""
        return {"thread": self._thread}

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on with a thread."""
        self._thread = saved["thread"]

    async def close(self) -> None:
        """Leave the thread as it is; it can be continued."""
        self._thread = None

    async def _say(self, text: str) -> tuple[Message, ...]:
        """Post a message, and return the replies to it."""
        message = {"role": "user", "content": text}
        seconds = max(1, min(WAIT_SECONDS, int(self._fetcher.patience)))
        headers = {"Prefer": f"wait={seconds}"}
        if self._thread is None:
            body: Any = {"messages": [message], "metadata": {"actors": [self._describe_self()]}}
            url = self._url
        else:
            body, url = message, self._messages_url()
        found = await self._fetcher.send(url, body, method="POST", headers=headers)
        posted = read_posted(found)
        if self._thread is None:
            self._thread = posted.id
            newest = posted.messages[0].id if posted.messages else ""
        else:
            newest = posted.id
        self._awaited = {"after": newest, "run": "" if posted.run is None else posted.run.id}
        self._check_thread((*posted.messages, *posted.replies))
        if posted.run is None and not posted.replies and self._thread is not None:
            return await self._wait_for_replies(newest, None)
        if posted.replies and (posted.run is None or posted.run.status in OVER):
            return posted.replies
        return await self._wait_for_replies(newest, posted.run)

    def _describe_self(self) -> dict[str, Any]:
        """Return who speaks, and which structured messages it reads."""
        payer = self._fetcher.identity.payer
        own = str(URL(self._url).origin())
        schemas = (DECISIONS, PAYMENTS, f"{own}/capabilities/payments/v1/schema.json")
        return {
            "id": payer.payer_id if payer is not None else self._fetcher.identity.name,
            "capabilities": [{"schema": one} for one in schemas],
        }

    def _messages_url(self) -> str:
        return f"{self._url}/{quote_path(self._thread or '', safe='')}/messages"

    async def _wait_for_replies(self, after: str, run: Run | None) -> tuple[Message, ...]:
        """Read the thread until the site has replied, or the visit ends."""
        pause = POLL_SECONDS
        while True:
            if run is not None and run.status in FAILED:
                raise SiteFailed(f"The site's work on the answer ended: {shorten(run.status)}.")
            messages = await self._list_after(after)
            if messages and (run is None or run.status in OVER):
                return messages
            if run is not None and run.status in OVER:
                return ()
            if pause >= self._fetcher.patience:
                return messages
            await self._fetcher.wait(pause)
            pause = min(pause * 2, LONGEST_POLL_SECONDS)
            if run is not None:
                run = await self._read_run(run.id)

    async def _read_run(self, run_id: str) -> Run:
        thread, run = (quote_path(one, safe="") for one in (self._thread or "", run_id))
        return read(await self._fetcher.send(f"{self._url}/{thread}/runs/{run}"), Run)

    async def _list_after(self, after: str) -> tuple[Message, ...]:
        """Return what others have said after a message, the oldest first."""
        url = URL(self._messages_url()) % {"order": "asc", "limit": "100"}
        if after:
            url = url % {"after": after}
        page = read(await self._fetcher.send(str(url)), Page)
        self._check_thread(page.data)
        own = {"user"} if self._thread is not None else set()
        return tuple(one for one in page.data if one.role not in own)

    def _check_thread(self, messages: Sequence[Message]) -> None:
        """Refuse messages of another thread."""
        for message in messages:
            if message.thread_id is not None and message.thread_id != self._thread:
                raise SiteFailed("The site sent a message of another conversation.")

    def _make_answer(self, messages: tuple[Message, ...]) -> Answer:
        said = self._asked = read_messages(messages)
        if not messages:
            return Answer("", "waiting", data=self._awaited)
        check_paid(said.confirmation)
        asks_back = any(one.note("asks_back") == "true" for one in messages)
        quote = make_quote(said)
        words = list(said.words)
        choices: tuple[Choice, ...] = ()
        if said.decision is not None:
            words += filter(None, (said.decision.title, said.decision.description))
            choices = said.decision.choices
        elif asks_back:
            offered = messages[-1].note("suggested_queries").split("\n")
            choices = tuple(Choice(one, one) for one in offered if one)
        text = "\n\n".join(words) or (quote.description if quote is not None else "")
        is_question = asks_back or said.decision is not None or quote is not None
        kind = "question" if is_question else "answer"
        tickets = filter(None, (one.note("asked_person") for one in messages))
        later = find_later(self._thread, next(tickets, ""))
        return Answer(text, kind, said.sources, choices, quote=quote, later=later)  # type: ignore[arg-type]

    def _make_outcome(self, messages: tuple[Message, ...]) -> Outcome:
        said = read_messages(messages)
        text = "\n\n".join(said.words)
        confirmed = said.confirmation
        check_paid(confirmed)
        last = messages[-1].id if messages else ""
        if not messages or (confirmed is not None and confirmed.result == "pending" and not text):
            return Outcome(
                "waiting", text, last, result=self._awaited or None, retry_after=POLL_SECONDS
            )
        if confirmed is None and any(one.note("asks_back") == "true" for one in messages):
            return Outcome("question", text, last)
        return Outcome("done", text, last)


def check_paid(confirmed: Confirmation | None) -> None:
    """Check that a payment was not refused.

    Raises:
        SiteRefused: it was.
    """
    if confirmed is not None and confirmed.result == "failure":
        raise SiteRefused(f"The payment was refused: {shorten(confirmed.message)}")


def read_posted(found: Fetched) -> Posted:
    """Read what creating a thread or a message returned; some sites wrap a thread."""
    if 200 <= found.status < 300 and found.body.lstrip().startswith(b'{"thread":'):
        return read(found, dict[str, Posted])["thread"]
    return read(found, Posted)


def read(found: Fetched, form: type[_T]) -> _T:
    """Read a response that is a success.

    Raises:
        SiteRefused, SiteFailed: it is none, or not in the form of AITP.
    """
    if not 200 <= found.status < 300:
        try:
            error = msgspec.json.decode(found.body, type=Refusal).error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise make_refusal(found, "") from None
        raise make_refusal(found, error.message, recovery=error.code or "")
    return read_body(found, form, "AITP")


def make_quote(said: Said) -> Quote | None:
    """Return what has to be paid: the first option of the site's quote."""
    message = said.quote
    if message is None or said.quote_raw is None:
        return None
    option = message.quote.payment_options[0]
    money = read_money({"amount": option.amount, "currency": option.currency})
    if money is None:
        raise SiteFailed("The site's quote names no amount of money.")
    return Quote(
        money,
        message.quote.quote_id,
        shorten(message.quote.description),
        data={"message": said.quote_raw},
        prepaid=True,
    )
