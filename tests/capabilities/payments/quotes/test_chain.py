"""Quotes that are passed on: a chain holds as it was signed, and its affiliates share exactly."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import assume, given
from hypothesis import strategies as st

from aitp_desk.capability import Part
from aitp_payments import Payments
from aitp_payments.messages.aitp01 import PUBLISHED
from aitp_payments.messages.signatures import write_key, write_signature
from aitp_payments.messages.site import OwnQuote
from aitp_payments.quotes.wrappers import BrokenChain, check_chain, shares_of, wrapped_bytes
from aitp_payments.settings import PaymentsSettings
from tests.support.payments.checkout import Counter, payment, reason, results

NAMES = ("service.near", "assistant.near", "interface.near")
KEYS = {name: Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32, b".")) for name in NAMES}
PUBLIC = {name: write_key(key.public_key()) for name, key in KEYS.items()}


def wrap(
    quote: dict[str, Any],
    names: Sequence[str] = NAMES,
    added: Sequence[Sequence[dict[str, Any]]] = ((), (), ()),
) -> list[dict[str, Any]]:
    """A chain of wrappers, each signed by whom it names."""
    wrappers: list[dict[str, Any]] = []
    for place, name in enumerate(names):
        wrapper = {
            "affiliate_id": name,
            "role": "service",
            "added_affiliates": list(added[place]),
            "next_recipient": (*names, "user.near")[place + 1],
            "timestamp": "2027-01-15T08:00:00Z",
        }
        signature = write_signature(KEYS[name], wrapped_bytes(quote, wrappers, wrapper))
        wrappers.append({**wrapper, "signature": signature})
    return wrappers


@pytest.fixture
def counter() -> Counter:
    one = Counter(revenue_share_bps=300, affiliates=PUBLIC)
    one.open_account()
    one.open_channel()
    return one


def test_a_quote_is_passed_on_in_the_published_form_too(counter: Counter) -> None:
    own = counter.quote("9.99", version=1)
    content = msgspec.convert(own, OwnQuote)
    part = Part(version=1, key="quote", content=content, given={"quote": own})
    published = counter.payments.as_version(part, 0)
    assert published is not None
    quote = dict(published["quote"])
    wrapped = {"original_quote": quote, "wrappers": wrap(quote)}
    (told,) = counter.say("wrapped_quote", wrapped, version=0)
    assert told.endswith("Affiliates share 3.00 % of the payment: 3.")


def test_those_who_passed_a_quote_on_share_by_weight_to_the_cent(counter: Counter) -> None:
    quote = counter.quote("9.99", version=0)
    assert quote["revenue_share"] == {"affiliate_share_bps": 300, "affiliates": []}
    discovery = {"id": "discovery.near", "role": "discovery", "weight": 2}
    wrapped = {"original_quote": quote, "wrappers": wrap(quote, added=([discovery], [], []))}
    (told,) = counter.say("wrapped_quote", wrapped, version=0)
    assert told.endswith("Affiliates share 3.00 % of the payment: 4.")
    assert counter.say("wrapped_quote", wrapped, version=0) == []
    counter.pay(quote)
    shares = [counter.holds(f"affiliate:{name}") for name in ("discovery.near", *NAMES)]
    # 3 % of 9.99 is 0.29: two fifths are 0.116, and a fifth each 0.058, which lacks more
    assert shares == [Decimal("0.11"), *[Decimal("0.06")] * 3]
    assert counter.holds("merchant") == Decimal("9.70")


def test_what_was_shared_comes_back_with_a_refund(counter: Counter) -> None:
    quote = counter.quote("9.99")
    counter.say("wrapped_quote", {"original_quote": quote, "wrappers": wrap(quote)})
    counter.pay(quote)
    assert counter.holds("affiliate:service.near") > 0
    (paid,) = counter.paid
    counter.started["refund", paid.payment_id] = paid.failing
    counter.work()
    assert counter.holds("affiliate:service.near") == 0
    assert counter.holds("channel:ch_1") == 50


def test_a_chain_goes_on_where_it_ended_and_puts_nobody_aside(counter: Counter) -> None:
    quote = counter.quote()
    whole = wrap(quote)
    for wrappers in (whole[:1], whole[:2], whole):
        (told,) = counter.say("wrapped_quote", {"original_quote": quote, "wrappers": wrappers})
        assert told.startswith(f"The chain of wrappers of the quote {quote['quote_id']} is valid")
    other = wrap(quote, ("assistant.near",))
    said = counter.say("wrapped_quote", {"original_quote": quote, "wrappers": other})
    assert reason(said).startswith("This quote already has another chain of wrappers")
    assert results(said) == ["failure"]


def test_a_changed_a_paid_and_another_callers_quote_are_not_passed_on(counter: Counter) -> None:
    quote = counter.quote("9.99")
    changed = {**quote, "description": "Two maps"}
    said = counter.say("wrapped_quote", {"original_quote": changed, "wrappers": wrap(changed)})
    assert reason(said).startswith("original_quote differs from this site's quote")
    unknown = {**quote, "quote_id": "question_77"}
    said = counter.say("wrapped_quote", {"original_quote": unknown, "wrappers": wrap(unknown)})
    assert reason(said) == "This quote does not exist."
    counter.pay(quote)
    said = counter.say("wrapped_quote", {"original_quote": quote, "wrappers": wrap(quote)})
    assert reason(said) == "This quote was already paid."
    theirs = {**quote, "merchant_id": "store.near"}
    assert counter.say("wrapped_quote", {"original_quote": theirs, "wrappers": []}) == []


@pytest.mark.parametrize(("version", "schema"), [(0, PUBLISHED), (1, None)])
def test_a_refused_chain_is_answered_in_the_schema_it_came_in(
    counter: Counter, version: int, schema: str | None
) -> None:
    quote = counter.quote("9.99", version=version)
    changed = {**quote, "description": "Two maps"}
    wrapped = {"original_quote": changed, "wrappers": wrap(changed)}
    (refused,) = counter.say("wrapped_quote", wrapped, version=version)
    assert refused["payment_confirmation"]["result"] == "failure"
    assert refused.get("$schema") == schema  # without one, it goes out in the site's own


def test_a_site_that_shares_nothing_says_so() -> None:
    one = Counter(affiliates=PUBLIC)
    quote = one.quote()
    assert "revenue_share" not in quote
    (told,) = one.say("wrapped_quote", {"original_quote": quote, "wrappers": wrap(quote)})
    assert told.endswith("Affiliates get no part of the payment.")
    one.open_account()
    one.open_channel()
    assert results(one.say("payment", payment(quote))) == ["success"]
    assert one.holds("merchant") == Decimal("9.99")


def change(chain: list[dict[str, Any]], place: int, how: str) -> list[dict[str, Any]]:
    """A chain with one wrapper changed, left out, repeated, moved or signed by another caller."""
    changed = deepcopy(chain)
    match how:
        case "dropped":
            del changed[place]
        case "repeated":
            changed.insert(place, deepcopy(changed[place]))
        case "moved":
            changed.append(changed.pop(place))
        case "unsigned":
            changed[place]["signature"] = "ed25519:" + "A" * 86 + "=="
        case "role":
            changed[place]["role"] = "discovery"
        case "added":
            changed[place]["added_affiliates"].append({"id": "me.near", "role": "other"})
        case _:
            changed[place][how] += "0"
    return changed


@given(
    st.integers(0, 2),
    st.sampled_from(
        "dropped repeated moved unsigned role added affiliate_id next_recipient signature".split()
    ),
)
def test_any_change_of_a_chain_is_found(place: int, how: str) -> None:
    quote = {"quote_id": "q", "next_recipient": NAMES[0], "merchant_signature": "ed25519:AAAA"}
    chain = wrap(quote)
    check_chain(quote, chain, PUBLIC)
    changed = change(chain, place, how)
    # a caller who leaves out the end of a chain has wrapped nothing
    assume(changed != chain[: len(changed)])
    with pytest.raises(BrokenChain):
        check_chain(quote, changed, PUBLIC)


def test_a_chain_begins_with_whom_the_quote_names() -> None:
    quote = {"quote_id": "q", "next_recipient": "somebody.near"}
    with pytest.raises(BrokenChain, match="must be by somebody"):
        check_chain(quote, wrap(quote), PUBLIC)
    with pytest.raises(BrokenChain, match="which is not an affiliate here"):
        check_chain({"quote_id": "q"}, wrap({"quote_id": "q"}), {})


AFFILIATES = st.lists(
    st.builds(
        lambda name, weight: {"id": f"{name}.near", "role": "other", "weight": weight},
        st.text("abc", min_size=1, max_size=2),
        st.integers(1, 1000),
    ),
    max_size=4,
)


@given(st.integers(1, 10**8), st.integers(0, 10_000), st.tuples(AFFILIATES, AFFILIATES, AFFILIATES))
def test_whatever_the_weights_are_the_parts_are_all_of_it(
    cents: int, bps: int, added: tuple[list[dict[str, Any]], ...]
) -> None:
    one = Counter(revenue_share_bps=bps, affiliates=PUBLIC)
    price = Decimal(cents) / 100
    one.open_account(funds=str(price))
    one.open_channel(funds=str(price))
    quote = one.quote(f"{price:.2f}")
    wrappers = wrap(quote, added=added)
    one.say("wrapped_quote", {"original_quote": quote, "wrappers": wrappers})
    assert results(one.pay(quote)) == ["success"]
    weights = {share.id: share.weight for share in shares_of(quote, wrappers)}
    together = price * bps / 10_000
    parts = {id: one.holds(f"affiliate:{id}") for id in weights}
    shared = sum(parts.values(), Decimal(0))
    assert one.holds("merchant") + shared == price
    assert shared == together.quantize(Decimal("0.01"), "ROUND_DOWN")
    for id, part in parts.items():
        exact = shared * weights[id] / sum(weights.values())
        assert abs(part - exact) < Decimal("0.01")
    assert one.total() == 0


def test_the_key_of_an_affiliate_is_a_key() -> None:
    with pytest.raises(ValueError, match="It must be an Ed25519 public key"):
        Payments(PaymentsSettings(affiliates={"a.near": "AAAA"}))
