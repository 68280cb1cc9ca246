"""Stores the keys that sign transcripts, and countersignatures of threads."""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.transcript import MAX_COUNTERSIGNATURES
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records.keys import WrappedKey
from aitp_desk.store.records.transcripts import StoredCountersignature, StoredKey
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.threads.access import reach_thread


def keep_transcript_key(*, id_: str, public: str, now: int) -> Work[tuple[StoredKey, ...]]:
    """Make a key sign from now on, in place of the previous one.

    Its start is the creation of its data key: a restored database may not know what was signed
    since then.

    Parameters:
        id_: its thumbprint.
        public: its public half, in base64url.
        now: Unix seconds.

    Returns:
        All that are stored now, the oldest first.
    """
    kept = [StoredKey(*row) for row in (yield "transcript_keys", {})]
    own = next((key for key in kept if key.id == id_ and key.signs_until is None), None)
    if own is not None and own.signs_from <= now:
        return tuple(kept)
    made = [WrappedKey(*row) for row in (yield "data_keys", {})]
    newest = max(made, key=lambda key: key.version)
    if own is None:
        yield "end_transcript_keys", {"now": now}
    signing = {"id": id_, "public": public, "signs_from": min(now, newest.made_at)}
    yield "add_transcript_key", signing
    return tuple(StoredKey(*row) for row in (yield "transcript_keys", {}))


def withdraw_transcript_key(*, id_: str, now: int, by: Auditor) -> Work[None]:
    """Mark a key as compromised: its signatures alone prove nothing any more.

    Raises:
        InvalidRequest: there is no such key.
        PreconditionFailed: it still signs.
    """
    kept = [StoredKey(*row) for row in (yield "transcript_keys", {})]
    key = next((one for one in kept if one.id == id_), None)
    if key is None:
        raise InvalidRequest("No transcript was signed with a key of this id.")
    if key.signs_until is None:
        raise PreconditionFailed(
            "This key still signs. Create another first with 'aitp-desk keys rotate-data'."
        )
    if (yield "withdraw_transcript_key", {"id": id_, "now": now}):
        yield from note_audit(by, AuditAction.TRANSCRIPT_KEY_WITHDRAWN, ObjectKind.DESK, id_)


def countersign(
    *,
    thread_id: str,
    principal: Principal,
    key: str,
    site: str,
    seq: int,
    jws: str,
    now: int,
    idle_before: int,
) -> Work[StoredCountersignature]:
    """Store another party's signature of a head, which was verified.

    A later head covers the earlier ones, so one signature is kept of each key: of the latest.

    Parameters:
        principal: who submits it.
        key: the thumbprint of the key that signed.
        site, seq: of the head.

    Returns:
        The signature that is stored of this key now.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's.
        Forbidden: the caller may not write to it.
        PreconditionFailed: the maximum number of other keys has signed.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    asked_for = {"thread_id": thread_id}
    kept = [StoredCountersignature(*row) for row in (yield "countersignatures", asked_for)]
    own = next((one for one in kept if one.key == key), None)
    if own is not None and own.seq >= seq:
        return own
    if own is None and len(kept) >= MAX_COUNTERSIGNATURES:
        raise PreconditionFailed(
            f"At most {MAX_COUNTERSIGNATURES} keys may sign the heads of a thread.",
            param="thread_id",
        )
    signed = {"thread_id": thread_id, "key": key, "site": site, "seq": seq, "jws": jws}
    yield "keep_countersignature", {**signed, "actor": reached.speaker, "made_at": now}
    rows = yield "countersignatures", asked_for
    return next(one for one in (StoredCountersignature(*row) for row in rows) if one.key == key)
