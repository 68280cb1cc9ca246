"""When each signing key is published, and when it signs."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.auth.jwt.jwk import make_thumbprint
from aitp_desk.auth.jwt.signing_keys import (
    AHEAD_SECONDS,
    PUBLISHED_FOR_SECONDS,
    SigningKeys,
)
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.config.sections.access.oauth import LONGEST_TOKEN_SECONDS
from aitp_desk.store.records.clients import SigningKey

KEYS = SigningKeys(DataKeys({1: bytes(32), 2: bytes([2]) * 32}))
NOW = 1_800_000_000


def rotated(*times: int) -> tuple[SigningKey, ...]:
    """Keys after the first, made at these times."""
    return tuple(SigningKey(n, at, at + AHEAD_SECONDS) for n, at in enumerate(times, start=2))


def jwk(public: str) -> dict[str, str]:
    """The public half of a signing key."""
    return {"kty": "OKP", "crv": "Ed25519", "x": public}


def ids(*times: int, now: float) -> list[str]:
    return [pair.id for pair in KEYS.list_published(rotated(*times), now)]


def test_the_first_key_signs_from_the_beginning() -> None:
    assert ids(now=NOW) == [KEYS.get_current((), NOW).id]


def test_a_new_key_is_published_at_once_and_signs_later() -> None:
    (first,) = ids(now=NOW)
    published = ids(NOW, now=NOW)
    assert published[0] == first
    assert len(published) == 2
    signs = [
        KEYS.get_current(rotated(NOW), NOW + s).id for s in (0, AHEAD_SECONDS - 1, AHEAD_SECONDS)
    ]
    assert signs == [first, first, published[1]]


def test_the_key_before_is_published_until_its_longest_token_is_dead() -> None:
    first, second = ids(NOW, now=NOW)
    dead = NOW + AHEAD_SECONDS + LONGEST_TOKEN_SECONDS
    assert ids(NOW, now=dead - 1) == [first, second]
    assert ids(NOW, now=dead) == [second]


def test_cached_published_keys_include_every_key_that_signs() -> None:
    assert AHEAD_SECONDS > PUBLISHED_FOR_SECONDS


@given(
    st.lists(st.integers(AHEAD_SECONDS, 200_000), max_size=6),
    st.integers(0, 1_500_000),
    st.integers(0, LONGEST_TOKEN_SECONDS - 1),
    st.integers(0, PUBLISHED_FOR_SECONDS),
)
def test_the_verifier_of_a_live_token_knows_its_key(
    gaps: list[int], at: int, age: int, kept_for: int
) -> None:
    times = [NOW + sum(gaps[: n + 1]) for n in range(len(gaps))]
    signed, seen = NOW + at, NOW + at + age
    known_by_then = tuple(key for key in rotated(*times) if key.made_at <= signed)
    signer = KEYS.get_current(known_by_then, signed).id
    # the published set, as a client has kept it since so long ago, but for a token made since
    asked = max(signed, seen - kept_for)
    told = tuple(key for key in rotated(*times) if key.made_at <= asked)
    assert signer in [pair.id for pair in KEYS.list_published(told, asked)]
    before = max(0, signed - kept_for)
    told_before = tuple(key for key in rotated(*times) if key.made_at <= before)
    assert signer in [pair.id for pair in KEYS.list_published(told_before, before)]


def test_a_keys_id_is_its_thumbprint_and_its_halves_belong_together() -> None:
    pair = KEYS.get_current((), NOW)
    assert pair.id == make_thumbprint(jwk(pair.public))
    raw = base64.urlsafe_b64decode(f"{pair.public}=")
    assert pair.private.public_key().public_bytes_raw() == raw


def test_the_thumbprint_is_that_of_the_rfc() -> None:
    """RFC 8037, appendix A.3."""
    public = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    assert make_thumbprint(jwk(public)) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_another_data_key_makes_other_keys() -> None:
    other = SigningKeys(DataKeys({1: bytes([1]) * 32}))
    assert other.get_current((), NOW).id != KEYS.get_current((), NOW).id
    second, of_another = (KEYS.get_current([SigningKey(2, 0, 0, n)], NOW).id for n in (1, 2))
    assert second != of_another


def test_a_key_that_ends_those_before_it_is_the_only_one_at_once() -> None:
    second = SigningKey(2, NOW, NOW + AHEAD_SECONDS)
    third = SigningKey(3, NOW + 1, NOW + 1, voids_earlier=True)
    (published,) = KEYS.list_published([second, third], NOW + 1)
    for moment in (NOW + 1, NOW + AHEAD_SECONDS, NOW + LONGEST_TOKEN_SECONDS):
        assert KEYS.get_current([second, third], moment) == published
    fourth = SigningKey(4, NOW + 9, NOW + 9 + AHEAD_SECONDS)
    assert KEYS.list_published([second, third, fourth], NOW + 9)[0] == published
    assert len(KEYS.list_published([second, third, fourth], NOW + 9)) == 2


def test_the_text_form_of_a_pair_does_not_show_its_private_half() -> None:
    pair = KEYS.get_current((), NOW)
    assert pair.private.private_bytes_raw().hex() not in repr(pair)
