"""Callbacks: notify a caller's own server of the end of a call.

The address is checked when it is set and at each request (``egress``). The body is what the caller
would receive by polling. It is signed (``auth/keys/webhook_signatures.py``) and has the same id in
every attempt, so a receiver can detect duplicates.

Source: AHP 0.1, sections 9.1 and 13 (SSRF); Standard Webhooks 1.0.0.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
import structlog

from aitp_desk.auth.keys.webhook_signatures import WebhookSigner
from aitp_desk.config import CallbackSettings
from aitp_desk.desk.jobs.kinds import GiveUp, JobKind
from aitp_desk.desk.jobs.webhook_delivery import deliver_webhook
from aitp_desk.egress import AddressRefused, Egress
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.ids import new_id
from aitp_desk.store.records.jobs import ClaimedJob, NewJob
from aitp_desk.store.units.calls.calls import ExtraStatements
from aitp_desk.store.units.jobs.jobs import enqueue_job

KIND = "callback"
PARAM = "context.callback_url"
DELAYS = (5, 60, 300, 900, 3600, 7200, 14_400, 28_800, 32_400)
"""Seconds after each failure: a day in total."""
SEND_SECONDS = 10
AT_ONCE = 32
"""How many are sent concurrently."""
OF_ONE = 4
"""How many of these may be one caller's, whose receiver may hang."""

NO_MORE = "The caller no longer has a valid key, or the desk publishes no keys."
SWITCHED_OFF = "callbacks.enabled is now false; nothing is sent."
_GONE = 410

Render = Callable[[str, str], Awaitable[bytes | None]]
"""Renders a call for its caller, given its id and its desk's name; None for nothing."""

_log = structlog.get_logger()


class _CallbackPayload(msgspec.Struct, frozen=True):
    """The payload of a job.

    Parameters:
        url: the address to notify.
    """

    url: str


_carried = msgspec.json.Decoder(_CallbackPayload)


def make_callback_job(
    now: float,
    *,
    call_id: str,
    url: str,
    principal_id: str,
    thread_id: str | None = None,
    desk: str = "",
) -> NewJob:
    """Create the job that notifies a caller of the end of a call.

    It is queued in the commit of that end, with ``enqueue_job``; wake the desk's jobs after it.

    Parameters:
        now: Unix seconds.
        url: must have been checked.
        principal_id: the owner of the call.
        thread_id, desk: where it was made; as in :class:`NewJob`.
    """
    return NewJob(
        id=new_id("job", now),
        kind=KIND,
        ref=call_id,
        payload=_CallbackPayload(url),
        created_at=int(now),
        desk=desk,
        thread_id=thread_id,
        principal=principal_id,
    )


def make_callback_writes(clock: Callable[[], float], ended: ActionCall) -> ExtraStatements | None:
    """Return the statements that queue a callback with the end of a call.

    Parameters:
        clock: Unix seconds.
    """
    if ended.callback_url is None:
        return None
    job = make_callback_job(
        clock(),
        call_id=ended.id,
        url=ended.callback_url,
        principal_id=ended.asked_by.id,
        thread_id=ended.thread_id,
        desk=ended.desk,
    )
    return partial(enqueue_job, job)


def make_callback_kind(
    name: str, tell: Callable[[ClaimedJob], Awaitable[None]], settings: CallbackSettings
) -> JobKind:
    """Create a kind of job that notifies callers' servers.

    All such kinds share one retry policy.

    Parameters:
        tell: makes one attempt.
    """

    async def attempt(claim: ClaimedJob) -> None:
        if not settings.enabled:
            raise GiveUp(SWITCHED_OFF)
        await tell(claim)

    return JobKind(
        name=name,
        handler=attempt,
        deadline=3 * SEND_SECONDS,
        delays=DELAYS,
        at_once=AT_ONCE,
        of_one=OF_ONE,
    )


class Callbacks:
    """Accepts callback addresses, and notifies them of the ends of calls."""

    def __init__(
        self, *, egress: Egress, webhooks: WebhookSigner, settings: CallbackSettings
    ) -> None:
        self._egress = egress
        self._webhooks = webhooks
        self._settings = settings

    def check(self, principal: Principal, url: str, param: str = PARAM) -> None:
        """Refuse an address that could not be notified.

        Parameters:
            param: the protocol's name for the parameter that holds the address.

        Raises:
            InvalidRequest: the message says why; it names ``param``.
        """
        if not self._settings.enabled:
            raise InvalidRequest(
                ("This desk sends no callbacks. Poll the call instead."), param=param
            )
        if not self._webhooks.can_sign_for(principal.id):
            raise InvalidRequest(
                "This desk publishes no keys, so it sends callbacks only to callers with"
                " its API keys or client credentials. Poll the call instead.",
                param=param,
            )
        try:
            self._egress.check(url)
        except AddressRefused as error:
            raise InvalidRequest(
                (f"The desk sends no callbacks to this address: {error}"), param=param
            ) from None

    def make_kind(self, render: Render) -> JobKind:
        """Create the kind of job that sends callbacks.

        Parameters:
            render: renders the body.
        """

        async def tell(claim: ClaimedJob) -> None:
            body = await render(claim.ref, claim.desk)
            if body is not None:
                await self._send(claim, body)

        return make_callback_kind(KIND, tell, self._settings)

    async def _send(self, claim: ClaimedJob, body: bytes) -> None:
        """Make one attempt.

        Raises:
            Retry: the receiver did not acknowledge it.
            GiveUp: it never will.
        """
        proof = await self._webhooks.sign(claim.principal or "", claim.ref, body.decode())
        if proof is None:
            raise GiveUp(NO_MORE)
        url = _carried.decode(claim.payload).url
        status = await deliver_webhook(
            self._egress, url, body, proof, seconds=SEND_SECONDS, ends=(_GONE,)
        )
        if status == _GONE:
            _log.info("callback_not_wanted", job=claim.id)
