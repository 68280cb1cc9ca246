"""Requests as they are judged: open, answered, expired, superseded, in any order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from aitp_desk.capability import (
    UNKNOWN,
    Asked,
    Audit,
    DeskError,
    InvalidRequest,
    MissingField,
    Record,
    Replace,
    Start,
    State,
    Take,
    Then,
)
from aitp_desk.capability.journal import MOST_OPEN
from aitp_desk.capability.requests import MOVES
from aitp_requests import Requests
from aitp_requests.capability import AskedDecision, RequestsSettings
from aitp_requests.messages import Decision, RequestDecision
from tests.support.plugins.decisions import CANCEL, COLOURS, SIZE, TENTS, quote, read
from tests.support.plugins.thread_records import FRIEND, GUEST, NOON, SHOP, OneThread, told

OPEN_FOR = 3600


class Book(OneThread):
    """The requests of one thread."""

    def __init__(self, *parties: str, **chosen: int) -> None:
        requests = Requests(RequestsSettings(**{"open_for": OPEN_FOR, **chosen}))
        super().__init__(requests, dict.fromkeys(parties or (GUEST,)))

    def ask(self, content: Mapping[str, Any], actor: str = SHOP) -> Take:
        return self.say(actor, "request_decision", content)

    def decide(self, id: str, *options: str, actor: str = GUEST) -> Take:
        chosen = [{"id": option} for option in options]
        return self.say(actor, "decision", {"request_decision_id": id, "options": chosen})

    def asked(self) -> dict[str, Asked[RequestDecision, Decision]]:
        kept = (
            msgspec.convert(record.value, AskedDecision)
            for key, record in self.records.items()
            if key.startswith("request:")
        )
        return {one.request.id: one for one in kept}


def stored(verdict: Take) -> Any:
    (replaced,) = (effect for effect in verdict.effects if isinstance(effect, Replace))
    return json.loads(msgspec.json.encode(replaced.given["decision"]))


def test_what_was_chosen_is_stored_by_the_requests_own_names() -> None:
    book = Book()
    book.ask(CANCEL)
    chosen = {"id": "y", "name": "No, keep it", "quantity": 1}
    verdict = book.say(GUEST, "decision", {"options": [chosen], "note": "kept"})
    assert stored(verdict) == {
        "request_decision_id": "cancel",
        "options": [{"id": "y", "name": "Yes, cancel it"}],
        "note": "kept",
    }
    assert verdict.then is Then.AGENT, "the desk has asked, and goes on"
    assert Audit("answered") in verdict.effects
    assert book.asked()["cancel"].state is State.ANSWERED
    assert not book.waiting()


@pytest.mark.parametrize(
    ("asked", "options", "param"),
    [
        (SIZE, [{"id": "xl"}], "decision.options[0].id"),
        (SIZE, [{"id": "s"}, {"id": "m"}], "decision.options"),
        (CANCEL, [{"id": "y"}, {"id": "n"}], "decision.options"),
        (SIZE, [{"id": "s", "quantity": 2}], "decision.options[0].quantity"),
        (COLOURS, [{"id": "r"}, {"id": "r"}], "decision.options[1].id"),
        (
            TENTS,
            [{"id": "ridge-red"}, {"id": "cove", "quantity": 1.5}],
            "decision.options[1].quantity",
        ),
    ],
)
def test_an_answer_that_is_none_is_refused_and_changes_nothing(
    asked: dict[str, Any], options: list[dict[str, Any]], param: str
) -> None:
    book = Book()
    book.ask(asked)
    before = dict(book.records)
    with pytest.raises(InvalidRequest) as refused:
        book.say(GUEST, "decision", {"request_decision_id": asked["id"], "options": options})
    assert refused.value.param == param
    assert book.records == before


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"options": [{"id": "a"}, {"id": "a"}]}, "request_decision.options"),
        ({"options": [{"id": "a", "variants": [{"id": "a"}]}]}, "request_decision.options"),
        (
            {
                "options": [
                    {"id": f"{one}", "variants": [{"id": f"{one}-{n}"} for n in range(50)]}
                    for one in range(2)
                ]
            },
            "request_decision.options",
        ),
        ({"valid_until": "2020-01-01T00:00:00Z"}, "request_decision.valid_until"),
        ({"supersedes": "nothing"}, "request_decision.supersedes"),
        ({"actor": SHOP}, "request_decision.actor"),
    ],
)
def test_a_request_that_nobody_could_answer_is_refused(change: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Book().ask(SIZE | change)
    assert refused.value.param == param


def test_an_id_is_one_request_for_ever() -> None:
    book = Book()
    book.ask(SIZE)
    assert book.ask(SIZE).effects == (), "the same again is no second one"
    for actor, other in ((SHOP, SIZE | {"title": "Another?"}), (GUEST, SIZE)):
        with pytest.raises(InvalidRequest) as refused:
            book.ask(other, actor)
        assert refused.value.param == "request_decision.id"


def test_a_decision_that_names_no_request_answers_the_only_one() -> None:
    book = Book()
    assert told(book.say(GUEST, "decision", {"options": [{"id": "s"}]})) == [UNKNOWN]
    book.ask(SIZE)
    book.ask(CANCEL)
    with pytest.raises(MissingField) as refused:
        book.say(GUEST, "decision", {"options": [{"id": "s"}]})
    assert refused.value.param == "decision.request_decision_id"
    book.decide("cancel", "n")
    assert stored(book.say(GUEST, "decision", {"options": [{"id": "s"}]})) == {
        "request_decision_id": "size",
        "options": [{"id": "s", "name": "S"}],
    }


def test_what_comes_too_late_is_kept_and_told_so() -> None:
    book = Book()
    book.ask(SIZE)
    book.ask(CANCEL)
    book.ask(COLOURS | {"supersedes": "cancel"})
    book.decide("size", "s")
    assert told(book.decide("size", "m")) == ["“Size?” was answered before: S."]
    assert told(book.decide("cancel", "y")) == [
        "“Cancel order TH1?” was replaced by a newer request."
    ]
    book.now += OPEN_FOR
    assert told(book.decide("colours", "r")) == ["This request was not answered in time."]
    assert told(book.decide("unheard-of", "r")) == [UNKNOWN]


def test_an_expired_price_is_reported_and_the_request_stays_open() -> None:
    book = Book()
    ends = "2027-01-15T08:01:00Z"
    cove = {"id": "cove", "name": "Cove", "quote": quote(199, ends)}
    book.ask(TENTS | {"options": [cove, {"id": "other"}]})
    book.now += 60
    assert told(book.decide("tents", "cove")) == [
        "The price of Cove has expired. Please ask for a new one."
    ]
    assert told(book.decide("tents", "other")) == []


def test_who_has_asked_and_who_is_not_meant_do_not_answer() -> None:
    book = Book(GUEST, FRIEND)
    book.ask(SIZE, GUEST)
    book.ask(COLOURS | {"actor": FRIEND})
    (size, colours) = (book.decide("size", "s"), book.decide("colours", "r"))
    assert told(size) == ["“Size?” is your own request. Another participant must answer it."]
    assert told(colours) == ["This request must be answered by another participant."]
    for id, option in (("size", "s"), ("colours", "r")):
        assert told(book.decide(id, option, actor=FRIEND)) == []


def test_one_who_takes_part_is_answered_without_the_agent() -> None:
    book = Book(GUEST, FRIEND)
    assert book.ask(SIZE, GUEST).then is Then.NOBODY
    assert book.decide("size", "s", actor=FRIEND).then is Then.NOBODY


def test_what_a_visitor_asks_alone_is_for_the_answerer_here() -> None:
    book = Book(GUEST)
    assert book.ask(SIZE, GUEST).then is Then.AGENT
    assert book.waiting() == [], "the visitor's own next words are no answer to it"
    assert told(book.decide("size", "s", actor=SHOP)) == []


def test_a_thread_has_so_many_open_requests() -> None:
    book = Book()
    for number in range(MOST_OPEN):
        book.ask(SIZE | {"id": f"q{number}"})
    with pytest.raises(InvalidRequest):
        book.ask(SIZE | {"id": "one-more"})
    book.ask(SIZE | {"id": "instead", "supersedes": "q0"})
    book.decide("q1", "s")
    book.ask(SIZE | {"id": "after-an-answer"})
    book.now += OPEN_FOR
    book.ask(SIZE | {"id": "after-all-have-had-their-time"})


def test_what_was_erased_is_unknown() -> None:
    book = Book()
    book.ask(SIZE)
    for key, record in book.records.items():
        book.records[key] = Record(key=key, version=record.version, value=None)
    assert told(book.decide("size", "s")) == [UNKNOWN]
    book.ask(CANCEL)
    assert len(book.waiting()) == 1


def test_what_others_are_asked_is_sent_again_once_and_in_its_time() -> None:
    asked = Book(GUEST, remind_after=60).ask(SIZE)
    assert [one.after for one in asked.effects if isinstance(one, Start)] == [60]
    for book, actor in (
        (Book(GUEST), SHOP),
        (Book(GUEST, remind_after=60), GUEST),
        (Book(GUEST, remind_after=OPEN_FOR), SHOP),
    ):
        assert not [one for one in book.ask(SIZE, actor).effects if isinstance(one, Start)]


IDS = st.sampled_from(("a", "b", "c", "d"))
ACTORS = st.sampled_from((SHOP, GUEST, FRIEND))


class Requesting(RuleBasedStateMachine):
    """Everything that can happen to the requests of a thread, against a plain account of it."""

    verdicts = Bundle("verdicts")

    def __init__(self) -> None:
        super().__init__()
        self.book = Book(GUEST, FRIEND)
        self.account: dict[str, tuple[str, str, int, State]] = {}

    def state(self, id: str) -> State | None:
        if id not in self.account:
            return None
        _, _, until, state = self.account[id]
        return State.EXPIRED if state is State.OPEN and until <= self.book.now else state

    @rule(id=IDS, actor=ACTORS, meant=st.sampled_from(("", FRIEND)), supersedes=st.none() | IDS)
    def asks(self, id: str, actor: str, meant: str, supersedes: str | None) -> None:
        content = {"id": id, "actor": meant, "options": [{"id": "1"}, {"id": "2"}]}
        replaced = None if supersedes is None else self.account.get(supersedes)
        may = supersedes is None or (
            self.state(supersedes) is State.OPEN and replaced is not None and replaced[0] == actor
        )
        may = may and meant != actor
        if supersedes is not None:
            content["supersedes"] = supersedes
        is_new = id not in self.account
        try:
            effects = self.book.ask(content, actor).effects
        except InvalidRequest:
            assert not (is_new and may)
            return
        if not is_new:
            assert effects == (), "the very same request, which changes nothing"
            return
        assert may
        self.account[id] = (actor, meant, self.book.now + OPEN_FOR, State.OPEN)
        if supersedes is not None:
            self.account[supersedes] = (*self.account[supersedes][:3], State.SUPERSEDED)

    def may_answer(self, id: str, actor: str) -> bool:
        if self.state(id) is not State.OPEN:
            return False
        by, meant, _, _ = self.account[id]
        return actor != by and meant in {"", actor}

    @rule(id=IDS, actor=ACTORS, option=st.sampled_from(("1", "2", "3")))
    def decides(self, id: str, actor: str, option: str) -> None:
        may = self.may_answer(id, actor)
        try:
            verdict = self.book.decide(id, option, actor=actor)
        except DeskError:
            assert may
            assert option == "3"
            return
        assert may == (told(verdict) == [])
        if may:
            self.account[id] = (*self.account[id][:3], State.ANSWERED)

    @rule(target=verdicts, id=IDS, actor=ACTORS, option=st.sampled_from(("1", "2")))
    def begins_to_decide(self, id: str, actor: str, option: str) -> tuple[str, bool, Take]:
        chosen = {"request_decision_id": id, "options": [{"id": option}]}
        verdict = self.book.judge(actor, "decision", chosen)
        return id, self.may_answer(id, actor), verdict

    @rule(begun=consumes(verdicts))
    def is_written(self, begun: tuple[str, bool, Take]) -> None:
        id, might, verdict = begun
        was_open = id in self.account and self.account[id][3] is State.OPEN
        if self.book.write(verdict) and might:
            assert was_open, "nobody decides what was decided meanwhile"
            self.account[id] = (*self.account[id][:3], State.ANSWERED)

    @rule(seconds=st.sampled_from((1, OPEN_FOR // 2, OPEN_FOR)))
    def time_passes(self, seconds: int) -> None:
        self.book.now += seconds

    @invariant()
    def both_say_the_same(self) -> None:
        kept = self.book.asked()
        assert {id: one.state_at(self.book.now) for id, one in kept.items()} == {
            id: self.state(id) for id in self.account
        }
        assert all(
            (one.answer is not None) == (one.state is State.ANSWERED) for one in kept.values()
        )
        waiting = {
            msgspec.convert(record.value, AskedDecision).request.id
            for record in self.book.waiting()
        }
        assert waiting == {id for id in self.account if self.state(id) is State.OPEN}


TestRequesting = Requesting.TestCase
TestRequesting.settings = settings(stateful_step_count=25)


def test_a_request_moves_once_and_from_open_alone() -> None:
    assert set(MOVES) == set(State)
    asked = AskedDecision(read(SIZE), SHOP, NOON + 1)
    for state in State:
        for to in State:
            one = msgspec.structs.replace(asked, state=state)
            if to in MOVES[state]:
                assert one.moved(to, NOON).state is to
            else:
                with pytest.raises(ValueError, match="cannot become"):
                    one.moved(to, NOON)
    with pytest.raises(ValueError, match="expired cannot become answered"):
        asked.moved(State.ANSWERED, NOON + 1)
