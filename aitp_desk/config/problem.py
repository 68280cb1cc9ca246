"""Something wrong in the configuration, as every check says it."""

from __future__ import annotations

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """Something wrong in the configuration.

    Parameters:
        key: the setting (``server.port``), option (``--set``) or file (``desk.toml``) at fault.
        message: what is wrong and what would be right. Never holds a secret.
    """

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"
