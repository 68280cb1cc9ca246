"""Posting signed JSON to a server that is somebody else's: one attempt of a job."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from aitp_desk.desk.jobs.kinds import GiveUp, Retry
from aitp_desk.egress import AddressRefused, Egress, EgressError, TooLarge

MAX_RESPONSE = 4096
"""Of a receiver's answer no more is read, in bytes; none of it is kept."""


async def deliver_webhook(
    egress: Egress,
    url: str,
    body: bytes,
    proof: Mapping[str, str],
    *,
    seconds: float,
    ends: Collection[int] = (),
) -> int | None:
    """Post a body, until its receiver has taken note of it.

    Parameters:
        proof: the headers that sign it (``auth/webhooks.py``).
        seconds: how long the attempt may take.
        ends: statuses beside 2xx after which it is not sent again.

    Returns:
        The status of the answer; None where that was too long to be read.

    Raises:
        Retry: it was not taken note of.
        GiveUp: nothing may be sent there.
    """
    headers = {**proof, "Content-Type": "application/json"}
    try:
        answer = await egress.send(
            url, body, max_bytes=MAX_RESPONSE, seconds=seconds, headers=headers
        )
    except TooLarge:  # it said 2xx, and then more than anybody reads
        return None
    except AddressRefused as error:
        raise GiveUp(str(error)) from None
    except EgressError as error:
        raise Retry(str(error)) from None
    if not 200 <= answer.status < 300 and answer.status not in ends:
        raise Retry(f"It was answered with status {answer.status}.")
    return answer.status
