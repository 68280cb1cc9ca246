"""A refusal for programs: what stands beside its sentence wherever that is told."""

from __future__ import annotations

from typing import Any

from aitp_desk.model.errors import DeskError


def describe_error(error: DeskError) -> dict[str, Any]:
    """Its code, what it is about, when to come again and what helps, as far as that is known."""
    told: dict[str, Any] = {"code": error.kind.value}
    if error.param is not None:
        told["param"] = error.param
    if error.retry_after is not None:
        told["retry_after"] = error.retry_after
    if error.recovery is not None:
        told["recovery"] = error.recovery
    return told
