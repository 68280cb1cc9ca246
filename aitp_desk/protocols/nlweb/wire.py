"""Writes the responses of NLWeb: of version 0.54, and of the REST interface before it.

Source: NLWeb 0.54, sections 4 and 8.4; NLWeb's REST interface and the messages of its streams.
Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
from msgspec import UNSET

from aitp_desk.agent.base import Clarification
from aitp_desk.knowledge.sources.html.json_ld import list_types
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.protocol import Reply
from aitp_desk.protocols.base.sse import write_data
from aitp_desk.protocols.nlweb import objects
from aitp_desk.protocols.nlweb.request_wire import AskedQuestion

VERSION: Final = "0.54"
_OWN: Final = frozenset({"@context", "@type", "grounding", "actions", "schema_object"})
"""Members of a result that are the desk's to write, whatever a page declares."""
_encode = msgspec.json.Encoder().encode


class Results(msgspec.Struct, frozen=True):
    """The pages that were found."""

    items: Sequence[objects.NLWebItem]


class Summary(msgspec.Struct, frozen=True):
    """A summary of the results."""

    text: str


class Generated(msgspec.Struct, frozen=True):
    """An answer, and the pages that it is made from."""

    text: str
    items: Sequence[objects.NLWebItem]


Part = Results | Summary | Generated | Clarification
"""A part of a response; a clarification is the only one of its response."""


class ResponseFormat(Protocol):
    """Writes one response."""

    def encode(self, parts: Sequence[Part]) -> bytes:
        """Encode the response as a whole."""

    def write_part(self, part: Part) -> bytes:
        """Write the next part of it as events."""

    def write_failure(self, error: DeskError) -> bytes:
        """Write as an event that the rest cannot be given."""

    def write_end(self) -> bytes:
        """Write what ends its events."""


def choose_format(asked: AskedQuestion, query_id: str) -> ResponseFormat:
    """Return the format that a question expects.

    Parameters:
        query_id: the question's, if the caller has named none.
    """
    if asked.is_structured:
        return StructuredFormat(asked)
    return FlatFormat(asked.query_id or query_id)


class FlatFormat:
    """The form of the REST interface; its events have a ``message_type``."""

    def __init__(self, query_id: str) -> None:
        self._query_id = query_id

    def encode(self, parts: Sequence[Part]) -> bytes:
        """Encode the response as a whole."""
        told: dict[str, Any] = {"query_id": self._query_id, "results": ()}
        for part in parts:
            match part:
                case Results(items):
                    told["results"] = items
                case Summary(text):
                    told["summary"] = {"message": text}
                case Generated(text, items):
                    told["results"] = items
                    told["nlws"] = {"answer": text, "items": items}
                case Clarification():
                    told["ask_user"] = {"content": word_question(part)}
        return _encode(told)

    def write_part(self, part: Part) -> bytes:
        """Write the next part as an event."""
        match part:
            case Results(items):
                return self._event("result_batch", results=items)
            case Summary(text):
                return self._event("summary", message=text)
            case Generated(text, items):
                return self._event("nlws", answer=text, items=items)
            case Clarification():
                return self._event("ask_user", content=word_question(part))

    def write_failure(self, error: DeskError) -> bytes:
        """Write as an event that the rest cannot be given."""
        return self._event("error", error=error.message, code=make_code(error.kind))

    def write_end(self) -> bytes:
        """Write the last event."""
        return self._event("complete")

    def _event(self, message_type: str, **members: object) -> bytes:
        told = {"message_type": message_type, "query_id": self._query_id, **members}
        return write_data(_encode(told))


