"""A visit to one site: finds its doors, asks, and calls within the visitor's policy."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from yarl import URL

from aitp_desk import own_version
from aitp_desk.egress import Egress
from aitp_desk.model.money import Money
from aitp_desk.visitor.base import (
    Answer,
    Choice,
    Door,
    DoorKind,
    Outcome,
    PassedOver,
    SiteAction,
    SiteClient,
)
from aitp_desk.visitor.cache import ResponseCache
from aitp_desk.visitor.clients.catalogue import CLIENTS
from aitp_desk.visitor.discovery.doors import Discovery, find_doors
from aitp_desk.visitor.errors import (
    BudgetSpent,
    NoDoor,
    NotConfirmed,
    NotOffered,
    PolicyRefused,
    SiteFailed,
    SiteRefused,
)
from aitp_desk.visitor.fetcher import Fetcher
from aitp_desk.visitor.policy import Policy, Wish, find_reasons

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
NAME = "aitp-desk-visitor"
"""The first token of the visitor's User-Agent (agents.txt 1.0, section 3.6)."""
NO_WAY = frozenset({0, 401, 403, 404, 405, 406, 410, 415, 501})
"""The statuses of refusals after which another door may do the same."""

_T = TypeVar("_T")


@asynccontextmanager
async def visit(
    url: str,
    *,
    policy: Policy | None = None,
    credential: str | None = None,
    name: str = NAME,
    protocol: str | None = None,
    cache: ResponseCache | None = None,
) -> AsyncIterator[Site]:
    """Visit a site.

    Parameters:
        url: the site's address. A loopback address may be visited as well, since only the visitor
            names it.
        policy: what the visit may do and spend; by default ask, and call what changes nothing.
        credential: an access key or bearer token for the site; sent to its own origin only.
        name: of the visiting agent, the first token of its User-Agent.
        protocol: the only kind of door to use, such as "mcp"; by default the richest.
        cache: of what the site publishes about itself; give several visits the same one.

    Raises:
        SiteFailed: the site cannot be reached.
        NoDoor: it speaks none of the known protocols, or not the one that was asked for.
    """
    policy = policy or Policy()
    async with Egress(allow_loopback=URL(url).host in LOOPBACK) as egress:
        fetcher = Fetcher(
            egress,
            seconds=policy.seconds,
            headers={"User-Agent": f"{name}/{own_version()} (+visiting agent)"},
            origins=(str(URL(url).origin()), *sorted(policy.origins)),
            credential=credential,
            cache=cache,
        )
        found = await find_doors(fetcher, name)
        doors = [
            door for door in found.doors if door.kind in CLIENTS and protocol in {None, door.kind}
        ]
        if not doors:
            wanted = f"no {protocol}" if protocol is not None else "no protocol that is known here"
            reasons = "".join(f" {one.what}: {one.reason}" for one in found.passed_over[:3])
            raise NoDoor(f"{url} speaks {wanted}.{reasons}")
        site = Site(url, doors, fetcher, policy, found)
        try:
            yield site
        finally:
            await site.close()


