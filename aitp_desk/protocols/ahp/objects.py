"""Defines the JSON objects of AHP: the manifest, and those of the conversational endpoint.

Source: AHP 0.1, sections 4, 6, 9 and 10, and appendix A.
The wire modules encode them, and the OpenAPI document describes them under their names. The schemas
leave ``meta`` and ``response`` open to extensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_desk.agent.base import Relevance
from aitp_desk.model.calls.call import CallError
from aitp_desk.model.errors import Recovery
from aitp_desk.model.money import Money
from aitp_desk.protocols.base.payments.objects import HowToPay


class AHPContext(msgspec.Struct, forbid_unknown_fields=True):
    """Details of a question (section 6.1)."""

    requesting_agent: str | None = None
    user_intent: str | None = None
    max_tokens: int | None = None
    accept_types: list[str] | None = None
    callback_url: str | None = None
    locale: str | None = None


class AHPRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A question to a capability (section 6.1)."""

    capability: str
    query: str
    ahp: str | None = None
    session_id: str | None = None
    clarification: str | None = None
    context: AHPContext | None = None


class AHPSource(msgspec.Struct):
    """A source of an answer."""

    title: str
    url: str
    relevance: Relevance


class AHPFollowUp(msgspec.Struct):
    """Questions that may follow."""

    suggested_queries: Sequence[str]


class AHPAnswer(msgspec.Struct, kw_only=True):
    """An answer (section 6.2).

    Parameters:
        payload: the result of an action, in its own form.
        messages: structured messages of the capabilities that the caller has declared.
        besides: the text that these messages do not express.
    """

    content_type: str
    payload: Any = UNSET
    answer: str
    sources: Sequence[AHPSource]
    follow_up: AHPFollowUp
    messages: Sequence[Any] | UnsetType = UNSET
    besides: str | UnsetType = UNSET


class AHPClarification(msgspec.Struct, kw_only=True):
    """A clarifying question of the desk (section 6.3)."""

    question: str
    options: Sequence[str] | None
    free_form: bool
    messages: Sequence[Any] | UnsetType = UNSET
    besides: str | UnsetType = UNSET


class AHPCacheFigures(msgspec.Struct):
    """The answer cache: its hit rate, from 0 to 1, and the age of this answer."""

    hit_rate: float
    age_seconds: int | UnsetType = UNSET


class AHPPerson(msgspec.Struct):
    """A message of a person of the site."""

    actor: str
    text: str


class AHPMeta(msgspec.Struct, kw_only=True):
    """How a response was made (section 6.6), with extensions of this desk."""

    tokens_used: int
    capability_used: str
    mode: str
    cached: bool
    tools_used: Sequence[str]
    content_signals: Any
    locale: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    fallback: str | UnsetType = UNSET
    last_event: int | UnsetType = UNSET
    people: Sequence[AHPPerson] | UnsetType = UNSET
    asked_person: str | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    fallback_from: str | UnsetType = UNSET
    cache: AHPCacheFigures | UnsetType = UNSET
    price: Money | UnsetType = UNSET
    payment: HowToPay | UnsetType = UNSET


class AHPCallback(msgspec.Struct):
    """Where the outcome of a call is sent."""

    method: str
    url: str


class AHPResponse(msgspec.Struct, kw_only=True):
    """The response to a question or a call (sections 6.2 to 6.4 and 9.2).

    Parameters:
        clarification_question: of ``clarification``; later test suites look for it here.
        suggested_queries: the options of ``clarification``, likewise.
    """

    status: Literal["success", "clarification_needed", "accepted", "pending", "failed", "expired"]
    session_id: str | None
    response: AHPAnswer | UnsetType = UNSET
    clarification: AHPClarification | UnsetType = UNSET
    clarification_question: str | UnsetType = UNSET
    suggested_queries: Sequence[str] | UnsetType = UNSET
    progress: str | UnsetType = UNSET
    error: CallError | UnsetType | None = UNSET
    eta_seconds: int | UnsetType | None = UNSET
    poll: str | UnsetType = UNSET
    callback: AHPCallback | UnsetType = UNSET
    meta: AHPMeta | UnsetType = UNSET


