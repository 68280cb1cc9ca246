"""Defines the members and the states of calls for every protocol."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from aitp_desk.model.calls.action import Safety
from aitp_desk.model.calls.call import CallState

CAPABILITIES_PATH: Final = "/capabilities/"
"""The path below which each action is called, by its name."""
MAX_QUESTION: Final = 4096
MAX_LOCALE: Final = 64
MAX_SESSION: Final = 128
MAX_CLARIFICATION: Final = 1024
MAX_INTENT: Final = 256
MAX_CALLBACK: Final = 2048
"""In characters."""
MAX_TOKENS: Final = 32_768
"""The longest answer that may be requested."""

PRICE: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "amount": {"type": "string"},
            "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
        },
        "required": ["amount", "currency"],
    }
)
"""The schema of a price that the caller agrees to."""
SAFETY: Final = "x-safety"
"""The member of descriptions with what harm a call may do (HAC 1.0, section 5)."""
PAYING: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "payment": {"type": "object", "description": "An AITP payment for the quote."},
            "x402_payment": {
                "type": "object",
                "properties": {
                    "payload": {"type": "object", "description": "x402's payment payload."}
                },
                "required": ["payload"],
            },
        },
        "minProperties": 1,
        "maxProperties": 1,
    }
)
"""The schema of a call's payment: a message of one of these kinds."""
CallStanding = Literal["pending", "success", "failed", "expired"]
"""The status of a call, as the wire has it."""
STATUS: Mapping[CallState, CallStanding] = MappingProxyType(
    {
        CallState.STARTED: "pending",
        CallState.WAITING_INPUT: "pending",
        CallState.WAITING_PAYMENT: "pending",
        CallState.WAITING_APPROVAL: "pending",
        CallState.SUCCEEDED: "success",
        CallState.FAILED: "failed",
        CallState.UNKNOWN: "failed",
        CallState.EXPIRED: "expired",
    }
)
"""The status on the wire of each state of a call."""
STANDS: Mapping[str, str] = MappingProxyType(
    {
        "success": "It is complete; its outcome is in result or response.",
        "clarification_needed": "It needs more input; the response asks for it.",
        "accepted": "It was accepted and continues in the background. Ask for its status later.",
        "pending": "It is in progress; if people decide, this takes as long as they need.",
        "failed": "It failed; error has the reason. It does not continue.",
        "expired": "The call waited too long and has expired.",
    }
)
"""Each status as a sentence; also the statuses that only a reply has."""


def write_safety(safety: Safety) -> Mapping[str, Any]:
    """Return what harm a call may do; what a reader assumes without it is left out."""
    told: dict[str, Any] = msgspec.to_builtins(safety)
    return {name: value for name, value in told.items() if value not in (None, False)}
