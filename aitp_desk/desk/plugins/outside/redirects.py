"""Redirects visitors who follow a plugin's link, after its effects are stored."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.capability import (
    Accept,
    Onward,
    Record,
    Redirect,
    Refuse,
    Retry,
    Send,
    Unavailable,
    Visit,
)
from aitp_desk.desk.plugins.judge import RETRY_SECONDS
from aitp_desk.desk.plugins.outside.webhooks import PluginWebhooks
from aitp_desk.desk.plugins.read_set import make_place
from aitp_desk.desk.plugins.registry import EnabledPlugin
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Store
from aitp_desk.store.reads import capabilities as capability_reads
from aitp_desk.store.records.capabilities import RecordsMoved

ATTEMPTS = 10
"""How often a redirect is decided; after these a person would have to click again."""
RETRY_OUTSIDE_SECONDS = 5
"""Retry delay after another server has not answered."""


class PluginRedirects:
    """Lets plugins resolve their links, and stores the effects.

    Parameters:
        webhooks: stores the effects.
        send: sends HTTP requests for plugins.
    """

    def __init__(
        self, webhooks: PluginWebhooks, *, store: Store, send: Send, clock: Callable[[], float]
    ) -> None:
        self.capabilities = webhooks.capabilities
        self._webhooks = webhooks
        self._store = store
        self._send = send
        self._clock = clock

    async def resolve_redirect(self, enabled: EnabledPlugin, redirect: Redirect, ref: str) -> str:
        """Return the address that a link leads to, once its effects are stored.

        Parameters:
            ref: the last path segment of the link, as received.

        Raises:
            DeskError: the plugin refuses it.
            PreconditionFailed: the records changed concurrently at each attempt.
            Unavailable: another server has not answered.
            StoreBusy: nothing was written.
        """

        async def read(key: str) -> Record | None:
            place = make_place(enabled.slug, enabled.capability.family, key)
            return await capability_reads.read_record(self._store, *place)

        for _ in range(ATTEMPTS):
            visit = Visit(ref=ref, now=int(self._clock()), read=read, send=self._send)
            try:
                onward = await redirect(visit)
                if isinstance(onward, Refuse):
                    raise onward.error
                _check(onward)
                await self._webhooks.accept(enabled, Accept(onward.effects, onward.thread_id))
            except RecordsMoved:
                continue
            except Retry as failure:
                raise Unavailable(
                    f"This cannot be opened now: {failure.reason}",
                    retry_after=RETRY_OUTSIDE_SECONDS,
                ) from None
            return onward.url
        raise PreconditionFailed(
            "Its state has just changed. Open the link again.",
            retry_after=RETRY_SECONDS,
        )


def _check(onward: Onward) -> None:
    """Check that a browser can be redirected to an address.

    Raises:
        ValueError: it cannot: a fault of the plugin.
    """
    url = onward.url
    if not url.startswith(("https://", "http://")) or not url.isascii() or not url.isprintable():
        raise ValueError("A redirect must lead to an http or https address.")
