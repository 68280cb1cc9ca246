"""Revoked tokens on every engine: which are refused, and for how long that is kept."""

from __future__ import annotations

from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials.jwt_revocations import Claim, Revocation, is_revoked
from aitp_desk.store.units.keys.jwts import MOOT_SECONDS, revoke_jwts
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH
from tests.support.store.messages import NOW


async def revoke(store: Store, claim: Claim, value: str, at: int = NOW) -> None:
    await store.run(revoke_jwts, revocation=Revocation("login", claim, value, at))


async def refuses(
    store: Store,
    token_id: str | None,
    issued_at: int,
    *,
    subject: str = "aya",
    issuer: str = "login",
    leeway: int = 0,
) -> bool:
    return await is_revoked(
        store, issuer, token_id=token_id, subject=subject, issued_at=issued_at, leeway=leeway
    )


async def test_a_token_is_refused_by_its_id_whenever_it_was_issued(store: Store) -> None:
    await revoke(store, "jti", "one")
    assert await refuses(store, "one", NOW - 9)
    assert await refuses(store, "one", NOW + 9)
    assert not await refuses(store, "two", NOW - 9)
    assert not await refuses(store, None, NOW - 9)
    assert not await refuses(store, "one", NOW - 9, issuer="other")


async def test_tokens_of_a_subject_issued_until_then_are_refused(store: Store) -> None:
    await revoke(store, "sub", "aya", NOW + 5)
    await revoke(store, "sub", "aya", NOW)  # a clock that was set back takes nothing back
    assert await refuses(store, None, NOW + 5)
    assert await refuses(store, "one", NOW)
    assert not await refuses(store, None, NOW + 6)
    assert not await refuses(store, None, NOW, subject="bo")


async def test_tokens_of_a_clock_that_is_ahead_are_refused_with_those_before(store: Store) -> None:
    await revoke(store, "sub", "aya")
    assert await refuses(store, None, NOW + 30, leeway=30)
    assert not await refuses(store, None, NOW + 31, leeway=30)


async def test_a_jti_and_a_sub_of_the_same_text_are_two(store: Store) -> None:
    await revoke(store, "jti", "aya")
    assert not await refuses(store, "one", NOW - 9)
    await revoke(store, "sub", "one")
    assert not await refuses(store, "one", NOW - 9)


async def test_each_revocation_raises_the_epoch_that_serving_desks_watch(store: Store) -> None:
    before = await reads.epoch(store, TOKENS_EPOCH)
    await revoke(store, "jti", "one")
    await revoke(store, "jti", "one")
    assert await reads.epoch(store, TOKENS_EPOCH) == before + 2


async def test_a_revocation_is_kept_until_its_tokens_have_expired(store: Store) -> None:
    await revoke(store, "jti", "one")
    await revoke(store, "sub", "aya", NOW + MOOT_SECONDS)
    assert await refuses(store, "one", NOW, subject="bo")
    await revoke(store, "jti", "two", NOW + MOOT_SECONDS + 1)
    assert not await refuses(store, "one", NOW, subject="bo")
    assert await refuses(store, None, NOW)
