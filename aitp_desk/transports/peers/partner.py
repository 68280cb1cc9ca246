"""A partner site: visits it within its limits, and tells what went wrong in a sentence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog

from aitp_desk.actions.base import Context
from aitp_desk.actions.schemas.sanitised_text import plain_words
from aitp_desk.config import Peer
from aitp_desk.model.access.scope import covers_scope, is_operator_scope
from aitp_desk.model.errors import DeskError, PreconditionFailed, Unavailable
from aitp_desk.model.money import Money
from aitp_desk.model.text import write_count
from aitp_desk.visitor.cache import ResponseCache
from aitp_desk.visitor.discovery.endpoints import Discovery
from aitp_desk.visitor.errors import (
    CallFailed,
    CredentialNeeded,
    NoEndpoint,
    NotConfirmed,
    NotOffered,
    PolicyRefused,
    SiteRefused,
    VisitError,
)
from aitp_desk.visitor.identity import Identity
from aitp_desk.visitor.payments import Payer
from aitp_desk.visitor.policy import PlannedCall, Policy, refuse
from aitp_desk.visitor.proof.signatures import Signer
from aitp_desk.visitor.site import Site, visit

_log = structlog.get_logger()

ENDPOINTS_SECONDS = 300.0
"""How long the endpoints that a visit has found are used again; a failed visit ends that."""


class Partner:
    """A partner site of this desk.

    Parameters:
        token: the desk's own credential for it; empty for none. A caller's is never sent.
        desk_id: this desk's id in ``Desk-Via``.
        signer: signs requests without a token, where a token would be sent; None for none.
        callback: makes the address to post to when a call ends, given its id; None for none.
        payer: pays what the partner wants paid first; None for nothing.

    Attributes:
        title: its name for visitors.
    """

    def __init__(
        self,
        settings: Peer,
        *,
        token: str,
        desk_id: str,
        signer: Signer | None = None,
        callback: Callable[[str], str] | None = None,
        payer: Payer | None = None,
    ) -> None:
        self.settings = settings
        self.title = settings.title or settings.name
        self._token = token
        self._desk_id = desk_id
        self._signer = signer
        self._callback = callback
        self._payer = payer
        self._cache = ResponseCache()
        # by whether the desk was known: a stranger is not led to what is named to it alone
        self._found: dict[bool, tuple[float, Discovery]] = {}

    def trusts(self, context: Context) -> bool:
        """Return whether a caller's words are sent with the desk's own token or signature.

        Words may have things done at a partner, so they have no more rights there than here.
        """
        scopes = context.caller.scopes
        return covers_scope(scopes, "actions") or is_operator_scope(scopes)

    @asynccontextmanager
    async def visit(
        self,
        context: Context | None = None,
        *,
        budget: Money | None = None,
        acts: bool = False,
        buys: bool = False,
        protocol: str = "",
    ) -> AsyncIterator[Site]:
        """Visit the partner, for a call or for the desk itself.

        Parameters:
            budget: the most that the visit may spend; None: nothing.
            acts: whether an action that the owner has listed is called; else nothing is agreed to.
            buys: whether the caller has agreed to a price of its conversation there.
            protocol: the only one to use; by default that of the settings.

        Raises:
            PreconditionFailed: the call has passed too many desks.
            DeskError: the visit failed; the message says how, for the visitor.
        """
        settings = self.settings
        via = () if context is None else context.caller.via
        if len(via) >= settings.hops:
            raise PreconditionFailed(
                f"{self.title} was not asked: the question has passed {len(via)} other "
                f"{'site' if len(via) == 1 else 'sites'}, and goes no further."
            )
        has_proof = bool(self._token or self._signer)
        knows_desk = has_proof and (acts or context is None or self.trusts(context))
        callback = None
        if acts and context is not None and self._callback is not None:
            callback = self._callback(context.call_id)
        policy = Policy(
            confirm=agree if acts or buys else refuse,
            budget=budget,
            # the limit below ends the visit; this one only bounds the pauses that a site asks for
            seconds=settings.seconds + 1,
        )
        until, found = self._found.get(knows_desk, (0.0, None))
        with self._explain(knows_desk=knows_desk):
            async with (
                asyncio.timeout(settings.seconds),
                visit(
                    settings.url,
                    policy=policy,
                    credential=(self._token or None) if knows_desk else None,
                    identity=Identity(
                        via=(*via, self._desk_id),
                        signer=self._signer if knows_desk else None,
                        callback_url=callback,
                        payer=self._payer,
                    ),
                    protocol=protocol or settings.protocol or None,
                    cache=self._cache,
                    found=found if time.monotonic() < until else None,
                ) as site,
            ):
                yield site
        if site.found is not found:
            self._found[knows_desk] = (time.monotonic() + ENDPOINTS_SECONDS, site.found)

    @contextmanager
    def _explain(self, *, knows_desk: bool) -> Iterator[None]:
        """Turn what goes wrong on a visit into an error of this desk."""
        try:
            yield
        except (VisitError, TimeoutError) as error:
            self._found.pop(knows_desk, None)
            _log.info("peer_failed", peer=self.settings.name, error=type(error).__name__)
            raise self.describe(error) from None

    def describe(self, error: VisitError | TimeoutError) -> DeskError:
        """Return what went wrong on a visit, for the visitor of this desk."""
        title, said = self.title, plain_words(str(error))
        match error:
            case TimeoutError():
                return Unavailable(
                    f"{title} did not answer within {write_count(self.settings.seconds, 'second')}."
                )
            case CallFailed():
                return PreconditionFailed(f"{title}: {said}")
            case CredentialNeeded():
                return PreconditionFailed(f"{title} does not answer this site: {said}")
            case SiteRefused():
                return PreconditionFailed(f"{title} refused: {said}")
            case NoEndpoint() | NotOffered():
                return PreconditionFailed(f"{title} cannot be asked now: {said}")
            case PolicyRefused() | NotConfirmed():
                return PreconditionFailed(f"Nothing was done at {title}: {said}")
            case _:
                return Unavailable(f"{title} cannot be reached now; try again later.")


async def agree(_call: PlannedCall) -> bool:
    """Confirm a call that the owner has listed: the visit's budget and the terms here bind."""
    return True
