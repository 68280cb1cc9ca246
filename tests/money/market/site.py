"""What a desk sells that is killed, and the accounts and channels from which it is paid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from aitp_desk.capability import Delivery, Effect
from aitp_payments.ledger.accounts import Account, digest, open_account, plain_code
from aitp_payments.ledger.journal import move, post
from aitp_payments.ledger.purses import Purse, open_purse
from aitp_payments.messages.signatures import PREFIX, write_key
from aitp_payments.records import After
from tests.money.market.desk import ACTIONS, SETTINGS
from tests.money.market.messages import CODE, CURRENCY, GIFT, KEY, PAYER

DELIVERING = '''

@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    cost=price,
    prepaid=True,
    idempotent=True,
)
def deliver(cents: int, works: bool, context: Context) -> str:
    """Delivers something, and may be called again for what it has delivered.

    Args:
        cents: what it costs.
        works: whether it can be delivered.
    """
    if not works:
        raise ValueError("it is broken")
    if not SOLD.exists() or context.call_id not in SOLD.read_text().split():
        with SOLD.open("a") as file:
            file.write(context.call_id + "\\n")
    return "Delivered."
'''


def make_site(folder: Path) -> None:
    """Write what a desk serves that sells.

    Parameters:
        folder: what is not there yet.
    """
    folder.mkdir()
    (folder / "index.md").write_text("# Market\n\nWe sell things.\n", "utf-8")
    (folder / "actions.py").write_text(ACTIONS + DELIVERING, "utf-8")
    (folder / "desk.toml").write_text(SETTINGS, "utf-8")


def found(
    owner: str, funds: int, channels: Sequence[str], channel: int
) -> Callable[[Delivery], Sequence[Effect]]:
    """Have a payer with an account and channels, and a caller with a code.

    Parameters:
        owner: the caller whose account it is.
        funds: what each of the two has, in millionths.
        channels, channel: ids, and what is set apart in each, in millionths.
    """
    key = write_key(KEY.public_key()).removeprefix(PREFIX).rstrip("=")

    def judge(books: Delivery) -> Sequence[Effect]:
        payer = Account(
            id=PAYER,
            opened_at=books.now,
            keys=(key.replace("+", "-").replace("/", "_"),),
            owner=digest(owner),
        )
        gift = Account(id=GIFT, opened_at=books.now, code=digest(plain_code(CODE) or ""))
        effects: list[Effect] = []
        for account in (payer, gift):
            legs = move("outside:cash", account.id, CURRENCY, funds)
            effects += open_account(account)
            effects += post(f"cash:{account.id}", legs, kind="credit", at=books.now)
        for id in channels:
            purse = Purse(
                id=id, kind="channel", account=PAYER, currency=CURRENCY, opened_at=books.now
            )
            effects += open_purse(After(books, effects), purse, channel)
        return effects

    return judge
