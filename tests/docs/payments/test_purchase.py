"""The commands of docs/build/paying.md have one desk buy at another, and print what it says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.docs.snippets import ROOT, Command, blocks, commands, fits, run_in_order
from tests.support.payments.buyer import terminal
from tests.support.plugins.trade import Trade, principal_of, trading

PAGE = ROOT / "docs/build/paying.md"


@pytest.mark.servers
async def test_the_commands_of_the_page_buy_and_settle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [commands(one) for one in blocks(PAGE, "Paying others") if one.code.startswith("$ ")]
    opening, buying, settling = shown
    async with trading(tmp_path, funds=None) as trade:
        monkeypatch.setenv("SELLER", trade.seller.desk.url)
        monkeypatch.setenv("BUYER", trade.buyer.desk.url)
        monkeypatch.setenv("SELLER_KEY", trade.seller.key or "")
        monkeypatch.setenv("BUYER_KEY", trade.buyer.key or "")
        monkeypatch.setenv("COURIER", principal_of(trade.seller.key or ""))
        monkeypatch.setenv("PAYER", await trade.payer())
        at_seller = place(tmp_path / "at-seller", tmp_path / "seller" / "data")
        at_buyer = place(tmp_path / "at-buyer", trade.data)
        await asyncio.to_thread(printed_as_said, opening, at_seller)
        await trade.open_channel("60.00")
        await asyncio.to_thread(printed_as_said, buying, at_buyer)
        await leave_pending(trade)
        monkeypatch.setenv("QUOTE", trade.asked["quote_id"])
        await asyncio.to_thread(printed_as_said, settling, at_buyer)
        assert (await terminal(trade.buyer, "verify"))[0].startswith("The ledger is correct")


def place(folder: Path, data: Path) -> Path:
    """A folder in which the owner of a desk works: its data and the examples are there."""
    folder.mkdir()
    (folder / ".desk").symlink_to(data)
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def printed_as_said(todo: list[Command], folder: Path) -> None:
    printed = run_in_order(todo, "http://nowhere.invalid", folder)
    for command, output in zip(todo, printed, strict=True):
        assert fits(command.prints, output), f"$ {command.line}\nprinted:\n{output}"


async def leave_pending(trade: Trade) -> None:
    """Have a payment that is never confirmed."""
    trade.thread = await trade.arrive()
    await trade.bring(await trade.ask(name="Ben"))
