"""What may be used once, and how long that is known."""

from __future__ import annotations

from aitp_desk.store.base import Work


def keep_nonce(*, nonce: bytes, until: int) -> Work[None]:
    """Keep that a nonce was used; nothing is changed where that is known.

    Parameters:
        nonce: digest of whose it is and what it is.
        until: Unix seconds after which whatever carries it is refused for its age.
    """
    yield "keep_nonce", {"nonce": nonce, "until": until}


def forget_nonces(*, before: int, limit: int) -> Work[int]:
    """Forget nonces that ended before a time. Call it again while it returns as many as ``limit``.

    Parameters:
        before: Unix seconds; leave time for a clock that is set back.
        limit: at most so many.

    Returns:
        How many were forgotten.
    """
    rows = yield "forget_nonces", {"before": before, "limit": limit}
    return len(rows)
