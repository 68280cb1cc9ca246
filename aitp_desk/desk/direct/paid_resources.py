"""Reads prepaid resources: a call of their query takes the place of reading them.

So the rules for paid calls hold for them: a quote is paid once, a repeat of the payment returns the
result again, and a failure is refunded.
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
    """Reads resources, and prepaid ones once they are paid.

    Parameters:
        resources, direct_calls: of the same desk.
        limiter: counts requests that write a call or ask for a payment, as calls are counted.
    """

    def __init__(
        self, resources: Resources, direct_calls: DirectCalls, limiter: RateLimiter
    ) -> None:
        self._limiter = limiter
        self._resources = resources
        self._direct_calls = direct_calls

    async def read(
        self,
        principal: Principal,
        path: str,
        payment: Mapping[str, Any] | None = None,
        allowance: Allowance | None = None,
    ) -> ResourceView | CallStatus:
        """Read a resource.

        Parameters:
            path: as in a request: percent-encoded, without a query.
            payment: a payment message; None for none.
            allowance: the caller's remaining rate limit.

        Returns:
            The resource; or, if it was not read, the status of the call that reads it.

        Raises:
            PaymentRequired: it must be paid first, and is not.
            RateLimited: too many paid reads were requested.
            as :meth:`.Resources.read` and :meth:`.DirectCalls.call`.
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
        status = await self._direct_calls.call(principal, asked, request, allowance)
        if status.call.state is not CallState.SUCCEEDED:
            return status
        try:
            view = await self._resources.read(principal, path, is_paid=True)
        except DeskError:  # the paid result is returned, whatever its current state
            view = self._resources.describe_address(path)
        return msgspec.structs.replace(
            view, data=status.call.result, receipt=status.call.receipt, is_paid=True
        )
