"""What errors of Slack mean for a message."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable

REPAIR_SECONDS = 300
"""How long a message waits that an administrator must make possible."""
MOST_CODE_CHARACTERS = 64

_BUSY = frozenset(
    "accesslimited ekm_access_denied fatal_error internal_error message_limit_exceeded "
    "rate_limited ratelimited request_timeout service_unavailable team_access_not_granted "
    "team_added_to_org upload_in_progress".split()
)
_LOCKED = frozenset(
    "access_denied account_inactive app_not_installed enterprise_is_restricted invalid_auth "
    "missing_scope no_permission not_allowed_token_type not_authed org_login_required "
    "token_expired token_revoked two_factor_setup_required".split()
)
"""The desk's own access: every message waits until an administrator has repaired it."""
_GONE = frozenset(
    "cannot_dm_bot channel_not_found invalid_channel is_archived messages_tab_disabled "
    "not_in_channel posting_to_channel_denied user_disabled user_not_found user_not_in_channel "
    "user_not_visible".split()
)
"""The conversation or the person takes no messages. So do all restricted actions."""


class ApiRefusal(Refused):
    """Slack refuses a message for what it is.

    Parameters:
        code: Slack's error code.
    """

    def __init__(self, code: str, method: str) -> None:
        super().__init__(f"Slack refused {method}: {code}.")
        self.code = code


def find_failure(method: str, status: int, headers: Mapping[str, str], data: Any) -> Failed:
    """Return what a response without success means.

    Parameters:
        data: the decoded body.
    """
    failed = find_status_failure(method, status, headers)
    if isinstance(failed, TryLater):
        return failed
    code = data.get("error") if isinstance(data, dict) else None
    if not (isinstance(code, str) and code.isascii() and code.isidentifier()):
        return failed or TryLater(f"Slack gave no reason why {method} failed.")
    code = code[:MOST_CODE_CHARACTERS]
    if code in _BUSY:
        return TryLater(f"Slack could not do {method} now: {code}.", after=_retry_after(headers))
    if code in _LOCKED:
        return TryLater(
            f"Slack refuses the desk's token for {method}: {code}. Install the app again.",
            after=REPAIR_SECONDS,
        )
    if code in _GONE or code.startswith("restricted_action"):
        return Unreachable(f"The conversation takes no messages of the desk: {code}.")
    return ApiRefusal(code, method)


def find_status_failure(what: str, status: int, headers: Mapping[str, str]) -> Failed | None:
    """Return what a status of HTTP means; None for success."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return TryLater(f"Slack limits the rate of {what}.", after=max(1, _retry_after(headers)))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
        return TryLater(f"Slack failed at {what} with status {status}.")
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Refused(f"Slack refused {what} with status {status}.")
    return None


def _retry_after(headers: Mapping[str, str]) -> int:
    value = headers.get("retry-after", "")
    return min(int(value), 86_400) if value.isascii() and value.isdecimal() else 0
