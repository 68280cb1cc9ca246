"""Which units PostgreSQL drives side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.store.base import Work
from aitp_desk.store.engine.postgres.wave import sort_into_waves
from aitp_desk.store.engine.unit import Unit, list_touched_keys


def of_thread(*, thread_id: str, nonce: bytes | None = None) -> Work[None]:
    yield "epoch", {}


def of_anything() -> Work[None]:
    yield "epoch", {}


UNITS = st.lists(
    st.one_of(
        st.builds(
            lambda thread_id, nonce: Unit(of_thread, (), {"thread_id": thread_id, "nonce": nonce}),
            st.sampled_from("abcd"),
            st.sampled_from([None, None, b"n"]),
        ),
        st.builds(lambda: Unit(of_anything, (), {})),
    ),
    max_size=30,
)


@given(UNITS)
def test_a_unit_comes_after_all_with_which_it_shares_something(units: list[Unit]) -> None:
    waves = sort_into_waves(units)
    place = {id(unit): number for number, wave in enumerate(waves) for unit in wave}
    assert len(place) == len(units)
    assert all(waves)
    for number, later in enumerate(units):
        for earlier in units[:number]:
            one, other = list_touched_keys(earlier), list_touched_keys(later)
            if one is None or other is None or one & other:
                assert place[id(earlier)] < place[id(later)]


def test_what_shares_nothing_is_in_one_wave() -> None:
    units = [Unit(of_thread, (), {"thread_id": name}) for name in "abcab"]
    assert [len(wave) for wave in sort_into_waves(units)] == [3, 2]
