"""Channels and authorisations as they are asked for: by whom, once, and what is answered."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.capability import Context, InvalidRequest, Job, Own, Part, Say, Start, Take
from aitp_payments import Payments
from aitp_payments.ledger import names
from aitp_payments.ledger.accounts import Account, digest, open_account
from aitp_payments.ledger.journal import balance, move, post
from aitp_payments.messages import site as own_messages
from aitp_payments.messages.signatures import sign
from aitp_payments.quotes.merchant import moment
from aitp_payments.settings import PaymentsSettings
from tests.support.payments.books import Shelf

SITE = "https://shop.example"
ANNA = Ed25519PrivateKey.from_private_bytes(b"a" * 32)
AGENT = Ed25519PrivateKey.from_private_bytes(b"b" * 32)
HOUR = 3600
AMOUNT: dict[str, Any] = {"account": "acct_a", "amount": "4.00", "currency": "EUR"}


def public(private: Ed25519PrivateKey) -> str:
    raw = private.public_key().public_bytes_raw()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Counter:
    """Who says messages to the capability, and has what it wants written."""

    def __init__(self) -> None:
        self.shelf = Shelf(now=1_800_000_000)
        self.payments = Payments(PaymentsSettings())
        self.payments.use(Own(SITE, lambda purpose: hashlib.sha256(purpose.encode()).digest()))
        account = Account(id="acct_a", opened_at=1, keys=(public(ANNA),), owner=digest("key:anna"))
        self.shelf.apply(open_account(account))
        legs = move(names.outside("cash"), "acct_a", "EUR", 10_000_000)
        self.shelf.apply(post("cash:1", legs, kind="credit", at=1))

    def say(
        self,
        key: str,
        by: Ed25519PrivateKey | str | None = ANNA,
        *,
        merchant: str | None = SITE,
        scopes: frozenset[str] = frozenset(),
        actor: str = "visitor",
        **members: Any,
    ) -> dict[str, Any]:
        """Say a message; what the desk answers.

        Parameters:
            by: who signs it; a caller's id, where nobody does.
        """
        given = members if merchant is None else {**members, "merchant_id": merchant}
        if isinstance(by, Ed25519PrivateKey):
            given = sign(by, given, "payer_signature")
        context = Context(
            now=self.shelf.now,
            thread_id="thread_1",
            message_id=f"msg_{len(self.shelf.records)}",
            actor=actor,
            own=SITE,
            principal=by if isinstance(by, str) else None,
            scopes=scopes,
            records=self.shelf.records,
            counters=self.shelf.counters,
        )
        content = msgspec.convert(given, own_messages.MESSAGES[key])
        part = Part(version=1, key=key, content=content, given={"$schema": "s", key: given})
        verdict = self.payments.judge(part, context)
        assert isinstance(verdict, Take), verdict
        self.shelf.apply(verdict.effects)
        (said,) = [effect.content for effect in verdict.effects if isinstance(effect, Say)]
        assert not isinstance(said, str)
        ((told, answer),) = said.items()
        answer = msgspec.to_builtins(answer)
        if told != "not_booked":
            assert self.payments.merchant.has_signed(answer)
        shown = Part(
            version=1,
            key=told,
            content=msgspec.convert(answer, own_messages.MESSAGES[told]),
            given={told: answer},
        )
        assert self.payments.as_text(shown)
        assert self.payments.as_text(part)
        return {"key": told, **answer}

    def held(self, account: str = "acct_a") -> int:
        return balance(self.shelf, account, "EUR")


@pytest.fixture
def counter() -> Counter:
    return Counter()


def channel(counter: Counter, **members: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "channel_id": "c-1",
        "account": "acct_a",
        "amount": "4.00",
        "currency": "EUR",
    }
    return counter.say("open_channel", **asked | members)


def hold(counter: Counter, seconds: int = HOUR, **members: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "authorization_id": "h-1",
        "account": "acct_a",
        "amount": "4.00",
        "currency": "EUR",
    }
    asked["expiration"] = moment(counter.shelf.now + seconds)
    return counter.say("authorize", **asked | members)


def test_a_channel_is_opened_drawn_from_captured_and_closed(counter: Counter) -> None:
    opened = channel(counter)
    assert (opened["key"], opened["state"], opened["left"]) == ("channel", "open", "4.00")
    assert counter.held() == 6_000_000
    drawn = counter.say("draw", channel_id="c-1", total="0.0003")
    assert (drawn["left"], drawn["drawn"], drawn["total"]) == ("3.9997", "0.0003", "0.0003")
    assert counter.say("draw", channel_id="c-1", total="0.0003") == drawn
    assert counter.say("draw", channel_id="c-1", total="0.0001") == drawn
    more = counter.say("draw", channel_id="c-1", total="1.2578")
    assert more["drawn"] == "1.2578"
    taken = counter.say(
        "capture", None, merchant=None, channel_id="c-1", scopes=frozenset({"operator"})
    )
    assert (taken["captured"], taken["drawn"]) == ("1.25", "0.0078")
    closed = counter.say("close_channel", channel_id="c-1")
    assert (closed["state"], closed["left"], closed["captured"]) == ("closed", "0.00", "1.25")
    assert counter.say("close_channel", channel_id="c-1") == closed
    assert counter.held() == 8_750_000
    assert counter.held(names.MERCHANT) == 1_250_000
    assert counter.say("draw", channel_id="c-1", total="2")["code"] == "closed"


def test_what_is_asked_twice_is_done_once(counter: Counter) -> None:
    assert channel(counter) == channel(counter)
    assert channel(counter, by="key:anna", amount="5.00")["left"] == "4.00"
    added: dict[str, Any] = {"channel_id": "c-1", "amount": "1.00", "reference": "t-1"}
    assert counter.say("top_up_channel", **added)["left"] == "5.00"
    assert counter.say("top_up_channel", **added)["left"] == "5.00"
    drawn: dict[str, Any] = {"channel_id": "c-1", "amount": "0.50", "reference": "d-1"}
    assert counter.say("draw", **drawn) == counter.say("draw", **drawn)
    assert counter.held() == 5_000_000


def test_an_opening_that_is_sent_again_by_others_does_not_tell_what_is_left(
    counter: Counter,
) -> None:
    for opening, name, id in ((channel, "channel_id", "c-1"), (hold, "authorization_id", "h-1")):
        assert opening(counter)["left"] == "4.00"
        assert opening(counter)["left"] == "4.00"
        drawn: dict[str, Any] = {name: id, "total": "0.50"}
        counter.say("draw", **drawn)
        told = opening(counter)
        assert (told["key"], told["code"]) == ("not_booked", "not_allowed")
        assert "3.5" not in str(told)
        assert opening(counter, by="key:anna")["left"] == "3.50"


def test_what_sounds_like_something_else_is_done_all_the_same(counter: Counter) -> None:
    channel(counter, channel_id="c")
    channel(counter, channel_id="c:d")
    first = counter.say("draw", channel_id="c", amount="0.50", reference="d:1")
    other = counter.say("draw", channel_id="c:d", amount="0.70", reference="1")
    assert (first["drawn"], other["drawn"]) == ("0.50", "0.70")
    counter.say("draw", channel_id="c", amount="0.10", reference="total:1000000")
    assert counter.say("draw", channel_id="c", total="1.00")["drawn"] == "1.60"
    counter.say("top_up_channel", channel_id="c", amount="0.20", reference="d:2")
    added = counter.say("top_up_channel", channel_id="c:d", amount="0.30", reference="2")
    assert added["left"] == "3.60"


def test_a_deposit_is_authorised_and_a_part_of_it_captured(counter: Counter) -> None:
    people = frozenset({"operator"})
    authorized = hold(counter)
    assert (authorized["key"], authorized["left"]) == ("authorization", "4.00")
    (release,) = [one for one in counter.shelf.others if isinstance(one, Start)]
    assert (release.job, release.ref, release.after) == ("purses_release", "h-1", HOUR)
    asked: dict[str, Any] = {"merchant": None, "authorization_id": "h-1", "scopes": people}
    assert counter.say("capture", None, amount="4.01", **asked)["code"] == "too_much"
    assert counter.say("capture", None, amount="0.001", **asked)["code"] == "too_fine"
    assert counter.say("capture", None, amount="1.50", **asked)["captured"] == "1.50"
    last = counter.say("capture", None, amount="1.00", is_last=True, **asked)
    assert (last["state"], last["captured"]) == ("closed", "2.50")
    assert counter.held() == 7_500_000
    assert counter.say("capture", None, amount="0.50", **asked)["code"] == "closed"


def test_what_was_drawn_is_captured_before_the_rest(counter: Counter) -> None:
    hold(counter)
    counter.say("draw", authorization_id="h-1", total="2.50")
    asked: dict[str, Any] = {
        "merchant": None,
        "authorization_id": "h-1",
        "scopes": frozenset({"operator"}),
    }
    taken = counter.say("capture", None, amount="3.50", **asked)
    assert (taken["captured"], taken["drawn"], taken["left"]) == ("3.50", "0.00", "0.50")
    assert counter.say("capture", None, amount="0.51", **asked)["code"] == "too_much"
    assert counter.say("capture", None, amount="0.50", **asked)["captured"] == "4.00"


async def test_an_authorisation_that_has_had_its_time_goes_back(counter: Counter) -> None:
    hold(counter)
    counter.say("draw", authorization_id="h-1", total="1.009")
    counter.shelf.now += HOUR
    assert counter.say("draw", authorization_id="h-1", total="2")["code"] == "expired"

    async def read(key: str) -> None:
        raise AssertionError(key)

    job = Job(ref="h-1", payload=None, now=counter.shelf.now, thread_id=None, read=read)
    decide = await counter.payments.jobs()["purses_release"].do(job)
    assert callable(decide)
    for _ in range(2):
        context = Context(
            now=counter.shelf.now,
            records=counter.shelf.records,
            counters=counter.shelf.counters,
        )
        counter.shelf.apply(decide(context))
        assert (counter.held(), counter.held(names.MERCHANT)) == (9_000_000, 1_000_000)


def test_people_of_the_site_release_an_authorisation(counter: Counter) -> None:
    hold(counter)
    people = frozenset({"operator"})
    released = counter.say("release", None, authorization_id="h-1", scopes=people)
    assert released["state"] == "closed"
    assert counter.held() == 10_000_000


@pytest.mark.parametrize("key", ["capture", "release"])
def test_the_sites_agent_neither_captures_nor_releases(counter: Counter, key: str) -> None:
    hold(counter)
    before = counter.held()
    refused = counter.say(key, None, actor=SITE, authorization_id="h-1")
    assert (refused["code"], counter.held()) == ("not_allowed", before)


def test_the_payer_releases_an_authorisation_once_its_time_is_over(counter: Counter) -> None:
    hold(counter)
    assert counter.say("release", authorization_id="h-1")["code"] == "not_allowed"
    counter.shelf.now += HOUR
    assert counter.say("release", AGENT, authorization_id="h-1")["code"] == "wrong_signature"
    assert counter.say("release", authorization_id="h-1")["state"] == "closed"
    assert counter.held() == 10_000_000


def test_what_is_captured_is_shared_exactly(counter: Counter) -> None:
    hold(counter)
    told = counter.say(
        "capture",
        None,
        merchant=None,
        authorization_id="h-1",
        amount="1.00",
        revenue_share={
            "affiliate_share_bps": 1000,
            "affiliates": [
                {"id": "x.example", "role": "discovery", "weight": 2},
                {"id": "y.example", "role": "service"},
            ],
        },
        scopes=frozenset({"operator"}),
    )
    assert told["captured"] == "1.00"
    assert counter.held(names.affiliate("x.example")) == 70_000
    assert counter.held(names.affiliate("y.example")) == 30_000
    assert counter.held(names.MERCHANT) == 900_000


def test_only_who_owns_an_account_spends_it(counter: Counter) -> None:
    assert channel(counter, by=AGENT)["code"] == "wrong_signature"
    assert channel(counter, by=None)["code"] == "not_allowed"
    assert channel(counter, by="key:berta")["code"] == "not_allowed"
    assert channel(counter, account="acct_b")["code"] == "not_allowed"
    assert channel(counter, merchant="https://other.example")["code"] == "not_allowed"
    assert counter.held() == 10_000_000
    assert channel(counter, by="key:anna")["key"] == "channel"


def test_a_channels_own_key_pays_from_it_and_does_nothing_else(counter: Counter) -> None:
    channel(counter, keys=[public(AGENT)])
    assert counter.say("draw", AGENT, channel_id="c-1", total="1")["drawn"] == "1.00"
    assert counter.say("draw", ANNA, channel_id="c-1", total="2")["code"] == "wrong_signature"
    assert counter.say("draw", "key:anna", channel_id="c-1", total="2")["drawn"] == "2.00"
    for message in ("close_channel", "top_up_channel"):
        more: dict[str, Any] = {}
        if message == "top_up_channel":
            more = {"amount": "1", "reference": "r"}
        told = counter.say(message, AGENT, channel_id="c-1", **more)
        assert told["code"] == "wrong_signature"


def test_too_little_money_is_reported_with_the_difference(counter: Counter) -> None:
    told = channel(counter, amount="12.50")
    assert (told["code"], told["lacking"], told["currency"]) == ("insufficient", "2.50", "EUR")
    channel(counter)
    told = counter.say("draw", channel_id="c-1", total="4.000001")
    assert (told["code"], told["lacking"]) == ("insufficient", "0.000001")


def test_its_state_is_returned_to_callers_who_may_know_it(counter: Counter) -> None:
    opened = channel(counter)
    assert counter.say("request_statement", "key:anna", channel_id="c-1") == opened
    stamp = moment(counter.shelf.now)
    told = counter.say("request_statement", account="acct_a", currency="EUR", timestamp=stamp)
    assert (told["key"], told["balance"]) == ("statement", "6.00")
    counter.shelf.now += HOUR
    late = counter.say("request_statement", account="acct_a", currency="EUR", timestamp=stamp)
    assert late["code"] == "too_late"
    assert counter.say("request_statement", None, channel_id="c-1")["code"] == "not_allowed"


@pytest.mark.parametrize(
    ("key", "members", "param"),
    [
        ("draw", {"total": "1"}, "draw"),
        ("draw", {"channel_id": "c-1"}, "draw.total"),
        ("draw", {"channel_id": "c-1", "amount": "1"}, "draw.total"),
        ("draw", {"channel_id": "c-1", "total": "0"}, "draw.total"),
        ("draw", {"channel_id": "c-1", "total": "1.0000001"}, "draw.total"),
        ("request_statement", {"account": "acct_a"}, "request_statement.currency"),
    ],
)
def test_what_says_too_little_is_refused(
    counter: Counter, key: str, members: dict[str, Any], param: str
) -> None:
    channel(counter)
    with pytest.raises(InvalidRequest) as refused:
        counter.say(key, "key:anna", **members)
    assert refused.value.param == param


def test_an_authorisation_ends_within_a_month(counter: Counter) -> None:
    assert hold(counter, seconds=0)["code"] == "too_late"
    assert hold(counter, seconds=32 * 24 * HOUR)["code"] == "too_late"
