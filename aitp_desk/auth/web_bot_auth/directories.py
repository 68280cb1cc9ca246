"""The key directories of signing agents: fetched at an agent's first request, and cached.

Here strangers decide what is fetched, by the domain that they name. So each fetch is bounded: it
uses the guarded client, follows no redirect, and has small limits of size and time. A directory is
fetched at most once a minute, and few new ones are, per address and in total. If a directory does
not respond, its last keys stay valid for a day.

Source: ``draft-ietf-webbotauth-httpsig-protocol-00``, sections "Key Distribution and Discovery",
"Server-Side Request Forgery" and "Discovery Failure".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from aitp_desk.auth.credentials.rate import MinuteRate
from aitp_desk.auth.jwt.jwk import make_thumbprint, read_key
from aitp_desk.auth.jwt.key_sets import (
    OLD_SECONDS,
    REFETCH_SECONDS,
    KeySetError,
    read_freshness,
    read_object,
)
from aitp_desk.auth.web_bot_auth.message_signature import (
    PublicKey,
    Request,
    Response,
    check_possession,
)
from aitp_desk.egress import AddressRefused, Egress, EgressError, Fetched
from aitp_desk.model.errors import NotAuthenticated, Unavailable

DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
MEDIA_TYPE = "application/http-message-signatures-directory+json"
MAX_BYTES = 64 * 1024
MAX_KEYS = 32
FETCH_SECONDS = 5.0
MAX_DIRECTORIES = 1000
"""Maximum number of cached directories of unlisted agents."""
MAX_FETCHES = 60
"""Fetches per minute of directories of unlisted agents."""
MAX_FETCHES_PER_ADDRESS = 6

TEST_KEYS = frozenset(
    {
        "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",  # B.1.4, Ed25519
        "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",  # B.1.2, RSA
        "ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI",  # B.1.3, P-256
    }
)
"""Thumbprints of the keys whose private halves are in RFC 9421."""

_log = structlog.get_logger()


class PublishedKey(msgspec.Struct, frozen=True):
    """A key of a directory.

    Parameters:
        not_before: Unix seconds, as is ``until``; None for no end.
    """

    public: PublicKey
    not_before: float
    until: float | None

    def is_valid(self, now: float) -> bool:
        """Return whether it is valid now."""
        return self.not_before <= now and (self.until is None or now < self.until)


class _Directory(msgspec.Struct, eq=False):
    """The state of a directory.

    Parameters:
        asked_at: monotonic seconds, as are the others; None before the first fetch.
    """

    keys: Mapping[str, PublishedKey] = {}
    fresh_until: float = 0.0
    asked_at: float | None = None
    fetch_task: asyncio.Task[None] | None = None


class KeyDirectories:
    """Finds the keys of agents.

    Parameters:
        listed: origins of the owner's agents, whose directories have no limit of fetches.
        clock: Unix seconds.
        ticks: monotonic seconds.
    """

    def __init__(
        self,
        egress: Egress,
        listed: Collection[str],
        clock: Callable[[], float],
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._egress = egress
        self._listed = {origin: _Directory() for origin in listed}
        self._others: dict[str, _Directory] = {}
        self._clock = clock
        self._ticks = ticks
        self._fetches = MinuteRate(each=MAX_FETCHES_PER_ADDRESS, together=MAX_FETCHES, ticks=ticks)

    async def find(self, origin: str, key_id: str, address: str) -> PublicKey:
        """Return the key that a signature names, fetching its agent's directory if needed.

        Parameters:
            origin: where the agent publishes its keys.
            key_id: thumbprint of the key.
            address: the client's address.

        Raises:
            NotAuthenticated: the agent has no such key, as far as is known.
            Unavailable: too many directories are being fetched.
        """
        directory = self._listed.get(origin) or self._others.get(origin)
        now = self._ticks()
        if directory is None or now >= directory.fresh_until or key_id not in directory.keys:
            directory = await self._ask(origin, directory, address)
        if self._ticks() >= directory.fresh_until + OLD_SECONDS:
            directory.keys = {}
        key = directory.keys.get(key_id)
        if key is None or not key.is_valid(self._clock()):
            raise NotAuthenticated(
                f"The key directory of {origin} could not be read, or it lacks the key of"
                " this signature. The desk fetches it again after a minute at the earliest."
            )
        return key.public

    def still_has(self, origin: str, key_id: str) -> bool:
        """Return whether the directory had the key when it was last read."""
        directory = self._listed.get(origin) or self._others.get(origin)
        key = None if directory is None else directory.keys.get(key_id)
        return key is not None and key.is_valid(self._clock())

    async def _ask(self, origin: str, known: _Directory | None, address: str) -> _Directory:
        """Fetch a directory unless it was just fetched; waiting requests share one fetch."""
        directory = known or _Directory()
        if directory.fetch_task is None:
            now = self._ticks()
            if directory.asked_at is not None and now < directory.asked_at + REFETCH_SECONDS:
                return directory
            if origin not in self._listed and not self._fetches.take(address):
                if directory.keys:
                    return directory
                raise Unavailable(
                    "Too many key directories of new agents are being fetched. Try again"
                    " later, or send the request without a signature.",
                    retry_after=self._fetches.seconds_left(address),
                )
            directory.asked_at = now
            self._keep(origin, directory)
            directory.fetch_task = asyncio.create_task(self._fetch(origin, directory))
        await asyncio.shield(directory.fetch_task)
        return directory

    def _keep(self, origin: str, directory: _Directory) -> None:
        if origin in self._listed:
            return
        self._others.pop(origin, None)
        if len(self._others) >= MAX_DIRECTORIES:
            del self._others[next(iter(self._others))]  # the one whose last fetch is oldest
        self._others[origin] = directory

    async def _fetch(self, origin: str, directory: _Directory) -> None:
        try:
            answer = await self._egress.fetch(
                f"{origin}{DIRECTORY_PATH}",
                max_bytes=MAX_BYTES,
                seconds=FETCH_SECONDS,
                headers={"Accept": MEDIA_TYPE},
                approve=_refuse_redirect,
            )
            directory.keys = read_directory(answer, self._clock())
            directory.fresh_until = self._ticks() + read_freshness(answer)
        except (EgressError, KeySetError, ValueError) as error:
            _log.info("key_directory_not_read", origin=origin, why=str(error))
        finally:
            directory.fetch_task = None


def read_directory(answer: Fetched, now: float) -> Mapping[str, PublishedKey]:
    """Read a directory's usable keys by thumbprint; others are left out.

    Parameters:
        now: Unix seconds.

    Raises:
        KeySetError, ValueError: it is not a directory, or its own signature is invalid.
    """
    if answer.status != 200:
        raise KeySetError(f"it answers with the status {answer.status}")
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != MEDIA_TYPE:
        raise KeySetError(f"it is not sent as {MEDIA_TYPE}")
    listed = read_object(answer.body).get("keys")
    if not isinstance(listed, list) or len(listed) > MAX_KEYS:
        raise KeySetError(f"it must have a list of at most {MAX_KEYS} keys")
    keys = dict(found for found in map(_read_entry, listed) if found is not None)
    if "Content-Encoding" not in answer.headers:  # the signature covers the bytes as sent
        request = Request("GET", answer.url, {})
        response = Response(answer.status, answer.headers, request)
        check_possession(response, answer.body, {id_: key.public for id_, key in keys.items()}, now)
    return keys


def _read_entry(jwk: Any) -> tuple[str, PublishedKey] | None:
    """Return a key with its thumbprint; None if it is unusable or misnamed.

    ``alg`` is RFC 9421's here and not JWT's. A key's type determines its algorithm.
    """
    if not isinstance(jwk, dict):
        return None
    key = read_key({name: value for name, value in jwk.items() if name != "alg"})
    if key is None or not isinstance(
        key.material, Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey
    ):
        return None
    id_ = make_thumbprint(jwk)
    if jwk.get("kid", id_) != id_ or id_ in TEST_KEYS:
        return None
    not_before, until = jwk.get("nbf", 0), jwk.get("exp")
    if not _is_time(not_before) or not (until is None or _is_time(until)):
        return None
    return id_, PublishedKey(key.material, not_before, until)


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


async def _refuse_redirect(_address: str) -> None:
    raise AddressRefused("It redirects, which is not permitted for a key directory.")
