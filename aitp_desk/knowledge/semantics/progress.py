"""How far the vectors of the content are."""

from __future__ import annotations

import asyncio


class Progress:
    """What is done of the vectors of a site's content.

    Parameters:
        model: that makes them.

    Attributes:
        done, total: how many passages and questions have a vector, and are to have one.
        settled: set while nothing is being built: all is there, or the model has failed.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self.done = self.total = 0
        self.settled = asyncio.Event()
