"""What a credential must have been made for."""

from __future__ import annotations

from aitp_desk.model.errors import ScopeMissing
from aitp_desk.model.principal import Principal, may_use_threads


def check_scope(principal: Principal) -> None:
    """Refuse a caller whose credential was made for something else than threads.

    Raises:
        ScopeMissing: the credential has other scopes only.
    """
    if not may_use_threads(principal):
        raise ScopeMissing(
            "This credential does not open threads; it needs the scope 'threads'.", scope="threads"
        )
