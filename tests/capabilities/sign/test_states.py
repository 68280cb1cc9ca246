"""Signatures as they are judged: what proves what was asked counts once, and nothing else does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import (
    Asking,
    Audit,
    Confirm,
    Forbidden,
    InvalidRequest,
    Own,
    Replace,
    Resume,
    Take,
    Then,
)
from aitp_sign import Sign
from aitp_sign.evm.eip712 import TypedData
from aitp_sign.presentation.display import quoted, visible
from aitp_sign.subjects import EvmCall, NearCall, Scheme, Typed
from tests.capabilities.sign.test_messages import EVM, NEAR
from tests.support.access.signatures import (
    ADDRESS,
    ALICE,
    BOB,
    MAIL,
    ORDER,
    key_of,
    sign,
    sign_request,
    statement_of,
)
from tests.support.plugins.thread_records import FRIEND, GUEST, NOON, SHOP, OneThread, told

OPERATOR = f"{SHOP}/operators/anna"
SCHEMES: tuple[Scheme, ...] = ("ed25519", "jws", "nep413", "eip191", "eip712")


class Signatures(OneThread):
    """What is signed on one thread."""

    def __init__(self, *parties: str, **chosen: Any) -> None:
        capability = Sign(msgspec.convert(chosen, Sign.settings))
        capability.use(Own(SHOP, lambda purpose: hashlib.sha256(purpose.encode()).digest()))
        super().__init__(capability, dict.fromkeys(parties or (GUEST,), "key:1"))
        self.sign = capability

    def ask(self, asked_by: Asking | None = None, **request: Any) -> Any:
        """Ask, and return the request on the thread."""
        verdict = self.say(SHOP, "request_signature", request, asked_by)
        (replaced,) = (one for one in verdict.effects if isinstance(one, Replace))
        return json.loads(msgspec.json.encode(replaced.given))["request_signature"]

    def answer(self, signature: Mapping[str, Any], actor: str = GUEST) -> Any:
        """Answer, and return what is reported of it."""
        return result(self.say(actor, "signature", signature))


def result(verdict: Take) -> Any:
    (said,) = told(verdict)
    plain = msgspec.to_builtins(said)
    return plain.get("signature_result", plain) if isinstance(plain, dict) else plain


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_text_is_signed_by_every_scheme_and_counts_once(scheme: Scheme) -> None:
    thread = Signatures()
    asked = thread.ask(**ORDER)
    assert asked["recipient"] == SHOP
    signature = sign_request(asked, scheme)
    proved = thread.answer(signature)
    assert proved["result"] == "success", proved
    assert proved["scheme"] == scheme
    if scheme != "jws":
        signer = proved.get("account") or proved["public_key"]
        assert signer == (ADDRESS if scheme.startswith("eip") else key_of(ALICE))
    again = thread.answer(signature)
    assert (again["reason"], again["result"]) == ("not_open", "failure")


def test_a_signature_for_another_request_proves_nothing() -> None:
    thread = Signatures()
    first, second = thread.ask(**ORDER), thread.ask(**{**ORDER, "id": "order-8"})
    assert first["nonce"] != second["nonce"]
    moved = {**sign_request(first), "request_id": "order-8"}
    assert thread.answer(moved)["reason"] == "bad_signature"
    assert thread.answer(sign_request(second))["result"] == "success"


def test_text_nonce_recipient_and_expiry_are_all_signed(subtests: pytest.Subtests) -> None:
    changeds: list[str] = ["text", "nonce", "recipient", "valid_until"]
    for changed in changeds:
        for scheme in SCHEMES:
            with subtests.test(scheme=scheme, changed=changed):
                thread = Signatures()
                asked = thread.ask(**ORDER)
                other = {
                    "text": "I buy two.",
                    "nonce": "A" * 43,
                    "recipient": "https://elsewhere.example",
                    "valid_until": "2030-01-01T00:00:00Z",
                }
                signature = sign_request({**asked, changed: other[changed]}, scheme)
                if scheme in {"eip191", "eip712"}:
                    # such a signature has a signer, and not the one it should have
                    signature["account"] = ADDRESS
                failed = thread.answer(signature)
                assert failed["result"] == "failure"
                assert failed["reason"] in {"bad_signature", "wrong_account"}
                assert thread.answer(sign_request(asked, scheme))["result"] == "success", (
                    "it can be corrected"
                )


@given(st.sampled_from(SCHEMES), st.integers(0, 10_000), st.integers(1, 255))
def test_a_signature_that_was_changed_anywhere_proves_nothing(
    scheme: Scheme, place: int, by: int
) -> None:
    thread = Signatures()
    asked = thread.ask(**ORDER, account=ADDRESS if scheme.startswith("eip") else "")
    signature = sign_request(asked, scheme)
    text = signature["signature"]
    at = place % len(text)
    letter = chr((ord(text[at]) - 33 + by) % 90 + 33)
    if text[at].lower() == letter.lower() and scheme.startswith("eip"):
        return
    signature["signature"] = text[:at] + letter + text[at + 1 :]
    if signature["signature"] == text:
        return
    assert thread.answer(signature)["result"] == "failure"


def test_who_is_to_sign_is_who_signs() -> None:
    thread = Signatures()
    asked = thread.ask(**ORDER, public_key=key_of(BOB))
    assert thread.answer(sign_request(asked))["reason"] == "wrong_key"
    assert thread.answer(sign_request(asked, private=BOB))["result"] == "success"


def test_an_account_of_near_is_proved_by_its_name_or_by_the_key_that_is_expected() -> None:
    implicit = ALICE.public_key().public_bytes_raw().hex()
    thread = Signatures()
    asked = thread.ask(**ORDER, account=implicit, schemes=["nep413"])
    other = sign_request(asked, "nep413", BOB, account=implicit)
    assert thread.answer(other)["reason"] == "wrong_account"
    proved = thread.answer(sign_request(asked, "nep413", account=implicit))
    assert (proved["result"], proved["account_proved"]) == ("success", True)

    named = thread.ask(**{**ORDER, "id": "2"}, account="alice.near", schemes=["nep413"])
    said = sign_request(named, "nep413", account="alice.near")
    assert thread.answer(said)["reason"] == "wrong_account", "nobody here knows alice.near's keys"
    request = {**ORDER, "id": "3", "account": "alice.near", "public_key": key_of(ALICE)}
    known = thread.ask(**request, schemes=["nep413"])
    proved = thread.answer(sign_request(known, "nep413", account="alice.near"))
    assert (proved["result"], proved.get("account_proved", False)) == ("success", False)


def test_what_a_wallet_adds_as_callback_is_signed_too() -> None:
    thread = Signatures()
    asked = thread.ask(**ORDER)
    signature = sign_request(asked, "nep413", callback_url="https://shop.example/back")
    assert thread.answer({**signature, "callback_url": ""})["reason"] == "bad_signature"
    assert thread.answer(signature)["result"] == "success"


@pytest.mark.requirement("AITP-capabilities-7")
def test_typed_data_and_transactions_are_signed_once_for_every_request() -> None:
    thread = Signatures()
    subjects: list[tuple[dict[str, Any], Any, Scheme]] = [
        (
            {"typed_data": MAIL},
            Typed(msgspec.convert(MAIL, TypedData)),
            "eip712",
        ),
        (
            {"evm_transaction": {"evm": EVM, "chain_id": 1}},
            msgspec.convert({"type": "evm", "transaction": EVM, "chain_id": 1}, EvmCall),
            "evm",
        ),
        (
            {"near_transaction": {**NEAR, "public_key": key_of(ALICE)}},
            msgspec.convert(
                {"type": "near", "transaction": {**NEAR, "public_key": key_of(ALICE)}}, NearCall
            ),
            "near",
        ),
    ]
    for number, (request, subject, scheme) in enumerate(subjects):
        results = []
        for id in (f"{number}-first", f"{number}-again"):
            thread.ask(id=id, **request)
            results.append(thread.answer({**sign(subject, scheme, 0), "request_id": id}))
        assert [one["result"] for one in results] == ["success", "failure"]
        assert results[-1]["reason"] == "replayed"


def test_what_comes_too_late_or_from_others_is_refused() -> None:
    thread = Signatures(GUEST, FRIEND)
    asked = thread.ask(**ORDER, actor=GUEST)
    assert thread.answer(sign_request(asked), FRIEND)["reason"] == "not_yours"
    thread.now += 24 * 60 * 60
    assert thread.answer(sign_request(asked))["reason"] == "not_open"
    unknown = thread.answer({**sign_request(asked), "request_id": "other"})
    assert unknown["reason"] == "unknown_request"


def test_a_private_key_is_refused_and_not_kept() -> None:
    thread = Signatures()
    signature = sign_request(thread.ask(**ORDER), "jws")
    signature["jwk"]["d"] = "c2VjcmV0"
    with pytest.raises(InvalidRequest) as refused:
        thread.answer(signature)
    assert refused.value.param == "signature.jwk.d"


def test_the_very_same_request_changes_nothing() -> None:
    thread = Signatures()
    thread.ask(**ORDER)
    thread.now += 60
    assert thread.say(SHOP, "request_signature", ORDER).effects == ()


@pytest.mark.parametrize(
    "request_",
    [
        {"id": "1"},
        {"id": "1", "text": "a", "typed_data": MAIL},
        {"id": "1", "text": "a", "nonce": "short"},
        {"id": "1", "text": "a", "schemes": ["near"]},
        {"id": "1", "typed_data": {**MAIL, "message": {}}},
        {"id": "1", "near_transaction": {**NEAR, "public_key": "other"}},
        {"id": "1", "evm_transaction": {"evm": {"to": EVM["to"]}, "chain_id": 1}},
    ],
)
def test_what_nobody_could_sign_is_not_asked(request_: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        Signatures().ask(**request_)


def test_what_the_desk_is_asked_to_sign_waits_for_its_people() -> None:
    thread = Signatures()
    verdict = thread.say(GUEST, "request_signature", ORDER)
    assert [str(one) for one in told(verdict)] == [
        "The site's people decide whether to sign this. Their decision is sent here."
    ]
    approval = {"request_id": "order-7", "agree": True}
    for nobody in (GUEST, SHOP):
        with pytest.raises(Forbidden):
            thread.say(nobody, "approve_signature", approval)
    signed = result(thread.say(OPERATOR, "approve_signature", approval))["signature"]
    assert signed["public_key"] == thread.sign.keys.public_key
    assert "was answered before" in str(told(thread.say(OPERATOR, "approve_signature", approval)))


def test_a_signature_of_the_desk_is_verified_as_any_other() -> None:
    """The other desk has asked; this one signs by a rule."""
    rule = {
        "callers": ["key:1"],
        "text": r"I buy the tent \w+ for [\d.]+ EUR\.",
        "schemes": ["jws"],
    }
    asking, signing = Signatures(), Signatures(policy=[rule])
    asked = asking.ask(**ORDER, schemes=["jws"])
    verdict = signing.say(GUEST, "request_signature", asked)
    assert Audit("signed_by_rule") in verdict.effects
    signature = result(verdict)["signature"]
    assert asking.answer(signature)["result"] == "success"


@pytest.mark.parametrize(
    ("rule", "request_"),
    [
        ({"callers": ["key:2"], "text": ".*"}, ORDER),
        ({"callers": ["*"], "text": "I sell .*"}, ORDER),
        ({"callers": ["*"], "text": "I buy"}, ORDER),
        ({"callers": ["*"], "text": r"Order \d+"}, {"id": "1", "text": "Order 7\n"}),
        ({"callers": ["*"], "text": r"Order \d+"}, {"id": "1", "text": "Order ٣"}),
        ({"callers": ["*"], "text": "O[Kk]"}, {"id": "1", "text": "O\u212a"}),
        ({"callers": ["*"], "text": ".*", "recipients": ["https://a.example"]}, ORDER),
        ({"callers": ["*"], "text": ".*", "schemes": ["eip712"]}, ORDER),
        ({"callers": ["*"], "typed_data": ["Tent House/Permit"]}, {"id": "1", "typed_data": MAIL}),
        ({"callers": ["*"], "text": ".*"}, {"id": "1", "typed_data": MAIL}),
        (
            {"callers": ["*"], "receivers": [EVM["to"]], "most": "21000"},
            {"id": "1", "evm_transaction": {"evm": EVM, "chain_id": 1}},
        ),
        (
            {"callers": ["*"], "receivers": [EVM["to"]], "most": "9" * 30},
            {"id": "1", "evm_transaction": {"evm": {**EVM, "data": "0x00"}, "chain_id": 1}},
        ),
    ],
)
def test_what_no_rule_allows_is_not_signed(rule: Any, request_: Any) -> None:
    thread = Signatures(policy=[rule], otherwise="nobody")
    failed = result(thread.say(GUEST, "request_signature", request_))
    assert failed["reason"] == "declined"


def test_a_rule_allows_typed_data_and_payments_by_their_names_and_amounts() -> None:
    rules = [
        {"callers": ["*"], "typed_data": ["Tent House/Order"]},
        {"callers": ["*"], "receivers": [EVM["to"], "shop.near"], "most": "21001"},
    ]
    thread = Signatures(policy=rules, otherwise="nobody")
    own = {**NEAR, "public_key": thread.sign.keys.public_key}
    requests: tuple[dict[str, Any], ...] = (
        {"typed_data": MAIL},
        {"evm_transaction": {"evm": EVM, "chain_id": 1}},
        {"near_transaction": own},
    )
    for number, request in enumerate(requests):
        said = result(thread.say(GUEST, "request_signature", {"id": str(number), **request}))
        assert said["signature"]["signature"]
    failed = result(thread.say(GUEST, "request_signature", {"id": "9", "near_transaction": NEAR}))
    assert failed["reason"] == "wrong_key"


def test_a_call_that_asks_for_a_yes_may_ask_for_a_signed_one() -> None:
    thread = Signatures(signed_consent=True)
    question = Confirm(title="Cancel order TH1?", description="It costs 5.00 EUR.")
    asking = Asking(id="ask-1", question=question, of=GUEST, call_id="call-1", until=NOON + 600)
    phrased = thread.sign.phrase(asking)
    assert phrased is not None
    plain = json.loads(msgspec.json.encode(phrased))["request_signature"]
    asked = thread.ask(asking, **plain)
    assert statement_of(asked)[1] == NOON + 600
    verdict = thread.say(GUEST, "signature", sign_request(asked))
    assert verdict.then == Resume("call-1", True)
    assert Signatures().sign.phrase(asking) is None, "only where the site wants it"


def test_a_yes_that_is_too_long_to_be_signed_is_not_asked_otherwise() -> None:
    thread = Signatures(signed_consent=True)
    question = Confirm(title="Send this letter?", description="x" * 4000)
    asking = Asking(id="ask-1", question=question, of=GUEST, call_id="call-1", until=NOON + 600)
    with pytest.raises(Forbidden, match="a signature of at most 4000 characters"):
        thread.sign.phrase(asking)


def test_a_no_in_words_declines() -> None:
    thread = Signatures()
    thread.ask(**ORDER)
    heard = thread.sign.from_text("No, thanks.", thread.waiting())
    assert heard is not None
    declined = json.loads(msgspec.json.encode(heard))["signature_declined"]
    verdict = thread.say(GUEST, "signature_declined", declined)
    assert (result(verdict)["reason"], verdict.then) == ("declined", Then.AGENT)
    assert thread.sign.from_text("yes", thread.waiting()) is None


def test_what_cannot_be_seen_is_shown() -> None:
    shown = quoted(["Pay 1\u202e001 EUR\r", "⟦U+202E⟧ to\u200bday", "\u3164\u034f\ufe0f\u2800"])
    assert shown == (
        "| Pay 1⟦U+202E⟧001 EUR⟦U+000D⟧\n| ⟦U+27E6⟧U+202E⟧ to⟦U+200B⟧day\n"
        "| ⟦U+3164⟧⟦U+034F⟧⟦U+FE0F⟧⟦U+2800⟧"
    )


@given(st.text(), st.text())
def test_two_texts_that_differ_are_shown_differently(one: str, other: str) -> None:
    assert (visible(one) == visible(other)) == (one == other)
    assert all(line.startswith("| ") for line in quoted([one]).split("\n"))