class Site:
    """A visited site. :func:`visit` opens it.

    Parameters:
        doors: those that can be used, the richest first.
        found: what else the site publishes about itself.

    Attributes:
        passed_over: what was not used, or is no longer used, each with the reason.
    """

    def __init__(
        self,
        url: str,
        doors: Sequence[Door],
        fetcher: Fetcher,
        policy: Policy,
        found: Discovery,
    ) -> None:
        self.url = url
        self.doors = tuple(doors)
        self.found = found
        self.passed_over = list(found.passed_over)
        self._fetcher = fetcher
        self._policy = policy
        self._clients: dict[str, SiteClient] = {}
        self._closed: set[tuple[DoorKind, bool]] = set()
        self._proven: set[DoorKind] = set()
        self._tokens = 0
        self._spent = (
            Money(0 * policy.budget.amount, policy.budget.currency)
            if (policy.budget is not None)
            else None
        )

    async def ask(self, question: str) -> Answer:
        """Put a question, or the next one of the same conversation."""
        self._check_tokens()
        return self._count(await self._use(lambda client: client.ask(question), answers=True))

    async def choose(self, choice: Choice) -> Answer:
        """Answer a question of the site's with one of its readings."""
        self._check_tokens()
        return self._count(await self._pick(answers=True).choose(choice))

    async def actions(self) -> Sequence[SiteAction]:
        """Return what the site offers to do; empty if it offers nothing."""
        if not any(door.acts for door in self.doors):
            return ()
        return await self._use(lambda client: client.actions(), answers=False)

    async def call(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Outcome:
        """Call an action, after the person's confirmation where the policy wants it.

        Parameters:
            key: identifies the wish, for repetitions after a lost response; by default a new one.

        Raises:
            NotOffered, NotConfirmed, PolicyRefused: nothing was sent.
        """
        action = next((each for each in await self.actions() if each.name == name), None)
        if action is None:
            raise NotOffered(f"{self.url} offers no action {name}.")
        arguments = arguments or {}
        self._check_origin(action)
        reasons = find_reasons(action, self._policy)
        if (action.has_cost or action.cost is not None) and self._spent is None:
            raise PolicyRefused(f"{name} costs money, and the visit may spend none.")
        if reasons and not await self._policy.confirm(Wish(self.url, action, arguments, reasons)):
            raise NotConfirmed(f"{name} was not confirmed: {' '.join(reasons)}")
        outcome = await self._pick(answers=False).call(
            action, arguments, key or secrets.token_urlsafe(16)
        )
        if outcome.kind == "payable":
            return await self._agree(action, arguments, outcome)
        return outcome

    async def poll(self, outcome: Outcome) -> Outcome:
        """Ask once how a waiting call goes."""
        return await self._pick(answers=False).poll(outcome)

    async def close(self) -> None:
        """End the conversations with the site."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    async def _use(self, use: Callable[[SiteClient], Awaitable[_T]], *, answers: bool) -> _T:
        """Use the richest door that can, and the next one if it fails.

        Only what fails at first use is passed over: later, the conversation is there.
        """
        while True:
            door = self._choose_door(answers=answers)
            try:
                result = await use(self._open(door))
            except (SiteFailed, SiteRefused, NotOffered) as error:
                is_final = isinstance(error, SiteRefused) and error.status not in NO_WAY
                rest = len(self._usable(answers=answers)) > 1
                if is_final or door.kind in self._proven or not rest:
                    raise
                self._closed.add((door.kind, answers))
                self.passed_over.append(PassedOver(door.kind, door.url, str(error)))
            else:
                self._proven.add(door.kind)
                return result

    def _pick(self, *, answers: bool) -> SiteClient:
        """Return the client of the richest door that answers, or acts."""
        return self._open(self._choose_door(answers=answers))

    def _open(self, door: Door) -> SiteClient:
        if door.kind not in self._clients:
            self._clients[door.kind] = CLIENTS[door.kind](door, self._fetcher)
        return self._clients[door.kind]

    def _usable(self, *, answers: bool) -> Sequence[Door]:
        """Return the doors that answer, or act, and were not passed over."""
        return [
            door
            for door in self.doors
            if (door.answers if answers else door.acts) and (door.kind, answers) not in self._closed
        ]

    def _choose_door(self, *, answers: bool) -> Door:
        for door in self._usable(answers=answers):
            return door
        raise NotOffered(
            f"{self.url} {'answers no questions' if answers else 'offers no actions'}."
        )

    def _check_tokens(self) -> None:
        if self._policy.tokens is not None and self._tokens >= self._policy.tokens:
            raise BudgetSpent(f"The visit has used up its {self._policy.tokens} tokens.")

    def _count(self, answer: Answer) -> Answer:
        self._tokens += answer.tokens or 0
        return answer

    def _check_origin(self, action: SiteAction) -> None:
        """Refuse a call to another origin (HAC 1.0, section 9.2)."""
        own = str(URL(self.url).origin())
        if action.origin != own and action.origin not in self._policy.origins:
            raise PolicyRefused(f"{action.name} would be sent to {action.origin}, not to {own}.")

    async def _agree(
        self, action: SiteAction, arguments: Mapping[str, Any], outcome: Outcome
    ) -> Outcome:
        """Agree to a quote within the budget, once the person has confirmed it."""
        quote = outcome.quote
        if quote is None:
            raise NotOffered(f"{action.name} wants to be paid and names no price.")
        limit, spent = self._policy.budget, self._spent
        if limit is None or spent is None or limit.currency != quote.money.currency:
            raise PolicyRefused(f"{action.name} costs {quote.money}; the visit may not spend that.")
        if not 0 <= quote.money.amount <= limit.amount - spent.amount:
            raise BudgetSpent(f"{action.name} costs {quote.money}; {limit} is the visit's limit.")
        if action.cost is not None and quote.money.amount > action.cost.amount:
            reasons = (f"It costs {quote.money}, more than the {action.cost} announced.",)
        else:
            reasons = (f"It costs {quote.money}.",)
        wish = Wish(self.url, action, arguments, reasons, quote)
        if not await self._policy.confirm(wish):
            raise NotConfirmed(f"{action.name} was not confirmed: {quote.money}.")
        # counted before it is sent: a response that is lost may have been paid
        self._spent = Money(spent.amount + quote.money.amount, limit.currency)
        return await self._pick(answers=False).accept(outcome)