class AHPError(msgspec.Struct, kw_only=True, tag_field="status", tag="error"):
    """A refusal in AHP's form (section 10)."""

    code: str
    message: str
    detail: str | UnsetType = UNSET
    param: str | UnsetType = UNSET
    available_capabilities: Sequence[str] | UnsetType = UNSET
    available_types: Sequence[str] | UnsetType = UNSET
    scope: str | UnsetType = UNSET
    retry_after: int | UnsetType | None = UNSET
    price: Money | UnsetType = UNSET
    payment: HowToPay | UnsetType = UNSET
    supported: Sequence[str] | UnsetType = UNSET
    manifest: str | UnsetType = UNSET
    recovery: Recovery | UnsetType = UNSET


Limit = Annotated[str, Meta(pattern="^[0-9]+/(?:second|minute|hour|day)$", examples=["30/minute"])]
"""A number of requests in a period."""
Mode = Literal["MODE1", "MODE2", "MODE3"]
ContentType = Annotated[
    str,
    Meta(
        pattern="^(?:text|application|media|file|x-[a-z][a-z0-9-]*)/[a-z][a-z0-9_-]*$",
        examples=["text/answer"],
    ),
]
FullUrl = Annotated[str, Meta(extra_json_schema={"format": "uri"})]


class AHPCapability(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A capability as the manifest declares it (sections 4.2 and 5.3)."""

    name: Annotated[
        str, Meta(max_length=64, pattern="^[a-z][a-z0-9_]*$", examples=["content_search"])
    ]
    description: Annotated[str, Meta(max_length=256)]
    mode: Mode
    response_types: list[ContentType] | UnsetType = UNSET
    action_type: Literal["query", "action", "async"] | UnsetType = UNSET
    input_schema: Mapping[str, Any] | UnsetType = UNSET
    output_schema: Mapping[str, Any] | UnsetType = UNSET
    accept_fallback: bool | UnsetType = UNSET


class AHPEndpoints(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The addresses of AHP."""

    converse: str | UnsetType = UNSET
    content: str | UnsetType = UNSET


class AHPTier(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The limits of one agent (section 11.5)."""

    requests: Limit | UnsetType = UNSET
    token_budget: (
        Annotated[str, Meta(pattern="^[0-9]+/session$", examples=["5000/session"])] | UnsetType
    ) = UNSET


class AHPTiers(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The limits of agents without and with a credential."""

    unauthenticated: AHPTier | UnsetType = UNSET
    authenticated: AHPTier | UnsetType = UNSET


class AHPSignals(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """How the site's content may be used."""

    ai_train: bool | UnsetType = UNSET
    ai_input: bool
    search: bool | UnsetType = UNSET
    attribution_required: bool | UnsetType = UNSET


class AHPAsync(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Whether calls may continue in the background, and for how long."""

    supported: bool
    max_eta_seconds: Annotated[int, Meta(ge=0)] | UnsetType = UNSET


class PublishedManifest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The manifest as its published schema has it (section 4 and appendix A)."""

    ahp: Annotated[str, Meta(pattern=r"^[0-9]+\.[0-9]+$", examples=["0.1"])]
    name: Annotated[str, Meta(max_length=128)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=512)] | UnsetType = UNSET
    modes: Annotated[list[Mode], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
    endpoints: AHPEndpoints | UnsetType = UNSET
    capabilities: list[AHPCapability] | UnsetType = UNSET
    authentication: Literal["none", "bearer", "api_key", "signed_request"] | UnsetType = UNSET
    content_signals: AHPSignals
    async_: AHPAsync | UnsetType = msgspec.field(default=UNSET, name="async")
    links: dict[str, FullUrl] | UnsetType = UNSET
    rate_limit: Limit | UnsetType = UNSET
    rate_limits: AHPTiers | UnsetType = UNSET


class AHPManifest(PublishedManifest, kw_only=True):
    """The manifest, with a member of drafts after 0.1."""

    integrations: Mapping[str, Any] | UnsetType = UNSET


OBJECTS: tuple[type[msgspec.Struct], ...] = (
    AHPRequest,
    AHPResponse,
    AHPError,
    AHPManifest,
)
"""The bodies of requests and responses; what they contain follows from them."""
