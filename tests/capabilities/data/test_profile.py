"""What a caller has kept for the next form: by their wish, for them alone, nothing sensitive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_data.messages import Data, RequestData
from aitp_data.profile import FORGOTTEN, NOT_OFFERED
from aitp_desk.capability import Keep, Record, Replace, Seal, Take
from tests.support.plugins.forms import CARD, data_requests
from tests.support.plugins.thread_records import FRIEND, GUEST, SHOP, OneThread, told

ADA, EVE = "key:ada", "key:eve"
FIELDS = [
    {"id": "n", "label": "Name", "autocomplete": "name"},
    {"id": "z", "label": "Postal code", "autocomplete": "billing postal-code"},
    {"id": "c", "label": "Card", "autocomplete": "cc-number"},
    {"id": "s", "label": "E-mail", "autocomplete": "email", "sensitive": True},
    {"id": "x", "label": "Size"},
]
SAID = {"n": "Ada", "z": "10115", "c": CARD, "s": "ada@example.com", "x": "41"}


class Guests(OneThread):
    """Forms of the desk for one guest, or with others as well."""

    def __init__(self, parties: Mapping[str, str | None]) -> None:
        super().__init__(data_requests(), parties)
        self.number = 0

    def ask(self, **more: Any) -> RequestData:
        """The form on the thread."""
        self.number += 1
        content = {"id": f"q{self.number}", "description": "", "form": {"fields": FIELDS}, **more}
        verdict = self.say(SHOP, "request_data", content)
        for effect in verdict.effects:
            if isinstance(effect, Replace):
                plain = msgspec.to_builtins(effect.given["request_data"])
                return msgspec.convert(plain, RequestData)
        return msgspec.convert(content, RequestData)

    def reply(self, actor: str = GUEST, **more: Any) -> Take:
        fields = [{"id": id, "value": value} for id, value in SAID.items()]
        content = {"request_data_id": f"q{self.number}", "fields": fields, **more}
        return self.say(actor, "data", content)


def defaults(request: RequestData) -> dict[str, str]:
    return {one.id: one.default_value for one in request.form.fields if one.default_value}


def test_what_is_kept_by_wish_is_proposed_the_next_time_to_the_same() -> None:
    guests = Guests({GUEST: ADA})
    asked = guests.ask()
    assert asked.remembers
    assert defaults(asked) == {}
    guests.reply(remember=True)
    again = guests.ask()
    assert defaults(again) == {"n": "Ada", "z": "10115"}, "what it is, and nothing sensitive"
    profiles = [one.value for key, one in guests.records.items() if key.startswith("profile:")]
    assert profiles == [{"name": "Ada", "postal-code": "10115"}]
    assert ADA not in "".join(guests.records), "keys hold nothing of a person"


def test_without_the_wish_nothing_is_kept() -> None:
    guests = Guests({GUEST: ADA})
    guests.ask()
    verdict = guests.reply()
    assert not [
        one for one in verdict.effects if isinstance(one, Keep) and one.key.startswith("profile:")
    ]
    assert defaults(guests.ask()) == {}


def test_another_is_proposed_nothing_of_it() -> None:
    guests = Guests({GUEST: ADA})
    guests.ask()
    guests.reply(remember=True)
    for parties in ({GUEST: EVE}, {GUEST: None}, {GUEST: ADA, FRIEND: EVE}):
        others = Guests(parties)
        others.records, others.number = dict(guests.records), 1
        assert defaults(others.ask()) == {}, parties
    friend = Guests({GUEST: ADA})
    friend.records, friend.number = dict(guests.records), 1
    assert defaults(friend.ask(actor="somebody-else")) == {}


def test_where_a_party_asks_nothing_is_proposed() -> None:
    guests = Guests({GUEST: ADA, FRIEND: EVE})
    content = {"id": "q", "description": "", "form": {"fields": FIELDS[:2]}}
    verdict = guests.say(FRIEND, "request_data", content)
    assert not [one for one in verdict.effects if isinstance(one, Replace)]


def test_it_can_be_forgotten_and_is_erased_with_its_thread() -> None:
    guests = Guests({GUEST: ADA})
    guests.ask()
    guests.reply(remember=True)
    (key,) = (key for key in guests.records if key.startswith("profile:"))
    kept = guests.records[key]
    guests.ask()
    assert told(guests.reply(remember=False)) == [FORGOTTEN]
    assert guests.records[key].value == {}
    guests.records[key] = Record(key=key, version=kept.version + 1, value=None)
    assert defaults(guests.ask()) == {}
    assert not [
        one
        for one in guests.judge(
            SHOP, "request_data", {"id": "last", "description": "", "form": {"fields": FIELDS}}
        ).effects
        if isinstance(one, Keep) and one.outlives
    ], "erasing a thread reaches all of it"


def test_a_visitor_who_has_not_signed_in_learns_that_nothing_is_kept() -> None:
    guests = Guests({GUEST: None})
    assert not guests.ask().remembers
    assert told(guests.reply(remember=True)) == [NOT_OFFERED]
    assert not [key for key in guests.records if key.startswith("profile:")]


def test_what_is_proposed_fits_its_field_and_gives_way_to_the_sites_own() -> None:
    guests = Guests({GUEST: ADA})
    guests.ask()
    guests.reply(remember=True)
    fields = [
        {"id": "n", "type": "number", "autocomplete": "name"},
        {"id": "z", "autocomplete": "postal-code", "default_value": "20095"},
    ]
    assert defaults(guests.ask(form={"fields": fields})) == {"z": "20095"}


def test_the_wish_is_no_part_of_what_stands_on_the_thread() -> None:
    guests = Guests({GUEST: ADA})
    guests.ask()
    verdict = guests.reply(remember=True)
    (replaced,) = (one for one in verdict.effects if isinstance(one, Replace))
    stored = msgspec.convert(msgspec.to_builtins(replaced.given["data"]), Data)
    assert "remember" not in replaced.given["data"]
    assert [one.id for one in stored.fields if one.sealed] == ["c", "s"]
    assert len([one for one in verdict.effects if isinstance(one, Seal)]) == 2
