"""Reads what sites reply over plain HTTP: answers, outcomes of calls, and refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from yarl import URL

from aitp_desk.egress import Fetched
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.money import Money
from aitp_desk.model.strict_json import decode_json
from aitp_desk.visitor.base import Answer, Choice, Outcome, Quote, SiteAction, Source
from aitp_desk.visitor.clients.responses import make_refusal, shorten
from aitp_desk.visitor.discovery.members import clean, list_of, object_of, text_of
from aitp_desk.visitor.errors import CallFailed, SiteFailed, SiteRefused
from aitp_desk.visitor.fetcher import read_retry_after
from aitp_desk.visitor.payments import read_money, read_quote

MAX_SOURCES = 50
_WAITING = frozenset({"accepted", "pending", "queued", "in_progress"})


def decode(found: Fetched) -> Any:
    """Return the JSON of a response; HAC's envelope is removed.

    Raises:
        SiteFailed: it is not JSON.
    """
    try:
        value = decode_json(found.body)
    except InvalidRequest as error:
        raise SiteFailed(f"{URL(found.url).host} did not reply in JSON: {error.message}") from None
    if isinstance(value, dict) and isinstance(value.get("_hac"), dict) and "data" in value:
        return value["data"]
    return value


def read_refusal(found: Fetched) -> SiteRefused:
    """Return a refusal as an error, with the site's words as data."""
    try:
        value = decode(found)
    except SiteFailed:
        value = {}
    error = object_of(value, "error") or value
    told = next(
        (text for name in ("message", "detail", "title") if (text := text_of(error, name))), ""
    )
    recovery = text_of(object_of(error, "recovery"), "description")
    return make_refusal(found, told, recovery=recovery)


def read_answer(value: Any) -> tuple[Answer, str]:
    """Read an answer of any usual shape, and its session."""
    session = text_of(value, "session_id")
    asked = object_of(value, "clarification")
    if text_of(value, "status") == "clarification_needed":
        question = text_of(asked, "question") or text_of(value, "clarification_question")
        options = [one for one in list_of(asked, "options") if isinstance(one, str)]
        choices = tuple(Choice(one, clean(one)) for one in options)
        return Answer(clean(question), "question", choices=choices), session
    response = object_of(value, "response") or value
    text = next(
        (told for name in ("answer", "text", "message") if (told := text_of(response, name))), ""
    )
    meta = object_of(value, "meta")
    tokens = meta.get("tokens_used")
    may_train = object_of(meta, "content_signals").get("ai_train")
    data = response if isinstance(response, Mapping) else {"result": response}
    return (
        Answer(
            text or msgspec.json.encode(value).decode(),
            sources=tuple(_list_sources(response)),
            content_type=text_of(response, "content_type")
            or ("text/answer" if text else "application/data"),
            data=data,
            tokens=tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None,
            may_train=may_train if isinstance(may_train, bool) else None,
        ),
        session,
    )


def read_outcome(found: Fetched, action: SiteAction) -> Outcome:
    """Read how a call went.

    Raises:
        SiteRefused: the site refused it.
        SiteFailed: it is unknown how it went.
    """
    if found.status in {402, 409} and (quote := _read_price(found, action)) is not None:
        return Outcome("payable", str(read_refusal(found)), quote=quote)
    if found.status >= 500:
        raise SiteFailed(f"{read_refusal(found)} It is unknown whether {action.name} was done.")
    if found.status >= 400:
        raise read_refusal(found)
    if found.status == 202:
        return read_status(found, found.headers.get("Location", ""))
    if not found.body:
        return Outcome("done")
    is_json = "json" in found.headers.get("Content-Type", "").lower()
    if not is_json:
        return Outcome("done", clean(found.body.decode("utf-8", "replace")))
    value = decode(found)
    if text_of(value, "status") == "clarification_needed":
        answer, _ = read_answer(value)
        return Outcome("question", answer.text)
    return _finish(value)


def read_status(found: Fetched, reference: str) -> Outcome:
    """Read how a call goes that takes longer.

    Parameters:
        reference: the address where it is asked.
    """
    if found.status >= 400:
        raise read_refusal(found)
    value = decode(found) if found.body else {}
    status = text_of(value, "status")
    if found.status == 202 or status in _WAITING:
        named = reference or text_of(value, "poll")
        pause = read_retry_after(found.headers.get("Retry-After"))
        return Outcome("waiting", status or "accepted", named, retry_after=pause)
    if status in {"failed", "expired"}:
        error = object_of(value, "error")
        told = text_of(error, "message") or f"The call {status}."
        code = text_of(error, "kind") or text_of(error, "code")
        raise CallFailed(f"The site could not do it: {shorten(told)}", recovery=shorten(code))
    return _finish(value)


def read_cost(value: Any) -> Money | None:
    """Read a price, also one of a JSON number, which has lost its zeros."""
    money = read_money(value)
    if money is not None and (cents := round(money.amount, 2)) == money.amount:
        return Money(cents, money.currency)
    return money


def _read_price(found: Fetched, action: SiteAction) -> Quote | None:
    """Return the price that a refusal names: its own, or that of the action it offers again."""
    try:
        value = decode(found)
    except SiteFailed:
        return None
    if not isinstance(value, Mapping):
        return None
    error, price = object_of(value, "error"), object_of(value, "price")
    for again in list_of(object_of(error, "recovery"), "actions"):
        is_same = text_of(again, "rel").replace("-", "_") == action.name.replace("-", "_")
        if is_same and read_cost(price) is None:
            price = object_of(object_of(again, "safety"), "cost")
    payment = value.get("payment", error.get("x-payment"))  # the latter in HAC
    money, quote = read_cost(price), read_quote({"price": price, "payment": payment}, "")
    return None if quote is None or money is None else msgspec.structs.replace(quote, money=money)


def _finish(value: Any) -> Outcome:
    answer, _ = read_answer(value)
    result = value.get("result", value) if isinstance(value, Mapping) else value
    return Outcome(
        "done", answer.text if answer.content_type != "application/data" else "", result=result
    )


def _list_sources(response: Any) -> Iterator[Source]:
    for one in list_of(response, "sources")[:MAX_SOURCES]:
        if url := text_of(one, "url"):
            yield Source(url, clean(text_of(one, "title")), clean(text_of(one, "quote")))
