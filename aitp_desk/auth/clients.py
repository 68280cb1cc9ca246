"""OAuth clients: how they are made, and how they prove who they are.

A client has a public id and a secret, which is shown once. The store keeps a keyed hash of both.
"""

from __future__ import annotations

import hmac
import secrets

from aitp_desk.auth.data_keys import DataKeys
from aitp_desk.store.client_records import Client

_ID_BYTES = 8
_SECRET_BYTES = 32


class ClientSecrets:
    """Makes and verifies the secrets of clients.

    Parameters:
        keys: the desk's data keys; the newest keys the hashes of new clients.
    """

    def __init__(self, keys: DataKeys) -> None:
        self._newest = keys.newest
        self._hashing = {
            version: keys.derive("oauth clients", data_key=version) for version in keys.versions
        }

    def make(
        self,
        *,
        name: str,
        scopes: tuple[str, ...],
        is_registered: bool,
        now: int,
        days: int | None,
    ) -> tuple[Client, str]:
        """Make a client. Returns it as it is to be kept, and its secret.

        Parameters:
            now: Unix seconds.
            days: how long it lasts; None for as long as nobody revokes it.
        """
        id_, secret = secrets.token_hex(_ID_BYTES), secrets.token_hex(_SECRET_BYTES)
        client = Client(
            id=id_,
            name=name,
            data_key=self._newest,
            hash=self._hash(id_, secret, self._newest),
            scopes=scopes,
            is_registered=is_registered,
            created_at=now,
            expires_at=None if days is None else now + days * 86_400,
        )
        return client, secret

    def proves(self, client_id: str, secret: str, client: Client | None) -> bool:
        """Whether id and secret are those of a client.

        It takes as long where there is no such client.

        Parameters:
            client: the one with this id, None where there is none.
        """
        if client is not None and client.data_key not in self._hashing:
            client = None  # it is of a key that was lost (aitp-desk keys begin-anew)
        data_key = self._newest if client is None else client.data_key
        hash_ = self._hash(client_id, secret, data_key)
        kept = hash_[::-1] if client is None else client.hash
        return hmac.compare_digest(hash_, kept) and client is not None

    def _hash(self, client_id: str, secret: str, data_key: int) -> bytes:
        return hmac.digest(self._hashing[data_key], f"{client_id}:{secret}".encode(), "sha256")
