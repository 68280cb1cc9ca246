"""Fetches forms that are given by URL, in a job, and then opens them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from aitp_data.forms import check_fields
from aitp_data.messages import MOST_FIELDS, FormField, RequestData
from aitp_data.records import BOOK, AskedForm, called
from aitp_data.untrusted_json import Unreadable, read_json
from aitp_desk.capability import (
    Audit,
    Effect,
    InvalidRequest,
    Job,
    Keep,
    Record,
    Request,
    Say,
    Start,
    State,
    Unanswered,
)

MOST_BYTES = 256 * 1024
PAUSES = (5, 60)
"""Delays after the first and the second failure, in seconds; the third is final."""
JOB = "fetch"


class Attempt(msgspec.Struct, frozen=True):
    """The payload of the job.

    Parameters:
        key: the request's record.
        number: the number of earlier attempts.
    """

    key: str
    url: str
    number: int = 0


class Hosted(msgspec.Struct, frozen=True):
    """The fetched document: the fields of a form."""

    fields: Annotated[tuple[FormField, ...], Meta(min_length=1, max_length=MOST_FIELDS)]


class Unusable(Exception):
    """The fetched document is not a form; the text says why."""


def begin(key: str, url: str) -> Start:
    """Start the job that fetches a form."""
    return _start(Attempt(key, url))


async def fetch(job: Job, protect: Callable[[RequestData], RequestData]) -> Sequence[Effect]:
    """Fetch a form and open its request, or report the failure on its thread.

    Parameters:
        protect: adds the keys for sensitive values to a request.
    """
    attempt = msgspec.convert(job.payload, Attempt)
    record = await job.read(attempt.key)
    asked = None if record is None else BOOK.read(record)
    if record is None or asked is None or asked.fields or asked.state_at(job.now) is not State.OPEN:
        return ()
    try:
        response = await job.send(Request(url=attempt.url, max_bytes=MOST_BYTES))
        fields = _read(response.status, response.body)
    except Unanswered as failure:
        if not failure.is_refused and attempt.number < len(PAUSES):
            return (_start(replace(attempt, number=attempt.number + 1)),)
        return await _give_up(record, asked, failure.reason, job)
    except Unusable as failure:
        return await _give_up(record, asked, str(failure), job)
    form = replace(asked.request.form, fields=fields)
    shown = protect(replace(asked.request, form=form))
    return (
        Keep(
            record.key,
            replace(asked, fields=fields),
            record.version,
            asked.until if asked.waits else None,
        ),
        Say({"request_data": shown}),
        Audit("fetched"),
    )


def _start(attempt: Attempt) -> Start:
    after = PAUSES[attempt.number - 1] if attempt.number else 0
    ref = f"{attempt.key}:{attempt.number}"
    return Start(JOB, ref=ref, payload=msgspec.to_builtins(attempt), after=after)


async def _give_up(record: Record, asked: AskedForm, why: str, job: Job) -> Sequence[Effect]:
    notice = f"The form of {called(asked.request)} could not be fetched. {why}"
    return (*await BOOK.give_up(record, asked, job), Say(notice))


def _read(status: int, body: bytes) -> tuple[FormField, ...]:
    """Return the fields of a form.

    Raises:
        Unanswered: the server has a temporary fault.
        Unusable: the document is not a form.
    """
    if status >= 500:
        raise Unanswered(f"The server responded with status {status}.")
    if not 200 <= status < 300:
        raise Unusable(f"The server responded with status {status}.")
    try:
        fields = read_json(body, Hosted).fields
    except Unreadable as error:
        raise Unusable(f"The document is not a form: {error}.") from None
    try:
        check_fields(fields, "fields")
    except InvalidRequest as error:
        raise Unusable(error.message) from None
    return fields