class StructuredFormat:
    """The form of NLWeb 0.54; the first event has ``_meta``."""

    def __init__(self, asked: AskedQuestion) -> None:
        self._format = asked.response_format
        self._session = asked.session
        self._has_begun = False

    def encode(self, parts: Sequence[Part]) -> bytes:
        """Encode the response as a whole."""
        whole = objects.NLWebResponse(self._meta("Answer"))
        for part in parts:
            if isinstance(part, Clarification):
                meta = self._meta("Elicitation")
                return _encode(objects.NLWebResponse(meta, elicitation=elicit(part)))
            written = self._write(part)
            for name in ("results", "content", "structured_data"):
                if (more := getattr(written, name)) is not UNSET:
                    setattr(whole, name, [*(getattr(whole, name) or ()), *more])
        return _encode(whole)

    def write_part(self, part: Part) -> bytes:
        """Write the next part as an event, after ``_meta``."""
        if isinstance(part, Clarification):
            return self._begin("Elicitation") + _event(
                objects.NLWebResponse(elicitation=elicit(part))
            )
        return self._begin("Answer") + _event(self._write(part))

    def write_failure(self, error: DeskError) -> bytes:
        """Write as an event that the rest cannot be given."""
        meta = self._meta("Failure")
        return _event(objects.NLWebResponse(meta, error=describe_fault(error)))

    def write_end(self) -> bytes:
        """Write nothing: the stream ends."""
        return b""

    def _begin(self, kind: objects.ResponseType) -> bytes:
        if self._has_begun:
            return b""
        self._has_begun = True
        return _event(objects.NLWebResponse(self._meta(kind)))

    def _meta(self, kind: objects.ResponseType) -> objects.NLWebMeta:
        return objects.NLWebMeta(
            kind,
            VERSION,
            self._format if kind == "Answer" else UNSET,
            self._session or UNSET,
        )

    def _write(self, part: Results | Summary | Generated) -> objects.NLWebResponse:
        items = () if isinstance(part, Summary) else part.items
        found = [write_result(item) for item in items]
        if self._format == "chatgpt_app":
            if isinstance(part, Results):
                texts = [": ".join(filter(None, (one.name, one.description))) for one in items]
            else:
                texts = [part.text]
            content = [objects.NLWebText(text) for text in texts]
            return objects.NLWebResponse(content=content, structured_data=found)
        match part:
            case Results():
                return objects.NLWebResponse(results=found)
            case Summary(text):
                return objects.NLWebResponse(results=[{"@type": "Summary", "text": text}])
            case Generated(text):
                generated = {"@type": "GeneratedAnswer", "answer": text}
                return objects.NLWebResponse(results=[generated, *found])


def write_result(item: objects.NLWebItem) -> dict[str, Any]:
    """Write a page as a result object of 0.54: with the members of what it declares.

    The desk's own members win, and a page offers no actions in the desk's name.
    """
    declared = item.schema_object
    own = msgspec.structs.asdict(item)
    further = {name: value for name, value in declared.items() if name not in _OWN | own.keys()}
    types = list_types(declared)
    return {
        "@type": types[0] if types else "WebPage",
        **own,
        **further,
        "grounding": {"source_urls": [item.url]},
    }


def elicit(asks: Clarification) -> objects.NLWebElicitation:
    """Return what the desk asks back; the answer is the next question."""
    question = objects.NLWebQuestion(
        "question",
        asks.question,
        "single_select" if asks.options and not asks.free_form else "text",
        asks.options or UNSET,
    )
    return objects.NLWebElicitation(asks.question, [question])


def word_question(asks: Clarification) -> str:
    """Return what the desk asks back as one text, with the options."""
    return "\n".join((asks.question, *(f"- {option}" for option in asks.options)))


def make_code(kind: ErrorKind) -> str:
    """Return the code of an error: its kind in capitals."""
    return "INTERNAL_ERROR" if kind is ErrorKind.INTERNAL else kind.name


def describe_fault(error: DeskError) -> objects.NLWebFault:
    """Return what is wrong."""
    fault = objects.NLWebFault(make_code(error.kind), error.message)
    if error.param is not None:
        fault.param = error.param
    if error.retry_after is not None:
        fault.retry_after = error.retry_after
    return fault


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render a refusal as a failure (0.54, section 4.1.4), with its HTTP status."""
    failure = objects.NLWebResponse(
        objects.NLWebMeta("Failure", VERSION), error=describe_fault(error)
    )
    headers = make_refusal_headers(error)
    return Reply(find_status(error.kind), _encode(failure), headers=headers)


def _event(told: objects.NLWebResponse) -> bytes:
    return write_data(_encode(told))
