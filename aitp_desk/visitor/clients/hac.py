"""Calls what a site describes in HAC (HAC 1.0, sections 3 to 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from yarl import URL

from aitp_desk.egress import Fetched
from aitp_desk.model.calls.action import BlastRadius, Mutability, Precondition, Safety
from aitp_desk.protocols.hac.negotiation import MEDIA_TYPE
from aitp_desk.visitor.base import SiteAction
from aitp_desk.visitor.clients.operations import (
    CONFIRMATION,
    PAYMENT,
    Operation,
    OperationClient,
    Place,
)
from aitp_desk.visitor.clients.replies import read_cost
from aitp_desk.visitor.discovery.members import clean, decode_object, list_of, object_of, text_of
from aitp_desk.visitor.errors import PolicyRefused, SiteFailed, VisitError
from aitp_desk.visitor.fetcher import Method

MAX_RESOURCES = 40
"""The most resources whose actions are read."""
MAX_ACTIONS = 500


class HacClient(OperationClient):
    """Reads the resources of the discovery document, and calls their actions."""

    media_type = f"{MEDIA_TYPE}, application/json;q=0.5"

    async def find_operations(self) -> Sequence[Operation]:
        """Read the actions of the resources, each action once."""
        resources = list_of(self.endpoint.document, "resources")
        hrefs = [
            href
            for one in resources
            if (href := text_of(one, "href"))
            and "{" not in href
            and "GET" in (list_of(one, "methods") or ["GET"])
        ][:MAX_RESOURCES]
        # a collection describes the actions of its resources too, so it is read alone
        collection = [text_of(one, "href") for one in resources if _is_collection(one)]
        operations: dict[str, Operation] = {}
        for batch in (collection, [href for href in hrefs if href not in collection]):
            if operations:
                break
            for found in await asyncio.gather(*map(self._read, batch)):
                for operation in () if found is None else _list_operations(found):
                    if len(operations) < MAX_ACTIONS:
                        operations.setdefault(operation.action.name, operation)
        return list(operations.values())

    async def _read(self, href: str) -> Fetched | None:
        """Read a resource; one that fails, or has another origin, offers nothing."""
        try:
            url = self.fetcher.resolve(self.endpoint.url, href)
            return await self.fetcher.read(url, accept=self.media_type)
        except (PolicyRefused, SiteFailed):
            return None


def _is_collection(resource: Any) -> bool:
    return text_of(resource, "rel") in {"capabilities", "actions", "collection"}


def _list_operations(found: Fetched) -> Iterator[Operation]:
    """Yield the actions of a resource; members that are unknown here are ignored."""
    for action in list_of(object_of(decode_object(found), "_hac"), "actions"):
        method = text_of(action, "method").upper()
        rel, href = text_of(action, "rel"), text_of(action, "href")
        if method in get_args(Method) and rel and href:
            try:
                yield _read_action(action, rel, method, str(URL(found.url).join(URL(href))))
            except (ValueError, VisitError):
                continue


def _read_action(action: Mapping[str, Any], rel: str, method: Any, url: str) -> Operation:
    """Read an action, whose address is resolved against its resource (section 9.2)."""
    url = url.replace("%7B", "{").replace("%7D", "}")
    fields = [one for one in list_of(action, "fields") if text_of(one, "name")]
    safety = action.get("safety")
    cost = safety.get("cost") if isinstance(safety, Mapping) else None
    schema = {
        "type": "object",
        "properties": {text_of(one, "name"): _read_field(one) for one in fields},
        "required": [text_of(one, "name") for one in fields if one.get("required") is True],
    }
    places: dict[str, Place] = {
        text_of(one, "name"): "query" if method == "GET" else "body" for one in fields
    }
    price = read_cost(cost)
    is_free = price is not None and not price.amount
    return Operation(
        SiteAction(
            name=rel,
            description=clean(text_of(action, "description")),
            origin=str(URL(url).origin()),
            input_schema=schema,
            safety=read_safety(safety, method),
            cost=None if is_free else price,
            has_cost=(bool(cost) and not is_free) or CONFIRMATION in places or PAYMENT in places,
            preconditions=tuple(
                Precondition("", clean(one))
                for one in list_of(action, "preconditions")
                if isinstance(one, str)
            ),
        ),
        method,
        url,
        places,
    )


def read_safety(value: Any, method: str) -> Safety | None:
    """Read safety metadata; None without a mutability that is known, and that the method may have.

    PUT, PATCH and DELETE change something by definition (RFC 9110, section 9.2.1; RFC 5789).
    """
    mutability = text_of(value, "mutability")
    if mutability not in get_args(Mutability):
        return None
    if mutability == "read_only" and method in {"PUT", "PATCH", "DELETE"}:
        return None
    radius = value.get("blast_radius", "self")
    known: Any = radius if radius in get_args(BlastRadius) else "all"
    told: Any = mutability
    return Safety(
        mutability=told,
        blast_radius=known,
        reversible_within=clean(text_of(value, "reversible_within"))[:64] or None,
        confirmation_recommended=value.get("confirmation_recommended") not in (None, False),
    )


def _read_field(field: Mapping[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": text_of(field, "type") or "string"}
    if description := clean(text_of(field, "description")):
        schema["description"] = description
    return schema | {name: field[name] for name in ("enum", "default") if name in field}
