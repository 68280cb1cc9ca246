"""Amounts are read from text and counted in millionths; what is split adds up to the last one."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_payments.money import (
    MILLION,
    amount,
    counted,
    is_whole,
    millionths,
    minor_unit,
    parse,
    split,
    take_from,
    whole_part,
)

CURRENCIES = st.sampled_from(["EUR", "USD", "JPY", "KWD", "CLF"])
COUNTS = st.integers(0, 10**18 - 1)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("29.99", 29_990_000),
        ("0.000001", 1),
        ("007.50", 7_500_000),
        ("999999999999.999999", 10**18 - 1),
    ],
)
def test_an_amount_is_counted_exactly(text: str, count: int) -> None:
    assert counted(text) == count
    assert millionths(Decimal(text)) == count


def test_what_is_no_amount_is_refused_and_told_what_would_be_one(subtests: pytest.Subtests) -> None:
    cases: list[str] = (
        "|-1|+1|1.|.5|1e3|1,5|1.0000001|1000000000000|٣|NaN|Infinity|1 |1\n|0x1|1_0".split("|")
    )
    for text in cases:
        with subtests.test(text=text), pytest.raises(ValueError, match="such as"):
            parse(text)


@pytest.mark.parametrize(
    "number", ["1e12", "1e999999999", "1e-7", "1e-999999999", "NaN", "Infinity", "1.0000005"]
)
def test_a_number_that_is_not_counted_is_refused_at_once(number: str) -> None:
    with pytest.raises(ValueError, match="digits before the point"):
        millionths(Decimal(number))


@given(COUNTS, CURRENCIES)
def test_an_amount_that_is_written_is_read_as_the_same(count: int, currency: str) -> None:
    written = amount(count, currency)
    assert counted(written) == count
    assert amount(-count, currency) == (f"-{written}" if count else written)
    _, _, after = written.partition(".")
    assert 10 ** len(after) >= MILLION // minor_unit(currency)
    assert "e" not in written.lower()


@pytest.mark.parametrize(
    ("count", "currency", "written"),
    [
        (5_000_000, "EUR", "5.00"),
        (5_000_000, "JPY", "5"),
        (5_500_000, "KWD", "5.500"),
        (123, "EUR", "0.000123"),
        (-10_000, "EUR", "-0.01"),
    ],
)
def test_an_amount_has_the_places_of_its_currency_at_least(
    count: int, currency: str, written: str
) -> None:
    assert amount(count, currency) == written


@given(COUNTS, st.lists(st.integers(0, 10_000), min_size=1, max_size=12).filter(any), CURRENCIES)
def test_the_parts_are_exactly_all_of_it(total: int, weights: list[int], currency: str) -> None:
    parts = split(total, weights, currency)
    assert sum(parts) == total
    unit = minor_unit(currency) if is_whole(total, currency) else 1
    for part, weight in zip(parts, weights, strict=True):
        assert part % unit == 0
        assert abs(part * sum(weights) - total * weight) < unit * sum(weights)
        assert weight or part == 0


@given(COUNTS, CURRENCIES)
def test_the_whole_part_leaves_less_than_a_minor_unit(count: int, currency: str) -> None:
    assert is_whole(whole_part(count, currency), currency)
    assert 0 <= count - whole_part(count, currency) < minor_unit(currency)


def test_of_equals_the_first_gets_what_is_over() -> None:
    assert split(counted("10"), [1, 1, 1], "EUR") == [3_340_000, 3_330_000, 3_330_000]


@pytest.mark.parametrize(("total", "weights"), [(-1, [1]), (1, []), (1, [0]), (1, [2, -1])])
def test_what_cannot_be_split_is_refused(total: int, weights: list[int]) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        split(total, weights, "EUR")


@given(st.data(), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_what_is_taken_from_several_is_of_each_no_more_than_it_holds(
    data: st.DataObject, currency: str
) -> None:
    unit = minor_unit(currency)
    count = st.one_of(st.integers(0, 5).map(lambda n: n * unit), st.integers(0, 5 * unit))
    holdings = data.draw(st.lists(count, min_size=1, max_size=4))
    total = min(sum(holdings), data.draw(count))
    parts = take_from(total, holdings, currency)
    assert sum(parts) == total
    assert all(0 <= part <= held for part, held in zip(parts, holdings, strict=True))
    if all(one % unit == 0 for one in (total, *holdings)):
        assert all(part % unit == 0 for part in parts)
    with pytest.raises(ValueError, match="The total must be 0 to the sum of the holdings"):
        take_from(sum(holdings) + 1, holdings, currency)
