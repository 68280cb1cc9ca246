"""Signs requests to callers' servers, so that these can verify the sender.

A caller with a key or a client of this desk shares a secret with it (``v1``, HMAC-SHA256), which is
derived from a data key and never stored. For all others the key signs that the desk publishes for
its access tokens (``v1a``, Ed25519). The signed text begins with an id and a time, and so is never
what a JWT's signature covers.

Source: Standard Webhooks 1.0.0, sections "Webhook metadata" and "Verifying webhook authenticity".
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime

from standardwebhooks import Webhook

from aitp_desk.auth.jwt.signing_keys import SigningKeys
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.access.principal import CLIENT_PREFIX, KEY_PREFIX
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import clients as client_reads
from aitp_desk.store.records.keys import Credential

SECRET_PREFIX = "whsec_"  # noqa: S105 -- a word
KEY_ID_HEADER = "webhook-key-id"
"""The header with the ``kid`` of the published key of an Ed25519 signature."""


def webhook_secret_of_key(keys: DataKeys, id_: str, version: int, data_key: int) -> str:
    """Return the secret shared with the holder of a key's version.

    Parameters:
        data_key: the version of the data key that it is derived from.

    Raises:
        KeyError: there is no such data key.
    """
    return _secret(keys.derive(f"webhooks of key {id_}", version, data_key=data_key))


def webhook_secret_of_client(keys: DataKeys, id_: str, version: int, data_key: int) -> str:
    """Return the secret shared with the holder of a client secret's version.

    Parameters:
        data_key: the version of the data key that it is derived from.

    Raises:
        KeyError: there is no such data key.
    """
    return _secret(keys.derive(f"webhooks of client {id_}", version, data_key=data_key))


class WebhookSigner:
    """Signs requests to callers' servers.

    Parameters:
        signing_keys: the keys that the desk publishes; None if it publishes none.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        store: Store,
        keys: DataKeys,
        signing_keys: SigningKeys | None,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._keys = keys
        self._signing_keys = signing_keys
        self._clock = clock

    def can_sign_for(self, principal_id: str) -> bool:
        """Return whether requests to this caller can be signed."""
        return self._signing_keys is not None or principal_id.startswith(
            (KEY_PREFIX, CLIENT_PREFIX)
        )

    async def sign(self, principal_id: str, message_id: str, body: str) -> dict[str, str] | None:
        """Return the headers that authenticate a body.

        While two secrets of a key or client are valid, there is a signature for each.

        Parameters:
            principal_id: the receiving caller.
            message_id: the same for each attempt to send the message; without a point.

        Returns:
            None if it cannot be signed: the caller's key or client has ended, or the desk publishes
                no keys.
        """
        now = int(self._clock())
        headers = {"webhook-id": message_id, "webhook-timestamp": str(now)}
        if not principal_id.startswith((KEY_PREFIX, CLIENT_PREFIX)):
            return await self._public(headers, body)
        at = datetime.fromtimestamp(now, UTC)
        signatures = [
            Webhook(secret).sign(message_id, at, body)
            for secret in await self._secrets(principal_id, now)
        ]
        return {**headers, "webhook-signature": " ".join(signatures)} if signatures else None

    async def _public(self, headers: dict[str, str], body: str) -> dict[str, str] | None:
        """Return the headers signed with the desk's published key, and the key's id."""
        if self._signing_keys is None:
            return None
        later = await client_reads.signing_keys(self._store)
        pair = self._signing_keys.get_current(later, self._clock())
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}"
        signature = base64.b64encode(pair.private.sign(signed.encode())).decode()
        return {**headers, "webhook-signature": f"v1a,{signature}", KEY_ID_HEADER: pair.id}

    async def _secrets(self, principal_id: str, now: int) -> list[str]:
        """Return the secrets shared with a caller at a time; none if it no longer exists."""
        holder: Credential | None
        if principal_id.startswith(CLIENT_PREFIX):
            secret_of = webhook_secret_of_client
            id_ = principal_id.removeprefix(CLIENT_PREFIX)
            holder = await client_reads.client(self._store, id_)
        else:
            secret_of = webhook_secret_of_key
            id_ = principal_id.removeprefix(KEY_PREFIX)
            holder = await reads.token_by_id(self._store, id_)
        if holder is None or not holder.is_live(now):
            return []
        sources = [(holder.version, holder.data_key)]
        if (former := holder.former_at(now)) is not None:
            sources.append((holder.version - 1, former.data_key))
        return [
            secret_of(self._keys, id_, version, data_key)
            for version, data_key in sources
            if not self._is_lost(data_key)
        ]

    def _is_lost(self, data_key: int) -> bool:
        """Return whether a data key was lost (``aitp-desk keys reset``)."""
        return data_key not in self._keys.versions


def _secret(derived: bytes) -> str:
    return f"{SECRET_PREFIX}{base64.b64encode(derived).decode()}"
