"""Reports the progress of building vectors."""

from __future__ import annotations

import asyncio


class Progress:
    """The progress of the vectors of a site's content.

    Parameters:
        model: that makes them.

    Attributes:
        done, total: how many passages and questions have a vector, and how many will.
        settled: set while nothing is being built: all exist, or the model has failed.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self.done = self.total = 0
        self.settled = asyncio.Event()
