"""The program of docs/payments.md pays a quote."""

from __future__ import annotations

from typing import Any

from tests.docs.snippets import ROOT, blocks
from tests.rules.aitp_payments.counter import KEY, Counter, results


def test_the_program_of_the_page_pays_a_quote() -> None:
    (block,) = [one for one in blocks(ROOT / "docs" / "payments.md") if one.language == "python"]
    page: dict[str, Any] = {}
    exec(compile(block.code, "docs/payments.md", "exec"), page)
    one = Counter()
    one.open_account()
    one.open_channel()
    quote = one.quote("4.90", version=0)
    message = page["pay"](quote, "ch_1", KEY, "user.example", "2027-01-15T08:00:00Z")
    assert results(one.say("payment", message["payment"], version=0)) == ["success"]
