"""Posts signed JSON to another party's server: one attempt of a job."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from aitp_desk.desk.jobs.kinds import GiveUp, Retry
from aitp_desk.egress import AddressRefused, Egress, EgressError, TooLarge

MAX_RESPONSE = 4096
"""How much of a receiver's response is read, in bytes; none of it is kept."""


async def deliver_webhook(
    egress: Egress,
    url: str,
    body: bytes,
    proof: Mapping[str, str],
    *,
    seconds: float,
    ends: Collection[int] = (),
) -> int | None:
    """Post a body and check that its receiver acknowledged it.

    Parameters:
        proof: the headers that sign it (``auth/keys/webhook_signatures.py``).
        seconds: timeout of the attempt.
        ends: statuses in addition to 2xx after which it is not sent again.

    Returns:
        The status of the response; None if it was too long to be read.

    Raises:
        Retry: the receiver did not acknowledge it.
        GiveUp: the address is refused.
    """
    headers = {**proof, "Content-Type": "application/json"}
    try:
        answer = await egress.send(
            url, body, max_bytes=MAX_RESPONSE, seconds=seconds, headers=headers
        )
    except TooLarge:  # status 2xx, with a body over the limit
        return None
    except AddressRefused as error:
        raise GiveUp(str(error)) from None
    except EgressError as error:
        raise Retry(str(error)) from None
    if not 200 <= answer.status < 300 and answer.status not in ends:
        raise Retry(f"The receiver responded with status {answer.status}.")
    return answer.status
