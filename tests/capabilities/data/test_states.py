"""Forms as they are judged: what is taken, sealed, told and refused, in any order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from aitp_data.encryption import ecies
from aitp_data.records import AskedForm
from aitp_desk.capability import (
    UNKNOWN,
    Asking,
    Audit,
    Confirm,
    Field,
    Fill,
    InvalidRequest,
    MissingField,
    Replace,
    Resume,
    Seal,
    State,
    Take,
    Then,
    sealed_as,
)
from tests.support.access.jwe import encrypted
from tests.support.plugins.forms import (
    ADDRESS,
    CARD,
    HOSTED,
    MAIL,
    PAYING,
    PIN,
    PUBLISHED,
    data_requests,
    field,
    jwks,
    keys,
    upstream_errors,
)
from tests.support.plugins.thread_records import FRIEND, GUEST, SHOP, OneThread, told

OPEN_FOR = 3600


class Book(OneThread):
    """The forms of one thread."""

    def __init__(self, *parties: str) -> None:
        super().__init__(data_requests(open_for=OPEN_FOR), dict.fromkeys(parties or (GUEST,)))

    def ask(self, content: Mapping[str, Any], actor: str = SHOP) -> Take:
        return self.say(actor, "request_data", content)

    def reply(self, id: str, *, actor: str = GUEST, in_words: bool = False, **values: str) -> Take:
        fields = [{"id": name, "value": value} for name, value in values.items()]
        content: dict[str, Any] = {"fields": fields}
        if id:
            content["request_data_id"] = id
        if in_words:
            content["in_words"] = True
        return self.say(actor, "data", content)

    def asked(self) -> dict[str, AskedForm]:
        kept = (
            msgspec.convert(record.value, AskedForm)
            for key, record in self.records.items()
            if key.startswith("request:")
        )
        return {one.request.id: one for one in kept}

    def everything(self, verdict: Take) -> str:
        """All that is kept and told but for what is sealed."""
        shown = [one for one in verdict.effects if not isinstance(one, Seal)]
        return repr((shown, verdict.then, self.records))


def stored(verdict: Take) -> Any:
    (replaced,) = (effect for effect in verdict.effects if isinstance(effect, Replace))
    message = json.loads(msgspec.json.encode({"$schema": PUBLISHED, **replaced.given}))
    if replaced.version == 0:  # the desk's own schema, for which AITP-03 has no word
        return message["rejected_data"]
    assert upstream_errors(message) == upstream_errors(message, "encrypted") == []
    return message.get("data") or message["request_data"]


def sealed(verdict: Take) -> list[str]:
    return [effect.value for effect in verdict.effects if isinstance(effect, Seal)]


def test_a_reply_is_stored_by_the_names_of_its_form() -> None:
    book = Book()
    assert not [one for one in book.ask(ADDRESS).effects if isinstance(one, Replace)]
    fields = [
        {"id": "zip", "label": "Your shoe size", "value": " 10115 "},
        {"id": "street", "value": "1 Long Lane", "note": "dropped"},
        {"id": "name", "value": "Ada"},
        {"id": "email"},
    ]
    verdict = book.say(GUEST, "data", {"fields": fields, "note": "kept"})
    assert stored(verdict) == {
        "request_data_id": "address",
        "fields": [
            {"id": "name", "label": "Name", "value": "Ada"},
            {"id": "street", "label": "Street", "value": "1 Long Lane"},
            {"id": "zip", "label": "Postal code", "value": "10115"},
        ],
        "note": "kept",
    }
    assert verdict.then is Then.AGENT, "the desk has asked, and goes on"
    assert Audit("answered") in verdict.effects
    assert sealed(verdict) == []
    assert book.asked()["address"].state is State.ANSWERED
    assert not book.waiting()


def test_what_is_sensitive_is_sealed_and_stands_nowhere() -> None:
    book = Book()
    book.ask(PAYING)
    fields = [{"id": "card", "value": CARD}, {"id": "holder", "value": "Ada"}]
    verdict = book.say(GUEST, "data", {"fields": fields, "memo": CARD})
    assert sealed(verdict) == ["4242424242424242"]
    (ref,) = (effect.ref for effect in verdict.effects if isinstance(effect, Seal))
    assert stored(verdict) == {
        "request_data_id": "paying",
        "fields": [
            {"id": "holder", "label": "Name", "value": "Ada"},
            {"id": "card", "label": "Card number", "sealed": ref},
        ],
    }
    assert "4242" not in book.everything(verdict)


def test_a_form_that_asks_for_something_sensitive_names_the_sites_keys() -> None:
    asked = stored(Book().ask(PAYING))
    site = keys()
    assert asked["jwks"] == jwks()
    named = [field.get("encryption") for field in asked["form"]["fields"]]
    ours = {
        "algorithm": "ECIES-secp256k1-AES-256-GCM",
        "publicKey": site.recipient.public_key,
    }
    assert named == [None, ours, ours]


def test_without_the_package_a_form_names_no_key_for_jwes_and_one_that_comes_is_refused() -> None:
    with patch("aitp_data.encryption.jwe.find_spec", lambda _name: None):
        book = Book()
    asked = stored(book.ask(PAYING))
    assert "jwks" not in asked
    assert all("encryption" in field for field in asked["form"]["fields"][1:])
    with pytest.raises(
        InvalidRequest, match=r"^This desk cannot decrypt JWEs. .*ECIES-secp256k1-AES-256-GCM"
    ) as refused:
        book.say(GUEST, "data", {"fields": [{"id": "card", "value": encrypt(CARD)}]})
    assert refused.value.param == "data.fields[0].value"


def test_without_the_package_a_jwe_for_who_has_asked_is_passed_along() -> None:
    token = encrypt("7", "another")
    public = jwks("another")
    with patch("aitp_data.encryption.jwe.find_spec", lambda _name: None):
        book = Book(GUEST, FRIEND)
        book.ask(PIN | {"jwks": public}, FRIEND)
        verdict = book.say(GUEST, "data", {"fields": [{"id": "pin", "value": token}]})
    assert stored(verdict)["fields"][0]["value"] == token


def encrypt(text: str, site: str = "one") -> str:
    """A compact JWE for a site."""
    return encrypted(text, jwks(site)["keys"][0])


def in_draft(id: str, text: str, receiver: str = "") -> dict[str, Any]:
    made = ecies.encrypt(text, id, receiver or keys().recipient.public_key)
    return {"id": id, **msgspec.to_builtins(made)}


@pytest.mark.parametrize(
    "content",
    [
        {"fields": [{"id": "card", "value": encrypt(CARD)}]},
        {"fields": [in_draft("card", CARD)]},
        {"fields": [{"id": "card"}], "encrypted": encrypt(json.dumps({"card": CARD}))},
    ],
    ids=["a value as JWE", "a value in the draft's form", "all of it as JWE"],
)
def test_what_comes_encrypted_is_opened_checked_and_sealed(content: dict[str, Any]) -> None:
    book = Book()
    book.ask(PAYING)
    verdict = book.say(GUEST, "data", content)
    assert sealed(verdict) == ["4242424242424242"]
    (field,) = stored(verdict)["fields"]
    assert field.keys() == {"id", "label", "sealed"}
    assert "encrypted" not in stored(verdict)


def test_whatever_comes_encrypted_is_sealed() -> None:
    book = Book()
    book.ask(MAIL)
    verdict = book.say(
        GUEST, "data", {"fields": [{"id": "mail", "value": encrypt("ada@example.com")}]}
    )
    assert sealed(verdict) == ["ada@example.com"]
    assert "ada@" not in book.everything(verdict)


@pytest.mark.parametrize(
    ("content", "param"),
    [
        ({"fields": [{"id": "card", "value": "4242424242424241"}]}, "data.fields[0].value"),
        ({"fields": [{"id": "cvv", "value": "1"}]}, "data.fields[0].value"),
        ({"fields": [{"id": "holder", "value": "Ada"}]}, "data.fields.card"),
        ({"fields": [{"id": "card", "value": encrypt("7")}]}, "data.fields[0].value"),
        ({"fields": [{"id": "card", "value": encrypt(CARD)[:-3] + "AAA"}]}, "data.fields[0].value"),
        ({"fields": [in_draft("until", "08/29") | {"id": "card"}]}, "data.fields[0].value"),
        (
            {"fields": [in_draft("card", CARD, keys("another").recipient.public_key)]},
            "data.fields[0].value",
        ),
        ({"fields": [in_draft("card", CARD)] * 11}, "data.fields"),
        ({"fields": [{"id": "card"}], "encrypted": "x.y.z"}, "data.encrypted"),
        ({"fields": [{"id": "card"}], "encrypted": encrypt("[]")}, "data.encrypted"),
        ({"fields": [{"id": "card"}], "encrypted": encrypt('{"card": 7}')}, "data.encrypted"),
        (
            {"fields": [{"id": "card", "value": CARD}], "encrypted": encrypt('{"card": "7"}')},
            "data.encrypted",
        ),
    ],
)
def test_a_reply_that_is_none_is_refused_and_changes_nothing(
    content: dict[str, Any], param: str
) -> None:
    book = Book()
    book.ask(PAYING)
    before = dict(book.records)
    with pytest.raises(InvalidRequest) as refused:
        book.say(GUEST, "data", content)
    assert refused.value.param == param
    assert "4242" not in refused.value.message
    assert book.records == before


def test_what_is_encrypted_for_who_has_asked_is_passed_along_unread() -> None:
    book = Book(GUEST, FRIEND)
    theirs = keys("another").recipient
    fields = [{"id": "pin", "required": True, "encryption": msgspec.to_builtins(theirs)}]
    verdict = book.ask(PIN | {"form": {"fields": fields}}, FRIEND)
    assert stored(verdict)["form"]["fields"] == fields
    given = in_draft("pin", "7", theirs.public_key)
    verdict = book.say(GUEST, "data", {"fields": [given]})
    assert stored(verdict)["fields"] == [given | {"label": "pin"}]
    assert sealed(verdict) == []
    assert verdict.then is Then.NOBODY


def test_a_jwe_for_who_has_asked_is_passed_along_unread() -> None:
    book = Book(GUEST, FRIEND)
    book.ask(PIN | {"jwks": jwks("another")}, FRIEND)
    token = encrypt("7", "another")
    verdict = book.say(GUEST, "data", {"fields": [{"id": "pin", "value": token}]})
    assert stored(verdict)["fields"] == [{"id": "pin", "label": "PIN", "value": token}]


def test_what_is_encrypted_is_passed_along_for_a_form_that_was_fetched() -> None:
    book = Book()
    book.ask(HOSTED)
    theirs = keys("another").recipient
    fields = (field(id="pin", required=True, encryption=msgspec.to_builtins(theirs)),)
    (key,) = (key for key in book.records if key.startswith("request:"))
    fetched = msgspec.structs.replace(book.asked()["hosted"], fields=fields)
    book.records[key] = msgspec.structs.replace(
        book.records[key], value=msgspec.to_builtins(fetched)
    )
    given = in_draft("pin", "7", theirs.public_key)
    verdict = book.say(GUEST, "data", {"fields": [given]})
    assert stored(verdict)["fields"] == [given | {"label": "pin"}]


def test_what_comes_encrypted_and_too_late_is_sealed_whatever_field_it_is_for() -> None:
    book = Book(GUEST, FRIEND)
    book.ask(MAIL)
    book.reply("mail", mail="ada@example.com")
    token = encrypt("ada@example.com")
    verdict = book.reply("mail", actor=FRIEND, mail=token)
    assert token not in book.everything(verdict), "somebody else could have it opened"
    assert sealed(verdict) == [token]


def test_words_that_do_not_fit_are_answered_and_the_form_stays_open() -> None:
    book = Book()
    book.ask(PAYING)
    verdict = book.reply("paying", in_words=True, card="4242 4242 4242 4241")
    (why,) = told(verdict)
    assert why == (
        "“Card number” must be a valid card number; check its digits. Reply with one line for each"
        " field: “Name: …”, “Card number: …”."
    )
    assert sealed(verdict) == ["4242 4242 4242 4241"], "also what is wrong is nobody's to read"
    assert "4242" not in book.everything(verdict)
    assert len(book.waiting()) == 1
    verdict = book.reply("paying", in_words=True, card=CARD)
    assert told(verdict) == []
    assert "in_words" not in stored(verdict)
    assert not book.waiting()


def test_what_comes_too_late_or_from_another_is_refused_and_sealed_as_well() -> None:
    book = Book(GUEST, FRIEND)
    book.ask(PAYING | {"actor": GUEST})
    verdict = book.reply("paying", actor=FRIEND, card=CARD, holder="Eve")
    assert told(verdict) == ["“How do you pay?” must be answered by another participant."]
    assert "4242" not in book.everything(verdict)
    assert [field.get("value") for field in stored(verdict)["fields"]] == [None, "Eve"]
    book.reply("paying", card=CARD)
    verdict = book.reply("paying", card=CARD)
    assert told(verdict) == ["“How do you pay?” was answered before."]
    assert "4242" not in book.everything(verdict)
    content = {"request_data_id": "paying", "fields": [in_draft("card", CARD)]}
    assert stored(book.say(GUEST, "data", content))["fields"] == [{"id": "card"}]
    book.ask(MAIL)
    book.now += OPEN_FOR
    assert told(book.reply("mail", mail="ada@example.com")) == [
        "“Where do we write to?” was not answered in time."
    ]


def test_of_a_reply_to_nothing_no_value_is_kept() -> None:
    book = Book()
    verdict = book.reply("unheard-of", card=CARD)
    assert told(verdict) == [UNKNOWN]
    assert stored(verdict) == {
        "reason": "unknown_request",
        "message": UNKNOWN,
        "request_data_id": "unheard-of",
        "fields": [{"id": "card"}],
    }


def test_a_reply_that_names_no_form_answers_the_only_one() -> None:
    book = Book()
    book.ask(PIN)
    book.ask(MAIL)
    with pytest.raises(MissingField) as refused:
        book.reply("", pin="7")
    assert refused.value.param == "data.request_data_id"
    book.reply("mail", mail="ada@example.com")
    assert sealed(book.reply("", pin="7")) == ["7"]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"form": {}}, "request_data.form"),
        ({"form": {"fields": [{"id": "a"}, {"id": "a"}]}}, "request_data.form.fields[1].id"),
        ({"valid_until": "2020-01-01T00:00:00Z"}, "request_data.valid_until"),
        ({"supersedes": "nothing"}, "request_data.supersedes"),
        ({"actor": SHOP}, "request_data.actor"),
    ],
)
def test_a_form_that_nobody_could_answer_is_refused(change: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Book().ask(MAIL | change)
    assert refused.value.param == param


FILL = Fill(
    title="Where to?",
    fields=(
        Field(id="address.street", label="Street", required=True),
        Field(id="size", type="select", options=("S", "M"), default="S"),
        Field(id="code", label="Code", autocomplete="one-time-code", default="never told"),
        Field(id="card", sensitive=True),
    ),
    description="It goes out today.",
)


def asking(question: Any) -> Asking:
    return Asking(id="ask-1", question=question, of=GUEST, call_id="call-1")


def test_the_desk_asks_by_a_form_and_the_answer_carries_the_call_on() -> None:
    book = Book()
    phrased = book.capability.phrase(asking(FILL))
    assert phrased is not None
    content = json.loads(msgspec.json.encode(phrased["request_data"]))
    assert content == {
        "id": "ask-1",
        "title": "Where to?",
        "description": "It goes out today.",
        "actor": GUEST,
        "form": {
            "fields": [
                {"id": "address.street", "label": "Street", "required": True},
                {"id": "size", "type": "select", "options": ["S", "M"], "default_value": "S"},
                {"id": "code", "label": "Code", "autocomplete": "one-time-code"},
                {"id": "card", "sensitive": True},
            ]
        },
    }
    book.say(SHOP, "request_data", content, asking(FILL))
    fields = [
        {"id": "card", "value": "7"},
        {"id": "address.street", "value": encrypt("1 Long Lane")},
    ]
    verdict = book.say(GUEST, "data", {"fields": fields})
    refs = {one.value: one.ref for one in verdict.effects if isinstance(one, Seal)}
    assert verdict.then == Resume(
        "call-1", {"address.street": "1 Long Lane", "card": sealed_as(refs["7"])}
    ), "an argument that the action declares as text comes as that"


def test_what_is_no_form_or_too_large_for_one_is_asked_otherwise() -> None:
    phrase = data_requests().phrase
    assert phrase(asking(Confirm(title="Sure?"))) is None
    many = tuple(Field(id=str(number)) for number in range(51))
    assert phrase(asking(Fill(title="All of it", fields=many))) is None


IDS = st.sampled_from(("a", "b", "c"))
ACTORS = st.sampled_from((SHOP, GUEST, FRIEND))


class Filling(RuleBasedStateMachine):
    """Everything that can happen to the forms of a thread, against a plain account of it."""

    def __init__(self) -> None:
        super().__init__()
        self.book = Book(GUEST, FRIEND)
        self.account: dict[str, tuple[str, int, State]] = {}

    def state(self, id: str) -> State | None:
        if id not in self.account:
            return None
        _, until, state = self.account[id]
        return State.EXPIRED if state is State.OPEN and until <= self.book.now else state

    @rule(id=IDS, actor=ACTORS, sensitive=st.booleans(), supersedes=st.none() | IDS)
    def asks(self, id: str, actor: str, sensitive: bool, supersedes: str | None) -> None:
        fields = [{"id": "v", "required": True, "sensitive": sensitive}]
        content = {"id": id, "description": "", "form": {"fields": fields}}
        may = True
        if supersedes is not None:
            content["supersedes"] = supersedes
            by = self.account.get(supersedes, ("", 0, State.OPEN))[0]
            may = self.state(supersedes) is State.OPEN and by == actor
        is_new = id not in self.account
        try:
            effects = self.book.ask(content, actor).effects
        except InvalidRequest:
            assert not (is_new and may)
            return
        if not is_new:
            assert effects == ()
            return
        assert may
        self.account[id] = (actor, self.book.now + OPEN_FOR, State.OPEN)
        if supersedes is not None:
            by, until, _ = self.account[supersedes]
            self.account[supersedes] = (by, until, State.SUPERSEDED)

    @rule(id=IDS, actor=ACTORS, value=st.sampled_from(("planted-7", "")), in_words=st.booleans())
    def replies(self, id: str, actor: str, value: str, in_words: bool) -> None:
        may = self.state(id) is State.OPEN and self.account[id][0] != actor
        try:
            verdict = self.book.reply(id, actor=actor, in_words=in_words, v=value)
        except InvalidRequest:
            assert may
            assert not value
            assert not in_words
            return
        assert (may and bool(value)) == (told(verdict) == [])
        if may and value:
            by, until, _ = self.account[id]
            self.account[id] = (by, until, State.ANSWERED)

    @rule(seconds=st.sampled_from((1, OPEN_FOR // 2, OPEN_FOR)))
    def time_passes(self, seconds: int) -> None:
        self.book.now += seconds

    @invariant()
    def both_say_the_same(self) -> None:
        kept = self.book.asked()
        assert {id: one.state_at(self.book.now) for id, one in kept.items()} == {
            id: self.state(id) for id in self.account
        }
        waiting = {msgspec.convert(one.value, AskedForm).request.id for one in self.book.waiting()}
        assert waiting == {id for id in self.account if self.state(id) is State.OPEN}

    @invariant()
    def nothing_sensitive_is_kept(self) -> None:
        for one in self.book.asked().values():
            if one.answer is not None and one.fields[0].sensitive:
                assert "planted" not in repr(one)


TestFilling = Filling.TestCase
TestFilling.settings = settings(stateful_step_count=25)
