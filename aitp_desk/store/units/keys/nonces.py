"""Stores used nonces until they expire."""

from __future__ import annotations

from aitp_desk.store.base import Work


def keep_nonce(*, nonce: bytes, until: int) -> Work[None]:
    """Insert a used nonce; does nothing if it is known.

    Parameters:
        nonce: digest of its issuer and value.
        until: Unix seconds after which its carrier is refused as expired.
    """
    yield "keep_nonce", {"nonce": nonce, "until": until}


def use_nonce(*, nonce: bytes, until: int) -> Work[bool]:
    """Insert a used nonce; return whether it was new.

    Parameters:
        nonce, until: as of :func:`keep_nonce`.
    """
    return bool((yield "use_nonce", {"nonce": nonce, "until": until}))


def forget_nonces(*, before: int, limit: int) -> Work[int]:
    """Delete nonces that expired before a time.

    Repeat while it returns as many as ``limit``.

    Parameters:
        before: Unix seconds; leave time for a clock that is set back.
        limit: maximum number of nonces.

    Returns:
        How many were deleted.
    """
    rows = yield "forget_nonces", {"before": before, "limit": limit}
    return len(rows)
