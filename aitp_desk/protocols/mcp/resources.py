"""Serves resources: the pages of the site, its declared resources, and a search.

Pages and resources have the same addresses as over HTTP.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.calls.registry import CONTENT_SEARCH
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.turn import AskRequest, CallStatus
from aitp_desk.desk.direct.resources import ResourceView
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.documents.languages import drop_duplicates_by_language
from aitp_desk.model.calls.action import FEED
from aitp_desk.model.calls.resource import NOTHING_HERE
from aitp_desk.model.errors import (
    DeskError,
    InvalidRequest,
    NotAuthenticated,
    PaymentRequired,
    ResourceNotFound,
    ScopeMissing,
)
from aitp_desk.model.web_address import canonical_path
from aitp_desk.protocols.base.call_members import MAX_QUESTION
from aitp_desk.protocols.base.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
)
from aitp_desk.protocols.base.protocol import JSON
from aitp_desk.protocols.mcp.caller import REFUSED, Caller, RpcError
from aitp_desk.protocols.mcp.payments import make_resource_payment_error, read_payment, with_receipt
from aitp_desk.protocols.mcp.tool_calls import count_question
from aitp_desk.protocols.mcp.tools import Item

Markdown = Callable[[Desk, Document], Awaitable[str]]
"""Returns a page as Markdown."""
SEARCH: Final = "desk://search/"
"""The prefix of a search's address; the query follows, percent-encoded."""
NOT_FOUND: Final = -32002
"""The code of a missing resource (MCP 2025-11-25, server/resources).

MCP 2026-07-28 defines none.
"""
PAGE_SIZE: Final = 100
_MARKDOWN_TYPE = "text/markdown"
_LONGEST_URI = 4 * MAX_QUESTION
_to_json = msgspec.json.Encoder().encode


class ResourceMethods:
    """Serves the methods about resources.

    Parameters:
        markdown: returns a page as Markdown.
    """

    def __init__(self, markdown: Markdown) -> None:
        self._markdown = markdown

    async def get_list(self, desk: Desk, _caller: Caller, params: Mapping[str, Any]) -> Item:
        """``resources/list``: the pages in the order of their addresses, a hundred at a time."""
        after = params.get("cursor")
        if not isinstance(after, str | None):
            raise RpcError(INVALID_PARAMS, "`cursor` must be the nextCursor of the previous page.")
        pages = sorted(_pages(desk), key=lambda page: page.path)
        if after is not None:
            pages = [page for page in pages if page.path > after]
        shown = pages[:PAGE_SIZE]
        told: Item = {"resources": [_describe(desk, page) for page in shown]}
        return {**told, "nextCursor": shown[-1].path} if len(pages) > PAGE_SIZE else told

    async def get_templates(self, desk: Desk, caller: Caller, _params: Mapping[str, Any]) -> Item:
        """``resources/templates/list``: a search, and the types of declared resources."""
        search = {
            "uriTemplate": f"{SEARCH}{{query}}",
            "name": "search",
            "title": "Search the pages",
            "description": f"The pages of {desk.site.name} that match a search best.",
            "mimeType": JSON,
        }
        types = [
            {
                "uriTemplate": f"{desk.site.url}{desk.base_path}{type_.template}",
                "name": type_.name,
                "description": type_.summary,
                "mimeType": JSON,
            }
            for type_ in desk.resources.list_types(caller.principal)
        ]
        return {"resourceTemplates": [search, *types]}

    async def read(self, desk: Desk, caller: Caller, params: Mapping[str, Any]) -> Item:
        """``resources/read``.

        Raises:
            RpcError: the address has no resource, or it cannot be read.
            NotAuthenticated, ScopeMissing: reported by the HTTP response.
        """
        uri = params.get("uri")
        if not isinstance(uri, str) or len(uri) > _LONGEST_URI:
            raise RpcError(INVALID_PARAMS, "resources/read needs the uri of a resource.")
        try:
            text, media_type, receipt = await self._read(desk, caller, uri, params)
        except ResourceNotFound:
            told = f"There is nothing at this address. {SEARCH}WORDS searches the pages."
            raise RpcError(NOT_FOUND, told, {"uri": uri}) from None
        except PaymentRequired as error:
            raise make_resource_payment_error(error, uri, desk.base_path) from None
        except DeskError as error:
            if caller.is_over_http and isinstance(error, NotAuthenticated | ScopeMissing):
                raise
            code = INVALID_PARAMS if isinstance(error, InvalidRequest) else INTERNAL_ERROR
            raise RpcError(code, error.message, {"code": error.kind.value}) from None
        contents = [{"uri": uri, "mimeType": media_type, "text": text}]
        return with_receipt({"contents": contents}, receipt)

    async def _read(
        self, desk: Desk, caller: Caller, uri: str, params: Mapping[str, Any]
    ) -> tuple[str, str, Mapping[str, Any]]:
        """Return the text at an address, its media type, and the payment's receipt."""
        if uri.startswith(SEARCH):
            return await _search(desk, caller, unquote(uri.removeprefix(SEARCH))), JSON, {}
        site, before = desk.site.url, desk.base_path
        path = uri.removeprefix(site).partition("#")[0]
        if not uri.startswith(f"{site}{before}/"):
            raise ResourceNotFound(NOTHING_HERE)
        page = desk.knowledge.editions.document(canonical_path(path).removesuffix(".md"))
        if page is not None and not page.is_elsewhere:
            return await self._markdown(desk, page), _MARKDOWN_TYPE, {}
        payment = read_payment(params, None)
        if payment is not None:
            caller.step_aside()
        view = await desk.paid_resources.read(
            caller.principal, path.removeprefix(before), payment, caller.allowance
        )
        if isinstance(view, ResourceView):
            return _to_json(view.data).decode(), JSON, view.receipt
        raise _not_read(view)


def _not_read(status: CallStatus) -> RpcError:
    """Return the error for a paid resource that cannot be returned."""
    call = status.call
    if call.error is not None:
        return RpcError(INTERNAL_ERROR, call.error.message, {"code": call.error.kind})
    told = {"capability": call.action, "call_id": call.id}
    return RpcError(REFUSED, f"{call.how_far} Try again in a while.", told)


async def _search(desk: Desk, caller: Caller, words: str) -> str:
    if not words.strip() or len(words) > MAX_QUESTION:
        raise InvalidRequest(f"A search must have 1 to {MAX_QUESTION} characters.", param="uri")
    count_question(desk, caller)
    ask = AskRequest(action=CONTENT_SEARCH, query=words, accepts=(FEED,))
    outcome = (await desk.conversations.ask(caller.principal, ask, caller.allowance)).outcome
    if isinstance(outcome, Offer) and outcome.payload is not None:
        return bytes(outcome.payload).decode()
    return _to_json({"items": []}).decode()


def _pages(desk: Desk) -> list[Document]:
    documents = drop_duplicates_by_language(desk.knowledge.editions.documents)
    return [document for document in documents if not document.is_elsewhere]


def _describe(desk: Desk, page: Document) -> Item:
    told: Item = {
        "uri": f"{desk.site.url}{page.markdown_url}",
        "name": page.path,
        "title": page.title,
        "mimeType": _MARKDOWN_TYPE,
    }
    if page.description:
        told["description"] = page.description
    return told
