"""Reading resources that are paid for before they are read: their own query is called instead.

So what holds for calls that are paid holds for them: one quote is paid once, what was paid for is
told again to whoever repeats that payment, and the money goes back where there is nothing to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.direct.calls import DirectCall, DirectCalls
from aitp_desk.desk.direct.resources import Resources, ResourceView
from aitp_desk.desk.limits.rate_limits import Allowance, RateLimiter
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import CallState
from aitp_desk.model.errors import DeskError


class PaidResources:
    """Reads resources, and those that are paid for once they are paid.

    Parameters:
        resources, calling: of the same desk.
        limiter: counts what writes a call, and what asks for its payment, as calls are counted.
    """

    def __init__(self, resources: Resources, calling: DirectCalls, limiter: RateLimiter) -> None:
        self._limiter = limiter
        self._resources = resources
        self._calling = calling

    async def read(
        self,
        principal: Principal,
        path: str,
        payment: Mapping[str, Any] | None = None,
        allowance: Allowance | None = None,
    ) -> ResourceView | CallStatus:
        """Read a resource.

        Parameters:
            path: as a request has it: percent-encoded, without a query.
            payment: a message that pays for it; None for none.
            allowance: what the caller has left.

        Returns:
            The resource; how the call stands that reads it, where it was not read.

        Raises:
            PaymentRequired: it is paid for first, and that has not been done.
            RateLimited: too much was asked for that is paid.
            whatever :meth:`.Resources.read` and :meth:`.DirectCalls.call` raise.
        """
        reading = self._resources.find_paid_query(path)
        if reading is None:
            return await self._resources.read(principal, path)
        name, arguments = reading
        counted = self._limiter.count(principal, "converse")
        if counted is not None and allowance is not None:
            allowance.tighten(counted)
            allowance.check()
        asked = DirectCall(name, arguments, payment=payment)
        request = RequestInfo("GET", path, b"")
        status = await self._calling.call(principal, asked, request, allowance)
        if status.call.state is not CallState.SUCCEEDED:
            return status
        try:
            view = await self._resources.read(principal, path, is_paid=True)
        except DeskError:  # what was paid for is told, whatever has become of it since
            view = self._resources.describe_address(path)
        return msgspec.structs.replace(
            view, data=status.call.result, receipt=status.call.receipt, is_paid=True
        )
