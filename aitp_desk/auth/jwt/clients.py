"""OAuth clients: their creation and the verification of their secrets.

A client has a public id and a secret, which is shown once. The store keeps a keyed hash of both.
"""

from __future__ import annotations

import hmac
import secrets

from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.store.records.clients import Client
from aitp_desk.store.records.keys import FormerSecret

_ID_BYTES = 8
_SECRET_BYTES = 32


class ClientSecrets:
    """Makes and verifies the secrets of clients.

    Parameters:
        keys: the desk's data keys; the newest one keys the hashes of new secrets.
    """

    def __init__(self, keys: DataKeys) -> None:
        self._newest = keys.newest
        self._hash_keys = {
            version: keys.derive("oauth clients", data_key=version) for version in keys.versions
        }

    def make(
        self,
        *,
        name: str,
        scopes: tuple[str, ...],
        is_registered: bool,
        now: int,
        expires_at: int | None,
    ) -> tuple[Client, str]:
        """Make a client. Returns the client to store, and its secret.

        Parameters:
            now: Unix seconds.
            expires_at: Unix seconds; None for no expiry.
        """
        id_ = secrets.token_hex(_ID_BYTES)
        secret, hash_, data_key = self.renew(id_)
        client = Client(
            id=id_,
            name=name,
            data_key=data_key,
            hash=hash_,
            scopes=scopes,
            is_registered=is_registered,
            created_at=now,
            expires_at=expires_at,
        )
        return client, secret

    def renew(self, client_id: str) -> tuple[str, bytes, int]:
        """Make a secret. Returns it, its hash, and its data key's version."""
        secret = secrets.token_hex(_SECRET_BYTES)
        return secret, self._hash(client_id, secret, self._newest), self._newest

    def is_valid(self, client_id: str, secret: str, client: Client | None, now: float) -> bool:
        """Return whether a secret is a client's present or still valid former one.

        It takes the same time for an unknown client.

        Parameters:
            client: the one with this id, None if there is none.
            now: Unix seconds.
        """
        former = None if client is None else client.former_at(now)
        is_present = self._is_hashed(client_id, secret, client)
        is_former = self._is_hashed(client_id, secret, former)
        return is_present or is_former

    def _is_hashed(self, client_id: str, secret: str, kept: Client | FormerSecret | None) -> bool:
        """Return whether a secret has a stored hash; False if its data key is lost."""
        is_known = kept is not None and kept.data_key in self._hash_keys
        if kept is None or not is_known:
            hash_ = self._hash(client_id, secret, self._newest)
            return hmac.compare_digest(hash_, hash_[::-1]) and is_known
        return hmac.compare_digest(self._hash(client_id, secret, kept.data_key), kept.hash)

    def _hash(self, client_id: str, secret: str, data_key: int) -> bytes:
        return hmac.digest(self._hash_keys[data_key], f"{client_id}:{secret}".encode(), "sha256")
