"""A request, as far as the second face of its answer depends on it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.model.access.principal import Principal


class HacRequest(msgspec.Struct, frozen=True):
    """What was asked, and by whom.

    Parameters:
        desk: whose address it is.
        principal: who asks, as far as that is proven.
        path: percent-encoded, without the query.
        params: what the route's template found in the path, decoded.
        headers: several lines of one list as one line.
        allowance: what the agents that it names may do; None where nothing was counted.
    """

    desk: Desk
    principal: Principal
    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    allowance: Allowance | None = None
