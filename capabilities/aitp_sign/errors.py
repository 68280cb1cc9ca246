"""The error of a signature that is not valid."""

from __future__ import annotations

from typing import Literal

Reason = Literal[
    "unknown_request",
    "not_open",
    "not_yours",
    "wrong_scheme",
    "malformed",
    "bad_signature",
    "wrong_key",
    "wrong_account",
    "replayed",
    "declined",
    "unsupported",
]
"""Why something was not signed, or a signature is rejected: a closed list."""


class Unproven(Exception):
    """A signature does not prove what it should.

    Parameters:
        reason: the reason as a code.
        message: a sentence with the fault and the correction.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
