"""AITP-03 as a capability: judges forms and replies, seals sensitive values, parses text.

Requests are stored in the capability's :class:`~aitp_desk.capability.Book`. For a sensitive field
the message, the record and the resumed call hold only a reference.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Annotated, Any

import msgspec
from msgspec import Meta, UnsetType
from msgspec.structs import replace

from aitp_data import profile
from aitp_data import remote_forms as fetching
from aitp_data.desk_forms import phrase, value_of
from aitp_data.encryption.decryption import given_in
from aitp_data.encryption.jwe import is_jwe
from aitp_data.encryption.keys import Keys
from aitp_data.forms import Filled, called, check_fields, is_secret, settle
from aitp_data.json_schema_forms import data_by, form_of
from aitp_data.messages import (
    MESSAGES,
    OWN,
    Data,
    DataField,
    FormField,
    Reason,
    RejectedData,
    RequestData,
)
from aitp_data.records import BOOK, AskedForm
from aitp_data.text import how_to_reply, tell_data, tell_request
from aitp_data.word_replies import OpenForm, understand
from aitp_desk.capability import (
    UNKNOWN,
    Asking,
    Audit,
    Capability,
    Context,
    Effect,
    Forbidden,
    InvalidRequest,
    Job,
    Keep,
    NotCounted,
    Own,
    Part,
    Record,
    Refuse,
    Replace,
    Say,
    Schema,
    Seal,
    Standing,
    Take,
    Then,
    Verdict,
    Waiting,
    Work,
    document_of,
    open_until,
    waits_for_others,
)

PUBLISHED = "https://aitp.dev/capabilities/aitp-03-data-request/v1.0.0/schema.json"
KEYS_NAME = "jwks.json"

_log = logging.getLogger(__name__)


class DataSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[capabilities.data]``.

    Parameters:
        open_for: lifetime in seconds of a form that names no expiry.
    """

    open_for: Annotated[int, Meta(ge=60, le=366 * 24 * 60 * 60)] = 7 * 24 * 60 * 60


