"""Receives the callbacks of partners: the end of a long call, by any protocol (AHP 0.1, 9.1).

Each address belongs to one call, and only this desk can have made it. What is posted there is not
believed and not read: it has the partner asked now how the call went, over the way that the call
took. So a callback that is repeated, forged or overheard tells nothing and changes nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.call_kinds import FOLLOW_KIND
from aitp_desk.model.errors import DeskError, RouteNotFound
from aitp_desk.protocols.base.protocol import ANY_TYPE, Call, ProtocolRoutes, Reply, Route
from aitp_desk.store.base import Store
from aitp_desk.store.units.jobs.jobs import hasten_job

CALLBACKS_PATH = "/peers/callbacks/"
MAX_BODY = 256 * 1024
PURPOSE = "callbacks of partners"
"""What the key of the addresses is derived for."""
PROOF_LENGTH = 43


class CallbackAddresses:
    """Makes the addresses at which partners may call back, one for each call.

    Parameters:
        site_url: the site's address, without a trailing slash.
        key: of the proofs in the addresses.
    """

    def __init__(self, site_url: str, key: bytes) -> None:
        self._site_url = site_url
        self._key = key

    def make(self, call_id: str) -> str:
        """Return the address of a call."""
        return f"{self._site_url}{CALLBACKS_PATH}{call_id}/{self._prove(call_id)}"

    def is_genuine(self, call_id: str, proof: str) -> bool:
        """Return whether this desk has made the address of a call."""
        return hmac.compare_digest(self._prove(call_id).encode(), proof.encode())

    def _prove(self, call_id: str) -> str:
        return hmac.new(self._key, call_id.encode(), hashlib.sha256).hexdigest()[:PROOF_LENGTH]


def make_callback_routes(
    addresses: CallbackAddresses,
    render_error: Callable[[DeskError, Mapping[str, str]], Reply],
    *,
    store: Store,
    wake: Callable[[], None],
    clock: Callable[[], float],
) -> tuple[ProtocolRoutes, ...]:
    """Return the route of partners' callbacks.

    Parameters:
        wake: wakes the desk's jobs.
        clock: Unix seconds.
    """

    async def post_callback(_desk: Desk, call: Call) -> Reply:
        """``POST /peers/callbacks/{call_id}/{proof}``.

        Raises:
            RouteNotFound: the address is not this desk's.
        """
        call_id = call.params["call_id"]
        if not addresses.is_genuine(call_id, call.params["proof"]):
            raise RouteNotFound("No call is followed here.")
        await store.run(hasten_job, kind=FOLLOW_KIND, ref=call_id, now=int(clock()))
        wake()
        return Reply(204, b"")

    route = Route(
        "POST",
        f"{CALLBACKS_PATH}{{call_id}}/{{proof}}",
        post_callback,
        "static",
        MAX_BODY,
        media_type=ANY_TYPE,
        identifies=False,
    )
    return (ProtocolRoutes("peers", (route,), (CALLBACKS_PATH,), render_error),)
