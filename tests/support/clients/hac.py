"""Agents that ask for HAC, for tests: whatever they are told is held to the desk's own check.

Where the folder of outside reference data is, it is held to the published schemas too.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

import msgspec
from multidict import CIMultiDictProxy

from aitp_desk.protocols.hac import MEDIA_TYPE
from aitp_desk.protocols.hac.linter import check_document
from tests.support.clients.threads import Headers, Talker
from tests.support.specs.folder import find_shared_folder
from tests.support.specs.hac_schemas import HacSchemas

ACCEPT = ("Accept", MEDIA_TYPE)


class Faced(msgspec.Struct, frozen=True):
    """What was answered as HAC."""

    status: int
    headers: CIMultiDictProxy[str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def data(self) -> Any:
        """The payload of a success."""
        assert self.body.keys() == {"data", "_hac"}, self.body
        return self.body["data"]

    @property
    def told(self) -> Any:
        """The context next to a payload, or that of an overview."""
        return self.body["_hac"]

    @property
    def error(self) -> Any:
        """What was refused."""
        assert self.body.keys() == {"error"}, self.body
        return self.body["error"]

    @property
    def rels(self) -> list[str]:
        """What may be done."""
        return [one["rel"] for one in self.told.get("actions", ())]

    def action(self, rel: str) -> Any:
        """Something that may be done, or would help."""
        actions = self.told["actions"] if "_hac" in self.body else self.error["recovery"]["actions"]
        (found,) = (one for one in actions if one["rel"] == rel)
        return found

    def link(self, rel: str) -> str:
        """Where a link leads."""
        href: str = next(one["href"] for one in self.told["related"] if one["rel"] == rel)
        return href

    @property
    def links(self) -> list[str]:
        return [one["rel"] for one in self.told.get("related", ())]


async def face(
    talker: Talker, method: str, path: str, body: Any = None, *, headers: Headers = (ACCEPT,)
) -> Faced:
    """Send one request for HAC."""
    sent = [*headers, *talker.credentials]
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        sent.append(("Content-Type", "application/json"))
    async with talker.http.request(method, path, data=data, headers=sent) as response:
        faced = Faced(response.status, response.headers, await response.read())
    assert "Accept" in ", ".join(response.headers.getall("Vary")), "section 2.3"
    if faced.status == 304:
        return faced
    assert response.headers["Content-Type"] == MEDIA_TYPE, (faced.status, faced.raw[:300])
    check_faced(faced.raw)
    return faced


def check_faced(body: bytes) -> Any:
    """A document, held to the desk's own check and to the published schema of its kind."""
    assert list(check_document(body)) == []
    document = json.loads(body)
    if (schemas := _schemas()) is not None:
        schemas.check(document)
    return document


@cache
def _schemas() -> HacSchemas | None:
    """The published schemas; None where there is no folder of reference data."""
    named = os.environ.get("AITP_DESK_SHARED")
    return HacSchemas(find_shared_folder(named)) if named else None
