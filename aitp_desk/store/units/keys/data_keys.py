"""Stores the wrapped data keys."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records.keys import KeyReset, WrappedKey
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH


def keep_first_data_key(*, key: WrappedKey) -> Work[tuple[WrappedKey, ...]]:
    """Insert the first data key, unless another process has just inserted one.

    Returns:
        All that are stored now.
    """
    kept = yield "data_keys", {}
    if kept:
        return tuple(WrappedKey(*row) for row in kept)
    yield "add_data_key", msgspec.structs.asdict(key)
    return (key,)


def add_data_key(*, key: WrappedKey, by: Auditor | None = None) -> Work[None]:
    """Insert a further data key.

    Raises:
        PreconditionFailed: another one was added meanwhile.
    """
    kept = yield "data_keys", {}
    if key.version != max(row[0] for row in kept) + 1:
        raise PreconditionFailed("Another data key has just been created.")
    yield "add_data_key", msgspec.structs.asdict(key)
    yield from note_audit(
        by, AuditAction.DATA_KEY_ROTATED, ObjectKind.DESK, f"data-key-{key.version}"
    )


def add_wrappings(*, keys: tuple[WrappedKey, ...]) -> Work[None]:
    """Insert the data keys wrapped with a further master key.

    Raises:
        PreconditionFailed: a data key was added meanwhile.
    """
    kept = yield "data_keys", {}
    if {row[0] for row in kept} != {key.version for key in keys}:
        raise PreconditionFailed("A data key has just been created; try again.")
    for key in keys:
        yield "add_data_key", msgspec.structs.asdict(key)


def keep_wrappings_of(*, master: str, by: Auditor | None = None) -> Work[None]:
    """Delete the data keys as all other master keys wrap them.

    Parameters:
        master: fingerprint of the one that stays.

    Raises:
        PreconditionFailed: that one does not wrap all of them.
    """
    kept = yield "data_keys", {}
    if {row[0] for row in kept} != {row[0] for row in kept if row[1] == master}:
        raise PreconditionFailed(
            "This master key does not decrypt all data keys; nothing was changed."
        )
    yield "delete_other_wrappings", {"master": master}
    yield from note_audit(
        by, AuditAction.MASTER_KEY_ROTATED, ObjectKind.DESK, f"master-key-{master}"
    )


def reset_data_keys(*, key: WrappedKey, now: int, by: Auditor) -> Work[KeyReset]:
    """Replace data keys whose master key is lost with a new first one.

    All credentials are revoked, and the audit log starts again: the old one can no longer be
    verified. Access tokens issued before are void.

    Parameters:
        key: the new one.
        now: Unix seconds.
        by: who does it; recorded with the new keys.
    """
    rows = 0
    for n, link in (yield "audit_head", {}):
        rows = n - (yield "audit_anchor", {})[0][0]
        yield "move_audit_anchor", {"n": n, "link": link}
        yield "drop_audit", {"n": n}
        yield from note_audit(by, AuditAction.LOG_TRIMMED, ObjectKind.LOG, str(n))
    yield "delete_other_wrappings", {"master": ""}
    yield "add_data_key", msgspec.structs.asdict(key)
    keys = len((yield "revoke_all_tokens", {"revoked_at": now}))
    clients = len((yield "revoke_all_clients", {"revoked_at": now}))
    links = len((yield "delete_all_links", {}))
    yield "delete_all_signing_keys", {}
    sealed = len((yield "delete_all_sealed", {}))
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    yield from note_audit(by, AuditAction.DATA_KEY_ROTATED, ObjectKind.DESK, "data-key-1")
    for action, count in (
        (AuditAction.KEY_REVOKED, keys),
        (AuditAction.CLIENT_REVOKED, clients),
        (AuditAction.GRANT_REVOKED, links),
    ):
        if count:
            yield from note_audit(by, action, ObjectKind.DESK, "all", count=count)
    return KeyReset(keys, clients, links, rows, sealed)
