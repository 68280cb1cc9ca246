"""Sealed texts open as what they were sealed for, where they were sealed, and nowhere else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.auth.keys.encryption import SealBroken, TextSealer

FIRST, SECOND = bytes(32), bytes(range(32))
SEALING = TextSealer(DataKeys({1: FIRST}))
ROTATED = TextSealer(DataKeys({1: FIRST, 2: SECOND}))

purposes = st.sampled_from(["a", "ab", "b", ""])
contexts = st.binary(max_size=6)
plaintexts = st.binary(max_size=40)


@settings(max_examples=25)
@given(purposes, contexts, plaintexts)
def test_a_sealed_text_opens_also_when_the_data_key_was_rotated(
    purpose: str, context: bytes, plaintext: bytes
) -> None:
    sealed = SEALING.seal(purpose, context, plaintext)
    assert SEALING.unseal(purpose, context, sealed) == plaintext
    assert ROTATED.unseal(purpose, context, sealed) == plaintext
    assert SEALING.seal(purpose, context, plaintext) != sealed
    newer = ROTATED.seal(purpose, context, plaintext)
    assert ROTATED.unseal(purpose, context, newer) == plaintext
    with pytest.raises(SealBroken):
        SEALING.unseal(purpose, context, newer)


@settings(max_examples=10)
@given(contexts, plaintexts)
def test_every_flipped_bit_and_every_cut_is_refused(context: bytes, plaintext: bytes) -> None:
    sealed = ROTATED.seal("a", context, plaintext)
    for at in range(len(sealed)):
        for bit in range(8):
            flipped = sealed[:at] + bytes([sealed[at] ^ 1 << bit]) + sealed[at + 1 :]
            with pytest.raises(SealBroken):
                ROTATED.unseal("a", context, flipped)
        with pytest.raises(SealBroken):
            ROTATED.unseal("a", context, sealed[:at])
    with pytest.raises(SealBroken):
        ROTATED.unseal("a", context, sealed + b"\0")


@given(purposes, contexts, purposes, contexts, plaintexts)
def test_another_purpose_or_context_is_refused(
    purpose: str, context: bytes, other_purpose: str, other_context: bytes, plaintext: bytes
) -> None:
    sealed = SEALING.seal(purpose, context, plaintext)
    if (other_purpose, other_context) == (purpose, context):
        assert SEALING.unseal(other_purpose, other_context, sealed) == plaintext
        return
    with pytest.raises(SealBroken):
        SEALING.unseal(other_purpose, other_context, sealed)


@given(st.binary(max_size=80))
def test_what_was_never_sealed_is_refused(text: bytes) -> None:
    with pytest.raises(SealBroken):
        SEALING.unseal("a", b"", text)


def test_another_desk_s_sealed_text_is_refused_though_the_version_is_the_same() -> None:
    sealed = TextSealer(DataKeys({1: SECOND})).seal("a", b"", b"text")
    with pytest.raises(SealBroken, match="changed"):
        SEALING.unseal("a", b"", sealed)
