"""The visitor's requests: bounded, within the visit's time, never sooner than a site asks."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from multidict import CIMultiDict
from yarl import URL

from aitp_desk.egress import Egress, EgressError, Fetched
from aitp_desk.model.text import write_count
from aitp_desk.visitor.cache import ResponseCache, make_key
from aitp_desk.visitor.errors import BudgetSpent, PolicyRefused, SiteFailed
from aitp_desk.visitor.identity import Identity

MAX_BYTES = 4 * 2**20
"""The largest response that is read."""
VISIT_BYTES = 64 * 2**20
"""The most that all responses of a visit may have together, but for those read at once."""
AT_ONCE = 4
"""How many responses of a visit are read at once."""
REQUEST_SECONDS = 30.0
"""The longest that one request takes."""
BASE_SECONDS = 0.5
"""The mean of the first pause before a repetition; each further one is twice as long."""
SERVER_PAUSE_SECONDS = 5.0
"""The pause before the only repetition after a 5xx (agents.txt 1.0, section 9.2)."""
LAST_SECONDS = 3.0
"""The part of a visit in which no answer is waited for any more."""
LONGEST_SECONDS = 1e9
"""What a longer pause counts as that a site asks for."""
FOREIGN_HEADERS = frozenset({"user-agent", "accept", "content-type"})
"""The only headers that another origin than the site's own is sent."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class Fetcher:
    """Sends the requests of one visit.

    Parameters:
        egress: applies the rules for addresses.
        seconds: how long all requests of the visit may take together, pauses included.
        headers: sent with every request, such as the User-Agent.
        origins: where requests may be sent, the site's own first.
        credential: sent to the site's own origin only.
        identity: who visits.
        cache: of what :meth:`read` reads; by default one for this visit.
        pause: waits so many seconds; tests replace it.
    """

    def __init__(
        self,
        egress: Egress,
        *,
        seconds: float,
        headers: Mapping[str, str],
        origins: Sequence[str],
        credential: str | None = None,
        identity: Identity | None = None,
        cache: ResponseCache | None = None,
        pause: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self.identity = identity or Identity()
        self._egress = egress
        self._headers = headers
        self._origins = tuple(origins)
        self._credential = credential
        self._cache = cache or ResponseCache()
        self._pause = pause
        self._room = VISIT_BYTES
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._seconds = seconds
        self._ends = time.monotonic() + seconds

    def restart(self) -> None:
        """Start the visit's time and bytes again: its person has gone on."""
        self._ends = time.monotonic() + self._seconds
        self._room = VISIT_BYTES

    @property
    def left(self) -> float:
        """Seconds that the visit still has."""
        return self._ends - time.monotonic()

    @property
    def patience(self) -> float:
        """Seconds for which an answer is waited for; the visit goes on a little."""
        return self.left - min(LAST_SECONDS, self._seconds / 2)

    @property
    def has_credential(self) -> bool:
        """Whether the site's own origin is sent a credential."""
        return self._credential is not None

    @property
    def origin(self) -> str:
        """The site's own origin."""
        return self._origins[0]

    def adopt(self, url: str) -> None:
        """Take the sibling that the home page has led to as the own origin."""
        origin = str(URL(url).origin())
        if self._is_sibling(origin):
            self._origins = (origin, *self._origins)

    def resolve(self, base: str, href: str) -> str:
        """Return an address that a site names, absolute, if requests may be sent there.

        Raises:
            PolicyRefused: it has another origin (HAC 1.0, section 9.2).
            SiteFailed: it is no address.
        """
        try:
            url = URL(base).join(URL(href))
            origin = str(url.origin())
        except ValueError:
            raise SiteFailed(f"{self.origin} names an address that is invalid.") from None
        if origin not in self._origins:
            raise PolicyRefused(f"{self.origin} names {origin}, which the visit may not use.")
        return str(url)

    def resolve_poll(self, base: str, href: str) -> str:
        """Return where an accepted call is polled; empty if no request may go there.

        Nothing is refused here: the call has been made, whatever the site names.
        """
        try:
            return self.resolve(base, href) if href else ""
        except (PolicyRefused, SiteFailed):
            return ""

    async def wait(self, seconds: float) -> None:
        """Wait, within what is left of the visit.

        Raises:
            BudgetSpent: the visit ends sooner.
        """
        if seconds >= self.left:
            raise BudgetSpent(
                f"The site asks to wait {write_count(round(seconds), 'second')}; the visit has "
                f"{max(self.left, 0):.0f} left.",
                retry_after=seconds,
            )
        await self._pause(seconds)

    async def read(
        self,
        url: str,
        *,
        accept: str = "*/*",
        default_seconds: float = 0.0,
        must_ask: bool = False,
        attempts: int = 1,
    ) -> Fetched:
        """Get a document, from the cache while HTTP allows that.

        Parameters:
            default_seconds: how long it is fresh if its headers do not say.
            must_ask: whether to ask the site even if a fresh copy is kept.
            attempts: as for :meth:`send`.

        Raises:
            BudgetSpent, PolicyRefused, SiteFailed: as :meth:`send` does.
        """
        signer = self.identity.signer
        shown = self._credential or (None if signer is None else f"signed by {signer.agent}")
        key = make_key(url, accept, shown)
        kept = self._cache.find(key)
        if kept is not None and not self._may_speak(str(URL(kept.url).origin())):
            kept = None  # a visit that may use another origin has kept it
        if kept is not None and not must_ask and self._cache.is_fresh(kept):
            return kept.fetched
        asked = {} if kept is None else kept.validators
        found = await self.send(url, headers={"Accept": accept, **asked}, attempts=attempts)
        if found.status == 304 and kept is not None:
            found = msgspec.structs.replace(
                kept.fetched, headers=_renew(kept.fetched.headers, found.headers)
            )
        self._cache.keep(key, found, default_seconds=default_seconds)
        return found

    async def send(
        self,
        url: str,
        body: Any = None,
        *,
        method: Method = "GET",
        headers: Mapping[str, str] | None = None,
        attempts: int = 3,
        is_final: Callable[[Fetched], bool] | None = None,
    ) -> Fetched:
        """Send one request; again after 429, and if it only reads also after 503.

        Parameters:
            body: encoded as JSON, unless it is bytes or None.
            attempts: how often at most. Only what the site certainly did not do is repeated: 429
                always, a 5xx once and only for GET.
            is_final: returns whether repeating a response's request is useless.

        Returns:
            The response, whatever its status.

        Raises:
            BudgetSpent: the visit's time is over, or the site wants a longer pause than is left.
            PolicyRefused: the address, or one that it redirects to, has another origin.
            SiteFailed: there is no response.
        """
        self.resolve(url, url)
        sent = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        own = self._choose_headers(url, headers or {})
        if sent is not None:
            own.setdefault("Content-Type", "application/json")
        for attempt in range(attempts):
            found = await self._once(url, sent, method, own)
            pause = find_pause(found, attempt, may_repeat_failure=method == "GET")
            if pause is None or attempt == attempts - 1 or (is_final and is_final(found)):
                return found
            await self.wait(pause)
        raise AssertionError("unreachable")

    def _choose_headers(self, url: str, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers for an address; the credential is for the site's own origin."""
        own = {**self._headers, **headers}
        if not self._is_own(url):
            return {name: value for name, value in own.items() if name.lower() in FOREIGN_HEADERS}
        if self._credential is not None:
            own.setdefault("Authorization", f"Bearer {self._credential}")
        return own

    def _is_own(self, url: str) -> bool:
        return str(URL(url).origin()) == self.origin

    async def _approve(self, url: str) -> None:
        """Refuse a redirect to another origin, which would speak for this site."""
        origin = str(URL(url).origin())
        if not self._may_speak(origin):
            raise PolicyRefused(
                f"{self.origin} redirects to {origin}. Visit that address, or allow its origin."
            )

    def _may_speak(self, origin: str) -> bool:
        """Whether a response of an origin counts as the site's own."""
        return origin in self._origins or self._is_sibling(origin)

    def _is_sibling(self, origin: str) -> bool:
        """Whether an origin differs from the site's own by a leading ``www.`` alone.

        Both may belong to different people, so a credential is never given to the other one.
        """
        if self.has_credential:
            return False
        return {origin, self.origin} == {
            origin.replace("://www.", "://", 1),
            self.origin.replace("://www.", "://", 1).replace("://", "://www.", 1),
        }

    async def _once(
        self, url: str, sent: bytes | None, method: Method, headers: Mapping[str, str]
    ) -> Fetched:
        """Send a request within what is left of the visit."""
        async with self._slots:
            found = await self._request(url, sent, method, headers)
            self._room -= len(found.body)
            return found

    async def _request(
        self, url: str, sent: bytes | None, method: Method, headers: Mapping[str, str]
    ) -> Fetched:
        if self.left <= 0:
            raise BudgetSpent("The visit has used up its time.")
        if self._room <= 0:
            raise BudgetSpent(f"The visit has read {VISIT_BYTES} bytes, as many as it may.")
        seconds = min(REQUEST_SECONDS, self.left)
        signer = self.identity.signer
        if signer is not None and not self.has_credential and self._is_own(url):
            headers = {**headers, **signer.sign(method, url, sent or b"")}
        try:
            if method == "GET":
                return await self._egress.fetch(
                    url,
                    max_bytes=MAX_BYTES,
                    seconds=seconds,
                    headers=headers,
                    approve=self._approve,
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


def _renew(kept: Mapping[str, str], found: Mapping[str, str]) -> CIMultiDict[str]:
    """Return the headers of a kept response, with those of its confirmation."""
    renewed = CIMultiDict(kept)
    for name in ("Cache-Control", "Expires", "Age", "ETag"):
        if name in found:
            renewed[name] = found[name]
    return renewed


def find_pause(found: Fetched, attempt: int, *, may_repeat_failure: bool) -> float | None:
    """Return how long to wait before a repetition, in seconds; None if none helps.

    AHP 0.1, section 11.6: never sooner than Retry-After, exponential with jitter. agents.txt 1.0,
    section 9.2: a 5xx is repeated once.
    """
    asked = read_retry_after(found.headers.get("Retry-After"))
    is_busy = found.status == 503 and asked is not None and may_repeat_failure
    if found.status == 429 or is_busy:
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
    if value.isascii() and value.isdigit():
        return float(value) if len(value) < 10 else LONGEST_SECONDS
    from email.utils import parsedate_to_datetime  # only for the rare form

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
