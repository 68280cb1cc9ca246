"""How a job says that it has failed."""

from __future__ import annotations


class Retry(Exception):
    """A job has failed; another attempt may succeed.

    Parameters:
        reason: a sentence for the site's operators, without what callers said.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
