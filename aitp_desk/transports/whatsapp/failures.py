"""What the Cloud API's errors mean, as responses and as statuses of messages.

Source: Cloud API, "Error codes". The codes are for programs; their texts are not, and change.
"""

from __future__ import annotations

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable, WindowClosed
from aitp_desk.transports.wire.payload import Payload

WINDOW_CLOSED = frozenset({131047})
UNDELIVERABLE = {
    131026: "The number is not on WhatsApp, or takes no messages from the business.",
    131021: "The number is the business's own.",
    131030: "The number is not among those that a test number may write to.",
    131045: "The number is not registered.",
    131050: "The person has stopped messages of this kind from the business.",
}
LIMITS = {
    4: 60,
    80007: 60,
    130429: 2,
    131048: 3600,
    131049: 86_400,
    131056: 10,
    133016: 3600,
}
"""Codes of limits, with seconds after which to try again."""
FAULTS = frozenset({1, 2, 131000, 131016, 131052, 131057, 133004, 135000})
"""Codes of faults of the platform, which pass."""
TOKEN_CODES = frozenset({0, 3, 10, 190, 131005})
ACCOUNT = {
    368: "Meta has restricted the business account.",
    131031: "Meta has locked the business account.",
    131042: "Meta cannot charge the business account.",
}
REFUSED = {
    100: "A part of the message is not as the API wants it.",
    130472: "Meta holds back messages to this person in an experiment.",
    131008: "A part of the message is missing.",
    131009: "A part of the message is not as the API wants it.",
    131051: "The kind of message is not supported.",
    131053: "WhatsApp does not take this kind of file.",
    132000: "The template does not have exactly one variable.",
    132001: "There is no approved template of this name and language.",
    132005: "The text is too long for the template.",
    132007: "The text breaks a rule for templates.",
    132012: "The template's variable is of another kind.",
    132015: "Meta has paused the template.",
    132016: "Meta has disabled the template.",
}


def read_failure(status: int, response: Payload) -> Failed:
    """Return what a response without success means for its message.

    Parameters:
        status: of HTTP.
    """
    error = response.part("error")
    code = error.number("code") if "code" in error else -1
    reason = f"{explain(code)} ({code})"
    if code in WINDOW_CLOSED:
        return WindowClosed(reason)
    if code in UNDELIVERABLE:
        return Unreachable(reason)
    if code in LIMITS:
        return TryLater(reason, after=LIMITS[code])
    if code in ACCOUNT:
        return TryLater(reason, after=3600)
    if code in TOKEN_CODES or 200 <= code < 300 or (code < 0 and status in {401, 403}):
        return TryLater(reason, after=300)
    if code in FAULTS or status >= 500:
        return TryLater(reason)
    if code < 0 and status == 429:
        return TryLater(reason, after=60)
    return Refused(reason)


def explain(code: int) -> str:
    """Return a sentence for operators."""
    if code in WINDOW_CLOSED:
        return "The person's last message is older than 24 hours."
    if code in LIMITS:
        return "WhatsApp limits how many messages the business sends."
    if code in FAULTS:
        return "WhatsApp has a fault."
    if code in TOKEN_CODES or 200 <= code < 300:
        return "The access token is expired or lacks a permission."
    return {**UNDELIVERABLE, **ACCOUNT, **REFUSED}.get(code, "WhatsApp does not take the message.")
