"""Looks up and stores idempotency keys."""

from __future__ import annotations

from aitp_desk.model.errors import IdempotencyConflict
from aitp_desk.store.base import Params, Work
from aitp_desk.store.records.threads import IdempotencyRecord, PostResult


def look_up_once(idempotency: IdempotencyRecord) -> Work[PostResult | None]:
    """Return what the key stands for; None when it is new.

    Raises:
        IdempotencyConflict: it stands for another request.
    """
    rows = yield "look_up_once", idempotency.asked
    if not rows:
        return None
    fingerprint, thread_id, message_id, run_id = rows[0]
    if fingerprint != idempotency.fingerprint:
        raise IdempotencyConflict(
            "This Idempotency-Key was used with a different request. Use a new key for a new"
            " request.",
            param="Idempotency-Key",
        )
    return PostResult(thread_id=thread_id, message_id=message_id, run_id=run_id, replayed=True)


def remembering_once(
    idempotency: IdempotencyRecord, placed: PostResult, now: int
) -> tuple[str, Params]:
    """Return the statement that stores what a key stands for."""
    return (
        "remember_once",
        {
            "scope": idempotency.scope,
            "key": idempotency.key,
            "fingerprint": idempotency.fingerprint,
            "thread_id": placed.thread_id,
            "message_id": placed.message_id,
            "run_id": placed.run_id,
            "created_at": now,
        },
    )
