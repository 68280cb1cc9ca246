"""Texts that PostgreSQL does not take as they are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.store.engine.postgres.texts import decode_row, encode_values

TEXTS = st.text(st.sampled_from("\0\uffff01a"), max_size=8)


@given(st.lists(st.one_of(TEXTS, st.none(), st.integers(), st.binary()), max_size=3))
def test_what_is_read_is_what_was_written(values: list[object]) -> None:
    encoded = encode_values(values)
    assert decode_row(encoded) == tuple(values)
    assert not any("\0" in value for value in encoded if isinstance(value, str))
