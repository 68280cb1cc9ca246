"""Buttons and forms below a message: what open requests and offered options become.

The platform gets a random token for each. What the token stands for is stored here, so that a
press says nothing that the desk has not offered.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.history.message_codec import ANSWERS
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.store.records.transports import Control
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.messages import Button, Field, Form

OPTION = "option"
"""In place of a capability: the button stands for words of the person."""
KEPT_SECONDS = 7 * 24 * 60 * 60
MOST_BUTTONS = 10
LONGEST_LABEL = 75
_BYTES = 18


class Controls(msgspec.Struct, frozen=True, kw_only=True):
    """The buttons and the form of a message, and what they stand for."""

    buttons: tuple[Button, ...] = ()
    form: Form | None = None
    kept: tuple[Control, ...] = ()


def offer_options(
    conversation_id: str, options: Sequence[str], now: int, waits: str = ""
) -> Controls:
    """Return buttons that each stand for words of the person.

    Parameters:
        waits: id of the call that the words answer; empty for none.
    """
    of = {ANSWERS: waits} if waits else {}
    buttons, kept = [], []
    for option in options[:MOST_BUTTONS]:
        token = secrets.token_urlsafe(_BYTES)
        buttons.append(Button(label=_label(option), token=token))
        kept.append(_control(token, conversation_id, OPTION, "", {"text": option, **of}, now))
    return Controls(buttons=tuple(buttons), kept=tuple(kept))


def offer_request(conversation_id: str, request: OpenRequest, now: int, language: str) -> Controls:
    """Return the buttons or the form that answer an open request.

    A request whose only member is a choice, or a yes or no, gets a button for each value.

    Parameters:
        language: of the desk's own labels (BCP 47).
    """
    properties: Mapping[str, Any] = request.form.get("properties", {})
    until = min(request.until or now + KEPT_SECONDS, now + KEPT_SECONDS)
    named = (conversation_id, request.capability, request.id)
    if len(properties) == 1:
        ((name, schema),) = properties.items()
        choices = list(_choices(schema, language))
        if choices and schema.get("type") != "array" and len(choices) <= MOST_BUTTONS:
            buttons, kept = [], []
            for value, label in choices:
                token = secrets.token_urlsafe(_BYTES)
                style = "danger" if value is False else "plain"
                buttons.append(Button(label=_label(label), token=token, style=style))  # type: ignore[arg-type]
                kept.append(_control(token, *named, {name: value}, until - KEPT_SECONDS))
            return Controls(buttons=tuple(buttons), kept=tuple(kept))
    form = make_form(request, secrets.token_urlsafe(_BYTES), language)
    if form is None:
        return Controls()
    kept_form = _control(form.token, *named, {}, until - KEPT_SECONDS)
    return Controls(form=form, kept=(kept_form,))


def make_form(request: OpenRequest, token: str, language: str) -> Form | None:
    """Return the form that answers an open request; None if it has no fields.

    Parameters:
        language: of the desk's own labels (BCP 47).
    """
    properties: Mapping[str, Any] = request.form.get("properties", {})
    required = set(request.form.get("required", ()))
    fields = tuple(
        _field(name, schema, language, is_required=name in required)
        for name, schema in properties.items()
    )
    if not fields:
        return None
    title = str(request.form.get("title") or say("form", language))
    return Form(token=token, title=title, fields=fields, submit=say("submit", language))


def _control(
    token: str, conversation_id: str, capability: str, request: str, answer: object, now: int
) -> Control:
    return Control(
        token=token,
        conversation=conversation_id,
        capability=capability,
        request=request,
        answer=msgspec.json.encode(answer).decode(),
        expires_at=now + KEPT_SECONDS,
    )


def _label(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"


def _choices(schema: Mapping[str, Any], language: str) -> Iterator[tuple[Any, str]]:
    """Yield the values that a member may have, with their labels."""
    if schema.get("type") == "boolean":
        yield from ((True, say("yes", language)), (False, say("no", language)))
    for value in schema.get("enum", ()):
        yield value, str(value)
    for one in schema.get("oneOf", ()):
        if isinstance(one, Mapping) and "const" in one:
            yield one["const"], str(one.get("title", one["const"]))


def _field(name: str, schema: Mapping[str, Any], language: str, *, is_required: bool) -> Field:
    kind = schema.get("type")
    inner: Mapping[str, Any] = schema.get("items", {}) if kind == "array" else schema
    choices = (
        tuple((str(value), label) for value, label in _choices(inner, language))
        if kind != "boolean"
        else ()
    )
    label = str(schema.get("title") or name)
    return Field(
        name=name,
        label=label,
        kind=_kind(schema, is_choice=bool(choices)),
        choices=choices,
        is_required=is_required,
        hint=str(schema.get("description", "")),
    )


def _kind(schema: Mapping[str, Any], *, is_choice: bool) -> Any:
    kind = schema.get("type")
    if kind == "array":
        return "choices" if is_choice else "text"
    if kind == "boolean":
        return "boolean"
    if kind in ("integer", "number"):
        return "number"
    if is_choice:
        return "choice"
    return "date" if schema.get("format") == "date" else "text"
