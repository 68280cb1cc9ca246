"""Steps on credentials: keys, clients, tokens, nonces, sessions of the console, data keys."""

from __future__ import annotations

from aitp_desk.store.reads.credentials.jwt_revocations import Revocation
from aitp_desk.store.records.clients import Client
from aitp_desk.store.records.keys import ConsoleSession, Key, WrappedKey
from aitp_desk.store.units.keys import clients as client_units
from aitp_desk.store.units.keys import data_keys as data_key_units
from aitp_desk.store.units.keys import jwts as jwt_units
from aitp_desk.store.units.keys import nonces as nonce_units
from aitp_desk.store.units.keys import tokens as token_units
from aitp_desk.store.units.keys.clients import create_client, register_client
from aitp_desk.store.units.keys.console_sessions import (
    begin_session,
    end_session,
    forget_sessions,
)
from aitp_desk.store.units.keys.data_keys import (
    add_wrappings,
    keep_first_data_key,
    keep_wrappings_of,
    reset_data_keys,
)
from aitp_desk.store.units.keys.nonces import keep_nonce, use_nonce
from aitp_desk.store.units.keys.tokens import create_token, note_token_use
from tests.support.access.audit_log import somebody
from tests.support.store.messages import NOW, new_name
from tests.unit.store.histories.history import LIMIT, Draw, History, Step, pick


async def make_token(past: History, of: Draw) -> None:
    until = NOW + of.n if of.n else None
    scopes = ("threads", of.text)
    token = Key(new_name("key"), of.key, of.text.encode(), scopes, NOW, expires_at=until)
    await past.store.run(create_token, token=token, by=somebody())
    past.tokens.append(token.id)


async def rotate_token(past: History, of: Draw) -> None:
    await past.store.run(
        token_units.rotate_token,
        id=pick(past.tokens, of.n),
        version=1 + of.number % 2,
        hash=of.text.encode(),
        data_key=1,
        previous_until=NOW + of.n,
        now=NOW,
        by=somebody(),
    )


async def use_token(past: History, of: Draw) -> None:
    await past.store.run(note_token_use, id=pick(past.tokens, of.n), used_at=NOW + of.n)


async def revoke_token(past: History, of: Draw) -> None:
    named = of.key if of.number % 2 else pick(past.tokens, of.n)
    await past.store.run(token_units.revoke_token, id_or_name=named, now=NOW, by=somebody())


def _make_client(
    past: History, name: str, hash_: bytes, until: int, *, is_registered: bool
) -> Client:
    id_, scopes = past.clients[-1], ("threads",)
    return Client(id_, name, hash_, scopes, NOW, expires_at=until, is_registered=is_registered)


async def make_client(past: History, of: Draw) -> None:
    past.clients.append(new_name("client"))
    hashed, until = of.text.encode(), NOW + 60 * of.n
    client = _make_client(past, of.key, hashed, until, is_registered=False)
    await past.store.run(create_client, client=client, by=somebody())


async def register(past: History, of: Draw) -> None:
    past.clients.append(new_name("client"))
    hashed, until = of.text.encode(), NOW + 60 * of.n
    client = _make_client(past, of.text, hashed, until, is_registered=True)
    await past.store.run(register_client, client=client, most=5, by=somebody())


async def rotate_client(past: History, of: Draw) -> None:
    hashed = of.text.encode()
    await past.store.run(
        client_units.rotate_client,
        client=Client(pick(past.clients, of.n), of.key, hashed, (), NOW, is_registered=False),
        hash=hashed + b"2",
        data_key=2,
        previous_until=NOW + of.n,
        now=NOW,
        by=somebody(),
    )


async def revoke_client(past: History, of: Draw) -> None:
    named = of.key if of.number % 2 else pick(past.clients, of.n)
    await past.store.run(client_units.revoke_client, id_or_name=named, now=NOW, by=somebody())


async def rotate_signing_key(past: History, of: Draw) -> None:
    await past.store.run(
        client_units.rotate_signing_key,
        now=NOW + of.n,
        ahead=of.n % 3,
        data_key=1,
        voids_earlier=bool(of.number % 2),
        by=somebody(),
    )


async def revoke_jwts(past: History, of: Draw) -> None:
    revocation = Revocation(of.key, "jti" if of.n % 2 else "sub", of.text, NOW + of.n)
    await past.store.run(jwt_units.revoke_jwts, revocation=revocation, by=somebody())


async def use_nonces(past: History, of: Draw) -> None:
    nonce, until = of.key.encode().ljust(16, b"."), NOW + of.n
    if of.number % 2:
        await past.store.run(use_nonce, nonce=nonce, until=until)
    else:
        await past.store.run(keep_nonce, nonce=nonce, until=until)


async def forget_nonces(past: History, of: Draw) -> None:
    await past.store.run(nonce_units.forget_nonces, before=NOW + of.n, limit=LIMIT)


async def sign_in(past: History, of: Draw) -> None:
    past.sessions.append(new_name("session").encode())
    key_id, until = pick(past.tokens, of.n), NOW + of.n
    session = ConsoleSession(past.sessions[-1], key_id, of.text.encode(), NOW + of.n, until)
    await past.store.run(begin_session, session=session, most=1 + of.n, by=somebody())


async def sign_out(past: History, of: Draw) -> None:
    await past.store.run(end_session, hash=pick(past.sessions, of.n), by=somebody())


async def forget_signed_in(past: History, of: Draw) -> None:
    await past.store.run(forget_sessions, now=NOW + of.n, limit=LIMIT)


async def add_data_key(past: History, of: Draw) -> None:
    first = WrappedKey(1, "master", of.text.encode(), NOW)
    kept = await past.store.run(keep_first_data_key, key=first)
    newest = max(key.version for key in kept)
    key = WrappedKey(newest + 1 + of.n % 2, "master", of.text.encode(), NOW + of.n)
    await past.store.run(data_key_units.add_data_key, key=key, by=somebody())


async def wrap_data_keys(past: History, of: Draw) -> None:
    first = WrappedKey(1, "master", of.text.encode(), NOW)
    kept = await past.store.run(keep_first_data_key, key=first)
    versions = sorted({key.version for key in kept})
    master = new_name("master")
    again = tuple(WrappedKey(one, master, of.text.encode(), NOW) for one in versions)
    await past.store.run(add_wrappings, keys=again)
    await past.store.run(keep_wrappings_of, master=master, by=somebody())


async def lose_data_keys(past: History, of: Draw) -> None:
    key = WrappedKey(1, new_name("master"), of.text.encode(), NOW)
    await past.store.run(reset_data_keys, key=key, now=NOW, by=somebody())


STEPS: tuple[Step, ...] = (
    make_token,
    rotate_token,
    use_token,
    sign_in,
    sign_out,
    forget_signed_in,
    revoke_token,
    make_client,
    register,
    rotate_client,
    revoke_client,
    rotate_signing_key,
    revoke_jwts,
    use_nonces,
    forget_nonces,
    add_data_key,
    wrap_data_keys,
    lose_data_keys,
)