class DataRequests(Capability):
    """Requests for data, and replies."""

    slug = "data"
    names = ("aitp.dev/data", "aitp.dev/data-request", "aitp.dev/aitp-03-data-request")
    settings = DataSettings

    def use(self, own: Own) -> None:
        """Derive the site's keys."""
        self._keys = Keys(own)
        if self._keys.jwks is None:
            _log.warning("JWEs cannot be decrypted: the extra is not installed (aitp-desk[jose]).")

    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the public keys for encrypted values, if the desk can decrypt such."""
        return {} if self._keys.jwks is None else {KEYS_NAME: self._keys.jwks}

    def schemas(self) -> Sequence[Schema]:
        """Return version 1.0.0 of AITP-03 as published, with its draft's encryption.

        Version 0 holds the desk's own messages, which readers that have declared AITP-03 receive
        too.
        """
        document = resources.files(__package__).joinpath("schemas/v1.json").read_bytes()
        return (
            Schema(
                version=1,
                messages=MESSAGES,
                document=msgspec.json.decode(document),
                url=PUBLISHED,
            ),
            Schema(
                version=0,
                messages=OWN,
                document=document_of(OWN, "Rejected replies to forms"),
            ),
        )

    def judge(self, part: Part, context: Context) -> Verdict:
        """Open a form, or check a reply against its form."""
        match part.content:
            case RequestData() as request:
                return self._ask(request, part.given, context)
            case Data() as data:
                return self._answer(data, part.given, context)
            case RejectedData():
                return Refuse(Forbidden("Only the desk can reject a reply."))
            case _:
                raise AssertionError(part.key)

    def as_text(self, part: Part) -> str:
        """Render a message; see :mod:`aitp_data.text`."""
        match part.content:
            case RequestData() as request:
                return tell_request(request)
            case Data() as data:
                return tell_data(data)
            case RejectedData(fields=fields):
                return f"Rejected. {tell_data(Data(fields))}"
            case _:
                raise AssertionError(part.key)

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """Parse a reply; see :mod:`aitp_data.word_replies`."""
        asked = [one for one in map(BOOK.read, waiting) if one is not None]
        data = understand(text, [OpenForm(one.request, one.fields, one.remembers) for one in asked])
        return None if data is None else {"data": data}

    def awaits(self, record: Record, actor: str) -> bool:
        """Return whether an actor may answer a form by text."""
        return BOOK.awaits(record, actor)

    def phrase(self, asking: Asking) -> Mapping[str, Any] | None:
        """Ask for a form to be filled in; see :mod:`aitp_data.desk_forms`."""
        request = phrase(asking)
        return None if request is None else {"request_data": request}

    def standing(self, part: Part, context: Context) -> Standing | None:
        """Return a form's state; None for a reply."""
        request = part.content
        return BOOK.standing(request.id, context) if isinstance(request, RequestData) else None

    def waiting(self, record: Record) -> Waiting | None:
        """Return the form of an open request; see :mod:`aitp_data.json_schema_forms`."""
        asked = BOOK.read(record)
        if asked is None or not asked.fields:
            return None
        request = asked.request
        form = replace(request.form, fields=asked.fields)
        return Waiting(
            id=request.id,
            message={"request_data": self._protect(replace(request, form=form))},
            form=form_of(asked.fields),
            by=asked.by,
            of=request.actor,
            call_id=asked.call_id,
            rejected=asked.rejected,
        )

    def answer(self, record: Record, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Build the reply of a submitted form; see :mod:`aitp_data.json_schema_forms`."""
        asked = BOOK.read(record)
        if asked is None:
            raise InvalidRequest("This request has been erased.")
        return {"data": data_by(asked.request.id, asked.fields, given)}

    def jobs(self) -> Mapping[str, Work]:
        """Return the job that fetches forms by URL."""
        return {fetching.JOB: Work(self._fetch)}

    def _ask(self, request: RequestData, given: Mapping[str, Any], context: Context) -> Verdict:
        form = request.form
        url = form.json_url
        if not form.fields and isinstance(url, UnsetType):
            raise InvalidRequest(
                "A form needs `fields`, or a `json_url` from which they are fetched.",
                param="request_data.form",
            )
        check_fields(form.fields, "request_data.form.fields")
        BOOK.check(request, context)
        if BOOK.is_known(request, context):
            return Take()
        original, offered = request, profile.offer(request, context)
        if not request.supersedes and (old := BOOK.waited_for(context)):
            request, offered = (replace(one, supersedes=old) for one in (request, offered))
        waits = waits_for_others(request, context)
        asked = AskedForm(
            request,
            context.actor,
            open_until(request, context, self.chosen.open_for),
            call_id=None if context.asking is None else context.asking.call_id,
            fields=offered.form.fields,
            waits=waits,
            remembers=offered.remembers,
        )
        shown = self._protect(offered)
        effects: list[Effect] = [] if shown == original else [_replace(given, original, shown)]
        effects += (
            *BOOK.open(asked, context, waits=waits and bool(form.fields)),
            Audit("asked"),
        )
        if not form.fields and not isinstance(url, UnsetType):
            if context.principal is None and not context.is_ours:
                raise Forbidden(
                    "Anonymous callers cannot give a form by URL. Put its fields into the request.",
                    param="request_data.form.json_url",
                )
            key = BOOK.key(context.thread_id, request.id)
            effects.append(fetching.begin(key, url))
        return Take(tuple(effects), Then.NOBODY if waits else Then.AGENT)

    def _protect(self, request: RequestData) -> RequestData:
        """Add the site's keys to a request for sensitive data that names none."""
        form = request.form
        if not any(map(is_secret, form.fields)):
            return request
        fields = tuple(map(self._protect_field, form.fields))
        if isinstance(request.jwks, UnsetType) and self._keys.jwks is not None:
            request = replace(request, jwks=self._keys.jwks)
        return replace(request, form=replace(form, fields=fields))

    def _protect_field(self, field: FormField) -> FormField:
        if not is_secret(field) or not isinstance(field.encryption, UnsetType):
            return field
        return replace(field, encryption=self._keys.recipient)

    async def _fetch(self, job: Job) -> Sequence[Effect]:
        return await fetching.fetch(job, self._protect)

    def _answer(self, data: Data, given: Mapping[str, Any], context: Context) -> Verdict:
        found = BOOK.find(data.request_data_id, context)
        if found is None:
            fields = tuple(DataField(field.id, field.label) for field in data.fields)
            rejected = RejectedData("unknown_request", UNKNOWN, fields, data.request_data_id)
            return Take((_rejected(rejected), Say(UNKNOWN)))
        record, asked = found
        if (why := asked.cannot_answer(context)) is not None:
            aside = _set_aside(data, asked, why.reason, why.message, context)
            return Take((*aside, *BOOK.reject(record, asked, why, context), Say(why.message)))
        if not asked.fields:
            notice = "This form is still being fetched. Reply once its fields are on the thread."
            return Take((*_set_aside(data, asked, "not_ready", notice, context), Say(notice)))
        try:
            filled = settle(asked.fields, given_in(data, asked, self._keys))
        except InvalidRequest as error:
            if not data.in_words:
                raise
            notice = f"{error.message} {how_to_reply(asked.fields)}"
            still_open = Keep(record.key, asked, record.version, asked.until)
            aside = _set_aside(data, asked, "unfit", error.message, context)
            return Take((*aside, still_open, Say(notice)))
        return _take(data, given, filled, record, asked, context)


def _take(
    data: Data,
    given: Mapping[str, Any],
    filled: tuple[Filled, ...],
    record: Record,
    asked: AskedForm,
    context: Context,
) -> Take:
    """Store a valid reply."""
    encrypted = {field.id: field.encryption for field in data.fields}
    fields: list[DataField] = []
    sealed: list[Effect] = []
    for one in filled:
        field = DataField(one.field.id, called(one.field))
        if one.is_sealed:
            ref = context.ref(one.field.id)
            sealed.append(Seal(ref, one.value))
            field = replace(field, sealed=ref)
        else:
            field = replace(field, value=one.value)
            if one.is_theirs:
                field = replace(field, encryption=encrypted[one.field.id])
        fields.append(field)
    settled = Data(tuple(fields), asked.request.id)
    kept, notice = profile.keep(data.remember, filled, context, is_offered=asked.remembers)
    notices = (Say(notice),) if notice else ()
    stored: dict[str, Any] = {"data": msgspec.to_builtins(settled)}
    if not sealed and not data.in_words:
        # a sealed value could be repeated in an unknown member: then unknown members are dropped
        rest = {name: value for name, value in given["data"].items() if name not in _OWN}
        stored = dict(given) | {"data": rest | stored["data"]}

    def otherwise(why: NotCounted) -> tuple[Effect, ...]:
        rejected = RejectedData(why.reason, why.message, settled.fields, asked.request.id)
        noted = BOOK.reject(record, asked, why, context)
        return (_rejected(rejected), *sealed, *noted, Say(why.message))

    return Take(
        (
            Replace(stored),
            *sealed,
            *BOOK.close(record, asked, settled, context),
            *kept,
            *notices,
            Audit("answered"),
        ),
        asked.then(value_of(filled, fields), context),
        otherwise=otherwise,
    )


_OWN = frozenset({"encrypted", "remember", "in_words"})
"""Members that control a reply and are not stored."""


def _replace(given: Mapping[str, Any], request: RequestData, shown: RequestData) -> Replace:
    """Return the effect that stores the completed request in place of the original."""
    before, after = msgspec.to_builtins(request), msgspec.to_builtins(shown)
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    return Replace(dict(given) | {"request_data": dict(given["request_data"]) | changed})


def _rejected(rejected: RejectedData) -> Replace:
    """Store a reply as rejected. No reader can then take it for a valid one."""
    return Replace({"rejected_data": rejected}, version=0)


def _set_aside(
    data: Data, asked: AskedForm, reason: Reason, message: str, context: Context
) -> tuple[Effect, ...]:
    """Store a reply that is not accepted, with its sensitive values sealed."""
    known = {field.id: field for field in asked.fields}
    fields: list[DataField] = []
    sealed: dict[str, Effect] = {}
    for field in data.fields:
        one = known.get(field.id)
        if one is None or not isinstance(field.encryption, UnsetType):
            fields.append(DataField(field.id, field.label))
        elif not isinstance(field.value, UnsetType) and (is_secret(one) or is_jwe(field.value)):
            ref = context.ref(field.id)
            sealed.setdefault(ref, Seal(ref, field.value))
            fields.append(DataField(field.id, called(one), sealed=ref))
        else:
            fields.append(DataField(field.id, called(one), field.value))
    rejected = RejectedData(reason, message, tuple(fields), asked.request.id)
    return (_rejected(rejected), *sealed.values())
