"""A fault of the configuration."""

from __future__ import annotations

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """A fault of the configuration.

    Parameters:
        key: the setting (``server.port``), option (``--set``) or file (``desk.toml``) at fault.
        message: the error and its correction. It never contains a secret.
    """

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"
