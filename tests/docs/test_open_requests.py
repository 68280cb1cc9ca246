"""The page tells every member of the answer of ``GET /v1/threads/{id}/requests``."""

from __future__ import annotations

import json
import re
from decimal import Decimal

from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.money import Money
from aitp_desk.protocols.aitp.threads.requests_wire import encode_requests
from tests.docs.snippets import ROOT


def test_every_member_of_an_open_request_is_rendered() -> None:
    page = (ROOT / "docs/build/capabilities.md").read_text("utf-8")
    _, _, table = page.partition("The answer of `GET /v1/threads/{id}/requests`")
    told = set(re.findall(r"^\| `([a-z_]+)` \|", table.partition("\n## ")[0], re.MULTILINE))
    terms = PaymentTerms(quote_id="q", price=Money(Decimal(1), "EUR"), expires_at=0, message={})
    request = OpenRequest(
        id="1",
        capability="payments",
        words="",
        message={},
        form={},
        by="",
        of="",
        until=0,
        is_own=True,
        answers_as=None,
        terms=terms,
    )
    (shown,) = json.loads(encode_requests((request,), "thread").body)["data"]
    assert told == shown.keys()
