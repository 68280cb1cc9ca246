"""The form of API keys, and what proves one."""

import string

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.auth.credentials.api_key import make_api_key, parse_api_key, verify_api_key
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.store.records.keys import FormerSecret, Key

KEYS = DataKeys({1: bytes(32)})
NOW = 10


def kept(id_: str, text: str) -> Key:
    return Key(id=id_, name="n", hash=KEYS.hash_token(text, 1), scopes=("threads",), created_at=1)


def test_a_new_key_parses_to_its_id_and_no_two_are_equal() -> None:
    made = [make_api_key() for _ in range(50)]
    assert all(parse_api_key(text) == id_ for id_, text in made)
    assert len({id_ for id_, _ in made}) == len({text for _, text in made}) == 50


@given(
    st.text(string.hexdigits.lower()[:16], min_size=16, max_size=16),
    st.text(string.hexdigits.lower()[:16], min_size=64, max_size=64),
)
def test_every_key_of_the_form_parses_to_its_id(id_: str, secret: str) -> None:
    assert parse_api_key(f"desk_{id_}_{secret}") == id_


@given(
    st.one_of(
        st.text(),
        st.text(string.hexdigits + "desk_\n\0 é٣", max_size=100),
        st.from_regex(r"desk_[0-9a-f]{15,17}_[0-9a-f]{63,65}\s?"),
    )
)
def test_every_text_is_a_key_or_refused_as_one(text: str) -> None:
    try:
        id_ = parse_api_key(text)
    except NotAuthenticated:
        return
    _, found, secret = text.split("_")
    assert (found, len(found), len(secret)) == (id_, 16, 64)
    assert text == text.strip()


def test_a_key_is_proven_by_its_row() -> None:
    id_, text = make_api_key()
    row = kept(id_, text)
    assert verify_api_key(text, row, KEYS, NOW) == (row, None)


def test_a_rotated_key_is_proven_by_either_secret_until_the_former_ends() -> None:
    id_, former = make_api_key()
    same, text = make_api_key(id_)
    assert same == id_
    assert text != former
    row = msgspec.structs.replace(
        kept(id_, text), former=FormerSecret(KEYS.hash_token(former, 1), 1, 20)
    )
    assert verify_api_key(text, row, KEYS, NOW) == (row, None)
    assert verify_api_key(former, row, KEYS, NOW) == (row, 20)
    ending = msgspec.structs.replace(row, expires_at=15)
    assert verify_api_key(text, ending, KEYS, NOW) == (ending, 15)
    assert verify_api_key(former, ending, KEYS, NOW) == (ending, 15)
    assert verify_api_key(text, row, KEYS, 20) == (row, None)
    with pytest.raises(NotAuthenticated):
        verify_api_key(former, row, KEYS, 20)


def test_every_failure_to_prove_a_key_reads_the_same() -> None:
    id_, text = make_api_key()
    row = kept(id_, text)
    wrong = text[:-1] + ("0" if text[-1] != "0" else "1")
    told = set()
    for keys, sent, token in [
        (KEYS, text, None),
        (KEYS, text, msgspec.structs.replace(row, revoked_at=2)),
        (KEYS, text, msgspec.structs.replace(row, expires_at=NOW)),
        (KEYS, text, msgspec.structs.replace(row, kind="hmac")),
        (KEYS, text, msgspec.structs.replace(row, hash=b"", kind="hmac")),
        (KEYS, text, msgspec.structs.replace(row, data_key=2)),
        (KEYS, wrong, row),
        (DataKeys({1: b"another data key".ljust(32)}), text, row),
    ]:
        with pytest.raises(NotAuthenticated) as caught:
            verify_api_key(sent, token, keys, NOW)
        told.add(caught.value.message)
    with pytest.raises(NotAuthenticated) as caught:
        parse_api_key("nonsense")
    assert told == {caught.value.message}
