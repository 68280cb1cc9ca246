"""Forms that are given by their address: fetched, tried again, given up."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_data.messages import MOST_FIELDS
from aitp_data.remote_forms import PAUSES, Unusable, _read
from aitp_desk.capability import Forbidden, Job, Record, Request, Response, Start, Take, Unanswered
from tests.support.plugins.forms import HOSTED, MAIL, PAYING, data_requests
from tests.support.plugins.thread_records import GUEST, SHOP, OneThread, told

Answer = Callable[[Request], Response]


class Forms(OneThread):
    """A form by its address, on one thread."""

    def __init__(self) -> None:
        super().__init__(data_requests(open_for=3600), {GUEST: None})
        self.asked = self.say(SHOP, "request_data", HOSTED)
        (self.start,) = (one for one in self.asked.effects if isinstance(one, Start))

    async def fetch(self, answer: Answer, start: Start | None = None) -> Take:
        """What becomes of the job."""
        begun = start or self.start

        async def read(key: str) -> Record | None:
            return self.records.get(key)

        async def send(request: Request) -> Response:
            return answer(request)

        job = Job(
            ref=begun.ref,
            payload=msgspec.json.decode(msgspec.json.encode(begun.payload)),
            now=self.now,
            thread_id="thread_1",
            read=read,
            send=send,
        )
        wanted = await self.capability.jobs()[begun.job].do(job)
        assert not callable(wanted)
        done = Take(tuple(wanted))
        assert self.write(done)
        return done

    def reply(self, **values: str) -> Take:
        fields = [{"id": name, "value": value} for name, value in values.items()]
        return self.say(GUEST, "data", {"fields": fields})


def body(content: Any, status: int = 200) -> Answer:
    return lambda _request: Response(status=status, body=json.dumps(content).encode())


def fails(*, is_refused: bool = False) -> Answer:
    def answer(_request: Request) -> Response:
        raise Unanswered("forms.example has no answer.", is_refused=is_refused)

    return answer


async def test_what_is_fetched_is_open_and_said_on_the_thread() -> None:
    forms = Forms()
    assert forms.start.payload["url"] == HOSTED["form"]["json_url"]
    assert told(forms.reply(mail="ada@example.com")) == [
        "This form is still being fetched. Reply once its fields are on the thread."
    ]
    assert not forms.waiting(), "no words are an answer yet"
    done = await forms.fetch(body(PAYING["form"] | {"more": "kept by nobody"}))
    (said,) = told(done)
    shown = msgspec.to_builtins(said)["request_data"]
    assert [one["id"] for one in shown["form"]["fields"]] == ["holder", "card", "until"]
    assert shown["jwks"], "what is sensitive may come encrypted"
    assert len(forms.waiting()) == 1
    assert told(forms.reply(card="4242424242424242")) == []
    assert (await forms.fetch(body(MAIL["form"]))).effects == (), "done is done"


async def test_it_is_tried_again_and_then_given_up() -> None:
    forms = Forms()
    start, after = forms.start, []
    for _ in PAUSES:
        (start,) = (await forms.fetch(fails(), start)).effects  # type: ignore[assignment]
        after.append(start.after)
    assert tuple(after) == PAUSES
    done = await forms.fetch(body({}, status=503), start)
    assert told(done) == [
        (
            "The form of “A form from elsewhere” could not be fetched. The server"
            " responded with status 503."
        )
    ]
    late = {"request_data_id": "hosted", "fields": [{"id": "mail", "value": "x"}]}
    assert told(forms.say(GUEST, "data", late)) == [
        "“A form from elsewhere” was not answered in time."
    ]
    forms.say(SHOP, "request_data", MAIL)
    assert told(forms.reply(mail="ada@example.com")) == [], "it is the only one that is open"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (fails(is_refused=True), "forms.example has no answer."),
        (body({}, status=404), "The server responded with status 404."),
        (body([]), "The document is not a form: Expected `object`, got `array`."),
        (body({"fields": []}), "The document is not a form: Expected `array` of length >= 1"),
        (
            body({"fields": [{"id": str(number)} for number in range(MOST_FIELDS + 1)]}),
            "The document is not a form: Expected `array` of length <= 50",
        ),
        (body({"fields": [{"id": "a"}, {"id": "a"}]}), "Two fields have the id 'a'"),
        (lambda _request: Response(status=200, body=b"\xff"), "The document is not a form"),
        (
            lambda _request: Response(status=200, body=b'{"x":' * 90_000),
            "The document is not a form",
        ),
    ],
)
async def test_what_is_no_form_is_reported_at_once(answer: Answer, why: str) -> None:
    forms = Forms()
    (said,) = told(await forms.fetch(answer))
    assert str(said).startswith(f"The form of “A form from elsewhere” could not be fetched. {why}")


def test_for_callers_who_are_not_known_nothing_is_fetched() -> None:
    unknown = OneThread(data_requests(), {GUEST: None})
    with pytest.raises(Forbidden) as refused:
        unknown.say(GUEST, "request_data", HOSTED)
    assert refused.value.param == "request_data.form.json_url"
    known = OneThread(data_requests(), {GUEST: "key:ada"})
    assert [
        one for one in known.say(GUEST, "request_data", HOSTED).effects if isinstance(one, Start)
    ]


async def test_what_was_replaced_or_has_had_its_time_is_not_fetched() -> None:
    def nobody(_request: Request) -> Response:
        raise AssertionError("nobody is asked")

    late, replaced = Forms(), Forms()
    late.now += 3600
    replaced.say(SHOP, "request_data", MAIL | {"supersedes": "hosted"})
    for forms in (late, replaced):
        assert (await forms.fetch(nobody)).effects == ()


@given(st.binary(max_size=300))
def test_any_bytes_are_a_form_or_not(raw: bytes) -> None:
    with pytest.raises(Unusable):
        _read(200, raw)
