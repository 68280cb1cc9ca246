"""The visitor's requests: bounded, within the visit's time, never sooner than a site asks."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.egress import Egress, EgressError, Fetched
from aitp_desk.visitor.errors import BudgetSpent, SiteFailed

MAX_BYTES = 4 * 2**20
"""The largest response that is read."""
REQUEST_SECONDS = 30.0
"""The longest that one request takes."""
BASE_SECONDS = 0.5
"""The mean of the first pause before a repetition; each further one is twice as long."""
SERVER_PAUSE_SECONDS = 5.0
"""The pause before the only repetition after a 5xx (agents.txt 1.0, section 9.2)."""

Method = Literal["GET", "POST", "PUT", "DELETE"]


class Fetcher:
    """Sends the requests of one visit.

    Parameters:
        egress: applies the rules for addresses.
        seconds: how long all requests of the visit may take together, pauses included.
        headers: sent to the site's own origin with every request: name, credential.
        pause: waits so many seconds; tests replace it.
    """

    def __init__(
        self,
        egress: Egress,
        *,
        seconds: float,
        headers: Mapping[str, str],
        pause: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self._egress = egress
        self._headers = headers
        self._pause = pause
        self._ends = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that the visit still has."""
        return self._ends - time.monotonic()

    async def send(
        self,
        url: str,
        body: Any = None,
        *,
        method: Method = "GET",
        headers: Mapping[str, str] | None = None,
        attempts: int = 3,
    ) -> Fetched:
        """Send one request; one that may be repeated also after 429 and 503.

        Parameters:
            body: encoded as JSON, unless it is bytes or None.
            attempts: how often at most. Only what the site certainly did not do is repeated: 429
                always, a 5xx once and only for GET.

        Returns:
            The response, whatever its status.

        Raises:
            BudgetSpent: the visit's time is over, or the site wants a longer pause than is left.
            SiteFailed: there is no response.
        """
        sent = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        own = {**self._headers, **(headers or {})}
        if sent is not None:
            own.setdefault("Content-Type", "application/json")
        for attempt in range(attempts):
            found = await self._once(url, sent, method, own)
            pause = find_pause(found, attempt, may_repeat_failure=method == "GET")
            if pause is None or attempt == attempts - 1:
                return found
            if pause >= self.left:
                raise BudgetSpent(
                    f"The site asks to wait {pause:.0f} seconds; the visit has "
                    f"{max(self.left, 0):.0f} left."
                )
            await self._pause(pause)
        raise AssertionError("unreachable")

    async def _once(
        self, url: str, sent: bytes | None, method: Method, headers: Mapping[str, str]
    ) -> Fetched:
        """Send a request within what is left of the visit."""
        if self.left <= 0:
            raise BudgetSpent("The visit has used up its time.")
        seconds = min(REQUEST_SECONDS, self.left)
        try:
            if method == "GET":
                return await self._egress.fetch(
                    url,
                    max_bytes=MAX_BYTES,
                    seconds=seconds,
                    headers=headers,
                    wants_reasons=True,
                )
            return await self._egress.send(
                url,
                sent or b"",
                max_bytes=MAX_BYTES,
                seconds=seconds,
                headers=headers,
                method=method,
                wants_reasons=True,
            )
        except EgressError as error:
            raise SiteFailed(str(error)) from None


def find_pause(found: Fetched, attempt: int, *, may_repeat_failure: bool) -> float | None:
    """Return how long to wait before a repetition, in seconds; None if none helps.

    AHP 0.1, section 11.6: never sooner than Retry-After, exponential with jitter. agents.txt 1.0,
    section 9.2: a 5xx is repeated once.
    """
    asked = read_retry_after(found.headers.get("Retry-After"))
    if found.status == 429 or (found.status == 503 and asked is not None):
        jitter = random.uniform(0, BASE_SECONDS * 2 ** (attempt + 1))  # noqa: S311 - no secret
        return (asked or 0.0) + jitter
    if found.status >= 500 and may_repeat_failure and attempt == 0:
        return SERVER_PAUSE_SECONDS
    return None


def read_retry_after(value: str | None) -> float | None:
    """Read a Retry-After header, in seconds or as a date; None if there is none that is valid."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit() and len(value) < 10:
        return float(value)
    from email.utils import parsedate_to_datetime  # only for the rare form

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
