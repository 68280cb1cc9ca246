"""All structured messages that desks of this process send, each held against what is published.

Whatever leaves a desk is looked at: replies, streams, and what is sent to other servers. There the
messages of AITP-01 to 04 are found, however deep they stand in other JSON, and each has to
keep the upstream schema of its kind and the document that the desk serves itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from aitp_desk.egress import Egress, Fetched
from aitp_desk.http.dispatcher import Dispatcher, Response
from aitp_desk.http.request import Request
from aitp_desk.http.stream_response import StreamWriter
from tests.support.specs.folder import find_shared_folder

SCHEMA = "$schema"
PACKAGES: Mapping[str, str] = {
    "request_decision": "aitp_requests",
    "decision": "aitp_requests",
    "request_data": "aitp_data",
    "data": "aitp_data",
    "healthcheck": "aitp_operations",
    "health": "aitp_operations",
    "quote": "aitp_payments",
    "wrapped_quote": "aitp_payments",
    "payment": "aitp_payments",
    "payment_confirmation": "aitp_payments",
    "top_up_request": "aitp_payments",
    "top_up_response": "aitp_payments",
    "payment_authorization": "aitp_payments",
    "payment_result": "aitp_payments",
}
"""Whose message it is, by its key."""
SLUGS = ("aitp.dev/requests", "aitp.dev/data", "aitp.dev/operations", "aitp.dev/payment")
_DECISIONS = "aitp-02-decisions-v1.0.0.json"
_DATA = "aitp-03-data-request-v1.0.0.json"
_ENCRYPTED = "aitp-03-data-request-encrypted-draft.json"
_PAYMENTS = "aitp-01-payments-v1.0.0.json"
_PAYMENTS_DRAFT = "payments-v1-draft.json"
_DRAFTED = frozenset({"payment_authorization", "payment_result"})
_UPSTREAM: Mapping[str, tuple[tuple[str, str], ...]] = {
    "request_decision": ((_DECISIONS, "RequestDecision"),),
    "decision": ((_DECISIONS, "Decision"),),
    "request_data": ((_DATA, ""),),
    "data": ((_DATA, ""),),
    "healthcheck": (),
    "health": (),
}
_FORMATS = jsonschema.FormatChecker()


@_FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    # those who say a slug for a schema are understood, and told to others as they are
    if not isinstance(value, str) or value in SLUGS:
        return True
    return bool(urlsplit(value).scheme) and not any(one.isspace() for one in value)


@cache
def _upstream(name: str, definition: str) -> jsonschema.Draft202012Validator:
    folder = find_shared_folder(os.environ.get("AITP_DESK_SHARED")) / "schemas" / "aitp"
    whole = json.loads((folder / name).read_text(encoding="utf-8"))
    if definition:
        components = {"components": whole["components"]}
        whole = {**components, "$ref": f"#/components/schemas/{definition}"}
    return jsonschema.Draft202012Validator(whole, format_checker=_FORMATS)


@cache
def _served(package: str, version: int = 1) -> jsonschema.Draft202012Validator:
    name = f"v{version}.json"
    text = resources.files(package).joinpath("schemas", name).read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text), format_checker=_FORMATS)


def faults(message: Mapping[str, Any]) -> list[str]:
    """What is published has against a message; nothing where it is as it should be.

    Without the folder of outside reference data it is held against the desk's own documents alone.
    """
    has_upstream = bool(os.environ.get("AITP_DESK_SHARED"))
    found = []
    for key in PACKAGES.keys() & message.keys():
        if PACKAGES[key] == "aitp_payments":
            validators = _of_payments(key, message, has_upstream=has_upstream)
            found += [error.message for one in validators for error in one.iter_errors(message)]
            continue
        named = _UPSTREAM[key] if has_upstream else ()
        if named and '"encryption"' in json.dumps(message):
            named = (*named, (_ENCRYPTED, ""))
        validators = [_upstream(*one) for one in named] + [_served(PACKAGES[key])]
        found += [error.message for one in validators for error in one.iter_errors(message)]
    return found


def _of_payments(
    key: str, message: Mapping[str, Any], *, has_upstream: bool
) -> list[jsonschema.Draft202012Validator]:
    """By which schema a payment's message is held: its own says which; none for a stranger's."""
    named = str(message[SCHEMA])
    if "/capabilities/payments/v1/" in named:
        return [_served("aitp_payments")]
    if "aitp.dev/" not in named:
        return []
    is_drafted = "payment_plans" in message[key] or key in _DRAFTED
    upstream = (_PAYMENTS_DRAFT, "") if is_drafted else (_PAYMENTS, _defined(key))
    return [_served("aitp_payments", 0), *([_upstream(*upstream)] if has_upstream else [])]


def _defined(key: str) -> str:
    """What the published schema calls a message: ``TopUpRequest``."""
    return "".join(word.capitalize() for word in key.split("_"))


def messages_in(value: object) -> Iterator[dict[str, Any]]:
    """The structured messages in a value, at any depth, also where JSON stands in a text."""
    if isinstance(value, str):
        # a reply may hold an event stream, each line of which holds JSON
        for line in value.splitlines() if value.startswith(("event:", "data:", "id:")) else [value]:
            text = line.removeprefix("data:").strip()
            if SCHEMA in text and text.startswith(("{", "[")):
                try:
                    inner = json.loads(text)
                except ValueError:
                    continue
                yield from messages_in(inner)
    elif isinstance(value, list):
        for one in value:
            yield from messages_in(one)
    elif isinstance(value, dict):
        if isinstance(value.get(SCHEMA), str) and PACKAGES.keys() & value.keys():
            yield value
        for one in value.values():
            yield from messages_in(one)


class Overheard:
    """What was found.

    Attributes:
        messages: each as it was sent.
    """

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def look(self, data: bytes) -> None:
        """Look at what is sent."""
        if SCHEMA.encode() in data:
            self.messages += messages_in(data.decode("utf-8", "replace"))

    def wrong(self) -> list[tuple[dict[str, Any], list[str]]]:
        """The messages that are not as they should be, and why; afterwards there are none."""
        messages, self.messages = self.messages, []
        judged = [(message, faults(message)) for message in messages]
        return [(message, found) for message, found in judged if found]


def listen(patch: pytest.MonkeyPatch) -> Overheard:
    """Look at all that desks send from now on, until the patch is undone."""
    overheard = Overheard()
    answer, write, send = Dispatcher.handle_request, StreamWriter.write, Egress.send

    async def answers(front: Dispatcher, request: Request) -> Response:
        outgoing = await answer(front, request)
        overheard.look(outgoing.reply.body)
        return outgoing

    def writes(outlet: StreamWriter, data: bytes) -> bool:
        overheard.look(data)
        return write(outlet, data)

    async def sends(egress: Egress, url: str, body: bytes, **more: Any) -> Fetched:
        overheard.look(body)
        return await send(egress, url, body, **more)

    patch.setattr(Dispatcher, "handle_request", answers)
    patch.setattr(StreamWriter, "write", writes)
    patch.setattr(Egress, "send", sends)
    return overheard
