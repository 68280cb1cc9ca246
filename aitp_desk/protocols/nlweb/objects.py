"""Defines the JSON objects of NLWeb, which the OpenAPI document describes under their names.

Source: NLWeb 0.54, sections 3 and 4; NLWeb's REST interface. Both leave objects open to extensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

ResponseType = Literal["Answer", "Elicitation", "Failure"]
ResponseFormat = Literal["conv_search", "chatgpt_app"]


class NLWebQuery(msgspec.Struct):
    """What is asked (0.54, section 3.1)."""

    text: str
    decontextualized_query: str | None = None
    site: str | None = None
    max_results: int | None = None
    min_score: int | None = None


class NLWebRequest(msgspec.Struct):
    """A question; with `query` as text the members `site` to `query_id` count."""

    query: NLWebQuery | str
    context: Mapping[str, Any] | None = None
    prefer: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    site: str | None = None
    prev: Sequence[str] | str | None = None
    decontextualized_query: str | None = None
    streams: bool | str | None = msgspec.field(default=None, name="streaming")
    mode: str | None = None
    query_id: str | None = None


class NLWebMeta(msgspec.Struct):
    """What kind of response it is (0.54, section 4)."""

    response_type: ResponseType
    version: str = "0.54"
    response_format: ResponseFormat | UnsetType = UNSET
    session_context: Mapping[str, str] | UnsetType = UNSET


class NLWebItem(msgspec.Struct):
    """A page that was found."""

    url: str
    name: str
    site: str
    score: int
    description: str
    schema_object: Mapping[str, Any]


class NLWebFault(msgspec.Struct):
    """What is wrong (0.54, section 4.1.4); `param` and `retry_after` are this desk's."""

    code: str
    message: str
    param: str | UnsetType = UNSET
    retry_after: int | UnsetType = UNSET


class NLWebQuestion(msgspec.Struct):
    """What the desk asks back (0.54, section 4.1.3)."""

    id: str
    text: str
    type: Literal["single_select", "text"]
    options: Sequence[str] | UnsetType = UNSET


class NLWebElicitation(msgspec.Struct):
    """Questions that have to be answered first."""

    text: str
    questions: Sequence[NLWebQuestion]


class NLWebText(msgspec.Struct, rename={"type": "Type", "text": "Text"}):
    """A part of an answer as text, in the form of ChatGPT's apps."""

    text: str
    type: Literal["text"] = "text"


class NLWebResponse(msgspec.Struct, rename={"meta": "_meta"}):
    """A response of NLWeb 0.54, or a part of one in a stream."""

    meta: NLWebMeta | UnsetType = UNSET
    results: Sequence[Mapping[str, Any]] | UnsetType = UNSET
    content: Sequence[NLWebText] | UnsetType = UNSET
    structured_data: Sequence[Mapping[str, Any]] | UnsetType = msgspec.field(
        default=UNSET, name="structuredData"
    )
    elicitation: NLWebElicitation | UnsetType = UNSET
    error: NLWebFault | UnsetType = UNSET


class NLWebSummary(msgspec.Struct):
    """A summary of the results."""

    message: str


class NLWebGenerated(msgspec.Struct):
    """An answer, and the pages that it is made from."""

    answer: str
    items: Sequence[NLWebItem]


class NLWebResults(msgspec.Struct, omit_defaults=True):
    """The response to a question as text."""

    query_id: str
    results: Sequence[NLWebItem] | UnsetType = UNSET
    summary: NLWebSummary | UnsetType = UNSET
    nlws: NLWebGenerated | UnsetType = UNSET


class NLWebDefinition(msgspec.Struct):
    """How a site agent is asked (Who 0.1, section 5.2)."""

    name: str
    description: str
    method: str
    content_type: str = msgspec.field(name="contentType")
    input_schema: Mapping[str, Any] = msgspec.field(name="inputSchema")


class NLWebAgent(msgspec.Struct, kw_only=True):
    """A site agent that answers (Who 0.1, section 5.3)."""

    protocol: Literal["http"] = "http"
    endpoint: str
    score: int
    definition: NLWebDefinition
    url: str
    name: str
    site: str
    description: str


class NLWebWhoMeta(msgspec.Struct):
    """What kind of response it is (Who 0.1, section 4.1)."""

    response_type: Literal["answer"]
    version: str
    result_count: int


class NLWebWhoResource(msgspec.Struct):
    """A site agent, in the form that the NLWeb package's models have."""

    uri: str
    data: NLWebAgent


class NLWebWhoContent(msgspec.Struct, tag_field="type", tag="resource"):
    """An item of the content of that form."""

    resource: NLWebWhoResource


class NLWebAgents(msgspec.Struct, rename={"meta": "_meta"}):
    """The site agents that answer here, the fittest first (Who 0.1, section 6.1).

    Parameters:
        content: the same for clients that read the package's ``WhoResponse``.
    """

    meta: NLWebWhoMeta
    results: Sequence[NLWebAgent]
    content: Sequence[NLWebWhoContent]


class NLWebWhoRequest(msgspec.Struct):
    """What an agent is sought for (Who 0.1, section 3)."""

    query: NLWebQuery | str | None = None
    meta: Mapping[str, Any] | None = None


OBJECTS: tuple[type[msgspec.Struct], ...] = (
    NLWebRequest,
    NLWebResponse,
    NLWebResults,
    NLWebWhoRequest,
    NLWebAgents,
)
