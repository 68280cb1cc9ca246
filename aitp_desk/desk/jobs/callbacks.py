"""Callbacks: telling a caller's own server how a call has ended, until it has taken note.

The address is checked when it is given and when it is asked (``egress``). What is sent is what the
caller would be told who asks, signed (``auth/webhooks.py``), under an id that is the same in every
attempt: what arrives twice can be told to be the same.

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
"""Seconds after each failure: together a day."""
SEND_SECONDS = 10
AT_ONCE = 32
"""How many are sent at a time."""
OF_ONE = 4
"""How many of these are one caller's, whose receiver may hang."""

NO_MORE = "Whoever asked for it has no valid key any more, or the desk publishes none."
SWITCHED_OFF = "callbacks.enabled is false by now; nothing is sent."
_GONE = 410

Render = Callable[[str, str], Awaitable[bytes | None]]
"""Writes what a caller is told of a call, given its id and its desk's name; None for nothing."""

_log = structlog.get_logger()


class _CallbackPayload(msgspec.Struct, frozen=True):
    """What a job carries.

    Parameters:
        url: where to.
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
    """Make the job of telling how a call has ended.

    It is queued in the commit of that end, with ``enqueue_job``; wake the desk's jobs after it.

    Parameters:
        now: Unix seconds.
        url: was checked.
        principal_id: whose call it is.
        thread_id, desk: where it was made; as of :class:`NewJob`.
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
    """Make what is written with the end of a call so that its caller is told.

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
    """Make a kind of jobs that tells callers' servers something; all are tried as often.

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
    """Takes addresses from callers and tells these how calls have ended.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        egress: Egress,
        webhooks: WebhookSigner,
        settings: CallbackSettings,
        clock: Callable[[], float],
    ) -> None:
        self._egress = egress
        self._webhooks = webhooks
        self._settings = settings
        self._clock = clock

    def check(self, principal: Principal, url: str, param: str = PARAM) -> None:
        """Refuse an address that could not be told.

        Parameters:
            param: how the door calls what holds the address.

        Raises:
            InvalidRequest: the message says why; it names ``param``.
        """
        if not self._settings.enabled:
            raise InvalidRequest("This desk calls nobody back; poll instead.", param=param)
        if not self._webhooks.can_sign_for(principal.id):
            raise InvalidRequest(
                "This desk publishes no keys, and so calls back only who has a key or is a client"
                " of its own; poll instead.",
                param=param,
            )
        try:
            self._egress.check(url)
        except AddressRefused as error:
            raise InvalidRequest(f"This address is not called back: {error}", param=param) from None

    def make_kind(self, render: Render) -> JobKind:
        """Make the kind of jobs that does it.

        Parameters:
            render: writes what is sent.
        """

        async def tell(claim: ClaimedJob) -> None:
            body = await render(claim.ref, claim.desk)
            if body is not None:
                await self._send(claim, body)

        return make_callback_kind(KIND, tell, self._settings)

    async def _send(self, claim: ClaimedJob, body: bytes) -> None:
        """One attempt.

        Raises:
            Retry: it was not taken note of.
            GiveUp: it never will be.
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
