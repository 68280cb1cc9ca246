"""Stores bytes of transports, and deletes what has passed its time."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.store.base import Work

AT_ONCE = 500


def keep_bytes(
    *, transport: str, key: str, data: bytes, principal: str, now: int, expires: bool
) -> Work[None]:
    """Keep bytes of a transport under a key.

    Parameters:
        principal: whose they are, or the digest of the thread that they belong to; empty if
            nobody is known yet.
        expires: whether they are deleted after some days.
    """
    kept = {"transport": transport, "key": key, "data": data, "whose": principal}
    yield "keep_transport_bytes", {**kept, "now": now, "expires": int(expires)}


def claim_bytes(*, transport: str, key: str, data: bytes, now: int) -> Work[bytes]:
    """Keep bytes under a key for some days, unless it has some; return those that it has then."""
    claimed = {"transport": transport, "key": key, "data": data, "now": now}
    return bytes((yield "claim_transport_bytes", claimed)[0][0])


def replace_bytes(*, transport: str, key: str, data: bytes, now: int) -> Work[None]:
    """Replace the bytes under a key; nothing is stored if they were deleted meanwhile."""
    yield "replace_transport_bytes", {"transport": transport, "key": key, "data": data, "now": now}


def exchange_bytes(*, transport: str, key: str, before: bytes, data: bytes, now: int) -> Work[bool]:
    """Replace bytes that are still those before, and return whether it did."""
    place = {"transport": transport, "key": key}
    values = {**place, "before": before, "data": data, "now": now}
    return bool((yield "exchange_transport_bytes", values))


def drop_bytes(*, transport: str, keys: Sequence[str]) -> Work[None]:
    """Delete bytes that came with an event."""
    yield "drop_transport_bytes", tuple({"transport": transport, "key": key} for key in keys)


def drop_expired(*, now: int, before: int) -> Work[int]:
    """Delete what buttons stood for, and bytes of events, after their time.

    Parameters:
        now: Unix seconds.
        before: Unix seconds; bytes kept before then go.

    Returns:
        How many were deleted; the caller repeats it until none are.
    """
    controls = yield "drop_expired_controls", {"now": now, "limit": AT_ONCE}
    kept = yield "drop_old_transport_bytes", {"before": before, "limit": AT_ONCE}
    return len(controls) + len(kept)
