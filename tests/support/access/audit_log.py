"""What tests of the audit log share: its keys, and a log that is held in memory."""

from __future__ import annotations

from typing import Any

from aitp_desk.model.access.audit import AuditKeys, Auditor
from aitp_desk.store.base import Params, Row

KEYS = AuditKeys(bytes(range(32)), bytes(range(32, 64)))


def somebody(at: int = 1_800_000_000, principal: str = "aya") -> Auditor:
    """Who has something noted."""
    return Auditor(KEYS, at, principal, "api_key")


class HeldLog:
    """A store as the check of the log sees it, of rows that a test has changed."""

    def __init__(self, rows: list[Row], anchors: list[Row]) -> None:
        self._rows, self._anchors = rows, anchors

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        """The statements of ``queries/shared/access/audit.sql`` that a check reads."""
        if statement == "audit_anchor":
            return self._anchors
        assert statement == "audit_rows"
        found = sorted(row for row in self._rows if row[0] >= params["start"])
        return found[: params["limit"]]

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a check of the log only reads, and asks for no {name}")
