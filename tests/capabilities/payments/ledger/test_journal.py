"""What is booked adds up to 0, once; no account but the world outside has less than nothing."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_payments.ledger import names
from aitp_payments.ledger.accounts import (
    Account,
    account_of,
    account_of_code,
    account_of_owner,
    check_public_key,
    digest,
    open_account,
    plain_code,
    printed_code,
)
from aitp_payments.ledger.journal import (
    Entry,
    Leg,
    balance,
    entry_key,
    is_booked,
    lacks,
    move,
    post,
)
from aitp_payments.ledger.refunds import refund
from aitp_payments.ledger.shares import RevenueSplit, paid
from aitp_payments.ledger.statements import in_order, statement
from tests.support.payments.books import Moved, Shelf

CASH, MERCHANT = names.outside("cash"), names.MERCHANT
KEY = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"  # RFC 8037, appendix A


def test_a_transaction_moves_money_and_is_kept_as_it_was_booked() -> None:
    books = Shelf()
    books.apply(post("cash:1", move(CASH, "acct_a", "EUR", 5_000_000), kind="credit", at=7))
    assert balance(books, "acct_a", "EUR") == 5_000_000
    assert balance(books, CASH, "EUR") == -5_000_000
    record = books.record(entry_key("cash:1"))
    assert record is not None
    entry = msgspec.convert(record.value, Entry)
    assert (entry.kind, entry.at, sum(leg.millionths for leg in entry.legs)) == ("credit", 7, 0)


def test_a_statement_lists_what_was_booked_in_one_second_in_its_order() -> None:
    books = Shelf()
    booked = [f"cash:{9 - number}" for number in range(10)]
    for transaction in booked:
        books.apply(post(transaction, move(CASH, "acct_a", "EUR", 5), kind="credit", at=7))
    kept = [books.record(entry_key(transaction)) for transaction in sorted(booked)]
    entries = [msgspec.convert(one.value, Entry) for one in kept if one is not None]
    assert [line.transaction for line in statement(entries, "acct_a")] == booked
    assert [entry.transaction for entry in in_order(entries)] == booked


def test_a_transaction_is_booked_once_ever() -> None:
    books = Shelf()
    effects = post("cash:1", move(CASH, "acct_a", "EUR", 5), kind="credit", at=7)
    books.apply(effects)
    assert is_booked(books, "cash:1")
    with pytest.raises(Moved):
        books.apply(effects)
    assert balance(books, "acct_a", "EUR") == 5


def test_too_little_money_is_reported_with_the_difference_and_nothing_is_booked() -> None:
    books = Shelf()
    books.apply(post("cash:1", move(CASH, "acct_a", "EUR", 5), kind="credit", at=7))
    legs = [*move("acct_a", MERCHANT, "EUR", 4), *move("acct_a", "affiliate:b", "EUR", 3)]
    assert lacks(books, legs) == Leg("acct_a", "EUR", 2)
    with pytest.raises(Moved):
        books.apply(post("pay:1", legs, kind="payment", at=8))
    assert (balance(books, "acct_a", "EUR"), balance(books, MERCHANT, "EUR")) == (5, 0)
    assert lacks(books, legs[:2]) is None
    assert lacks(books, move("acct_a", MERCHANT, "USD", 1)) == Leg("acct_a", "USD", 1)


@given(
    st.lists(
        st.builds(
            Leg,
            st.sampled_from(["merchant", "acct_a", "channel:c", "affiliate:x"]),
            st.sampled_from(["EUR", "JPY"]),
            st.integers(-50, 50),
        ),
        max_size=6,
    )
)
def test_what_does_not_add_up_in_each_currency_is_never_booked(legs: list[Leg]) -> None:
    sums = {
        currency: sum(leg.millionths for leg in legs if leg.currency == currency)
        for currency in ("EUR", "JPY")
    }
    try:
        effects = post("t", legs, kind="payment", at=1)
    except ValueError:
        places = {(leg.account, leg.currency) for leg in legs}
        moved = any(
            sum(leg.millionths for leg in legs if (leg.account, leg.currency) == place)
            for place in places
        )
        assert any(sums.values()) or not moved
    else:
        assert not any(sums.values())
        assert len(effects) >= 3


@pytest.mark.parametrize(
    "legs",
    [
        (),
        move("acct_a", "acct_a", "EUR", 5),
        move("acct_a", "nobody", "EUR", 5),
        move("acct_a", "acct_B", "EUR", 5),
        move("acct_a", "acct_b", "euro", 5),
        (Leg("acct_a", "EUR", -5), Leg("acct_b", "USD", 5)),
    ],
)
def test_what_nobody_can_book_is_a_fault(legs: tuple[Leg, ...]) -> None:
    with pytest.raises(ValueError, match=r"is not an|moves nothing|must add up to 0"):
        post("t", legs, kind="payment", at=1)


def test_an_affiliate_of_any_name_has_an_account() -> None:
    ids = ["a.example/agent", "x" * 400, "Größe", "two words", "sha256:0", "\n"]
    accounts = {names.affiliate(id) for id in ids}
    assert len(accounts) == len(ids)
    assert all(map(names.is_account, accounts))


def test_an_account_is_found_by_its_id_its_owner_and_its_code() -> None:
    books = Shelf()
    code = plain_code("SC-7K2QX-00000-11111-ABCDE")
    assert code is not None
    account = Account(
        id="acct_1", opened_at=5, keys=(KEY,), owner=digest("key:a"), code=digest(code)
    )
    books.apply(open_account(account))
    assert account_of(books, "acct_1") == account
    assert account_of_owner(books, "key:a") == account
    assert account_of_code(books, printed_code(code).lower().replace("-", " ")) == account
    assert account_of_code(books, "SC-7K2QX-OOOOO-IIIII-ABCDE") == account
    assert account_of_code(books, "SC-7K2QX-00000-11111-ABCDF") is None
    assert account_of_code(books, "open sesame") is None
    assert account_of_owner(books, "key:b") is None
    assert account_of(books, "merchant") is None
    assert account.is_of("key:a")
    assert not account.is_of(None)
    assert not Account(id="acct_2", opened_at=5, keys=(KEY,)).is_of("")
    kept = str(books.records)
    assert "key:a" not in kept
    assert code not in kept


def test_an_id_an_owner_and_a_code_have_one_account_each() -> None:
    books = Shelf()
    books.apply(open_account(Account(id="acct_1", opened_at=5, owner="d1", code="d2")))
    for other in (
        Account(id="acct_1", opened_at=5, keys=(KEY,)),
        Account(id="acct_2", opened_at=5, owner="d1"),
        Account(id="acct_3", opened_at=5, code="d2"),
    ):
        with pytest.raises(Moved):
            books.apply(open_account(other))


@pytest.mark.parametrize(
    "account",
    [
        Account(id="merchant", opened_at=5, owner="d"),
        Account(id="acct_A", opened_at=5, owner="d"),
        Account(id="acct_1", opened_at=5),
        Account(id="acct_1", opened_at=5, keys=("short",)),
        Account(id="acct_1", opened_at=5, keys=(f"{KEY}=",)),
        Account(id="acct_1", opened_at=5, keys=(f"{KEY[:-1]}p",)),
    ],
)
def test_an_account_that_nobody_could_use_is_not_opened(account: Account) -> None:
    with pytest.raises(
        ValueError, match=r"is not an account id|Without one it cannot be spent|public key"
    ):
        open_account(account)


@given(st.text(max_size=50))
def test_what_is_no_key_and_no_code_is_reported_as_such(text: str) -> None:
    with pytest.raises(ValueError, match="Ed25519"):
        check_public_key(text)
    assert plain_code(text) is None or len(text) >= 20


def test_a_price_finer_than_a_cent_goes_back_in_whole_cents_and_the_rest_after_it() -> None:
    books = Shelf()
    for account in ("acct_a", MERCHANT):
        legs = move(CASH, account, "EUR", 50_000)
        books.apply(post(f"cash:{account}", legs, kind="credit", at=1))
    shared = paid("acct_a", 15_000, "EUR", RevenueSplit(5_000, {"x": 1}))
    books.apply(post("pay:1", shared, kind="payment", at=2))
    books.apply(refund(books, "pay:1", 10_000, reference="part"))
    books.apply(refund(books, "pay:1", reference="whole"))
    held = [balance(books, one, "EUR") for one in ("acct_a", MERCHANT, names.affiliate("x"))]
    assert held == [50_000, 50_000, 0]
