"""What fits a field, by its type and by what it is; and which forms can be asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_data import forms
from aitp_data.autocomplete_tokens import CHECKS, is_card_number, is_secret, name_of
from aitp_data.forms import LONGEST_LINE, LONGEST_TEXT, Given, Misfit, check_fields, fit, settle
from aitp_data.messages import FormField
from aitp_desk.capability import InvalidRequest
from tests.support.plugins.forms import CARD, field

FITS: list[tuple[dict[str, Any], str, str]] = [
    ({}, " Ada ", "Ada"),
    ({"type": "textarea"}, "two\nlines", "two\nlines"),
    ({"type": "number"}, "-12.5e3", "-12.5e3"),
    ({"type": "number"}, ".5", ".5"),
    ({"type": "email"}, "ada+x@mail.example.com", "ada+x@mail.example.com"),
    ({"type": "tel"}, "+49 (30) 90-1820 ext. 12", "+49 (30) 90-1820 ext. 12"),
    ({"type": "select", "options": ["S", "M"]}, "M", "M"),
    ({"type": "select", "options": ["S", "Extra  large"]}, "extra large", "Extra  large"),
    ({"type": "combobox", "options": ["S"]}, "my own", "my own"),
    ({"autocomplete": "shipping postal-code"}, "SW1A 1AA", "SW1A 1AA"),
    ({"autocomplete": "section-a billing country"}, "de", "DE"),
    ({"autocomplete": "cc-number"}, CARD, "4242424242424242"),
    ({"autocomplete": "cc-number"}, "3782-822463-10005", "378282246310005"),
    ({"autocomplete": "cc-exp"}, "08/29", "08/29"),
    ({"autocomplete": "cc-exp"}, "2029-08", "2029-08"),
    ({"autocomplete": "cc-csc"}, "0123", "0123"),
    ({"autocomplete": "bday"}, "2000-02-29", "2000-02-29"),
    ({"autocomplete": "url"}, "https://ada.example/x?y", "https://ada.example/x?y"),
    ({"autocomplete": "impp"}, "xmpp:ada@example.com", "xmpp:ada@example.com"),
    ({"autocomplete": "current-password webauthn"}, " pass word ", " pass word "),
    ({"autocomplete": "one-time-code"}, "123-456", "123-456"),
    ({"autocomplete": "language"}, "pt-BR", "pt-BR"),
    ({"autocomplete": "work tel-country-code"}, "+49", "+49"),
    ({"autocomplete": "tel-local"}, "901820", "901820"),
    ({"autocomplete": "transaction-amount"}, "12.50", "12.50"),
    ({"autocomplete": "transaction-currency"}, "EUR", "EUR"),
    ({"autocomplete": "something-new"}, "anything", "anything"),
    ({"autocomplete": "on"}, "anything", "anything"),
]


def test_what_fits_is_kept(subtests: pytest.Subtests) -> None:
    for asked, value, kept in FITS:
        with subtests.test(asked=asked, value=value, kept=kept):
            assert fit(field(**asked), value) == kept


MISFITS: list[tuple[dict[str, Any], str]] = [
    ({}, "two\nlines"),
    ({}, "nul\x00"),
    ({}, "x" * (LONGEST_LINE + 1)),
    ({"type": "textarea"}, "x" * (LONGEST_TEXT + 1)),
    ({"type": "textarea"}, "bell\x07"),
    ({"type": "number"}, "12,5"),
    ({"type": "number"}, "NaN"),
    ({"type": "number"}, "1e999"),
    ({"type": "number"}, "-1e400"),
    ({"type": "number"}, "١٢"),
    ({"type": "email"}, "ada@"),
    ({"type": "email"}, "ada@-example.com"),
    ({"type": "email"}, "a b@example.com"),
    ({"type": "tel"}, "call me"),
    ({"type": "tel"}, "12"),
    ({"type": "select", "options": ["S", "M"]}, "XL"),
    ({"type": "select", "options": ["s", "S "]}, "S"),
    ({"autocomplete": "postal-code"}, "10115!"),
    ({"autocomplete": "country"}, "Germany"),
    ({"autocomplete": "country"}, "XX"),
    ({"autocomplete": "cc-number"}, "4242 4242 4242 4241"),
    ({"autocomplete": "cc-number"}, "42"),
    ({"autocomplete": "cc-exp"}, "13/29"),
    ({"autocomplete": "cc-exp"}, "2029-00"),
    ({"autocomplete": "cc-exp-month"}, "13"),
    ({"autocomplete": "cc-exp-year"}, "9"),
    ({"autocomplete": "cc-csc"}, "12"),
    ({"autocomplete": "bday"}, "2001-02-29"),
    ({"autocomplete": "bday"}, "20010228"),
    ({"autocomplete": "bday-day"}, "32"),
    ({"autocomplete": "bday-month"}, "0"),
    ({"autocomplete": "bday-year"}, "99"),
    ({"autocomplete": "url"}, "javascript:alert(1)"),
    ({"autocomplete": "photo"}, "/relative"),
    ({"autocomplete": "impp"}, "ada"),
    ({"autocomplete": "one-time-code"}, "what code"),
    ({"autocomplete": "language"}, "-"),
    ({"autocomplete": "tel-country-code"}, "Germany"),
    ({"autocomplete": "tel-national"}, "x"),
    ({"autocomplete": "tel-extension"}, "x1"),
    ({"autocomplete": "transaction-amount"}, "12 EUR"),
    ({"autocomplete": "transaction-currency"}, "EURO"),
]


def test_what_does_not_fit_is_said_without_the_value(subtests: pytest.Subtests) -> None:
    for asked, value in MISFITS:
        with subtests.test(asked=asked, value=value):
            with pytest.raises(Misfit) as misfit:
                fit(field(label="The field", **asked), value)
            assert misfit.value.why.startswith("“The field” ")
            example = misfit.value.why.partition(", such as ")[0]
            assert len(value) < 3 or value not in example


def test_every_token_that_is_checked_takes_something_and_refuses_something() -> None:
    fitting = {name_of(asked.get("autocomplete", "")) for asked, _, _ in FITS}
    misfitting = {name_of(asked.get("autocomplete", "")) for asked, _ in MISFITS}
    by_type = {"email", "tel"}
    same = {"photo", "bday-day", "bday-month", "bday-year", "cc-exp-month", "cc-exp-year"}
    digits = {"tel-national", "tel-area-code", "tel-local-prefix", "tel-local-suffix"}
    assert CHECKS.keys() - fitting - by_type <= same | digits | {"tel-extension"}
    assert CHECKS.keys() - misfitting - by_type <= digits | {"tel-local"}


@given(st.sampled_from(sorted(CHECKS)), st.text(max_size=60))
def test_every_check_says_yes_or_no_of_any_text(token: str, text: str) -> None:
    check, _ = CHECKS[token]
    assert check(text) in {True, False}


@given(
    st.builds(
        field,
        type=st.sampled_from(("text", "number", "email", "textarea", "combobox", "tel")),
        autocomplete=st.sampled_from(("", "name", *CHECKS)),
    ),
    st.text(max_size=60),
)
def test_what_is_kept_fits_again_and_stays(asked: FormField, text: str) -> None:
    try:
        kept = fit(asked, text)
    except Misfit:
        return
    assert fit(asked, kept) == kept


@given(st.text("0123456789", min_size=11, max_size=18))
def test_of_ten_last_digits_one_makes_a_card_number(digits: str) -> None:
    assert sum(is_card_number(f"{digits}{last}") for last in range(10)) == 1


def test_passwords_codes_and_all_of_a_card_are_secret() -> None:
    secret = ("new-password", "current-password", "one-time-code", "cc-csc", "cc-name", "cc-exp")
    assert all(map(is_secret, secret))
    for written in ("CC-Number", "billing cc-csc", "cc-number webauthn", "cc-number billing"):
        assert forms.is_secret(field(autocomplete=written)), written
    assert not any(map(is_secret, ("", "name", "email", "tel", "postal-code", "on", "ccnumber")))


FORM = (field(id="a", required=True), field(id="b", sensitive=True), field(id="c"))


def test_a_reply_is_in_the_order_of_the_form_and_knows_what_is_sealed() -> None:
    given = (Given("c", "3", "at"), Given("b", "2", "at"), Given("a", "1", "at"))
    filled = settle(FORM, given)
    assert [(one.field.id, one.value, one.is_sealed) for one in filled] == [
        ("a", "1", False),
        ("b", "2", True),
        ("c", "3", False),
    ]
    (hidden,) = settle(FORM, (Given("a", "1", "at", is_hidden=True),))
    assert hidden.is_sealed, "whoever encrypts something does not want it read"
    assert "2" not in repr(filled[1])
    assert "2" not in repr(given[1])


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ((Given("a", "1", "here"), Given("x", "1", "there")), "there"),
        ((Given("a", "1", "here"), Given("a", "1", "there")), "there"),
        ((Given("b", "1", "here"),), "data.fields.a"),
        ((Given("a", "  ", "here"),), "data.fields.a"),
        ((Given("a", "1\n2", "here"),), "here"),
    ],
    ids=["unknown", "twice", "missing", "empty", "two lines"],
)
def test_a_reply_that_is_none_names_what_is_wrong(given: tuple[Given, ...], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        settle(FORM, given)
    assert refused.value.param == param


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ([field(id="a"), field(id="a")], "at[1].id"),
        ([field(type="select")], "at[0].options"),
        ([field(type="select", options=["", " "])], "at[0].options"),
        ([field(type="number", default_value="many")], "at[0].default_value"),
        ([field(sensitive=True, default_value="x")], "at[0].default_value"),
        ([field(autocomplete="cc-number", default_value=CARD)], "at[0].default_value"),
    ],
)
def test_a_form_that_nobody_could_fill_in_is_refused(fields: list[FormField], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        check_fields(fields, "at")
    assert refused.value.param == param
