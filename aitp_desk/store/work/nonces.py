"""What may be used once, and how long that is known."""

from __future__ import annotations

from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.store.base import Work
from aitp_desk.store.records import Nonce


def use_nonce(*, nonce: Nonce) -> Work[None]:
    """Use a nonce, which nobody can do again.

    Raises:
        NotAuthenticated: it was used before.
    """
    if not (yield "use_nonce", {"digest": nonce.digest, "until": nonce.until}):
        raise NotAuthenticated(
            "This was sent before: a nonce, or a token's jti, is used once.", reason="replayed"
        )


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
