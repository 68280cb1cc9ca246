"""Stores OAuth clients, and the keys that sign their tokens.

The command line changes them while a desk is running, which watches the epoch.
"""

from __future__ import annotations

from msgspec.structs import asdict

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.principal import CLIENT_PREFIX
from aitp_desk.model.errors import PreconditionFailed, Unavailable
from aitp_desk.store.base import Work
from aitp_desk.store.records.clients import Client, SigningKey
from aitp_desk.store.rows.threads import read_client, read_signing_key, to_json
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.receivers import drop_receivers_of
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH

_FORGOTTEN_AT_ONCE = 100
"""How many expired clients a registration deletes."""


def create_client(*, client: Client, by: Auditor | None = None) -> Work[None]:
    """Insert a client that the owner made.

    Parameters:
        by: who makes it; None writes no audit entry.

    Raises:
        PreconditionFailed: a live one has this name.
    """
    if (yield "live_client_named", {"name": client.name}):
        raise PreconditionFailed(
            f"There is a client named {client.name!r}. Revoke it first or choose another name.",
            param="name",
        )
    yield "add_client", _row_of(client)
    yield from note_audit(by, AuditAction.CLIENT_REGISTERED, ObjectKind.CLIENT, client.id)


def register_client(*, client: Client, most: int, by: Auditor | None = None) -> Work[None]:
    """Insert a client that registered itself, and delete expired ones.

    Parameters:
        most: how many live clients may be registered at once.
        by: who registers it; None writes no audit entry.

    Raises:
        Unavailable: that number is reached.
    """
    now = client.created_at
    ((registered,),) = yield "count_registered_clients", {"now": now}
    if registered >= most:
        raise Unavailable(
            "This desk has its maximum number of registered clients. Try again another"
            " day, or ask the site's owner for credentials."
        )
    yield "delete_expired_clients", {"now": now, "limit": _FORGOTTEN_AT_ONCE}
    yield "add_client", _row_of(client)
    yield from note_audit(by, AuditAction.CLIENT_REGISTERED, ObjectKind.CLIENT, client.id)


def rotate_client(
    *,
    client: Client,
    hash: bytes,
    data_key: int,
    previous_until: int,
    now: int,
    by: Auditor | None = None,
) -> Work[Client]:
    """Give a client a new secret; the present one stays valid for a while.

    Parameters:
        client: as it was when its new secret was made.
        hash: keyed hash of the new secret.
        data_key: version of the data key that the hash is keyed by.
        previous_until: Unix seconds until which the present secret stays valid.
        now: Unix seconds.
        by: who rotates it; None writes no audit entry.

    Returns:
        The updated client.

    Raises:
        PreconditionFailed: the client was revoked, has expired, or was changed meanwhile.
    """
    rows = yield "client", {"id": client.id}
    kept = read_client(rows[0]) if rows else None
    if kept is None or not kept.is_live(now):
        raise PreconditionFailed(
            f"The client {client.id} is revoked or has expired; create a new one."
        )
    if kept.hash != client.hash:
        raise PreconditionFailed(
            f"The client {client.id} has just been rotated by another command."
        )
    given = {"hash": hash, "data_key": data_key, "previous_until": previous_until}
    rows = yield "rotate_client", {"id": client.id, **given}
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    yield from note_audit(by, AuditAction.CLIENT_ROTATED, ObjectKind.CLIENT, client.id)
    return read_client(rows[0])


def revoke_client(*, id_or_name: str, now: int, by: Auditor | None = None) -> Work[Client | None]:
    """Revoke the live client with this id or name.

    Only clients that the owner made are found by name.

    Parameters:
        by: who revokes it; None writes no audit entry.

    Returns:
        The updated client; None if there is no such live client.
    """
    rows = yield "live_client", {"id_or_name": id_or_name}
    if not rows:
        return None
    rows = yield "revoke_client", {"id": rows[0][0], "revoked_at": now}
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    revoked = read_client(rows[0])
    yield from drop_receivers_of(f"{CLIENT_PREFIX}{revoked.id}")
    yield from note_audit(by, AuditAction.CLIENT_REVOKED, ObjectKind.CLIENT, revoked.id)
    return revoked


def rotate_signing_key(
    *,
    now: int,
    ahead: int,
    data_key: int,
    voids_earlier: bool = False,
    by: Auditor | None = None,
) -> Work[SigningKey]:
    """Insert the next signing key.

    Parameters:
        now: Unix seconds.
        ahead: for how many seconds it is published before it signs.
        data_key: the version of the data key that it is derived from.
        voids_earlier: whether the keys before it end at once, and all tokens with them; it then
            signs at once.
        by: who rotates; None writes no audit entry.

    Raises:
        PreconditionFailed: the one before has not begun to sign, and is not to end at once.
    """
    rows = yield "signing_keys", {}
    newest = read_signing_key(rows[-1]) if rows else SigningKey(1, 0, 0)
    if newest.signs_from > now and not voids_earlier:
        raise PreconditionFailed(
            f"Key {newest.version} is published and starts to sign in {newest.signs_from - now}"
            " seconds. Rotate again after that."
        )
    signs_from = now if voids_earlier else now + ahead
    made = SigningKey(newest.version + 1, now, signs_from, data_key, voids_earlier)
    yield "add_signing_key", {**asdict(made), "voids_earlier": int(voids_earlier)}
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    version = str(made.version)
    yield from note_audit(by, AuditAction.SIGNING_KEY_ROTATED, ObjectKind.KEY, version)
    return made


def _row_of(client: Client) -> dict[str, object]:
    return {
        "id": client.id,
        "name": client.name,
        "data_key": client.data_key,
        "hash": client.hash,
        "scopes": to_json(client.scopes),
        "is_registered": int(client.is_registered),
        "created_at": client.created_at,
        "expires_at": client.expires_at,
    }
