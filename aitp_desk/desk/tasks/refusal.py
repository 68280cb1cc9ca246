"""The structured details of a refusal, sent along with its sentence."""

from __future__ import annotations

from typing import Any

from aitp_desk.model.errors import DeskError


def describe_error(error: DeskError) -> dict[str, Any]:
    """Return the known details of an error: code, parameter, delay, recovery."""
    told: dict[str, Any] = {"code": error.kind.value}
    if error.param is not None:
        told["param"] = error.param
    if error.retry_after is not None:
        told["retry_after"] = error.retry_after
    if error.recovery is not None:
        told["recovery"] = error.recovery
    return told
