"""A visit to one site: finds its endpoints, asks, and calls within the visitor's policy."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from yarl import URL

from aitp_desk.egress import Egress
from aitp_desk.model.money import Money
from aitp_desk.visitor.base import (
    Answer,
    Choice,
    Endpoint,
    EndpointKind,
    Outcome,
    PatientClient,
    Quote,
    ResumableClient,
    SiteAction,
    SiteClient,
    UnusedEndpoint,
)
from aitp_desk.visitor.cache import ResponseCache
from aitp_desk.visitor.clients.catalogue import CLIENTS
from aitp_desk.visitor.clients.prices import IN_WORDS, add_price, find_yes, make_agreed
from aitp_desk.visitor.context import SharedContext
from aitp_desk.visitor.discovery.endpoints import Discovery, explain_absence, find_endpoints
from aitp_desk.visitor.errors import (
    NoEndpoint,
    NotOffered,
    PolicyRefused,
    SiteFailed,
    SiteRefused,
    is_final,
)
from aitp_desk.visitor.expenses import Expenses, names_price_first
from aitp_desk.visitor.fetcher import Fetcher
from aitp_desk.visitor.identity import Identity
from aitp_desk.visitor.policy import (
    Confirm,
    PlannedCall,
    Policy,
    check_origin,
    confirm_call,
    confirm_yes,
    is_agreement,
    is_repeatable,
)
from aitp_desk.visitor.proof.journal import SentCalls
from aitp_desk.visitor.proof.transcript import VisitRecord
from aitp_desk.visitor.trust import TrustFigure, assess

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_T = TypeVar("_T")


@asynccontextmanager
async def visit(
    url: str,
    *,
    policy: Policy | None = None,
    credential: str | None = None,
    identity: Identity | None = None,
    protocol: str | None = None,
    cache: ResponseCache | None = None,
    context: SharedContext | None = None,
    found: Discovery | None = None,
    journal: Path | None = None,
) -> AsyncIterator[Site]:
    """Visit a site.

    Parameters:
        url: of the site, or of an agent below it. A loopback address may be visited as well, since
            only the visitor names it.
        policy: what the visit may do and spend; by default ask, and call what changes nothing.
        credential: an access key or bearer token for the site; sent to its own origin only.
        identity: who visits, and what for.
        protocol: the only kind of endpoint to use, such as "mcp"; by default the richest.
        cache: of what the site publishes about itself; give several visits the same one.
        context: what the site may learn of other visits, once a person has seen it.
        found: what an earlier visit found of the site a short time ago; nothing is looked for then.
        journal: a folder that keeps which calls were sent, by key, so that none is sent twice.

    Raises:
        SiteFailed: the site cannot be reached.
        NoEndpoint: it speaks none of the known protocols, or not the one that was asked for.
    """
    policy, identity = policy or Policy(), identity or Identity()
    cache = cache or ResponseCache()
    async with Egress(allow_loopback=URL(url).host in LOOPBACK) as egress:
        fetcher = Fetcher(
            egress,
            seconds=policy.seconds,
            headers=identity.headers,
            origins=(str(URL(url).origin()), *sorted(policy.origins)),
            credential=credential,
            identity=identity,
            cache=cache,
        )
        found = await find_endpoints(fetcher, identity.name, found, url=url, protocol=protocol)
        known = [one for one in found.endpoints if one.kind in CLIENTS]
        endpoints = [one for one in known if protocol in {None, one.kind}]
        if not endpoints:
            raise NoEndpoint(f"{url} {explain_absence(found, protocol)}")
        site = Site(url, endpoints, fetcher, policy, found, cache, context, journal)
        try:
            yield site
        finally:
            await site.close()


class Site:
    """A visited site. :func:`visit` opens it.

    Parameters:
        endpoints: those that can be used, the richest first; ``found`` has the rest.

    Attributes:
        unused: what was not used, or is no longer used, each with the reason.
    """

    def __init__(
        self,
        url: str,
        endpoints: Sequence[Endpoint],
        fetcher: Fetcher,
        policy: Policy,
        found: Discovery,
        cache: ResponseCache | None = None,
        context: SharedContext | None = None,
        journal: Path | None = None,
    ) -> None:
        self.url = url
        self.endpoints = tuple(endpoints)
        self.found = found
        self.unused = list(found.unused)
        self._fetcher = fetcher
        self._policy = policy
        self._cache = cache or ResponseCache()
        self._context = context
        self._signals: list[bool | None] = []
        self._clients: dict[str, SiteClient] = {}
        self._closed: set[tuple[EndpointKind, bool]] = set()
        self._proven: set[EndpointKind] = set()
        self._calls = SentCalls(fetcher.origin, journal)
        self._agreed: dict[str, Quote] = {}
        self._asked: Answer | None = None
        self._agreement = asyncio.Lock()
        self._key_locks: dict[str, asyncio.Lock] = {}
        self._expenses = Expenses(url, policy, fetcher.identity.payer)
        self._record = VisitRecord(fetcher.identity.name, fetcher.origin)

    @property
    def spent(self) -> Money | None:
        """What the visit has agreed to pay; None if it may spend nothing."""
        return self._expenses.spent

    @property
    def asked(self) -> Answer | None:
        """What the site has answered last; None once it was agreed or declined."""
        return self._asked

    def restart(self) -> None:
        """Start the visit's time again, for a person who goes on; the budget stays."""
        self._fetcher.restart()

    def write_transcript(self) -> bytes:
        """Return the signed record of the visit so far, as JSON; for agents with a key alone."""
        signer = self._fetcher.identity.signer
        if signer is None:
            raise PolicyRefused("A record is signed with the visiting agent's key; it has none.")
        return self._record.sign(signer)

    async def ask(self, question: str) -> Answer:
        """Put a question, or the next one of the same conversation.

        Raises:
            PolicyRefused: the site waits for agreement to a price, which words could give.
        """
        self._expenses.check_tokens()
        self._check_unpriced()
        if self._context is not None and (
            told := await self._context.disclose(self._fetcher.origin)
        ):
            question = f"{question}\n\n{told}"
        self._record.note_own("asked", question)
        return self._count(await self._use(lambda client: client.ask(question), answers=True))

    async def choose(self, choice: Choice) -> Answer:
        """Answer a question of the site's with one of its readings.

        Raises:
            PolicyRefused: the question is whether to pay; :meth:`agree` or :meth:`decline` answer.
            NotConfirmed: the choice is a yes, and the person has not confirmed it.
        """
        self._expenses.check_tokens()
        self._check_unpriced()
        if is_agreement(choice.label) and self._asked is not None:
            await confirm_yes(self.url, self._asked.text, self._policy)
        self._record.note_own("chose", choice)
        return self._count(await self._pick(answers=True).choose(choice))

    async def agree(self, answer: Answer) -> Outcome:
        """Agree to the price of a question of the site's, within the budget.

        Raises:
            NotConfirmed, PolicyRefused: nothing was sent.
        """
        async with self._agreement:
            if answer.quote is None or answer is not self._asked:
                raise NotOffered("The site does not wait for agreement to this.")
            action = SiteAction("pay", answer.text, self._fetcher.origin)
            asked = Outcome("payable", answer.text, answer.quote.reference, quote=answer.quote)
            await self._expenses.spend(action, {}, answer.quote, self._policy.confirm)
            self._asked = None
        self._record.note_own("agreed", answer.quote)
        client = self._pick(answers=True)
        if answer.quote.description == IN_WORDS:
            return make_agreed(self._count(await client.choose(find_yes(answer))))
        return self._note_outcome(await client.accept(asked))

    async def read_late(self, waiting: Answer) -> Answer:
        """Ask once, also in a later visit, for an answer that has not come."""
        client = self._pick(answers=True)
        if not isinstance(client, PatientClient):
            raise NotOffered("The site cannot be asked for an answer that it gives later.")
        return self._count(await client.read_late(waiting.data))

    async def decline(self) -> Answer:
        """Say no to a question of the site's that names a price."""
        async with self._agreement:
            self._asked = None
        self._record.note_own("declined", "no")
        return self._count(await self._pick(answers=True).choose(Choice("no", "no")))

    async def trust(self) -> tuple[TrustFigure, ...]:
        """Return figures by which the site may be judged."""
        return await assess(self.found, self._fetcher, self._cache, self._signals)

    def endpoint(self, *, answers: bool) -> Endpoint:
        """Return the endpoint that is used for questions, or for actions."""
        for endpoint in self._usable(answers=answers):
            return endpoint
        raise NotOffered(f"{self.url} offers no {'answers' if answers else 'actions'}.")

    async def actions(self) -> Sequence[SiteAction]:
        """Return what the site offers to do; empty if it offers nothing."""
        if not any(endpoint.acts for endpoint in self.endpoints):
            return ()
        return await self._use(lambda client: client.actions(), answers=False)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        confirm: Confirm | None = None,
        key: str | None = None,
        pays: bool = True,
    ) -> Outcome:
        """Call an action, after the person's confirmation where the policy wants it.

        Parameters:
            confirm: asks the person about this call; by default the policy's.
            key: identifies the wish, for repetitions after a lost response; by default a new one.
            pays: False: a price is returned, as "payable", and not spent; the same key pays it.

        Raises:
            NotOffered, NotConfirmed, PolicyRefused: nothing was sent.
            SiteFailed: there is no response. The same key again is never a second wish.
        """
        action = next((one for one in await self.actions() if one.name == name), None)
        if action is None:
            raise NotOffered(f"{self.url} offers no action {name}.")
        if action.cost is not None and not pays:
            return Outcome("payable", quote=Quote(action.cost, "", action.description))
        call = PlannedCall(self.url, action, arguments or {}, ())
        key = key or secrets.token_urlsafe(16)
        async with self._key_locks.setdefault(key, asyncio.Lock()):
            return await self._call(call, key, confirm or self._policy.confirm, pays=pays)

    async def _call(self, call: PlannedCall, key: str, confirm: Confirm, *, pays: bool) -> Outcome:
        """Call an action, unless its outcome under the key is known."""
        known, is_first = self._calls.get(key), key not in self._calls
        if known is None:
            if not is_first and not is_repeatable(call.action):
                raise SiteFailed(
                    f"Whether {call.action.name} was done is unknown: no response came, and the "
                    "site does not say that repeating the call is safe."
                )
            await self._permit(call, confirm, pays=pays)
            self._calls.note_sent(key)
            called = {"name": call.action.name, "arguments": call.arguments, "key": key}
            self._record.note_own("called", called)
            known = await self._send(call, key, is_first=is_first)
            self._calls.keep(key, self._note_outcome(known))
        is_due = pays and known.kind == "payable"
        return await self._pay(call, known, key, confirm) if is_due else known

    async def _send(self, call: PlannedCall, key: str, *, is_first: bool) -> Outcome:
        """Send a call; its announced price counts as spent unless nothing was done."""
        action = call.action
        cost = action.cost if is_first else None
        if cost is not None:
            self._expenses.take(action.name, cost)
        try:
            outcome = await self._pick(answers=False).call(action, call.arguments, key)
        except (SiteRefused, NotOffered, PolicyRefused) as error:
            if cost is not None:
                self._expenses.give_back(cost)
            status = error.status if isinstance(error, SiteRefused) else 0
            if is_first and (isinstance(error, NotOffered) or 400 <= status < 500):
                self._calls.forget(key)  # certainly not done
            raise
        if cost is not None and outcome.kind in {"payable", "question"}:
            self._expenses.give_back(cost)
        return outcome

    async def poll(self, outcome: Outcome) -> Outcome:
        """Ask once how a waiting call goes, not sooner than the site says."""
        polled = await self._pick(answers=False).poll(outcome)
        return polled if polled.kind == "waiting" else self._note_outcome(polled)

    async def wait(self, outcome: Outcome) -> Outcome:
        """Wait for the end of a waiting call, within the visit's time.

        Raises:
            BudgetSpent: the call goes on; its outcome can be polled in another visit.
        """
        while outcome.kind == "waiting":
            outcome = await self.poll(outcome)
        return outcome

    def save(self) -> Mapping[str, Any]:
        """Return what another visit needs to go on, as JSON values."""
        kind, client = self.endpoint(answers=True).kind, self._pick(answers=True)
        return {"endpoint": kind, **client.save()} if isinstance(client, ResumableClient) else {}

    def resume(self, saved: Mapping[str, Any], asked: Answer | None = None) -> None:
        """Go on with an earlier conversation, or begin one; ``asked`` may be agreed to."""
        kind, client = self.endpoint(answers=True).kind, self._pick(answers=True)
        if saved.get("endpoint") == kind and isinstance(client, ResumableClient):
            client.resume(saved)
            self._asked = asked

    async def close(self) -> None:
        """End the conversations with the site."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    async def _use(self, use: Callable[[SiteClient], Awaitable[_T]], *, answers: bool) -> _T:
        """Use the richest endpoint that can, and the next one if it fails.

        Only what fails at first use is passed over: later, the conversation is there.
        """
        while True:
            endpoint = self.endpoint(answers=answers)
            try:
                result = await use(self._open(endpoint))
            except (SiteFailed, SiteRefused, NotOffered) as error:
                rest = len(self._usable(answers=answers)) > 1
                if is_final(error) or endpoint.kind in self._proven or not rest:
                    raise
                self._closed.add((endpoint.kind, answers))
                self.unused.append(UnusedEndpoint(endpoint.kind, endpoint.url, str(error)))
            else:
                self._proven.add(endpoint.kind)
                return result

    def _pick(self, *, answers: bool) -> SiteClient:
        """Return the client of the richest endpoint that answers, or acts."""
        return self._open(self.endpoint(answers=answers))

    def _open(self, endpoint: Endpoint) -> SiteClient:
        if endpoint.kind not in self._clients:
            self._clients[endpoint.kind] = CLIENTS[endpoint.kind](endpoint, self._fetcher)
        return self._clients[endpoint.kind]

    def _usable(self, *, answers: bool) -> Sequence[Endpoint]:
        """Return the endpoints that answer, or act, and were not passed over."""
        return [
            one
            for one in self.endpoints
            if (one.answers if answers else one.acts) and (one.kind, answers) not in self._closed
        ]

    def _check_unpriced(self) -> None:
        """Refuse words that the site could take for agreement to a price."""
        quote = None if self._asked is None else self._asked.quote
        if quote is not None:
            raise PolicyRefused(f"The site waits for agreement to {quote.money}: agree or decline.")

    def _count(self, answer: Answer) -> Answer:
        answer = add_price(answer)
        self._expenses.tokens += answer.tokens or 0
        self._asked = answer
        self._signals.append(answer.may_train)
        self._record.note_site("answered", answer)
        return answer

    def _note_outcome(self, outcome: Outcome) -> Outcome:
        self._record.note_site("outcome", outcome)
        return outcome

    async def _permit(self, call: PlannedCall, confirm: Confirm, *, pays: bool) -> None:
        """Check a call by the policy, and have the person confirm it."""
        check_origin(call.action, self._fetcher.origin, self._policy)
        if pays or not names_price_first(call.action):
            self._expenses.check_announced(call.action)
        await confirm_call(call, self._policy, confirm)

    async def _pay(
        self, call: PlannedCall, outcome: Outcome, key: str, confirm: Confirm
    ) -> Outcome:
        """Agree to the quote of a call.

        What was agreed to under a key is not spent again, and is sent again only if the quote is
        paid by its reference. Another price than that is a new quote.
        """
        action, quote = call.action, outcome.quote
        if quote is None:
            raise NotOffered(f"{action.name} wants to be paid and names no price.")
        agreed = self._agreed.get(key)
        if agreed is not None and not quote.prepaid:
            raise SiteFailed(
                f"Whether {action.name} was done for {quote.money} is unknown: no response came."
            )
        is_new = agreed is None or not agreed.money.is_same(quote.money)
        if is_new:
            await self._expenses.spend(action, call.arguments, quote, confirm)
            self._calls.note_sent(key)
            self._agreed[key] = quote
            self._record.note_own("agreed", quote)
        try:
            done = await self._pick(answers=False).accept(outcome)
        except NotOffered:  # raised before anything is sent
            if is_new:
                self._expenses.give_back(self._agreed.pop(key).money)
                self._calls.withdraw(key)
            raise
        self._calls.keep(key, self._note_outcome(done))
        return done
