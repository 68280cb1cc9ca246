"""Caches rendered pages, once per revision of the content."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from aitp_desk.web.pages.wire import Page

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Upper bound of all cached pages together."""


class PageCache:
    """Holds rendered pages by revision, path and form; evicts the least recently used."""

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._pages: OrderedDict[tuple[str, str, str], Page] = OrderedDict()

    async def get_or_render(
        self, revision: str, path: str, form: str, render: Callable[[], Page]
    ) -> Page:
        """Return the page; render it in a thread if it is not cached.

        A thread, because a long page takes a second.

        Parameters:
            form: its media type.
        """
        key = (revision, path, form)
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
            return page
        page = await asyncio.to_thread(render)
        if key not in self._pages:
            self._pages[key] = page
            self._size += len(page.body)
        while self._size > self._max_bytes:
            _, dropped = self._pages.popitem(last=False)
            self._size -= len(dropped.body)
        return page
