"""The error of values that cannot be decrypted."""

from __future__ import annotations


class Undecipherable(Exception):
    """An encrypted value does not decrypt.

    Parameters:
        why: a sentence for the sender. It does not say which step failed.
    """

    def __init__(
        self,
        why: str = ("The value does not decrypt: it is encrypted for another key, or was changed."),
    ) -> None:
        super().__init__(why)
        self.why = why
