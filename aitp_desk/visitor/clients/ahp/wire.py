"""AHP 0.1 as a visitor reads it: the manifest, responses and errors, in bounded forms."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

MAX_CAPABILITIES = 1000
Line = Annotated[str, msgspec.Meta(max_length=4096)]


class Capability(msgspec.Struct, frozen=True):
    """A capability of the manifest (AHP 0.1, section 4.3)."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    description: Line = ""
    mode: str = "MODE2"
    response_types: Annotated[tuple[Line, ...], msgspec.Meta(max_length=100)] = ()
    action_type: str = ""
    input_schema: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Endpoints(msgspec.Struct, frozen=True):
    """Where a site is asked, and where its content is."""

    converse: Line = "/agent/converse"
    content: Line = "/llms.txt"


class Signals(msgspec.Struct, frozen=True):
    """What a site permits (AHP 0.1, section 7); None: it says nothing."""

    ai_train: bool | None = None


class Manifest(msgspec.Struct, frozen=True):
    """The manifest (AHP 0.1, section 4)."""

    ahp: Line
    modes: Annotated[tuple[Line, ...], msgspec.Meta(max_length=100)] = ()
    endpoints: Endpoints = Endpoints()
    capabilities: Annotated[tuple[Capability, ...], msgspec.Meta(max_length=MAX_CAPABILITIES)] = ()
    content_signals: Signals = Signals()


class WireSource(msgspec.Struct, frozen=True):
    """A source of an answer."""

    url: Line = ""
    title: Line = ""
    quote: str = ""


class Response(msgspec.Struct, frozen=True):
    """The answer of a success (sections 6.2, 6.6)."""

    content_type: str = "text/answer"
    answer: str = ""
    payload: Any = None
    sources: Annotated[tuple[WireSource, ...], msgspec.Meta(max_length=1000)] = ()


class Clarification(msgspec.Struct, frozen=True):
    """What the site asks back (section 6.3)."""

    question: str
    options: Annotated[tuple[str, ...], msgspec.Meta(max_length=1000)] | None = None


class Meta(msgspec.Struct, frozen=True):
    """What a site says of its response."""

    tokens_used: Annotated[int, msgspec.Meta(ge=0)] | None = None
    capability_used: str = ""
    content_signals: Signals = Signals()
    asked_person: Line = ""
    price: Any = None
    payment: Any = None


class Problem(msgspec.Struct, frozen=True):
    """Why an accepted call failed; desks name the kind."""

    message: str = ""
    kind: Line = ""


class Turn(msgspec.Struct, frozen=True):
    """A response of the conversational endpoint, or of a status address."""

    status: str
    session_id: Line | None = None
    response: Response | None = None
    clarification: Clarification | None = None
    meta: Meta = Meta()
    poll: Line = ""
    eta_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    progress: str | None = None
    code: str = ""
    detail: Any = None
    message: str = ""
    scope: str | None = None
    retry_after: Annotated[float, msgspec.Meta(ge=0)] | UnsetType | None = UNSET
    error: Problem | None = None
    price: Any = None
    payment: Any = None
