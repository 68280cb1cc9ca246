"""The properties of a request that its HAC representation depends on."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.model.access.principal import Principal


class HacRequest(msgspec.Struct, frozen=True):
    """A request and its caller.

    Parameters:
        desk: the one whose address it is.
        principal: the caller, as far as proven.
        path: percent-encoded, without the query.
        params: the values of the route's template, decoded.
        headers: several lines of one list joined into one.
        allowance: what is left of the caller's limits; None where nothing was counted.
    """

    desk: Desk
    principal: Principal
    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    allowance: Allowance | None = None
