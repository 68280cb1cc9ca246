"""Reads OAuth clients and signing keys."""

from __future__ import annotations

from aitp_desk.store.base import Reader, Store
from aitp_desk.store.records.clients import Client, SigningKey
from aitp_desk.store.rows.threads import read_client, read_signing_key


async def client(store: Store, client_id: str) -> Client | None:
    """Read a client, even if it was revoked or has expired."""
    rows = await store.read("client", {"id": client_id})
    return read_client(rows[0]) if rows else None


async def live_client(store: Store, id_or_name: str) -> Client | None:
    """Read the unrevoked client with this id or name.

    Only clients that the owner made are found by name.
    """
    rows = await store.read("live_client", {"id_or_name": id_or_name})
    return await client(store, rows[0][0]) if rows else None


async def list_clients(store: Reader) -> tuple[Client, ...]:
    """Read all clients, the oldest first; for the command line."""
    return tuple(map(read_client, await store.read("clients", {})))


async def signing_keys(store: Store) -> tuple[SigningKey, ...]:
    """Read the signing keys after the first, the oldest first."""
    return tuple(map(read_signing_key, await store.read("signing_keys", {})))
