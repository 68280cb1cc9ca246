"""The exception by which a job reports a failure that may pass."""

from __future__ import annotations


class Retry(Exception):
    """A job failed; another attempt may succeed.

    Parameters:
        reason: a sentence for the operators, without text of callers.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
