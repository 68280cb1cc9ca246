"""Makes the client of an SDK at its first use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from aitp_desk.agent.generative.providers.base import ModelFailed


class SdkClient(Protocol):
    """A client of an SDK."""

    async def close(self) -> None:
        """Close the connections."""


Client = TypeVar("Client", bound=SdkClient)


class SdkConnection(Generic[Client]):
    """An SDK that is imported, and its client made, at the first call.

    The import takes a second, so it happens in a thread.

    Parameters:
        sdk: the name of its module. With its own variable for logs it would log all messages.
        load: imports it, with all that it imports at the first call.
        make: returns its client.
    """

    def __init__(self, sdk: str, load: Callable[[], None], make: Callable[[], Client]) -> None:
        self._sdk = sdk
        self._load = load
        self._make = make
        self._client: Client | None = None
        self._lock = asyncio.Lock()

    async def open(self) -> Client:
        """Return the client.

        Raises:
            ModelFailed: the SDK is not installed, or the address is invalid.
        """
        async with self._lock:
            if self._client is None:
                try:
                    await asyncio.to_thread(self._load)
                except ImportError as error:
                    raise ModelFailed("extra_not_installed") from error
                for name in (self._sdk, "httpx2"):
                    logging.getLogger(name).setLevel(logging.WARNING)
                import httpx2

                try:
                    self._client = self._make()
                except httpx2.InvalidURL as error:
                    raise ModelFailed("bad_address") from error
            return self._client

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
