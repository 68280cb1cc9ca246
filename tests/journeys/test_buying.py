"""One desk buys at another, over HTTP: within its mandate alone, beyond it as a person decides."""

from __future__ import annotations

from pathlib import Path

from tests.spending import terminal
from tests.trading import trading


async def test_a_desk_pays_another_within_its_mandate_and_books_what_it_confirms(
    tmp_path: Path,
) -> None:
    async with trading(tmp_path) as trade:
        quote = await trade.ask(name="Ada")
        (payment,) = await trade.bring(quote)
        assert [one["state"] for one in await trade.bought()] == ["pending"]
        (confirmed,) = await trade.pay(payment)
        assert confirmed["payment_confirmation"]["result"] == "success"
        assert await trade.bring(confirmed) == []
        (bought,) = await trade.bought()
        assert (bought["state"], bought["price"]) == ("confirmed", "5.00 EUR")
        assert await trade.holds("spent-at:tickets") == "5.00 EUR"
        assert await trade.holds("channel-at:tickets") == "55.00 EUR"
        assert "channel:ch-site  55.00 EUR" in await terminal(trade.seller, "accounts")
